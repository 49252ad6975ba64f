"""A batch of worlds in MuJoCo: rolled in to states that touch the ground, then timed (mujoco.rollout), then asked for
the state after one step, its contacts and its constraint rows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.compare.errors import relative_error
from dovetail.compare.oracle import require_mujoco
from dovetail.contracts.enums import EnableBit, JointType
from dovetail.contracts.fields import Array

AT_ONCE = 50
"""Steps per rollout while worlds roll in: the states of every step are kept meanwhile."""


def without_energy(model: Any) -> Any:
    """The Model or MjModel with the computation of energy switched off."""
    model.opt.enableflags = int(model.opt.enableflags) & ~int(EnableBit.ENERGY)
    return model


def oracle_model(source: Path | str, integrator: int | None = None) -> Any:
    """The MjModel of a file (a Path) or of MJCF text, without energy, as both engines are measured."""
    mujoco = require_mujoco()
    make = mujoco.MjModel.from_xml_path if isinstance(source, Path) else mujoco.MjModel.from_xml_string
    model = without_energy(make(str(source)))
    if integrator is not None:
        model.opt.integrator = integrator
    return model


@attrs.frozen(eq=False)
class Start:
    """The states and controls that every run begins with, one row per world."""

    qpos: Array
    qvel: Array
    act: Array
    ctrl: Array
    qacc_warmstart: Array

    @classmethod
    def near(cls, model: Any, nworld: int, seed: int = 0) -> Start:
        """About the pose of the file, at rest nearly, each world with controls of its own."""
        rng = np.random.default_rng(seed)
        return cls(
            qpos=np.stack([near_pose(model, rng) for _ in range(nworld)]),
            qvel=rng.normal(0.0, 0.1, (nworld, model.nv)),
            act=np.zeros((nworld, model.na)),
            ctrl=random_controls(model, nworld, rng),
            qacc_warmstart=np.zeros((nworld, model.nv)),
        )

    @property
    def nworld(self) -> int:
        return len(self.qpos)

    def repeated(self, nworld: int) -> Start:
        """As many worlds, these over and over."""
        return self._map(lambda rows: rows[np.arange(nworld) % self.nworld])

    def _map(self, change: Callable[[Array], Array]) -> Start:
        return Start(**{a.name: change(getattr(self, a.name)) for a in attrs.fields(Start)})

    def write(self, data: Any) -> None:
        """Into a Data of as many worlds."""
        for a in attrs.fields(Start):
            getattr(data, a.name)[...] = getattr(self, a.name)

    def write_world(self, world: int, data: Any) -> None:
        """One world's row into an MjData or a Data of one world."""
        for a in attrs.fields(Start):
            getattr(data, a.name)[:] = getattr(self, a.name)[world]

    def after(self, data: Any) -> Start:
        """The states in which a Data of as many worlds is now, with the same controls."""
        fields = ("qpos", "qvel", "act", "qacc_warmstart")
        return attrs.evolve(self, **{name: np.array(getattr(data, name), np.float64) for name in fields})


def clock_for(threads: int) -> Callable[[], float]:
    """What times so many threads: one thread is measured by the processor's time, which does not count what else
    the machine does."""
    return time.process_time if threads == 1 else time.perf_counter


def near_pose(model: Any, rng: np.random.Generator) -> Array:
    """qpos0, moved by centimetres and turned by some degrees; what carries flex vertices or nodes by tenths of
    millimetres, as more would tear them apart."""
    qpos = np.array(model.qpos0) + rng.normal(0.0, 1.0, model.nq) * spread(model)
    for kind, address in zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True):
        start = {JointType.FREE: address + 3, JointType.BALL: address}.get(kind)
        if start is not None:
            qpos[start : start + 4] /= np.linalg.norm(qpos[start : start + 4])
    return qpos


def spread(model: Any) -> Array:
    """How far each number of qpos is moved."""
    carries = np.unique(np.concatenate([model.flex_vertbodyid, model.flex_nodebodyid]))
    joints = np.isin(model.jnt_bodyid, carries) & (model.jnt_type == JointType.SLIDE)
    far = np.full(model.nq, 0.02)
    far[model.jnt_qposadr[joints]] = 2e-4
    return far


def random_controls(model: Any, nworld: int, rng: np.random.Generator) -> Array:
    """Within their range where they have one, about ±0.5 elsewhere."""
    limited = np.asarray(model.actuator_ctrllimited, bool)
    low, high = np.asarray(model.actuator_ctrlrange).reshape(-1, 2).T
    within = rng.uniform(low, np.maximum(low, high), (nworld, model.nu))
    return np.where(limited, within, rng.normal(0.0, 0.5, (nworld, model.nu)))


@attrs.frozen(kw_only=True)
class Activity:
    """What goes on in a world, on average over worlds."""

    contacts: float
    rows: float
    """Constraint rows (nefc)."""
    iterations: float
    """Of the solver."""


@attrs.frozen(eq=False)
class Batch:
    """The worlds of a Start in MuJoCo."""

    model: Any
    start: Start
    initial: Array
    """Full physics states, one row per world."""

    @classmethod
    def of(cls, model: Any, start: Start) -> Batch:
        """For an MjModel."""
        mujoco = require_mujoco()
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        initial = np.zeros((start.nworld, mujoco.mj_stateSize(model, kind)))
        data = mujoco.MjData(model)
        for world, row in enumerate(initial):
            mujoco.mj_resetData(model, data)
            start.write_world(world, data)
            mujoco.mj_getState(model, data, row, kind)
        return cls(model, start, initial)

    def runner(self, threads: int, steps: int) -> Callable[[], float]:
        """A function that rolls out so many steps once with so many threads and returns the seconds it took."""
        from mujoco import MjData, rollout

        pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        datas = [MjData(self.model) for _ in range(threads)]
        models = [self.model] * len(self.initial)
        asked = {
            "control": self._control(steps),
            "initial_warmstart": np.array(self.start.qacc_warmstart),
            "nstep": steps,
            # Made once, so that its allocation is not measured.
            "state": np.zeros((len(self.initial), steps, self.initial.shape[1])),
        }

        clock = clock_for(threads)

        def run() -> float:
            begin = clock()
            pool.rollout(models, datas, self.initial, **asked)
            return clock() - begin

        return run

    def _control(self, steps: int) -> Array | None:
        return np.repeat(self.start.ctrl[:, None, :], steps, axis=1) if self.model.nu else None

    def rolled_in(self, steps: int) -> Start:
        """The states after so many steps. The last one is made world by world, for its warm start."""
        states, done = self.initial, 0
        while done < steps - 1:
            count = min(AT_ONCE, steps - 1 - done)
            states = self._advanced(states, count)
            done += count
        return self._last_step(states) if steps else self.start

    def _advanced(self, states: Array, steps: int) -> Array:
        from mujoco import MjData, rollout

        threads = os.cpu_count() or 1
        models, datas = [self.model] * len(states), [MjData(self.model) for _ in range(threads)]
        with rollout.Rollout(nthread=threads if threads > 1 else 0) as pool:
            after, _ = pool.rollout(models, datas, states, self._control(steps), nstep=steps)
        return np.array(after[:, -1])

    def _last_step(self, states: Array) -> Start:
        mujoco = require_mujoco()
        data = mujoco.MjData(self.model)
        fields: dict[str, list[Array]] = {"qpos": [], "qvel": [], "act": [], "qacc_warmstart": []}
        for world, state in enumerate(states):
            mujoco.mj_resetData(self.model, data)
            mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            data.ctrl[:] = self.start.ctrl[world]
            mujoco.mj_step(self.model, data)
            for name, rows in fields.items():
                rows.append(np.array(getattr(data, name)))
        return attrs.evolve(self.start, **{name: np.stack(rows) for name, rows in fields.items()})

    def after_one_step(self, worlds: int) -> OneStep:
        """The first worlds, one step later."""
        mujoco = require_mujoco()
        data = mujoco.MjData(self.model)
        states: list[dict[str, Array]] = []
        counts = []
        for world in range(worlds):
            mujoco.mj_resetData(self.model, data)
            self.start.write_world(world, data)
            mujoco.mj_step(self.model, data)
            states.append({name: np.array(getattr(data, name)) for name in ("qpos", "qvel")})
            counts.append((data.ncon, data.nefc, np.sum(data.solver_niter)))
        contacts, rows, iterations = np.mean(counts, axis=0).tolist()
        return OneStep(states, Activity(contacts=contacts, rows=rows, iterations=iterations))


@attrs.frozen(eq=False)
class OneStep:
    """MuJoCo's states after one step, and what went on in it."""

    states: list[dict[str, Array]]
    activity: Activity

    def errors(self, after: Mapping[str, Array], worlds: int) -> Array:
        """The error of somebody's state after the same step, by world, the first so many: the largest of qpos's and
        qvel's."""
        return np.array(
            [
                max(relative_error(values[world], state[name]) for name, values in after.items())
                for world, state in enumerate(self.states[:worlds])
            ]
        )
