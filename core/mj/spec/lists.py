"""Elements outside of the tree: assets, contacts, equalities, tendons, actuators, sensors, custom data, keyframes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.errors import ArgumentError
from dovetail.mj.spec import shortcuts
from dovetail.mj.spec.element import Element
from dovetail.mj.spec.fields import Choice, Letters, Nested, Numbers, Part, Real, Text, Vector, Whole
from dovetail.mj.spec.vectors import MjByteVec, MjCharVec, MjDoubleVec, MjFloatVec, MjIntVec, MjStringVec

if TYPE_CHECKING:
    from dovetail.mj.spec.spec import MjSpec

SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
"""mj_defaultSolRefImp of MuJoCo 3.4.0."""
GREY = (0.5, 0.5, 0.5, 1.0)
TEXTURE_ROLES = 10
"""Textures that a material may have (mjNTEXROLE)."""


def colour(default: Any = GREY) -> Numbers:
    """Red, green, blue and opacity, in single precision."""
    return Numbers(default, dtype=np.float32)


class MjsPlugin(Element):
    """An instance of an engine plugin, or the use of one by an element."""

    KIND = "plugin"
    plugin_name = Text("")
    active = Whole(0, "")

    def __init__(self, spec: MjSpec | None = None) -> None:
        super().__init__(spec)
        self._config: dict[str, str] = {}

    @property
    def config(self) -> dict[str, str]:
        """Attributes of the plugin: texts by name."""
        return self._config

    @config.setter
    def config(self, value: dict[str, str]) -> None:
        if not isinstance(value, dict) or not all(isinstance(x, str) for pair in value.items() for x in pair):
            raise ArgumentError("config takes a dictionary of texts by name")
        self._config = dict(value)

    @property
    def id(self) -> int:
        return super().id

    def copied(self) -> Any:
        new = super().copied()
        new._config = dict(self._config)
        return new


class MjsMesh(Element):
    """A mesh: from a file, or from its vertices."""

    KIND = "mesh"
    content_type = Text()
    file = Text()
    refpos = Numbers([0.0] * 3)
    refquat = Numbers([1.0, 0.0, 0.0, 0.0])
    scale = Numbers([1.0] * 3)
    inertia = Choice("mjtMeshInertia", 2)
    smoothnormal = Whole(0)
    needsdf = Whole(0, "")
    maxhullvert = Whole(-1)
    uservert = Vector(MjFloatVec, mjcf="vertex")
    usernormal = Vector(MjFloatVec, mjcf="normal")
    usertexcoord = Vector(MjFloatVec, mjcf="texcoord")
    userface = Vector(MjIntVec, mjcf="face")
    userfacenormal = Vector(MjIntVec, mjcf="")
    userfacetexcoord = Vector(MjIntVec, mjcf="")
    plugin = Part(MjsPlugin)
    material = Text()

    def make_cone(self, nedge: int, radius: float) -> None:
        """A cone or prism: the top has this radius relative to the bottom."""
        shortcuts.build_mesh(self, "cone", (nedge, radius))

    def make_hemisphere(self, resolution: int) -> None:
        """Half a sphere."""
        shortcuts.build_mesh(self, "hemisphere", (resolution,))

    def make_plate(self, resolution: Any = (0, 0)) -> None:
        """A flat grid of points."""
        shortcuts.build_mesh(self, "plate", tuple(resolution))

    def make_sphere(self, subdivision: int) -> None:
        """A sphere out of triangles of one size."""
        shortcuts.build_mesh(self, "sphere", (subdivision,))

    def make_supersphere(self, resolution: int, e: float, n: float) -> None:
        """A superellipsoid."""
        shortcuts.build_mesh(self, "supersphere", (resolution, e, n))

    def make_supertorus(self, resolution: int, radius: float, s: float, t: float) -> None:
        """A torus with exponents."""
        shortcuts.build_mesh(self, "supertorus", (resolution, radius, s, t))

    def make_wedge(self, resolution: Any = (0, 0), fov: Any = (0.0, 0.0), gamma: float = 0.0) -> None:
        """A piece of a sphere, as the view of a sensor."""
        shortcuts.build_mesh(self, "wedge", (*resolution, *fov, gamma))


class MjsHField(Element):
    """A height field: from a file, or from its elevations, the row at the smallest y first."""

    KIND = "hfield"
    content_type = Text()
    file = Text()
    size = Numbers([0.0] * 4)
    nrow = Whole(0)
    ncol = Whole(0)
    userdata = Vector(MjFloatVec, mjcf="")


class MjsSkin(Element):
    """A surface that follows bodies."""

    KIND = "skin"
    file = Text()
    material = Text()
    rgba = colour()
    inflate = Real(0.0, single=True)
    group = Whole(0)
    vert = Vector(MjFloatVec, mjcf="vertex")
    texcoord = Vector(MjFloatVec)
    face = Vector(MjIntVec)
    bodyname = Vector(MjStringVec, mjcf="")
    bindpos = Vector(MjFloatVec, mjcf="")
    bindquat = Vector(MjFloatVec, mjcf="")
    vertid = Nested(int)
    vertweight = Nested(float)


class MjsTexture(Element):
    """An image: from a file, from its bytes, or a built-in pattern."""

    KIND = "texture"
    type = Choice("mjtTexture", 1)
    colorspace = Choice("mjtColorSpace", 0)
    builtin = Whole(0)
    mark = Whole(0, "")
    rgb1 = Numbers([0.8] * 3)
    rgb2 = Numbers([0.5] * 3)
    markrgb = Numbers([0.0] * 3)
    random = Real(0.01)
    height = Whole(0)
    width = Whole(0)
    nchannel = Whole(3)
    content_type = Text()
    file = Text()
    gridsize = Numbers([1, 1], dtype=np.int32)
    gridlayout = Letters(MjCharVec, "." * 12, "")
    cubefiles = Vector(MjStringVec, [""] * 6, "")
    data = Vector(MjByteVec, mjcf="")
    hflip = Whole(0)
    vflip = Whole(0)


class MjsMaterial(Element):
    """How a surface looks."""

    KIND = "material"
    textures = Vector(MjStringVec, [""] * TEXTURE_ROLES, "")
    texuniform = Whole(0)
    texrepeat = Numbers([1.0, 1.0], dtype=np.float32)
    emission = Real(0.0, single=True)
    specular = Real(0.5, single=True)
    shininess = Real(0.5, single=True)
    reflectance = Real(0.0, single=True)
    metallic = Real(-1.0, single=True)
    roughness = Real(-1.0, single=True)
    rgba = colour((1.0, 1.0, 1.0, 1.0))


class MjsFlex(Element):
    """A deformable object."""

    KIND = "flex"
    contype = Whole(1)
    conaffinity = Whole(1)
    condim = Whole(3)
    priority = Whole(0)
    friction = Numbers([1.0, 0.005, 0.0001])
    solmix = Real(1.0)
    solref = Numbers(SOLREF)
    solimp = Numbers(SOLIMP)
    margin = Real(0.0)
    gap = Real(0.0)
    dim = Whole(2)
    radius = Real(0.005)
    internal = Whole(0)
    flatskin = Whole(0)
    selfcollide = Whole(4)
    vertcollide = Whole(0)
    passive = Whole(0)
    activelayers = Whole(1)
    group = Whole(0)
    edgestiffness = Real(0.0)
    edgedamping = Real(0.0)
    rgba = colour()
    material = Text()
    young = Real(0.0)
    poisson = Real(0.0)
    damping = Real(0.0)
    thickness = Real(-1.0)
    elastic2d = Whole(0)
    nodebody = Vector(MjStringVec, mjcf="")
    vertbody = Vector(MjStringVec, mjcf="")
    node = Vector(MjDoubleVec, mjcf="")
    vert = Vector(MjDoubleVec, mjcf="vertex")
    elem = Vector(MjIntVec, mjcf="element")
    texcoord = Vector(MjFloatVec)
    elemtexcoord = Vector(MjIntVec)


class MjsPair(Element):
    """Two geoms that may touch, with numbers of their own."""

    KIND = "pair"
    geomname1 = Text("geom1")
    geomname2 = Text("geom2")
    condim = Whole(3)
    solref = Numbers(SOLREF)
    solreffriction = Numbers([0.0, 0.0])
    solimp = Numbers(SOLIMP)
    margin = Real(0.0)
    gap = Real(0.0)
    friction = Numbers([1.0, 1.0, 0.005, 0.0001, 0.0001])


class MjsExclude(Element):
    """Two bodies that do not touch."""

    KIND = "exclude"
    bodyname1 = Text("body1")
    bodyname2 = Text("body2")


class MjsEquality(Element):
    """Something that is to be equal: places, poses, positions."""

    KIND = "equality"
    type = Choice("mjtEq", 0, "")
    data = Numbers([0.0, 1.0, *[0.0] * 8, 1.0], "")
    active = Whole(1)
    name1 = Text("")
    name2 = Text("")
    objtype = Choice("mjtObj", 0, "")
    solref = Numbers(SOLREF)
    solimp = Numbers(SOLIMP)


class MjsActuator(Element):
    """A general actuator; the `set_to_…` give it the numbers of the usual kinds."""

    KIND = "actuator"
    gaintype = Choice("mjtGain", 0)
    gainprm = Numbers([1.0, *[0.0] * 9])
    biastype = Choice("mjtBias", 0)
    biasprm = Numbers([0.0] * 10)
    dyntype = Choice("mjtDyn", 0)
    dynprm = Numbers([1.0, *[0.0] * 9])
    actdim = Whole(-1)
    actearly = Whole(0)
    trntype = Choice("mjtTrn", 1000, "")
    gear = Numbers([1.0, *[0.0] * 5])
    target = Text("")
    refsite = Text("")
    slidersite = Text("")
    cranklength = Real(0.0, "")
    lengthrange = Numbers([0.0, 0.0])
    inheritrange = Real(0.0, "")
    ctrllimited = Whole(2)
    ctrlrange = Numbers([0.0, 0.0])
    forcelimited = Whole(2)
    forcerange = Numbers([0.0, 0.0])
    actlimited = Whole(2)
    actrange = Numbers([0.0, 0.0])
    group = Whole(0)
    userdata = Vector(MjDoubleVec, mjcf="user")
    plugin = Part(MjsPlugin)

    def set_to_motor(self) -> None:
        """Force is the control."""
        shortcuts.set_to(self, "motor")

    def set_to_position(
        self,
        kp: float,
        kv: float = -1,
        dampratio: float = -1,
        timeconst: float = -1,
        inheritrange: bool = False,
    ) -> None:
        """A position servo."""
        given = {"kp": kp, "kv": kv, "dampratio": dampratio, "timeconst": timeconst}
        shortcuts.set_to(self, "position", inheritrange=float(bool(inheritrange)), **given)

    def set_to_intvelocity(
        self,
        kp: float,
        kv: float = -1,
        dampratio: float = -1,
        timeconst: float = -1,
        inheritrange: bool = False,
    ) -> None:
        """A position servo whose target is the integral of the control."""
        given = {"kp": kp, "kv": kv, "dampratio": dampratio, "timeconst": timeconst}
        shortcuts.set_to(self, "intvelocity", inheritrange=float(bool(inheritrange)), **given)

    def set_to_velocity(self, kv: float) -> None:
        """A velocity servo."""
        shortcuts.set_to(self, "velocity", kv=kv)

    def set_to_damper(self, kv: float) -> None:
        """Damping that the control scales."""
        shortcuts.set_to(self, "damper", kv=kv)

    def set_to_cylinder(self, timeconst: float, bias: float, area: float, diameter: float = -1) -> None:
        """A pneumatic or hydraulic cylinder."""
        wide = area if diameter < 0 else math.pi / 4 * diameter * diameter
        shortcuts.set_to(self, "cylinder", timeconst=timeconst, bias=(bias, 0.0, 0.0), area=wide)

    def set_to_muscle(
        self,
        timeconst: Any = (-1.0, -1.0),
        tausmooth: float = -1.0,
        range: Any = (-1.0, -1.0),
        force: float = -1,
        scale: float = -1,
        lmin: float = -1,
        lmax: float = -1,
        vmax: float = -1,
        fpmax: float = -1,
        fvmax: float = -1,
    ) -> None:
        """A muscle; negative numbers leave what is there."""
        numbers = {"force": force, "scale": scale, "lmin": lmin, "lmax": lmax, "vmax": vmax}
        numbers |= {"fpmax": fpmax, "fvmax": fvmax, "tausmooth": tausmooth}
        pairs = {"timeconst": shortcuts.pair(timeconst), "range": shortcuts.pair(range)}
        shortcuts.set_to(self, "muscle", **numbers, **pairs)

    def set_to_adhesion(self, gain: float) -> None:
        """Pull on what the body touches."""
        shortcuts.set_to(self, "adhesion", gain=gain)


class MjsSensor(Element):
    """Something that is measured."""

    KIND = "sensor"
    type = Choice("mjtSensor", 0, "")
    objtype = Choice("mjtObj", 0, "")
    objname = Text("")
    reftype = Choice("mjtObj", 0, "")
    refname = Text("")
    intprm = Numbers([0, 0, 0], "", dtype=np.int32)
    datatype = Choice("mjtDataType", 0, "")
    needstage = Choice("mjtStage", 3, "")
    dim = Whole(0, "")
    cutoff = Real(0.0)
    noise = Real(0.0)
    userdata = Vector(MjDoubleVec, mjcf="user")
    plugin = Part(MjsPlugin)

    def get_data_size(self) -> int:
        """How many numbers it measures."""
        return shortcuts.sensor_size(self)


class MjsNumeric(Element):
    """Numbers of one's own."""

    KIND = "numeric"
    data = Vector(MjDoubleVec)
    size = Whole(0)


class MjsText(Element):
    """A text of one's own."""

    KIND = "text"
    data = Text()


class MjsTuple(Element):
    """A list of objects, with a number for each."""

    KIND = "tuple"
    objtype = Vector(MjIntVec, mjcf="")
    objname = Vector(MjStringVec, mjcf="")
    objprm = Vector(MjDoubleVec, mjcf="")


class MjsKey(Element):
    """A saved state."""

    KIND = "key"
    time = Real(0.0)
    qpos = Vector(MjDoubleVec)
    qvel = Vector(MjDoubleVec)
    act = Vector(MjDoubleVec)
    mpos = Vector(MjDoubleVec)
    mquat = Vector(MjDoubleVec)
    ctrl = Vector(MjDoubleVec)
