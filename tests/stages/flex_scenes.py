"""Small models with flexes that touch: geoms of every type, other flexes, themselves."""

from __future__ import annotations

import numpy as np

DIMS = (1, 2, 3)
COUNT = {1: "8 1 1", 2: "5 4 1", 3: "3 4 3"}

_ELEVATION = " ".join(f"{value:.3f}" for value in np.random.default_rng(0).random(81))

ASSETS = f"""<asset>
  <mesh name="lump" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .12 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .14"/>
  <hfield name="hills" nrow="9" ncol="9" size=".4 .4 .1 .1" elevation="{_ELEVATION}"/></asset>"""

_TURNED = 'euler="30 50 10"'
GEOMS = {
    "plane": '<geom type="plane" size="1 1 1" pos="0 0 .06" euler="5 9 0"/>',
    "hfield": '<geom type="hfield" hfield="hills" euler="4 3 20"/>',
    "sphere": '<geom size=".1"/>',
    "capsule": f'<geom type="capsule" size=".06 .1" {_TURNED}/>',
    "ellipsoid": f'<geom type="ellipsoid" size=".1 .15 .08" {_TURNED}/>',
    "cylinder": f'<geom type="cylinder" size=".1 .08" {_TURNED}/>',
    "box": f'<geom type="box" size=".1 .12 .08" {_TURNED}/>',
    "mesh": f'<geom type="mesh" mesh="lump" {_TURNED}/>',
    "sdf": f'<geom type="sdf" mesh="lump" {_TURNED}/>',
}

ALONE = 'selfcollide="none" internal="false"'


def flex(
    name: str, dim: int, contact: str = ALONE, *, pos: str = "0 0 0", more: str = "", count: str = ""
) -> str:
    """A grid of vertices."""
    return (
        f'<flexcomp name="{name}" type="grid" count="{count or COUNT[dim]}" spacing=".06 .06 .06" dim="{dim}" '
        f'radius=".015" mass="1" pos="{pos}"><contact {contact}/>{more}</flexcomp>'
    )


def document(world: str, flags: str = "", margin: float = 0.0, contact: str = "") -> str:
    return (
        f'<mujoco><option><flag {flags}/></option>{ASSETS}<default><geom margin="{margin}"/></default>'
        f"<worldbody>{world}</worldbody><contact>{contact}</contact></mujoco>"
    )


def on_geom(kind: str, dim: int, *, margin: float = 0.0, flags: str = "", contact: str = "") -> str:
    """A flex over a geom of the world."""
    body = f'<body name="p" pos="0 0 .08">{flex("f", dim, f"{ALONE} {contact}")}</body>'
    return document(GEOMS[kind] + body, flags, margin)


def two_flexes(dim1: int, dim2: int, *, margin: float = 0.0, flags: str = "") -> str:
    first = flex("f", dim1, f'{ALONE} margin="{margin}"')
    second = flex("g", dim2, pos=".02 .01 .015")
    return document(f'<body name="p">{first}{second}</body>', flags)


def crowd(flags: str = "", margin: float = 0.01) -> str:
    """Bodies with one geom and with several, explicit pairs, an exclusion, masks, and five flexes: pinned to a moving
    body, with balls at its vertices, solid, interpolated, and with the masks of few."""
    cloth = flex(
        "cloth", 2, f'selfcollide="auto" internal="true" margin="{margin}"', more='<pin id="0 1 2"/>'
    )
    rope = flex("rope", 1, 'selfcollide="auto" vertcollide="true"', pos="0 0 .05")
    soft = flex("soft", 3, 'selfcollide="bvh" internal="true"', pos="0 0 .1", count="3 3 3")
    smooth = flex("smooth", 3, f'{ALONE} contype="3" conaffinity="2"', pos=".1 0 .1", count="3 3 4").replace(
        "<flexcomp", '<flexcomp dof="trilinear"'
    )
    world = f"""
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -.05"/>
    <geom name="ball" size=".05" pos=".1 .1 0"/>
    <geom type="hfield" hfield="hills" pos="0 0 -.12"/>
    <body pos="0 .1 0"><geom type="plane" size="1 1 1" euler="40 0 0" contype="2" conaffinity="2"/>
      <geom type="box" size=".05 .05 .05" contype="2" conaffinity="1"/></body>
    <body name="a" pos="0 0 .05"><freejoint/><geom name="a1" type="capsule" size=".03 .1"/>
      <geom type="box" size=".04 .04 .04" pos="0 0 .1" margin="{margin}"/>{cloth}</body>
    <body name="b" pos=".1 0 .05"><freejoint/><geom name="b1" type="ellipsoid" size=".05 .06 .07"/></body>
    <body name="c" pos=".1 .1 .05"><freejoint/><geom name="c1" type="cylinder" size=".05 .06"/>
      <geom name="c2" size=".05" pos="0 0 .05" gap=".005" margin=".01"/></body>
    <body name="q">{rope}</body><body name="r">{soft}</body><body name="s">{smooth}</body>
    <body mocap="true" pos="0 0 .2"><geom size=".05"/></body>"""
    contact = """<pair geom1="b1" geom2="c1"/><pair geom1="a1" geom2="floor" margin=".1"/>
      <exclude body1="a" body2="c"/><pair geom1="c2" geom2="ball"/>"""
    return document(world, flags, contact=contact)
