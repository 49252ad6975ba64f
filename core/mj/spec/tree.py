"""Elements of the tree: bodies, frames, and what stands in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.errors import ArgumentError, shown
from dovetail.mj.enums import ENUMS
from dovetail.mj.spec.element import MjsOrientation, TreeElement
from dovetail.mj.spec.fields import Choice, Numbers, Part, Real, Text, Vector, Whole
from dovetail.mj.spec.lists import SOLIMP, SOLREF, MjsPlugin, colour
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.vectors import MjDoubleVec

if TYPE_CHECKING:
    from dovetail.mj.spec.defaults import MjsDefault
    from dovetail.mj.spec.spec import MjSpec

ORIGIN, IDENTITY = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
UNKNOWN_FROMTO = (math.nan, *(0.0,) * 5)
"""nan stands for a pose that is not given by two ends."""


class MjsJoint(TreeElement):
    """How a body moves."""

    KIND = "joint"
    type = Choice("mjtJoint", 3)
    pos = Numbers(ORIGIN)
    axis = Numbers([0.0, 0.0, 1.0])
    ref = Real(0.0)
    align = Whole(2, "")
    stiffness = Real(0.0)
    springref = Real(0.0)
    springdamper = Numbers([0.0, 0.0])
    limited = Whole(2)
    range = Numbers([0.0, 0.0])
    margin = Real(0.0)
    solref_limit = Numbers(SOLREF, "solreflimit")
    solimp_limit = Numbers(SOLIMP, "solimplimit")
    actfrclimited = Whole(2, "actuatorfrclimited")
    actfrcrange = Numbers([0.0, 0.0], "actuatorfrcrange")
    armature = Real(0.0)
    damping = Real(0.0)
    frictionloss = Real(0.0)
    solref_friction = Numbers(SOLREF, "solreffriction")
    solimp_friction = Numbers(SOLIMP, "solimpfriction")
    group = Whole(0)
    actgravcomp = Whole(0, "actuatorgravcomp")
    userdata = Vector(MjDoubleVec, mjcf="user")


class MjsGeom(TreeElement):
    """A shape that collides, weighs and is drawn."""

    KIND = "geom"
    type = Choice("mjtGeom", 2)
    pos = Numbers(ORIGIN)
    quat = Numbers(IDENTITY, "")
    alt = Part(MjsOrientation)
    fromto = Numbers(UNKNOWN_FROMTO, "")
    size = Numbers([0.0] * 3)
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
    mass = Real(math.nan, "")
    density = Real(1000.0)
    typeinertia = Choice("mjtGeomInertia", 0, "")
    fluid_ellipsoid = Real(0.0, "")
    fluid_coefs = Numbers([0.5, 0.25, 1.5, 1.0, 1.0], "fluidcoef")
    material = Text()
    rgba = colour()
    group = Whole(0)
    hfieldname = Text("hfield")
    meshname = Text("mesh")
    fitscale = Real(1.0)
    userdata = Vector(MjDoubleVec, mjcf="user")
    plugin = Part(MjsPlugin)


class MjsSite(TreeElement):
    """A place of interest."""

    KIND = "site"
    pos = Numbers(ORIGIN)
    quat = Numbers(IDENTITY, "")
    alt = Part(MjsOrientation)
    fromto = Numbers(UNKNOWN_FROMTO, "")
    size = Numbers([0.005] * 3)
    type = Choice("mjtGeom", 2)
    material = Text()
    group = Whole(0)
    rgba = colour()
    userdata = Vector(MjDoubleVec, mjcf="user")

    def attach_body(self, body: MjsBody, prefix: str | None = None, suffix: str | None = None) -> MjsBody:
        """Attach a body here, with what belongs to it."""
        from dovetail.mj.spec.attaching import attach_body, frame_at

        return attach_body(frame_at(self), body, prefix, suffix)


class MjsCamera(TreeElement):
    """A camera."""

    KIND = "camera"
    pos = Numbers(ORIGIN)
    quat = Numbers(IDENTITY, "")
    alt = Part(MjsOrientation)
    mode = Choice("mjtCamLight", 0)
    targetbody = Text("target")
    orthographic = Whole(0)
    fovy = Real(45.0)
    ipd = Real(0.068)
    intrinsic = Numbers([0.0] * 4, "", dtype=np.float32)
    sensor_size = Numbers([0.0] * 2, "sensorsize", dtype=np.float32)
    resolution = Numbers([1.0] * 2, dtype=np.float32)
    focal_length = Numbers([0.0] * 2, "focal", dtype=np.float32)
    focal_pixel = Numbers([0.0] * 2, "focalpixel", dtype=np.float32)
    principal_length = Numbers([0.0] * 2, "principal", dtype=np.float32)
    principal_pixel = Numbers([0.0] * 2, "principalpixel", dtype=np.float32)
    userdata = Vector(MjDoubleVec, mjcf="user")


class MjsLight(TreeElement):
    """A light."""

    KIND = "light"
    pos = Numbers(ORIGIN)
    dir = Numbers([0.0, 0.0, -1.0])
    mode = Choice("mjtCamLight", 0)
    targetbody = Text("target")
    active = Whole(1)
    type = Choice("mjtLightType", 0)
    texture = Text()
    castshadow = Whole(1)
    bulbradius = Real(0.02, single=True)
    intensity = Real(0.0, single=True)
    range = Real(10.0, single=True)
    attenuation = Numbers([1.0, 0.0, 0.0], dtype=np.float32)
    cutoff = Real(45.0, single=True)
    exponent = Real(10.0, single=True)
    ambient = Numbers(ORIGIN, dtype=np.float32)
    diffuse = Numbers([0.7] * 3, dtype=np.float32)
    specular = Numbers([0.3] * 3, dtype=np.float32)


class Container(TreeElement):
    """What `add_…` puts things into: a body, or a frame of one."""

    def _home(self) -> tuple[MjsBody, MjsFrame | None]:
        """The body that owns what is added here, and the frame around it."""
        raise NotImplementedError

    def add_body(self, default: MjsDefault | None = None, **keywords: Any) -> MjsBody:
        """A new body in this one."""
        home, _ = self._home()
        body = MjsBody(home._owner())
        body._values["childclass"] = default.name if default is not None else self._childclass()
        self._add(body, default, keywords)
        return body

    def add_frame(self, frame: MjsFrame | None = None, **keywords: Any) -> MjsFrame:
        """A new frame in this body, perhaps in another frame of it."""
        new = MjsFrame(self._home()[0]._owner())
        self._add(new, None, keywords)
        if frame is not None:
            new.set_frame(frame)
        return new

    def add_geom(self, default: MjsDefault | None = None, **keywords: Any) -> MjsGeom:
        """A new geom."""
        return self._new(MjsGeom, default, keywords)

    def add_joint(self, default: MjsDefault | None = None, **keywords: Any) -> MjsJoint:
        """A new joint."""
        return self._new(MjsJoint, default, keywords)

    def add_site(self, default: MjsDefault | None = None, **keywords: Any) -> MjsSite:
        """A new site."""
        return self._new(MjsSite, default, keywords)

    def add_camera(self, default: MjsDefault | None = None, **keywords: Any) -> MjsCamera:
        """A new camera."""
        return self._new(MjsCamera, default, keywords)

    def add_light(self, default: MjsDefault | None = None, **keywords: Any) -> MjsLight:
        """A new light."""
        return self._new(MjsLight, default, keywords)

    def _childclass(self) -> str:
        """Name of the default class of what is added here."""
        home, frame = self._home()
        while frame is not None:
            if frame._values["childclass"]:
                return str(frame._values["childclass"])
            frame = frame._frame
        return str(home._values["childclass"])

    def _new(self, kind: Any, default: MjsDefault | None, keywords: dict[str, Any]) -> Any:
        spec = self._home()[0]._owner()
        default = spec._class_of(default, self._childclass())
        element = kind(spec)
        element._take(default._prototype(kind.KIND))
        element._values["name"] = ""
        self._add(element, default, keywords)
        return element

    def _add(self, element: Any, default: MjsDefault | None, keywords: dict[str, Any]) -> None:
        home, frame = self._home()
        element._apply(keywords)
        element._class, element._parent, element._frame = default, home, frame
        home._children[element.KIND].append(element)
        home._owner()._added(element)


class MjsFrame(Container):
    """A frame of reference inside a body; it is gone once the spec is compiled."""

    KIND = "frame"
    childclass = Text("")
    pos = Numbers(ORIGIN)
    quat = Numbers(IDENTITY, "")
    alt = Part(MjsOrientation)

    def _home(self) -> tuple[MjsBody, MjsFrame | None]:
        self._alive()
        assert self._parent is not None
        return self._parent, self

    def attach_body(self, body: MjsBody, prefix: str | None = None, suffix: str | None = None) -> MjsBody:
        """Attach a body here, with what belongs to it."""
        from dovetail.mj.spec.attaching import attach_body

        return attach_body(self, body, prefix, suffix)


CHILD_KINDS = ("body", "frame", "geom", "site", "joint", "light", "camera")
"""What stands in bodies, as `find_all` names it."""
_OBJECTS = {
    ENUMS["mjtObj"].mjOBJ_BODY: "body",
    ENUMS["mjtObj"].mjOBJ_GEOM: "geom",
    ENUMS["mjtObj"].mjOBJ_SITE: "site",
    ENUMS["mjtObj"].mjOBJ_JOINT: "joint",
    ENUMS["mjtObj"].mjOBJ_LIGHT: "light",
    ENUMS["mjtObj"].mjOBJ_CAMERA: "camera",
    ENUMS["mjtObj"].mjOBJ_FRAME: "frame",
}


class MjsBody(Container):
    """A body, with what stands in it."""

    KIND = "body"
    childclass = Text("")
    pos = Numbers(ORIGIN)
    quat = Numbers(IDENTITY, "")
    alt = Part(MjsOrientation)
    mass = Real(0.0, "")
    ipos = Numbers([math.nan, 0.0, 0.0], "")
    iquat = Numbers(IDENTITY, "")
    inertia = Numbers([0.0] * 3, "")
    ialt = Part(MjsOrientation)
    fullinertia = Numbers(UNKNOWN_FROMTO, "")
    mocap = Whole(0)
    gravcomp = Real(0.0)
    sleep = Choice("mjtSleepPolicy", 0)
    userdata = Vector(MjDoubleVec, mjcf="user")
    explicitinertial = Whole(0, "")
    plugin = Part(MjsPlugin)

    def __init__(self, spec: MjSpec | None = None) -> None:
        super().__init__(spec)
        self._children: dict[str, list[Any]] = {kind: [] for kind in CHILD_KINDS}
        self._raw: list[Any] = []
        """Elements that a spec keeps as they were written (flexcomps), with the frame they stand in."""

    def _home(self) -> tuple[MjsBody, MjsFrame | None]:
        self._alive()
        return self, None

    def add_freejoint(self, **keywords: Any) -> MjsJoint:
        """A joint that lets the body move freely; it takes nothing from the defaults."""
        known = ("align", "group", "name")
        for key in keywords:
            if key not in known:
                raise ArgumentError(f"Invalid {key} keyword argument. Valid options are: {', '.join(known)}.")
        joint = MjsJoint(self._owner())
        joint.type = ENUMS["mjtJoint"].mjJNT_FREE
        self._add(joint, self._owner().default, keywords)
        return joint

    def attach_frame(self, frame: MjsFrame, prefix: str | None = None, suffix: str | None = None) -> MjsFrame:
        """Attach a frame here, with what stands in it and belongs to it."""
        from dovetail.mj.spec.attaching import attach_frame

        return attach_frame(self, frame, prefix, suffix)

    def to_frame(self) -> MjsFrame:
        """Replace the body by a frame of its parent; what stood in it stands in the frame then."""
        from dovetail.mj.spec.attaching import body_to_frame

        return body_to_frame(self)

    # what stands in it

    @property
    def bodies(self) -> list[MjsBody]:
        """Bodies in this one."""
        return self._list("body")

    @property
    def frames(self) -> list[MjsFrame]:
        """Frames of the body."""
        return self._list("frame")

    @property
    def geoms(self) -> list[MjsGeom]:
        """Geoms of the body."""
        return self._list("geom")

    @property
    def joints(self) -> list[MjsJoint]:
        """Joints of the body."""
        return self._list("joint")

    @property
    def sites(self) -> list[MjsSite]:
        """Sites of the body."""
        return self._list("site")

    @property
    def cameras(self) -> list[MjsCamera]:
        """Cameras of the body."""
        return self._list("camera")

    @property
    def lights(self) -> list[MjsLight]:
        """Lights of the body."""
        return self._list("light")

    def _list(self, kind: str) -> list[Any]:
        self._alive()
        return list(self._children[kind])

    def _subtree(self) -> Iterator[MjsBody]:
        """This body and all below it, parents first; iterative, so that depth costs no Python stack."""
        stack = [self]
        while stack:
            body = stack.pop()
            yield body
            stack.extend(reversed(body._children["body"]))

    def find_all(self, kind: Any) -> list[Any]:
        """Everything of a kind in this body and all below it."""
        self._alive()
        word = _OBJECTS.get(kind) if isinstance(kind, ENUMS["mjtObj"]) else kind
        if word not in CHILD_KINDS:
            raise SpecError(f"body.find_all supports the types: {', '.join(CHILD_KINDS)}.")
        if word == "body":
            return list(self._subtree())[1:]
        return [child for body in self._subtree() for child in body._children[word]]

    def find_child(self, name: str) -> MjsBody | None:
        """The body of that name in this one or below, if there is one."""
        self._alive()
        return next((body for body in self._subtree() if body._values["name"] == name), None)

    def _next(self, kind: str, child: Any) -> Any:
        listed = self._list(kind)
        for place, other in enumerate(listed):
            if other is child:
                return listed[place + 1] if place + 1 < len(listed) else None
        raise SpecError(f"{shown(child)} is no {kind} of this body")


def _stepping(kind: str) -> None:
    """Give bodies `first_geom()`, `next_geom(geom)` and their like."""

    def first(self: MjsBody) -> Any:
        return next(iter(self._list(kind)), None)

    def following(self: MjsBody, child: Any) -> Any:
        return self._next(kind, child)

    for name, function, doc in (
        (f"first_{kind}", first, f"The first {kind} of the body, if any."),
        (f"next_{kind}", following, f"The {kind} after this one, if any."),
    ):
        function.__name__, function.__qualname__, function.__doc__ = name, f"MjsBody.{name}", doc
        setattr(MjsBody, name, function)


for _kind in CHILD_KINDS:
    _stepping(_kind)
