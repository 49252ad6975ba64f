"""Models for the lane programs: one with everything the smooth stages know, and real ones."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import mujoco

EVERYTHING = """
<mujoco>
  <option timestep="0.004" gravity="0.3 -0.2 -9.5">
    <flag constraint="disable" energy="enable"/>
  </option>
  <worldbody>
    <body name="moved" mocap="true" pos="1 0 0">
      <geom size=".1"/><site name="s" pos=".1 .2 .3" euler="10 20 30"/>
    </body>
    <body name="fixed" pos="0 0 1" euler="20 0 10">
      <geom type="capsule" size=".05 .2"/>
      <body name="ball" pos="0 .1 .3" euler="0 30 0">
        <joint name="ball" type="ball" pos="0 0 -.1" damping=".1" stiffness="3" armature=".01"/>
        <geom type="box" size=".1 .2 .05" euler="10 20 30"/>
        <body name="two" pos=".3 0 0">
          <joint name="slide" type="slide" axis="1 .2 0" stiffness="20" springref=".1" damping=".5"/>
          <joint name="hinge" type="hinge" axis="0 1 .5" pos=".05 0 0" ref="20" stiffness="2" damping=".2"
                 armature=".02" actuatorfrcrange="-.4 .3"/>
          <geom type="ellipsoid" size=".1 .05 .2" pos=".1 0 0"/>
          <body name="leaf" pos="0 0 .3"><joint name="leaf" axis="1 0 0"/><geom size=".05" pos="0 .1 .1"/></body>
          <body name="twig" pos="0 .2 0"><joint name="twig" type="ball"/><geom type="box" size=".05 .02 .1"/></body>
        </body>
      </body>
    </body>
    <body name="flying" pos="2 0 1">
      <joint name="free" type="free" stiffness="1" damping=".3"/>
      <geom type="box" size=".1 .2 .3" pos=".05 0 0" euler="0 0 40"/>
      <body pos="0 0 .4"><joint name="tail" axis="0 1 0" range="-1 1"/><geom type="capsule" size=".03 .1"/></body>
    </body>
    <body name="simple" pos="-2 0 1"><freejoint name="simple"/><geom size=".2"/></body>
    <body name="carriage" pos="-1 0 1">
      <joint name="cx" type="slide" axis="1 0 0"/><joint name="cy" type="slide" axis="0 1 0" damping="1"/>
      <geom type="box" size=".1 .1 .1"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="slide" gear="2" ctrllimited="true" ctrlrange="-.5 .5"/>
    <motor joint="hinge" gear="3"/>
    <position joint="leaf" kp="5" kv=".3" forcelimited="true" forcerange="-.6 .7"/>
    <velocity joint="tail" kv="2" group="2"/>
    <intvelocity joint="cx" kp="4" actrange="-.2 .2"/>
    <general joint="cy" dyntype="filter" dynprm=".05" gaintype="affine" gainprm="2 .3 .1" biastype="affine"
             biasprm=".1 .2 .3" actearly="true"/>
    <general joint="leaf" dyntype="filterexact" dynprm=".03" gainprm="1.5" actlimited="true" actrange="-.3 .3"/>
    <general joint="ball" gear="1 2 3 0 0 0" gainprm="2" biastype="affine" biasprm="0 -1 -.2"/>
    <general jointinparent="ball" gear="-1 .5 1 0 0 0" gainprm="1"/>
    <general jointinparent="free" gear="1 2 3 .1 .2 .3" gainprm="1"/>
    <general joint="simple" gear="1 0 3 .1 0 .3" dyntype="integrator" gainprm="1"/>
  </actuator>
</mujoco>
"""

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"


def everything(integrator: str = "Euler") -> mujoco.MjModel:
    m = mujoco.MjModel.from_xml_string(EVERYTHING)
    m.opt.integrator = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "RK4": mujoco.mjtIntegrator.mjINT_RK4}[
        integrator
    ]
    return m


def real(name: str) -> mujoco.MjModel:
    """A gymnasium model without its constraints."""
    m = mujoco.MjModel.from_xml_path(str(ASSETS / f"{name}.xml"))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return m
