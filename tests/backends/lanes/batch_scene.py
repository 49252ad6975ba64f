"""A small scene in which every kind of constraint row occurs, and worlds of it that differ."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail

SCENE = """
<mujoco model="scene">
  <option timestep="0.004" cone="{cone}" impratio="2" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1" friction="0.9 0.01 0.002"/>
    <body name="cart" pos="0 0 0.3">
      <joint name="drive" type="slide" axis="1 0 0" frictionloss="0.4" damping="0.3"/>
      <geom name="hub" type="sphere" size="0.1" contype="0" conaffinity="0"/>
      <body name="pole" pos="0 0 0.1">
        <joint name="tip" axis="0 1 0" limited="true" range="-20 20" stiffness="1.5" armature="0.01"/>
        <geom name="bar" type="capsule" size="0.03" fromto="0 0 0 0 0 0.3" contype="0" conaffinity="0"/>
      </body>
    </body>
    <body name="ball" pos="0.6 0.3 0.1">
      <freejoint name="roll"/>
      <geom name="skin" type="sphere" size="0.1" condim="6" margin="0.02" gap="0.01" solref="0.03 0.8"/>
    </body>
    <body name="stone" pos="-0.6 -0.3 0.098">
      <freejoint name="slide"/>
      <geom name="edge" type="sphere" size="0.1" condim="4" priority="1" friction="0.6 0.02 0.001"/>
    </body>
    <body name="bead" pos="-0.6 0.3 0.049">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <geom name="shell" type="sphere" size="0.05" condim="1" friction="0.5 0.01 0.001"/>
    </body>
    <body name="anchored" pos="0.9 -0.3 0.5"><freejoint/><geom name="bob" type="sphere" size="0.05"/></body>
  </worldbody>
  <equality><connect name="hold" body1="anchored" anchor="0 0 0.2"/></equality>
  <actuator>
    <position name="steer" joint="drive" kp="20" ctrlrange="-1 1"/>
    <general name="turn" joint="tip" gainprm="1.5" biastype="affine" biasprm="0 -0.5 -0.1" gear="2"
             forcerange="-3 3"/>
  </actuator>
</mujoco>
"""


LIGHT = """
<mujoco model="light">
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1" friction="0.9 0.01 0.002"/>
    <body name="cart" pos="0 0 0.13">
      <joint name="lift" type="slide" axis="0 0 1" limited="true" range="-1 0.1"/>
      <joint name="drive" type="slide" axis="1 0 0" frictionloss="0.4" damping="0.3"/>
      <geom name="left" type="sphere" size="0.1" pos="0 0.3 0" margin="0.02" gap="0.01" solref="0.03 0.8"/>
      <geom name="right" type="sphere" size="0.1" pos="0 -0.3 0.05" priority="1" friction="0.6 0.02 0.001"/>
    </body>
  </worldbody>
  <actuator><position joint="drive" kp="20" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
"""Less of it, for a kernel that compiles quickly."""


def scene(cone: str = "pyramidal", integrator: str = "Euler") -> dovetail.Model:
    return dovetail.loads(SCENE.format(cone=cone, integrator=integrator))


def spread(data: Any, seed: int = 0, speed: float = 0.7) -> None:
    """Give every world other velocities and controls."""
    rng = np.random.default_rng(seed)
    data.qvel[...] = speed * rng.normal(size=data.qvel.shape)
    data.ctrl[...] = 0.5 * rng.normal(size=data.ctrl.shape)


def copy_state(source: Any, target: Any) -> None:
    """Take over the state of all worlds."""
    for name in source.state:
        if name in target:
            target.field(name)[...] = np.asarray(source.field(name))
