"""Actuators: force = gain · (control or activation) + bias, along a transmission.

MuJoCo: mjModel's actuator_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Actuator:
    """One row per actuator."""

    actuator_trntype: Array = array("nu", dtype="int32", doc="What the actuator pulls on (enums.TrnType).")
    actuator_dyntype: Array = array("nu", dtype="int32", doc="Activation dynamics (enums.DynType).")
    actuator_gaintype: Array = array("nu", dtype="int32", doc="How the gain is computed (enums.GainType).")
    actuator_biastype: Array = array("nu", dtype="int32", doc="How the bias is computed (enums.BiasType).")
    actuator_trnid: Array = array(
        "nu",
        2,
        dtype="int32",
        doc="Joint, tendon, site or body pulled on; then the slider or reference site; -1: none.",
    )
    actuator_actadr: Array = array(
        "nu", dtype="int32", doc="First activation of the actuator in act; -1: none."
    )
    actuator_actnum: Array = array("nu", dtype="int32", doc="Number of activations of the actuator.")
    actuator_group: Array = array(
        "nu", dtype="int32", doc="Group of the actuator, for visibility and for opt.disableactuator."
    )
    actuator_ctrllimited: Array = array(
        "nu", dtype="uint8", doc="Whether actuator_ctrlrange clamps the control."
    )
    actuator_forcelimited: Array = array(
        "nu", dtype="uint8", doc="Whether actuator_forcerange clamps the force."
    )
    actuator_actlimited: Array = array(
        "nu", dtype="uint8", doc="Whether actuator_actrange clamps the activation."
    )
    actuator_dynprm: Array = array("nu", 10, dtype="float64", doc="Parameters of the activation dynamics.")
    actuator_gainprm: Array = array("nu", 10, dtype="float64", doc="Parameters of the gain.")
    actuator_biasprm: Array = array("nu", 10, dtype="float64", doc="Parameters of the bias.")
    actuator_actearly: Array = array(
        "nu",
        dtype="uint8",
        doc="Whether force uses the activation at the end of the step rather than its start.",
    )
    actuator_ctrlrange: Array = array("nu", 2, dtype="float64", doc="Smallest and largest control.")
    actuator_forcerange: Array = array(
        "nu", 2, dtype="float64", unit="N or N m", doc="Smallest and largest force."
    )
    actuator_actrange: Array = array("nu", 2, dtype="float64", doc="Smallest and largest activation.")
    actuator_gear: Array = array(
        "nu",
        6,
        dtype="float64",
        doc="Scale of length and force; all six numbers matter for free, ball and site transmissions.",
    )
    actuator_cranklength: Array = array(
        "nu", dtype="float64", unit="m", doc="Length of the connecting rod of a slider-crank."
    )
    actuator_acc0: Array = array(
        "nu", dtype="float64", doc="Norm of the joint acceleration a unit force causes at qpos0."
    )
    actuator_length0: Array = array("nu", dtype="float64", unit="m or rad", doc="Actuator length at qpos0.")
    actuator_lengthrange: Array = array(
        "nu", 2, dtype="float64", unit="m or rad", doc="Smallest and largest length the model can reach."
    )
    actuator_user: Array = array("nu", "nuser_actuator", dtype="float64", doc="User numbers of the actuator.")
    actuator_plugin: Array = array(
        "nu", dtype="int32", doc="Engine plugin instance of the actuator; -1: none."
    )
