"""Models for swapping stages: bodies that touch something within five steps, so that a lost contact shows at once.

They start a tenth of a millimetre deep; velocities differ from world to world and are small, so that rounding
does not grow within the steps of a comparison.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import dovetail
from dovetail import Data, Model

FREE_FALL = """
<mujoco model="free fall">
  <option timestep="0.004" wind=".5 0 0" density="1.2" viscosity=".01"><flag energy="enable"/></option>
  <worldbody>
    <body name="stone" pos="0 0 2"><freejoint/><geom type="box" size=".1 .2 .05" mass="1"/></body>
    <body name="swing" pos="1 0 2" gravcomp=".2">
      <joint name="hinge" axis="0 1 0" damping=".1" stiffness="2"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
</mujoco>
"""

BALL = """
<mujoco model="ball">
  <worldbody>
    <geom type="plane" size="5 5 1" friction=".7"/>
    <body name="ball" pos="0 0 .0999"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""

BOXES = """
<mujoco model="stacked boxes">
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="5 5 1" friction=".9"/>
    <body name="lower" pos="0 0 .0999"><freejoint/><geom type="box" size=".15 .15 .1" mass="2"/></body>
    <body name="upper" pos=".02 .01 .2797" euler="0 0 20"><freejoint/>
      <geom type="box" size=".1 .1 .08" mass="1"/></body>
  </worldbody>
</mujoco>
"""

MULTICCD = """
<mujoco model="cube mesh">
  <option><flag multiccd="enable"/></option>
  <asset>
    <mesh name="cube" vertex="-.5 -.5 -.5  .5 -.5 -.5  -.5 .5 -.5  .5 .5 -.5
                              -.5 -.5 .5  .5 -.5 .5  -.5 .5 .5  .5 .5 .5"/>
  </asset>
  <worldbody>
    <geom type="box" size="2 2 .5" pos="0 0 -.5"/>
    <body name="cube" pos="0 0 .4999"><freejoint/><geom type="mesh" mesh="cube" mass="1"/></body>
  </worldbody>
</mujoco>
"""

SDF = """
<mujoco model="nut">
  <extension><plugin plugin="mujoco.sdf.nut"><instance name="nut"/></plugin></extension>
  <asset><mesh name="nut"><plugin instance="nut"/></mesh></asset>
  <option timestep="0.002" sdf_initpoints="10"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="nut" pos="0 0 .4999"><freejoint/>
      <geom type="sdf" mesh="nut" mass="1"><plugin instance="nut"/></geom></body>
    <body name="ball" pos=".42 0 .5498"><freejoint/><geom size=".05" mass=".2"/></body>
  </worldbody>
</mujoco>
"""

TENDONS = """
<mujoco model="tendons and sensors">
  <option timestep="0.002"><flag energy="enable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <camera name="eye" pos="1 0 1" mode="targetbody" target="upper"/>
    <body name="upper" pos="0 0 .5">
      <joint name="shoulder" axis="0 1 0" damping=".1" stiffness="1" limited="true" range="-5 40" frictionloss=".05"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
      <site name="near" pos=".1 0 .05"/>
      <body name="lower" pos=".3 0 0">
        <joint name="elbow" axis="0 1 0" damping=".05"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
        <site name="far" pos=".2 0 .05"/>
        <site name="hand" pos=".3 0 0" size=".04"/>
      </body>
    </body>
    <body name="puck" pos="-.5 0 .0499"><freejoint/>
      <geom name="puck" type="box" size=".1 .1 .05" mass=".5"/>
      <site name="skin" type="box" size=".12 .12 .07"/></body>
  </worldbody>
  <tendon>
    <spatial name="cable" limited="true" range="0 .39" stiffness="5" damping=".2">
      <site site="near"/><site site="far"/></spatial>
    <fixed name="belt" frictionloss=".02" limited="true" range="-.3 .3">
      <joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-.5"/></fixed>
  </tendon>
  <equality><joint joint1="elbow" joint2="shoulder" polycoef="0 .5 0 0 0"/></equality>
  <actuator>
    <motor name="motor" joint="shoulder"/>
    <general tendon="cable" dyntype="filter" dynprm=".05" gainprm="2"/>
  </actuator>
  <sensor>
    <touch site="skin"/><accelerometer site="hand"/><force site="skin"/><gyro site="skin"/>
    <jointlimitfrc joint="shoulder"/><tendonlimitfrc tendon="cable"/><tendonpos tendon="belt"/>
    <actuatorfrc actuator="motor"/><framepos objtype="site" objname="hand"/><subtreelinvel body="upper"/>
    <contact geom1="floor" num="2" data="found force pos"/><clock/>
  </sensor>
</mujoco>
"""

DOCUMENTS = {
    "free_fall": FREE_FALL,
    "ball": BALL,
    "boxes": BOXES,
    "multiccd": MULTICCD,
    "sdf": SDF,
    "tendons": TENDONS,
}
NAMES = (*DOCUMENTS, "humanoid")


TOLERANCES = {"sdf": 1e-6}
"""Where 1e-9 is too much to ask: descent to the surface of a signed distance stops after few steps, so that rounding
grows by 1e6 within a comparison (measured by moving the start by 1e-14)."""

SPEED = 0.1
"""Standard deviation of velocities at the start, m/s and rad/s."""


@cache
def model(name: str) -> Model:
    """A model by name, compiled once; treat it as read-only."""
    return dovetail.load("humanoid") if name == "humanoid" else dovetail.loads(DOCUMENTS[name])


def start(data: Data) -> None:
    """The same velocities and controls for the same number of worlds, others in each world."""
    rng = np.random.default_rng(5)
    sizes = data.model.sizes
    data.qvel = rng.normal(0.0, SPEED, (data.nworld, sizes["nv"]))
    data.ctrl = rng.normal(0.0, 0.3, (data.nworld, sizes["nu"]))
    if data.model.modelname == "humanoid":
        data.qpos[:, 2] -= 0.0045  # the soles hover a little above the floor
