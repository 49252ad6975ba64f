"""Models with everything that makes forces depend on velocity, and random states of them."""

from __future__ import annotations

from typing import Any

import numpy as np

MACHINE = """
<mujoco>
  <option timestep="0.004" {option}><flag constraint="disable" {flag}/></option>
  <default><geom fluidshape="{shape}" fluidcoef="0.4 0.3 1.2 0.9 0.8"/></default>
  <asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .2 0 0 0 .3 .1 .1 .1"/></asset>
  <worldbody>
    <site name="post" pos="0 0 2"/>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 .05"/>
      <body pos=".2 .1 0">
        <joint name="ball" type="ball" damping=".4"/>
        <geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
        <body pos="0 0 -.4" quat="1 .3 0 .2">
          <joint name="hinge" axis="1 1 0" damping=".1"/>
          <joint name="slide" type="slide" axis="0 1 1"/>
          <geom size=".1" pos=".1 .05 -.1"/>
          <geom type="cylinder" size=".1 .2" pos=".3 0 0"/>
          <site name="end"/>
        </body>
      </body>
      <body pos="-.2 .1 0">
        <joint name="knee" axis="0 1 0"/>
        <geom type="ellipsoid" size=".1 .05 .2"/>
        <site name="far" pos="0 .1 .1"/>
      </body>
    </body>
    <body pos="3 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
    <body pos="4 0 0"><joint name="lever" axis="0 0 1"/><geom type="mesh" mesh="wedge"/>
      <geom size=".01" pos="0 .2 0"/>
    </body>
    <body pos="5 0 0">
      <joint type="slide"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/><geom size=".01"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="cord" damping="2"><site site="post"/><site site="end"/><site site="far"/></spatial>
    <fixed name="mix" damping=".5">
      <joint joint="hinge" coef="1"/><joint joint="knee" coef="-2"/><joint joint="lever" coef=".3"/>
    </fixed>
  </tendon>
  <actuator>
    <position name="servo" joint="hinge" kp="3" kv="1.5" ctrlrange="-.1 .1" forcerange="-.001 .001"/>
    <general tendon="cord" gaintype="affine" gainprm="1 .3 .7" ctrlrange="-.1 .1"/>
    <general joint="ball" gear=".3 .2 .1" gaintype="affine" gainprm="1 .3 .7" dyntype="filter" dynprm=".1"
      actearly="true"/>
    <damper joint="knee" kv="2" ctrlrange="0 1" group="3"/>
    <muscle joint="lever" lengthrange=".1 1"/>
    <muscle tendon="cord" lengthrange=".5 3" force="300"/>
    <general site="end" refsite="post" gear="1 0 .2 .3 0 0" biastype="affine" biasprm="1 -1 -.5"/>
  </actuator>
  {more}
</mujoco>
"""

MEDIA = {
    "vacuum": "",
    "gas": 'density="20"',
    "windy": 'density="1.2" viscosity=".3" wind="1 2 3"',
    "water": 'density="1000" viscosity=".1" jacobian="sparse" actuatorgroupdisable="3"',
}
"""Options by what surrounds the machine; the last also stores Jacobians sparse and switches an actuator off."""

INTEGRATORS = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}


def machine(medium: str = "vacuum", shape: str = "none", flag: str = "", more: str = "") -> str:
    """MJCF of the machine; `shape` is the fluidshape of its geoms."""
    return MACHINE.format(option=MEDIA[medium], flag=flag, shape=shape, more=more)


def set_random_state(mujoco: Any, model: Any, data: Any, seed: int, speed: float = 1.0) -> None:
    """Any configuration, velocity, activation and control; controls partly beyond their ranges."""
    rng = np.random.default_rng(seed)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = speed * rng.normal(size=model.nv)
    data.act[:] = rng.uniform(size=model.na)
    data.ctrl[:] = rng.normal(size=model.nu)
    data.qacc[:] = rng.normal(size=model.nv)


def same_state(source: Any, target: Any) -> None:
    """Copy what a step starts from, and qacc."""
    for name in ("qpos", "qvel", "act", "ctrl", "qacc", "qacc_warmstart"):
        getattr(target, name)[:] = getattr(source, name)
