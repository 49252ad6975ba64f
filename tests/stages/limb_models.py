"""Models for the lane stages beyond the plain smooth step: tendons of all kinds, every transmission that lanes know,
muscles, a medium, gravity compensation, sensors."""

from __future__ import annotations

OPTION = '<option timestep=".003" {}><flag constraint="disable" energy="enable"/></option>'

WORLD = """
<worldbody>
  <camera name="still" pos="1 1 1" mode="targetbody" target="arm"/>
  <light name="lamp" mode="targetbodycom" target="arm" pos="0 0 3"/>
  <site name="post" pos="0 0 1.2"/><site name="post2" pos="0.3 0.2 1.5"/>
  <geom name="peg" type="cylinder" size=".07 .2" pos=".3 .05 1.1" euler="80 20 0"/>
  <body name="arm" pos="0 0 1">
    <joint name="turn" axis="0 1 0" armature=".01"/><joint name="reach" type="slide" axis="1 0 .2"/>
    <geom name="drum" type="cylinder" size="0.1 .1" pos="0.2 0 0" euler="20 70 0"/>
    <site name="end" pos="0.4 0 0"/><site name="beside" pos=".2 .3 .1"/><site name="in_drum" pos=".2 .02 .01"/>
    <camera name="chaser" pos="0 .1 .2" mode="trackcom"/><camera name="rider" pos="0 .1 .2" euler="10 20 30"/>
    <camera name="follower" mode="track"/><light name="torch" mode="track" dir="1 1 -1"/>
    <light name="ray" dir="1 1 -1"/><camera name="watcher" mode="targetbodycom" target="box"/>
    <body name="hand" pos="0.4 0 0" {hand}>
      <joint name="bend" axis="0 1 1"/><geom name="ball" size="0.1" pos="0.2 0.1 0" {ball}/>
      <site name="beside_ball" pos=".35 .2 .1"/><site name="in_ball" pos=".2 .11 .01"/>
      <site name="tip" pos="0.4 0.2 0"/>
      <body name="finger" pos=".4 .1 0" {finger}>
        <joint name="socket" type="ball" {socket}/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"/>
        <site name="far" pos=".25 .02 .03"/>
      </body>
    </body>
  </body>
  <body name="box" pos="1 1 1">
    <freejoint name="free"/><geom type="box" size=".1 .2 .15" {box}/>{more}
    <site name="fly" pos=".1 0 .05"/>
  </body>
</worldbody>
"""
PLAIN = dict.fromkeys(("hand", "ball", "finger", "socket", "box", "more"), "")

FIXED = """
<fixed name="sum" stiffness="5" damping="0.2" actuatorfrclimited="true" actuatorfrcrange="-.4 .5">
  <joint joint="turn" coef="1"/><joint joint="bend" coef="-2"/>
</fixed>
"""
SHORTEST = """
<spatial name="cord" stiffness="40" damping="0.7" springlength="0.1">
  <site site="post"/><site site="end"/><geom geom="ball"/><site site="tip"/>
</spatial>
<spatial stiffness="3" springlength=".1 .5">
  <site site="post"/><geom geom="drum"/><site site="tip"/><pulley divisor="2"/><site site="end"/>
  <geom geom="ball"/><site site="far"/><pulley divisor="3"/><site site="far"/><geom geom="peg"/><site site="fly"/>
</spatial>
"""
SIDED = """
<spatial stiffness="40"><site site="post"/><geom geom="drum" sidesite="beside"/><site site="tip"/></spatial>
<spatial damping="1"><site site="end"/><geom geom="ball" sidesite="beside_ball"/><site site="far"/></spatial>
<spatial damping="1">
  <site site="end"/><geom geom="ball" sidesite="in_ball"/><site site="far"/>
  <geom geom="drum" sidesite="in_drum"/><site site="post2"/>
</spatial>
"""
STRAIGHT = """
<spatial name="cord" armature=".2" stiffness="3" damping=".4">
  <site site="post"/><site site="end"/><site site="far"/><pulley divisor="2"/><site site="far"/><site site="fly"/>
</spatial>
<fixed name="sum" armature=".3"><joint joint="turn" coef="1"/><joint joint="bend" coef="-2"/></fixed>
<spatial><site site="post"/><geom geom="drum"/><site site="tip"/></spatial>
"""

ACTUATORS = """
<actuator>
  <motor tendon="sum" gear="2"/>
  <general tendon="cord" gear=".5" biastype="affine" biasprm="0 -3 -.4"/>
  <motor site="tip" gear="1 2 3 .1 .2 .3"/>
  <motor site="fly" refsite="far" gear="1 .3 2 .4 .5 .6"/>
  <general site="far" refsite="end" gear="1 .3 2 0 0 0" biastype="affine" biasprm="0 -1 -.1"/>
  <general cranksite="far" slidersite="end" cranklength=".4" gear="3" gaintype="affine" gainprm="1 2 -.03"/>
  <general cranksite="fly" slidersite="tip" cranklength="3" gear="3"/>
  <motor joint="turn" gear="2"/><motor jointinparent="socket" gear="1 2 3 0 0 0"/>
  <motor joint="free" gear="1 2 3 4 5 6"/>
  <position tendon="sum" kp="40" kv="1" forcelimited="true" forcerange="-.2 .2"/>
  <velocity joint="bend" kv="3"/>
  <general joint="reach" dyntype="filter" dynprm=".1" gaintype="affine" gainprm="1 2 .02"/>
  <muscle tendon="cord" lengthrange=".2 .9"/>
  <muscle joint="turn" lengthrange="-1 1" force="30" range=".6 1.2"/>
  <muscle tendon="sum" lengthrange="-2 2" tausmooth=".3"/>
</actuator>
"""

_ELLIPSOID = 'fluidshape="ellipsoid"'
WET = {
    "hand": 'gravcomp=".7"',
    "ball": _ELLIPSOID,
    "finger": 'gravcomp="1.2"',
    "socket": 'actuatorgravcomp="true"',
    "box": f'{_ELLIPSOID} fluidcoef=".4 .3 1 .8 .6"',
    "more": f"""
      <geom type="capsule" size=".05 .2" pos=".1 0 0" euler="10 20 30" {_ELLIPSOID}/>
      <geom type="cylinder" size=".05 .3" pos=".1 0 .2" euler="10 20 30" {_ELLIPSOID}/>""",
}


def model(tendons: str = "", option: str = "", rest: str = "", **attributes: str) -> str:
    world = WORLD.format(**{**PLAIN, **attributes})
    tendon = f"<tendon>{tendons}</tendon>" if tendons else ""
    return f"<mujoco>{OPTION.format(option)}{world}{tendon}{rest}</mujoco>"


OBJECTS = (
    ("body", "hand"),
    ("xbody", "hand"),
    ("geom", "ball"),
    ("site", "far"),
    ("camera", "chaser"),
    ("site", "fly"),
    ("body", "box"),
    ("camera", "watcher"),
)


def _sensors() -> str:
    joints = [
        f'<{s} joint="{j}"/>' for s in ("jointpos", "jointvel", "jointactuatorfrc") for j in ("turn", "bend")
    ]
    tendons = [
        f'<{s} tendon="{t}"/>'
        for s in ("tendonpos", "tendonvel", "tendonactuatorfrc")
        for t in ("sum", "cord")
    ]
    actuators = [
        f'<{s} actuator="{a}"/>'
        for s in ("actuatorpos", "actuatorvel", "actuatorfrc")
        for a in ("pull", "push")
    ]
    sites = [
        f'<{s} site="{x}"/>'
        for s in ("accelerometer", "velocimeter", "gyro", "magnetometer")
        for x in ("tip", "far", "fly", "post")
    ]
    frames = [
        f'<{s} objtype="{t}" objname="{n}"{reference}/>'
        for s in (
            "framepos",
            "framequat",
            "framexaxis",
            "frameyaxis",
            "framezaxis",
            "framelinvel",
            "frameangvel",
        )
        for (t, n), (u, o) in zip(OBJECTS, (*OBJECTS[1:], OBJECTS[0]), strict=True)
        for reference in ("", f' reftype="{u}" refname="{o}"')
    ]
    accelerations = [
        f'<{s} objtype="{t}" objname="{n}"/>' for s in ("framelinacc", "frameangacc") for t, n in OBJECTS
    ]
    subtrees = [
        f'<{s} body="{b}"/>'
        for s in ("subtreecom", "subtreelinvel", "subtreeangmom")
        for b in ("arm", "hand", "box", "world")
    ]
    others = [
        '<jointpos joint="turn" cutoff=".1"/>',
        '<ballquat joint="socket"/>',
        "<clock/>",
        "<e_potential/>",
    ]
    others += ['<ballangvel joint="socket" cutoff=".3"/>', "<e_kinetic/>", '<user dim="3"/>']
    rows = [*joints, *tendons, *actuators, *sites, *frames, *accelerations, *subtrees, *others]
    return f"<sensor>{''.join(rows)}</sensor>"


SENSORS = model(
    FIXED + SHORTEST,
    rest='<actuator><motor name="pull" tendon="cord"/><motor name="push" joint="turn" gear="3"/></actuator>'
    + _sensors(),
)

SPARSE = 'jacobian="sparse"'
TENDONS = {
    "fixed": model(FIXED),
    "shortest": model(FIXED + SHORTEST),
    "sided": model(SIDED),
    "sparse": model(FIXED + SHORTEST + SIDED, SPARSE),
}
ARMATURE = {"dense": model(STRAIGHT), "sparse": model(STRAIGHT, SPARSE)}
DRIVEN = {
    "dense": model(FIXED + SHORTEST, 'integrator="implicitfast"', ACTUATORS),
    "sparse": model(FIXED + SHORTEST, f'integrator="implicitfast" {SPARSE}', ACTUATORS),
}
IN_WATER = model(
    option='density="40" viscosity=".3" wind="1 -2 .5"',
    rest='<actuator><motor joint="socket" gear="1 2 3 0 0 0"/></actuator>',
    **WET,
)
IN_SYRUP = {
    name: model(option=f'integrator="{name}" density="900" viscosity="30" wind="1 -2 .5"', **WET)
    for name in ("implicitfast", "implicit")
}
"""Thick enough that a step depends on how the forces of the medium change with velocity."""

SPINNING = {
    name: model(FIXED + SHORTEST, f'integrator="{name}"', ACTUATORS) for name in ("implicitfast", "implicit")
}

LIMITED = """
<mujoco>
  <worldbody>
    <body pos="0 0 1">
      <joint name="low" axis="0 1 0" limited="true" range="-10 20" margin=".1"/><geom size=".1" pos=".2 0 0"/>
      <body pos=".4 0 0">
        <joint name="slide" type="slide" limited="true" range="-.1 .2"/>
        <joint name="ball" type="ball" limited="true" range="0 60"/><geom size=".1" pos=".2 0 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="sum" limited="true" range="-.2 .1" margin=".05">
      <joint joint="low" coef="1"/><joint joint="slide" coef="2"/>
    </fixed>
    <fixed name="still" limited="true" range="1 2"><joint joint="low" coef="0"/></fixed>
  </tendon>
  <sensor>
    <jointlimitpos joint="low"/><jointlimitpos joint="slide"/><jointlimitpos joint="ball"/>
    <jointlimitvel joint="low"/><jointlimitvel joint="slide"/>
    <jointlimitvel joint="ball"/><tendonlimitpos tendon="sum"/><tendonlimitvel tendon="sum"/>
    <tendonlimitpos tendon="still"/>
  </sensor>
</mujoco>
"""
"""Limits at either end, of a ball, of a tendon, and of one that nothing moves."""
