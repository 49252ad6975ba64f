"""Scenes with contacts and constraints, compiled by both engines, and the two of them side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.contracts.types import STATE

WORKSHOP = """
<mujoco model="workshop">
  <compiler autolimits="true"/>
  <option timestep=".002" o_margin=".004" o_solref=".03 1.2" o_friction=".7 .6 .01 .001 .001" density="1.2"
    viscosity=".01" {option}/>
  <size nuserdata="2"/>
  <asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .15 .15 .05"/></asset>
  <default><geom friction=".7 .02 .01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1" condim="1"/>
    <geom name="step" type="box" size=".3 .3 .05" pos="-2 0 .05"/>
    <site name="peg" pos="1.5 .3 1"/>
    <body name="slick" pos="0 -1 .0995"><freejoint/><geom size=".1" condim="1"/></body>
    <body name="brick" pos="0 0 .099"><freejoint/><geom type="box" size=".1 .15 .1" margin=".002" gap=".001"/></body>
    <body name="top" pos=".03 .02 .298"><freejoint/><geom size=".1" condim="4"/></body>
    <body name="ball" pos="0 1 .0997"><freejoint/><geom size=".1" condim="6" solref=".001 1"
      priority="1" friction=".6 .01 .004"/></body>
    <body name="plate" pos="-2 0 .1495"><freejoint/><geom type="box" size=".1 .1 .05" pos=".01 0 0"/></body>
    <body name="can" pos="-2.02 .01 .2985"><freejoint/><geom type="cylinder" size=".06 .1"/></body>
    <body name="rock" pos="-1 1 .02"><freejoint/><geom type="mesh" mesh="wedge"/></body>
    <body name="barbell" pos="-1 -1 .099"><freejoint/>
      <geom type="box" size=".1 .1 .1" pos=".2 0 0"/><geom size=".1" pos="-.2 0 0"/>
      <geom type="capsule" size=".03" fromto="-.2 0 0 .2 0 0"/></body>
    <body name="skittle" pos="-1 -.803 .0995" euler="0 .3 .6"><freejoint/>
      <geom type="capsule" size=".1" fromto="-.23 0 0 .23 0 0"/><geom size=".05" pos="0 0 .15"/></body>
    <body name="arm" pos="1.5 0 .6" gravcomp=".6">
      <joint name="shoulder" type="ball" range="0 40" frictionloss=".1" damping=".05" stiffness=".5"/>
      <geom type="capsule" size=".05" fromto="0 0 0 0 .01 -.2"/>
      <body name="forearm" pos="0 0 -.25">
        <joint name="elbow" axis="0 1 0" range="-10 90" margin="3" armature=".01" damping=".2"/>
        <joint name="twist" axis="0 0 1" frictionloss=".05" stiffness="2" springref="15"/>
        <geom type="capsule" size=".045" fromto="0 0 0 0 0 -.2"/>
        <site name="hand" pos="0 0 -.2"/>
      </body>
    </body>
    <body name="cart" pos="3 0 .12">
      <joint name="rail" type="slide" axis="1 0 0" range="-.01 .01" frictionloss="1" actuatorfrcrange="-5 5"/>
      <geom type="box" size=".2 .1 .1"/>
      <body name="pole" pos="0 0 .12" gravcomp="1"><joint name="pivot" axis="0 1 0" damping=".02"/>
        <geom type="capsule" size=".03" fromto="0 0 0 0 0 .5"/><site name="tip" pos="0 0 .5"/></body>
    </body>
    <body name="bob" pos="3.6 0 .7"><joint name="swing" axis="0 1 0"/><geom size=".08" pos="0 0 -.2"/>
      <site name="hook" pos="0 0 -.2"/></body>
    <body name="linkage" pos="4.5 0 .5"><joint name="crank" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/></body>
    <body name="rod" pos="4.7 0 .5"><freejoint/>
      <geom type="capsule" size=".025" fromto="0 0 0 .2 0 0" contype="0" conaffinity="0"/></body>
    <body name="welded" pos="5.5 0 .4"><freejoint/><geom type="ellipsoid" size=".1 .07 .12"/></body>
  </worldbody>
  <contact><pair geom1="floor" geom2="step"/></contact>
  <tendon>
    <fixed name="belt" frictionloss=".1" range="-.05 .05" stiffness="1" damping=".1">
      <joint joint="elbow" coef="1"/><joint joint="twist" coef="-.5"/></fixed>
    <spatial name="rope" range="0 .72" damping=".3" stiffness="20" springlength=".5">
      <site site="tip"/><site site="hook"/></spatial>
    <fixed name="gear"><joint joint="crank" coef="1"/></fixed>
  </tendon>
  <equality>
    <connect body1="linkage" body2="rod" anchor=".2 0 0"/>
    <weld body1="welded" solref=".05 1"/>
    <joint joint1="pivot" joint2="rail" polycoef=".02 1 .5 0 0"/>
    <tendon tendon1="gear" polycoef=".1 0 0 0 0" solref="-50 -3"/>
  </equality>
  <actuator>
    <motor name="push" joint="rail" gear="30" ctrlrange="-.2 .2"/>
    <position name="servo" joint="elbow" kp="4" kv=".2" forcerange="-2 2"/>
    <general name="lag" joint="twist" dyntype="filterexact" dynprm=".05" gainprm="2" actlimited="true"
      actrange="-.3 .3"/>
    <intvelocity name="winch" tendon="rope" kp="3" actrange="-.1 .1"/>
    <muscle name="flexor" tendon="belt" lengthrange="-.5 .5" force="3"/>
    <general name="jet" site="hand" gear="0 1 0 0 0 .2" dyntype="integrator" biastype="affine" biasprm=".1 0 -.2"/>
  </actuator>
  <sensor>
    <accelerometer site="hand"/><gyro site="hand"/><touch site="hand"/><force site="tip"/><torque site="hook"/>
    <jointpos joint="elbow"/><jointvel joint="twist"/><tendonpos tendon="rope"/><actuatorfrc actuator="servo"/>
    <jointlimitfrc joint="rail"/><tendonlimitfrc tendon="rope"/><ballquat joint="shoulder"/>
    <framepos objtype="body" objname="ball"/><subtreecom body="arm"/><subtreeangmom body="arm"/>
    <framelinacc objtype="body" objname="barbell"/><clock/><e_potential/><e_kinetic/>
    <contact geom1="floor" body2="brick" data="found force dist" reduce="mindist" num="2"/>
  </sensor>
</mujoco>
"""
"""Every kind of constraint row, contact dimension, passive force and transmission, each doing something."""

PILE = """
<mujoco model="heap">
  <option timestep=".004" o_margin=".003" {option}/>
  <asset><mesh name="cube" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1
    .1 .1 .1"/></asset>
  <worldbody>
    <geom type="plane" size="3 3 .1" friction=".8"/>
    <body name="a" pos="0 0 .0998" euler=".02 .01 0"><freejoint/><geom type="box" size=".2 .2 .1"/></body>
    <body name="b" pos=".05 .02 .2485" euler=".1 -.2 20"><freejoint/><geom type="box" size=".1 .12 .05"/></body>
    <body name="c" pos="1 .01 .0999" euler=".1 .2 0"><freejoint/><geom type="cylinder" size=".08 .1"/></body>
    <body name="d" pos="-.241 .02 .15" euler="0 10 5"><freejoint/>
      <geom type="capsule" size=".05 .1" condim="4"/></body>
    <body name="e" pos="-1 .03 .0895" euler="5 5 5"><freejoint/>
      <geom type="ellipsoid" size=".12 .1 .09" condim="6"/></body>
    <body name="f" pos=".5 .2 .0795" euler="0 .1 .2"><freejoint/>
      <geom type="box" size=".1 .1 .08"/>
      <body pos="0 0 .095" euler=".1 .2 .3"><joint axis="0 0 1" damping=".1" frictionloss=".02"/>
        <geom type="box" size=".04 .12 .02"/>
        <body pos="0 .1 .01"><joint axis="1 0 0" range="-5 60" limited="true"/>
          <geom type="capsule" size=".02" fromto="0 .05 .01 0 .15 .01"/></body></body></body>
    <body name="g" pos="-1 1 .0993" euler=".03 .2 0"><freejoint/><geom type="mesh" mesh="cube"/></body>
    <body name="h" pos="-.98 1.01 .2984" euler=".02 .22 .3"><freejoint/><geom type="mesh" mesh="cube"/></body>
  </worldbody>
</mujoco>
"""
"""Stacked boxes and meshes, round things, and a small tree whose links touch their parents."""

WALKER = """
<mujoco model="walker">
  <option timestep=".005" o_solimp=".8 .9 .002" integrator="implicitfast" {option}/>
  <default><joint damping=".5" armature=".01" limited="true" range="-60 60"/>
    <geom type="capsule" size=".04" condim="3"/><position kp="20" ctrlrange="-1 1"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .425"><freejoint/><geom type="box" size=".2 .1 .05"/>
      <site name="imu"/>
      <body pos=".15 .1 0"><joint name="h1" axis="0 1 0"/><geom fromto="0 .05 -.06 0 .05 -.2"/>
        <body pos="0 .03 -.22"><joint name="k1" axis="0 1 0" range="-90 5"/><geom fromto="0 0 0 .05 0 -.2"/>
        </body></body>
      <body pos=".14 -.13 0"><joint name="h2" axis="0 1 0"/><geom fromto="0 .05 -.06 0 .05 -.2"/>
        <body pos="0 .03 -.22"><joint name="k2" axis="0 1 0" range="-90 5"/><geom fromto="0 0 0 .05 0 -.2"/>
        </body></body>
      <body pos="-.15 .01 0"><joint name="h3" axis="0 1 0"/><geom fromto="0 .05 -.06 0 .05 -.2" size=".05"/>
        <body pos="0 .03 -.22"><joint name="k3" axis="0 1 0" frictionloss=".1"/>
          <geom fromto="0 0 0 .05 0 -.19" size=".05" condim="6"/></body></body>
    </body></worldbody>
  <equality><joint joint1="h1" joint2="h2" active="true"/></equality>
  <actuator><position joint="h1"/><position joint="k1"/><position joint="h2" timeconst=".02"/><position joint="k2"/>
    <position joint="h3"/><position joint="k3" kv="2"/></actuator>
  <sensor><accelerometer site="imu"/><velocimeter site="imu"/></sensor>
</mujoco>
"""
"""Three legs on position servos, one of them filtered, with a large timestep and an implicit integrator."""

SCENES = {"workshop": WORKSHOP, "heap": PILE, "walker": WALKER}


def text(name: str, option: str = "") -> str:
    """MJCF of a scene with attributes of its <option>."""
    return SCENES[name].format(option=option)


class SideBySide:
    """One model in both engines, from the same state."""

    def __init__(self, xml: str, **options: float) -> None:
        mujoco = pytest.importorskip("mujoco")
        self._mujoco = mujoco
        self.oracle_model = mujoco.MjModel.from_xml_string(xml)
        self.model = dovetail.loads(xml)
        for model in (self.model, self.oracle_model):
            for name, value in options.items():
                setattr(model.opt, name, value)
        self.oracle = mujoco.MjData(self.oracle_model)
        self.data = dovetail.make_data(self.model)

    def start(self, seed: int = 0, speed: float = 0.3) -> None:
        """The configuration written in the file, moving and pushed at random."""
        rng = np.random.default_rng(seed)
        for field, scale in (("qvel", speed), ("act", 0.1), ("ctrl", 0.5), ("qfrc_applied", 0.1)):
            getattr(self.oracle, field)[:] = scale * rng.normal(size=len(getattr(self.oracle, field)))
        self.take()

    def take(self) -> None:
        """Give ours the state of MuJoCo's."""
        for field in STATE:
            if self.data.field(field).size:
                self.data.field(field)[...] = np.reshape(
                    np.asarray(getattr(self.oracle, field)), self.data.field(field).shape
                )

    def step(self) -> None:
        self._mujoco.mj_step(self.oracle_model, self.oracle)
        dovetail.step(self.model, self.data)

    def forward(self) -> None:
        self._mujoco.mj_forward(self.oracle_model, self.oracle)
        dovetail.forward(self.model, self.data)

    def error(self, field: str) -> float:
        """Of a field of the data, relative to its own size."""
        ours, theirs = np.asarray(self.data.field(field)), np.asarray(getattr(self.oracle, field))
        return relative_error(ours.reshape(theirs.shape), theirs)


def flags(model: Any) -> tuple[int, int]:
    return int(model.opt.disableflags), int(model.opt.enableflags)
