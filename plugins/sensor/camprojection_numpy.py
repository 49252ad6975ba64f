"""Where a site appears in a camera's image, in pixels from the upper left corner.

A pinhole camera looks along −z with x to the right and y up. The focal length in pixels comes from the lens and
the size of the imaging chip where they are given, else from the vertical field of view. Compare the camprojection
case of mj_computeSensorPos.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import apply_rows


def camprojection(model: ModelLike, data: DataLike) -> None:
    """Column and row of the site's image."""
    sensors = sensors_of(model, SensorType.CAMPROJECTION)
    site, camera = model.sensor_objid[sensors], model.sensor_refid[sensors]
    to_camera = data.cam_xmat[camera].reshape(-1, 3, 3).transpose(0, 2, 1)
    x, y, z = apply_rows(to_camera, data.site_xpos[site] - data.cam_xpos[camera]).T
    depth = np.where(np.abs(z) < MINVAL, np.where(z < 0, -MINVAL, MINVAL), z)
    focal = focal_lengths(model, camera)
    offset = np.stack([-focal[:, 0] * x, focal[:, 1] * y], axis=1) / depth[:, None]
    centre = model.cam_resolution[camera] / 2.0 * (z / depth)[:, None]
    write(model, data, sensors, centre + offset)


def focal_lengths(model: ModelLike, camera: Array) -> Array:
    """Horizontal and vertical focal length of cameras, in pixels."""
    resolution = model.cam_resolution[camera]
    from_view = 0.5 / np.tan(np.radians(model.cam_fovy[camera]) / 2.0) * resolution[:, 1]
    focal = np.repeat(from_view[:, None], 2, axis=1)
    chip = model.cam_sensorsize[camera]
    has_chip = (chip != 0).all(axis=1)
    # MuJoCo computes this in single precision
    pixels = (
        model.cam_intrinsic[camera][has_chip, :2] / chip[has_chip] * resolution[has_chip].astype(np.float32)
    )
    focal[has_chip] = pixels
    return focal
