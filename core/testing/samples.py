"""Small models that together use what implementations may have to handle.

SAMPLES are smooth; ZERO_SIZED are those of them in which something has no entries. FURTHER have constraints,
contacts, sensors and a medium; the checks try them on what no other model makes run. `sample(name)` compiles one,
once.
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

TOUCHING = """
<mujoco model="touching">
  <option timestep="0.002" impratio="2"/>
  <default><geom contype="0" conaffinity="1" friction=".7 .02 .001"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" contype="1" conaffinity="0" margin=".02"/>
    <body name="wheel" pos="0 0 .195">
      <joint name="wheel" axis="0 1 0" limited="true" range="-20 20" margin=".1" frictionloss=".2"/>
      <geom name="wheel" size=".2" contype="2"/><site name="hub" size=".21"/>
      <body name="spoke" pos=".1 0 .3">
        <joint name="spoke" type="ball" limited="true" range="0 30"/>
        <geom name="spoke" type="capsule" size=".05 .1" conaffinity="0"/><site name="end" pos="0 0 .1"/>
      </body>
    </body>
    <body name="block" pos=".6 0 .1">
      <joint name="turn" axis="0 0 1"/><joint name="lift" type="slide" axis="0 0 1" range="-.1 .1" limited="true"/>
      <geom name="block" type="box" size=".1 .2 .4" condim="4"/><site name="side" pos=".1 0 0" euler="0 90 0"/>
    </body>
    <body name="roll" pos="-.5 0 .29">
      <joint name="roll" axis="1 0 0"/><geom name="roll" size=".3" condim="6" conaffinity="3" priority="1"/>
    </body>
    <body name="kite" pos="0 1 1"><freejoint/><geom type="ellipsoid" size=".1 .2 .05" conaffinity="0"/>
      <site name="knot" pos="0 0 .2"/></body>
  </worldbody>
  <contact><pair geom1="wheel" geom2="block" margin=".5" condim="3"/></contact>
  <equality>
    <connect body1="kite" anchor=".1 0 0"/><weld body1="kite" body2="spoke" torquescale=".3"/>
    <joint joint1="turn" joint2="roll" polycoef=".1 .5 .2 0 0"/><tendon tendon1="pull" tendon2="belt"/>
  </equality>
  <tendon>
    <spatial name="pull" limited="true" range="0 .2"><site site="knot"/><site site="end"/></spatial>
    <fixed name="belt" frictionloss=".1" limited="true" range="-.1 .1">
      <joint joint="wheel" coef="1"/><joint joint="turn" coef="-.5"/>
    </fixed>
  </tendon>
  <actuator><motor joint="turn"/><motor tendon="belt"/>{adhesion}</actuator>
  {sensors}
</mujoco>
"""

SENSORS = """
<sensor>
  <touch site="hub"/><accelerometer site="hub"/><velocimeter site="end"/><gyro site="side"/><force site="end"/>
  <torque site="end"/><magnetometer site="hub"/><rangefinder site="side"/><camprojection site="hub" camera="eye"/>
  <jointpos joint="turn"/><jointvel joint="turn"/><tendonpos tendon="belt"/><tendonvel tendon="belt"/>
  <actuatorpos actuator="drive"/><actuatorvel actuator="drive"/><actuatorfrc actuator="drive"/>
  <jointactuatorfrc joint="turn"/><tendonactuatorfrc tendon="belt"/><ballquat joint="spoke"/>
  <ballangvel joint="spoke"/><jointlimitpos joint="wheel"/><jointlimitvel joint="wheel"/>
  <jointlimitfrc joint="wheel"/><tendonlimitpos tendon="belt"/><tendonlimitvel tendon="belt"/>
  <tendonlimitfrc tendon="belt"/><framepos objtype="site" objname="end" reftype="body" refname="wheel"/>
  <framequat objtype="geom" objname="block"/><framexaxis objtype="body" objname="kite"/>
  <frameyaxis objtype="xbody" objname="kite"/><framezaxis objtype="camera" objname="eye"/>
  <framelinvel objtype="site" objname="end"/><frameangvel objtype="body" objname="kite"/>
  <framelinacc objtype="site" objname="end"/><frameangacc objtype="body" objname="kite"/>
  <subtreecom body="wheel"/><subtreelinvel body="wheel"/><subtreeangmom body="wheel"/>
  <insidesite site="hub" objtype="geom" objname="wheel"/><distance geom1="block" geom2="wheel" cutoff="2"/>
  <normal geom1="block" geom2="wheel" cutoff="2"/><fromto geom1="block" geom2="wheel" cutoff="2"/>
  <contact geom1="floor" num="2" data="found force pos"/><contact body1="wheel" reduce="netforce" data="force"/>
  <e_potential/><e_kinetic/><clock/><user dim="2" datatype="real" needstage="vel"/>
</sensor>
"""

DRY = TOUCHING.format(adhesion="", sensors="")
STICKY = (
    TOUCHING.replace('model="touching"', 'model="sticky"')
    .replace("/>{adhesion}", ' name="drive"/><adhesion body="wheel" ctrlrange="0 1"/>')
    .replace('<site name="hub"', '<camera name="eye" pos=".5 0 .5"/><site name="hub"')
    .replace("<option ", '<option cone="elliptic" ')
    .format(sensors=SENSORS)
)

WET = """
<mujoco model="wet">
  <option density="1.2" viscosity=".1"><flag constraint="disable"/></option>
  <worldbody>
    <body pos="0 0 .2" gravcomp=".5"><joint name="drum" axis="1 2 3"/><geom type="ellipsoid" size=".3 .2 .1"/>
      <body pos=".4 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .2 .05" fluidshape="ellipsoid"/></body></body>
  </worldbody>
  <actuator><muscle joint="drum" lengthrange="0 1"/></actuator>
</mujoco>
"""

SLIPPERY = """
<mujoco model="slippery">
  <option noslip_iterations="2"><flag fwdinv="enable"/></option>
  <worldbody>
    <geom type="plane" size="2 2 .1" friction=".2"/>
    <body pos="0 0 .195"><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/><geom size=".2" friction=".2"/></body>
  </worldbody>
</mujoco>
"""

RESTING = """
<mujoco model="resting">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" condim="1"/>
    <body name="ball" pos="0 0 .1">
      <joint name="slide" type="slide" axis=".1 0 1" frictionloss=".1"/>
      <geom name="ball" size=".6" condim="1" contype="2"/><site name="skin" size=".7"/>
      <body pos="0 0 .2">
        <joint name="flap" axis="0 1 0" range="-5 5" limited="true"/>
        <geom size=".03" pos=".2 0 0" contype="0" conaffinity="0"/><site name="tip" pos=".2 0 0"/>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="slide" joint2="flap" polycoef="0 .1 0 0 0"/></equality>
  <sensor>
    <touch site="skin"/><jointlimitfrc joint="flap"/><force site="tip"/><contact geom1="ball" data="found force"/>
  </sensor>
</mujoco>
"""

_SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".07 .08"',
    "ellipsoid": 'type="ellipsoid" size=".1 .12 .09"',
    "cylinder": 'type="cylinder" size=".1 .09"',
    "box": 'type="box" size=".1 .09 .11"',
    "mesh": 'type="mesh" mesh="wedge"',
}
_MESH = '<mesh name="wedge" vertex="-.1 -.1 -.1  .12 -.1 -.1  0 .12 -.1  0 0 .12"/>'
_FIELD = '<hfield name="hills" nrow="3" ncol="3" size=".5 .5 .1 .1" elevation="0 .2 0  .3 1 .1  0 .4 0"/>'

CROWD = f"""
<mujoco model="crowd">
  <asset>{_MESH}{_FIELD}</asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/><geom name="hills" type="hfield" hfield="hills" pos="0 0 .02"/>
    {
    "".join(
        f'<body pos="{0.12 * (n % 3) - 0.12:g} {0.12 * (n % 2):g} {0.1 + 0.1 * (n // 3):g}" euler="{9 * n} 20 {n}">'
        f"<freejoint/><geom {shape}/></body>"
        for n, shape in enumerate([*_SHAPES.values(), *_SHAPES.values()])
    )
}
  </worldbody>
</mujoco>
"""
"""Two geoms of every type in a heap, on a plane and on a height field: all pairs of shapes."""

SOFT = f"""
<mujoco model="soft">
  <option timestep="0.002"/>
  <asset>{_MESH}{_FIELD}</asset>
  <worldbody>
    <geom type="plane" size="2 2 .1" pos="0 0 -.1"/><geom type="hfield" hfield="hills" pos="0 0 -.15"/>
    {"".join(f'<geom {shape} pos="{0.1 * n - 0.2:g} 0 -.08"/>' for n, shape in enumerate(_SHAPES.values()))}
    <flexcomp name="cord" type="grid" count="4 1 1" spacing=".1 .1 .1" dim="1" radius=".02" mass=".1">
      <edge stiffness="50" damping=".5"/><contact selfcollide="none"/>
    </flexcomp>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".02" mass=".2" pos="0 0 .05">
      <elasticity young="3e3" poisson=".2" thickness=".01" damping=".01" elastic2d="both"/>
      <contact selfcollide="none"/>
    </flexcomp>
    <flexcomp name="jelly" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" radius=".02" mass=".3" pos="0 .1 .1">
      <elasticity young="2e3" poisson=".2" damping=".01"/><contact selfcollide="none"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""
"""A cord, a cloth and a solid that meet geoms of every type and each other."""

SLEEPY = """
<mujoco model="sleepy">
  <option timestep="0.004"><flag sleep="enable"/></option>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .1"><freejoint/><geom size=".1"/></body><body pos=".15 0 .1"><freejoint/><geom size=".1"/></body>
    <body pos="1 0 .5"><joint axis="0 1 0" damping=".1"/><geom size=".1" pos=".2 0 0"/></body>
  </worldbody>
</mujoco>
"""

IMPLICIT = """
<mujoco model="implicit">
  <option timestep="0.01" integrator="implicit" density="1.2" viscosity=".1"><flag constraint="disable"/></option>
  <worldbody>
    <body pos="0 0 1"><joint name="a" axis="0 1 0" damping="2"/><geom type="capsule" size=".05 .2" pos=".2 0 0"/>
      <body pos=".4 0 0"><joint type="ball" damping=".3"/><geom type="box" size=".1 .2 .05"/></body></body>
  </worldbody>
  <actuator><velocity joint="a" kv="3"/></actuator>
</mujoco>
"""

LIGHT = {"resting": RESTING}
"""Tried before FURTHER on backends that compile: a kernel with the solver takes long for models with more in them."""

FURTHER = {"wet": WET, "touching": DRY, "sticky": STICKY, "slippery": SLIPPERY}

COLLECTION = {**FURTHER, "implicit": IMPLICIT, "sleepy": SLEEPY, "crowd": CROWD, "soft": SOFT}
"""What a certificate tries besides: also sleeping, derivatives, all pairs of shapes, and flexes."""

SAMPLES = {"chain": CHAIN, "loose": LOOSE, "still": STILL, "undriven": UNDRIVEN, "void": VOID}
ZERO_SIZED = ("still", "undriven", "void")


@lru_cache(maxsize=64)
def compiled(text: str) -> Model:
    """The Model of an MJCF text; compiled once, so treat it as read-only."""
    import dovetail

    return dovetail.loads(text)


def sample(name: str) -> Model:
    """A sample model by name."""
    return compiled({**SAMPLES, **LIGHT, **COLLECTION}[name])
