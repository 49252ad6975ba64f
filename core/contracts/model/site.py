"""Sites: massless marks on bodies, for sensors, tendons and actuators.

MuJoCo: mjModel's site_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Site:
    """One row per site."""

    site_type: Array = array(
        "nsite", dtype="int32", doc="Shape of the site, for drawing and touch zones (enums.GeomType)."
    )
    site_bodyid: Array = array("nsite", dtype="int32", doc="Body the site is attached to.")
    site_matid: Array = array("nsite", dtype="int32", doc="Material of the site; -1: none.")
    site_group: Array = array("nsite", dtype="int32", doc="Visibility group of the site.")
    site_sameframe: Array = array(
        "nsite",
        dtype="uint8",
        doc="Whether the site frame coincides with its body's or inertial frame (enums.SameFrame).",
    )
    site_size: Array = array(
        "nsite", 3, dtype="float64", unit="m", doc="Sizes of the site's shape, as for a geom."
    )
    site_pos: Array = array(
        "nsite", 3, dtype="float64", unit="m", doc="Origin of the site frame in its body's frame."
    )
    site_quat: Array = array(
        "nsite",
        4,
        dtype="float64",
        unit="1",
        doc="Orientation of the site frame in its body's frame (w, x, y, z).",
    )
    site_user: Array = array("nsite", "nuser_site", dtype="float64", doc="User numbers of the site.")
    site_rgba: Array = array(
        "nsite", 4, dtype="float32", unit="1", doc="Colour of the site without a material."
    )
