"""The pipeline as a drawing: every stage of `dovetail.pipeline` as a box that leads to its entry in the reference."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from drawing import Drawing

from dovetail import pipeline

PER_ROW, WIDTH, HEIGHT, GAP = 4, 166.0, 32.0, 20.0
LABELS, MARGIN, CHIP = 116.0, 14.0, 22.0
LETTER, SMALL_LETTER = 7.25, 6.65
"""Width of a letter of the fixed-width font, at 12 and 11 pixels."""
ALWAYS = frozenset(name for name in pipeline.STEP if not pipeline.STAGES[name].needed)
PHASES = ("position", "velocity", "acceleration", "observe", "integrate")


def bands() -> list[tuple[str, list[str]]]:
    """The stages of a step in order, cut where a later phase begins."""
    reached, phases = 0, {}
    for name in pipeline.STEP:
        reached = max(reached, PHASES.index(pipeline.STAGES[name].phase))
        phases[name] = PHASES[reached]
    return [(phase, list(names)) for phase, names in groupby(pipeline.STEP, key=phases.__getitem__)]


def loading() -> list[str]:
    return [name for name, stage in pipeline.STAGES.items() if stage.phase == "compile"]


def around() -> list[str]:
    """What has no place of its own in a step: callbacks around it, and what other stages ask for."""
    placed = {*pipeline.STEP, *loading()}
    return [name for name, stage in pipeline.STAGES.items() if name not in placed and not stage.part_of]


def parts_of(name: str) -> list[str]:
    """What runs inside a stage, and inside that; each where it is called first."""
    own = [part for part in pipeline.STAGES[name].parts if pipeline.STAGES[part].part_of == name]
    return [inner for part in own for inner in (part, *parts_of(part))]


def hint(name: str) -> str:
    """What hovering shows: the first sentence of the contract, and what is written."""
    stage = pipeline.STAGES[name]
    first = stage.summary.partition(". ")[0].rstrip(".")
    needed = "if the model needs it" if stage.needed else "for every model"
    return f"{first} ({stage.kind}, {needed})" if stage.phase != "compile" else first


class Pipeline(Drawing):
    """The drawing, made from top to bottom; `y` is where it has come to."""

    def __init__(self) -> None:
        width = LABELS + PER_ROW * WIDTH + (PER_ROW - 1) * GAP + 2 * MARGIN
        super().__init__(width + 10, 0, "The stages of dovetail, in the order in which they run")
        self.y = MARGIN

    def stage(self, x: float, y: float, name: str) -> None:
        stage = pipeline.STAGES[name]
        self.begin_link(f"reference/stages.md#{name}", hint(name))
        look = "a" if name in ALWAYS else ""
        if stage.kind != "one":
            self.box(x + 4, y - 4, WIDTH, HEIGHT, look)
        self.box(x, y, WIDTH, HEIGHT, look)
        self.text(x + WIDTH / 2, y + HEIGHT / 2 + 4, name, "code middle small")
        self.end_link()

    def rows(self, names: list[str], *, arrows: bool) -> None:
        """Boxes from left to right, row by row, with arrows between them."""
        for index, name in enumerate(names):
            column, row = index % PER_ROW, index // PER_ROW
            x = LABELS + column * (WIDTH + GAP)
            y = self.y + row * (HEIGHT + 16)
            self.stage(x, y, name)
            if not arrows or index + 1 == len(names):
                continue
            if column + 1 < PER_ROW:
                self.arrow((x + WIDTH + 5, y + HEIGHT / 2), (x + WIDTH + GAP, y + HEIGHT / 2))
            else:
                self.turn(x + WIDTH, y + HEIGHT / 2)
        self.y += -(-len(names) // PER_ROW) * (HEIGHT + 16)

    def turn(self, x: float, y: float) -> None:
        """From the end of a row to the beginning of the next."""
        between, left, below = y + HEIGHT / 2 + 6, LABELS - 12, y + HEIGHT + 16
        self.arrow(
            (x + 3, y), (x + 11, y), (x + 11, between), (left, between), (left, below), (LABELS, below)
        )

    def parts(self, names: Iterable[str]) -> None:
        """For each stage that calls others: those, as small boxes."""
        for name in names:
            inner = parts_of(name)
            if not inner:
                continue
            x = LABELS
            self.text(x, self.y + CHIP / 2 + 4, f"inside {name}:", "small soft")
            x += SMALL_LETTER * (len(name) + 8) * 0.92
            for part in inner:
                wide = SMALL_LETTER * len(part) + 16
                if x + wide > self.width - MARGIN:
                    x, self.y = LABELS + 20, self.y + CHIP + 6
                self.begin_link(f"reference/stages.md#{part}", hint(part))
                self.box(x, self.y, wide, CHIP, "c", round=11)
                self.text(x + wide / 2, self.y + CHIP / 2 + 4, part, "code middle small")
                self.end_link()
                x += wide + 8
            self.y += CHIP + 10

    def group(self, label: str, below: str, names: list[str], *, arrows: bool) -> None:
        top = self.y
        place = len(self.drawn)
        self.y += 14
        self.rows(names, arrows=arrows)
        self.parts(names)
        bottom = self.y
        ground = Drawing(0, 0, "")
        ground.band(MARGIN / 2, top, self.width - MARGIN, bottom - top)
        self.drawn.insert(place, ground.drawn[0])
        self.text(MARGIN, top + 34, label, "strong")
        self.text(MARGIN, top + 50, below, "small soft")
        self.y = bottom + 22

    def legend(self) -> None:
        x, y = LABELS, self.y
        for look, words in (("a", "runs for every model"), ("", "runs if the model needs it")):
            self.box(x, y, 26, 16, look)
            self.text(x + 34, y + 12, words, "small soft")
            x += 190
        self.box(x + 3, y - 3, 26, 16)
        self.box(x, y, 26, 16)
        self.text(x + 37, y + 12, "a table: one row per key, all run", "small soft")
        self.y += 30


def figure() -> str:
    """The whole pipeline."""
    drawing = Pipeline()
    drawing.group("loading", "once per file", loading(), arrows=False)
    found = bands()
    for index, (phase, names) in enumerate(found):
        if index:
            middle = drawing.width / 2
            drawing.arrow((middle, drawing.y - 21), (middle, drawing.y - 2))
        drawing.group(phase, f"{len(names)} stages", names, arrows=True)
    drawing.group("around", "when asked for", around(), arrows=False)
    drawing.legend()
    drawing.height = drawing.y
    return drawing.svg()
