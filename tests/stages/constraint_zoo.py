"""A model with every kind of constraint row, in several kinematic trees that constraints tie together."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import mujoco
import numpy as np

_ZOO = """
<mujoco>
  <compiler autolimits="true"/>
  <option {option}/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" condim="{condim}"/>
    <body name="a" pos="0 0 .12"><freejoint/>
      <geom type="box" size=".1 .1 .1" friction=".6 .02 .01" condim="4"/></body>
    <body name="b" pos=".05 .03 .3"><freejoint/><geom size=".1" friction=".4 .02 .01" condim="6"/></body>
    <body name="c" pos=".6 0 .14">
      <joint name="slide" type="slide" axis="0 0 1" frictionloss="2" range="-.1 .1"/>
      <joint name="hinge" axis="0 1 0" frictionloss=".3"/>
      <geom type="capsule" size=".05 .1" condim="1"/>
      <body name="d" pos="0 0 .2">
        <joint name="tilt" axis="1 0 0" range="-20 20" margin="5"/>
        <joint name="nod" axis="0 1 0" damping=".1"/>
        <geom type="capsule" size=".04 .1"/><site name="tip" pos="0 0 .1"/>
      </body>
    </body>
    <body name="e" pos="1.2 0 .3"><joint type="ball" range="0 30" frictionloss=".1"/>
      <geom type="box" size=".05 .1 .15" pos="0 0 -.1"/><site name="hook"/></body>
    <body name="f" pos="-.8 0 .12"><freejoint/><geom name="drum" type="cylinder" size=".1 .1"/></body>
    <body name="g" pos="-.8 .3 .4"><joint name="arm" axis="0 1 0"/>
      <geom type="capsule" size=".03 .2" contype="0" conaffinity="0"/></body>
    <body name="free" pos="2 2 2"><joint axis="0 1 0"/><geom size=".1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <tendon>
    <fixed name="belt" frictionloss=".2" limited="true" range="-.1 .1">
      <joint joint="hinge" coef="1"/><joint joint="tilt" coef="-1"/></fixed>
    <spatial name="rope" limited="true" range="0 .55"><site site="tip"/><site site="hook"/></spatial>
    <fixed name="lever"><joint joint="arm" coef="1"/></fixed>
  </tendon>
  <contact>
    <pair geom1="floor" geom2="drum" condim="6" friction="1 .3 .02 .01 .005" solreffriction=".05 1"/>
  </contact>
  <equality>
    <connect body1="f" body2="g" anchor="0 .15 0"/>
    <joint joint1="nod" joint2="hinge" polycoef="0 .5 0 0 0"/>
    <weld body1="d" body2="e" relpose="0 0 0 1 0 0 0" solref=".2 1"/>
    <tendon tendon1="belt" tendon2="lever" polycoef="0 {ratio} 0 0 0"/>
  </equality>
</mujoco>
"""


def zoo(option: str = "", condim: int = 3, ratio: float = 0.5) -> Any:
    """The model. With `ratio` 0 the last equality has entries for two trees, of which one's are zero."""
    return mujoco.MjModel.from_xml_string(_ZOO.format(option=option, condim=condim, ratio=ratio))


def shaken(mj_model: Any, steps: int = 60, every: int = 20, seed: int = 1) -> Iterator[Any]:
    """Data after mj_forward at states along a trajectory under random forces."""
    rng = np.random.default_rng(seed)
    mj_data = mujoco.MjData(mj_model)
    for step in range(steps):
        mj_data.qfrc_applied[:] = 3.0 * rng.normal(size=mj_model.nv)
        mujoco.mj_step(mj_model, mj_data)
        if step % every == 0:
            here = copy(mj_data)
            mujoco.mj_forward(mj_model, here)
            yield here
