"""Models on which the tests of a new package see its implementation at work: one for every slot."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from dovetail.backend import REFERENCE
from dovetail.config import Config
from dovetail.errors import SelectionError
from dovetail.loading import load, loads
from dovetail.planning.planner import compile_plan
from dovetail.testing.samples import COLLECTION, LIGHT, SAMPLES

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.registry import Registry

HUMANOID = "humanoid"
"""The built-in model that is tried first."""

_FIELDS = ("torus", "bolt", "bowl", "gear", "nut")

SDF = f"""
<mujoco model="fields">
  <option sdf_initpoints="4" sdf_iterations="4"/>
  <extension>{
    "".join(f'<plugin plugin="mujoco.sdf.{name}"><instance name="{name}"/></plugin>' for name in _FIELDS)
}</extension>
  <asset>
    <mesh name="wedge" vertex="-.1 -.1 -.1  .12 -.1 -.1  0 .12 -.1  0 0 .12"/>
    <hfield name="hills" nrow="3" ncol="3" size=".5 .5 .1 .1" elevation="0 .2 0  .3 1 .1  0 .4 0"/>
    {"".join(f'<mesh name="{name}"><plugin instance="{name}"/></mesh>' for name in _FIELDS)}
  </asset>
  <default><geom contype="1" conaffinity="2"/><default class="field"><geom type="sdf" contype="2" conaffinity="3"/>
  </default></default>
  <worldbody>
    <geom type="plane" size="2 2 .1"/><geom type="hfield" hfield="hills"/>
    {
    "".join(
        f'<body pos="{0.1 * n} 0 .1"><freejoint/><geom class="field" mesh="{name}"><plugin instance="{name}"/></geom>'
        "</body>"
        for n, name in enumerate(_FIELDS)
    )
}
    {
    "".join(
        f'<geom {shape} pos="{0.1 * n} .05 .1"/>'
        for n, shape in enumerate(
            (
                'type="sphere" size=".1"',
                'type="capsule" size=".07 .08"',
                'type="ellipsoid" size=".1 .12 .09"',
                'type="cylinder" size=".1 .09"',
                'type="box" size=".1 .09 .11"',
                'type="mesh" mesh="wedge"',
            )
        )
    )
}
    {
    "".join(
        f'<flexcomp name="flex{dim}" type="grid" count="{count}" spacing=".1 .1 .1" dim="{dim}" radius=".02" '
        f'mass=".1" pos=".2 0 .1"><contact selfcollide="none" contype="1" conaffinity="2"/></flexcomp>'
        for dim, count in ((1, "3 1 1"), (2, "2 2 1"), (3, "2 2 2"))
    )
}
  </worldbody>
</mujoco>
"""

FLEXES = f"""
<mujoco model="flexes">
  <worldbody>
    {
    "".join(
        f'<flexcomp name="flex{dim}{twin}" type="grid" count="{count}" spacing=".1 .1 .1" dim="{dim}" radius=".03" '
        f'mass=".1" pos="0 {0.02 * twin} {0.01 * dim}"><contact selfcollide="narrow" internal="true"/></flexcomp>'
        for dim, count in ((1, "6 1 1"), (2, "3 3 1"), (3, "3 2 2"))
        for twin in (0, 1)
    )
}
  </worldbody>
</mujoco>
"""

PASSIVE = """
<mujoco model="passive">
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <flexcomp name="sheet" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".02" mass=".2" pos="0 0 .01">
      <contact selfcollide="none" passive="true"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""

CABLE = """
<mujoco model="cable">
  <extension><plugin plugin="mujoco.elasticity.cable"><instance name="wire">
    <config key="twist" value="1e6"/><config key="bend" value="1e6"/></instance></plugin></extension>
  <worldbody>
    <composite type="cable" curve="s" count="6 1 1" size="1" offset="0 0 1" initial="none">
      <plugin plugin="mujoco.elasticity.cable" instance="wire"/>
      <joint kind="main" damping=".01"/><geom type="capsule" size=".01"/>
    </composite>
  </worldbody>
</mujoco>
"""

DRIVEN = """
<mujoco model="driven">
  <extension><plugin plugin="mujoco.pid"><instance name="pid"><config key="kp" value="3"/><config key="ki" value="1"/>
    <config key="kd" value=".1"/></instance></plugin></extension>
  <worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
  <actuator>
    <general joint="a" dyntype="user" actdim="1" gaintype="user" biastype="user"/>
    <plugin joint="a" plugin="mujoco.pid" instance="pid" actdim="1"/>
  </actuator>
</mujoco>
"""

FELT = """
<mujoco model="felt">
  <extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
  <asset><mesh name="plate" builtin="plate" params="4 4" scale=".15 .15 .15"/></asset>
  <worldbody>
    <geom type="plane" size="5 5 .1" pos="0 0 -.04"/>
    <body><freejoint/><geom name="pad" type="box" size=".2 .2 .05"/><site name="face" pos="0 0 .06"/></body>
    <body pos="0 0 .09"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <sensor><tactile mesh="plate" geom="pad"/>
    <plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="face"><config key="size" value="3 3"/>
      <config key="fov" value="90 90"/><config key="gamma" value="0"/><config key="nchannel" value="1"/></plugin>
  </sensor>
</mujoco>
"""

MODELS = {
    **SAMPLES,
    **LIGHT,
    **COLLECTION,
    "passive": PASSIVE,
    "cable": CABLE,
    "driven": DRIVEN,
    "felt": FELT,
    "flexes": FLEXES,
    "fields": SDF,
}

AT_HAND = frozenset((HUMANOID, *SAMPLES.values(), *LIGHT.values(), *COLLECTION.values()))
"""Those that `dovetail certify` tries as well."""


def trial(slot: str, label: str, registry: Registry) -> str | None:
    """The name of the built-in model, or MJCF, in which a slot runs as labelled; None if no step runs it."""
    for name in (HUMANOID, *MODELS):
        runs = _run_in(name).get(slot)
        if runs is not None and (runs == label or _handles(name, slot, label, registry)):
            return name if name == HUMANOID else MODELS[name]
    return None


@cache
def _run_in(name: str) -> dict[str, str]:
    """What runs in a step of a model, by slot."""
    plan = compile_plan(_model(name), Config.of_call({}, backend=REFERENCE))
    return {slot: choice.record.label for slot, choice in plan.choices.items()}


def _handles(name: str, slot: str, label: str, registry: Registry) -> bool:
    """Whether an implementation that the model does not take by itself can run in it."""
    try:
        compile_plan(_model(name), Config.of_call({slot: label}, backend=REFERENCE), registry=registry)
    except SelectionError:
        return False
    return True


@cache
def _model(name: str) -> Model:
    return load(name) if name == HUMANOID else loads(MODELS[name])


# ---- what runs while a model is loaded

_CORNERS = ((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.2))
_SIDES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))

OBJ = "".join(
    [f"v {x} {y} {z}\n" for x, y, z in _CORNERS] + [f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in _SIDES]
).encode()
STL = bytes(80) + struct.pack("<I", len(_SIDES))
STL += b"".join(
    struct.pack("<12fH", 0, 0, 0, *(number for corner in side for number in _CORNERS[corner]), 0)
    for side in _SIDES
)
MSH = struct.pack("<4i", len(_CORNERS), 0, 0, len(_SIDES))
MSH += struct.pack("<12f", *(number for corner in _CORNERS for number in corner))
MSH += struct.pack("<12i", *(corner for side in _SIDES for corner in side))
GMSH = (
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n"
    + "".join(f"{x} {y} {z}\n" for x, y, z in _CORNERS)
    + "$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"
).encode()
MESHES = {".obj": OBJ, ".stl": STL, ".msh": MSH}

_OF_FILE = """
<mujoco>
  <asset><mesh name="tetrahedron" file="{file}" inertia="convex"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="tetrahedron"/></body></worldbody>
</mujoco>
"""
_OF_MESH = """
<mujoco>
  <asset><mesh name="wedge" inertia="{key}" vertex="0 0 0  .4 0 0  0 .2 0  0 0 .6"
    face="0 2 1  0 1 3  0 3 2  1 2 3"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="wedge"/></body></worldbody>
</mujoco>
"""
_OF_GEOM = """
<mujoco>
  <worldbody>
    <body><freejoint/><geom type="{key}" size=".1 .2 .3"/></body>
  </worldbody>
</mujoco>
"""
_OF_FLEX = """
<mujoco>
  <worldbody><body name="holder"><flexcomp name="flex" type="{key}" {more} radius=".01" mass="1"/></body></worldbody>
</mujoco>
"""
_PLACED = 'spacing=".1 .1 .1"'
_FLEXES = {
    "grid": f'dim="2" count="3 3 1" {_PLACED}',
    "circle": f'dim="1" count="8 1 1" {_PLACED}',
    **dict.fromkeys(("square", "disc"), f'dim="2" count="5 5 1" {_PLACED}'),
    **dict.fromkeys(("box", "cylinder", "ellipsoid"), f'dim="3" count="4 4 4" {_PLACED}'),
    "mesh": 'dim="2" file="tetrahedron.obj"',
    "gmsh": 'dim="3" file="tetrahedron.msh"',
    "direct": 'dim="1" point="0 0 0  .1 0 0  .2 0 0" element="0 1  1 2"',
}
_PULLED = """
<mujoco>
  <worldbody><body><joint name="a" axis="0 1 0" range="-60 60" limited="true" damping="1"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 0 .4"/></body></worldbody>
  <actuator><muscle joint="a"/></actuator>
</mujoco>
"""


def loading_trial(stage: str, key: str | None) -> tuple[str, dict[str, bytes]]:
    """MJCF that needs a row of a stage of loading, with its files."""
    if stage == "load_mesh":
        return _OF_FILE.format(file=f"tetrahedron{key}"), {f"tetrahedron{key}": MESHES.get(str(key), OBJ)}
    if stage == "flex_build":
        more = _FLEXES.get(str(key), _FLEXES["grid"])
        assets = (
            {"tetrahedron.obj": OBJ} if key == "mesh" else {"tetrahedron.msh": GMSH} if key == "gmsh" else {}
        )
        return _OF_FLEX.format(key=key, more=more), assets
    text = {"mesh_inertia": _OF_MESH, "geom_inertia": _OF_GEOM}.get(stage, _PULLED)
    return text.format(key=key), {}
