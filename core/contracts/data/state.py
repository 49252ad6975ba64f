"""The state of a simulation, its inputs, and its main outputs.

Saving the fields marked as state is enough to resume a run bit for bit. MuJoCo: mjData's first section.
"""

from dovetail.contracts.fields import Array, array, entity, scalar


@entity
class State:
    """What a user reads and writes most."""

    time: float = scalar(unit="s", doc="Simulation time.", writer="integrate", state=True)
    energy: Array = array(
        2,
        unit="J",
        doc="Potential, then kinetic energy; computed when the energy flag is on, or for sensors of both.",
        writer="energy",
    )
    qpos: Array = array(
        "nq",
        unit="m or rad",
        doc="Joint positions; free and ball joints hold quaternions (w, x, y, z).",
        writer="integrate",
        state=True,
        init="qpos0",
        tolerance=1e-8,
    )
    qvel: Array = array(
        "nv",
        unit="m/s or rad/s",
        doc="Joint velocities; rotations of free and ball joints are in the body frame.",
        writer="integrate",
        state=True,
        tolerance=1e-8,
    )
    act: Array = array("na", doc="Actuator activations.", writer="integrate", state=True)
    qacc_warmstart: Array = array(
        "nv",
        unit="m/s^2 or rad/s^2",
        doc="Last step's acceleration, where the solver starts.",
        writer="integrate",
        state=True,
        tolerance=1e-8,
    )
    plugin_state: Array = array("npluginstate", doc="State of MuJoCo engine plugin instances.", state=True)
    ctrl: Array = array("nu", doc="Controls, one per actuator; set by the user.", state=True)
    qfrc_applied: Array = array("nv", unit="N or N m", doc="Generalised force set by the user.", state=True)
    xfrc_applied: Array = array(
        "nbody",
        6,
        doc="Force [N], then torque [N m], set by the user, on each body's centre of mass, world axes.",
        state=True,
    )
    eq_active: Array = array(
        "neq",
        dtype="uint8",
        doc="Whether each equality constraint is active; the user may switch it.",
        state=True,
        init="eq_active0",
    )
    mocap_pos: Array = array(
        "nmocap", 3, unit="m", doc="Positions of mocap bodies, world frame; set by the user.", state=True
    )
    mocap_quat: Array = array(
        "nmocap",
        4,
        unit="1",
        doc="Orientations of mocap bodies (w, x, y, z), world frame; set by the user.",
        state=True,
    )
    qacc: Array = array(
        "nv",
        unit="m/s^2 or rad/s^2",
        doc="Joint accelerations, constraints included.",
        writer="solve_constraints",
        tolerance=1e-8,
    )
    act_dot: Array = array("na", doc="Time derivative of the activations.", writer="actuation")
    userdata: Array = array("nuserdata", doc="Numbers the engine never touches.", state=True)
    sensordata: Array = array(
        "nsensordata", doc="Readings of all sensors, one after another.", writer="sensor", tolerance=1e-8
    )
