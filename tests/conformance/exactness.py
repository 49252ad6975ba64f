"""How far each stage is from MuJoCo 3.4.0, on every backend: all fields of single steps of models that pip brings.

Each model keeps its own options. MuJoCo steps it from random states, under random controls; every way to run
dovetail takes the same steps from MuJoCo's states, one after the other in one Simulation. The error of a field is
relative to its largest number, as everywhere (`dovetail.compare.errors`). Where MuJoCo's own answer moves when its
start is nudged by 1e-15 to 1e-13, the error is also counted in such moves.

    python tests/conformance/exactness.py [--models PATTERN] [--steps 5] [--ways one,batch,f32,numpy]

prints the table of docs/explanation/exactness.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import attrs
import numpy as np

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "conformance"), str(TESTS / "backends/lanes"), str(TESTS / "stages")]

import mujoco  # noqa: E402
from fuzz import stepper_theirs as theirs  # noqa: E402
from fuzz.stepper_ours import fields_of, put  # noqa: E402
from stepping import FILES  # noqa: E402

import dovetail  # noqa: E402
from dovetail.compare.errors import relative_error  # noqa: E402
from dovetail.contracts.types import DATA_SPECS  # noqa: E402

SEED = 1
NUDGES = 6
NSTATE = theirs.STATES
ALLOWED = {"one": 1e-10, "batch": 1e-10, "numpy": 1e-10, "f32": 1e-3}
"""The largest error that counts as rounding."""
MOVES = 1e3
"""How many of MuJoCo's own moves count as such."""
TELLS = 1e-3
"""Where MuJoCo's own moves are larger, there is nothing to compare."""
WAYS: Mapping[str, Mapping[str, Any]] = {
    "one": {"backend": "native"},
    "batch": {"backend": "native", "nworld": NSTATE, "keep": "all"},
    "f32": {"backend": "native", "nworld": NSTATE, "keep": "computed", "precision": "f32"},
    "numpy": {"backend": "numpy"},
}


@attrs.define
class Row:
    """What was found of one stage in one way of running it."""

    compared: int = 0
    steady: float = 0.0
    """The worst error, over the fields that MuJoCo tells to within `ALLOWED`."""
    beyond: list[str] = attrs.field(factory=list)
    """Errors beyond `ALLOWED` and beyond `MOVES` of MuJoCo's own."""
    excused: int = 0
    """Errors beyond `ALLOWED` where MuJoCo itself moves enough."""


Table = dict[tuple[str, str], Row]
"""By stage and way."""


def trajectories(model: Any, steps: int) -> list[list[dict[str, Any]]]:
    """MuJoCo's steps: where each began, what it gave, and how far nudges move that."""
    random = np.random.default_rng(SEED)
    starts = [theirs._state(model, random, number) for number in range(NSTATE)]
    return [_trajectory(model, start, steps) for start in starts]


def _trajectory(model: Any, start: dict[str, Any], steps: int) -> list[dict[str, Any]]:
    data, near = mujoco.MjData(model), mujoco.MjData(model)
    theirs.put(data, start)
    records = []
    for _ in range(steps):
        before = theirs._start(data)
        mujoco.mj_step(model, data)
        if data.warning.number[4:7].any():  # a bad state, and so a reset
            break
        after = theirs.fields_of(data)
        nudged = [theirs._nudged(model, near, before, seed, after) for seed in range(NUDGES)]
        spread = {name: max(_error(each[name], value) for each in nudged) for name, value in after.items()}
        records.append({"start": before, "after": after, "spread": spread})
    return records


def _error(ours: Any, others: Any) -> float:
    ours, others = np.asarray(ours, float), np.asarray(others, float)
    return relative_error(ours, others) if ours.shape == others.shape else float("inf")


def answers(model: Any, runs: list[list[dict[str, Any]]], way: str) -> Iterator[tuple[Any, Any]]:
    """Each of MuJoCo's steps, with what dovetail gives from the same state."""
    sim = dovetail.Simulation(model, config=dovetail.Config(), **WAYS[way])
    if sim.nworld is None:
        for record in (each for run in runs for each in run):
            put(sim.data, record["start"])
            sim.step()
            yield record, fields_of(sim.data, record["after"])
        return
    for number in range(max(map(len, runs))):
        taken = [run[number % len(run)] if run else None for run in runs]
        worlds = list(sim.data.worlds())
        for world, record in zip(worlds, taken, strict=True):
            if record:
                put(world, record["start"])
        sim.step()
        for world, record in zip(worlds, taken, strict=True):
            if record:
                there = [name for name in record["after"] if way != "f32" or _has(world, name)]
                yield record, fields_of(world, there)


def _has(world: Any, name: str) -> bool:
    return name in world if "." not in name else name in dict(world.fields())


def add(table: Table, name: str, way: str, record: Any, answer: Any) -> None:
    """Take one step into the table. In single precision a step with other contacts counts as such, and no further:
    geoms that touch exactly do so by the last bit."""
    allowed = ALLOWED[way]
    if way == "f32" and not np.array_equal(answer["ncon"], record["after"]["ncon"]):
        table["narrowphase", way].excused += 1
        return
    for field, value in answer.items():
        spread = record["spread"][field]
        if not spread <= TELLS or field not in DATA_SPECS:
            continue
        row = table[DATA_SPECS[field].writer or "state", way]
        error = _error(value, record["after"][field])
        row.compared += 1
        if MOVES * spread <= allowed:
            row.steady = max(row.steady, error)
        if error > allowed:
            if error > MOVES * spread:
                row.beyond.append(f"{name}: {field} off by {error:.0e}, MuJoCo moves by {spread:.0e}")
            else:
                row.excused += 1


def measured(models: Iterable[str], steps: int, ways: Iterable[str]) -> Table:
    table: Table = defaultdict(Row)
    for name in models:
        path = str(FILES[name])
        mj_model = mujoco.MjModel.from_xml_path(path)
        runs = trajectories(mj_model, steps)
        ours = dovetail.load(path)
        for way in ways:
            for record, answer in answers(ours, runs, way):
                add(table, name, way, record, answer)
        print(f"{name} done", file=sys.stderr, flush=True)
    return table


def text(table: Table, ways: list[str]) -> str:
    """As a table in Markdown, stages in the order of their names."""
    lines = [f"| stage | {' | '.join(ways)} |", f"| --- |{' --- |' * len(ways)}"]
    for stage in sorted({stage for stage, _ in table}):
        cells = []
        for way in ways:
            row = table[stage, way]
            more = f" ({row.excused})" if row.excused else ""
            cells.append(f"{row.steady:.0e}{more}" if row.compared else "not kept")
        lines.append(f"| {stage} | {' | '.join(cells)} |")
    found = [f"{stage}, {way}: {each}" for (stage, way), row in table.items() for each in row.beyond]
    compared = sum(row.compared for row in table.values())
    return "\n".join([*lines, "", f"{compared} comparisons, {len(found)} beyond", *found[:60]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="*")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ways", default=",".join(WAYS))
    asked = parser.parse_args()
    chosen, asked_ways = [name for name in FILES if fnmatch(name, asked.models)], asked.ways.split(",")
    print(text(measured(chosen, asked.steps, asked_ways), asked_ways))
