"""Scenes of one world or of all worlds of a batch, as the arrays that a drawing is gathered from.

In most models only places differ between worlds: then one scene is made, of world 0, and places of geoms, sites,
cameras and lights are read for all worlds at once. Where what is drawn differs by world (tendons that wrap, marks
of contacts, skins, flexes) a scene is made for each."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.visual import Scene, TrackingCamera, View, view


@attrs.define(eq=False)
class Scenes:
    """What is seen in each of some worlds, through cameras of one kind."""

    rows: Array
    """Elements of all worlds, records of `visual.elements.ELEMENT`."""
    first: Array
    """(nworld + 1)"""
    view: View
    """The camera of the first world."""
    view_pos: Array
    view_axes: Array
    """(nworld, 3, 3): rows are right, up, forward."""
    lights: list[Any]
    """Of the first world."""
    light_pos: Array
    """(nworld, nlight, 3)"""
    light_dir: Array
    bending: list[dict[tuple[str, int], Any]]
    """Surfaces of skins and flexes, by world."""
    options: Any

    @property
    def nworld(self) -> int:
        return len(self.first) - 1


def scenes_of(model: Any, data: Any, camera: Any, options: Any, max_geom: int, world: int | None) -> Scenes:
    """What a camera sees: of a Data with one world, of one world of a batch, or of all of them."""
    nworld = getattr(data, "nworld", None)
    if nworld is None or world is not None:
        return _joined([Scene(model, max_geom).update(data, camera, options, world)])
    sample = Scene(model, max_geom).update(data, camera, options, 0)
    if _differs_by_world(sample):
        others = [Scene(model, max_geom).update(data, camera, options, w) for w in range(1, nworld)]
        return _joined([sample, *others])
    return _moved(model, data, camera, sample, nworld)


def _joined(scenes: list[Scene]) -> Scenes:
    """Scenes of worlds one behind the other."""
    rows = [scene.geoms.rows for scene in scenes]
    return Scenes(
        rows=np.concatenate(rows),
        first=np.cumsum([0, *map(len, rows)]).astype(np.int32),
        view=scenes[0].view,
        view_pos=np.array([scene.view.pos for scene in scenes], float),
        view_axes=np.array([_axes(scene.view) for scene in scenes], float),
        lights=scenes[0].lights,
        light_pos=np.array([[lamp.pos for lamp in scene.lights] for scene in scenes], float),
        light_dir=np.array([[lamp.dir for lamp in scene.lights] for scene in scenes], float),
        bending=[_bending(scene) for scene in scenes],
        options=scenes[0].options,
    )


def _axes(seen: View) -> Array:
    return np.stack([seen.right, seen.up, seen.forward])


def _bending(scene: Scene) -> dict[tuple[str, int], Any]:
    flexes = {("flex", flex.flexid): flex.surface for flex in scene.flexes}
    return flexes | {("skin", skin.skinid): skin.surface for skin in scene.skins}


def _differs_by_world(scene: Scene) -> bool:
    """Whether more than places could be different in another world."""
    rows = scene.geoms.rows
    still = np.isin(rows["objtype"], (ObjType.GEOM, ObjType.SITE)) & (rows["type"] < GeomType.ARROW)
    return not still.all() or bool(scene.geoms.labels) or _could_show_more(scene)


def _could_show_more(scene: Scene) -> bool:
    """Whether other worlds could have elements that this one has not: marks that come and go."""
    flags = scene.options.flags
    model = scene.model
    coming = ("contactpoint", "contactforce", "constraint", "island", "pertforce", "autoconnect", "sdfiter")
    return any(flags[name] for name in coming) or bool(model.ntendon or model.nflex or model.nskin)


def _moved(model: Any, data: Any, camera: Any, sample: Scene, nworld: int) -> Scenes:
    """The elements of one scene where they are in every world."""
    rows = np.tile(sample.geoms.rows, nworld)
    count = len(sample.geoms)
    by_world = rows.reshape(nworld, count)
    for objtype, name in ((ObjType.GEOM, "geom"), (ObjType.SITE, "site")):
        some = np.flatnonzero(sample.geoms.objtype == objtype)
        if len(some):
            which = sample.geoms.objid[some]
            by_world["pos"][:, some] = np.asarray(getattr(data, f"{name}_xpos"))[:, which]
            turns = np.asarray(getattr(data, f"{name}_xmat")).reshape(nworld, -1, 3, 3)
            by_world["mat"][:, some] = turns[:, which]
    place, axes = _cameras(model, data, camera, sample.view, nworld)
    light_pos, light_dir = _lamps(data, sample, place, axes, nworld)
    return Scenes(
        rows=rows,
        first=(np.arange(nworld + 1) * count).astype(np.int32),
        view=sample.view,
        view_pos=place,
        view_axes=axes,
        lights=sample.lights,
        light_pos=light_pos,
        light_dir=light_dir,
        bending=[{} for _ in range(nworld)],
        options=sample.options,
    )


def _cameras(model: Any, data: Any, camera: Any, sample: View, nworld: int) -> tuple[Array, Array]:
    """Where the camera of each world is, and its axes."""
    if sample.cameraid >= 0 and not isinstance(camera, View):
        place = np.array(np.asarray(data.cam_xpos)[:, sample.cameraid], float)
        turn = np.asarray(data.cam_xmat, float).reshape(nworld, -1, 3, 3)[:, sample.cameraid]
        axes = np.swapaxes(turn, 1, 2) * np.array([1.0, 1.0, -1.0])[:, None]
        return place, axes
    if isinstance(camera, TrackingCamera) or hasattr(camera, "trackbodyid"):
        seen = [view(model, data, camera, w) for w in range(nworld)]
        return np.array([one.pos for one in seen]), np.array([_axes(one) for one in seen])
    return np.tile(sample.pos, (nworld, 1)), np.tile(_axes(sample), (nworld, 1, 1))


def _lamps(data: Any, sample: Scene, place: Array, axes: Array, nworld: int) -> tuple[Array, Array]:
    """Where the lights of each world are and where they shine; the headlight is at the camera."""
    count = len(sample.lights)
    pos, dir_ = np.zeros((nworld, count, 3)), np.zeros((nworld, count, 3))
    for number, lamp in enumerate(sample.lights):
        if lamp.headlight:
            pos[:, number], dir_[:, number] = place, axes[:, 2]
        else:
            pos[:, number] = np.asarray(data.light_xpos)[:, lamp.id]
            dir_[:, number] = np.asarray(data.light_xdir)[:, lamp.id]
    return pos, dir_
