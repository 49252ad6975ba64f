"""Contact sensors: selected fields of the contacts between two sides, in a fixed number of reports.

Each side is a geom, a body, a subtree or anything; the first may instead be the volume of a site. A contact is
turned over if its objects come in the other order, so that the normal points from the first side to the second.
Reports take contacts in their order, by smallest distance or by largest force; or one report has the net force of
all, about their centre of pressure, in world axes. Reports left over are zero. Compare the contact case of
mj_computeSensorAcc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import ContactData, ObjType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.sensor.touch_numpy import contact_bodies
from dovetail.plugins.sensor.zones_numpy import inside_site
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.contact_forces_numpy import contact_forces, in_world_axes
from dovetail.plugins.shared.vectors_numpy import cross_rows

NONE, MINDIST, MAXFORCE, NETFORCE = range(4)
"""How contacts are reduced to reports: `sensor_intprm[1]`."""

Fields = dict[ContactData, Array]
"""One row per report of every field a sensor may report."""


@attrs.frozen
class KnownContacts:
    """What is known of all contacts, once for all sensors."""

    wrench: Array
    """Force and torque (ncon, 6) in the contacts' frames."""
    body: Array
    """Bodies (ncon, 2)."""


@attrs.frozen
class Matches:
    """The contacts of one sensor: ids, and whether each is turned over."""

    ids: Array
    turned: Array


def contact(model: ModelLike, data: DataLike) -> None:
    """The fields that each sensor asks for."""
    sensors = sensors_of(model, SensorType.CONTACT)
    contacts = KnownContacts(contact_forces(model, data), contact_bodies(model, data))
    write(model, data, sensors, [reading(model, data, int(s), contacts) for s in sensors])


def reading(model: ModelLike, data: DataLike, sensor: int, contacts: KnownContacts) -> Array:
    """All reports of one sensor, one after another."""
    matches = matching(model, data, sensor, contacts)
    bits, reduction, _ = model.sensor_intprm[sensor].tolist()
    fields = REDUCTIONS[reduction](data, matches, contacts)
    reports = np.hstack([fields[field] for field in ContactData if bits >> field & 1]).ravel()
    result = np.zeros(model.sensor_dim[sensor])
    count = min(len(reports), len(result))
    result[:count] = reports[:count]
    return result


# ---- which contacts ---------------------------------------------------------------------------------------


def matching(model: ModelLike, data: DataLike, sensor: int, contacts: KnownContacts) -> Matches:
    """The contacts between a sensor's two sides."""
    kind1, side1 = model.sensor_objtype[sensor], model.sensor_objid[sensor]
    kind2, side2 = model.sensor_reftype[sensor], model.sensor_refid[sensor]
    first = on_side(model, data, contacts, kind1, side1)
    second = on_side(model, data, contacts, kind2, side2)
    regular, reverse = first[:, 0] & second[:, 1], first[:, 1] & second[:, 0]
    found = regular | reverse
    if kind1 == ObjType.SITE:
        found &= inside_site(model, data, side1, data.contact.pos[: data.ncon])
    ids = np.flatnonzero(found)
    return Matches(ids, ~regular[ids])


def on_side(model: ModelLike, data: DataLike, contacts: KnownContacts, kind: int, obj: int) -> Array:
    """Which of the two objects (ncon, 2) of each contact may be one side of a sensor."""
    if kind == ObjType.GEOM:
        is_geom: Array = data.contact.geom[: data.ncon] == obj
        return is_geom
    if kind == ObjType.BODY:
        return contacts.body == obj
    if kind == ObjType.XBODY:
        return np.isin(contacts.body, subtree(model, obj))
    return np.ones(contacts.body.shape, bool)


def subtree(model: ModelLike, root: int) -> Array:
    """A body and all its descendants."""
    member = np.zeros(model.nbody, bool)
    member[root] = True
    for body in range(root + 1, model.nbody):
        member[body] = member[model.body_parentid[body]]
    return np.flatnonzero(member)


# ---- reductions to reports --------------------------------------------------------------------------------


def in_order(data: DataLike, matches: Matches, contacts: KnownContacts) -> Fields:
    """The contacts as they come."""
    return each(data, matches, contacts)


def nearest(data: DataLike, matches: Matches, contacts: KnownContacts) -> Fields:
    """The contacts by distance, deepest first."""
    return each(data, by(data.contact.dist[matches.ids], matches), contacts)


def strongest(data: DataLike, matches: Matches, contacts: KnownContacts) -> Fields:
    """The contacts by force, largest first."""
    return each(data, by(-np.square(contacts.wrench[matches.ids, :3]).sum(axis=1), matches), contacts)


def by(criterion: Array, matches: Matches) -> Matches:
    """Matches by ascending criterion; equal ones keep their order."""
    order = np.argsort(criterion, kind="stable")
    return Matches(matches.ids[order], matches.turned[order])


def each(data: DataLike, matches: Matches, contacts: KnownContacts) -> Fields:
    """The fields of single contacts. Turning one over is half a turn of its frame about the second tangent, and
    the force is then the opposite one: only its component along that axis changes sign."""
    ids, count = matches.ids, len(matches.ids)
    turn = np.where(matches.turned, -1.0, 1.0)[:, None]
    wrench = contacts.wrench[ids].copy()
    wrench[:, [2, 5]] *= turn
    frame = data.contact.frame[ids]
    return {
        ContactData.FOUND: np.full((count, 1), float(count)),
        ContactData.FORCE: wrench[:, :3],
        ContactData.TORQUE: wrench[:, 3:],
        ContactData.DIST: data.contact.dist[ids, None],
        ContactData.POS: data.contact.pos[ids],
        ContactData.NORMAL: turn * frame[:, :3],
        ContactData.TANGENT: turn * frame[:, 3:6],
    }


def net_force(data: DataLike, matches: Matches, contacts: KnownContacts) -> Fields:
    """One report: total force and torque about the centre of pressure, world axes."""
    ids = matches.ids
    wrench = in_world_axes(data, contacts.wrench)[ids] * np.where(matches.turned, -1.0, 1.0)[:, None]
    force, torque, position = wrench[:, :3], wrench[:, 3:], data.contact.pos[ids]
    weight = np.sqrt(np.square(force).sum(axis=1))
    centre = weight @ position / max(float(weight.sum()), MINVAL)
    moment = torque + cross_rows(position - centre, force)
    return {
        ContactData.FOUND: np.array([[float(len(ids))]]),
        ContactData.FORCE: force.sum(axis=0, keepdims=True),
        ContactData.TORQUE: moment.sum(axis=0, keepdims=True),
        ContactData.DIST: np.zeros((1, 1)),
        ContactData.POS: centre[None],
        ContactData.NORMAL: np.array([[1.0, 0.0, 0.0]]),
        ContactData.TANGENT: np.array([[0.0, 1.0, 0.0]]),
    }


REDUCTIONS: Mapping[int, Callable[[Any, Matches, KnownContacts], Fields]] = {
    NONE: in_order,
    MINDIST: nearest,
    MAXFORCE: strongest,
    NETFORCE: net_force,
}
