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


WORLD_BY_WORLD = {"meshes": ("plane-mesh",)}
"""Those in which the worlds of a tile take turns, beside the convex pairs."""


def lane_records() -> list[Implementation]:
    """One record per pair, named as its NumPy sibling."""
    return [*_analytic_records(), *_convex_records()]


def _convex_records() -> list[Implementation]:
    return [
        Implementation(
            stage="collide_pair",
            name="convex",
            key=key,
            backend="taichi",
            target="dovetail.plugins.collide_pair.convex_taichi:convex",
            default=True,
            supports="ccd.native",
            reads="geom_xpos geom_xmat",
            summary="The same in lane kernels, one world after the other",
        )
        for key in (*CONVEX_PAIRS, *HFIELD_PAIRS)
    ]


def _analytic_records() -> list[Implementation]:
    return [
        Implementation(
            stage="collide_pair",
            name="analytic",
            key=key,
            backend="taichi",
            target=f"dovetail.plugins.collide_pair.{module}_taichi:{key.replace('-', '_')}",
            default=True,
            summary="The same in lanes",
        )
        for module, keys in {**LANE_PAIRS, **WORLD_BY_WORLD}.items()
        for key in keys
    ]
