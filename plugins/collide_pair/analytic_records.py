"""Records of the pairs that have a formula of their own."""

from __future__ import annotations

from dovetail.implementation import Implementation

_PAIRS = {
    "planes": {
        "plane-sphere": "Height of the centre",
        "plane-capsule": "Both ends; the first tangent runs along the capsule",
        "plane-ellipsoid": "The lowest point",
        "plane-cylinder": "Up to four points of the rims",
        "plane-box": "Up to four corners",
        "plane-mesh": "Up to three vertices of the hull",
        "plane-sdf": "Up to three vertices of the hull",
    },
    "spheres": {
        "sphere-sphere": "Distance of the centres",
        "sphere-capsule": "Nearest point of the axis",
        "sphere-cylinder": "Nearest of side, cap and rim",
        "sphere-box": "Nearest point of the box",
    },
    "capsules": {
        "capsule-capsule": "Nearest points of the axes, two contacts if these are parallel",
        "capsule-box": "Nearest point of the axis, and a second one over the same face or edge",
    },
    "boxes": {"box-box": "Fifteen separating directions, then clipping of the sides that face each other"},
}
"""By module, the pairs and how each is found."""

_FUNCTIONS = {"plane-sdf": "plane_mesh"}


def analytic_records() -> list[Implementation]:
    """One record per pair."""
    return [
        Implementation(
            stage="collide_pair",
            name="analytic",
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.collide_pair.{module}_numpy:{_FUNCTIONS.get(key, key.replace('-', '_'))}",
            default=True,
            summary=summary,
        )
        for module, pairs in _PAIRS.items()
        for key, summary in pairs.items()
    ]
