"""Records of the pairs found by iteration on convex shapes."""

from __future__ import annotations

from dovetail.implementation import Implementation

CONVEX_PAIRS = (
    "sphere-ellipsoid",
    "sphere-mesh",
    "capsule-ellipsoid",
    "capsule-cylinder",
    "capsule-mesh",
    "ellipsoid-ellipsoid",
    "ellipsoid-cylinder",
    "ellipsoid-box",
    "ellipsoid-mesh",
    "cylinder-cylinder",
    "cylinder-box",
    "cylinder-mesh",
    "box-mesh",
    "mesh-mesh",
)

HFIELD_PAIRS = (
    "hfield-sphere",
    "hfield-capsule",
    "hfield-ellipsoid",
    "hfield-cylinder",
    "hfield-box",
    "hfield-mesh",
)


def convex_records() -> list[Implementation]:
    """One record per pair."""
    convex = dict.fromkeys(CONVEX_PAIRS, "convex_numpy:convex")
    hfield = dict.fromkeys(HFIELD_PAIRS, "hfield_numpy:height_field")
    return [
        Implementation(
            stage="collide_pair",
            name="convex",
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.collide_pair.{target}",
            default=True,
            reads="geom_xpos geom_xmat",
            summary="Distance iteration, then expanding polytope, on "
            + ("the prisms under the grid" if key in hfield else "support functions"),
        )
        for key, target in {**convex, **hfield}.items()
    ]
