"""Tendons and the objects on their paths.

A fixed tendon is a weighted sum of joint positions; a spatial one runs through sites, around geoms and
over pulleys. MuJoCo: mjModel's tendon_*, wrap_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Tendon:
    """One row per tendon."""

    tendon_adr: Array = array(
        "ntendon", dtype="int32", doc="First path object of the tendon, an index into wrap_*."
    )
    tendon_num: Array = array("ntendon", dtype="int32", doc="Number of objects on the tendon's path.")
    tendon_matid: Array = array("ntendon", dtype="int32", doc="Material of the tendon; -1: none.")
    tendon_group: Array = array("ntendon", dtype="int32", doc="Visibility group of the tendon.")
    tendon_treenum: Array = array(
        "ntendon", dtype="int32", doc="Number of kinematic trees the tendon touches."
    )
    tendon_treeid: Array = array(
        "ntendon", 2, dtype="int32", doc="First two kinematic trees the tendon touches; -1: none."
    )
    tendon_limited: Array = array("ntendon", dtype="uint8", doc="Whether tendon_range is enforced.")
    tendon_actfrclimited: Array = array(
        "ntendon", dtype="uint8", doc="Whether tendon_actfrcrange clamps the tendon's total actuator force."
    )
    tendon_width: Array = array("ntendon", dtype="float64", unit="m", doc="Radius the tendon is drawn with.")
    tendon_solref_lim: Array = array(
        "ntendon", 2, dtype="float64", doc="Solver reference of the tendon limit."
    )
    tendon_solimp_lim: Array = array(
        "ntendon", 5, dtype="float64", doc="Solver impedance of the tendon limit."
    )
    tendon_solref_fri: Array = array(
        "ntendon", 2, dtype="float64", doc="Solver reference of the tendon's friction loss."
    )
    tendon_solimp_fri: Array = array(
        "ntendon", 5, dtype="float64", doc="Solver impedance of the tendon's friction loss."
    )
    tendon_range: Array = array(
        "ntendon", 2, dtype="float64", unit="m or rad", doc="Smallest and largest length."
    )
    tendon_actfrcrange: Array = array(
        "ntendon",
        2,
        dtype="float64",
        unit="N or N m",
        doc="Smallest and largest total actuator force on the tendon.",
    )
    tendon_margin: Array = array(
        "ntendon",
        dtype="float64",
        unit="m or rad",
        doc="The tendon's limit becomes a constraint when closer than this.",
    )
    tendon_stiffness: Array = array(
        "ntendon", dtype="float64", unit="N m/rad or N/m", doc="Stiffness of the tendon's spring."
    )
    tendon_damping: Array = array(
        "ntendon", dtype="float64", unit="N s/m or N m s/rad", doc="Viscous damping along the tendon."
    )
    tendon_armature: Array = array(
        "ntendon", dtype="float64", unit="kg or kg m^2", doc="Inertia that moves with the tendon's length."
    )
    tendon_frictionloss: Array = array(
        "ntendon", dtype="float64", unit="N or N m", doc="Dry friction along the tendon."
    )
    tendon_lengthspring: Array = array(
        "ntendon",
        2,
        dtype="float64",
        unit="m or rad",
        doc="Spring rest lengths: slack between lower and upper.",
    )
    tendon_length0: Array = array("ntendon", dtype="float64", unit="m or rad", doc="Tendon length at qpos0.")
    tendon_invweight0: Array = array(
        "ntendon",
        dtype="float64",
        unit="1/kg or 1/(kg m^2)",
        doc="Inverse inertia along the tendon at qpos0.",
    )
    tendon_user: Array = array("ntendon", "nuser_tendon", dtype="float64", doc="User numbers of the tendon.")
    tendon_rgba: Array = array(
        "ntendon", 4, dtype="float32", unit="1", doc="Colour of the tendon without a material."
    )


@entity
class Wrap:
    """One row per object on a tendon's path."""

    wrap_type: Array = array("nwrap", dtype="int32", doc="What the object is (enums.WrapType).")
    wrap_objid: Array = array("nwrap", dtype="int32", doc="Joint, site or geom on the path; -1: a pulley.")
    wrap_prm: Array = array(
        "nwrap",
        dtype="float64",
        doc="Joint: its coefficient; pulley: its divisor; geom: the side site's id, -1: none.",
    )
