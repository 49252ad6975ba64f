"""Keyframes: states that reset can start from.

MuJoCo: mjModel's key_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Key:
    """One row per keyframe."""

    key_time: Array = array("nkey", dtype="float64", unit="s", doc="Simulation time of the keyframe.")
    key_qpos: Array = array(
        "nkey", "nq", dtype="float64", unit="m or rad", doc="Joint positions of the keyframe."
    )
    key_qvel: Array = array(
        "nkey", "nv", dtype="float64", unit="m/s or rad/s", doc="Joint velocities of the keyframe."
    )
    key_act: Array = array("nkey", "na", dtype="float64", doc="Activations of the keyframe.")
    key_mpos: Array = array(
        "nkey",
        "nmocap*3",
        dtype="float64",
        unit="m",
        doc="Mocap positions of the keyframe, all bodies in one row.",
    )
    key_mquat: Array = array(
        "nkey",
        "nmocap*4",
        dtype="float64",
        unit="1",
        doc="Mocap quaternions of the keyframe, all bodies in one row.",
    )
    key_ctrl: Array = array("nkey", "nu", dtype="float64", doc="Controls of the keyframe.")
