"""A small model with every kind of constraint row, and solvers in lanes beside mujoco's on its states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import mujoco
import numpy as np
from lane_constrained import (
    NEWTON,
    Worlds,
    _stage,
    answers,
    constrained_stages,
    make_worlds,
    set_from,
    states_in_contact,
)
from lane_zoo import real, zoo

from dovetail.backends.lanes.fuse import LaneStage
from dovetail.plugins.noslip import gauss_seidel_lanes
from dovetail.plugins.solve_constraints import cg_lanes, pgs_lanes

NWORLD = 11
FIELDS = ("qacc", "qfrc_constraint")

_YARD = """
<mujoco>
  <compiler autolimits="true"/>
  <option cone="{cone}"/>
  <default><geom condim="1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 .1"><freejoint/>
      <geom size=".1" condim="{first}" friction=".6 .02 .01"/></body>
    <body name="rider" pos=".05 0 .29"><freejoint/>
      <geom size=".1" condim="{second}" friction=".4 .03 .02"/></body>
    <body name="ice" pos="2 0 .1"><freejoint/><geom size=".1"/></body>
    <body name="arm" pos="1 0 .5"><joint name="shoulder" axis="0 1 0" frictionloss=".3" range="-20 20"/>
      <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.2"/>
      <body name="hand" pos="0 0 -.2"><joint name="elbow" axis="0 1 .2" range="-5 5"/>
        <geom size=".06" pos="0 0 -.21"/></body>
    </body>
    <body name="bell" pos="-1 0 .6"><joint type="ball" range="0 10"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .1 0 -.3"/></body>
    <body name="tail" pos="-.9 0 .3"><joint name="lift" type="slide" axis="0 0 1" range="-.01 .01"/>
      <joint name="sway" axis="0 1 0"/>
      <geom size=".07" pos=".1 0 0" contype="0" conaffinity="0"/></body>
  </worldbody>
  <equality>
    <joint joint1="elbow" joint2="shoulder" polycoef=".1 .5 .2 0 0"/>
    <connect body1="tail" body2="bell" anchor="0 0 0"/>
    <joint joint1="sway" polycoef=".05 0 0 0 0"/>
  </equality>
</mujoco>
"""

STAGES: dict[str, LaneStage] = {
    "pgs": _stage(
        "solve_constraints",
        pgs_lanes.solve_constraints,
        "qacc_smooth qacc_warmstart qLD qLDiagInv cdof",
        "qacc qfrc_constraint",
    ),
    "cg": _stage(
        "solve_constraints",
        cg_lanes.solve_constraints,
        "qacc_smooth qfrc_smooth qacc_warmstart M qLD qLDiagInv cdof",
        "qacc qfrc_constraint",
    ),
    "newton": NEWTON,
    "noslip": _stage(
        "noslip", gauss_seidel_lanes.noslip, "qacc qacc_smooth qLD qLDiagInv cdof", "qacc qfrc_constraint"
    ),
}
SOLVERS = {
    "pgs": mujoco.mjtSolver.mjSOL_PGS,
    "cg": mujoco.mjtSolver.mjSOL_CG,
    "newton": mujoco.mjtSolver.mjSOL_NEWTON,
}


def yard(cone: str, first: int, second: int) -> Any:
    """Contacts have condim 1, `first` and `second`."""
    return mujoco.MjModel.from_xml_string(_YARD.format(cone=cone, first=first, second=second))


@cache
def model(name: str, solver: str) -> Any:
    """`yard pyramidal 3 4`, `zoo elliptic` or a robot's name and a cone; `pgs`, `pgs+noslip`, …"""
    kind, cone, *dims = name.split()
    if kind == "yard":
        m = yard(cone, *map(int, dims))
    else:
        m = zoo(cone, 4 if cone == "elliptic" else 3) if kind == "zoo" else real(kind, cone)
    first, _, after = solver.partition("+")
    m.opt.solver = SOLVERS[first]
    m.opt.noslip_iterations = 4 if after else 0
    return m


@cache
def states(name: str, solver: str) -> list[Any]:
    warmup = {"zoo": 10, "ant": 150}.get(name.split()[0], 40)
    found = states_in_contact(model(name, solver), NWORLD, warmup=warmup)
    if model(name, solver).neq:
        for data in found[::2]:  # worlds differ in what is switched on
            data.eq_active[-1] = 0
    for data in found:
        mujoco.mj_forward(model(name, solver), data)
    return found


def worlds(name: str, solver: str, precision: str = "f64", lanes: int | None = None) -> Worlds:
    return _worlds(name, solver, precision, lanes)


@cache
def _worlds(name: str, solver: str, precision: str, lanes: int | None) -> Worlds:
    first, *after = solver.split("+")
    stages = [*constrained_stages(STAGES[first]), *(STAGES[name] for name in after)]
    return make_worlds(model(name, solver), NWORLD, stages=stages, precision=precision, lanes=lanes)


def solved(name: str, solver: str, precision: str = "f64", lanes: int | None = None) -> Worlds:
    found = worlds(name, solver, precision, lanes)
    set_from(found, states(name, solver))
    found.run()
    return found


def errors(found: Worlds, datas: list[Any]) -> dict[str, np.ndarray]:
    """Per world, relative to its largest number."""
    return {
        name: np.abs(found[name] - wanted).max(axis=1) / np.maximum(1.0, np.abs(wanted).max(axis=1))
        for name, wanted in answers(datas, *FIELDS).items()
    }


@contextmanager
def options(name: str, solver: str, **values: Any) -> Iterator[None]:
    """Both engines with other options for a while; mujoco's worlds are evaluated anew."""
    m, ours = model(name, solver), worlds(name, solver).model
    before = {field: getattr(m.opt, field) for field in values}
    try:
        _set(m, ours, values)
        for data in states(name, solver):
            mujoco.mj_forward(m, data)
        yield
    finally:
        _set(m, ours, before)
        for data in states(name, solver):
            mujoco.mj_forward(m, data)


def _set(m: Any, ours: Any, values: Mapping[str, Any]) -> None:
    for field, value in values.items():
        setattr(m.opt, field, value)
        setattr(ours.opt, field, value)


def check_neighbours(name: str, solver: str) -> None:
    """A world does not depend on the others, which change which rows the tile has and how long it iterates."""
    mine = 3
    together = {field: solved(name, solver)[field][mine].copy() for field in FIELDS}
    found, datas = worlds(name, solver), states(name, solver)
    empty = mujoco.MjData(model(name, solver))
    mujoco.mj_forward(model(name, solver), empty)
    for others in (datas[mine], datas[0], empty):
        set_from(found, [datas[mine] if n == mine else others for n in range(NWORLD)])
        found.run()
        for field, value in together.items():
            np.testing.assert_array_equal(found[field][mine], value)


def check_lanes(name: str, solver: str) -> None:
    """As many worlds side by side as usual, or one: the same bits."""
    results = []
    for lanes in (None, 1):
        found = solved(name, solver, lanes=lanes)
        results.append({field: found[field].copy() for field in FIELDS})
    for field in FIELDS:
        np.testing.assert_array_equal(results[0][field], results[1][field])
