"""Every implementation of a slot that the registry has, run alone in a few worlds and compared with MuJoCo.

    @pytest.mark.parametrize("how", implementations("tendon"))
    def test_paths_are_mujocos(how): assert_mujocos(XML, "tendon", how)

The reference computes what the slot reads, the implementation computes the slot, and every field that it leaves must
be MuJoCo's of the same state. NumPy's implementations, those in lanes and those of installed packages are treated
alike; lanes that share kernel fields with others take these along.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pytest
from lane_backend import OTHERS

from dovetail.backend import Slot
from dovetail.compare.conform import UNCOMPARED
from dovetail.compare.errors import SPARSE, dense, getter, meaningful, written_out
from dovetail.compare.isolate import Isolated, Worlds, isolate, shared_data
from dovetail.compare.oracle import model_from_mujoco, read
from dovetail.compare.states import random_state
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.plugin import Implementation
from dovetail.registry import default_registry

NWORLD = 11
"""More than a tile holds, and no multiple of it."""

WIDTH = {"f64": 8, "f32": 16}
"""Worlds per tile."""

TOLERANCE = 1e-12
"""Of the largest number of a field in a world, or of one: sums in another order. Measured: below 1e-13."""

STEPPED = ("time", "qpos", "qvel", "act", "qacc_warmstart")
"""What an integrator leaves."""


class How(NamedTuple):
    """An implementation by its label."""

    label: str

    def __str__(self) -> str:
        return self.label


def implementations(slot: str, *names: str) -> list[Any]:
    """Parameters of a test: all implementations of a slot, or those of some names. Those that cannot run here are
    skipped; lane backends beside the one that tests run on are left to the second opinion."""
    return [
        pytest.param(How(record.label), id=record.label, marks=_marks(record))
        for record in default_registry().of(slot)
        if not names or record.name in names
        if record.backend not in OTHERS
    ]


def _marks(record: Implementation) -> list[Any]:
    missing = default_registry().backend(record.backend).missing()
    return [pytest.mark.skip(reason=f"backend {record.backend} needs {missing}")] if missing else []


class Scene(NamedTuple):
    """A model, and MuJoCo's worlds of it, evaluated."""

    mujoco_model: Any
    model: Model
    worlds: tuple[Any, ...]


@cache
def scene(
    text: str, seed: int = 0, warmup: int = 0, prepare: Callable[[Any, int], None] | None = None
) -> Scene:
    """Worlds in random states, or after up to `warmup` steps from the model's own with random controls. `prepare` may
    change each before it is evaluated."""
    m = mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(seed)
    worlds = tuple(_world(m, rng, warmup * (world + 1) // NWORLD) for world in range(NWORLD))
    for world, d in enumerate(worlds):
        if prepare is not None:
            prepare(d, world)
        evaluate(m, d)
    return Scene(m, model_from_mujoco(m), worlds)


def _world(m: Any, rng: np.random.Generator, steps: int) -> Any:
    d = mujoco.MjData(m)
    if not steps:
        for name, value in random_state(m, rng).items():
            getattr(d, name)[...] = value
        d.time = rng.random()
        return d
    d.qvel[:] = 0.3 * rng.normal(size=m.nv)
    for _ in range(steps):
        d.ctrl[:] = 0.4 * rng.normal(size=m.nu)
        mujoco.mj_step(m, d)
    d.qfrc_applied[:] = 0.2 * rng.normal(size=m.nv)
    d.xfrc_applied[1:] = 0.2 * rng.normal(size=(m.nbody - 1, 6))
    return d


def evaluate(m: Any, d: Any) -> None:
    """What a step computes before it integrates, and what MuJoCo computes only if asked."""
    mujoco.mj_forward(m, d)
    mujoco.mj_subtreeVel(m, d)
    mujoco.mj_rnePostConstraint(m, d)


@cache
def _isolated(
    model: Model, slot: str, how: How, precision: str, others: tuple[tuple[str, str], ...]
) -> Isolated:
    worlds = Worlds(nworld=NWORLD, precision=precision, lanes=WIDTH[precision])
    return isolate(model, slot, how.label, worlds, stages=dict(others), span=tuple(dict(others)))


def computed(
    given: Scene, slot: str, how: How, *, precision: str = "f64", others: Mapping[str, str] | None = None
) -> tuple[Isolated, Data]:
    """The slot under one implementation, and a Data in which it has run; `others` are further choices,
    which run with it."""
    alone = _isolated(given.model, slot, how, precision, tuple((others or {}).items()))
    data = shared_data(given.model, Worlds(nworld=NWORLD, precision=precision, lanes=WIDTH[precision]))
    for ours, theirs in zip(data.worlds(), given.worlds, strict=True):
        for name in (
            "ctrl",
            "qfrc_applied",
            "xfrc_applied",
            "mocap_pos",
            "mocap_quat",
            "eq_active",
            *STEPPED,
        ):
            ours.field(name)[...] = read(theirs, name)
    for evaluation in range(alone.plan.evaluations if alone.slot.integrates else 1):
        alone.prepare(data, evaluation)
        _spoil(alone, data)
        alone.run(data, evaluation)
    return alone, data


def _spoil(alone: Isolated, data: Data) -> None:
    """Make numbers that the slot should write, and does not, show."""
    begun = _written(alone.plan.slots[: _place(alone)])
    for spec in alone.written_specs:
        if spec.name in DATA_SPECS and spec.dtype == "real" and spec.name not in alone.reads | begun:
            data.field(spec.name)[...] = np.nan


def final_fields(alone: Isolated) -> set[str]:
    """Fields that have their final value after the slot: no later row of a table adds to them."""
    later = _written(alone.plan.slots[_place(alone) + len(alone.span) :])
    return {name for name in alone.leaves if name in DATA_SPECS and not _uncompared(name)} - later


def _place(alone: Isolated) -> int:
    """Where the slots that run begin in the plan."""
    return [slot.label for slot in alone.plan.slots].index(alone.span[0].label)


def _written(slots: Iterable[Slot]) -> set[str]:
    return set().union(*(slot.writes for slot in slots))


def _uncompared(name: str) -> bool:
    """Whether MuJoCo's numbers are left from before, or tell how it went and not where it arrived."""
    return any(fnmatchcase(name, pattern) for pattern in UNCOMPARED)


def errors(given: Scene, alone: Isolated, data: Data) -> dict[str, list[float]]:
    """The errors by world of each field that MuJoCo has too, relative to its largest number or to one."""
    found: dict[str, list[float]] = {}
    for ours, theirs in zip(data.worlds(), _expected(given, alone), strict=True):
        for name in final_fields(alone):
            pair = both_of(name, ours, theirs)
            if pair is not None:
                found.setdefault(name, []).append(error(*pair))
    return found


def _expected(given: Scene, alone: Isolated) -> list[Any]:
    if not alone.slot.integrates:
        return list(given.worlds)
    stepped = [copy.copy(d) for d in given.worlds]
    for d in stepped:
        mujoco.mj_step(given.mujoco_model, d)
    return stepped


def error(ours: Any, theirs: Any) -> float:
    """Infinite if a number is missing."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    worst = np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0))
    return float(worst) if np.isfinite(worst) else np.inf


LAYOUTS = frozenset(field for fields in SPARSE.values() for field in fields)
"""Where entries of sparse rows stand: two layouts of the same matrix are both right."""


def both_of(name: str, ours: Data, theirs: Any) -> tuple[Any, Any] | None:
    """A field as ours and MuJoCo's, matrices written out; None if MuJoCo does not have it."""
    if name in LAYOUTS:
        return None
    if name in SPARSE:
        return dense(name, ours), written_out(
            name, lambda field: np.asarray(read(theirs, field)), ours.model.nv
        )
    try:
        other = np.asarray(read(theirs, name))
    except AttributeError:
        return None
    mine = np.asarray(ours.field(name))
    used = meaningful(DATA_SPECS[name], mine, getter(ours)) if mine.ndim else mine
    return used, other.reshape(-1)[: used.size].reshape(used.shape)


def assert_mujocos(
    text: str,
    slot: str,
    how: How,
    *,
    seeds: int = 2,
    warmup: int = 0,
    prepare: Callable[[Any, int], None] | None = None,
    fields: Container[str] | None = None,
    tolerance: float = TOLERANCE,
    **settings: Any,
) -> None:
    """Alone, the implementation leaves MuJoCo's numbers in several random states, in all fields or in some."""
    for seed in range(seeds):
        given = scene(text, seed, warmup, prepare)
        found = errors(given, *computed(given, slot, how, **settings))
        chosen = {name: max(each) for name, each in found.items() if fields is None or name in fields}
        assert chosen, f"{slot} leaves nothing that MuJoCo has"
        assert max(chosen.values()) <= tolerance, chosen
