"""Small models that together use what implementations may have to handle, constraints apart.

Names in SAMPLES; `sample(name)` compiles one, once. ZERO_SIZED are those in which something has no entries.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

CHAIN = """
<mujoco model="chain">
  <option timestep="0.004" integrator="Euler">
    <flag constraint="disable" energy="enable"/>
  </option>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="base" pos="0 0 1">
      <joint name="turn" type="hinge" axis="0 .2 1" armature=".02" damping=".3"/>
      <joint name="reach" type="slide" axis="1 0 .3" stiffness="20" springref=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".04"/>
      <site name="tip" pos=".3 0 .1" euler="10 20 30"/>
      <body name="elbow" pos=".3 0 .1" euler="0 30 0">
        <joint name="elbow" type="hinge" axis="0 1 0" pos=".01 .02 0" ref="20" stiffness="3" damping=".1"/>
        <inertial pos=".1 .02 0" mass=".7" fullinertia=".01 .02 .025 .001 -.002 .003"/>
        <geom type="box" size=".1 .03 .02" pos=".1 0 0"/>
        <body name="wrist" pos=".2 0 0">
          <joint name="wrist" type="hinge" axis="1 1 0" armature=".01" damping=".05" actuatorfrcrange="-1 1"/>
          <geom type="ellipsoid" size=".05 .03 .02"/>
        </body>
        <body name="finger" pos=".1 .1 0">
          <geom type="cylinder" size=".02 .05"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="turn" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
    <general joint="reach" gainprm="5" biastype="affine" biasprm=".1 -3 -.2" forcelimited="true" forcerange="-2 2"/>
    <general joint="elbow" gaintype="affine" gainprm="1 .5 .2" dyntype="filter" dynprm=".05"/>
    <general jointinparent="wrist" dyntype="filterexact" dynprm=".03" actearly="true"/>
    <general joint="wrist" dyntype="integrator" actlimited="true" actrange="-.5 .5" biastype="affine"
             biasprm="0 -1"/>
  </actuator>
</mujoco>
"""

LOOSE = """
<mujoco model="loose">
  <option timestep="0.003" integrator="RK4" gravity="1 -2 -9">
    <flag constraint="disable" energy="enable"/>
  </option>
  <worldbody>
    <light name="lamp" mode="targetbody" target="rock" pos="0 0 3"/>
    <camera name="watcher" mode="targetbodycom" target="rock" pos="2 1 1"/>
    <body name="hand" mocap="true" pos=".5 0 1"><geom size=".05"/></body>
    <body name="rock" pos="0 0 1" euler="20 0 40">
      <joint name="free" type="free" stiffness="2" damping=".2"/>
      <geom type="box" size=".1 .2 .15"/>
      <camera name="follower" mode="trackcom" pos="0 -1 .5" xyaxes="1 0 0 0 1 2"/>
      <light name="torch" mode="track" pos="0 0 .3" dir="0 1 -1"/>
      <body name="tail" pos="0 .2 0">
        <joint name="socket" type="ball" pos="0 -.05 0" stiffness="4" damping=".1" armature=".01"/>
        <geom type="capsule" size=".03 .1"/>
        <site name="end" pos="0 0 .1"/>
        <camera name="rider" pos="0 0 .2" euler="30 0 0"/>
        <body name="fin" pos="0 0 .1">
          <joint name="fin" axis="1 0 1" damping=".05"/>
          <geom type="box" size=".04 .01 .06" pos="0 0 .06"/>
        </body>
      </body>
    </body>
    <body name="drop" pos="1 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <actuator>
    <motor jointinparent="fin" gear="-2"/>
    <general joint="fin" gear=".5" dyntype="filter" dynprm=".1" gainprm=".3"/>
  </actuator>
</mujoco>
"""

STILL = """
<mujoco model="still">
  <option><flag constraint="disable" energy="enable"/></option>
  <worldbody><body name="block" pos="0 0 1" euler="1 2 3"><geom type="box" size=".1 .2 .3"/><site/></body></worldbody>
</mujoco>
"""

UNDRIVEN = """
<mujoco model="undriven">
  <option><flag constraint="disable" energy="enable"/></option>
  <worldbody><body><joint name="only" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
</mujoco>
"""

VOID = """
<mujoco model="void"><option><flag constraint="disable" energy="enable"/></option><worldbody/></mujoco>
"""

SAMPLES = {"chain": CHAIN, "loose": LOOSE, "still": STILL, "undriven": UNDRIVEN, "void": VOID}
ZERO_SIZED = ("still", "undriven", "void")


@lru_cache(maxsize=64)
def compiled(text: str) -> Model:
    """The Model of an MJCF text; compiled once, so treat it as read-only."""
    import dovetail

    return dovetail.loads(text)


def sample(name: str) -> Model:
    """A sample model by name."""
    return compiled(SAMPLES[name])
