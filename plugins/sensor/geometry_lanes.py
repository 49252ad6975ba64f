"""Sensors of geometric relations in lanes: what a site sees, what is in a site, how far primitive shapes are apart.

A rangefinder looks along its site's z axis past the body it sits on; nothing there reads −1. Transparent geoms are
not seen; which those are is settled when the plan is made. The distance between two bodies is that of their nearest
geoms, searched up to the cutoff; where nothing is nearer, the distance reads the cutoff, normal and segment read
zero. Compare the rangefinder, insidesite, distance, normal and fromto cases of mj_computeSensorPos.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType, SensorType
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.sensor.geometry_numpy import geoms_of
from dovetail.plugins.sensor.readings_lanes import each_sensor, numbered_sensor, object_kinds, write
from dovetail.plugins.sensor.readings_numpy import sensors_of
from dovetail.plugins.sensor.zones_lanes import inside_site
from dovetail.plugins.shared.geometry.pair_distances_lanes import nearer, pair_rows
from dovetail.plugins.shared.geometry.ray_numpy import visible
from dovetail.plugins.shared.geometry.ray_shapes_lanes import MISS, SHAPES
from dovetail.plugins.shared.geometry.ray_surfaces_lanes import SURFACES
from dovetail.plugins.shared.motion_lanes import object_frame
from dovetail.plugins.shared.vectors_lanes import Vector, norm


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
    m, d, model = k.model, k.data, k.frozen_model
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
                    if kind in SURFACES:
                        x = SURFACES[GeomType(kind)](k, geom, start, ray, nearest.value)
                    else:
                        x = SHAPES[GeomType(kind)](k, start, ray, m.geom_size[geom])
                    nearest.set(k.min(nearest.value, x))
    return nearest.value


def insidesite(k: Kernel) -> None:
    """1 where the object's origin is in the site's volume, else 0."""
    m, model = k.model, k.frozen_model
    kinds = object_kinds(k, SensorType.INSIDESITE, "obj")
    sites = model.sensor_refid[sensors_of(model, SensorType.INSIDESITE)].tolist()
    with each_sensor(k, SensorType.INSIDESITE) as sensor:
        frame = object_frame(k, m.sensor_objtype[sensor], m.sensor_objid[sensor], kinds)
        write(k, sensor, inside_site(k, m.sensor_refid[sensor], frame.position, sites))


def geomdist(k: Kernel) -> None:
    """Signed distance."""
    with nearest(k, SensorType.GEOMDIST) as (sensor, distance, _):
        write(k, sensor, distance)


def geomnormal(k: Kernel) -> None:
    """Direction from the nearest point of the first to that of the second."""
    with nearest(k, SensorType.GEOMNORMAL) as (sensor, _, segment):
        apart = segment[3:] - segment[:3]
        length = norm(k, apart)
        write(k, sensor, *(apart / k.select(length > 0.0, length, 1.0)))


def geomfromto(k: Kernel) -> None:
    """The segment between the nearest points; its cutoff clamps nothing."""
    with nearest(k, SensorType.GEOMFROMTO) as (sensor, _, segment):
        for n, number in enumerate(segment):
            k.data.sensordata[k.model.sensor_adr[sensor] + n] = number


@contextmanager
def nearest(k: Kernel, kind: SensorType) -> Iterator[tuple[Any, Any, Vector]]:
    """Repeat for the sensors of a type: the sensor, the distance of its objects' nearest geoms, the segment."""
    model, name = k.frozen_model, f"sensor/{kind.name.lower()}"
    ids = sensors_of(model, kind).tolist()
    pairs = [pair_rows(model, list(product(*sides_of(model, sensor)))) for sensor in ids]
    rows = pair_rows(model, [pair for sensor in ids for pair in product(*sides_of(model, sensor))])
    first = k.table(f"{name}/first", np.cumsum([0, *(len(own.lower) for own in pairs)]))
    with numbered_sensor(k, kind) as (n, sensor):
        limit = k.model.sensor_cutoff[sensor]
        best, segment = k.local(0.0), k.local([0.0] * 6)
        best.set(limit)
        with k.loop(first[n], first[n + 1]) as row:
            nearer(k, rows, name, row, best, segment, limit)
        yield sensor, best.value, segment.value


def sides_of(model: ModelLike, sensor: int) -> tuple[list[int], list[int]]:
    """The geoms of a sensor's two objects."""
    return (
        geoms_of(model, model.sensor_objtype[sensor], model.sensor_objid[sensor]),
        geoms_of(model, model.sensor_reftype[sensor], model.sensor_refid[sensor]),
    )
