"""States along a trajectory, steps from them, and all that users can then read, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from lane_backend import LANES

import dovetail
from dovetail import Model, Simulation
from dovetail.contracts.fields import REAL
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import Data

State = dict[str, np.ndarray]
"""What a step depends on, of one world."""

Readings = dict[str, bytes]
"""The bytes of what can be read after a step, by field."""

LENGTHS = {"ncon_max": "ncon", "nefc_max": "nefc", "nJ_max": "nJ", "nisland_max": "nisland"}
"""What says how many entries of a growing field mean something."""


def state_of(world: Data) -> State:
    return {name: np.array(world.field(name)) for name in world.state}


def put(world: Data, state: State) -> None:
    for name, value in state.items():
        world.field(name)[...] = value


def readings(world: Data, but: Iterable[str] = ()) -> Readings:
    """Every field that one world has. Of those that grow, the entries that mean something."""
    found = {}
    for name, _ in world.fields():
        if name not in but and name not in world.arena.late.names:
            found[name] = np.ascontiguousarray(_meant(world, name)).tobytes()
    return found


def late_readings(world: Data) -> Readings:
    """Fields that are filled when somebody asks for them."""
    return {
        name: np.ascontiguousarray(_meant(world, name)).tobytes() for name in sorted(world.arena.late.names)
    }


def _meant(world: Data, name: str) -> Any:
    value = np.asarray(world.field(name))
    length = world.specs[name].shape[:1] and world.specs[name].shape[0]
    if length not in CAPACITIES:
        return value
    return value[: int(world.field(LENGTHS[length]))] if LENGTHS.get(length) in world else value[:0]


def differing(found: Readings, wanted: Readings) -> list[str]:
    """Fields that are not the same, bit for bit."""
    return [name for name, content in wanted.items() if found.get(name) != content]


def spoil(sim: Simulation) -> None:
    """Fill the numbers in Data that steps write, but for the state, with what no result survives."""
    data = sim.data
    written = {name for slot in sim.plan.slots for name in slot.in_data} - {
        *data.state,
        *data.arena.late.names,
    }
    for name in written & {name for name, _ in data.fields()}:
        spec = data.specs[name]
        if spec.dtype == REAL and not spec.grows:
            data.field(name)[...] = np.nan


def trajectory(model: Model, count: int, stride: int = 3, seed: int = 0, **settings: Any) -> list[State]:
    """States along a trajectory under random controls, with pushes now and then. Its first states have other
    contacts than its last."""
    rng = np.random.default_rng(seed)
    sim = Simulation(model, **{"backend": LANES, "keep": "state", **settings})
    states = []
    for number in range(count):
        if number % 6 == 0:
            sim.data.ctrl[...] = rng.uniform(-1.0, 1.0, model.nu)
        if number % 4 == 3:
            sim.data.qvel[...] += 0.5 * rng.standard_normal(model.nv)
        states.append(state_of(sim.data))
        sim.step(stride)
    return [state for state in states if all(np.isfinite(state[name]).all() for name in ("qpos", "qvel"))]


def orders(count: int, seed: int = 1) -> list[Sequence[int]]:
    """Forwards, backwards, and twice in any order."""
    rng = np.random.default_rng(seed)
    return [
        range(count),
        range(count)[::-1],
        rng.permutation(count).tolist(),
        rng.permutation(count).tolist(),
    ]


def start(model: Model, **settings: Any) -> Simulation:
    return Simulation(model, **{"backend": LANES, **settings})


# ---- a model ---------------------------------------------------------------------------------------------------

HAND = """
<mujoco model="hand">
  <option timestep="0.004" {option}/>
  <default><joint damping="0.05" armature="0.002" frictionloss="0.02" limited="true" range="-60 80"/>
    <geom friction="0.8 0.01 0.001"/></default>
  <worldbody>
    <geom name="table" type="plane" size="2 2 1" condim="4"/>
    <body name="wrist" pos="0 0 0.1">
      <joint name="lift" type="slide" axis="0 0 1" range="-0.2 0.2"/><joint name="turn" axis="0 1 0"/>
      <geom type="box" size="0.05 0.06 0.02" mass="0.3"/>
      {fingers}
    </body>
    {loose}
    <body name="lever" pos="0.3 0 0.3"><joint name="beam" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 -0.2 0 0" mass="0.1"/></body>
  </worldbody>
  <tendon>
    <fixed name="pull" frictionloss="0.01" limited="true" range="-0.9 0.9">
      <joint joint="b0" coef="1"/><joint joint="c0" coef="0.7"/></fixed>
  </tendon>
  <equality><joint joint1="b1" joint2="c1" polycoef="0 0.8 0 0 0"/></equality>
  <actuator>
    <position name="turning" joint="turn" kp="2"/><position joint="a0" kp="3"/><position joint="a1" kp="3"/>
    <general tendon="pull" dyntype="filter" dynprm="0.05"/>
    <motor joint="lift"/><velocity joint="beam" kv="0.2"/>
  </actuator>
  <sensor><touch site="tip0"/><force site="tip0"/><actuatorfrc actuator="turning"/><tendonpos tendon="pull"/>
    <framelinacc objtype="body" objname="wrist"/><subtreecom body="wrist"/></sensor>
</mujoco>
"""
FINGER = """
      <body pos="0.05 {y} 0"><joint name="a{n}" axis="0 0 1"/><joint name="b{n}" axis="0 1 0"/>
        <geom type="capsule" size="0.012" fromto="0 0 0 0.05 0 0" mass="0.03"/>
        <body pos="0.05 0 0"><joint name="c{n}" axis="0 1 0"/>
          <geom type="capsule" size="0.011" fromto="0 0 0 0.04 0 0" mass="0.02"/><site name="tip{n}" pos="0.04 0 0"
            size="0.015"/></body></body>
"""
"""A tree of 8 dofs, whose blocks in the Hessian are not all full: rows of all kinds come and go."""
LOOSE = """
    <body name="cube" pos="0.02 0 0.28"><freejoint/><geom type="box" size="0.03 0.03 0.03" mass="0.1"/></body>
    <body name="ball" pos="0.22 0.02 0.1"><freejoint/><geom size="0.03" mass="0.05" condim="6"/></body>
"""
"""More trees, whose inertia has no entries beside the diagonal."""

OPTIONS = {
    "newton": "",
    "elliptic": 'cone="elliptic" noslip_iterations="2"',
    "few": 'cone="elliptic" iterations="3" ls_iterations="5"',
    "cg": 'solver="CG"',
    "pgs": 'solver="PGS" iterations="20"',
    "elliptic pgs": 'solver="PGS" cone="elliptic" noslip_iterations="3"',
    "elliptic cg": 'solver="CG" cone="elliptic" iterations="5" ls_iterations="4"',
    "rk4": 'integrator="RK4"',
    "implicit": 'integrator="implicit"',
    "implicitfast": 'integrator="implicitfast" cone="elliptic"',
    "one problem": '><flag island="disable"/></option><option',
}


@cache
def hand(option: str = "newton", loose: str = "") -> Model:
    fingers = "".join(FINGER.format(n=n, y=y) for n, y in enumerate((-0.025, 0.025)))
    return dovetail.loads(HAND.format(option=OPTIONS[option], fingers=fingers, loose=loose))


@cache
def hand_states(option: str = "newton", loose: str = "") -> list[State]:
    return trajectory(hand(option, loose), 22)


# ---- models that pip brings -------------------------------------------------------------------------------------


def _files() -> Iterator[tuple[str, Path]]:
    """MJCF files of packages, which are not imported."""
    for package, folder, only in (
        ("gymnasium", "envs/mujoco/assets", "*.xml"),
        ("dm_control", "suite", "*.xml"),
        ("gymnasium_robotics", "envs/assets", "*/*.xml"),
    ):
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            top = Path(place) / folder
            for path in sorted(top.glob(only)):
                if "<worldbody" in path.read_text() and "<mujocoinclude" not in path.read_text():
                    yield f"{package}/{path.relative_to(top).with_suffix('').as_posix()}", path


FILES = dict(_files())
"""Models that pip brings, by package and path."""
