"""Models that between them have everything that moves, and a bench that steps them from one state, in MuJoCo and
here, while fields of the Model are edited."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import mujoco
import numpy as np
from fuzz.fields import distance
from fuzz.stepper_ours import fields_of as our_fields
from fuzz.stepper_theirs import COMPARED, PUT_BACK
from fuzz.stepper_theirs import fields_of as their_fields
from fuzz.stepper_theirs import put as put_theirs

import dovetail
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.types import MODEL_SPECS

MACHINE = """
<mujoco model="machine">
  <compiler autolimits="true"/>
  <option timestep="0.004" density="40" viscosity="0.02" wind=".4 -.3 .2" impratio="1.5" magnetic=".1 -.5 .2"
    {option}><flag energy="enable"/></option>
  <size nuserdata="2" nuser_body="1" nuser_jnt="1" nuser_geom="1" nuser_site="1" nuser_cam="1" nuser_tendon="1"
    nuser_actuator="1" nuser_sensor="1"/>
  <asset>
    <mesh name="wedge" vertex="-.1 -.1 -.1 .12 -.1 -.09 -.1 .1 -.1 .09 .11 -.1 -.06 -.05 .1 .07 .03 .11"/>
    <material name="paint" rgba=".2 .4 .6 1"/>
  </asset>
  <default><geom friction=".8 .02 .003" mass=".4"/><joint damping=".05"/></default>
  <worldbody>
    <light name="lamp" mode="targetbody" target="box" pos="1 1 3"/>
    <camera name="watch" mode="targetbodycom" target="box" pos="0 -3 1" resolution="320 200" fovy="50"/>
    <geom name="floor" type="plane" size="5 5 .1" margin=".004"/>
    <geom name="drum" type="cylinder" size=".06 .2" pos="2 .35 .9" euler="85 5 0" contype="0" conaffinity="0"/>
    <geom name="knob" size=".05" pos="2 -.3 .95" contype="0" conaffinity="0"/>
    <site name="hook" pos="2.05 .55 .6"/>
    <site name="peg" pos="2.05 -.5 .7"/>
    <site name="over" pos="2 -.3 1.05"/>
    <body name="box" pos="0 0 .12" euler="3 4 20"><freejoint name="box"/>
      <geom name="box" type="box" size=".15 .12 .1" mass="1" condim="4" friction=".6 .03 .002" priority="1"/>
      <geom name="nose" type="capsule" size=".03 .05" pos=".17 .02 -.05" euler="0 80 0" mass=".1"/>
      <site name="pad" type="box" size=".2 .2 .04" pos="0 0 -.1"/>
      <site name="dot" size=".06" pos=".14 .11 -.1"/>
      <camera name="rider" mode="track" pos="0 -1 1"/><light name="glow" mode="trackcom" pos="0 0 1"/>
    </body>
    <body name="ball" pos=".02 .01 .30"><freejoint name="ball"/>
      <geom name="ball" size=".08" condim="6" solmix="2" gap=".001" margin=".003"/>
      <site name="skin" type="sphere" size=".11"/></body>
    <body name="egg" pos=".6 0 .06" euler="10 20 0"><freejoint name="egg"/>
      <geom name="egg" type="ellipsoid" size=".1 .08 .06" fluidshape="ellipsoid" fluidcoef=".4 .3 1.2 .9 .8"/>
      <site name="shell" type="ellipsoid" size=".13 .11 .08"/></body>
    <body name="log" pos="0 .7 .07" euler="91 3 10"><freejoint name="log"/>
      <geom name="log" type="cylinder" size=".07 .12" condim="3" solref=".03 .9" solimp=".8 .92 .002 .4 2.5"/>
      <site name="bark" type="cylinder" size=".09 .14"/></body>
    <body name="pill" pos=".05 .7 .195" euler="80 20 0"><freejoint name="pill"/>
      <geom name="pill" type="capsule" size=".06 .1" condim="1"/>
      <site name="coat" type="capsule" size=".08 .1"/></body>
    <body name="wedge" pos="-.6 .1 .1" euler="2 3 0"><freejoint name="wedge"/>
      <geom name="wedge" type="mesh" mesh="wedge" material="paint" pos=".01 .02 .01"/>
      <geom name="horn" size=".05" pos="-.02 .14 -.05" mass=".1"/></body>
    <body name="hand" mocap="true" pos="-1 .4 .9" euler="10 0 0">
      <geom name="hand" size=".05" contype="0" conaffinity="0"/></body>
    <body name="held" pos="-1 .4 .75" gravcomp=".4"><freejoint name="held"/>
      <geom name="held" type="box" size=".05 .06 .07" pos=".02 0 .01" mass=".3"/>
      <site name="grip" pos="0 0 .1" euler="0 20 0"/></body>
    <body name="cart" pos="1 0 .6" euler="0 5 0">
      <joint name="rail" type="slide" axis="1 .1 0" range="-.02 .5" frictionloss=".2" stiffness="4" springref=".1"/>
      <geom name="cart" type="box" size=".08 .06 .04"/>
      <body name="arm" pos="0 .1 .05" gravcomp="1">
        <joint name="shoulder" axis="0 1 .1" pos=".01 0 0" armature=".02" actuatorfrcrange="-2 1.5"
          actuatorgravcomp="true" range="-40 8" solreflimit=".03 .8" margin="2"/>
        <geom name="arm" type="capsule" size=".025" fromto="0 0 0 .3 0 0"/>
        <site name="wrist" pos=".3 .01 0" euler="10 20 30"/>
        <site name="elbow" pos=".15 0 .03"/>
        <camera name="eye" pos="0 .1 .1" euler="20 -70 0" resolution="64 48" sensorsize=".01 .008" focal=".02 .03"/>
        <light name="torch" pos=".1 0 0" dir=".5 .2 -1"/>
        <body name="fore" pos=".3 0 0" euler="5 10 0">
          <joint name="bend" axis="0 1 0" range="-90 60" stiffness=".5" frictionloss=".05" ref="10"/>
          <geom name="fore" type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".2"/>
          <body name="palm" pos=".2 0 0">
            <joint name="palm" type="ball" range="0 12" damping=".02" armature=".004" stiffness=".1"/>
            <geom name="palm" type="ellipsoid" size=".05 .03 .02" pos=".04 .01 0" mass=".1"/>
            <site name="nail" pos=".08 0 0" size=".03"/>
          </body>
        </body>
      </body>
    </body>
    <body name="mast" pos="2 0 .5">
      <joint name="mast" axis="0 0 1" pos="0 0 0"/><joint name="lift" type="slide" axis="0 0 1" stiffness="60"/>
      <geom name="mast" type="capsule" size=".03" fromto="0 0 0 0 .1 .3" contype="0" conaffinity="0"/>
      <site name="top" pos="0 .1 .3"/>
      <body name="boom" pos="0 .1 .3">
        <joint name="boom" axis="1 .2 0" range="-30 30" frictionloss=".02"/>
        <geom name="boom" type="box" size=".03 .12 .03" pos="0 .1 0" contype="0" conaffinity="0"/>
        <site name="tip" pos="0 .15 .05"/><site name="crank" pos=".05 .05 .05"/>
      </body>
    </body>
    <body name="plank" pos="-1 -.6 .3"><joint name="hinge" axis="0 1 0"/>
      <geom name="plank" type="box" size=".1 .05 .02" pos=".1 0 0"/></body>
    <body name="flap" pos="-.8 -.6 .3"><joint name="turn" axis="0 1 0" pos="-.02 0 0"/>
      <geom name="flap" type="box" size=".1 .05 .02" pos=".1 0 .01"/></body>
    <body name="stick" pos="0 -.6 .3"><joint name="swing" axis="0 1 0"/>
      <geom name="stick" type="capsule" size=".04" fromto="0 0 0 .2 0 -.2"/></body>
    <body name="stone" pos=".2 -.58 .02"><joint name="slip" type="slide" axis="0 0 1"/>
      <geom name="stone" size=".09"/></body>
    <body name="ghost" pos="0 -.6 .25"><joint name="drift" type="slide" axis="1 0 0" stiffness="5"/>
      <geom name="ghost" size=".09"/></body>
  </worldbody>
  <contact>
    <pair name="chosen" geom1="stick" geom2="stone" condim="4" friction=".5 .4 .02 .01 .01" solref=".03 1"
      solreffriction=".04 1" margin=".02" gap=".005"/>
    <exclude name="apart" body1="ghost" body2="stick"/>
    <exclude body1="plank" body2="flap"/>
  </contact>
  <tendon>
    <fixed name="pair" range="-.3 .1" limited="true" actuatorfrcrange="-2 1" frictionloss=".1" stiffness="1"
      springlength="-.2 .1" damping=".1"><joint joint="shoulder" coef="1"/><joint joint="bend" coef="-.5"/></fixed>
    <fixed name="twin"><joint joint="mast" coef="1"/><joint joint="boom" coef=".3"/></fixed>
    <spatial name="rope" stiffness="20" damping=".2" range="0 .9" width=".01" margin=".002">
      <site site="hook"/><geom geom="drum"/><site site="tip"/>
      <pulley divisor="2"/><site site="top"/><geom geom="knob" sidesite="over"/><site site="peg"/></spatial>
    <spatial name="cord" range="0 2.07" limited="true" solreflimit=".03 1" frictionloss=".05">
      <site site="wrist"/><site site="grip"/></spatial>
    <spatial name="line" stiffness="3" armature=".05"><site site="elbow"/><site site="over"/></spatial>
  </tendon>
  <equality>
    <weld name="weld" body1="hand" body2="held" relpose="0 0 -.14 1 .02 0 0" solref=".05 1" torquescale=".7"/>
    <connect name="joined" body1="plank" body2="flap" anchor=".2 0 .01" solimp=".85 .93 .002 .5 2"/>
    <connect name="sites" site1="nail" site2="tip" active="false"/>
    <joint name="gear" joint1="swing" joint2="slip" polycoef=".05 .6 .2 0 0"/>
    <joint name="fixed" joint1="drift" polycoef=".02 0 0 0 0"/>
    <tendon name="tied" tendon1="twin" tendon2="pair" polycoef=".02 .3 .1 0 0" solref=".06 1"/>
  </equality>
  <actuator>
    <motor name="motor" joint="shoulder" gear="1.5"/>
    <motor name="both" joint="bend" ctrlrange="-1 1" forcerange="-.5 .2" gear="1"/>
    <general name="sum" joint="rail" dyntype="integrator" actrange="-.4 .4" gainprm="2" forcerange="-3 3" group="2"/>
    <general name="lag" joint="mast" dyntype="filter" dynprm=".1" gainprm="1.5" ctrlrange="-1 .4" biastype="affine"
      biasprm=".1 -.2 -.05"/>
    <general name="exact" joint="boom" dyntype="filterexact" dynprm=".05" actearly="true" actrange="-1 1"
      gaintype="affine" gainprm=".5 .2 -.1"/>
    <position name="servo" joint="lift" kp="25" kv="1" forcerange="-4 4"/>
    <intvelocity name="creep" joint="hinge" kp="3" actrange="-1 1"/>
    <muscle name="muscle" joint="swing" lengthrange="-1 1" force="2"/>
    <muscle name="brawn" tendon="line" scale="100" lengthrange=".3 2"/>
    <motor name="pull" tendon="pair" gear="1.2"/>
    <velocity name="brake" tendon="rope" kv=".2" forcerange="-1 1"/>
    <damper name="damp" joint="turn" kv=".3" ctrlrange="0 1"/>
    <cylinder name="piston" joint="slip" timeconst=".1" area=".8" bias=".1 -.2 -.3" ctrlrange="-1 1"/>
    <adhesion name="glue" body="box" ctrlrange="0 1" gain="2"/>
    <general name="thrust" site="grip" refsite="wrist" gear=".3 0 .2 .1 0 .02" gainprm=".5"/>
    <general name="jet" site="nail" gear=".3 0 .2 .1 .1 .02" gainprm=".5" biastype="affine" biasprm=".1 0 0"/>
    <general name="crank" slidersite="over" cranksite="crank" cranklength=".6" gainprm="1"/>
    <motor name="twist" joint="palm" gear=".1 .2 .3"/>
    <general name="bent" jointinparent="palm" gear=".2 .1 0" gainprm=".4"/>
  </actuator>
  <sensor>
    <touch name="touch" site="pad"/><touch site="skin"/><touch site="shell"/><touch site="bark"/>
    <touch site="coat" cutoff="2"/><touch site="dot"/>
    <accelerometer site="wrist" cutoff="4"/><velocimeter site="nail"/><gyro site="nail"/><force site="wrist"/>
    <torque site="wrist"/><magnetometer site="wrist"/><rangefinder site="wrist"/><rangefinder site="nail"/>
    <rangefinder site="grip" cutoff=".4"/><camprojection site="nail" camera="watch"/>
    <camprojection site="pad" camera="eye"/><jointpos joint="bend"/><jointvel joint="shoulder" cutoff=".1"/>
    <tendonpos tendon="rope"/><tendonvel tendon="cord"/>
    <actuatorpos actuator="crank"/><actuatorvel actuator="brake"/><actuatorfrc actuator="both" cutoff=".3"/>
    <jointactuatorfrc joint="shoulder"/><tendonactuatorfrc tendon="pair"/>
    <ballquat joint="palm"/><ballangvel joint="palm"/>
    <jointlimitpos joint="shoulder"/><jointlimitvel joint="shoulder"/><jointlimitfrc joint="shoulder"/>
    <tendonlimitpos tendon="cord"/><tendonlimitvel tendon="cord"/><tendonlimitfrc tendon="cord"/>
    <framepos objtype="geom" objname="wedge" reftype="body" refname="box"/>
    <framequat objtype="geom" objname="wedge" reftype="site" refname="wrist"/>
    <framexaxis objtype="camera" objname="eye"/><frameyaxis objtype="xbody" objname="palm"/>
    <framezaxis objtype="site" objname="tip"/>
    <framelinvel objtype="body" objname="wedge" reftype="camera" refname="eye"/>
    <frameangvel objtype="body" objname="palm" reftype="body" refname="box"/>
    <framelinacc objtype="geom" objname="wedge"/><frameangacc objtype="body" objname="palm"/>
    <subtreecom body="arm"/><subtreelinvel body="cart"/><subtreeangmom body="cart"/>
    <insidesite site="pad" objtype="geom" objname="box"/>
    <distance geom1="pill" geom2="cart" cutoff="2"/><normal geom1="fore" geom2="ball" cutoff="3"/>
    <fromto geom1="stick" geom2="box" cutoff="3"/>
    <contact geom1="floor" num="3" data="found force dist pos" reduce="maxforce"/>
    <contact body1="ball" body2="box" num="2" data="found force torque normal tangent"/>
    <contact site="pad" data="force torque" reduce="netforce" cutoff="5"/>
    <e_potential/><e_kinetic/><clock/><user dim="2"/>
  </sensor>
  <custom><numeric name="number" data="1 2 3"/></custom>
  <keyframe><key name="home" time=".3" ctrl="{ctrl}"/></keyframe>
</mujoco>
""".replace("{ctrl}", " ".join(["0.2"] * 19))

TERRAIN = """
<mujoco model="terrain">
  <option timestep="0.004" {option}><flag energy="enable"/></option>
  <asset>
    <hfield name="hills" nrow="6" ncol="5" size=".9 .7 .12 .1" elevation="
      .3 .5 .2 .6 .4  .6 .1 .7 .3 .5  .2 .8 .4 .9 .1  .5 .3 .6 .2 .7  .4 .9 .1 .5 .3  .7 .2 .5 .8 .6"/>
    <mesh name="wedge" vertex="-.1 -.1 -.1 .12 -.1 -.09 -.1 .1 -.1 .09 .11 -.1 -.06 -.05 .1 .07 .03 .11"/>
    <mesh name="spike" vertex="-.08 -.06 -.1 .1 -.07 -.1 0 .11 -.1 .01 .02 .12"/>
  </asset>
  <default><geom friction=".7 .02 .003" mass=".5"/></default>
  <worldbody>
    <geom name="hills" type="hfield" hfield="hills" pos="0 0 -.05" euler="2 3 10"/>
    <body name="egg" pos="-.5 -.4 .10" euler="10 30 0"><freejoint/>
      <geom name="egg" type="ellipsoid" size=".12 .09 .07"/></body>
    <body name="ball" pos="0 -.4 .12"><freejoint/><geom name="ball" size=".09" condim="4"/></body>
    <body name="box" pos=".5 -.35 .12" euler="5 8 20"><freejoint/>
      <geom name="box" type="box" size=".12 .1 .06" margin=".004"/>
      <geom name="foot" type="capsule" size=".03 .06" pos=".02 .09 -.04" euler="0 85 0" mass=".1"/></body>
    <body name="pill" pos="-.5 .3 .12" euler="85 10 0"><freejoint/>
      <geom name="pill" type="capsule" size=".06 .1"/></body>
    <body name="log" pos="0 .3 .10" euler="88 20 0"><freejoint/>
      <geom name="log" type="cylinder" size=".07 .12"/></body>
    <body name="wedge" pos=".5 .3 .11" euler="3 5 0"><freejoint/>
      <geom name="wedge" type="mesh" mesh="wedge"/></body>
    <body name="spike" pos=".5 .3 .31" euler="2 -4 30"><freejoint/>
      <geom name="spike" type="mesh" mesh="spike"/></body>
  </worldbody>
  <sensor><rangefinder site="beam"/><framepos objtype="geom" objname="wedge"/>
    <distance geom1="egg" geom2="box" cutoff="2"/><normal geom1="wedge" geom2="egg" cutoff="3"/></sensor>
</mujoco>
""".replace('<body name="egg"', '<site name="beam" pos=".3 0 1" euler="175 10 0"/>\n    <body name="egg"')

CLOTHES = """
<mujoco model="clothes">
  <option timestep="0.002" {option}><flag energy="enable"/></option>
  <default><geom friction=".7 .02 .003"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="ball" pos="0 0 .11"><freejoint/><geom name="ball" size=".1" mass=".4"/></body>
    <body name="post" pos=".5 0 .1" euler="0 80 5"><joint axis="0 0 1" damping=".1"/>
      <geom name="post" type="capsule" size=".04 .15"/></body>
    <flexcomp name="cloth" type="grid" count="4 3 1" spacing=".07 .08 .07" dim="2" radius=".01" mass=".3"
      pos="0 0 .222" euler="3 4 10">
      <contact selfcollide="none" condim="3" friction=".6 .02 .001" margin=".002"/>
      <elasticity young="3000" poisson=".2" thickness=".01" damping=".02" elastic2d="both"/>
    </flexcomp>
    <flexcomp name="rope" type="grid" count="5 1 1" spacing=".08 .08 .08" dim="1" radius=".02" mass=".2"
      pos=".5 0 .158" euler="2 0 80">
      <contact selfcollide="none"/><edge equality="true" damping=".02" solref=".03 1"/><pin id="0"/>
    </flexcomp>
    <flexcomp name="chain" type="grid" count="4 1 1" spacing=".07 .08 .07" dim="1" radius=".012" mass=".3"
      pos="-.5 -.4 .012" euler="2 1 5">
      <contact selfcollide="none" condim="1"/><edge stiffness="60" damping=".3"/>
    </flexcomp>
    <flexcomp name="solid" type="grid" count="3 2 2" spacing=".08 .08 .08" dim="3" radius=".01" mass=".5"
      pos="-.5 .3 .049" euler="2 3 10">
      <contact selfcollide="none" internal="true"/>
      <elasticity young="5000" poisson=".3" damping=".02"/>
    </flexcomp>
    <flexcomp name="soft" type="grid" count="3 3 3" spacing=".06 .06 .06" dim="3" radius=".01" mass=".5"
      dof="trilinear" pos=".1 .6 .068" euler="2 3 10"><contact selfcollide="none"/>
      <elasticity young="4000" poisson=".2" damping=".02"/></flexcomp>
  </worldbody>
</mujoco>
"""

BLOB = """
<mujoco model="blob">
  <option timestep="0.004" {option}><flag energy="enable"/></option>
  <asset>
    <mesh name="wedge" vertex="-.1 -.1 -.1 .12 -.1 -.09 -.1 .1 -.1 .09 .11 -.1 -.06 -.05 .1 .07 .03 .11"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="blob" pos="0 0 .09" euler="2 3 0"><freejoint/>
      <geom name="blob" type="sdf" mesh="wedge" mass=".5"/></body>
    <body name="ball" pos=".02 .01 .25"><freejoint/><geom name="ball" size=".09" mass=".3"/></body>
  </worldbody>
</mujoco>
"""

ROD = """
<mujoco model="rod">
  <option timestep="0.004" gravity="0 0 0" {option}/>
  <worldbody>
    <body name="rod"><freejoint/>
      <geom name="rod" type="capsule" size=".05 .3" euler="0 90 0"/>
      <geom name="bead" size=".04" pos="0 0 .05"/></body>
    <body pos="0 .2 0"><freejoint/><geom name="near" size=".1"/></body>
    <body pos=".25 .14 0"><freejoint/><geom name="touching" size=".1"/></body>
    <body pos="0 0 .4"><freejoint/><geom name="above" size=".1"/></body>
    <body pos="-.25 -.22 0"><freejoint/><geom name="wide" size=".1" margin=".1"/></body>
  </worldbody>
</mujoco>
"""
"""A body of two geoms, which MuJoCo searches by a tree of boxes, and balls around it."""

SLEEPERS = """
<mujoco model="sleepers">
  <option timestep="0.004" sleep_tolerance=".02" {option}><flag energy="enable" sleep="enable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="one" pos="0 0 .0995"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="other" pos="0 0 .2985"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="ball" pos="1 0 .0999"><freejoint/><geom size=".1" mass="1" condim="6"/></body>
    <body name="door" pos="-1 0 .5"><joint axis="0 0 1" damping=".5"/><geom type="box" size=".2 .02 .2"/></body>
  </worldbody>
</mujoco>
"""


@attrs.frozen
class Setting:
    """A scene, and how many steps it has made when it is edited: enough for bodies to have met."""

    xml: str
    option: str
    warmup: int


SETTINGS = {
    "machine": Setting(MACHINE, 'cone="elliptic"', 25),
    "terrain": Setting(TERRAIN, "", 25),
    "clothes": Setting(CLOTHES, "", 12),
    "blob": Setting(BLOB, "", 15),
    "rod": Setting(ROD, "", 1),
    "sleepers": Setting(SLEEPERS, "", 4),
    "implicit machine": Setting(MACHINE, 'integrator="implicit" solver="CG" noslip_iterations="2"', 25),
    "sequential machine": Setting(MACHINE, 'cone="elliptic" solver="PGS" integrator="implicitfast"', 25),
    "staged machine": Setting(MACHINE, 'integrator="RK4" jacobian="dense"', 25),
}

State = dict[str, Any]

NWORLD, EDITED_WORLD = 3, 1
NUDGES = 6
CLOSE = 1e-10
"""Largest difference of a step, relative to the field's largest number (at least 1)."""
CHAOTIC = 1e3
"""How many times as far as a nudge of the state moves MuJoCo's own step a difference may go."""
MOST_SPREAD = 1e-4
"""How far nudges may move MuJoCo's own step if it shall be compared at all."""
LATE = tuple(name for name in COMPARED if name.startswith(("efc_", "wrap_")))
"""What one world on kernels tells only by repeating the step with the reference."""
SOON = tuple(name for name in COMPARED if name not in LATE)


def model_field(model: Any, name: str) -> Any:
    """A field of either side's Model; None if it has none of that name."""
    try:
        return operator.attrgetter(name)(model)
    except AttributeError:
        return None


def set_model_field(model: Any, name: str, value: Any) -> None:
    """Edit a field of either side's Model in place."""
    group, _, last = name.rpartition(".")
    holder = operator.attrgetter(group)(model) if group else model
    old = getattr(holder, last)
    if np.ndim(old):
        np.asarray(old)[...] = np.reshape(value, np.shape(old))
    else:
        setattr(holder, last, type(old)(np.asarray(value).item()))


class Bench:
    """One scene in one state, in MuJoCo and in every way that it can be stepped here."""

    def __init__(self, name: str) -> None:
        setting = SETTINGS[name]
        xml = setting.xml.format(option=setting.option)
        self.name, self.warmup = name, setting.warmup
        self.theirs = mujoco.MjModel.from_xml_string(xml)
        self.model = dovetail.loads(xml)
        self._share_numbers()
        self.per_world: tuple[str, ...] = ()
        self._data, self._nudged = mujoco.MjData(self.theirs), mujoco.MjData(self.theirs)
        self._sims: dict[str, dovetail.Simulation] = {}
        self.start = self._moving()
        self._before: dict[tuple[str, int], State] = {}

    def _share_numbers(self) -> None:
        """Whether both compilers round alike is asked elsewhere: here both sides have MuJoCo's numbers."""
        for name, spec in MODEL_SPECS.items():
            value = model_field(self.theirs, name)
            if value is not None and np.size(value) and spec.dtype.startswith("float"):
                set_model_field(self.model, name, np.array(value))

    def _moving(self) -> State:
        """A state in which everything moves."""
        model, data, rng = self.theirs, self._data, np.random.default_rng(0)
        data.qvel[:] = 0.1 * rng.normal(size=model.nv)
        data.ctrl[:] = np.clip(0.5 * rng.normal(size=model.nu), -0.9, 0.9)
        mujoco.mj_step(model, data, self.warmup)
        data.qfrc_applied[:] = 0.05 * rng.normal(size=model.nv)
        data.xfrc_applied[1:] = 0.02 * rng.normal(size=(model.nbody - 1, 6))
        return {name: np.array(getattr(data, name)) for name in PUT_BACK}

    # ---- stepping

    def simulation(self, who: str) -> dovetail.Simulation:
        """It is kept, as users do, however often its Model is edited."""
        batch = {"nworld": NWORLD, "keep": "all"}
        kinds: dict[str, dict[str, Any]] = {
            "numpy": {"backend": "numpy"},
            "native": {"backend": "native"},
            "batch": {"backend": "native", **batch},
            "per world": {"backend": "native", "per_world": self.per_world, **batch},
            "numpy per world": {"backend": "numpy", "per_world": self.per_world, **batch},
        }
        if who not in self._sims:
            self._sims[who] = dovetail.Simulation(self.model, **kinds[who])
        return self._sims[who]

    def expected(self, nstep: int = 1, names: Iterable[str] = COMPARED) -> State:
        """What MuJoCo makes of the state."""
        put_theirs(self._data, self.start)
        mujoco.mj_step(self.theirs, self._data, nstep)
        return wrapped_only(self._data, their_fields(self._data, names))

    def found(
        self, who: str, nstep: int = 1, names: Iterable[str] = COMPARED, world: int = EDITED_WORLD
    ) -> State:
        """What is made of it here."""
        sim = self.simulation(who)
        for name, value in self.start.items():
            if name in sim.data:
                sim.data.field(name)[...] = value
        sim.step(nstep)
        data = sim.data if sim.nworld is None else list(sim.data.worlds())[world]
        return wrapped_only(data, our_fields(data, names))

    # ---- comparing

    def wrong(self, who: str, nstep: int = 1, names: Iterable[str] = COMPARED) -> str:
        """Which fields are otherwise than in MuJoCo, and by how much; `unsteady` where a nudge of MuJoCo's own state
        changes what touches what."""
        inverse = bool(self.theirs.opt.enableflags & int(EnableBit.FWDINV))
        names = [name for name in names if inverse or name != "qfrc_inverse"]  # it would be an old one
        expected, found = self.expected(nstep, names), self.found(who, nstep, names)
        errors = {name: distance(found[name], value) for name, value in expected.items()}
        errors = {name: error for name, error in errors.items() if not error <= CLOSE}
        if not errors:
            return ""
        spread = self._spread(expected, nstep)
        if max(spread.values()) > MOST_SPREAD:
            return UNSTEADY
        told = [f"{n} {e:.0e} ({spread[n]:.0e})" for n, e in errors.items() if not e <= CHAOTIC * spread[n]]
        return ", ".join(told)

    def _spread(self, expected: State, nstep: int) -> dict[str, float]:
        """How far nudges of the state move MuJoCo's own answer."""
        model, data = self.theirs, self._nudged
        spread = dict.fromkeys(expected, 0.0)
        for seed in range(NUDGES):
            rng, size = np.random.default_rng(seed), 1e-14 * 10.0 ** (seed % 3 - 1)
            put_theirs(data, self.start)
            mujoco.mj_integratePos(model, data.qpos, size * rng.standard_normal(model.nv), 1.0)
            for name in ("qvel", "act", "qacc_warmstart"):
                value = getattr(data, name)
                value += size * np.maximum(1.0, np.abs(value)) * rng.standard_normal(value.shape)
            mujoco.mj_step(model, data, nstep)
            nudged = wrapped_only(data, their_fields(data, expected))
            spread = {name: max(spread[name], distance(nudged[name], expected[name])) for name in expected}
        return spread

    def remember(self, who: str, names: Iterable[str] = COMPARED) -> None:
        """The steps of all worlds with the Model as it was."""
        for world in range(self.simulation(who).nworld or 1):
            self._before[who, world] = self.found(who, names=names, world=world)

    def changed(self, who: str, worlds: Iterable[int] = (0,)) -> list[str]:
        """Fields of some worlds whose bits are others than those remembered."""
        lost = []
        for world in worlds:
            before = self._before[who, world]
            found = self.found(who, names=before, world=world)
            lost += [name for name, value in before.items() if found[name].tobytes() != value.tobytes()]
        return lost

    def wrong_after_a_reset(self, who: str) -> str:
        """Fields of the state that a reset, to the start or to a keyframe, fills otherwise than in MuJoCo."""
        sim, told = self.simulation(who), []
        for key in (None, *range(self.theirs.nkey)):
            if key is None:
                mujoco.mj_resetData(self.theirs, self._nudged)
            else:
                mujoco.mj_resetDataKeyframe(self.theirs, self._nudged, key)
            sim.reset(key)
            wanted = their_fields(self._nudged, PUT_BACK)
            found = our_fields(sim.data, PUT_BACK)
            told += [f"{name} ({key})" for name in PUT_BACK if distance(found[name], wanted[name]) > CLOSE]
        return ", ".join(told)

    # ---- editing

    @contextmanager
    def edited(self, name: str, value: Any) -> Iterator[None]:
        """Both Models with another value in a field."""
        before = [np.array(model_field(model, name)) for model in (self.theirs, self.model)]
        try:
            for model in (self.theirs, self.model):
                set_model_field(model, name, value)
            yield
        finally:
            for model, old in zip((self.theirs, self.model), before, strict=True):
                set_model_field(model, name, old)

    @contextmanager
    def edited_in_one_world(self, who: str, name: str, value: Any) -> Iterator[None]:
        """MuJoCo's Model, and that of one world here."""
        own = self.simulation(who).per_world[name]
        before = np.array(model_field(self.theirs, name)), np.array(own[EDITED_WORLD])
        try:
            set_model_field(self.theirs, name, value)
            own[EDITED_WORLD] = np.reshape(value, before[1].shape)
            yield
        finally:
            set_model_field(self.theirs, name, before[0])
            own[EDITED_WORLD] = before[1]


UNSTEADY = "unsteady"


def wrapped_only(data: Any, fields: State) -> State:
    """Fields without points of tendons that are old, behind those that paths have now."""
    if "wrap_xpos" in fields and len(data.ten_wrapadr):
        fields["wrap_xpos"].reshape(-1, 3)[int(data.ten_wrapadr[-1] + data.ten_wrapnum[-1]) :] = 0.0
    return fields


# ---- edits -------------------------------------------------------------------------------------------------


@attrs.frozen
class Edit:
    """Another value of a field."""

    words: str
    value: Any


SMALL, FACTOR, FAR = 1e-3, 1.7, 0.3
QUATERNIONS = ("body_quat", "body_iquat", "geom_quat", "site_quat", "cam_quat", "key_mquat", "mesh_quat")


def edits_of_numbers(bench: Bench, name: str, entries: int) -> Iterator[Edit]:
    """Small and large ones of a real field, of all of it and of some entries."""
    old, free = np.array(model_field(bench.theirs, name), float), legal_places(bench.theirs, name)
    quaternions = name in QUATERNIONS
    fields = bool((bench.theirs.geom_type == int(mujoco.mjtGeom.mjGEOM_SDF)).any())
    tries = {
        "a little more": old * (1.0 + SMALL),
        "a little off": old + SMALL,
        "much more": old * FACTOR,
        "far off": _unit(old + FAR) if quaternions else old + FAR,
    }
    if quaternions and fields:  # in frames that are no rotations distance fields are whatever they are
        tries = {"far off": tries["far off"]}
        entries = 0
    for words, new in tries.items():
        yield Edit(f"{name} {words}", np.where(free, new, old))
    for place in chosen_places(name, free, entries):
        for words, number in (
            ("a little off", old.flat[place] + SMALL),
            ("much more", old.flat[place] * FACTOR or FAR),
        ):
            yield Edit(f"{name}[{place}] {words}", _with(old, place, number))


def edits_of_choices(bench: Bench, name: str, choices: Iterable[int], entries: int) -> Iterator[Edit]:
    """Other legal values of an integer field, of all of it and of some entries."""
    old = np.array(model_field(bench.theirs, name))
    for choice in choices:
        free = legal_choices(bench.theirs, name, choice) & (old != choice)
        if free.any():
            yield Edit(f"{name} {choice}", np.where(free, choice, old).astype(old.dtype))
        if old.size > 1:
            for place in chosen_places(f"{name} {choice}", free, entries):
                yield Edit(f"{name}[{place}] {choice}", _with(old, place, choice))


def _unit(quaternions: Any) -> Any:
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def _with(old: Any, place: int, number: Any) -> Any:
    new = np.array(old)
    new.flat[place] = number
    return new


def chosen_places(name: str, free: Any, count: int) -> list[int]:
    """Some places of a field, the same in every run."""
    places = np.flatnonzero(free)
    rng = np.random.default_rng(list(name.encode()))
    return sorted(int(place) for place in rng.choice(places, min(count, len(places)), replace=False))


def legal_places(model: Any, name: str) -> Any:
    """Which numbers of a field may have any value: others are ids, or stop MuJoCo itself."""
    free = np.ones(np.shape(model_field(model, name)), bool)
    if name == "wrap_prm":  # of a geom it is the site at its side
        free &= np.isin(
            model.wrap_type, (int(mujoco.mjtWrap.mjWRAP_JOINT), int(mujoco.mjtWrap.mjWRAP_PULLEY))
        )
    if name == "tendon_armature":
        around = np.isin(
            model.wrap_type, (int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER))
        )
        free &= ~np.logical_or.reduceat(around, model.tendon_adr) if model.nwrap else True
    return free


ROUND, BOXY = (3, 5), (4, 6)
"""Types of geoms with two sizes, and with three."""
WITH_FRAMES = tuple(
    int(kind)
    for name, kind in mujoco.mjtSensor.__members__.items()
    if name.startswith(("mjSENS_FRAME", "mjSENS_SUBTREE", "mjSENS_TOUCH", "mjSENS_GYRO"))
)


def legal_choices(model: Any, name: str, choice: int) -> Any:
    """Which entries of an integer field may have a value: the objects are of the same kind, and so many."""
    value = np.asarray(model_field(model, name))
    every = np.ones(value.shape, bool)
    if (
        name == "geom_condim" and model.nflex
    ):  # with more MuJoCo's rows of flexes are whatever the memory held
        return every & (choice <= 3)
    if name == "opt.jacobian" and model.nflex:  # what is sparse stays so
        return every & (choice > 0)
    if name == "geom_type":
        return np.isin(value, ROUND if choice in ROUND else BOXY)
    if name == "geom_dataid":
        return (model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH)) & (choice < model.nmesh)
    if name == "actuator_trntype":
        return np.isin(value, (0, 1))
    if name == "actuator_trnid":
        turning = np.flatnonzero(model.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE))
        every[:, 1] = False
        every[:, 0] = (model.actuator_trntype == 0) & np.isin(value[:, 0], turning) & (choice in turning)
        return every
    if name == "actuator_dyntype":
        return np.isin(value, (1, 2, 3))
    if name in ("actuator_gaintype", "actuator_biastype"):
        return np.isin(value, (0, 1))
    if name in ("sensor_objid", "sensor_refid"):
        return np.isin(model.sensor_type, WITH_FRAMES) & (value >= 0)
    return every
