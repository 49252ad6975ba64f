"""A batch of worlds in MuJoCo from given states and controls: its speed (mujoco.rollout), its state after a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.compare.errors import relative_error
from dovetail.compare.oracle import require_mujoco
from dovetail.compare.states import random_positions
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array


def without_energy(model: Any) -> Any:
    """The Model or MjModel with the computation of energy switched off."""
    model.opt.enableflags = int(model.opt.enableflags) & ~int(EnableBit.ENERGY)
    return model


@attrs.frozen(eq=False)
class Start:
    """The states and controls that every run begins with, one row per world."""

    qpos: Array
    qvel: Array
    ctrl: Array

    @classmethod
    def random(cls, model: Any, nworld: int, seed: int) -> Start:
        rng = np.random.default_rng(seed)
        qpos = np.stack([random_positions(model, rng) for _ in range(nworld)])
        return cls(qpos, rng.normal(0.0, 1.0, (nworld, model.nv)), rng.normal(0.0, 0.5, (nworld, model.nu)))

    def write(self, data: Any) -> None:
        """Into a Data of as many worlds."""
        data.qpos[...], data.qvel[...], data.ctrl[...] = self.qpos, self.qvel, self.ctrl

    def write_world(self, world: int, data: Any) -> None:
        """One world's row into an MjData or a Data of one world."""
        data.qpos[:], data.qvel[:], data.ctrl[:] = self.qpos[world], self.qvel[world], self.ctrl[world]


@attrs.frozen(eq=False)
class Batch:
    """The worlds of a Start in MuJoCo, ready to be rolled out for `steps` steps."""

    model: Any
    start: Start
    initial: Array
    control: Array | None
    states: Array
    """Where rollout writes, made once so that its allocation is not measured."""

    @classmethod
    def load(cls, path: Path, start: Start, steps: int) -> Batch:
        """From the file that dovetail's side reads too."""
        mujoco = require_mujoco()
        model = without_energy(mujoco.MjModel.from_xml_path(str(path)))
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        initial = np.zeros((len(start.qpos), mujoco.mj_stateSize(model, kind)))
        data = mujoco.MjData(model)
        for world, row in enumerate(initial):
            mujoco.mj_resetData(model, data)
            start.write_world(world, data)
            mujoco.mj_getState(model, data, row, kind)
        control = np.repeat(start.ctrl[:, None, :], steps, axis=1) if model.nu else None
        return cls(model, start, initial, control, np.zeros((len(initial), steps, initial.shape[1])))

    def runner(self, threads: int) -> Callable[[], float]:
        """A function that rolls out once with so many threads and returns the seconds it took."""
        from mujoco import MjData, rollout

        pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        datas = [MjData(self.model) for _ in range(threads)]
        models = [self.model] * len(self.initial)
        steps = self.states.shape[1]

        def run() -> float:
            begin = time.perf_counter()
            pool.rollout(models, datas, self.initial, self.control, nstep=steps, state=self.states)
            return time.perf_counter() - begin

        return run

    def error(self, after: Mapping[str, Array]) -> float:
        """Largest error, over worlds and fields, of somebody's state after one step."""
        mujoco = require_mujoco()
        data = mujoco.MjData(self.model)
        worst = 0.0
        for world in range(len(self.initial)):
            mujoco.mj_resetData(self.model, data)
            self.start.write_world(world, data)
            mujoco.mj_step(self.model, data)
            for name, values in after.items():
                worst = max(worst, relative_error(values[world], getattr(data, name)))
        return worst
