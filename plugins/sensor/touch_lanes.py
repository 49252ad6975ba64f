"""Touch sensors in lanes: the sum of the normal forces of contacts in a site's volume.

A contact counts if it involves the site's body and the line of its normal force, from the contact point towards
that body's side, meets the volume; contact points inside it always count. Forces come from the solver's memory in
the same kernel. Compare the touch case of mj_computeSensorAcc.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import SensorType
from dovetail.plugins.sensor.readings_lanes import each_sensor, write
from dovetail.plugins.sensor.readings_numpy import sensors_of
from dovetail.plugins.sensor.zones_lanes import meets_site
from dovetail.plugins.shared.rows.contact_forces_lanes import contact_axes, contact_force, each_contact
from dovetail.plugins.shared.rows.rows_lanes import BodyRows


def touch(k: Kernel) -> None:
    """Sum of normal forces."""
    m, body_rows = k.model, BodyRows(k)
    contacts = body_rows.contacts
    sites = k.frozen_model.sensor_objid[sensors_of(k.frozen_model, SensorType.TOUCH)].tolist()
    with each_sensor(k, SensorType.TOUCH) as sensor:
        site = m.sensor_objid[sensor]
        body = m.site_bodyid[site]
        total = k.local(0.0)
        for c in each_contact(k, body_rows):
            pair = contacts.pair[c]
            first, second = contacts.of_pair("body1", pair), contacts.of_pair("geom_body2", pair)
            force = contact_force(body_rows, c)[0]
            with k.when((first == body) | (second == body)), k.when(k.any(force > 0.0)):
                into = k.select(second == body, -1.0, 1.0)
                hit = meets_site(k, site, contacts.pos[c], into * contact_axes(body_rows, c)[0], sites)
                total += k.select(force > 0.0, hit * force, 0.0)
        write(k, sensor, total.value)
