"""A scene that is worth observing: bodies that touch, are tied together or are at their limits, and sensors for all
of it."""

from __future__ import annotations

SCENE = """
<mujoco model="observed scene">
  <option timestep=".004" cone="{cone}"/>
  <default><geom condim="3" friction=".8 .02 .001" contype="0" conaffinity="1"/></default>
  <worldbody>
    <camera name="watcher" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" resolution="320 200" fovy="50"/>
    <geom name="floor" type="plane" size="3 3 .1" contype="1" conaffinity="0"/>
    <body name="crate" pos="0 0 .19"><freejoint/>
      <geom name="crate" type="box" size=".2 .15 .2" mass="2" contype="2"/>
      <site name="pad" pos="0 0 -.2" type="box" size=".25 .2 .05"/>
      <site name="ball pad" pos=".1 .1 -.2" type="sphere" size=".12"/>
      <site name="far" pos="0 0 .9" type="cylinder" size=".05 .05"/>
      <site name="egg" pos="-.1 0 -.2" type="ellipsoid" size=".2 .3 .1"/>
      <site name="pill" pos="0 -.09 -.2" type="capsule" size=".1 .1"/>
    </body>
    <body name="roller" pos=".1 0 .52"><freejoint/>
      <geom name="roller" type="sphere" size=".14" condim="{condim}" mass=".5" conaffinity="3"/>
      <site name="skin" type="sphere" size=".2"/>
      <camera name="chip" pos=".3 0 .2" euler="40 0 20" resolution="64 48" sensorsize=".01 .008" focal=".02 .03"/>
    </body>
    <body name="arm" pos="1 0 .2">
      <joint name="arm" axis="0 1 0" range="-20 20" limited="true" margin=".05"/>
      <geom name="arm" type="capsule" fromto="0 0 0 .3 0 -.1" size=".05" mass=".4" conaffinity="0"/>
      <site name="wrist" pos=".3 0 -.1" euler="10 20 30"/>
      <body name="hand" pos=".3 0 -.1">
        <joint name="hand" type="slide" axis="1 0 -1" range="-.05 .05" limited="true"/>
        <geom name="hand" size=".08" mass=".3"/>
        <site name="palm" size=".1"/>
        <body name="tip" pos=".1 0 .2">
          <joint name="tip" type="ball" range="0 20" limited="true"/>
          <geom name="tip" size=".06" pos="0 0 .08" mass=".2" conaffinity="0"/>
          <site name="nail" pos="0 0 .14" size=".05"/>
        </body>
      </body>
    </body>
    <body name="left" pos="-.3 .9 .11"><freejoint/><geom name="left" size=".1" mass=".6"/>
      <site name="hook" pos=".1 0 0"/></body>
    <body name="right" pos="0 .9 .3"><freejoint/>
      <geom name="right" type="cylinder" size=".1 .1" mass=".7" conaffinity="0"/>
      <site name="eye" pos="-.2 0 .05"/></body>
    <body name="hung" pos=".6 .9 .5"><freejoint/><geom name="hung" type="ellipsoid" size=".08 .1 .05" mass=".3"
      conaffinity="0"/></body>
  </worldbody>
  <equality>
    <connect site1="hook" site2="eye"/>
    <weld body1="hung" body2="right" torquescale=".5"/>
    <connect body1="hung" anchor="0 0 .1"/>
  </equality>
  <tendon>
    <fixed name="bar" limited="true" range="-.1 .1">
      <joint joint="arm" coef="1"/><joint joint="hand" coef="-2"/>
    </fixed>
  </tendon>
  {rest}
</mujoco>
"""

CONTACT_SENSORS = """
<sensor>
  <touch site="pad"/><touch site="ball pad"/><touch site="far"/><touch site="egg" cutoff="3"/><touch site="pill"/>
  <touch site="skin"/><touch site="palm"/>
  <force site="wrist"/><torque site="wrist"/><force site="palm"/><torque site="nail"/><accelerometer site="nail"/>
  <jointlimitpos joint="arm"/><jointlimitvel joint="arm"/><jointlimitfrc joint="arm"/>
  <jointlimitfrc joint="hand"/><jointlimitfrc joint="tip"/>
  <tendonlimitpos tendon="bar"/><tendonlimitfrc tendon="bar"/>
  <contact geom1="crate" num="4" data="found force torque dist pos normal tangent"/>
  <contact body1="roller" body2="crate" data="found force torque pos normal tangent" num="2"/>
  <contact body1="crate" body2="roller" data="force torque normal tangent" num="1"/>
  <contact subtree1="crate" reduce="mindist" num="3" data="dist pos"/>
  <contact geom1="floor" reduce="maxforce" num="3" data="found force"/>
  <contact geom1="floor" reduce="netforce" data="found force torque pos normal"/>
  <contact site="pad" reduce="netforce" data="force torque dist" cutoff="5"/>
  <contact site="egg" num="2" data="found pos"/>
  <contact reduce="none" num="9" data="found dist"/>
  <rangefinder site="palm"/><rangefinder site="far"/><rangefinder site="wrist" cutoff=".4"/><rangefinder site="eye"/>
  <camprojection site="nail" camera="watcher"/><camprojection site="pad" camera="chip"/>
  <distance geom1="roller" geom2="crate" cutoff="2"/><distance body1="crate" body2="hand" cutoff=".9"/>
  <distance geom1="arm" geom2="floor" cutoff=".1"/><distance geom1="floor" geom2="roller" cutoff="1"/>
  <normal geom1="crate" geom2="roller" cutoff="2"/><normal geom1="left" geom2="floor" cutoff=".02"/>
  <fromto geom1="crate" geom2="arm" cutoff="3"/><fromto body1="right" body2="world" cutoff=".5"/>
  <fromto geom1="tip" geom2="right" cutoff="9"/>
  <insidesite site="pad" objtype="geom" objname="crate"/><insidesite site="egg" objtype="xbody" objname="crate"/>
  <insidesite site="skin" objtype="body" objname="roller"/><insidesite site="pill" objtype="site" objname="pad"/>
</sensor>
"""


def scene(rest: str = "", cone: str = "pyramidal", condim: int = 3) -> str:
    return SCENE.format(rest=rest, cone=cone, condim=condim)


ADHESION = """
<actuator>
  <adhesion body="crate" ctrlrange="0 1"/><adhesion body="hand" ctrlrange="0 2"/><motor joint="arm" gear="3"/>
  <adhesion body="roller" ctrlrange="0 1"/><adhesion body="hung" ctrlrange="0 1"/>
</actuator>
"""
