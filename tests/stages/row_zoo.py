"""A model with every kind of constraint row many times over, in several trees that constraints tie together."""

from __future__ import annotations

ZOO = """
<mujoco>
  <compiler autolimits="true"/>
  <option {option}/>
  <default><geom solimp="{solimp}"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" condim="{condim}"/>
    <body name="a" pos="0 0 .12"><freejoint/>
      <geom type="box" size=".1 .1 .1" friction=".6 .02 .01" condim="4"/></body>
    <body name="b" pos=".05 .03 .3"><freejoint/><geom size=".1" friction=".4 .02 .01" condim="6"/></body>
    <body name="c" pos=".6 0 .14">
      <joint name="slide" type="slide" axis="0 0 1" frictionloss="2" range="-.1 .1" solimplimit=".8 .95 .1 .3 3"/>
      <joint name="hinge" axis="0 1 0" frictionloss=".3" solreffriction="-50 -10"/>
      <geom type="capsule" size=".05 .1" condim="1"/>
      <body name="d" pos="0 0 .2">
        <joint name="tilt" axis="1 0 0" range="-20 20" margin="5" solreflimit="-300 -20"/>
        <joint name="nod" axis="0 1 0" damping=".1"/>
        <geom type="capsule" size=".04 .1"/><site name="tip" pos="0 0 .1" euler="10 20 30"/>
      </body>
      <body name="twig" pos="0 .1 .1"><joint name="twig" axis="1 0 0"/><geom type="capsule" size=".03 .08"/></body>
    </body>
    <body name="e" pos="1.2 0 .3"><joint type="ball" range="0 30" frictionloss=".1"/>
      <geom type="box" size=".05 .1 .15" pos="0 0 -.1"/><site name="hook"/></body>
    <body name="f" pos="-.8 0 .12"><freejoint/><geom name="drum" type="sphere" size=".12"/></body>
    <body name="g" pos="-.8 .3 .4"><joint name="arm" axis="0 1 0"/>
      <geom type="capsule" size=".03 .2" contype="0" conaffinity="0"/><site name="grip" pos="0 0 .2"/></body>
    <body name="free" pos="2 2 2"><joint axis="0 1 0"/>
      <geom pos=".2 0 .1" size=".1" contype="0" conaffinity="0"/></body>
    <body name="post" pos="2 0 .4"><site name="post" pos="0 0 .1" euler="0 20 0"/></body>
    <body name="hung" pos="2 0 .3"><freejoint/><geom type="box" size=".05 .05 .1"/>
      <site name="top" pos="0 0 .2"/></body>
    <body name="puck" pos="-2 0 .1"><freejoint/><geom name="puck" size=".1" condim="6" friction="1 .3 .02"/></body>
    <body name="ice" pos="-3 0 .1"><freejoint/><geom name="ice" size=".1"/></body>
  </worldbody>
  <tendon>
    <fixed name="belt" frictionloss=".2" limited="true" range="-.1 .1" solimpfriction=".8 .8 .01">
      <joint joint="hinge" coef="1"/><joint joint="tilt" coef="-1"/></fixed>
    <spatial name="rope" limited="true" range="0 .55" margin=".02"><site site="tip"/><site site="hook"/></spatial>
    <fixed name="lever"><joint joint="arm" coef="1"/><joint joint="twig" coef=".5"/></fixed>
  </tendon>
  <contact>
    <pair geom1="floor" geom2="drum" condim="6" friction="1 .3 .02 .01 .005" solreffriction=".05 1"/>
    <pair geom1="floor" geom2="puck" condim="4" friction=".2 .3 .02 .01 .005" margin=".05" gap=".02"/>
    <pair geom1="floor" geom2="ice" condim="1"/>
  </contact>
  <equality>
    <connect body1="f" body2="g" anchor="0 .15 0"/>
    <joint name="nods" joint1="nod" joint2="hinge" polycoef=".1 .5 .2 .3 .1"/>
    <joint joint1="twig" polycoef=".05 0 0 0 0"/>
    <joint joint1="twig" joint2="tilt" polycoef="0 .3 0 .1 0" solimp=".7 .9 .2 .6 1"/>
    <weld body1="d" body2="e" relpose="0 0 0 1 0 0 0" solref=".2 1" torquescale=".7"/>
    <weld site1="post" site2="top" solimp=".9 .95 .1"/>
    <connect site1="tip" site2="hook" active="false"/>
    <connect body1="free" anchor="0 0 .1"/>
    <tendon tendon1="belt" tendon2="lever" polycoef="0 .5 .1 0 0"/>
    <tendon tendon1="lever" polycoef=".02 0 0 0 0"/>
  </equality>
</mujoco>
"""


def zoo_text(cone: str = "pyramidal", condim: int = 3, solimp: str = ".9 .95 .01", **options: float) -> str:
    """The model as MJCF; `condim` is that of the floor."""
    option = " ".join([f'cone="{cone}"', *(f'{name}="{value}"' for name, value in options.items())])
    return ZOO.format(option=option, condim=condim, solimp=solimp)
