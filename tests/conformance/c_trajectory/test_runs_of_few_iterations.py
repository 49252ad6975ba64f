"""Free runs of models that stop their solver early, as scenes made for MJX do, beside MuJoCo.

Such a run is the way the solver goes, again and again: 100 steps must stay within 1e-9 of MuJoCo's, or within 1000
times what MuJoCo itself moves if it starts 1e-14 elsewhere.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

STEPS = 100
NWORLD = 3


def walker() -> str:
    """A robot on four legs with position servos, friction loss and limits, as scenes for MJX describe them."""
    legs, servos = "", ""
    for n, (x, y) in enumerate([(0.2, 0.1), (-0.2, 0.1), (0.2, -0.1), (-0.2, -0.1)]):
        legs += f"""<body pos="{x} {y} 0"><joint name="hip{n}" axis="1 0 0" range="-40 40" frictionloss=".1"/>
          <geom type="sphere" size=".04"/>
          <body><joint name="thigh{n}" axis="0 1 0" range="-80 80" frictionloss=".1"/>
            <geom type="capsule" fromto="0 0 0 -.05 0 -.2" size=".02"/>
            <body pos="-.05 0 -.2"><joint name="shin{n}" axis="0 1 0" range="-120 10" frictionloss=".1"/>
              <geom type="capsule" fromto="0 0 0 .05 0 -.2" size=".015"/>
              <geom type="sphere" size=".022" pos=".05 0 -.2" priority="1" condim="6"
                friction=".8 .02 .01"/></body></body></body>"""
        servos += "".join(
            f'<position joint="{part}{n}" kp="30" ctrlrange="-1 1"/>' for part in ("hip", "thigh", "shin")
        )
    return f"""<mujoco><compiler autolimits="true"/>
      <option timestep=".004"><flag eulerdamp="disable"/></option>
      <default><joint damping=".5" armature=".01"/></default>
      <worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .43"><freejoint/>
        <geom type="box" size=".25 .08 .05" mass="6"/>{legs}</body></worldbody>
      <actuator>{servos}</actuator></mujoco>"""


class Run:
    """One model beside itself: MuJoCo, MuJoCo nudged, one native world, a native batch."""

    def __init__(self, theirs: Any, ours: Any, seed: int = 0) -> None:
        self.model, self.rng = theirs, np.random.default_rng(seed)
        self.data = mujoco.MjData(theirs)
        self.near = [self._nudged(n) for n in range(3)]
        self.one = dovetail.Simulation(ours, backend="native")
        self.batch = dovetail.Simulation(ours, nworld=NWORLD, backend="native")

    def _nudged(self, seed: int) -> Any:
        data = mujoco.MjData(self.model)
        moves = 1e-14 * np.random.default_rng(seed).standard_normal(self.model.nv)
        mujoco.mj_integratePos(self.model, data.qpos, moves, 1.0)
        return data

    def steer(self) -> None:
        low, high = np.where(
            self.model.actuator_ctrllimited[:, None], self.model.actuator_ctrlrange, [-1, 1]
        ).T
        ctrl = 0.1 * (low + (high - low) * self.rng.random(self.model.nu))
        for data in (self.data, *self.near, self.one.data):
            data.ctrl[:] = ctrl
        self.batch.data.ctrl = np.tile(ctrl, (NWORLD, 1))

    def step(self) -> tuple[float, float]:
        """How far the velocities are from MuJoCo's, and how far MuJoCo's are from each other."""
        for data in (self.data, *self.near):
            mujoco.mj_step(self.model, data)
        self.one.step()
        self.batch.step()
        want = self.data.qvel
        scale = 1 + np.abs(want).max()
        ours = [self.one.data.qvel, *self.batch.data.qvel]
        return tuple(
            max(np.abs(each - want).max() for each in side) / scale
            for side in (ours, [data.qvel for data in self.near])
        )


def check(theirs: Any, ours: Any, iterations: int, searches: int, cone: int, solver: int) -> None:
    for model in (theirs, ours):
        model.opt.iterations, model.opt.ls_iterations = iterations, searches
        model.opt.cone, model.opt.solver = cone, solver
    run, moved = Run(theirs, ours), 0.0
    for step in range(STEPS):
        if step % 20 == 0:
            run.steer()
        error, spread = run.step()
        moved = max(moved, spread)
        if run.data.warning.number[:].any():
            return  # it has exploded, and begins anew in MuJoCo as here
        assert error <= max(1e-9, 1000 * moved), f"step {step}, MuJoCo moves by {moved:.1e}"


@pytest.mark.by_default("5-8-0-1")
@pytest.mark.parametrize(
    ("iterations", "searches", "cone", "solver"), [(1, 4, 0, 2), (3, 10, 1, 2), (5, 8, 0, 1)]
)
def test_a_walker(iterations: int, searches: int, cone: int, solver: int) -> None:
    xml = walker()
    check(mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml), iterations, searches, cone, solver)


FILES = (
    ("dm_control", "suite/quadruped.xml"),
    ("dm_control", "suite/humanoid.xml"),
    ("dm_control", "suite/stacker.xml"),
    ("gymnasium", "envs/mujoco/assets/ant.xml"),
    ("gymnasium", "envs/mujoco/assets/humanoid.xml"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("iterations", "searches"), [(1, 1), (1, 4), (2, 1), (3, 10), (5, 8)])
@pytest.mark.parametrize("cone", [0, 1])
@pytest.mark.parametrize("solver", [1, 2])
@pytest.mark.parametrize(("package", "file"), FILES)
def test_models_of_packages(
    package: str, file: str, solver: int, cone: int, iterations: int, searches: int
) -> None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    path = str(Path(spec.submodule_search_locations[0], file))
    check(mujoco.MjModel.from_xml_path(path), dovetail.load(path), iterations, searches, cone, solver)
