"""Cameras; a camera looks along −z of its frame, with x to the right and y up.

MuJoCo: mjModel's cam_*.
"""

from dovetail.contracts.fields import Array, array, entity


@entity
class Camera:
    """One row per camera."""

    cam_mode: Array = array("ncam", dtype="int32", doc="How the camera follows bodies (enums.CamLight).")
    cam_bodyid: Array = array("ncam", dtype="int32", doc="Body the camera is attached to.")
    cam_targetbodyid: Array = array("ncam", dtype="int32", doc="Body the camera looks at; -1: none.")
    cam_pos: Array = array("ncam", 3, dtype="float64", unit="m", doc="Camera position in its body's frame.")
    cam_quat: Array = array(
        "ncam", 4, dtype="float64", unit="1", doc="Camera orientation in its body's frame (w, x, y, z)."
    )
    cam_poscom0: Array = array(
        "ncam",
        3,
        dtype="float64",
        unit="m",
        doc="Camera position minus the subtree's centre of mass at qpos0, world axes.",
    )
    cam_pos0: Array = array(
        "ncam",
        3,
        dtype="float64",
        unit="m",
        doc="Camera position minus its body's position at qpos0, world axes.",
    )
    cam_mat0: Array = array(
        "ncam", 9, dtype="float64", unit="1", doc="Rotation matrix world←camera at qpos0, row by row."
    )
    cam_orthographic: Array = array(
        "ncam", dtype="int32", doc="Whether projection is orthographic (1) or perspective (0)."
    )
    cam_fovy: Array = array(
        "ncam",
        dtype="float64",
        unit="deg or m",
        doc="Vertical field of view: an angle, or a length when orthographic.",
    )
    cam_ipd: Array = array(
        "ncam", dtype="float64", unit="m", doc="Distance between the eyes for stereo images."
    )
    cam_resolution: Array = array("ncam", 2, dtype="int32", unit="pixel", doc="Image width and height.")
    cam_sensorsize: Array = array(
        "ncam",
        2,
        dtype="float32",
        unit="m",
        doc="Width and height of the image sensor; 0: use the field of view.",
    )
    cam_intrinsic: Array = array(
        "ncam", 4, dtype="float32", unit="m", doc="Focal lengths x and y, then principal point x and y."
    )
    cam_user: Array = array("ncam", "nuser_cam", dtype="float64", doc="User numbers of the camera.")
