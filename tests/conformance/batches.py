"""Batches on the Taichi backend beside as many MjData: the same states in every world, injected or running free."""

from __future__ import annotations

import copy
import time
from typing import Any

import attrs
import numpy as np
import pytest
import robots
import scenes
from lane_backend import LANES

import dovetail
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.types import STATE, Model

SPEED = 0.3
"""Of the starts, in metres or radians per second."""
AT_REST = {"suite/fish": 0.0}
"""Models that MuJoCo itself loses when they start with that: their parts are too light for their timestep."""
COUNTS = ("ncon", "nefc")
RESULTS = ("qacc", "qvel", "qpos")


@attrs.frozen
class Pair:
    """A model in both engines."""

    name: str
    ours: Model
    theirs: Any


def pair(name: str) -> Pair:
    """`gymnasium/ant`, or one of `scenes` with its cone as `scene/heap/elliptic`.

    Without islands in either engine: in lanes the rows of a world are one problem. MuJoCo ends its descent island by
    island, each as soon as it gains less than `tolerance`, which moves accelerations of a heap by up to 1e-5.
    """
    mujoco = pytest.importorskip("mujoco")
    if name in robots.FILES:
        return _without_islands(Pair(name, robots.ours(name), robots.theirs(name)))
    _, scene, cone = name.split("/")
    text = scenes.text(scene, f'cone="{cone}"')
    return _without_islands(Pair(name, dovetail.loads(text), mujoco.MjModel.from_xml_string(text)))


def _without_islands(pair: Pair) -> Pair:
    """The same models, copied, with one constraint problem per world."""
    ours, theirs = pair.ours.copy(), copy.copy(pair.theirs)
    for model in (ours, theirs):
        model.opt.disableflags = int(model.opt.disableflags) | int(DisableBit.ISLAND)
    return Pair(pair.name, ours, theirs)


OWN = [f"scene/{scene}/{cone}" for scene in scenes.SCENES for cone in ("pyramidal", "elliptic")]
ALL = [*robots.FILES, *OWN]


@attrs.define
class Result:
    """What a comparison found."""

    name: str
    nworld: int
    nstep: int
    fallback: str
    """A stage that did not run in lanes, and how it ran; empty if all did."""
    most: dict[str, int] = attrs.field(factory=dict)
    """The largest counts."""
    wrong: dict[str, int] = attrs.field(factory=dict)
    """Worlds and steps in which a count differs."""
    errors: dict[str, float] = attrs.field(factory=dict)
    """Largest difference of a field, relative to its largest number where that is above 1."""
    seconds: float = 0.0

    def row(self) -> str:
        """A line of the table whose head is `HEAD`."""
        counts = " ".join(f"{self.most.get(n, 0):>5} {self.wrong.get(n, 0):>5}" for n in COUNTS)
        errors = " ".join(f"{self.errors.get(n, np.nan):>8.1e}" for n in RESULTS)
        size = f"{self.nworld:>5} {self.nstep:>5}"
        return f"{self.name:<34} {size} {counts} {errors} {self.seconds:>6.0f} {self.fallback}"


HEAD = (
    f"{'model':<34} {'worlds':>5} {'steps':>5} {'ncon':>4} {'wrong':>5} {'nefc':>5} {'wrong':>5} "
    f"{'qacc':>8} {'qvel':>8} {'qpos':>8} {'s':>6} not in lanes"
)


@attrs.define
class Batch:
    """A batch of ours and its worlds in MuJoCo."""

    pair: Pair
    sim: dovetail.Simulation
    oracles: list[Any]
    rng: np.random.Generator

    @classmethod
    def start(cls, pair: Pair, nworld: int, seed: int = 0, **settings: Any) -> Batch:
        """Worlds at rest positions with different velocities."""
        mujoco = pytest.importorskip("mujoco")
        sim = dovetail.Simulation(pair.ours, nworld=nworld, backend=LANES, keep=(*COUNTS, "qacc"), **settings)
        rng = np.random.default_rng(seed)
        oracles = [mujoco.MjData(pair.theirs) for _ in range(nworld)]
        for oracle in oracles:
            oracle.qvel[:] = rng.normal(0.0, AT_REST.get(pair.name, SPEED), pair.theirs.nv)
        return cls(pair, sim, oracles, rng)

    def control(self) -> None:
        """New random controls in every world of MuJoCo's."""
        for oracle in self.oracles:
            oracle.ctrl[:] = robots.controls(self.pair.theirs, self.rng)

    def inject(self) -> None:
        """Give our worlds the states of MuJoCo's."""
        for name in STATE:
            values = np.stack([np.asarray(getattr(oracle, name)) for oracle in self.oracles])
            field = self.sim.data.field(name)
            field[...] = values.reshape(field.shape)

    def step(self, nstep: int = 1) -> None:
        """Both sides."""
        mujoco = pytest.importorskip("mujoco")
        self.sim.step(nstep)
        for oracle in self.oracles:
            mujoco.mj_step(self.pair.theirs, oracle, nstep)

    def compare(self, result: Result) -> None:
        """Add what this step shows to a result."""
        for name in COUNTS:
            wanted = np.array([getattr(oracle, name) for oracle in self.oracles])
            found = np.asarray(self.sim.data.field(name)).reshape(-1)
            result.most[name] = max(result.most.get(name, 0), int(wanted.max()))
            result.wrong[name] = result.wrong.get(name, 0) + int(np.count_nonzero(found != wanted))
        for name in RESULTS:
            values = np.stack([getattr(oracle, name) for oracle in self.oracles])
            error = np.abs(np.asarray(self.sim.data.field(name)) - values).max(initial=0.0)
            scale = max(1.0, float(np.abs(values).max(initial=0.0)))
            result.errors[name] = max(result.errors.get(name, 0.0), float(error) / scale)


def fallback_of(sim: dovetail.Simulation) -> str:
    """The first stage of a plan that does not run on Taichi."""
    slow = [line for line in sim.plan.lines() if line.implementation.endswith("@numpy")]
    return f"{slow[0].slot}: {slow[0].implementation}, {len(slow)} in all" if slow else ""


def along_trajectories(name: str, nworld: int, nstep: int, few: tuple[int, int], **settings: Any) -> Result:
    """MuJoCo's states in every world before each step: counts and results after it. A model that does not run in
    lanes altogether gets as many worlds and steps as `few` says."""
    began = time.perf_counter()
    model = pair(name)
    fallback = fallback_of(dovetail.Simulation(model.ours, nworld=8, backend=LANES, keep=COUNTS))
    if fallback:
        nworld, nstep = few
    batch = Batch.start(model, nworld, **settings)
    result = Result(name, nworld, nstep, fallback)
    for step in range(nstep):
        if step % 10 == 0:
            batch.control()
        batch.inject()
        batch.step()
        batch.compare(result)
    result.seconds = time.perf_counter() - began
    return result


def running_free(name: str, nworld: int, nstep: int, **settings: Any) -> Result:
    """Nothing is injected after the start but controls, every ten steps."""
    began = time.perf_counter()
    model = pair(name)
    batch = Batch.start(model, nworld, **settings)
    result = Result(name, nworld, nstep, fallback_of(batch.sim))
    batch.inject()
    for _ in range(nstep // 10):
        batch.control()
        batch.sim.data.field("ctrl")[...] = np.stack([oracle.ctrl for oracle in batch.oracles])
        batch.step(10)
        batch.compare(result)
    result.seconds = time.perf_counter() - began
    return result
