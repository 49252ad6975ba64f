"""Sensors of geometric relations: what a site sees, what is inside a site, how far geoms are apart.

A rangefinder looks along its site's z axis past the body it sits on; nothing there reads −1. The distance between
two bodies is that of their nearest geoms, searched up to the cutoff; where nothing is nearer, the distance reads
the cutoff, normal and segment read zero. Compare the rangefinder, insidesite, distance, normal and fromto cases of
mj_computeSensorPos.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dovetail.contracts.enums import ObjType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.sensor.zones_numpy import inside_site
from dovetail.plugins.shared.motion_numpy import object_frames


def rangefinder(model: ModelLike, data: DataLike) -> None:
    """Distance along the site's z axis to the nearest geom."""
    from dovetail.plugins.shared.geometry.ray_numpy import ray

    sensors = sensors_of(model, SensorType.RANGEFINDER)
    readings = []
    for site in model.sensor_objid[sensors].tolist():
        direction = data.site_xmat[site].reshape(3, 3)[:, 2]
        body = int(model.site_bodyid[site])
        readings.append(ray(model, data, data.site_xpos[site], direction, bodyexclude=body)[0])
    write(model, data, sensors, readings)


def insidesite(model: ModelLike, data: DataLike) -> None:
    """1 where the object's origin is in the site's volume, else 0."""
    sensors = sensors_of(model, SensorType.INSIDESITE)
    position, _, _ = object_frames(model, data, model.sensor_objtype[sensors], model.sensor_objid[sensors])
    sites = model.sensor_refid[sensors]
    readings = [inside_site(model, data, s, p[None])[0] for s, p in zip(sites, position, strict=True)]
    write(model, data, sensors, np.array(readings, float))


def geomdist(model: ModelLike, data: DataLike) -> None:
    """Signed distance."""
    sensors = sensors_of(model, SensorType.GEOMDIST)
    write(model, data, sensors, [nearest(model, data, int(s))[0] for s in sensors])


def geomnormal(model: ModelLike, data: DataLike) -> None:
    """Direction from the nearest point of the first to that of the second."""
    sensors = sensors_of(model, SensorType.GEOMNORMAL)
    write(model, data, sensors, [direction(nearest(model, data, int(s))[1]) for s in sensors])


def geomfromto(model: ModelLike, data: DataLike) -> None:
    """The segment between the nearest points."""
    sensors = sensors_of(model, SensorType.GEOMFROMTO)
    write(model, data, sensors, [nearest(model, data, int(s))[1] for s in sensors])


def direction(segment: Array) -> Array:
    """Unit vector along a segment (6,); zero if it has no length."""
    vector: Array = segment[3:] - segment[:3]
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0 else vector


def nearest(model: Any, data: Any, sensor: int) -> tuple[float, Array]:
    """Distance and segment between the nearest geoms of a sensor's two objects, if below its cutoff."""
    from dovetail.plugins.shared.geometry.distance_numpy import geom_distance

    cutoff = float(model.sensor_cutoff[sensor])
    best, segment = cutoff, np.zeros(6)
    first = geoms_of(model, model.sensor_objtype[sensor], model.sensor_objid[sensor])
    second = geoms_of(model, model.sensor_reftype[sensor], model.sensor_refid[sensor])
    for geom1, geom2 in product(first, second):
        distance, between = geom_distance(model, data, geom1, geom2, cutoff)
        if distance < best:
            best, segment = distance, np.asarray(between)
    return best, segment


def geoms_of(model: ModelLike, objtype: int, objid: int) -> list[int]:
    """A geom itself, or all geoms of a body."""
    if objtype != ObjType.BODY:
        return [int(objid)]
    start = int(model.body_geomadr[objid])
    return list(range(start, start + int(model.body_geomnum[objid])))
