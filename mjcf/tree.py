"""The typed tree between XML and arrays: one class per kind of element.

Field names are MJCF's attribute names and field defaults are MuJoCo's built-in ones (`mjs_default…`), so a
default class is simply one instance of each, and reading an element means copying that instance and laying
the written attributes over it. Lengths in metres, masses in kilograms, angles as written until compiled.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import attrs

from dovetail.contracts.enums import (
    AutoBool,
    CamLight,
    ColorSpace,
    GeomType,
    JointType,
    LightType,
    TextureBuiltin,
    TextureType,
)
from dovetail.mjcf.compose.key_layout import Layout
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN
from dovetail.mjcf.read.kinds import Vec
from dovetail.mjcf.read.source import Node

SOLREF: Vec = (0.02, 1.0)
SOLIMP: Vec = (0.9, 0.95, 0.001, 0.5, 2.0)
ORIENTATIONS = ("axisangle", "xyaxes", "zaxis", "euler")

T = TypeVar("T", bound="Item")


@attrs.define(eq=False, kw_only=True)
class Item:
    """What every element has: a place in the file, a name, a number."""

    node: Node | None = None
    name: str = ""
    id: int = -1

    @property
    def place(self) -> Node:
        """Where to point an error message."""
        assert self.node is not None
        return self.node


@attrs.define(eq=False, kw_only=True)
class Frame:
    """A `<frame>`, composed with the frames around it: pose in the body that owns its contents."""

    pos: Vec = ORIGIN
    quat: Vec = IDENTITY


@attrs.define(eq=False, kw_only=True)
class Posed(Item):
    """Something with a pose in a body; `alt` is an orientation written in another way than `quat`."""

    pos: Vec = ORIGIN
    quat: Vec = IDENTITY
    alt: tuple[str, Vec] | None = None
    frame: Frame | None = None
    bodyid: int = -1
    user: Vec = ()


@attrs.define(eq=False, kw_only=True)
class Joint(Item):
    type: int = JointType.HINGE
    pos: Vec = ORIGIN
    axis: Vec = (0.0, 0.0, 1.0)
    group: int = 0
    limited: int = AutoBool.AUTO
    range: Vec = (0.0, 0.0)
    actuatorfrclimited: int = AutoBool.AUTO
    actuatorfrcrange: Vec = (0.0, 0.0)
    actuatorgravcomp: bool = False
    solreflimit: Vec = SOLREF
    solimplimit: Vec = SOLIMP
    solreffriction: Vec = SOLREF
    solimpfriction: Vec = SOLIMP
    stiffness: float = 0.0
    springdamper: Vec = (0.0, 0.0)
    margin: float = 0.0
    ref: float = 0.0
    springref: float = 0.0
    armature: float = 0.0
    damping: float = 0.0
    frictionloss: float = 0.0
    align: int = AutoBool.AUTO
    user: Vec = ()
    frame: Frame | None = None
    bodyid: int = -1
    qposadr: int = -1
    dofadr: int = -1

    @property
    def nq(self) -> int:
        return {JointType.FREE: 7, JointType.BALL: 4}.get(JointType(self.type), 1)

    @property
    def nv(self) -> int:
        return {JointType.FREE: 6, JointType.BALL: 3}.get(JointType(self.type), 1)


@attrs.define(eq=False, kw_only=True)
class Geom(Posed):
    type: int = GeomType.SPHERE
    size: Vec = ORIGIN
    fromto: Vec | None = None
    group: int = 0
    contype: int = 1
    conaffinity: int = 1
    condim: int = 3
    priority: int = 0
    friction: Vec = (1.0, 0.005, 0.0001)
    solmix: float = 1.0
    solref: Vec = SOLREF
    solimp: Vec = SOLIMP
    margin: float = 0.0
    gap: float = 0.0
    mass: float | None = None
    density: float = 1000.0
    shellinertia: bool = False
    material: str = ""
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    fluidshape: str = "none"
    fluidcoef: Vec = (0.5, 0.25, 1.5, 1.0, 1.0)
    mesh: str = ""
    hfield: str = ""
    fitscale: float = 1.0
    matid: int = -1
    dataid: int = -1
    """Number of the mesh or height field."""
    computed_mass: float = 0.0
    """Mass that counts towards the body, kg."""
    inertia: Vec = ORIGIN
    """Principal moments about the geom's centre, kg·m²."""
    aabb: Vec = (0.0,) * 6
    rbound: float = 0.0
    plugin: int = -1


@attrs.define(eq=False, kw_only=True)
class Site(Posed):
    type: int = GeomType.SPHERE
    size: Vec = (0.005, 0.005, 0.005)
    fromto: Vec | None = None
    group: int = 0
    material: str = ""
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    matid: int = -1


@attrs.define(eq=False, kw_only=True)
class Camera(Posed):
    mode: int = CamLight.FIXED
    target: str = ""
    orthographic: bool = False
    fovy: float = 45.0
    ipd: float = 0.068
    resolution: tuple[int, int] = (1, 1)
    focal: Vec = (0.0, 0.0)
    focalpixel: Vec = (0.0, 0.0)
    principal: Vec = (0.0, 0.0)
    principalpixel: Vec = (0.0, 0.0)
    sensorsize: Vec = (0.0, 0.0)
    intrinsic: Vec = (0.0,) * 4
    targetbodyid: int = -1


@attrs.define(eq=False, kw_only=True)
class Light(Item):
    mode: int = CamLight.FIXED
    target: str = ""
    texture: str = ""
    type: int = LightType.SPOT
    castshadow: bool = True
    active: bool = True
    pos: Vec = ORIGIN
    dir: Vec = (0.0, 0.0, -1.0)
    bulbradius: float = 0.02
    intensity: float = 0.0
    range: float = 10.0
    attenuation: Vec = (1.0, 0.0, 0.0)
    cutoff: float = 45.0
    exponent: float = 10.0
    ambient: Vec = ORIGIN
    diffuse: Vec = (0.7, 0.7, 0.7)
    specular: Vec = (0.3, 0.3, 0.3)
    frame: Frame | None = None
    bodyid: int = -1
    targetbodyid: int = -1
    texid: int = -1


@attrs.define(eq=False, kw_only=True)
class Texture(Item):
    type: int = TextureType.CUBE
    colorspace: int = ColorSpace.AUTO
    content_type: str = ""
    gridsize: tuple[int, int] = (1, 1)
    gridlayout: str = ""
    builtin: int = TextureBuiltin.NONE
    rgb1: Vec = (0.8, 0.8, 0.8)
    rgb2: Vec = (0.5, 0.5, 0.5)
    mark: str = "none"
    markrgb: Vec = ORIGIN
    random: float = 0.01
    width: int = 0
    height: int = 0
    nchannel: int = 3
    hflip: bool = False
    vflip: bool = False
    file: str = ""
    data: Any = None
    """Pixels, rows × columns × channels."""


@attrs.define(eq=False, kw_only=True)
class Material(Item):
    layers: dict[int, str] = attrs.field(factory=dict)
    """Role → name of a texture."""
    texid: tuple[int, ...] = ()
    texrepeat: Vec = (1.0, 1.0)
    texuniform: bool = False
    emission: float = 0.0
    specular: float = 0.5
    shininess: float = 0.5
    reflectance: float = 0.0
    metallic: float = -1.0
    roughness: float = -1.0
    rgba: Vec = (1.0, 1.0, 1.0, 1.0)


@attrs.define(eq=False, kw_only=True)
class Body(Posed):
    parent: Body | None = None
    mocap: bool = False
    gravcomp: float = 0.0
    sleep: int = 0
    explicit_inertial: bool = False
    mass: float = 0.0
    inertia: Vec = ORIGIN
    ipos: Vec | None = None
    iquat: Vec = IDENTITY
    joints: list[Joint] = attrs.field(factory=list)
    geoms: list[Geom] = attrs.field(factory=list)
    sites: list[Site] = attrs.field(factory=list)
    cameras: list[Camera] = attrs.field(factory=list)
    lights: list[Light] = attrs.field(factory=list)
    has_children: bool = False
    plugin: int = -1
    weldid: int = 0
    mocapid: int = -1

    @property
    def parentid(self) -> int:
        return self.parent.id if self.parent else 0

    @property
    def dofnum(self) -> int:
        return sum(joint.nv for joint in self.joints)


@attrs.define(eq=False, kw_only=True)
class Actuator(Item):
    group: int = 0
    ctrllimited: int = AutoBool.AUTO
    ctrlrange: Vec = (0.0, 0.0)
    forcelimited: int = AutoBool.AUTO
    forcerange: Vec = (0.0, 0.0)
    actlimited: int = AutoBool.AUTO
    actrange: Vec = (0.0, 0.0)
    lengthrange: Vec = (0.0, 0.0)
    gear: Vec = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    cranklength: float = 0.0
    dyntype: int = 0
    gaintype: int = 0
    biastype: int = 0
    dynprm: Vec = (1.0, *(0.0,) * 9)
    gainprm: Vec = (1.0, *(0.0,) * 9)
    biasprm: Vec = (0.0,) * 10
    actdim: int = -1
    actearly: bool = False
    inheritrange: float = 0.0
    user: Vec = ()
    trntype: int = 0
    trnid: tuple[int, int] = (-1, -1)
    actadr: int = -1
    plugin: int = -1


@attrs.define(eq=False, kw_only=True)
class Numeric(Item):
    data: Vec = ()


@attrs.define(eq=False, kw_only=True)
class TextField(Item):
    data: str = ""


@attrs.define(eq=False, kw_only=True)
class TupleField(Item):
    elements: list[tuple[int, str, float, Node]] = attrs.field(factory=list)
    """Object type, object name, parameter, place."""
    objid: list[int] = attrs.field(factory=list)


@attrs.define(eq=False, kw_only=True)
class Key(Item):
    time: float = 0.0
    qpos: Vec | None = None
    qvel: Vec | None = None
    act: Vec | None = None
    ctrl: Vec | None = None
    mpos: Vec | None = None
    mquat: Vec | None = None
    layout: Layout | None = None
    """Whose numbers these are, if the key was copied with a part of a model."""


def overlay(item: Item, values: dict[str, Any]) -> None:
    """Lay parsed attributes over an item: a vector with fewer values leaves the rest as it was."""
    for name, value in values.items():
        if name in ORIENTATIONS:
            setattr(item, "alt", (name, value))  # noqa: B010 - only posed items have orientations
        elif name in ("class", "childclass"):
            continue
        elif name == "mass" and math.isnan(value):
            setattr(
                item, name, None
            )  # as in MuJoCo, where nan stands for a mass that follows from the density
        else:
            setattr(item, name, _laid_over(getattr(item, name), value, name))


def _laid_over(old: Any, new: Any, name: str) -> Any:
    if isinstance(old, tuple) and isinstance(new, tuple) and name != "user":
        return new + old[len(new) :]
    return new
