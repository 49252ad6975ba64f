"""Where a site appears in a camera's image, in pixels from the upper left corner, in lanes.

A pinhole camera looks along −z with x to the right and y up. The focal length in pixels comes from the lens and
the size of the imaging chip where they are given, which are constants of the kernel; else from the vertical field of
view. Compare the camprojection case of mj_computeSensorPos.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.functions import sincos
from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import SensorType
from dovetail.plugins.sensor.camprojection_numpy import focal_lengths
from dovetail.plugins.sensor.readings_lanes import each_sensor, write
from dovetail.plugins.sensor.readings_numpy import sensors_of
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector
from dovetail.recorded_model import by_value


def camprojection(k: Kernel) -> None:
    """Column and row of the site's image."""
    m, d = k.model, k.data
    with each_sensor(k, SensorType.CAMPROJECTION) as sensor:
        site, camera = m.sensor_objid[sensor], m.sensor_refid[sensor]
        to_camera = d.cam_xmat[camera].reshape(3, 3).T
        x, y, z = to_camera @ (d.site_xpos[site] - d.cam_xpos[camera])
        depth = k.select(k.abs(z) < MINVAL, k.select(z < 0.0, -MINVAL, MINVAL), z)
        across, up = focal_length(k, camera)
        centre = 0.5 * m.cam_resolution[camera] * (z / depth)
        write(k, sensor, centre[0] - across * x / depth, centre[1] + up * y / depth)


def focal_length(k: Kernel, camera: Any) -> Vector:
    """Horizontal and vertical focal length of a camera, in pixels."""
    m, model = k.model, k.frozen_model
    by_value(model, "cam_sensorsize", "cam_intrinsic")
    sine, cosine = sincos(k, m.cam_fovy[camera] * (np.pi / 360.0))
    focal = k.local(np.full(2, 0.5 * cosine / sine * m.cam_resolution[camera, 1]))
    used = model.sensor_refid[sensors_of(model, SensorType.CAMPROJECTION)]
    for known in np.unique(used[(model.cam_sensorsize[used] != 0).all(axis=1)]).tolist():
        with k.when(camera == known):
            focal.set([float(x) for x in focal_lengths(model, np.array([known]))[0]])
    return focal.value
