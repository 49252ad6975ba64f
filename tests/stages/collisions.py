"""The collision stages of one backend on given poses of geoms: broadphase, narrowphase and parameters of contacts."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from lane_backend import LANES

from dovetail.compare.isolate import Isolated, Worlds, isolate, shared_data
from dovetail.contracts.types import Data, Model

FIELDS = ("dist", "pos", "frame", "friction", "solref", "solreffriction", "solimp", "includemargin")
"""Of a contact."""

Rules = tuple[tuple[str, str], ...]
"""Slots and names of implementations."""


class Found(NamedTuple):
    """Contacts of one world: geoms (n, 2) and fields."""

    geoms: np.ndarray
    fields: dict[str, np.ndarray]


def contacts(
    model: Model,
    xpos: np.ndarray,
    xmat: np.ndarray,
    backend: str = LANES,
    *,
    precision: str = "f64",
    lanes: int | None = None,
    rules: Rules = (),
) -> list[Found]:
    """Contacts in worlds with these poses of geoms (worlds, ngeom, 3) and (worlds, ngeom, 9)."""
    lanes = lanes or {"f64": 8, "f32": 16}[precision]
    worlds = Worlds(nworld=len(xpos), precision=precision, lanes=lanes)
    data = shared_data(model, worlds)
    data.geom_xpos, data.geom_xmat = xpos, xmat
    _stages(model, backend, worlds, rules).run(data)
    return [found(world) for world in data.worlds()]


@cache
def _stages(model: Model, backend: str, worlds: Worlds, rules: Rules) -> Isolated:
    names = {"broadphase": "sweep", "contact_params": "mujoco", **dict(rules)}
    others = {slot: f"{name}@{backend}" for slot, name in names.items()}
    along = ("broadphase", "contact_params")
    return isolate(model, "narrowphase", f"convex@{backend}", worlds, stages=others, span=along)


def found(world: Data) -> Found:
    """The contacts of a world."""
    count = int(world.ncon)
    fields = {name: np.array(getattr(world.contact, name)[:count]) for name in FIELDS}
    return Found(np.array(world.contact.geom[:count]).reshape(-1, 2), fields)


def assert_same(ours: Found, wanted: Found, tolerance: float) -> None:
    """Same contacts in the same order; each field to `tolerance` of its largest number, or absolutely."""
    assert ours.geoms.tolist() == wanted.geoms.tolist()
    for name, value in wanted.fields.items():
        value = value.reshape(ours.fields[name].shape)
        scale = max(1.0, float(np.abs(value).max(initial=0.0)))
        error = float(np.abs(ours.fields[name] - value).max(initial=0.0)) / scale
        assert error <= tolerance, f"{name} differs by {error:.1e}"


def same_bits(a: Found, b: Found) -> bool:
    return a.geoms.tolist() == b.geoms.tolist() and all(
        np.array_equal(a.fields[name], b.fields[name]) for name in a.fields
    )
