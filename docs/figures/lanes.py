"""Lane kernels as drawings: one trace with several printers, and stages beside the kernel that they become."""

from __future__ import annotations

from drawing import Drawing

import dovetail
from dovetail.pipeline import STAGES
from dovetail.registry import build_registry

BUILDER = (
    "def damper(k):",
    "    m, d = k.model, k.data",
    "    with k.loop(0, m.nv) as i:",
    "        f = -m.dof_damping[i] * d.qvel[i]",
    "        d.qfrc_passive[i] += f",
)
RECORDS = ("loop  i: 0 … nv", "s1 = load damping[i]", "s2 = load qvel[i]", "s3 = mul s1, s2", "store …")
PRINTED = {
    "native": ("C, compiled for this processor", "clang, gcc or zig"),
    "taichi": ("a kernel of a Taichi runtime", "quadrants or taichi"),
}
"""What each lane backend makes of a trace, and with what."""


def backends() -> list[str]:
    """Where implementations written in lanes are there."""
    return sorted({r.backend for r in build_registry(third_party=False).implementations} - {"numpy"})


def stages() -> list[str]:
    """What a step of the built-in humanoid runs, in order, without what runs inside other stages and what only
    those need who read it."""
    config = dovetail.Config.of_call(backend="numpy", keep="state")
    plan = dovetail.compile_plan(dovetail.load("humanoid"), config)
    names = dict.fromkeys(slot.partition(":")[0] for slot in plan.implementations)
    lanes = {r.stage for r in build_registry(third_party=False).implementations if r.backend == backends()[0]}
    return [name for name in names if STAGES[name].part_of is None and name in lanes - set(plan.idle)]


# ---- one trace, several printers


def printers_figure() -> str:
    found = backends()
    drawing = Drawing(800, 262, "A stage in lanes is traced once and printed for each backend")
    _listing(drawing, 14, 40, 282, "a stage: Python, run once", BUILDER, "a")
    drawing.arrow((300, 115), (342, 115))
    drawing.text(320, 104, "trace", "small middle soft")
    _listing(drawing, 346, 40, 172, "its trace", RECORDS, "c")
    for index, backend in enumerate(found):
        y = 40 + index * 104
        what, how = PRINTED[backend]
        drawing.arrow((522, 115), (550, 115), (550, y + 42), (576, y + 42))
        drawing.box(580, y + 4, 206, 76, "b")
        drawing.text(683, y + 26, backend, "code strong middle")
        drawing.text(683, y + 46, what, "small middle")
        drawing.text(683, y + 64, how, "small middle soft")
    drawing.text(550, 32, "print", "small middle soft")
    drawing.text(14, 228, "The printers write the same operations in the same order,", "small soft")
    drawing.text(14, 244, "so both backends give the same bits.", "small soft")
    return drawing.svg()


def _listing(
    drawing: Drawing, x: float, y: float, width: float, title: str, lines: tuple[str, ...], look: str
) -> None:
    """Lines of code in a box."""
    drawing.text(x, y - 8, title, "small soft")
    drawing.box(x, y, width, 24 + 26 * len(lines), look)
    for index, line in enumerate(lines):
        indent = (len(line) - len(line.lstrip())) * 6.7
        drawing.text(x + 12 + indent, y + 30 + 26 * index, line.lstrip(), "code small")


# ---- from stages to a kernel

ROW, TOP, BOX = 24.0, 76.0, 168.0


def fused_figure() -> str:
    names = stages()
    bottom = TOP + len(names) * ROW
    drawing = Drawing(800, bottom + 46, "Stages that meet in Data, and the same stages as one kernel")
    _apart(drawing, names, bottom)
    _together(drawing, names, bottom)
    return drawing.svg()


def _apart(drawing: Drawing, names: list[str], bottom: float) -> None:
    """NumPy: every stage reads from Data and writes to it."""
    drawing.text(14, 28, "numpy", "code strong")
    drawing.text(14, 48, f"{len(names)} functions, one world after the other", "small soft")
    drawing.box(268, TOP, 84, bottom - TOP - 4, "a")
    drawing.text(310, (TOP + bottom) / 2, "Data", "strong middle")
    drawing.text(310, (TOP + bottom) / 2 + 18, "all fields", "small middle soft")
    for index, name in enumerate(names):
        y = TOP + index * ROW
        drawing.box(14, y, BOX, ROW - 4)
        drawing.text(14 + BOX / 2, y + 14, name, "code small middle")
        drawing.arrow((262, y + 7), (14 + BOX + 3, y + 7))
        drawing.arrow((14 + BOX + 3, y + 14), (265, y + 14))
    drawing.text(14, bottom + 24, "Every stage can be read, stepped through, replaced.", "small soft")


def _together(drawing: Drawing, names: list[str], bottom: float) -> None:
    """Lanes: one kernel, whose fields are in scratch memory."""
    left = 430.0
    drawing.text(left, 28, "native", "code strong")
    drawing.text(left, 48, "1 kernel, 8 worlds side by side, all tiles on all cores", "small soft")
    drawing.box(left, TOP - 8, BOX + 24, bottom - TOP + 12, "b")
    for index, name in enumerate(names):
        y = TOP + index * ROW
        drawing.box(left + 12, y, BOX, ROW - 4)
        drawing.text(left + 12 + BOX / 2, y + 14, name, "code small middle")
    x = left + BOX + 24
    middle = (TOP + bottom) / 2
    drawing.box(x + 74, TOP - 8, 86, 92, "a")
    drawing.text(x + 117, TOP + 34, "Data", "strong middle")
    drawing.text(x + 117, TOP + 52, "the state", "small middle soft")
    drawing.arrow((x + 70, TOP + 12), (x + 4, TOP + 12))
    drawing.text(x + 37, TOP + 4, "load", "small middle soft")
    drawing.arrow((x + 4, TOP + 60), (x + 70, TOP + 60))
    drawing.text(x + 37, TOP + 76, "store", "small middle soft")
    drawing.box(x + 30, middle - 10, 130, 96, "c")
    drawing.text(x + 95, middle + 22, "scratch tile", "strong middle")
    drawing.text(x + 95, middle + 42, "all other fields,", "small middle soft")
    drawing.text(x + 95, middle + 58, "in the cache", "small middle soft")
    drawing.arrow((x + 26, middle + 30), (x + 3, middle + 30))
    drawing.arrow((x + 3, middle + 46), (x + 27, middle + 46))
    drawing.text(left, bottom + 24, "Loaded and stored once per call, not once per step.", "small soft")
