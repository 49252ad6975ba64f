"""What dovetail does with the states that `stepper_theirs` recorded, and what of it is wrong.

Three ways of stepping are compared with MuJoCo, one step at a time: the default backend with one world, the same with
a batch whose worlds stand in another order, and the reference. Beside MuJoCo there are relations that need no second
opinion: a step gives the same bits whatever was stepped before it and whatever stands beside it.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import numpy as np

from .fields import distance
from .stepper_theirs import CLOSE, COMPARED, COUNTED, FRAMES, INERTIAL, STATE_ONLY, Answer, State, apply

CHAOTIC = 1e3
"""How many times as far as a nudge moves MuJoCo's own step a difference may go."""
AGAIN = 24
"""How many steps are taken once more in another order."""
REFERENCE_SECONDS = 8.0
"""Processor time that the reference may take for a document; it is slow, and steps beyond that are not compared."""


KINDS = (
    "native step",
    "batch step",
    "numpy step",
    "order",
    "neighbours",
    "one and batch",
    "nan",
    "nan beside",
    "edit",
    "edit in a batch",
)
"""What can be wrong, the plainest first."""


@attrs.frozen
class Finding:
    """One kind of wrongness: the first step that shows it, and in which field it is worst."""

    kind: str
    field: str
    error: float
    where: str

    def words(self) -> str:
        return f"{self.kind}: {self.field} off by {self.error:.1e} ({self.where})"


def stepped(path: str, theirs: Answer, seed: int) -> Answer:
    """Everything that is wrong with the steps of a model; empty if nothing is."""
    import dovetail

    model = dovetail.load(path, config=dovetail.Config())
    numbers = theirs["inertial"]
    if any(not np.array_equal(getattr(model, name), numbers[name]) for name in FRAMES):
        return {"findings": [], "steps": 0}
    apply(model, {name: numbers[name] for name in INERTIAL})
    tried = _Tried(model, theirs["runs"], np.random.default_rng(seed))
    tried.all()
    if not tried.findings:
        tried.spoilt(theirs["spoilt"])
        tried.edited(theirs["edits"], theirs["edited"])
    return {"findings": [attrs.asdict(finding) for finding in tried.findings], "steps": tried.count}


@attrs.define
class _Tried:
    """The simulations of one model, and what they were caught at."""

    model: Any
    runs: list[list[Answer]]
    random: np.random.Generator
    findings: list[Finding] = attrs.field(factory=list)
    count: int = 0
    one: Any = None
    batch: Any = None

    def all(self) -> None:
        import dovetail

        self.one = dovetail.Simulation(self.model, config=dovetail.Config())
        self.batch = dovetail.Simulation(
            self.model, nworld=len(self.runs), keep="all", config=dovetail.Config()
        )
        alone = self._alone()
        self._order(alone)
        beside = self._beside(self.random.permutation(len(self.runs)), 0)
        others = self._beside(self.random.permutation(len(self.runs)), 1)
        self._same("neighbours", beside, others)
        self._same("one and batch", alone, beside)
        self._reference()

    # ---- ways of stepping

    def _alone(self) -> dict[tuple[int, int], State]:
        """Every step, one world: compared with MuJoCo, and kept."""
        answers = {}
        for run, number, record in self._records():
            answers[run, number] = self._step_alone(self.one, record)
            self._judge("native step", record, answers[run, number], f"state {run} step {number}")
        return answers

    def _step_alone(self, simulation: Any, record: Answer) -> State:
        put(simulation.data, record["start"])
        simulation.step()
        self.count += 1
        return fields_of(simulation.data, record["after"])

    def _order(self, before: dict[tuple[int, int], State]) -> None:
        """Some of the steps once more, in another order."""
        steps = list(before)
        chosen = [steps[i] for i in self.random.permutation(len(steps))[:AGAIN]]
        again = {(run, k): self._step_alone(self.one, self.runs[run][k]) for run, k in chosen}
        self._same("order", before, again)

    def _beside(self, order: Any, shift: int) -> dict[tuple[int, int], State]:
        """Every step in a batch: world w takes trajectory `order[w]`, each `shift` steps ahead of the one before."""
        answers: dict[tuple[int, int], State] = {}
        worlds = list(self.batch.data.worlds())
        longest = max(len(run) for run in self.runs)
        for step in range(longest):
            taken = [(run, (step + shift * w) % len(self.runs[run])) for w, run in enumerate(order)]
            for world, (run, k) in zip(worlds, taken, strict=True):
                put(world, self.runs[run][k]["start"])
            self.batch.step()
            self.count += len(worlds)
            for w, (run, k) in enumerate(taken):
                record = self.runs[run][k]
                answers[run, k] = fields_of(worlds[w], record["after"])
                self._judge("batch step", record, answers[run, k], f"state {run} step {k}, world {w}")
        return answers

    def _reference(self) -> None:
        import dovetail

        simulation = dovetail.Simulation(self.model, backend="numpy", config=dovetail.Config())
        end = time.process_time() + REFERENCE_SECONDS
        for run, number, record in sorted(self._records(), key=lambda r: r[1]):
            if time.process_time() > end:
                return
            answer = self._step_alone(simulation, record)
            self._judge("numpy step", record, answer, f"state {run} step {number}")

    def edited(self, edits: dict[str, Any], runs: list[list[Answer]]) -> None:
        """The same Model with other values in some fields."""
        apply(self.model, edits)
        self.runs = runs
        worlds = list(self.batch.data.worlds())
        for run, number, record in self._records():
            where = f"{', '.join(edits)} edited, state {run} step {number}"
            self._judge("edit", record, self._step_alone(self.one, record), where)
            for world in worlds:
                put(world, record["start"])
            self.batch.step()
            self._judge("edit in a batch", record, fields_of(worlds[-1], record["after"]), where)

    def spoilt(self, cases: list[Answer]) -> None:
        """A number that is none: what MuJoCo makes of the state, and nothing at all for the world beside it."""
        worlds = list(self.batch.data.worlds())
        for record in cases:
            where = f"{record['what']} not finite"
            self._judge("nan", record, self._step_alone(self.one, record), where)
            quiet = self.runs[0][0]
            kept = []
            for start in (quiet["start"], record["start"]):
                for world in worlds:
                    put(world, quiet["start"])
                put(worlds[1], start)
                self.batch.step()
                kept.append({(0, 0): fields_of(worlds[0], quiet["after"])})
            self._judge("nan", record, fields_of(worlds[1], record["after"]), f"{where}, batch")
            self._same("nan beside", *kept)

    # ---- judging

    def _records(self) -> Iterator[tuple[int, int, Answer]]:
        return ((n, k, record) for n, run in enumerate(self.runs) for k, record in enumerate(run))

    def _judge(self, kind: str, record: Answer, answer: State, where: str) -> None:
        """A difference from MuJoCo counts where MuJoCo's own step moves less than a `CHAOTIC`th of it."""
        if self._known(kind) or np.inf in record["spread"].values():
            return
        errors = {name: distance(answer[name], value) for name, value in record["after"].items()}
        wrong = {n: e for n, e in errors.items() if e > max(CLOSE, CHAOTIC * record["spread"].get(n, 0.0))}
        if wrong:
            first = next(
                (n for n in (*STATE_ONLY[1:], "qacc") if n in wrong), max(wrong, key=wrong.__getitem__)
            )
            spread = record["spread"].get(first, 0.0)
            told = ", ".join(f"{n} {e:.0e}" for n, e in sorted(wrong.items(), key=lambda p: -p[1])[:12])
            self.findings.append(
                Finding(
                    kind, first, wrong[first], f"{where}; a nudge moves it by {spread:.0e}; wrong: {told}"
                )
            )

    def _same(
        self, kind: str, before: dict[tuple[int, int], State], after: dict[tuple[int, int], State]
    ) -> None:
        """The same bits in every field."""
        for at, answer in after.items():
            differing = [n for n in answer if not _equal_bits(answer[n], before[at][n])]
            if differing and not self._known(kind):
                error = max(distance(answer[n], before[at][n]) for n in differing)
                where = f"state {at[0]} step {at[1]}; other bits: {', '.join(differing[:12])}"
                self.findings.append(Finding(kind, differing[0], error, where))

    def _known(self, kind: str) -> bool:
        return any(finding.kind == kind for finding in self.findings)


def put(data: Any, state: State) -> None:
    """Write one world's state."""
    for name, value in state.items():
        data.field(name)[...] = value


def fields_of(data: Any, names: Iterable[str] = COMPARED) -> State:
    return {name: _field(data, name) for name in names}


def _field(data: Any, name: str) -> Any:
    value = np.array(operator.attrgetter(name)(data))
    size = COUNTED.get(name.partition(".")[0].partition("_")[0])
    return value[: int(getattr(data, size))] if size else value


def _equal_bits(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and a.tobytes() == b.tobytes())
