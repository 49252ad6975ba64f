"""Geoms: shapes that collide, carry mass at compile time and are drawn.

Poses are relative to the geom's body; z is the axis of capsules and cylinders and a plane's normal.
MuJoCo: mjModel's geom_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Geom:
    """One row per geom."""

    geom_type: Array = array("ngeom", dtype="int32", doc="Shape (enums.GeomType).")
    geom_contype: Array = array(
        "ngeom",
        dtype="int32",
        doc="Contact type bits; a pair may collide when one's type meets the other's affinity.",
    )
    geom_conaffinity: Array = array("ngeom", dtype="int32", doc="Contact affinity bits of the geom.")
    geom_condim: Array = array(
        "ngeom",
        dtype="int32",
        doc="Contact dimension: 1 frictionless, 3 sliding, 4 with spin, 6 with rolling.",
    )
    geom_bodyid: Array = array("ngeom", dtype="int32", doc="Body the geom is attached to.")
    geom_dataid: Array = array(
        "ngeom", dtype="int32", doc="Mesh or height field that gives the shape; -1: none."
    )
    geom_matid: Array = array("ngeom", dtype="int32", doc="Material of the geom; -1: none.")
    geom_group: Array = array("ngeom", dtype="int32", doc="Visibility group of the geom.")
    geom_priority: Array = array(
        "ngeom",
        dtype="int32",
        doc="The geom with higher priority decides the contact's parameters; equal ones are combined.",
    )
    geom_plugin: Array = array("ngeom", dtype="int32", doc="Engine plugin instance of the geom; -1: none.")
    geom_sameframe: Array = array(
        "ngeom",
        dtype="uint8",
        doc="Whether the geom frame coincides with its body's or inertial frame (enums.SameFrame).",
    )
    geom_solmix: Array = array(
        "ngeom",
        dtype="float64",
        unit="1",
        doc="Weight of this geom when two geoms' solver parameters are averaged.",
    )
    geom_solref: Array = array("ngeom", 2, dtype="float64", doc="Solver reference of the geom's contacts.")
    geom_solimp: Array = array("ngeom", 5, dtype="float64", doc="Solver impedance of the geom's contacts.")
    geom_size: Array = array(
        "ngeom",
        3,
        dtype="float64",
        unit="m",
        doc="Shape sizes: radius; radius and half-length; three half-sizes; unused ones 0.",
    )
    geom_aabb: Array = array(
        "ngeom", 6, dtype="float64", unit="m", doc="Bounding box in the geom frame: centre, half-sizes."
    )
    geom_rbound: Array = array(
        "ngeom", dtype="float64", unit="m", doc="Radius of the bounding sphere; 0 for a plane."
    )
    geom_pos: Array = array(
        "ngeom", 3, dtype="float64", unit="m", doc="Origin of the geom frame in its body's frame."
    )
    geom_quat: Array = array(
        "ngeom",
        4,
        dtype="float64",
        unit="1",
        doc="Orientation of the geom frame in its body's frame (w, x, y, z).",
    )
    geom_friction: Array = array(
        "ngeom", 3, dtype="float64", doc="Friction coefficients: sliding [1], spinning [m], rolling [m]."
    )
    geom_margin: Array = array(
        "ngeom", dtype="float64", unit="m", doc="Contacts are detected when the distance is at most this."
    )
    geom_gap: Array = array(
        "ngeom",
        dtype="float64",
        unit="m",
        doc="Contacts are detected but push only when closer than margin − gap.",
    )
    geom_fluid: Array = array(
        "ngeom",
        12,
        dtype="float64",
        doc="Ellipsoid fluid model: switch, five drag and lift coefficients, virtual mass and inertia.",
    )
    geom_user: Array = array("ngeom", "nuser_geom", dtype="float64", doc="User numbers of the geom.")
    geom_rgba: Array = array(
        "ngeom",
        4,
        dtype="float32",
        unit="1",
        doc="Colour of the geom without a material: red, green, blue, alpha.",
    )
