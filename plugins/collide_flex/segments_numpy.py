"""Contacts of segments of flexes, which are capsules: with spheres, capsules and boxes, with each other, and with
vertices beside them.

A capsule goes from an element's second corner to its first. Two capsules touch where their axes are nearest, parallel
ones in up to two places. All pairs at once, except with boxes, which take the formula of geoms one by one. World
frame. Compare mj_makeCapsule, mjraw_SphereCapsule, mjraw_CapsuleCapsule and mjraw_CapsuleBox.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.contracts.types import Data, Model
from dovetail.plugins.collide_flex.contact_rows_numpy import contacts, crosses, dots, listed, units
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.element_boxes_numpy import corner_places
from dovetail.plugins.shared.geometry.capsules_numpy import capsule_box_shapes
from dovetail.plugins.shared.geometry.shapes_numpy import Primitive, primitive_of
from dovetail.plugins.shared.vectors_numpy import Vector


class Capsules(NamedTuple):
    """Capsules by row; a sphere has no length."""

    centre: Array
    axis: Array
    half_length: Array
    radius: Array

    @property
    def half(self) -> Array:
        """From the centre to the end."""
        return self.axis * self.half_length[:, None]


class Balls(NamedTuple):
    """The parts of capsules that touch."""

    centre: Array
    radius: Array
    axis: Array
    """If two centres coincide, the normal is perpendicular to both axes."""


# ---- shapes -----------------------------------------------------------------------------------------------


def segments(model: ModelLike, data: DataLike, pairs: FlexPairs, side: int) -> Capsules:
    """The elements on one side."""
    flex = pairs.flex[:, side]
    ends = corner_places(model, data, flex, pairs.elem[:, side])
    direction, length = units(ends[:, 0] - ends[:, 1])
    centre = (ends[:, 0] + ends[:, 1]) * 0.5
    return Capsules(centre, turned_axes(direction), 0.5 * length, model.flex_radius[flex])


def turned_axes(direction: Array) -> Array:
    """Where the rotation that turns the z-axis to unit vectors puts it: the same but for rounding, which decides
    whether two capsules count as parallel."""
    x, y, z = direction.T
    across = np.sqrt(y * y + x * x)
    half_angle = 0.5 * np.arctan2(across, z)
    sine, cosine = np.sin(half_angle), np.cos(half_angle)
    inverse = 1.0 / np.maximum(across, MINVAL)
    i, j = -y * inverse * sine, x * inverse * sine
    turned = np.stack([2.0 * (cosine * j), -2.0 * (cosine * i), cosine * cosine - i * i - j * j], axis=1)
    straight = np.stack([0.0 * z, 0.0 * z, np.where(z < 0.0, -1.0, 1.0)], axis=1)
    return np.where((across < MINVAL)[:, None], straight, turned)


def geom_capsules(model: ModelLike, data: DataLike, geom: Array) -> Capsules:
    """Geoms that are capsules."""
    size = model.geom_size[geom]
    return Capsules(data.geom_xpos[geom], z_axes(data, geom), size[:, 1], size[:, 0])


def geom_balls(model: ModelLike, data: DataLike, geom: Array) -> Balls:
    """Geoms that are spheres."""
    return Balls(data.geom_xpos[geom], model.geom_size[geom, 0], z_axes(data, geom))


def z_axes(data: DataLike, geom: Array) -> Array:
    return data.geom_xmat[geom].reshape(-1, 9)[:, 2::3]


def ball_at(capsules: Capsules, x: Array) -> Balls:
    """The part of capsules at places from −1 to 1 along their axes."""
    return Balls(capsules.centre + x[:, None] * capsules.half, capsules.radius, capsules.axis)


# ---- contacts ---------------------------------------------------------------------------------------------


class Touch(NamedTuple):
    """Contacts of balls by row, those too that are too far."""

    near: Array
    dist: Array
    pos: Array
    normal: Array


def touch(first: Balls, second: Balls, margin: Array) -> Touch:
    """How balls touch."""
    offset = second.centre - first.centre
    reach = margin + first.radius + second.radius
    normal, length = units(offset)
    normal = np.where((length < MINVAL)[:, None], units(crosses(first.axis, second.axis))[0], normal)
    dist = (length - second.radius) - first.radius
    pos = first.centre + (first.radius + 0.5 * dist)[:, None] * normal
    return Touch(dots(offset, offset) <= reach * reach, dist, pos, normal)


def ball_segment(balls: Balls, capsules: Capsules, margin: Array) -> FlexContacts:
    """Balls with the points of capsules' axes nearest to them."""
    height = dots(capsules.axis, balls.centre - capsules.centre)
    height = np.minimum(np.maximum(height, -capsules.half_length), capsules.half_length)
    nearest = Balls(capsules.centre + height[:, None] * capsules.axis, capsules.radius, capsules.axis)
    found = touch(balls, nearest, margin)
    near = np.flatnonzero(found.near)
    return contacts(near, found.dist[near], found.pos[near], found.normal[near])


def sphere_segment(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the geom."""
    return ball_segment(geom_balls(model, data, pairs.geom[:, 0]), segments(model, data, pairs, 1), margin)


def vertex_segment(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the vertex, a ball of the flex's radius."""
    flex = pairs.flex[:, 0]
    centre = data.flexvert_xpos[model.flex_vertadr[flex] + pairs.vert[:, 0]]
    upright = np.broadcast_to([0.0, 0.0, 1.0], centre.shape)
    balls = Balls(centre, model.flex_radius[flex], upright)
    return ball_segment(balls, segments(model, data, pairs, 1), margin)


def capsule_segment(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the geom."""
    return capsule_capsule(
        geom_capsules(model, data, pairs.geom[:, 0]), segments(model, data, pairs, 1), margin
    )


def segment_segment(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """Two elements."""
    return capsule_capsule(segments(model, data, pairs, 0), segments(model, data, pairs, 1), margin)


def capsule_capsule(first: Capsules, second: Capsules, margin: Array) -> FlexContacts:
    """Capsules: one contact where the axes are nearest, or up to two if these are parallel."""
    h1, h2, offset = first.half, second.half, first.centre - second.centre
    products = Products(dots(h1, h1), dots(h2, h2), dots(h1, h2), -dots(h1, offset), dots(h2, offset))
    parallel = np.abs(products.determinant) < MINVAL
    ends, nearest = products.ends(), products.nearest()
    begin = (np.where(parallel, ends[0][0], nearest[0]), np.where(parallel, ends[0][1], nearest[1]))
    places = [begin, *ends[1:]]
    found = [touch(ball_at(first, x1), ball_at(second, x2), margin) for x1, x2 in places]
    near = np.stack([each.near for each in found], axis=1)
    near[:, 1:] &= parallel[:, None]
    near &= np.cumsum(near, axis=1) <= 2
    pair, number = np.nonzero(near)
    columns = [np.stack([each[i] for each in found], axis=1)[pair, number] for i in (1, 2, 3)]
    return contacts(pair, *columns)


class Products(NamedTuple):
    """Pairs of segments c + x·h, x in ±1, by the products their nearest points depend on."""

    length1: Array
    """h₁·h₁"""
    length2: Array
    """h₂·h₂"""
    common: Array
    """h₁·h₂"""
    towards1: Array
    """h₁·(c₂ − c₁)"""
    towards2: Array
    """h₂·(c₁ − c₂)"""

    @property
    def determinant(self) -> Array:
        """Zero if the segments are parallel."""
        return self.length1 * self.length2 - self.common * self.common

    def on_first(self, x2: Array) -> Array:
        """Where the first segment's line is nearest to a point of the second."""
        return quotient(self.towards1 + self.common * x2, self.length1)

    def on_second(self, x1: Array) -> Array:
        """Where the second segment's line is nearest to a point of the first."""
        return quotient(self.towards2 + self.common * x1, self.length2)

    def nearest(self) -> tuple[Array, Array]:
        """Where segments that are not parallel come nearest to each other."""
        determinant = self.determinant
        x1 = quotient(self.length2 * self.towards1 + self.common * self.towards2, determinant)
        x2 = quotient(self.length1 * self.towards2 + self.common * self.towards1, determinant)
        beyond = np.abs(x1) > 1
        x1 = clipped(x1)
        x2 = np.where(beyond, self.on_second(x1), x2)
        beyond = np.abs(x2) > 1
        x2 = clipped(x2)
        return np.where(beyond, clipped(self.on_first(x2)), x1), x2

    def ends(self) -> list[tuple[Array, Array]]:
        """Both ends of the first of parallel segments, then of the second, each with the other's nearest place."""
        one = np.ones(len(self.common))
        first = [(x1, clipped(self.on_second(x1))) for x1 in (one, -one)]
        second = [(clipped(self.on_first(x2)), x2) for x2 in (one, -one)]
        return first + second


def quotient(numerator: Array, denominator: Array) -> Array:
    """The quotient, zero for a segment of no length."""
    return np.where(denominator != 0.0, numerator / np.where(denominator != 0.0, denominator, 1.0), 0.0)


def clipped(x: Array) -> Array:
    return np.clip(x, -1.0, 1.0)


def box_segment(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the geom; the formula has the capsule first."""
    capsules = segments(model, data, pairs, 1)
    pair: list[int] = []
    dist: list[float] = []
    pos: list[Vector] = []
    normal: list[Vector] = []
    for row, (box, reach) in enumerate(zip(pairs.geom[:, 0].tolist(), margin.tolist(), strict=True)):
        found = capsule_box_shapes(upright(capsules, row), primitive_of(model, data, box), reach)
        for d, p, n in zip(found.dist.tolist(), found.pos.tolist(), found.normal.tolist(), strict=True):
            pair.append(row)
            dist.append(d)
            pos.append(p)
            normal.append((-n[0], -n[1], -n[2]))
    return listed(pair, dist, pos, normal)


def upright(capsules: Capsules, row: int) -> Primitive:
    """A capsule as formulas of geoms take it: of its frame they ask for the z-axis alone."""
    x, y, z = capsules.axis[row].tolist()
    cx, cy, cz = capsules.centre[row].tolist()
    size = float(capsules.radius[row]), float(capsules.half_length[row]), 0.0
    return Primitive((cx, cy, cz), (0.0, 0.0, x, 0.0, 0.0, y, 0.0, 0.0, z), size)
