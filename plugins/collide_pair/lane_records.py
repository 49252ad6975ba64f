"""Records of the pairs that also have a function in lanes."""

from __future__ import annotations

from dovetail.implementation import Implementation

LANE_PAIRS = {
    "planes": ("plane-sphere", "plane-capsule", "plane-ellipsoid", "plane-cylinder", "plane-box"),
    "spheres": ("sphere-sphere", "sphere-capsule", "sphere-cylinder", "sphere-box"),
    "capsules": ("capsule-capsule", "capsule-box"),
    "boxes": ("box-box",),
}
"""By module, the pairs. A model in which others can touch collides on NumPy."""


def lane_records() -> list[Implementation]:
    """One record per pair, named as its NumPy sibling."""
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
        for module, keys in LANE_PAIRS.items()
        for key in keys
    ]
