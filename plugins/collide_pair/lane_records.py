"""Records of the pairs that also have a function in lanes."""

from __future__ import annotations

from dovetail.implementation import Implementation
from dovetail.plugins.collide_pair.convex_records import CONVEX_PAIRS, HFIELD_PAIRS

LANE_PAIRS = {
    "planes": ("plane-sphere", "plane-capsule", "plane-ellipsoid", "plane-cylinder", "plane-box"),
    "spheres": ("sphere-sphere", "sphere-capsule", "sphere-cylinder", "sphere-box"),
    "capsules": ("capsule-capsule", "capsule-box"),
    "boxes": ("box-box",),
}
"""By module, the pairs. A model in which others can touch collides on NumPy."""


PLANE_HULL = ("plane-mesh", "plane-sdf")
"""A plane and the hull of a mesh: the worlds of a tile take turns, as in the convex pairs."""


MOST_CONTACTS = {
    "plane-sphere": 1,
    "plane-capsule": 2,
    "plane-ellipsoid": 1,
    "plane-cylinder": 4,
    "plane-box": 4,
    "sphere-sphere": 1,
    "sphere-capsule": 1,
    "sphere-cylinder": 1,
    "sphere-box": 1,
    "capsule-capsule": 2,
    "capsule-box": 2,
    "box-box": 12,
    "plane-mesh": 3,
    "plane-sdf": 3,
    **dict.fromkeys(CONVEX_PAIRS, 1),
    **dict.fromkeys(HFIELD_PAIRS, 50),
}
"""Contacts that a row finds at most. Two rectangles overlap in eight corners at most; a box may add its lowest corner
just beside the face, and corners on an outline are found twice. With height fields as `multicontact_numpy` says."""


def lane_records() -> list[Implementation]:
    """One record per pair, named as its NumPy sibling."""
    return [*_analytic_records(), *_convex_records()]


def _convex_records() -> list[Implementation]:
    convex = dict.fromkeys(CONVEX_PAIRS, "convex_lanes:convex")
    hfield = dict.fromkeys(HFIELD_PAIRS, "hfield_lanes:height_field")
    return [
        Implementation(
            stage="collide_pair",
            name="convex",
            key=key,
            backend="lanes",
            target=f"dovetail.plugins.collide_pair.{target}",
            default=True,
            supports="ccd.native",
            reads="geom_xpos geom_xmat",
            facts={"most_contacts": MOST_CONTACTS[key]},
            summary="The same in lane kernels, one world after the other",
        )
        for key, target in {**convex, **hfield}.items()
    ]


def _analytic_records() -> list[Implementation]:
    formulas = {
        key: f"{module}_lanes:{key.replace('-', '_')}" for module, keys in LANE_PAIRS.items() for key in keys
    }
    hulls = dict.fromkeys(PLANE_HULL, "planes_lanes:plane_mesh")
    return [
        Implementation(
            stage="collide_pair",
            name="analytic",
            key=key,
            backend="lanes",
            target=f"dovetail.plugins.collide_pair.{target}",
            default=True,
            facts={"most_contacts": MOST_CONTACTS[key]},
            summary="The same in lanes",
        )
        for key, target in {**formulas, **hulls}.items()
    ]
