"""Sensors of joints, tendons and actuators, in lanes: what the pipeline computed of them already, read out.

Positions and velocities of joints are their coordinates; a ball joint shows its quaternion, normalised, and its
angular velocity in the body frame. Forces of actuators are read along the transmission, at a joint as generalised
force after gears and limits, at a tendon as the sum over the actuators that pull it. Compare the joint, tendon and
actuator cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import SensorType, TrnType
from dovetail.plugins.sensor.readings_lanes import each_sensor, write
from dovetail.plugins.shared.quaternions_lanes import quat_normalize


def jointpos(k: Kernel) -> None:
    """Angle of hinges, displacement of slides."""
    with each_sensor(k, SensorType.JOINTPOS) as sensor:
        write(k, sensor, k.data.qpos[k.model.jnt_qposadr[k.model.sensor_objid[sensor]]])


def jointvel(k: Kernel) -> None:
    """Velocity of hinges and slides."""
    of_first_dof(k, SensorType.JOINTVEL, k.data.qvel)


def ballquat(k: Kernel) -> None:
    """Orientation of ball joints, as a unit quaternion."""
    with each_sensor(k, SensorType.BALLQUAT) as sensor:
        at = k.model.jnt_qposadr[k.model.sensor_objid[sensor]]
        write(k, sensor, *quat_normalize(k, k.data.qpos[at : at + 4]))


def ballangvel(k: Kernel) -> None:
    """Angular velocity of ball joints, body frame."""
    with each_sensor(k, SensorType.BALLANGVEL) as sensor:
        dof = k.model.jnt_dofadr[k.model.sensor_objid[sensor]]
        write(k, sensor, *k.data.qvel[dof : dof + 3])


def jointactfrc(k: Kernel) -> None:
    """Generalised force of all actuators on a hinge or slide."""
    of_first_dof(k, SensorType.JOINTACTFRC, k.data.qfrc_actuator)


def tendonpos(k: Kernel) -> None:
    """Length of tendons."""
    of_object(k, SensorType.TENDONPOS, k.data.ten_length)


def tendonvel(k: Kernel) -> None:
    """Rate of change of the length of tendons."""
    of_object(k, SensorType.TENDONVEL, k.data.ten_velocity)


def tendonactfrc(k: Kernel) -> None:
    """Sum of the forces of the actuators that pull a tendon."""
    m = k.model
    with each_sensor(k, SensorType.TENDONACTFRC) as sensor:
        total = k.local(0.0)
        with k.loop(0, m.nu) as actuator:
            own = m.actuator_trnid[actuator, 0] == m.sensor_objid[sensor]
            with k.when(own & (m.actuator_trntype[actuator] == TrnType.TENDON)):
                total += k.data.actuator_force[actuator]
        write(k, sensor, total.value)


def actuatorpos(k: Kernel) -> None:
    """Length of actuators, gear included."""
    of_object(k, SensorType.ACTUATORPOS, k.data.actuator_length)


def actuatorvel(k: Kernel) -> None:
    """Rate of change of the length of actuators."""
    of_object(k, SensorType.ACTUATORVEL, k.data.actuator_velocity)


def actuatorfrc(k: Kernel) -> None:
    """Force of actuators along their transmission."""
    of_object(k, SensorType.ACTUATORFRC, k.data.actuator_force)


def of_object(k: Kernel, kind: SensorType, field: LaneField) -> None:
    """Read a field that has one number per object."""
    with each_sensor(k, kind) as sensor:
        write(k, sensor, field[k.model.sensor_objid[sensor]])


def of_first_dof(k: Kernel, kind: SensorType, field: LaneField) -> None:
    """Read a field that has one number per dof, at a joint's first."""
    with each_sensor(k, kind) as sensor:
        write(k, sensor, field[k.model.jnt_dofadr[k.model.sensor_objid[sensor]]])
