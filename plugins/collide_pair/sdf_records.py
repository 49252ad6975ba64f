"""Records of the pairs whose second geom is a signed distance field."""

from __future__ import annotations

from dovetail.implementation import Implementation

SDF_PAIRS = (
    "sphere-sdf",
    "capsule-sdf",
    "ellipsoid-sdf",
    "cylinder-sdf",
    "box-sdf",
    "mesh-sdf",
    "sdf-sdf",
)


def sdf_records() -> list[Implementation]:
    """One record per pair."""
    rows = [
        ("hfield-sdf", "hfield_sdf", "None, as in MuJoCo: height fields and distance fields do not collide")
    ]
    rows += [(key, "sdf", "Descent from points spread over both bounding boxes") for key in SDF_PAIRS]
    return [
        Implementation(
            stage="collide_pair",
            name="sdf",
            key=key,
            backend="numpy",
            target=f"dovetail.plugins.collide_pair.sdf_numpy:{function}",
            default=True,
            reads="geom_xpos geom_xmat",
            summary=summary,
        )
        for key, function, summary in rows
    ]
