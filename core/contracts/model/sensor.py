"""Sensors: what each measures, on which object, and where its numbers go in sensordata.

MuJoCo: mjModel's sensor_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Sensor:
    """One row per sensor."""

    sensor_type: Array = array("nsensor", dtype="int32", doc="Kind of sensor (enums.SensorType).")
    sensor_datatype: Array = array("nsensor", dtype="int32", doc="What its numbers are (enums.DataType).")
    sensor_needstage: Array = array(
        "nsensor", dtype="int32", doc="Part of forward it waits for (enums.NeedStage)."
    )
    sensor_objtype: Array = array(
        "nsensor", dtype="int32", doc="What kind of object is measured (enums.ObjType)."
    )
    sensor_objid: Array = array("nsensor", dtype="int32", doc="Object that is measured; -1: none.")
    sensor_reftype: Array = array(
        "nsensor", dtype="int32", doc="What kind of object the reference frame is (enums.ObjType)."
    )
    sensor_refid: Array = array(
        "nsensor", dtype="int32", doc="Object that gives the reference frame; -1: world."
    )
    sensor_intprm: Array = array(
        "nsensor",
        3,
        dtype="int32",
        doc="Options of the sensor; contact: reported fields as bits, reduction, number of reports.",
    )
    sensor_dim: Array = array("nsensor", dtype="int32", doc="How many numbers the sensor writes.")
    sensor_adr: Array = array("nsensor", dtype="int32", doc="Where the sensor's numbers begin in sensordata.")
    sensor_cutoff: Array = array(
        "nsensor",
        dtype="float64",
        doc="Clamps the reading: to ±cutoff, or to cutoff for positive types; 0: no clamp.",
    )
    sensor_noise: Array = array(
        "nsensor", dtype="float64", doc="Standard deviation of noise, for the user to apply."
    )
    sensor_user: Array = array("nsensor", "nuser_sensor", dtype="float64", doc="User numbers of the sensor.")
    sensor_plugin: Array = array(
        "nsensor", dtype="int32", doc="Engine plugin instance of the sensor; -1: none."
    )
