"""The colour of what rays met: material, texture, lights, shadows, mirrors.

Lighting is that of OpenGL's fixed pipeline, which MuJoCo's pictures have, but at every pixel instead of every vertex:
emission, and for each light ambient, diffuse and a highlight about the half vector, by distance and spot cone. A
light that casts shadows gives nothing at all to a point that it does not see, its ambient part included."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering import sampling_numpy as sampling
from dovetail.rendering.drawing import Drawing, Kind, TextureUse
from dovetail.rendering.hits_numpy import NOTHING, Hits, Rays, in_rect, local, meet, near_line, nearest
from dovetail.rendering.prepare import FAR, Prepared
from dovetail.rendering.shapes_numpy import NORMALS

SHADOW_OFFSET = np.float32(5e-4)
"""Rays to lights start this much above the surface, as a share of the distance to the camera."""

SHARP = np.float32(1.5)
"""By how much less a pixel that lies slantingly on a surface blurs textures than all of its length would."""

CUBE_SHARP = np.float32(0.5)
"""The same for cube textures."""

GRAZING = np.float32(0.05)
"""Least cosine between ray and normal by which the size of a pixel on a surface is taken."""


def _unit(vectors: Array) -> Array:
    length = np.sqrt(np.einsum("ni,ni->n", vectors, vectors))
    unit: Array = vectors / np.maximum(length, np.float32(1e-20))[:, None]
    return unit


class Shader:
    """Colours in one world."""

    def __init__(self, drawing: Drawing, prepared: Prepared, world: int, pixel: float) -> None:
        self.drawing, self.prepared, self.world = drawing, prepared, world
        self.pixel = np.float32(pixel)
        """Size of a pixel at distance one."""
        first = drawing.elements.first
        everything = np.arange(first[world], first[world + 1])
        visible = prepared.elements.rgba[everything, 3] > 0
        finite = np.isfinite(prepared.near[everything])
        shown = everything[visible & finite]
        self.opaque = shown[~prepared.transparent[shown]]
        start, end = prepared.clear_first[world : world + 2]
        self.clear = prepared.clear_order[start:end]
        self.casters = shown[prepared.elements.kind[shown] != Kind.PLANE]

    # ---- one ray, all that is along it ------------------------------------------------------------------

    def seen(self, rays: Rays, *, on_picture: bool = True) -> Array:
        """Colours (n, 3) that rays bring back: the nearest opaque element, what is mirrored in it, and what is in
        front of it, through which it is seen."""
        hits = nearest(self.drawing, self.prepared, self.opaque, rays, on_picture=on_picture)
        colour = self._behind(rays)
        met = np.flatnonzero(hits.element != NOTHING)
        colour[met] = self._surface(rays.take(met), hits.take(met), mirrors=on_picture)
        return self._through(rays, hits.distance, colour, on_picture)

    def _through(self, rays: Rays, far: Array, colour: Array, on_picture: bool) -> Array:
        """Blend what is transparent over a colour. Each element is blended twice, as MuJoCo does: the nearest
        first, then all again, the nearest last. Planes are seen from below, too."""
        choose = in_rect if on_picture else near_line
        for element in (*self.clear, *self.clear[::-1]):
            some = choose(self.prepared, element, rays)
            fewer = rays.take(some)
            fewer.far = far[some]
            hits = meet(self.drawing, self.prepared, element, fewer)
            if self.prepared.elements.kind[element] == Kind.PLANE:
                below = meet(self.drawing, self.prepared, element, fewer, leaving=True)
                behind = np.flatnonzero(below.element != NOTHING)
                hits.put(behind, below.take(behind))
            met = np.flatnonzero(hits.element != NOTHING)
            opacity = self.prepared.elements.rgba[element, 3]
            own = self._surface(fewer.take(met), hits.take(met), mirrors=False)
            colour[some[met]] += opacity * (own - colour[some[met]])
        return colour

    def _behind(self, rays: Rays) -> Array:
        """The sky."""
        background = self.drawing.background
        if background.skybox < 0:
            return np.zeros((len(rays.far), 3), np.float32)
        x, y, z = rays.direction.T
        direction = np.stack([x, z, -y], axis=1)  # the sky's y axis is up
        detail = np.full(len(x), self.pixel * np.float32(0.5), np.float32)
        return sampling.in_direction(self.drawing.textures, background.skybox, direction, detail)

    # ---- a surface ----------------------------------------------------------------------------------------

    def _surface(self, rays: Rays, hits: Hits, *, mirrors: bool) -> Array:
        """Colours where rays met something."""
        elements = self.prepared.elements
        if len(hits.element) == 0:
            return np.zeros((0, 3), np.float32)
        place, normal, paint = self._geometry(rays, hits)
        rgb = elements.rgba[hits.element, :3]
        gloss = elements.gloss[hits.element]
        colour: Array = self._lit(rays, hits, place, normal, rgb, gloss) * paint
        if mirrors:
            self._mirror(rays, hits, place, normal, gloss[:, 3], colour)
        return np.clip(colour, 0, 1)

    def _geometry(self, rays: Rays, hits: Hits) -> tuple[Array, Array, Array]:
        """Where rays met surfaces, the unit normals there, and the textures' colours."""
        place = rays.origin + hits.distance[:, None] * rays.direction
        normal = np.zeros_like(place)
        paint = np.ones_like(place)
        for element in np.unique(hits.element):
            some = np.flatnonzero(hits.element == element)
            fewer, those = rays.take(some), hits.take(some)
            origin, direction = local(self.prepared, element, fewer)
            point = origin + those.distance[:, None] * direction
            own = self._own_normal(element, point, those)
            normal[some] = _unit(own @ self.prepared.inverse[element])
            if self.prepared.elements.texture_use[element] != TextureUse.NONE:
                paint[some] = self._paint(element, point, those, fewer, normal[some])
        return place, normal, paint

    def _own_normal(self, element: int, point: Array, hits: Hits) -> Array:
        """In the element's frame."""
        elements, kind = self.prepared.elements, int(self.prepared.elements.kind[element])
        if kind != Kind.SURFACE:
            return NORMALS[kind](point, elements.size[element].astype(np.float32))
        corners = self.drawing.forest.normals[hits.triangle].reshape(-1, 3, 3)
        return _mixed(corners, hits)

    def _paint(self, element: int, point: Array, hits: Hits, rays: Rays, normal: Array) -> Array:
        """Colours of the texture."""
        elements = self.prepared.elements
        use, texture = elements.texture_use[element], int(elements.texture[element])
        scale = elements.texture_scale[element].astype(np.float32)
        length = np.sqrt(np.einsum("ni,ni->n", rays.direction, rays.direction))
        slope = np.abs(np.einsum("ni,ni->n", rays.direction, normal)) / length
        footprint = (
            hits.distance
            * self.pixel
            * np.maximum(np.float32(1), np.float32(1) / (SHARP * np.maximum(slope, GRAZING)))
        )
        if use == TextureUse.CUBE:
            direction = point * scale
            reach = np.maximum(np.abs(direction).max(axis=1), np.float32(1e-20))
            detail = footprint * (np.abs(scale).max() * np.float32(0.5) * CUBE_SHARP) / reach
            return sampling.in_direction(self.drawing.textures, texture, direction, detail)
        density = np.abs(scale[:2]).max()
        if use == TextureUse.OWN:
            corners = self.drawing.forest.texcoords[hits.triangle].reshape(-1, 3, 2)
            coordinates = _mixed(corners, hits) * scale[:2]
            density = density * self.drawing.forest.density[elements.surface[element]]
        else:
            coordinates = point[:, :2] * scale[:2] - np.float32(0.5)
        return sampling.on_plane(self.drawing.textures, texture, coordinates, footprint * density)

    # ---- light --------------------------------------------------------------------------------------------

    def _lit(self, rays: Rays, hits: Hits, place: Array, normal: Array, rgb: Array, gloss: Array) -> Array:
        """What lights and the surface's own glow give: at most 1 from all that casts no shadow together, and from
        each light that does, for MuJoCo draws these one after the other."""
        lights = self.drawing.lights
        base, cast = gloss[:, :1] * rgb, np.zeros_like(rgb)
        viewer = -_unit(rays.direction)
        above = place + (SHADOW_OFFSET * hits.distance)[:, None] * normal
        for light in range(lights.first[self.world], lights.first[self.world + 1]):
            towards, away, strength = self._reaching(light, place)
            facing = np.einsum("ni,ni->n", normal, towards)
            strength = np.where(self._shadowed(light, above, towards, away, facing > 0), 0, strength)
            between = _unit(towards + viewer)
            glance = np.maximum(np.einsum("ni,ni->n", normal, between), np.float32(1e-6))
            highlight = np.where(facing > 0, glance ** (gloss[:, 2] * np.float32(128)), 0) * gloss[:, 1]
            given = strength[:, None] * (
                rgb * lights.ambient[light]
                + rgb * lights.diffuse[light] * np.maximum(facing, 0)[:, None]
                + lights.specular[light] * highlight[:, None]
            )
            if lights.castshadow[light]:
                cast = cast + np.clip(given, 0, 1)
            else:
                base = base + given
        total: Array = (np.clip(base, 0, 1) + cast).astype(np.float32)
        return total

    def _reaching(self, light: int, place: Array) -> tuple[Array, Array, Array]:
        """Unit vectors to a light, distances to it, and how much of it arrives. What is behind a directional light
        casts no shadow."""
        lights = self.drawing.lights
        dir_ = lights.dir[light].astype(np.float32)
        if lights.directional[light]:
            below = (place - self.prepared.light_pos[light]) @ dir_
            return np.broadcast_to(-dir_, place.shape), below, np.ones(len(place), np.float32)
        way = self.prepared.light_pos[light] - place
        away = np.sqrt(np.einsum("ni,ni->n", way, way))
        towards = way / np.maximum(away, np.float32(1e-20))[:, None]
        constant, linear, quadratic = lights.attenuation[light]
        strength = np.float32(1) / np.maximum(
            constant + linear * away + quadratic * away * away, np.float32(1e-10)
        )
        inside = -(towards @ dir_)
        if lights.cutoff[light] > -1:
            spot = np.maximum(inside, np.float32(1e-6)) ** lights.exponent[light]
            strength = strength * np.where(inside >= lights.cutoff[light], spot, 0)
        return towards, away, strength.astype(np.float32)

    def _shadowed(self, light: int, above: Array, towards: Array, away: Array, lit: Array) -> Array:
        """Points, among those that face a light, that it does not see."""
        shadow = np.zeros(len(above), bool)
        if not self.drawing.lights.castshadow[light]:
            return shadow
        some = np.flatnonzero(lit)
        nothing = np.zeros(len(some), np.float32)
        rays = Rays(above[some], towards[some], nothing, away[some], nothing, nothing)
        hits = nearest(self.drawing, self.prepared, self.casters, rays, on_picture=False)
        shadow[some] = hits.element != NOTHING
        return shadow

    def _mirror(
        self, rays: Rays, hits: Hits, place: Array, normal: Array, reflectance: Array, colour: Array
    ) -> None:
        """Add what planes and boxes mirror: whole colours, times their reflectance."""
        kind = self.prepared.elements.kind[hits.element]
        some = np.flatnonzero((reflectance > 0) & ((kind == Kind.PLANE) | (kind == Kind.BOX)))
        if len(some) == 0:
            return
        direction, out = rays.direction[some], normal[some]
        bounced = direction - np.float32(2) * np.einsum("ni,ni->n", direction, out)[:, None] * out
        nothing = np.zeros(len(some), np.float32)
        start = place[some] + (SHADOW_OFFSET * hits.distance[some])[:, None] * out
        mirrored = Rays(start, bounced, nothing, np.full(len(some), FAR), nothing, nothing)
        others = nearest(self.drawing, self.prepared, self.opaque, mirrored, on_picture=False)
        met = np.flatnonzero(others.element != NOTHING)
        own = self._surface(mirrored.take(met), others.take(met), mirrors=False)
        colour[some[met]] += reflectance[some[met], None] * own


def _mixed(corners: Array, hits: Hits) -> Array:
    """Values of three corners at places on triangles."""
    u, v = hits.u[:, None], hits.v[:, None]
    mixed: Array = corners[:, 0] + u * (corners[:, 1] - corners[:, 0]) + v * (corners[:, 2] - corners[:, 0])
    return mixed
