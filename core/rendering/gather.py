"""From scenes to a drawing: elements of `dovetail.visual` as the arrays that rays are cast at.

A `Gatherer` belongs to one Model. Trees of meshes and height fields, and textures with their smaller copies, are made
when first seen and kept; trees of skins and flexes keep their order and get new boxes. Everything else is read anew
for each picture, so that what was edited in the Model since is seen."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, LightType, TextureType
from dovetail.contracts.fields import Array
from dovetail.rendering import marks
from dovetail.rendering.batch import Scenes
from dovetail.rendering.drawing import Background, Drawing, Elements, Kind, Lights, TextureUse, Views
from dovetail.rendering.textures import Textures
from dovetail.rendering.trees import Forest, Planted, Tree, plant, planted
from dovetail.visual import Surface, VisFlag, hfield_surface, mesh_surface, skybox, texture_image
from dovetail.visual.materials import colour_texture
from dovetail.visual.surfaces import flat_surface

_MESHES = (GeomType.MESH, GeomType.SDF)


class Gatherer:
    """Makes drawings of one Model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.forget()

    def forget(self) -> None:
        """Read meshes, height fields and textures anew when they are next seen."""
        self._still: dict[tuple[str, int], Planted] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._still_forest: Forest | None = None
        self._trees: dict[tuple[str, int, int], Tree] = {}
        self._textures: Textures | None = None
        self._heights: Array | None = None

    def drawing(self, scenes: Scenes, height: int, width: int) -> Drawing:
        """All that is seen in some worlds."""
        if self._textures is None:
            self._textures = self._read_textures()
        rows, first = scenes.rows, scenes.first
        pixel = _pixel(scenes, height, width)
        line = pixel * float(self.model.vis.global_.linewidth)
        rows, first = marks.parted(rows, first, scenes.view_pos, line)
        self._notice_heights()
        surface, forest = self._surfaces(rows, first, scenes)
        return Drawing(
            elements=self._elements(rows, first, surface, scenes.options),
            forest=forest,
            textures=self._textures,
            lights=_lights(scenes),
            views=_views(scenes, height, width),
            background=self._background(),
            samples=4 if int(self.model.vis.quality.offsamples) > 1 else 1,
        )

    # ---- elements -----------------------------------------------------------------------------------------

    def _elements(self, rows: Array, first: Array, surface: Array, options: Any) -> Elements:
        kind = np.where(surface >= 0, int(Kind.SURFACE), rows["type"]).astype(np.int32)
        drawn = (surface >= 0) | np.isin(rows["type"], list(_SHAPES))
        size = rows["size"].astype(float)
        stretched = (surface >= 0) & ~np.isin(rows["type"], (marks.CONE, GeomType.TRIANGLE))
        texture, use, scale = self._painting(rows, size, options)
        bends = np.isin(
            rows["type"], (GeomType.FLEX, GeomType.SKIN)
        )  # their triangles are in the world's frame
        return Elements(
            first=first,
            kind=kind,
            size=np.where(stretched[:, None], 1.0, size),
            pos=np.where(bends[:, None], 0.0, rows["pos"]),
            mat=np.where(bends[:, None, None], np.eye(3), rows["mat"]),
            surface=surface.astype(np.int32),
            two_sided=np.isin(rows["type"], (GeomType.FLEX, GeomType.TRIANGLE)),
            rgba=np.where(drawn[:, None], rows["rgba"], np.float32(0)),
            gloss=np.stack(
                [rows[name] for name in ("emission", "specular", "shininess", "reflectance")], axis=1
            ),
            texture=texture,
            texture_use=use,
            texture_scale=scale,
            object=np.stack([rows["objid"], rows["objtype"]], axis=1).astype(np.int32),
            segmented=rows["segid"] >= 0,
        )

    def _painting(self, rows: Array, size: Array, options: Any) -> tuple[Array, Array, Array]:
        """Texture, its use, and scale of each element."""
        model, count = self.model, len(rows)
        texture = np.full(count, -1, np.int32)
        having = rows["matid"] >= 0
        if having.any() and options.shows(VisFlag.TEXTURE):
            of_material = np.array([colour_texture(model, i) for i in range(model.nmat)], np.int32)
            texture[having] = of_material[rows["matid"][having]]
        if (texture < 0).all():
            return texture, np.zeros(count, np.int32), np.ones((count, 3), np.float32)
        material = np.maximum(rows["matid"], 0)
        repeat = np.asarray(model.mat_texrepeat, float)[material]
        uniform = np.asarray(model.mat_texuniform, bool)[material][:, None]
        cube = np.asarray(model.tex_type)[np.maximum(texture, 0)] != TextureType.TWO_D
        own = (rows["texcoord"] > 0) | (rows["type"] == GeomType.HFIELD)
        use = np.where(cube, TextureUse.CUBE, np.where(own, TextureUse.OWN, TextureUse.ALONG_Z))
        extent = np.where(size > 0, size, 1.0)
        along = np.where(uniform, repeat / 2, repeat / (2 * extent[:, :2])) * (1, -1)
        scale = np.ones((count, 3))
        scale[:, :2] = np.where((use == TextureUse.OWN)[:, None], repeat, along)
        scale[use == TextureUse.CUBE] = np.where(uniform, 1.0, 1 / extent)[use == TextureUse.CUBE]
        use = np.where(texture < 0, TextureUse.NONE, use).astype(np.int32)
        return texture, use, scale.astype(np.float32)

    # ---- surfaces -----------------------------------------------------------------------------------------

    def _surfaces(self, rows: Array, first: Array, scenes: Scenes) -> tuple[Array, Forest]:
        """The surface of each element, -1 for shapes, and all of them."""
        number = np.full(len(rows), -1)
        for kind in set(rows["type"].tolist()) - _SHAPES:
            some = np.flatnonzero(rows["type"] == kind)
            if kind in (GeomType.FLEX, GeomType.SKIN):
                continue
            for data in set(rows["dataid"][some].tolist()):
                number[some[rows["dataid"][some] == data]] = self._still_number(int(kind), int(data))
        bending = [
            (at, surface)
            for world, surfaces in enumerate(scenes.bending)
            if surfaces
            for at, surface in self._bent(rows, first[world], first[world + 1], surfaces)
        ]
        if self._still_forest is None:
            self._still_forest = Forest.of(list(self._still.values()))
        if not bending:
            return number, self._still_forest
        number[[at for at, _ in bending]] = len(self._still) + np.arange(len(bending))
        return number, Forest.of([*self._still.values(), *(surface for _, surface in bending)])

    def _bent(self, rows: Array, begin: int, end: int, surfaces: dict[tuple[str, int], Any]) -> Any:
        """Elements that are skins or flexes, with their triangles."""
        for at in range(begin, end):
            kind = rows["type"][at]
            name = {int(GeomType.FLEX): "flex", int(GeomType.SKIN): "skin"}.get(int(kind))
            surface = surfaces.get((name, int(rows["objid"][at]))) if name else None
            if surface is None:
                continue
            key = (str(name), int(rows["objid"][at]), len(surface.faces))
            if key not in self._trees:
                self._trees[key] = plant(surface.vertices[surface.faces])
            yield (
                at,
                planted(
                    surface.vertices, surface.faces, surface.normals, surface.texcoords, self._trees[key]
                ),
            )

    def _still_number(self, kind: int, data: int) -> int:
        """The number of a surface that does not bend: a mesh, its hull, a height field, a cone, a triangle."""
        name = "mesh" if kind in _MESHES else str(kind) if kind == marks.CONE else GeomType(kind).name.lower()
        key = (name, data)
        if key not in self._numbers:
            self._still[key] = self._planted(kind, data)
            self._numbers[key] = len(self._numbers)
            self._still_forest = None
        return self._numbers[key]

    def _planted(self, kind: int, data: int) -> Planted:
        if kind in _MESHES:
            surface = mesh_surface(self.model, data // 2, hull=bool(data % 2))
        elif kind == GeomType.HFIELD:
            self._heights = np.array(self.model.hfield_data)
            surface = _flat(hfield_surface(self.model, data))  # MuJoCo's terrains have facets
        else:
            surface = marks.SURFACES[kind]()
        return planted(surface.vertices, surface.faces, surface.normals, surface.texcoords)

    def _notice_heights(self) -> None:
        """Height fields are made anew if their heights were edited, as terrains of training are."""
        if self._heights is None or np.array_equal(self.model.hfield_data, self._heights):
            return
        for key in [key for key in self._still if key[0] == "hfield"]:
            self._still[key] = self._planted(GeomType.HFIELD, key[1])
        self._still_forest = None

    # ---- textures and sky ---------------------------------------------------------------------------------

    def _read_textures(self) -> Textures:
        model = self.model
        return Textures.of(
            (texture_image(model, i), int(model.tex_type[i]) != TextureType.TWO_D) for i in range(model.ntex)
        )

    def _background(self) -> Background:
        return Background(skybox(self.model))


def _flat(surface: Surface) -> Surface:
    """A surface whose triangles have corners, and normals, of their own."""
    flat = flat_surface(surface.vertices, surface.faces)
    coordinates = None if surface.texcoords is None else surface.texcoords[surface.faces].reshape(-1, 2)
    return attrs.evolve(flat, texcoords=coordinates)


_SHAPES = {int(kind) for kind in Kind if kind != Kind.SURFACE}


def _pixel(scenes: Scenes, height: int, width: int) -> float:
    """Size of a pixel at distance one."""
    view = scenes.view
    left, right, _, _ = view.window(width, height)
    return (right - left) / width / (1.0 if view.orthographic else view.znear)


def _views(scenes: Scenes, height: int, width: int) -> Views:
    """All worlds look through cameras of one kind, each from its own place."""
    view, count = scenes.view, len(scenes.first) - 1
    window = np.array(view.window(width, height)) / (1.0 if view.orthographic else view.znear)

    def same(value: Any) -> Array:
        return np.full(count, value)

    return Views(
        pos=scenes.view_pos,
        axes=scenes.view_axes,
        window=np.tile(window, (count, 1)),
        orthographic=same(bool(view.orthographic)),
        near=same(float(view.znear)),
        far=same(float(view.zfar)),
    )


def _lights(scenes: Scenes) -> Lights:
    """Lights of every world; lights that are images light nothing."""
    lamps, count = scenes.lights, len(scenes.first) - 1
    kind = np.array([lamp.type for lamp in lamps], int)
    cone = [
        np.cos(np.radians(lamp.cutoff)) if lamp.type == LightType.SPOT and lamp.cutoff <= 90 else -1.0
        for lamp in lamps
    ]

    def each(values: Any, width: int = 0) -> Array:
        """The same in every world."""
        table = np.array(values, np.float32).reshape((-1, width) if width else -1)
        return np.tile(table, (count, 1) if width else count)

    return Lights(
        first=np.arange(count + 1, dtype=np.int32) * len(lamps),
        directional=np.tile(kind == LightType.DIRECTIONAL, count),
        pos=scenes.light_pos.reshape(-1, 3),
        dir=scenes.light_dir.reshape(-1, 3).astype(np.float32),
        ambient=each([lamp.ambient for lamp in lamps], 3),
        diffuse=each([lamp.diffuse for lamp in lamps], 3),
        specular=each([lamp.specular for lamp in lamps], 3),
        attenuation=each([lamp.attenuation for lamp in lamps], 3),
        cutoff=each(cone),
        exponent=each([lamp.exponent for lamp in lamps]),
        castshadow=np.tile(np.array([bool(lamp.castshadow) for lamp in lamps], bool), count),
    )
