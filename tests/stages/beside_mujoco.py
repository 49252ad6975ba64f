"""One model in MuJoCo and in dovetail, in the same random states, compared field by field."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-10
"""Of the largest number in a field; of 1e-3 where all are smaller."""


class Pair:
    """The same model and state twice."""

    def __init__(self, xml: str, seed: int = 0) -> None:
        self.theirs_model = mujoco.MjModel.from_xml_string(xml)
        self.theirs = mujoco.MjData(self.theirs_model)
        self.model = dovetail.loads(xml)
        self.ours = dovetail.make_data(self.model)
        self.random = np.random.default_rng(seed)

    def set(self, **state: Any) -> None:
        """Set fields of both."""
        for name, value in state.items():
            if np.ndim(getattr(self.theirs, name)):
                getattr(self.theirs, name)[:] = value
            else:
                setattr(self.theirs, name, value)
            setattr(self.ours, name, value)

    def randomise(self, scale: float = 1.0, time: float = 0.5) -> None:
        """A random state, with controls and activations beyond their usual ranges."""
        m, normal = self.theirs_model, self.random.normal
        qpos = m.qpos0.copy()
        mujoco.mj_integratePos(m, qpos, scale * normal(size=m.nv), 1.0)
        self.set(qpos=qpos, qvel=2.0 * scale * normal(size=m.nv), time=time)
        self.set(ctrl=normal(size=m.nu), act=normal(0.3, 0.6, size=m.na))

    def forward(self) -> None:
        mujoco.mj_forward(self.theirs_model, self.theirs)
        dovetail.forward(self.model, self.ours)

    def step(self, count: int = 1) -> None:
        mujoco.mj_step(self.theirs_model, self.theirs, count)
        dovetail.step(self.model, self.ours, count)

    def check(self, *fields: str, tolerance: float = TOLERANCE) -> None:
        """Every named field is the same."""
        for name in fields:
            error = difference(np.asarray(self.ours.field(name)), np.asarray(getattr(self.theirs, name)))
            assert error <= tolerance, (
                f"{name}: {error:.2g}\n{self.ours.field(name)}\n{getattr(self.theirs, name)}"
            )

    def compare(self, *fields: str, states: int = 8, scale: float = 1.0) -> None:
        """Compare after a forward evaluation in several random states."""
        for time in np.linspace(0.0, 1.0, states):
            self.randomise(scale, float(time))
            self.forward()
            self.check(*fields)


def difference(ours: Any, theirs: Any) -> float:
    """Largest difference, relative to the field's largest number."""
    if not theirs.size:
        return 0.0
    scale = max(1e-3, float(np.abs(theirs).max()))
    worst = float(np.abs(ours.reshape(theirs.shape) - theirs).max()) / scale
    return worst if np.isfinite(worst) else np.inf
