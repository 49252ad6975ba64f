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


def lane_records() -> list[Implementation]:
    """One record per pair, named as its NumPy sibling."""
    return [*_analytic_records(), *_convex_records()]


def _convex_records() -> list[Implementation]:
    convex = dict.fromkeys(CONVEX_PAIRS, "convex_taichi:convex")
    hfield = dict.fromkeys(HFIELD_PAIRS, "hfield_taichi:height_field")
    return [
        Implementation(
            stage="collide_pair",
            name="convex",
            key=key,
            backend="taichi",
            target=f"dovetail.plugins.collide_pair.{target}",
            default=True,
            supports="ccd.native",
            reads="geom_xpos geom_xmat",
            summary="The same in lane kernels, one world after the other",
        )
        for key, target in {**convex, **hfield}.items()
    ]


def _analytic_records() -> list[Implementation]:
    formulas = {
        key: f"{module}_taichi:{key.replace('-', '_')}" for module, keys in LANE_PAIRS.items() for key in keys
    }
    hulls = dict.fromkeys(PLANE_HULL, "planes_taichi:plane_mesh")
    return [
        Implementation(
            stage="collide_pair",
            name="analytic",
            key=key,
            backend="taichi",
            target=f"dovetail.plugins.collide_pair.{target}",
            default=True,
            summary="The same in lanes",
        )
        for key, target in {**formulas, **hulls}.items()
    ]
