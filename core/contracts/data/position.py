"""Everything that follows from positions alone: poses, inertias, tendons, transmissions, the mass matrix.

Frames: x* is the world frame. c* is "com-based": world axes, origin at the centre of mass of the body's
whole kinematic tree (subtree_com of its root); spatial vectors are rotation first, translation second.
MuJoCo: mj_fwdPosition.
"""

# ruff: noqa: N815  (the names are mjData's)

from dovetail.contracts.fields import Array, array, entity


@entity
class Position:
    """Poses, inertias, lengths and the mass matrix."""

    # World poses of bodies, joints, geoms, sites, cameras and lights.
    xpos: Array = array(
        "nbody", 3, unit="m", doc="Origin of each body frame, world frame.", writer="kinematics"
    )
    xquat: Array = array(
        "nbody",
        4,
        unit="1",
        doc="Orientation of each body frame (w, x, y, z), world←body.",
        writer="kinematics",
    )
    xmat: Array = array(
        "nbody", 9, unit="1", doc="Rotation matrix world←body, row by row.", writer="kinematics"
    )
    xipos: Array = array(
        "nbody", 3, unit="m", doc="Centre of mass of each body, world frame.", writer="kinematics"
    )
    ximat: Array = array(
        "nbody",
        9,
        unit="1",
        doc="Rotation matrix world←inertial frame of each body, row by row.",
        writer="kinematics",
    )
    xanchor: Array = array("njnt", 3, unit="m", doc="Anchor of each joint, world frame.", writer="kinematics")
    xaxis: Array = array(
        "njnt",
        3,
        unit="1",
        doc="Axis of each joint, world frame, as it was before that joint moved its body.",
        writer="kinematics",
    )
    geom_xpos: Array = array(
        "ngeom", 3, unit="m", doc="Origin of each geom frame, world frame.", writer="kinematics"
    )
    geom_xmat: Array = array(
        "ngeom", 9, unit="1", doc="Rotation matrix world←geom, row by row.", writer="kinematics"
    )
    site_xpos: Array = array(
        "nsite", 3, unit="m", doc="Origin of each site frame, world frame.", writer="kinematics"
    )
    site_xmat: Array = array(
        "nsite", 9, unit="1", doc="Rotation matrix world←site, row by row.", writer="kinematics"
    )
    cam_xpos: Array = array(
        "ncam", 3, unit="m", doc="Position of each camera, world frame.", writer="camera_light"
    )
    cam_xmat: Array = array(
        "ncam", 9, unit="1", doc="Rotation matrix world←camera, row by row.", writer="camera_light"
    )
    light_xpos: Array = array(
        "nlight", 3, unit="m", doc="Position of each light, world frame.", writer="camera_light"
    )
    light_xdir: Array = array(
        "nlight", 3, unit="1", doc="Unit direction of each light, world frame.", writer="camera_light"
    )

    # Centres of mass, and motion axes and inertias about them.
    subtree_com: Array = array(
        "nbody",
        3,
        unit="m",
        doc="Centre of mass of each body with all its descendants, world frame.",
        writer="com_position",
    )
    cdof: Array = array(
        "nv",
        6,
        doc="Motion axis of each dof, com-based: angular, then linear velocity at unit speed.",
        writer="com_position",
    )
    cinert: Array = array(
        "nbody",
        10,
        doc="Inertia of each body, com-based: xx yy zz xy xz yz, mass × offset (3), mass.",
        writer="com_position",
    )

    # World geometry of flexes.
    flexvert_xpos: Array = array(
        "nflexvert", 3, unit="m", doc="Flex vertices, world frame.", writer="flex_kinematics"
    )
    flexelem_aabb: Array = array(
        "nflexelem",
        6,
        unit="m",
        doc="Box around each flex element, world axes: centre, half-sizes.",
        writer="flex_kinematics",
    )
    flexedge_J_rownnz: Array = array(
        "nflexedge",
        dtype="int32",
        doc="Number of dofs in each flex edge's Jacobian row.",
        writer="flex_kinematics",
    )
    flexedge_J_rowadr: Array = array(
        "nflexedge",
        dtype="int32",
        doc="Where each flex edge's row begins in flexedge_J.",
        writer="flex_kinematics",
    )
    flexedge_J_colind: Array = array(
        "nJfe",
        dtype="int32",
        doc="Dofs of the flex edge Jacobian's entries; all 0 where rows are full.",
        writer="flex_kinematics",
    )
    flexedge_J: Array = array(
        "nJfe",
        doc="Derivative of each flex edge's length with respect to the dofs: rows one after another, each with the "
        "dofs that move the edge's ends, or full rows of nv where the model's Jacobians are dense.",
        writer="flex_kinematics",
    )
    flexedge_length: Array = array(
        "nflexedge", unit="m", doc="Length of each flex edge.", writer="flex_kinematics"
    )
    bvh_aabb_dyn: Array = array(
        "nbvhdynamic",
        6,
        unit="m",
        doc="Boxes of the dynamic bounding volumes, world axes: centre, half-sizes.",
        writer="flex_kinematics",
    )

    # Tendon lengths, Jacobians and paths.
    ten_wrapadr: Array = array(
        "ntendon",
        dtype="int32",
        doc="Where each tendon's path points begin in wrap_obj and wrap_xpos.",
        writer="tendon",
    )
    ten_wrapnum: Array = array(
        "ntendon", dtype="int32", doc="Number of points on each tendon's path.", writer="tendon"
    )
    ten_J_rownnz: Array = array(
        "ntendon", dtype="int32", doc="Number of dofs in each tendon's Jacobian row.", writer="tendon"
    )
    ten_J_rowadr: Array = array(
        "ntendon", dtype="int32", doc="Where each tendon's row begins in ten_J.", writer="tendon"
    )
    ten_J_colind: Array = array(
        "ntendon", "nv", dtype="int32", doc="Dofs of the tendon Jacobian's entries.", writer="tendon"
    )
    ten_J: Array = array(
        "ntendon", "nv", doc="Derivative of each tendon's length with respect to the dofs.", writer="tendon"
    )
    ten_length: Array = array("ntendon", unit="m or rad", doc="Length of each tendon.", writer="tendon")
    wrap_obj: Array = array(
        "nwrap",
        2,
        dtype="int32",
        doc="What each path point lies on: a geom id, -1 a site, -2 a pulley.",
        writer="tendon",
    )
    wrap_xpos: Array = array(
        "nwrap", 6, unit="m", doc="Path points of the tendons, two per row, world frame.", writer="tendon"
    )

    # Actuator lengths and moments.
    actuator_length: Array = array(
        "nu", unit="m or rad", doc="Length of each actuator, gear included.", writer="transmission"
    )
    moment_rownnz: Array = array(
        "nu", dtype="int32", doc="Number of dofs in each actuator's moment row.", writer="transmission"
    )
    moment_rowadr: Array = array(
        "nu", dtype="int32", doc="Where each actuator's row begins in actuator_moment.", writer="transmission"
    )
    moment_colind: Array = array(
        "nJmom", dtype="int32", doc="Dofs of the actuator moment's entries.", writer="transmission"
    )
    actuator_moment: Array = array(
        "nJmom",
        doc="Derivative of actuator length with respect to the dofs, sparse by row.",
        writer="transmission",
    )

    # The mass matrix, and its factorisation.
    crb: Array = array(
        "nbody",
        10,
        doc="Inertia of each body with all its descendants, com-based, laid out as cinert.",
        writer="mass_matrix",
    )
    qM: Array = array(
        "nM",
        unit="kg or kg m^2",
        doc="Mass matrix: per dof its diagonal, then its ancestors up to the root.",
        writer="mass_matrix",
    )
    M: Array = array(
        "nC",
        unit="kg or kg m^2",
        doc="Mass matrix, lower triangle by row; pattern in M_rownnz, M_rowadr, M_colind.",
        writer="mass_matrix",
    )
    qLD: Array = array(
        "nC", doc="Factors of M = Lᵀ D L in M's pattern: D on the diagonal, L below it.", writer="factor_mass"
    )
    qLDiagInv: Array = array(
        "nv", unit="1/kg or 1/(kg m^2)", doc="Reciprocals of D in M = Lᵀ D L.", writer="factor_mass"
    )
    bvh_active: Array = array(
        "nbvh",
        dtype="uint8",
        doc="Whether each bounding volume was visited in the last collision search.",
        writer="broadphase",
    )
