"""Touch sensors: the sum of the normal forces of contacts in a site's volume.

A contact counts if it involves the site's body and the line of its normal force, from the contact point towards
that body's side, meets the volume; contact points inside it always count. Compare the touch case of
mj_computeSensorAcc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import SensorType
from dovetail.plugins.body_forces.contact_forces import contact_forces
from dovetail.plugins.sensor.readings import sensors_of, write
from dovetail.plugins.sensor.zones import meets_site
from dovetail.plugins.spatial import Array


def touch(model: Any, data: Any) -> None:
    """Sum of normal forces."""
    sensors = sensors_of(model, SensorType.TOUCH)
    normal_force = contact_forces(model, data)[:, 0]
    body = contact_bodies(model, data)
    readings = [felt(model, data, site, body, normal_force) for site in model.sensor_objid[sensors]]
    write(model, data, sensors, readings)


def contact_bodies(model: Any, data: Any) -> Array:
    """The two bodies (ncon, 2) of every contact; -1 for the side of a flex."""
    geom = data.contact.geom[: data.ncon]
    if not model.ngeom:
        return np.full(geom.shape, -1)
    return np.where(geom >= 0, model.geom_bodyid[geom], -1)


def felt(model: Any, data: Any, site: int, body: Array, normal_force: Array) -> float:
    """The force that one site feels."""
    own = body == model.site_bodyid[site]
    pressed = np.flatnonzero(own.any(axis=1) & (normal_force > 0))
    into = np.where(own[pressed, 1], -1.0, 1.0)
    normal = into[:, None] * data.contact.frame[pressed, :3]
    hit = meets_site(model, data, site, data.contact.pos[pressed], normal)
    return float(normal_force[pressed[hit]].sum())
