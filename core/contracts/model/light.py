"""Lights; they shine along their direction vector.

MuJoCo: mjModel's light_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Light:
    """One row per light."""

    light_mode: Array = array("nlight", dtype="int32", doc="How the light follows bodies (enums.CamLight).")
    light_bodyid: Array = array("nlight", dtype="int32", doc="Body the light is attached to.")
    light_targetbodyid: Array = array("nlight", dtype="int32", doc="Body the light points at; -1: none.")
    light_type: Array = array("nlight", dtype="int32", doc="Kind of light source (enums.LightType).")
    light_texid: Array = array("nlight", dtype="int32", doc="Texture of an image light; -1: none.")
    light_castshadow: Array = array("nlight", dtype="uint8", doc="Whether the light casts shadows.")
    light_bulbradius: Array = array(
        "nlight", dtype="float32", unit="m", doc="Radius of the source, which softens shadows."
    )
    light_intensity: Array = array(
        "nlight", dtype="float32", unit="cd", doc="Brightness for physically based renderers."
    )
    light_range: Array = array("nlight", dtype="float32", unit="m", doc="Distance the light reaches.")
    light_active: Array = array("nlight", dtype="uint8", doc="Whether the light is on.")
    light_pos: Array = array(
        "nlight", 3, dtype="float64", unit="m", doc="Light position in its body's frame."
    )
    light_dir: Array = array(
        "nlight", 3, dtype="float64", unit="1", doc="Unit direction of the light in its body's frame."
    )
    light_poscom0: Array = array(
        "nlight",
        3,
        dtype="float64",
        unit="m",
        doc="Light position minus the subtree's centre of mass at qpos0, world axes.",
    )
    light_pos0: Array = array(
        "nlight",
        3,
        dtype="float64",
        unit="m",
        doc="Light position minus its body's position at qpos0, world axes.",
    )
    light_dir0: Array = array(
        "nlight", 3, dtype="float64", unit="1", doc="Direction of the light at qpos0, world axes."
    )
    light_attenuation: Array = array(
        "nlight", 3, dtype="float32", doc="Constant, linear and quadratic fall-off with distance."
    )
    light_cutoff: Array = array(
        "nlight", dtype="float32", unit="deg", doc="Half-angle of a spot light's cone."
    )
    light_exponent: Array = array(
        "nlight", dtype="float32", unit="1", doc="Fall-off of a spot light towards its cone's edge."
    )
    light_ambient: Array = array(
        "nlight", 3, dtype="float32", unit="1", doc="Ambient colour of the light (red, green, blue)."
    )
    light_diffuse: Array = array(
        "nlight", 3, dtype="float32", unit="1", doc="Diffuse colour of the light (red, green, blue)."
    )
    light_specular: Array = array(
        "nlight", 3, dtype="float32", unit="1", doc="Specular colour of the light (red, green, blue)."
    )
