"""Steps of models, to be taken by kernels that are watched for wrong addresses and undefined behaviour.

    python sanitized_models.py contacts tendons

takes them and prints `done`; what the watchers find they print themselves, and end the process
(`test_sanitizers.py`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dovetail
from dovetail import Simulation
from dovetail.backends.lanes.values import binary

FLOOR = '<geom name="floor" type="plane" size="3 3 1"/>'


def world(body: str, more: str = "", option: str = "", asset: str = "") -> dovetail.Model:
    return dovetail.loads(
        f'<mujoco><option timestep="0.004" {option}/>{asset}<worldbody>{body}</worldbody>{more}</mujoco>'
    )


def contacts() -> dovetail.Model:
    """Two spheres and a floor: few pairs, a kernel that compiles quickly."""
    bodies = '<body pos="0 0 0.099"><freejoint/><geom size="0.1"/></body>'
    bodies += '<body pos="0.05 0 0.29"><joint type="slide" axis="0 0 1"/><geom size="0.1" condim="1"/></body>'
    return world(FLOOR + bodies)


def shapes() -> dovetail.Model:
    """Boxes, cylinders, ellipsoids and capsules on each other, elliptic cones."""
    kinds = ("box", "cylinder", "ellipsoid", "capsule")
    bodies = "".join(
        f'<body pos="{0.05 * n} 0 {0.1 + 0.19 * n}"><freejoint/>'
        f'<geom type="{kind}" size="0.1 0.1 0.1" condim="6"/></body>'
        for n, kind in enumerate(kinds)
    )
    return world(FLOOR + bodies, option='cone="elliptic"')


TIED = """
<body pos="0 0 0.8">
  <joint name="a" axis="0 1 0" limited="true" range="-40 40" frictionloss="0.05"/>
  <geom name="upper" type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="mid" pos="0.3 0 0"/>
  <body pos="0.3 0 0"><joint name="b" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="tip" pos="0.3 0 0"/></body>
</body>
<site name="post" pos="0 0 1.2"/>
<geom name="pulley" type="cylinder" size="0.05 0.1" pos="0.1 0 1" zaxis="0 1 0" contype="0" conaffinity="0"/>
"""
STRINGS = """
<tendon>
  <spatial name="cord" limited="true" range="0 0.6" stiffness="5" frictionloss="0.1" damping="0.1">
    <site site="post"/><geom geom="pulley"/><site site="mid"/><site site="tip"/></spatial>
  <fixed name="pair"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed>
</tendon>
"""
DRIVES = """
<actuator>
  <motor joint="a"/><muscle tendon="cord" lengthrange="0.2 1"/>
  <general joint="b" dyntype="filter" dynprm="0.05" actlimited="true" actrange="-1 1"/>
</actuator>
"""


def tendons() -> dovetail.Model:
    """Wrapped and fixed tendons, a muscle, a filter, sensors."""
    sensors = '<sensor><tendonpos tendon="cord"/><jointpos joint="a"/><accelerometer site="tip"/></sensor>'
    return world(TIED, STRINGS + DRIVES + sensors, option='integrator="implicitfast"')


def equalities() -> dovetail.Model:
    """Every kind of equality, one of them off; Runge-Kutta."""
    more = '<body name="held" pos="-0.5 0 0.5"><freejoint/><geom size="0.05"/></body>'
    more += '<body name="hand" pos="-0.5 0 0.8" mocap="true"><geom size="0.02" contype="0" conaffinity="0"/></body>'
    more += '<body name="hung" pos="-0.9 0 0.5"><freejoint/><geom size="0.05"/></body>'
    equality = (
        '<equality><weld body1="held" body2="hand"/><connect body1="hung" anchor="0 0 0.2"/>'
        '<joint joint1="a" joint2="b" polycoef="0 0.5 0 0 0" active="false"/>'
        '<tendon tendon1="pair" polycoef="0.2 0 0 0 0"/></equality>'
    )
    return world(TIED + more, STRINGS + equality, option='integrator="RK4"')


def mesh() -> dovetail.Model:
    """Meshes on a floor and on a height field."""
    asset = (
        '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .8 .8 .9" scale=".2 .2 .2"/>'
        '<hfield name="h" nrow="5" ncol="6" size="1 1 0.2 0.1" elevation="'
        + " ".join(str(n % 3) for n in range(30))
        + '"/></asset>'
    )
    bodies = '<geom type="hfield" hfield="h"/>'
    bodies += '<body pos="0 0 0.25"><freejoint/><geom type="mesh" mesh="m"/></body>'
    bodies += '<body pos="0.5 0.3 0.3"><freejoint/><geom type="sphere" size="0.1"/></body>'
    bodies += '<body pos="0.1 0.1 0.5"><freejoint/><geom type="mesh" mesh="m"/></body>'
    return world(bodies, asset=asset)


def spread(sim: Simulation) -> None:
    """Worlds that differ, one of them broken."""
    rng = np.random.default_rng(2)
    sim.data.qvel[...] = 0.5 * rng.normal(size=np.shape(sim.data.qvel))
    sim.data.ctrl[...] = 0.5 * rng.normal(size=np.shape(sim.data.ctrl))


def run(model: dovetail.Model, nworld: int | None = None, **settings: Any) -> Simulation:
    sim = Simulation(model, nworld, backend="native", **settings)
    assert {slot.record.backend for slot in sim.plan.slots} == {"native"}
    spread(sim)
    sim.step(3)
    for _ in range(10):
        sim.step()
    sim.step(20)
    return sim


def plain(make: Callable[[], dovetail.Model], **settings: Any) -> None:
    """One world, which keeps everything."""
    sim = run(make(), **settings)
    assert np.isfinite(np.asarray(sim.data.qpos)).all()
    sim.forward()


def batch(make: Callable[[], dovetail.Model], **settings: Any) -> None:
    """Worlds of which the last tile is not full, by two threads, with one that is reset."""
    sim = run(make(), 5, **{"threads": 2, "lanes": 2, "keep": ("ncon", "contact.dist"), **settings})
    sim.data.qvel[1, 0] = np.nan
    sim.step(4)


def per_world() -> None:
    """Model fields that differ between worlds."""
    sim = Simulation(contacts(), 5, backend="native", per_world=("geom_friction", "body_mass"), lanes=4)
    sim.per_world["body_mass"][...] = np.asarray(sim.per_world["body_mass"]) * np.linspace(1, 2, 5)[:, None]
    spread(sim)
    sim.step(20)


def mixes() -> None:
    """Kernels that export to stages on NumPy and import from them, contacts among it."""
    for stages in ({"narrowphase": "@numpy"}, {"contact_params": "@numpy", "passive_force:damper": "@numpy"}):
        sim = Simulation(contacts(), 3, backend="native", stages=stages, lanes=2)
        spread(sim)
        sim.step(10)


def rows_on_numpy() -> None:
    """Rows of sparse matrices pass from one to the other."""
    sim = Simulation(tendons(), 3, backend="native", stages={"tendon": "@numpy", "energy": "@numpy"}, lanes=2)
    spread(sim)
    sim.step(10)


CASES: Mapping[str, Callable[[], None]] = {
    "contacts": lambda: plain(contacts),
    "contacts, batch": lambda: batch(contacts),
    "contacts, f32": lambda: batch(contacts, precision="f32", lanes=16),
    "tendons": lambda: plain(tendons),
    "tendons, batch": lambda: batch(tendons, keep="state"),
    "equalities": lambda: plain(equalities),
    "equalities, f32": lambda: batch(equalities, precision="f32", lanes=4),
    "shapes": lambda: plain(shapes),
    "shapes, batch": lambda: batch(shapes),
    "mesh": lambda: plain(mesh),
    "mesh, batch": lambda: batch(mesh),
    "humanoid": lambda: plain(lambda: dovetail.load("humanoid")),
    "per world": per_world,
    "mixes": mixes,
    "rows on NumPy": rows_on_numpy,
}


def wrong_address() -> None:
    """A mistake: reads far behind the Model."""

    def read(k: Any) -> None:
        k.data.y[0] = k.data.x[0] * k.model.real[k.model.integer[0] * 1_000_000]

    apply_small(read)


def long_shift() -> None:
    """A mistake: a shift by more bits than a number has."""

    def shift(k: Any) -> None:
        far = k.model.integer[0] * 30
        k.data.y[0] = k.data.x[0] * binary("lshift", k.model.integer[1], far)

    apply_small(shift)


def apply_small(stage: Callable[[Any], None]) -> None:
    from lane_small import N, apply

    print(apply(stage, np.ones((3, N)), backend="native")["y"][0])


MISTAKES: Mapping[str, Callable[[], None]] = {"wrong address": wrong_address, "long shift": long_shift}
"""By which it is seen that somebody watches."""

if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # of a world that goes bad on purpose
    for case in sys.argv[1:]:
        print(case, flush=True)
        {**CASES, **MISTAKES}[case]()
    print("done")
