"""The geoms of a model as batches: each is one surface that a browser draws many times.

What has a colour only is made of unit shapes or is a mesh, and every instance has a colour of its own. What has a
texture, a glow or a stated finish is a batch for itself, with its material inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, TextureType
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.viewer.glb import Paint, glb
from dovetail.viewer.pieces import PIECES, Pieces, Triangles, pieces, unit_shape, welded
from dovetail.viewer.texturing import texture_of, textured
from dovetail.visual.materials import Appearance, appearance, material_rgba
from dovetail.visual.surfaces import Surface, element_size, geom_surface

HORIZON = 12.0
"""Half the side of an infinite plane, in extents of the model."""
LEAST_HORIZON = 25.0
"""And in metres, at least."""


@attrs.frozen(eq=False)
class Batch:
    """One surface, drawn for every piece: with colours of the pieces' own (`triangles`) or a material (`file`)."""

    name: str
    made: Pieces
    triangles: Triangles | None = None
    file: bytes = b""
    rgba: Array | None = None
    """Colours of the pieces (n, 4), if they have their own."""
    transparent: bool = False
    shadow: bool = True
    """Whether it casts one; a plane has nothing below it to cast it on, and would darken itself."""

    def geoms(self, ngeom: int) -> Array:
        """The geom that each piece belongs to."""
        found: Array = self.made.element % ngeom
        return found


def drawn_geoms(model: Model, groups: Array) -> Array:
    """Geoms of the groups that are shown and that are not wholly transparent."""
    group = np.clip(np.asarray(model.geom_group), 0, len(groups) - 1)
    rgba = geom_colours(model)
    return np.flatnonzero(np.asarray(groups, bool)[group] & (rgba[:, 3] > 0))


def geom_colours(model: Model) -> Array:
    """Colours (ngeom, 4), of the geoms' own or of their materials."""
    return material_rgba(model, model.geom_matid, model.geom_rgba)


def geom_sizes(model: Model) -> Array:
    """Sizes (ngeom, 3) as elements state them; planes without end reach to the horizon."""
    kinds = np.asarray(model.geom_type)
    sizes = np.array([element_size(k, s) for k, s in zip(kinds, model.geom_size, strict=True)]).reshape(-1, 3)
    planes = kinds == GeomType.PLANE
    sizes[planes, :2] = np.where(sizes[planes, :2] > 0, sizes[planes, :2], horizon(model))
    return sizes


def horizon(model: Model) -> float:
    """How far a plane without end is drawn [m]."""
    return max(LEAST_HORIZON, HORIZON * float(model.stat.extent))


def batches(
    model: Model,
    geoms: Array,
    worlds: int = 1,
    *,
    textures: bool = True,
    hull: bool = False,
    clear: bool = False,
) -> list[Batch]:
    """Chosen geoms of so many worlds as batches. Element `world * ngeom + geom` is a geom in a world; planes are the
    same in all worlds and are drawn in the first one only. `hull`: meshes as their convex hulls; `clear`: what can
    move is see-through."""
    looks = [appearance(model, int(model.geom_matid[g]), model.geom_rgba[g]) for g in geoms]
    seen_through = moving_geoms(model)[geoms] & clear
    special = np.array([textures and is_special(look) for look in looks], bool) & ~seen_through
    chosen = [(int(g), look) for g, look, yes in zip(geoms, looks, special, strict=True) if yes]
    made = list(_painted(model, chosen, hull))
    rgba = geom_colours(model)[geoms]
    rgba[seen_through, 3] *= float(model.vis.map.alpha)
    made += _coloured(model, geoms[~special], rgba[~special], hull)
    return [_in_worlds(batch, model, worlds) for batch in made]


GHOST = 0.4
"""Opacity of what stands in the place of something else."""


def ghosts(model: Model, geoms: Array, worlds: Iterable[int]) -> list[Batch]:
    """What can move of some worlds, see-through, for drawing over the first one."""
    moving = geoms[moving_geoms(model)[geoms]]
    rgba = geom_colours(model)[moving]
    rgba[:, 3] *= GHOST
    found = []
    for world in worlds:
        for batch in _coloured(model, moving, rgba, hull=False):
            element = batch.made.element + world * int(model.ngeom)
            found.append(
                attrs.evolve(
                    batch,
                    name=f"ghost_{world}_{batch.name}",
                    made=attrs.evolve(batch.made, element=element),
                    shadow=False,
                )
            )
    return found


def moving_geoms(model: Model) -> Array:
    """Whether each geom can move: it hangs on a joint, or on a mocap body."""
    body = np.asarray(model.geom_bodyid)
    still = np.asarray(model.body_weldid)[body] == 0
    by_hand = np.asarray(model.body_mocapid)[np.asarray(model.body_rootid)[body]] >= 0
    moving: Array = ~still | by_hand
    return moving


def is_special(look: Appearance) -> bool:
    """Whether a colour is not enough to draw it."""
    return look.texid >= 0 or look.emission > 0 or look.metallic >= 0 or look.roughness >= 0


def paint_of(model: Model, look: Appearance) -> Paint:
    """A material as glTF has it. MuJoCo's shininess is turned into roughness where that is not stated."""
    roughness = (
        look.roughness if look.roughness >= 0 else 1.0 - 0.6 * look.shininess * min(1.0, 2 * look.specular)
    )
    return Paint(
        rgba=look.rgba,
        image=texture_of(model, look),
        metallic=max(0.0, look.metallic),
        roughness=roughness,
        emission=look.emission,
    )


def _painted(model: Model, found: list[tuple[int, Appearance]], hull: bool) -> Iterator[Batch]:
    """Batches of geoms with a material: those that share surface and material are one."""
    together: dict[Any, list[int]] = {}
    looks: dict[Any, Appearance] = {}
    for geom, look in found:
        key = _painted_key(model, geom, look)
        together.setdefault(key, []).append(geom)
        looks[key] = look
    for number, (key, members) in enumerate(together.items()):
        look = looks[key]
        surface = textured(model, members[0], _surface(model, members[0], hull), look)
        file = glb(surface.vertices, surface.faces, surface.normals, surface.texcoords, paint_of(model, look))
        plane = key[0] == GeomType.PLANE
        yield Batch(
            f"painted_{number}",
            _as_they_are(members),
            file=file,
            transparent=look.transparent,
            shadow=not plane,
        )


def _painted_key(model: Model, geom: int, look: Appearance) -> tuple[Any, ...]:
    kind, data = int(model.geom_type[geom]), int(model.geom_dataid[geom])
    size = () if data >= 0 and kind != GeomType.PLANE else tuple(float(x) for x in model.geom_size[geom])
    return kind, data, size, look.matid, tuple(float(x) for x in look.rgba)


def _coloured(model: Model, geoms: Array, rgba: Array, hull: bool) -> list[Batch]:
    kinds = np.asarray(model.geom_type)[geoms]
    sizes = geom_sizes(model)[geoms]
    found: list[Batch] = []
    for clear in (False, True):
        chosen = np.flatnonzero((rgba[:, 3] < 1) == clear)
        word = "_clear" if clear else ""
        for made in pieces(kinds[chosen], sizes[chosen]):
            own = attrs.evolve(made, element=geoms[chosen][made.element])
            colours = rgba[chosen][made.element]
            found.append(
                Batch(
                    made.shape + word,
                    own,
                    unit_shape(made.shape),
                    rgba=colours,
                    transparent=clear,
                    shadow=made.shape != "sheet",
                )
            )
        found += _surfaces(model, geoms[chosen], rgba[chosen], word, hull)
    return found


def _surfaces(model: Model, geoms: Array, rgba: Array, word: str, hull: bool) -> Iterator[Batch]:
    """Meshes and height fields, those of one asset together."""
    kinds, data = np.asarray(model.geom_type)[geoms], np.asarray(model.geom_dataid)[geoms]
    own = ~np.isin(kinds, list(PIECES))
    for kind, asset in sorted({(int(k), int(d)) for k, d in zip(kinds[own], data[own], strict=True)}):
        members = np.flatnonzero((kinds == kind) & (data == asset))
        surface = _surface(model, int(geoms[members[0]]), hull)
        yield Batch(
            f"{GeomType(kind).name.lower()}_{asset}{word}",
            _as_they_are(geoms[members]),
            welded(surface.vertices, surface.normals, surface.faces),
            rgba=rgba[members],
            transparent=bool(word),
        )


def _surface(model: Model, geom: int, hull: bool) -> Surface:
    """The surface of a geom, an endless plane's as far as it is drawn."""
    surface = geom_surface(model, geom, hull=hull)
    if model.geom_type[geom] == GeomType.PLANE:
        stated = np.asarray(model.geom_size[geom], float)[:2]
        far = np.where(stated > 0, 1.0, horizon(model))
        return surface.scaled((*far, 1.0))
    return surface


def _as_they_are(geoms: Any) -> Pieces:
    count = len(geoms)
    return Pieces(
        "", np.asarray(geoms, int), np.zeros((count, 3)), np.ones((count, 3)), np.zeros(count, bool)
    )


def _in_worlds(batch: Batch, model: Model, worlds: int) -> Batch:
    """The same pieces in every world, but planes in the first one only."""
    if worlds == 1:
        return batch
    made, ngeom = batch.made, int(model.ngeom)
    plane = np.asarray(model.geom_type)[made.element] == GeomType.PLANE
    rest = np.flatnonzero(~plane)
    index = np.concatenate([np.flatnonzero(plane), np.tile(rest, worlds)])
    world = np.concatenate([np.zeros(int(plane.sum()), int), np.repeat(np.arange(worlds), len(rest))])
    return attrs.evolve(
        batch,
        made=Pieces(
            made.shape,
            made.element[index] + world * ngeom,
            made.offset[index],
            made.scale[index],
            made.flipped[index],
        ),
        rgba=None if batch.rgba is None else batch.rgba[index],
    )


def has_sky(model: Model) -> bool:
    """Whether the model states a sky."""
    return bool((np.asarray(model.tex_type) == TextureType.SKYBOX).any())
