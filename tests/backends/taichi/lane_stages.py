"""One Taichi stage beside its NumPy sibling, both on inputs that the reference computes at random states."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

import dovetail
from dovetail.compare.isolate import Isolated, Worlds, isolate, shared_data
from dovetail.compare.states import randomize
from dovetail.contracts.types import Data, Model
from dovetail.registry import default_registry

NWORLD = 13
"""More than a tile holds, and no multiple of it."""

ROWS = {
    "actuator_moment": ("moment_rownnz", "moment_rowadr", "moment_colind"),
    "ten_J": ("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"),
}
"""Fields by sparse rows: two layouts of the same matrix are both right."""

LANES = {"f64": 8, "f32": 16}


@cache
def loaded(text: str) -> Model:
    return dovetail.loads(text)


def taichi_label(slot: str, name: str | None = None) -> str:
    """The Taichi implementation of a slot, as `name@taichi`."""
    records = [r for r in default_registry().of(slot) if r.backend == "taichi"]
    return next(r.label for r in records if name in (None, r.name))


@cache
def isolated(text: str, slot: str, label: str, precision: str) -> Isolated:
    worlds = Worlds(nworld=NWORLD, precision=precision, lanes=LANES[precision])
    return isolate(loaded(text), slot, label, worlds)


def both(
    text: str, slot: str, *, seed: int = 0, precision: str = "f64", name: str | None = None
) -> tuple[Data, Data, set[str]]:
    """Data after the reference and after its Taichi sibling, and the fields that both write."""
    label = taichi_label(slot, name)
    reference = isolated(text, slot, label.replace("@taichi", "@numpy"), precision)
    ours = isolated(text, slot, label, precision)
    data = shared_data(loaded(text), Worlds(nworld=NWORLD, precision=precision, lanes=LANES[precision]))
    randomize(data, np.random.default_rng(seed))
    reference.prepare(data)
    wanted, found = data.copy(), data.copy()
    reference.run(wanted)
    ours.run(found)
    fields = {s.name for s in reference.written_specs} & {s.name for s in ours.written_specs}
    return wanted, found, fields


def errors(wanted: Data, found: Data, fields: set[str]) -> dict[str, float]:
    """Largest difference of each field, relative to its largest number or one; matrices densified."""
    layouts = {name for family in ROWS.values() for name in family}
    out = {}
    for name in sorted(fields - layouts):
        a, b = (np.array([_dense(world, name) for world in data.worlds()]) for data in (wanted, found))
        out[name] = float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))
    return out


def _dense(world: Data, name: str) -> np.ndarray:
    values = np.asarray(world.field(name), dtype=float)
    if name not in ROWS or not np.any(world.field(ROWS[name][0])):
        return values
    dense = np.zeros((len(world.field(ROWS[name][0])), world.model.nv))
    for row, (count, first) in enumerate(zip(*(world.field(n) for n in ROWS[name][:2]), strict=True)):
        at = np.arange(first, first + count)
        dense[row, np.asarray(world.field(ROWS[name][2])).reshape(-1)[at]] = values.reshape(-1)[at]
    return dense


def worst(text: str, slot: str, seeds: int = 4, **settings: str) -> Iterator[tuple[str, float]]:
    """Fields and errors over several random states."""
    for seed in range(seeds):
        yield from errors(*both(text, slot, seed=seed, **settings)).items()  # type: ignore[arg-type]
