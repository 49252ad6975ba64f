"""Touch sensors: the sum of the normal forces of contacts in a site's volume.

A contact counts if it involves the site's body and the line of its normal force, from the contact point towards
that body's side, meets the volume; contact points inside it always count. Compare the touch case of
mj_computeSensorAcc.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.sensor.zones_numpy import meets_sites
from dovetail.plugins.shared.rows.contact_forces_numpy import contact_forces


def touch(model: ModelLike, data: DataLike) -> None:
    """Sum of normal forces."""
    sensors = sensors_of(model, SensorType.TOUCH)
    site = model.sensor_objid[sensors]
    force = contact_forces(model, data)[:, 0]
    own = contact_bodies(model, data) == model.site_bodyid[site][:, None, None]
    sensor, contact = np.nonzero(own.any(axis=2) & (force > 0))
    into = np.where(own[sensor, contact, 1], -1.0, 1.0)[:, None]
    hit = meets_sites(
        model, data, site[sensor], data.contact.pos[contact], into * data.contact.frame[contact, :3]
    )
    write(model, data, sensors, np.bincount(sensor[hit], force[contact[hit]], minlength=len(sensors)))


def contact_bodies(model: ModelLike, data: DataLike) -> Array:
    """The two bodies (ncon, 2) of every contact; -1 for the side of a flex."""
    geom = data.contact.geom[: data.ncon]
    if not model.ngeom:
        return np.full(geom.shape, -1)
    return np.where(geom >= 0, model.geom_bodyid[geom], -1)
