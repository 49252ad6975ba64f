"""Forces and accelerations that need controls, or that follow from the solved constraints.

MuJoCo: mj_fwdActuation, mj_fwdAcceleration, mj_fwdConstraint, mj_inverse, mj_rnePostConstraint.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Acceleration:
    """Actuation, smooth and constrained dynamics, body forces."""

    actuator_force: Array = array(
        "nu",
        unit="N or N m",
        doc="Force of each actuator along its transmission, before the gear.",
        writer="actuation",
    )
    qfrc_actuator: Array = array(
        "nv", unit="N or N m", doc="Generalised force of all actuators.", writer="actuation"
    )
    qfrc_smooth: Array = array(
        "nv",
        unit="N or N m",
        doc="Sum of all forces but the constraints': passive − bias + actuator + applied.",
        writer="smooth_acceleration",
    )
    qacc_smooth: Array = array(
        "nv",
        unit="m/s^2 or rad/s^2",
        doc="Acceleration if there were no constraints.",
        writer="smooth_acceleration",
    )
    qfrc_constraint: Array = array(
        "nv",
        unit="N or N m",
        doc="Generalised force of all constraints, Jᵀ efc_force.",
        writer="solve_constraints",
        tolerance=1e-8,
    )
    qfrc_inverse: Array = array(
        "nv",
        unit="N or N m",
        doc="Applied force that would produce the given qacc, from inverse dynamics.",
        writer="inverse",
        tolerance=1e-8,
    )
    cacc: Array = array(
        "nbody",
        6,
        doc="Acceleration of each body minus gravity, com-based: angular, then linear.",
        writer="body_forces",
        tolerance=1e-8,
    )
    cfrc_int: Array = array(
        "nbody",
        6,
        doc="Force between each body and its parent, com-based: torque [N m], then force [N].",
        writer="body_forces",
        tolerance=1e-8,
    )
    cfrc_ext: Array = array(
        "nbody",
        6,
        doc="Force on each body from outside and contacts, com-based: torque, then force.",
        writer="body_forces",
        tolerance=1e-8,
    )
