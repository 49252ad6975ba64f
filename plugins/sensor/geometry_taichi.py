"""Sensors of geometric relations in lanes: what a site sees among primitive shapes, and what is inside a site.

A rangefinder looks along its site's z axis past the body it sits on; nothing there reads −1. Transparent geoms are
not seen; which those are is settled when the plan is made. Compare the rangefinder and insidesite cases of
mj_computeSensorPos.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.taichi.algebra import Vector
from dovetail.backends.taichi.lanes import Kernel
from dovetail.contracts.enums import GeomType, SensorType
from dovetail.plugins.queries.motion_taichi import object_frame
from dovetail.plugins.queries.ray import visible
from dovetail.plugins.queries.ray_shapes_taichi import MISS, SHAPES
from dovetail.plugins.sensor.readings import sensors_of
from dovetail.plugins.sensor.readings_taichi import each_sensor, object_kinds, write
from dovetail.plugins.sensor.zones_taichi import inside_site


def rangefinder(k: Kernel) -> None:
    """Distance along the site's z axis to the nearest geom."""
    m, d = k.model, k.data
    with each_sensor(k, SensorType.RANGEFINDER) as sensor:
        site = m.sensor_objid[sensor]
        direction = d.site_xmat[site].reshape(3, 3)[:, 2]
        x = first_hit(k, d.site_xpos[site], direction, m.site_bodyid[site])
        write(k, sensor, k.select(x < MISS, x, -1.0))


def first_hit(k: Kernel, point: Vector, direction: Vector, own_body: Any) -> Any:
    """Distance to the nearest geom that is not of a body, MISS if there is none."""
    m, d, model = k.model, k.data, k.structure
    seen = np.flatnonzero(visible(model, None, True, -1))
    table = k.table("sensor/visible", np.append(seen, 0))
    nearest = k.local(MISS)
    with k.loop(0, len(seen)) as n:
        geom = table[n]
        with k.when(m.geom_bodyid[geom] != own_body):
            into = d.geom_xmat[geom].reshape(3, 3).T
            start, ray = into @ (point - d.geom_xpos[geom]), into @ direction
            for kind in np.unique(model.geom_type[seen]).tolist():
                with k.when(m.geom_type[geom] == kind):
                    x = SHAPES[GeomType(kind)](k, start, ray, m.geom_size[geom])
                    nearest.set(k.min(nearest.value, x))
    return nearest.value


def insidesite(k: Kernel) -> None:
    """1 where the object's origin is in the site's volume, else 0."""
    m, model = k.model, k.structure
    kinds = object_kinds(k, SensorType.INSIDESITE, "obj")
    sites = model.sensor_refid[sensors_of(model, SensorType.INSIDESITE)].tolist()
    with each_sensor(k, SensorType.INSIDESITE) as sensor:
        frame = object_frame(k, m.sensor_objtype[sensor], m.sensor_objid[sensor], kinds)
        write(k, sensor, inside_site(k, m.sensor_refid[sensor], frame.position, sites))
