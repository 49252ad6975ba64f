"""Structs of pictures: cameras, options, scenes, figures. They are plain memory; who draws reads them."""

from __future__ import annotations

import operator
from operator import attrgetter
from typing import Any

import numpy as np

from dovetail.contracts.types import Model
from dovetail.mj.constants import mjMAXLIGHT, mjMAXLINE, mjMAXLINEPNT, mjNGROUP, mjRNDSTRING, mjVISSTRING
from dovetail.mj.structs.base import Member, Struct, write
from dovetail.mj.structs.model import MjModel

_GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")
_SHOWN_GROUPS = [1, 1, 1, 0, 0, 0]
_COLOURS = (
    (1.0, 0.3, 0.3),
    (0.1, 1.0, 0.1),
    (0.3, 0.3, 1.0),
    (0.1, 1.0, 1.0),
    (1.0, 0.2, 1.0),
    (1.0, 1.0, 0.1),
    (1.0, 0.6, 0.2),
    (0.6, 0.7, 0.4),
)
"""Colours of the first lines of a figure; later ones follow Halton's sequences."""


def _flags(table: Any) -> list[int]:
    return [int(default) for _, default, _ in table]


def _floats(*names: str, default: Any = None) -> tuple[Member, ...]:
    return tuple(Member(name, "f4", (), default) for name in names)


def _vectors(*names: str) -> tuple[Member, ...]:
    return tuple(Member(name, "f4", (3,)) for name in names)


def _ints(*names: str, default: int | None = None) -> tuple[Member, ...]:
    return tuple(Member(name, "i4", (), default) for name in names)


class MjvCamera(
    Struct,
    members=(
        Member("type", "i4"),
        *_ints("fixedcamid", "trackbodyid", default=-1),
        Member("lookat", "f8", (3,)),
        Member("distance", "f8", (), 2),
        Member("azimuth", "f8", (), 90),
        Member("elevation", "f8", (), -45),
        Member("orthographic", "i4"),
    ),
):
    """Where a picture is taken from: free, tracking a body, or a camera of the model."""

    __slots__ = ()


class MjvGLCamera(
    Struct,
    members=(
        *_vectors("pos", "forward", "up"),
        *_floats(*(f"frustum_{n}" for n in ("center", "width", "bottom", "top", "near", "far"))),
        Member("orthographic", "i4"),
    ),
):
    """A camera in numbers: place, directions and the pyramid it sees."""

    __slots__ = ()


class MjvOption(
    Struct,
    members=(
        *_ints("label", "frame"),
        *(Member(f"{group}group", "u1", (mjNGROUP,), _SHOWN_GROUPS) for group in _GROUPS),
        Member("flags", "u1", (len(mjVISSTRING),), _flags(mjVISSTRING)),
        Member("bvh_depth", "i4", (), 1),
        Member("flex_layer", "i4"),
    ),
):
    """What is shown."""

    __slots__ = ()


class MjvPerturb(
    Struct,
    members=(
        Member("select", "i4"),
        *_ints("flexselect", "skinselect", default=-1),
        *_ints("active", "active2"),
        Member("refpos", "f8", (3,)),
        Member("refquat", "f8", (4,), (1, 0, 0, 0)),
        Member("refselpos", "f8", (3,)),
        Member("localpos", "f8", (3,)),
        Member("localmass", "f8"),
        Member("scale", "f8", (), 1),
    ),
):
    """What a hand in the picture has hold of, and where it pulls it."""

    __slots__ = ()


class MjvGeom(
    Struct,
    members=(
        Member("type", "i4", (), 1001),
        *_ints("dataid", default=-1),
        *_ints("objtype", "objid", "category"),
        *_ints("matid", default=-1),
        *_ints("texcoord", "segid"),
        Member("size", "f4", (3,), 0.1),
        Member("pos", "f4", (3,)),
        Member("mat", "f4", (3, 3), np.eye(3)),
        Member("rgba", "f4", (4,), (0.5, 0.5, 0.5, 1)),
        *_floats("emission", "reflectance", "camdist", "modelrbound"),
        *_floats("specular", "shininess", default=0.5),
        Member("label", "S99"),
        Member("transparent", "u1"),
    ),
):
    """One shape in a scene."""

    __slots__ = ()


class MjvLight(
    Struct,
    members=(
        *_ints("id", "type", "texid"),
        *_vectors("pos", "dir", "attenuation", "ambient", "diffuse", "specular"),
        *_floats("cutoff", "exponent", "bulbradius", "intensity", "range"),
        *(Member(name, "u1") for name in ("headlight", "castshadow")),
    ),
):
    """One light in a scene."""

    __slots__ = ()


class MjrRect:
    """A rectangle of pixels."""

    __slots__ = ("bottom", "height", "left", "width")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, left: int, bottom: int, width: int, height: int) -> None:
        self.left, self.bottom, self.width, self.height = map(operator.index, (left, bottom, width, height))

    def _numbers(self) -> tuple[int, ...]:
        return self.left, self.bottom, self.width, self.height

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MjrRect) and self._numbers() == other._numbers()

    def __repr__(self) -> str:
        return f"MjrRect(left={self.left}, bottom={self.bottom}, width={self.width}, height={self.height})"


# ---- figures


def _halton(number: int, base: int) -> float:
    """The sequence of Halton: the digits of a number, mirrored at the point."""
    value, weight = 0.0, 1.0 / base
    while number:
        value += weight * (number % base)
        number //= base
        weight /= base
    return value


def _line_colours() -> Any:
    later = [[0.1 + 0.8 * _halton(i, base) for base in (2, 3, 5)] for i in range(len(_COLOURS), mjMAXLINE)]
    return np.array([*_COLOURS, *later], np.float32)


_BLACK = (0, 0, 0, 1)


class MjvFigure(
    Struct,
    members=(
        *_ints("flg_legend", "flg_extend", default=1),
        *_ints("flg_barplot", "flg_selection", "flg_symmetric"),
        Member("flg_ticklabel", "i4", (2,), 1),
        *_floats("gridwidth", default=1),
        *_floats("linewidth", default=3),
        *_floats("selection"),
        Member("gridsize", "i4", (2,), 2),
        Member("gridrgb", "f4", (3,), 0.4),
        Member("figurergba", "f4", (4,), _BLACK),
        Member("panergba", "f4", (4,), _BLACK),
        Member("legendrgba", "f4", (4,), (0, 0, 0, 0.3)),
        Member("textrgb", "f4", (3,), 1),
        Member("linergb", "f4", (mjMAXLINE, 3), _line_colours()),
        Member("range", "f4", (2, 2), (0, 1)),
        Member("xformat", "S19", (), b"%.0f"),
        Member("yformat", "S19", (), b"%.2g"),
        Member("minwidth", "S19", (), b"XXX"),
        Member("title", "S999"),
        Member("xlabel", "S99"),
        Member("linename", "S100", (mjMAXLINE,)),
        *_ints("legendoffset", "subplot"),
        Member("highlight", "i4", (2,)),
        *_ints("highlightid", default=-1),
        Member("linepnt", "i4", (mjMAXLINE,)),
        Member("linedata", "f4", (mjMAXLINE, 2 * mjMAXLINEPNT)),
        *(Member(name, "i4", (2,)) for name in ("xaxispixel", "yaxispixel")),
        *(Member(name, "f4", (2,)) for name in ("xaxisdata", "yaxisdata")),
    ),
):
    """A diagram over a picture."""

    __slots__ = ()


# ---- scenes

_SCENE = (
    *_ints("ngeom", "nlight", "nflex", "nskin", "enabletransform", "stereo", "framewidth", "status"),
    Member("flags", "u1", (len(mjRNDSTRING),), _flags(mjRNDSTRING)),
    Member("rotate", "f4", (4,), (1, 0, 0, 0)),
    Member("translate", "f4", (3,)),
    *_floats("scale", default=1),
    Member("framergb", "f4", (3,)),
    *(Member(f"flex{what}opt", "u1") for what in ("vert", "edge", "face", "skin")),
)


def _fixed(name: str) -> property:
    """What a scene has from when it is made."""

    def refuse(self: Any, value: Any) -> None:
        raise AttributeError(f"{name} of an MjvScene is fixed when it is made")

    return property(attrgetter(f"_{name}"), refuse)


class MjvScene(Struct, members=_SCENE):
    """What a picture shows: shapes, lights, two cameras, deforming surfaces. Room for shapes is fixed when it is
    made; `ngeom` of them are there. A subclass may show these in its own way; what fills a scene goes by `_geoms`,
    `_lights`, `_camera`."""

    __slots__ = ("_arrays", "_camera", "_geoms", "_lights", "_maxgeom")
    _arrays: dict[str, Any]
    _geoms: tuple[MjvGeom, ...]
    _lights: tuple[MjvLight, ...]
    _camera: tuple[MjvGLCamera, ...]
    _maxgeom: int
    geoms, lights, camera, maxgeom = map(_fixed, ("geoms", "lights", "camera", "maxgeom"))

    def __init__(self, model: MjModel | None = None, maxgeom: int = 0) -> None:
        super().__init__()
        if model is not None and not isinstance(model, MjModel):
            raise TypeError(f"an MjvScene is made of an MjModel and a number of shapes, not of {model!r}")
        self._maxgeom = operator.index(maxgeom)
        self._geoms = tuple(MjvGeom() for _ in range(self._maxgeom))
        self._lights = tuple(MjvLight() for _ in range(mjMAXLIGHT))
        self._camera = (MjvGLCamera(), MjvGLCamera())
        self._arrays = {"geomorder": np.zeros(self._maxgeom, np.int32)}
        self._arrays.update(_surfaces(None if model is None else model._model))
        if model is not None:
            self.nflex, self.nskin = model.nflex, model.nskin

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"MjvScene has no {name!r}")
        return self._arrays[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name in self._arrays:
            write(name, self._arrays[name], value)
        else:
            object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._arrays})

    def _parts(self) -> tuple[Struct, ...]:
        """The scene, its shapes, lights and cameras."""
        return self, *self._geoms, *self._lights, *self._camera

    def __copy__(self) -> MjvScene:
        made = MjvScene(None, self._maxgeom)
        for ours, theirs in zip(made._parts(), self._parts(), strict=True):
            ours.assign(theirs)
        made._arrays.update({name: np.array(array) for name, array in self._arrays.items()})
        return made

    __eq__ = object.__eq__
    __repr__ = object.__repr__

    def __reduce__(self) -> Any:
        return _scene, (self._maxgeom, [each._values() for each in self._parts()], self._arrays)


def _scene(maxgeom: int, state: list[dict[str, Any]], arrays: dict[str, Any]) -> MjvScene:
    made = MjvScene(None, maxgeom)
    for struct, values in zip(made._parts(), state, strict=True):
        for name, value in values.items():
            struct._memory[name][...] = value
    made._arrays.update(arrays)
    return made


def _surfaces(model: Model | None) -> dict[str, Any]:
    """Room for flexes and skins."""
    size = 0 if model is None else 1
    nvert, nedge, nskin = (0, 0, 0) if model is None else (model.nflexvert, model.nflexedge, model.nskinvert)
    faces = np.zeros(0, np.int32) if model is None else _face_counts(model)
    begins = np.concatenate([[0], np.cumsum(faces)]).astype(np.int32)
    arrays = {
        "flexvert": np.zeros(3 * nvert, np.float32),
        "flexface": np.zeros(9 * begins[-1], np.float32),
        "flexnormal": np.zeros(9 * begins[-1], np.float32),
        "flextexcoord": np.zeros(6 * begins[-1], np.float32),
        "flexfaceadr": begins[:-1],
        "flexfacenum": faces,
        "flexfaceused": np.zeros(len(faces), np.int32),
        "skinvert": np.zeros(3 * nskin, np.float32),
        "skinnormal": np.zeros(3 * nskin, np.float32),
        "flexedge": np.zeros(2 * nedge, np.int32),
    }
    for name in ("flexedgeadr", "flexedgenum", "flexvertadr", "flexvertnum"):
        arrays[name] = _taken(model, f"flex_{name.removeprefix('flex')}")
    for name in ("skinfacenum", "skinvertadr", "skinvertnum"):
        arrays[name] = _taken(model, f"skin_{name.removeprefix('skin')}")
    if size and model is not None:
        arrays["flexedge"][:] = np.asarray(model.flex_edge).reshape(-1)
    return arrays


def _taken(model: Model | None, field: str) -> Any:
    return np.zeros(0, np.int32) if model is None else np.array(model.field(field))


def _face_counts(model: Model) -> Any:
    """The most triangles that each flex can be drawn with: both sides and the rim of surfaces, the boundary or one
    layer of solids."""
    counts = []
    for flex in range(model.nflex):
        elements, shell = int(model.flex_elemnum[flex]), int(model.flex_shellnum[flex])
        if model.flex_dim[flex] == 2:
            counts.append(2 * elements + 2 * shell)
        elif model.flex_dim[flex] == 3:
            start = int(model.flex_elemadr[flex])
            layers = np.asarray(model.flex_elemlayer[start : start + elements])
            counts.append(max(shell, 4 * int(np.bincount(layers).max())))
        else:
            counts.append(0)
    return np.array(counts, np.int32)
