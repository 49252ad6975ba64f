"""Functions of scenes (`mjv_*`): defaults, shapes, and filling an MjvScene, by what `dovetail.visual` knows.

Cameras of pictures that move with the mouse, and selection, belong to viewers and are not here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.mj.constants import mjMAXLIGHT
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.binding import function
from dovetail.mj.structs.base import Struct
from dovetail.mj.structs.data import MjData
from dovetail.mj.structs.drawing import (
    MjvCamera,
    MjvFigure,
    MjvGeom,
    MjvGLCamera,
    MjvLight,
    MjvOption,
    MjvPerturb,
    MjvScene,
)
from dovetail.mj.structs.model import MjModel
from dovetail.visual.cameras import View, default_free_camera, view
from dovetail.visual.lights import Light
from dovetail.visual.scene import Scene

_ROUND = {GeomType.CAPSULE, GeomType.CYLINDER}
ARROWS = {100, 101, 102, 103}
"""Shapes that begin at the first point: arrows and lines."""
_OF_ELEMENTS = [
    "type",
    "dataid",
    "objtype",
    "objid",
    "category",
    "matid",
    "texcoord",
    "segid",
    "size",
    "pos",
    "rgba",
    "emission",
    "specular",
    "shininess",
    "reflectance",
    "modelrbound",
]


# ---- defaults


@function("cam: MjvCamera")
def mjv_defaultCamera(cam: MjvCamera) -> None:
    """Put a camera back to where it is when it is made."""
    cam.assign(MjvCamera())


@function("m: m, cam: MjvCamera")
def mjv_defaultFreeCamera(m: MjModel, cam: MjvCamera) -> None:
    """A free camera that sees the whole model."""
    cam.assign(MjvCamera())
    found = default_free_camera(m._model)
    cam.lookat = found.lookat
    cam.distance, cam.azimuth, cam.elevation = found.distance, found.azimuth, found.elevation
    cam.orthographic = int(m._model.vis.global_.orthographic)


@function("opt: MjvOption")
def mjv_defaultOption(opt: MjvOption) -> None:
    """Show what is usually shown."""
    opt.assign(MjvOption())


@function("pert: MjvPerturb")
def mjv_defaultPerturb(pert: MjvPerturb) -> None:
    """Hold nothing."""
    pert.assign(MjvPerturb())


@function("fig: MjvFigure")
def mjv_defaultFigure(fig: MjvFigure) -> None:
    """An empty diagram."""
    fig.assign(MjvFigure())


# ---- shapes


@function("geom: MjvGeom, type: int, size: v3, pos: v3, mat: v9, rgba: fv4")
def mjv_initGeom(geom: MjvGeom, type: int, size: Any, pos: Any, mat: Any, rgba: Any) -> None:
    """A shape of a type, size, place and colour; all else as when it is made, but whose it is."""
    whose = geom.objid, geom.segid, geom.category, geom.camdist, geom.modelrbound, geom.transparent
    geom.assign(MjvGeom())
    geom.objid, geom.segid, geom.category, geom.camdist, geom.modelrbound, geom.transparent = whose
    geom.type, geom.size, geom.pos, geom.rgba = type, _full_size(type, size), pos, rgba
    geom.mat = np.reshape(mat, (3, 3))


def _full_size(kind: int, size: Any) -> Any:
    """Sizes with those of round shapes for both directions."""
    if kind == GeomType.SPHERE:
        return np.repeat(size[:1], 3)
    return np.array([size[0], size[0], size[1]]) if kind in _ROUND else size


@function("geom: MjvGeom, type: int, width: float, from_: v3, to: v3")
def mjv_connector(geom: MjvGeom, type: int, width: float, from_: Any, to: Any) -> None:
    """A shape from one point to another: capsule, cylinder, arrow or line."""
    if type not in _ROUND and type not in ARROWS:
        raise FatalError(f"mjv_connector: invalid geom type {type} for connector")
    along = np.asarray(to) - np.asarray(from_)
    length = float(np.linalg.norm(along))
    begins = type in ARROWS
    geom.type = type
    geom.size = (width, width, length if begins else 0.5 * length)
    geom.pos = from_ if begins else 0.5 * (np.asarray(from_) + np.asarray(to))
    geom.mat = _frame(along / length if length > 1e-15 else np.array([0.0, 0.0, 1.0]))


def _frame(z: Any) -> Any:
    """The rotation of least angle that takes the third axis to a direction."""
    x, y, c = z
    if c < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    k = 1.0 / (1.0 + c)
    return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, c]])


# ---- scenes


@function("m: m, d: d, opt: MjvOption, pert: MjvPerturb?, cam: MjvCamera, catmask: int, scn: MjvScene")
def mjv_updateScene(
    m: MjModel,
    d: MjData,
    opt: MjvOption,
    pert: MjvPerturb | None,
    cam: MjvCamera,
    catmask: int,
    scn: MjvScene,
) -> None:
    """Fill a scene with all that is seen: shapes, lights, camera, skins and flexes. What has no room is left out, and
    `scn.status` is 1."""
    seen = _seen(m, d, opt, pert, cam, catmask, scn)
    scn.ngeom = scn.status = 0
    _add(scn, seen)
    _light_up(scn, seen.lights)
    _look(scn, seen.view)
    _deform(m, d, scn, seen)


@function("m: m, d: d, opt: MjvOption, pert: MjvPerturb, catmask: int, scn: MjvScene")
def mjv_addGeoms(
    m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb, catmask: int, scn: MjvScene
) -> None:
    """Add the shapes of some categories (mjtCatBit) to a scene."""
    _add(scn, _seen(m, d, opt, pert, _view_of(scn), catmask, scn))


@function("m: m, d: d, cam: MjvCamera, scn: MjvScene")
def mjv_updateCamera(m: MjModel, d: MjData, cam: MjvCamera, scn: MjvScene) -> None:
    """Look at a scene through a camera."""
    _look(scn, view(m._model, d.seen_by(m), cam))


def _seen(
    m: MjModel, d: MjData, opt: MjvOption, pert: MjvPerturb | None, camera: Any, catmask: int, scn: MjvScene
) -> Scene:
    scene = Scene(m._model, scn._maxgeom)
    return scene.update(d.seen_by(m), camera, opt, perturb=pert, categories=catmask)


def _add(scn: MjvScene, seen: Scene) -> None:
    """Put elements behind those that are there."""
    room = scn._maxgeom - scn.ngeom
    for number, element in enumerate(seen.geoms.rows[:room]):
        geom = scn._geoms[scn.ngeom]
        for name in _OF_ELEMENTS:
            geom._memory[name][...] = element[name]
        geom.mat = element["mat"].reshape(3, 3)
        geom.label = seen.geoms.label(number)[:99]
        geom.transparent = 0  # who draws finds out
        scn.ngeom += 1
    if len(seen.geoms) > room:
        scn.status = 1


def _light_up(scn: MjvScene, lights: list[Light]) -> None:
    scn.nlight = min(len(lights), mjMAXLIGHT)
    for light, found in zip(scn._lights, lights, strict=False):
        _take(light, found, MjvLight._members)


def _look(scn: MjvScene, seen: View) -> None:
    for camera in scn._camera:
        _take(camera, seen, set(MjvGLCamera._members) - {"frustum_near", "frustum_far"})
        camera.frustum_near, camera.frustum_far = seen.znear, seen.zfar


def _take(struct: Struct, found: Any, names: Any) -> None:
    for name in names:
        struct._memory[name][...] = getattr(found, name)


def _view_of(scn: MjvScene) -> View:
    """The camera that a scene has."""
    camera = scn._camera[0]
    names = set(MjvGLCamera._members) - {"frustum_near", "frustum_far", "orthographic"}
    return View(
        **{name: getattr(camera, name) for name in names},
        znear=camera.frustum_near,
        zfar=camera.frustum_far,
        orthographic=bool(camera.orthographic),
    )


def _deform(m: MjModel, d: MjData, scn: MjvScene, seen: Scene) -> None:
    """Vertices of skins and flexes; the triangles of flexes are in `dovetail.visual`."""
    model = m._model
    for skin in seen.skins:
        begin = 3 * int(model.skin_vertadr[skin.skinid])
        for name, values in (("skinvert", skin.surface.vertices), ("skinnormal", skin.surface.normals)):
            scn._arrays[name][begin : begin + values.size] = values.reshape(-1)
    if model.nflex:
        scn.flexvert[:] = np.asarray(d.flexvert_xpos).reshape(-1)


__all__ = [name for name in dir() if name.startswith("mjv_")]
