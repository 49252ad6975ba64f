"""Which pairs of geom types collide, how each is found, and how many contacts each can have.

The records of the stage `collide_pair`, the room for contacts in kernels and the distances of geoms all come from
these tables. Keys name the types in MuJoCo's order, as `sphere-box`.
"""

from __future__ import annotations

FORMULAS = {
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
"""Pairs with a formula of their own, by module, and how each is found."""

PLANE_HULL = ("plane-mesh", "plane-sdf")
"""A plane and the hull of a mesh. In lanes the worlds of a tile take turns, as in the convex pairs."""

PRIMITIVE_PAIRS = tuple(key for pairs in FORMULAS.values() for key in pairs if key not in PLANE_HULL)
"""Pairs of primitive shapes, whose formulas run for all worlds of a tile at once."""

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
"""Pairs found by iteration on convex shapes."""

HFIELD_PAIRS = (
    "hfield-sphere",
    "hfield-capsule",
    "hfield-ellipsoid",
    "hfield-cylinder",
    "hfield-box",
    "hfield-mesh",
)
"""The same on the prisms under a height field's grid."""

SDF_PAIRS = (
    "sphere-sdf",
    "capsule-sdf",
    "ellipsoid-sdf",
    "cylinder-sdf",
    "box-sdf",
    "mesh-sdf",
    "sdf-sdf",
)
"""Pairs whose second geom is a signed distance field."""

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
    "plane-vertex": 1,
    "sphere-segment": 1,
    "capsule-segment": 2,
    "box-segment": 2,
    "sphere-triangle": 1,
    **dict.fromkeys(CONVEX_PAIRS, 1),
    **dict.fromkeys(HFIELD_PAIRS, 50),
}
"""Contacts that a row in lanes finds at most. Two rectangles overlap in eight corners at most; a box may add its
lowest corner just beside the face, and corners on an outline are found twice. With height fields as
`contact_patch_numpy` says."""
