"""What follows from positions and velocities: body velocities, bias and passive forces, derivatives.

MuJoCo: mj_fwdVelocity, mj_subtreeVel, and the matrices of mj_Euler and mj_implicit.
"""

# ruff: noqa: N815  (the names are mjData's)

from dovetail.contracts.fields import Array, array, entity


@entity
class Velocity:
    """Velocities, velocity-dependent forces, and the matrices of implicit integrators."""

    # Velocities and velocity-dependent forces.
    flexedge_velocity: Array = array(
        "nflexedge",
        unit="m/s",
        doc="Rate of change of each flex edge's length.",
        writer="transmission_velocity",
    )
    ten_velocity: Array = array(
        "ntendon",
        unit="m/s or rad/s",
        doc="Rate of change of each tendon's length.",
        writer="transmission_velocity",
    )
    actuator_velocity: Array = array(
        "nu",
        unit="m/s or rad/s",
        doc="Rate of change of each actuator's length.",
        writer="transmission_velocity",
    )
    cvel: Array = array(
        "nbody",
        6,
        doc="Velocity of each body, com-based: angular [rad/s], then linear [m/s].",
        writer="com_velocity",
    )
    cdof_dot: Array = array("nv", 6, doc="Time derivative of cdof.", writer="com_velocity")
    qfrc_bias: Array = array(
        "nv",
        unit="N or N m",
        doc="Coriolis, centrifugal and gravitational force; the left-hand side of M q̈ + bias = force.",
        writer="bias_force",
    )
    qfrc_spring: Array = array(
        "nv", unit="N or N m", doc="Force of joint, tendon and flex springs.", writer="passive_force"
    )
    qfrc_damper: Array = array(
        "nv", unit="N or N m", doc="Force of joint, tendon and flex dampers.", writer="passive_force"
    )
    qfrc_gravcomp: Array = array(
        "nv", unit="N or N m", doc="Force of gravity compensation.", writer="passive_force"
    )
    qfrc_fluid: Array = array(
        "nv",
        unit="N or N m",
        doc="Force of the surrounding medium: drag, lift, viscosity, virtual mass.",
        writer="passive_force",
    )
    qfrc_passive: Array = array(
        "nv", unit="N or N m", doc="Sum of the passive forces.", writer="passive_force"
    )
    subtree_linvel: Array = array(
        "nbody",
        3,
        unit="m/s",
        doc="Velocity of each subtree's centre of mass, world frame.",
        writer="subtree_velocity",
    )
    subtree_angmom: Array = array(
        "nbody",
        3,
        unit="kg m^2/s",
        doc="Angular momentum of each subtree about its centre of mass, world frame.",
        writer="subtree_velocity",
    )

    # Matrices of the implicit integrators.
    qH: Array = array("nC", doc="Factors of M plus time step × damping, laid out as qLD.", writer="integrate")
    qHDiagInv: Array = array(
        "nv", unit="1/kg or 1/(kg m^2)", doc="Reciprocals of the diagonal factor in qH.", writer="integrate"
    )
    qDeriv: Array = array(
        "nD",
        unit="N s/m or N m s/rad",
        doc="Derivative of passive + actuator − bias force with respect to qvel; pattern D_*.",
        writer="derivative",
    )
    qLU: Array = array(
        "nD", doc="LU factors of M − time step × qDeriv, in the pattern D_*.", writer="integrate"
    )
