"""A small model with every kind of constraint row, in several trees that constraints tie together."""

from __future__ import annotations

from typing import Any

YARD = """
<mujoco>
  <compiler autolimits="true"/>
  <option {option}><flag {flags}/></option>
  <default><geom condim="1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 .1"><freejoint/>
      <geom size=".1" condim="{first}" friction=".6 .02 .01"/></body>
    <body name="rider" pos=".05 0 .29"><freejoint/>
      <geom size=".1" condim="{second}" friction=".4 .03 .02"/></body>
    <body name="ice" pos="2 0 .1"><freejoint/><geom size=".1"/></body>
    <body name="arm" pos="1 0 .5"><joint name="shoulder" axis="0 1 0" frictionloss=".3" range="-20 20"/>
      <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.2"/>
      <body name="hand" pos="0 0 -.2"><joint name="elbow" axis="0 1 .2" range="-5 5"/>
        <geom size=".06" pos="0 0 -.21"/></body>
    </body>
    <body name="bell" pos="-1 0 .6"><joint type="ball" range="0 10"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .1 0 -.3"/></body>
    <body name="tail" pos="-.9 0 .3"><joint name="lift" type="slide" axis="0 0 1" range="-.01 .01"/>
      <joint name="sway" axis="0 1 0"/>
      <geom size=".07" pos=".1 0 0" contype="0" conaffinity="0"/></body>
  </worldbody>
  <equality>
    <joint joint1="elbow" joint2="shoulder" polycoef=".1 .5 .2 0 0"/>
    <connect body1="tail" body2="bell" anchor="0 0 0"/>
    <joint joint1="sway" polycoef=".05 0 0 0 0"/>
  </equality>
</mujoco>
"""

WARMUP = 110
"""Steps that the last world has made: the bodies have met, and each world is another one."""


def yard(name: str, flags: str = "", **option: Any) -> str:
    """`pyramidal 3 4`: the cone, and the dimensions of contacts that are not of dimension 1."""
    cone, first, second = name.split()
    text = " ".join(f'{key}="{value}"' for key, value in {"cone": cone, **option}.items())
    return YARD.format(option=text, flags=flags, first=first, second=second)


def some_switched_off(data: Any, world: int) -> None:
    """Worlds differ in which equalities act."""
    if world % 2 == 0:
        data.eq_active[-1] = 0
