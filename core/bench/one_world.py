"""One world: what a call of `step` costs beside MuJoCo's, for one step and for many.

Both engines start from the same state, rolled in under random controls, and take turns; times are the processor's,
the least of several rounds each (the machine may be busy with other things, never less than idle).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from dovetail.bench.cases import Case
from dovetail.bench.results import machine
from dovetail.bench.speed import Contest, Measurement, ShowProgress, runtime_name
from dovetail.compare.oracle import require_mujoco
from dovetail.compare.rollout import Start
from dovetail.simulation import Simulation

CALLS = 200
"""Calls of one step that are timed together."""

MANY = 1000
"""Steps of one call."""

KEEPS = ("state", "all")


@attrs.frozen(kw_only=True)
class OneWorld:
    """Microseconds per step of one model."""

    model: str
    nv: int
    backend: str
    keep: str
    """What stays in Data after a step."""
    one: float
    """With a call for every step."""
    many: float
    """With a call for a thousand."""
    mujoco_one: float
    mujoco_many: float
    timestep: float
    """Simulated seconds of a step."""
    machine: dict[str, Any]

    @property
    def ratio_one(self) -> float:
        """How many times as fast as MuJoCo."""
        return self.mujoco_one / self.one

    @property
    def ratio_many(self) -> float:
        return self.mujoco_many / self.many

    @property
    def realtime(self) -> float:
        """Simulated seconds in a second."""
        return 1e6 * self.timestep / self.one


def one_world(case: Case, request: Measurement, show: ShowProgress = lambda text: None) -> list[OneWorld]:
    """Measure a model, keeping the state alone and everything."""
    contest = Contest.prepare(case, attrs.evolve(request, nworld=(1,), with_mujoco=True), [], show)
    oracle = _oracle(contest)
    found = []
    for keep in KEEPS:
        sim = Simulation(contest.model, backend=request.backend, precision=request.precisions[0], keep=keep)
        show(f"{case.name}: measuring one world, keep={keep} …")
        begin: Callable[[], None] = partial(_begin, sim, contest.start)
        begin()
        sim.step(1)
        times = _race(sim.step, oracle, begin, request.repeat)
        found.append(
            OneWorld(
                model=case.name,
                nv=contest.model.nv,
                backend=runtime_name(sim.plan) or sim.plan.slots[0].record.backend,
                keep=keep,
                timestep=float(contest.model.opt.timestep),
                machine=machine(),
                **times,
            )
        )
    return found


def _begin(sim: Simulation, start: Start) -> None:
    """Put the world where the measurement begins."""
    sim.reset()
    for name in ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"):
        setattr(sim.data, name, getattr(start, name)[0])


def _oracle(contest: Contest) -> tuple[Callable[[int], None], Callable[[], None]]:
    """Steps of MuJoCo, and what puts its world where the measurement begins."""
    mujoco = require_mujoco()
    model: Any = contest.oracle
    data = mujoco.MjData(model)

    def begin() -> None:
        mujoco.mj_resetData(model, data)
        for name in ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"):
            getattr(data, name)[:] = getattr(contest.start, name)[0]

    return lambda count: mujoco.mj_step(model, data, count), begin


def _race(
    step: Callable[[int], None],
    oracle: tuple[Callable[[int], None], Callable[[], None]],
    begin: Callable[[], None],
    repeat: int,
) -> dict[str, float]:
    """Least microseconds per step of both, call by call and in one call."""
    times: dict[str, list[float]] = {}
    for turn in range(repeat + 1):  # the first is for warmth
        for name, run, start in (("", step, begin), ("mujoco_", *oracle)):
            start()
            one = _seconds(lambda run=run: [run(1) for _ in range(CALLS)]) / CALLS  # type: ignore[misc]
            start()
            many = _seconds(lambda run=run: run(MANY)) / MANY  # type: ignore[misc]
            if turn:
                times.setdefault(f"{name}one", []).append(1e6 * one)
                times.setdefault(f"{name}many", []).append(1e6 * many)
    return {name: min(each) for name, each in times.items()}


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began
