"""Tendons and the path that they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dovetail.errors import ArgumentError, UnknownIndexError, shown
from dovetail.mj.enums import ENUMS
from dovetail.mj.spec.element import Element
from dovetail.mj.spec.fields import Numbers, Real, Text, Vector, Whole
from dovetail.mj.spec.lists import SOLIMP, SOLREF, colour
from dovetail.mj.spec.vectors import MjDoubleVec

if TYPE_CHECKING:
    from dovetail.mj.spec.defaults import MjsDefault
    from dovetail.mj.spec.spec import MjSpec

_WRAP = ENUMS["mjtWrap"]
_SURFACES = {2: _WRAP.mjWRAP_SPHERE, 5: _WRAP.mjWRAP_CYLINDER}
"""What a tendon wraps around, by type of geom."""


class MjsWrap:
    """One object on the path of a tendon."""

    def __init__(self, tendon: MjsTendon, kind: str, name: str, side: str = "", number: float = 0.0) -> None:
        self._tendon, self._kind, self._name, self._side, self._number = tendon, kind, name, side, number
        self.info = ""

    @property
    def type(self) -> Any:
        """What it is (mjtWrap); of a geom it is known once the geom is there."""
        if self._kind != "geom":
            return {"site": _WRAP.mjWRAP_SITE, "joint": _WRAP.mjWRAP_JOINT, "pulley": _WRAP.mjWRAP_PULLEY}[
                self._kind
            ]
        geom = self.target
        return _SURFACES.get(int(geom.type), _WRAP.mjWRAP_SPHERE) if geom is not None else _WRAP.mjWRAP_SPHERE

    @property
    def target(self) -> Any:
        """The site, geom or joint; a pulley has none."""
        spec = self._tendon._owner()
        return None if self._kind == "pulley" else getattr(spec, self._kind)(self._name)

    @property
    def sidesite(self) -> Any:
        """The site that says on which side of a geom the tendon passes."""
        return self._tendon._owner().site(self._side) if self._side else None

    @property
    def coef(self) -> float:
        """How much a joint counts."""
        return self._number

    @property
    def divisor(self) -> float:
        """By what a pulley divides the length after it."""
        return self._number


class MjsTendonPath:
    """The objects on the path of a tendon, in order."""

    def __init__(self, wraps: list[MjsWrap]) -> None:
        self._wraps = wraps

    def __len__(self) -> int:
        return len(self._wraps)

    def __iter__(self) -> Iterator[MjsWrap]:
        return iter(self._wraps)

    def __getitem__(self, index: int) -> MjsWrap:
        if not isinstance(index, int) or not 0 <= index < len(self._wraps):
            raise UnknownIndexError(f"Index out of range. The path has {len(self._wraps)} objects, from 0 on")
        return self._wraps[index]


class MjsTendon(Element):
    """A tendon; what is wrapped first decides whether it is a fixed or a spatial one."""

    KIND = "tendon"
    stiffness = Real(0.0)
    springlength = Numbers([-1.0, -1.0])
    damping = Real(0.0)
    frictionloss = Real(0.0)
    solref_friction = Numbers(SOLREF, "solreffriction")
    solimp_friction = Numbers(SOLIMP, "solimpfriction")
    armature = Real(0.0)
    limited = Whole(2)
    actfrclimited = Whole(0, "actuatorfrclimited")
    range = Numbers([0.0, 0.0])
    actfrcrange = Numbers([0.0, 0.0], "actuatorfrcrange")
    margin = Real(0.0)
    solref_limit = Numbers(SOLREF, "solreflimit")
    solimp_limit = Numbers(SOLIMP, "solimplimit")
    material = Text()
    width = Real(0.003)
    rgba = colour()
    group = Whole(0)
    userdata = Vector(MjDoubleVec, mjcf="user")

    def __init__(self, spec: MjSpec | None = None) -> None:
        super().__init__(spec)
        self._path: list[MjsWrap] = []

    @property
    def path(self) -> MjsTendonPath:
        """The objects that it passes."""
        self._alive()
        return MjsTendonPath(self._path)

    def default(self) -> MjsDefault:
        """Default class of the tendon."""
        return self.classname

    def wrap_site(self, name: str) -> MjsWrap:
        """Pass a site."""
        return self._wrap("site", name)

    def wrap_geom(self, name: str, sidesite: str = "") -> MjsWrap:
        """Wrap around a sphere or cylinder, perhaps on the side of a site."""
        return self._wrap("geom", name, side=sidesite)

    def wrap_joint(self, name: str, coef: float) -> MjsWrap:
        """Add the position of a joint, times a number."""
        return self._wrap("joint", name, number=coef)

    def wrap_pulley(self, divisor: float) -> MjsWrap:
        """Divide the length of what follows."""
        return self._wrap("pulley", "", number=divisor)

    def _wrap(self, kind: str, name: str, side: str = "", number: float = 0.0) -> MjsWrap:
        self._alive()
        if not isinstance(name, str) or not isinstance(side, str):
            raise ArgumentError(f"what a tendon passes is given by its name, not as {shown(name)}")
        self._path.append(MjsWrap(self, kind, name, side, float(number)))
        return self._path[-1]

    def _take(self, other: Any) -> None:
        super()._take(other)
        self._path = [MjsWrap(self, w._kind, w._name, w._side, w._number) for w in other._path]
