"""Bodies: the kinematic tree, masses and the frames everything else is attached to.

Poses are relative to the parent body; the inertial frame (ipos, iquat) is relative to the body's own.
Body 0 is the world; a parent's id is always smaller than its child's. MuJoCo: mjModel's body_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Body:
    """One row per body."""

    body_parentid: Array = array("nbody", dtype="int32", doc="Parent body; the world is its own parent.")
    body_rootid: Array = array(
        "nbody", dtype="int32", doc="Ancestor (or the body itself) that is a direct child of the world."
    )
    body_weldid: Array = array(
        "nbody",
        dtype="int32",
        doc="Topmost body this one is rigidly attached to, or itself; 0: fixed to the world.",
    )
    body_mocapid: Array = array(
        "nbody",
        dtype="int32",
        doc="Row of mocap_pos and mocap_quat that drives the body; -1: not a mocap body.",
    )
    body_jntnum: Array = array("nbody", dtype="int32", doc="Number of joints of the body.")
    body_jntadr: Array = array("nbody", dtype="int32", doc="First joint of the body; -1: none.")
    body_dofnum: Array = array("nbody", dtype="int32", doc="Number of dofs of the body.")
    body_dofadr: Array = array("nbody", dtype="int32", doc="First dof of the body; -1: none.")
    body_treeid: Array = array("nbody", dtype="int32", doc="Kinematic tree of the body; -1: it cannot move.")
    body_geomnum: Array = array("nbody", dtype="int32", doc="Number of geoms of the body.")
    body_geomadr: Array = array("nbody", dtype="int32", doc="First geom of the body; -1: none.")
    body_simple: Array = array(
        "nbody",
        dtype="uint8",
        doc="Whether the body's part of the mass matrix is diagonal: 0 no, 1 yes, 2 yes and only slides.",
    )
    body_sameframe: Array = array(
        "nbody", dtype="uint8", doc="How the inertial frame coincides with the body frame (enums.SameFrame)."
    )
    body_pos: Array = array(
        "nbody",
        3,
        dtype="float64",
        unit="m",
        doc="Origin of the body frame in the parent's frame, before its joints move it.",
    )
    body_quat: Array = array(
        "nbody",
        4,
        dtype="float64",
        unit="1",
        doc="Orientation of the body frame in the parent's frame (w, x, y, z), before its joints move it.",
    )
    body_ipos: Array = array("nbody", 3, dtype="float64", unit="m", doc="Centre of mass in the body frame.")
    body_iquat: Array = array(
        "nbody",
        4,
        dtype="float64",
        unit="1",
        doc="Principal axes of inertia in the body frame, as a quaternion (w, x, y, z).",
    )
    body_mass: Array = array("nbody", dtype="float64", unit="kg", doc="Mass of the body alone.")
    body_subtreemass: Array = array(
        "nbody", dtype="float64", unit="kg", doc="Mass of the body and all its descendants."
    )
    body_inertia: Array = array(
        "nbody",
        3,
        dtype="float64",
        unit="kg m^2",
        doc="Principal moments of inertia about the centre of mass, along body_iquat's axes.",
    )
    body_invweight0: Array = array(
        "nbody",
        2,
        dtype="float64",
        doc="Mean inverse inertia at qpos0: translational [1/kg], rotational [1/(kg m^2)].",
    )
    body_gravcomp: Array = array(
        "nbody",
        dtype="float64",
        unit="1",
        doc="Share of the body's weight that gravity compensation carries; 1 cancels gravity.",
    )
    body_margin: Array = array(
        "nbody", dtype="float64", unit="m", doc="Largest contact margin among the body's geoms."
    )
    body_user: Array = array("nbody", "nuser_body", dtype="float64", doc="User numbers of the body.")
    body_plugin: Array = array("nbody", dtype="int32", doc="Engine plugin instance of the body; -1: none.")
    body_contype: Array = array(
        "nbody", dtype="int32", doc="Contact type bits of all the body's geoms together."
    )
    body_conaffinity: Array = array(
        "nbody", dtype="int32", doc="Contact affinity bits of all the body's geoms together."
    )
    body_bvhadr: Array = array(
        "nbody", dtype="int32", doc="Root of the body's bounding volume tree, an index into bvh_*; -1: none."
    )
    body_bvhnum: Array = array("nbody", dtype="int32", doc="Number of bounding volumes in the body's tree.")
