"""Joints, their degrees of freedom and the kinematic trees they form; the reference pose.

A joint belongs to the body it moves; its anchor and axis are in that body's frame. Positions (qpos) and
velocities (qvel) have different lengths: see enums.JointType. MuJoCo: mjModel's jnt_*, dof_*, tree_*.
"""

# ruff: noqa: N815  (the names are mjModel's)

from dovetail.contracts.fields import Array, array, entity


@entity
class ReferencePose:
    """Configurations the model is defined at."""

    qpos0: Array = array(
        "nq",
        dtype="float64",
        unit="m or rad",
        doc="Joint positions of the model as written; reset starts here.",
    )
    qpos_spring: Array = array(
        "nq", dtype="float64", unit="m or rad", doc="Joint positions at which joint springs rest."
    )


@entity
class Joint:
    """One row per joint."""

    jnt_type: Array = array("njnt", dtype="int32", doc="Joint type (enums.JointType).")
    jnt_qposadr: Array = array("njnt", dtype="int32", doc="Index in qpos of the joint's first number.")
    jnt_dofadr: Array = array(
        "njnt", dtype="int32", doc="Index in qvel of the joint's first degree of freedom."
    )
    jnt_bodyid: Array = array("njnt", dtype="int32", doc="Body the joint moves.")
    jnt_group: Array = array("njnt", dtype="int32", doc="Visibility group of the joint.")
    jnt_limited: Array = array("njnt", dtype="uint8", doc="Whether jnt_range is enforced.")
    jnt_actfrclimited: Array = array(
        "njnt", dtype="uint8", doc="Whether jnt_actfrcrange clamps the joint's total actuator force."
    )
    jnt_actgravcomp: Array = array(
        "njnt",
        dtype="uint8",
        doc="Whether gravity compensation counts as actuator force (1) or passive force (0).",
    )
    jnt_solref: Array = array(
        "njnt",
        2,
        dtype="float64",
        doc="Solver reference of the limit: time constant, damping ratio; or −stiffness, −damping.",
    )
    jnt_solimp: Array = array(
        "njnt",
        5,
        dtype="float64",
        doc="Solver impedance of the joint limit: d0, dwidth, width, midpoint, power.",
    )
    jnt_pos: Array = array(
        "njnt", 3, dtype="float64", unit="m", doc="Anchor in the frame of the joint's body."
    )
    jnt_axis: Array = array(
        "njnt",
        3,
        dtype="float64",
        unit="1",
        doc="Unit axis of a hinge or slide in the frame of the joint's body.",
    )
    jnt_stiffness: Array = array(
        "njnt", dtype="float64", unit="N m/rad or N/m", doc="Stiffness of the joint spring."
    )
    jnt_range: Array = array(
        "njnt",
        2,
        dtype="float64",
        unit="m or rad",
        doc="Lower and upper limit; a ball joint uses the upper as its largest angle.",
    )
    jnt_actfrcrange: Array = array(
        "njnt",
        2,
        dtype="float64",
        unit="N or N m",
        doc="Smallest and largest total actuator force on the joint.",
    )
    jnt_margin: Array = array(
        "njnt", dtype="float64", unit="m or rad", doc="The limit becomes a constraint when closer than this."
    )
    jnt_user: Array = array("njnt", "nuser_jnt", dtype="float64", doc="User numbers of the joint.")


@entity
class Dof:
    """One row per degree of freedom; a joint's dofs are consecutive."""

    dof_bodyid: Array = array("nv", dtype="int32", doc="Body the dof moves.")
    dof_jntid: Array = array("nv", dtype="int32", doc="Joint the dof belongs to.")
    dof_parentid: Array = array(
        "nv",
        dtype="int32",
        doc="Previous dof on the way to the root: same joint, same body or an ancestor; -1: none.",
    )
    dof_treeid: Array = array("nv", dtype="int32", doc="Kinematic tree of the dof.")
    dof_Madr: Array = array(
        "nv", dtype="int32", doc="Index in qM of the dof's diagonal entry; its ancestors' entries follow."
    )
    dof_simplenum: Array = array(
        "nv", dtype="int32", doc="How many dofs from this one on are simple (their mass matrix is diagonal)."
    )
    dof_solref: Array = array("nv", 2, dtype="float64", doc="Solver reference of the dof's friction loss.")
    dof_solimp: Array = array("nv", 5, dtype="float64", doc="Solver impedance of the dof's friction loss.")
    dof_frictionloss: Array = array("nv", dtype="float64", unit="N or N m", doc="Dry friction of the dof.")
    dof_armature: Array = array(
        "nv",
        dtype="float64",
        unit="kg or kg m^2",
        doc="Inertia added to the mass matrix diagonal, such as a geared rotor's.",
    )
    dof_damping: Array = array(
        "nv", dtype="float64", unit="N s/m or N m s/rad", doc="Viscous damping of the dof."
    )
    dof_invweight0: Array = array(
        "nv",
        dtype="float64",
        unit="1/kg or 1/(kg m^2)",
        doc="Diagonal of the inverse mass matrix at qpos0, averaged over a joint's alike dofs.",
    )
    dof_M0: Array = array(
        "nv", dtype="float64", unit="kg or kg m^2", doc="Diagonal of the mass matrix at qpos0."
    )
    dof_length: Array = array(
        "nv",
        dtype="float64",
        doc="Length that turns the dof's speed into m/s: 1 if sliding, typical reach if rotating.",
    )


@entity
class Tree:
    """One row per kinematic tree."""

    tree_bodyadr: Array = array("ntree", dtype="int32", doc="First body of the tree.")
    tree_bodynum: Array = array("ntree", dtype="int32", doc="Number of bodies in the tree.")
    tree_dofadr: Array = array("ntree", dtype="int32", doc="First dof of the tree.")
    tree_dofnum: Array = array("ntree", dtype="int32", doc="Number of dofs in the tree.")
    tree_sleep_policy: Array = array(
        "ntree", dtype="int32", doc="Whether the tree may sleep (enums.SleepPolicy)."
    )
