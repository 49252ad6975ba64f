"""Models that pictures are made of in these tests: name, MJCF, camera. Round shapes are finely faceted in MuJoCo's
pictures, so that its facets are not what is compared."""

from __future__ import annotations

import numpy as np

FINE = "<visual><quality numslices='128' numstacks='64'/></visual>"
LIGHT = "<light pos='0 0 4' dir='0.2 0.1 -1' diffuse='.6 .6 .6'/>"

SHAPES = f"""<mujoco>{FINE}<worldbody>{LIGHT}
  <geom type='plane' size='4 4 .1' rgba='.6 .7 .6 1'/>
  <geom type='sphere' size='.3' pos='0 0 .3' rgba='1 .3 .2 1'/>
  <geom type='capsule' size='.15 .3' pos='.8 0 .5' euler='30 40 0' rgba='.2 .3 1 1'/>
  <geom type='ellipsoid' size='.3 .2 .15' pos='-.8 0 .4' euler='20 0 50'/>
  <geom type='cylinder' size='.2 .3' pos='0 .9 .3' rgba='1 1 0 1'/>
  <geom type='box' size='.2 .3 .15' pos='0 -.9 .3' euler='0 20 30' rgba='0 .8 .4 1'/>
  <geom type='box' size='.2 .2 .2' pos='1 -1 .4' rgba='1 0 0 .4'/>
  <geom type='sphere' size='.3' pos='-1 -1 .4' rgba='0 0 1 .5'/>
</worldbody></mujoco>"""

MESHES = f"""<mujoco><asset>
  <mesh name='m' builtin='supersphere' params='24 .6 .6' scale='.4 .4 .4'/>
  <texture name='sky' type='skybox' builtin='gradient' rgb1='.3 .5 .7' rgb2='0 0 0' width='64' height='64'/>
  <texture name='t' type='2d' builtin='checker' rgb1='.2 .3 .4' rgb2='.1 .2 .3' width='64' height='64'/>
  <material name='floor' texture='t' texrepeat='2 2' texuniform='true' reflectance='.2'/>
</asset><worldbody>{LIGHT}
  <geom type='plane' size='0 0 .1' material='floor'/>
  <geom type='mesh' mesh='m' pos='0 0 .6' rgba='.8 .4 .3 1'/>
</worldbody></mujoco>"""

TERRAIN = f"""<mujoco><asset><hfield name='h' nrow='5' ncol='6' size='2 1.5 .8 .2'
    elevation='0 1 2 1 0 1 1 3 2 0 1 0 0 4 2 1 0 1 1 2 2 1 1 3 0 1 0 0 1 0'/></asset>
  <worldbody>{LIGHT}<geom type='hfield' hfield='h' rgba='.4 .6 .3 1'/><geom size='.2' pos='0 0 1'/>
  <camera name='c' pos='0 -5 3' xyaxes='1 0 0 0 .5 .87'/></worldbody></mujoco>"""

FLEXES = f"""<mujoco><worldbody>{LIGHT}<geom type='plane' size='2 2 .1'/>
  <flexcomp name='f' type='grid' count='6 6 1' spacing='.2 .2 .2' pos='0 0 .8' euler='10 20 0' radius='.02' dim='2'
    rgba='.8 .3 .3 1'><edge equality='true'/></flexcomp>
  <flexcomp name='g' type='grid' count='3 3 3' spacing='.15 .15 .15' pos='1 0 .6' radius='.02' dim='3'
    rgba='.3 .3 .8 1'/>
</worldbody></mujoco>"""

TENDONS = f"""<mujoco>{FINE}<worldbody>{LIGHT}<site name='a' pos='-.8 0 1'/>
  <body pos='0 0 .5'><joint axis='0 1 0'/><geom name='w' type='cylinder' size='.2 .3' euler='90 0 0'/>
    <site name='b' pos='.8 0 -.2' size='.05' rgba='1 0 0 1'/><site name='s' pos='0 .1 .5'/></body>
  <camera name='c' pos='0 -4 1' xyaxes='1 0 0 0 0 1' mode='track'/></worldbody>
  <tendon><spatial width='.02' rgba='0 1 0 1'><site site='a'/><geom geom='w' sidesite='s'/><site site='b'/></spatial>
</tendon></mujoco>"""

LENSES = f"""<mujoco><worldbody>{LIGHT}<geom type='plane' size='2 2 .1'/>
  <body pos='0 0 .5'><freejoint/><geom type='box' size='.2 .2 .2'/>
    <geom type='capsule' size='.1 .2' pos='.5 0 0'/></body>
  <camera name='lens' pos='0 -2 1.5' xyaxes='1 0 0 0 .6 .8' focal='0.02 0.02' sensorsize='0.03 0.02'
    principal='0.002 0.001' resolution='96 64'/>
  <camera name='flat' pos='0 -2 1.5' xyaxes='1 0 0 0 .6 .8' orthographic='true' fovy='3'/></worldbody></mujoco>"""

OWN: dict[str, tuple[str, int | str]] = {
    "shapes": (SHAPES, -1),
    "meshes": (MESHES, -1),
    "terrain": (TERRAIN, "c"),
    "flexes": (FLEXES, -1),
    "tendons": (TENDONS, "c"),
    "lens": (LENSES, "lens"),
    "orthographic": (LENSES, "flat"),
}
"""Written here; they load in no time."""

ROBOTS: dict[str, tuple[str, int | str]] = {
    "humanoid of dm_control": ("dm_control/suite/humanoid.xml", 0),
    "quadruped of dm_control": ("dm_control/suite/quadruped.xml", -1),
    "dog of dm_control, a skin": ("dm_control/suite/dog.xml", 0),
    "finger of dm_control": ("dm_control/suite/finger.xml", 0),
    "ant of gymnasium": ("gymnasium/envs/mujoco/assets/ant.xml", -1),
    "humanoid of gymnasium": ("gymnasium/envs/mujoco/assets/humanoid.xml", 0),
    "pusher of gymnasium": ("gymnasium/envs/mujoco/assets/pusher_v5.xml", -1),
}
"""From installed packages: path in site-packages, camera."""


def unlike(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Largest difference of two pictures at each pixel, in levels of 255."""
    return np.abs(first.astype(int) - second.astype(int)).max(axis=-1)
