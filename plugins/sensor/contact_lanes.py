"""Contact sensors in lanes: selected fields of the contacts between two sides, in a fixed number of reports.

Each side is a geom, a body, a subtree or anything; the first may instead be the volume of a site. A contact is
turned over if its objects come in the other order, so that the normal points from the first side to the second.
Reports take contacts in their order, by smallest distance or by largest force: each looks, in every world, for what
comes next after the report before it. Or one report has the net force of all, about their centre of pressure, in
world axes. Reports left over are zero. Compare the contact case of mj_computeSensorAcc.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import ContactData, ObjType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.sensor.contact_numpy import MAXFORCE, MINDIST, NETFORCE, subtree
from dovetail.plugins.sensor.readings_lanes import clamped, each_sensor
from dovetail.plugins.sensor.readings_numpy import sensors_of
from dovetail.plugins.sensor.zones_lanes import FAR, inside_site
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.contact_forces_lanes import contact_axes, contact_force, each_contact
from dovetail.plugins.shared.rows.rows_lanes import BodyRows
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm

WIDTH = {
    ContactData.FOUND: 1,
    ContactData.FORCE: 3,
    ContactData.TORQUE: 3,
    ContactData.DIST: 1,
    ContactData.POS: 3,
    ContactData.NORMAL: 3,
    ContactData.TANGENT: 3,
}
"""Numbers of each field, in the order in which they stand in a report."""

REGULAR, TURNED = 1, -1
"""How a pair's contacts match a sensor; 0: not at all."""

Fields = dict[ContactData, Any]


def contact(k: Kernel) -> None:
    """The fields that each sensor asks for."""
    body_rows = BodyRows(k)
    reductions = set(k.frozen_model.sensor_intprm[sensors_of(k.frozen_model, SensorType.CONTACT), 1].tolist())
    with each_sensor(k, SensorType.CONTACT) as sensor:
        reader = Reader(k, body_rows, sensor)
        reader.clear()
        found = reader.list_matches()
        net = k.model.sensor_intprm[sensor, 1] == NETFORCE
        if NETFORCE in reductions:
            with k.when(net):
                reader.net_force(found)
        if reductions - {NETFORCE}:
            with k.when(~net):
                reader.single_contacts(found)
        reader.clamp()


@attrs.define(eq=False)
class Reader:
    """One sensor's reading."""

    k: Kernel
    body_rows: BodyRows
    sensor: Any

    # ---- sensordata

    @property
    def start(self) -> Any:
        return self.k.model.sensor_adr[self.sensor]

    @property
    def size(self) -> Any:
        """Numbers of all reports."""
        return self.k.model.sensor_dim[self.sensor]

    def clear(self) -> None:
        with self.k.loop(self.start, self.start + self.size) as at:
            self.k.data.sensordata[at] = 0.0

    def clamp(self) -> None:
        data = self.k.data.sensordata
        with self.k.loop(self.start, self.start + self.size) as at:
            data[at] = clamped(self.k, self.sensor, data[at])

    def place(self, field: ContactData) -> Any:
        """Where a field begins in a report, -1 if the sensor does not report it."""
        table = self.k.table("sensor/contact_places", _places(self.k.frozen_model))
        return table[self.sensor, int(field)]

    @property
    def width(self) -> Any:
        """Numbers of one report."""
        return self.k.table("sensor/contact_width", _widths(self.k.frozen_model))[self.sensor]

    def store(self, at: Any, fields: Fields, where: Any = True) -> None:
        """Put the fields that the sensor reports into the report that begins at a place, in worlds of the mask."""
        k, data = self.k, self.k.data.sensordata
        used = _places(k.frozen_model).max(axis=0)
        for field, numbers in fields.items():
            if used[int(field)] < 0:
                continue
            place = self.place(field)
            with k.when(place >= 0):
                for n, number in enumerate(numbers):
                    data[at + place + n] = k.select(where, number, data[at + place + n])

    # ---- which contacts

    @cached_property
    def sites(self) -> list[int]:
        """All sites that sensors use as their first side."""
        model = self.k.frozen_model
        ids = sensors_of(model, SensorType.CONTACT)
        return list(model.sensor_objid[ids[model.sensor_objtype[ids] == int(ObjType.SITE)]])

    def list_matches(self) -> Any:
        """List the contacts between the two sides; returns how many each world has."""
        k, contacts, found = self.k, self.body_rows.contacts, self.k.local(0.0)
        pairs, listed = contacts.pairs, k.local(0)
        table = k.table("sensor/contact_pairs", match_table(k.frozen_model, pairs.geom1, pairs.geom2))
        for c in each_contact(k, self.body_rows):
            way = table[self.sensor, contacts.pair[c]]
            with k.when(way != 0):
                here = self.belongs(c)
                self.matched[listed.value], self.way[listed.value] = c, way
                self.here[listed.value] = here
                found += here
                listed += 1
        self.listed[0] = listed.value
        return found.value

    @property
    def listed(self) -> IntegerField:
        """Length of the list."""
        return self.k.integers("listed", 1)

    @property
    def matched(self) -> IntegerField:
        """Contacts of the list."""
        return self.k.integers("matched", self.body_rows.contacts.room)

    @property
    def way(self) -> IntegerField:
        """REGULAR or TURNED."""
        return self.k.integers("way", self.body_rows.contacts.room)

    @property
    def here(self) -> LaneField:
        """1 in worlds that have the contact, else 0."""
        return self.k.scratch("here", self.body_rows.contacts.room)

    @walk
    def each_match(self) -> Iterator[tuple[Any, Any, Any]]:
        """`for c, turn, here in …:` the contacts of the list, −1 if turned over, and the mask of worlds."""
        with self.k.loop(0, self.listed[0]) as n:
            yield self.matched[n], self.way[n] * 1.0, self.here[n] > 0.5

    def belongs(self, c: Any) -> Any:
        """1 in worlds where a contact exists, in the site's volume if there is one."""
        k, exists = self.k, self.body_rows.contacts.exists(c)
        within = k.local(1.0)
        if self.sites:
            with k.when(k.model.sensor_objtype[self.sensor] == int(ObjType.SITE)):
                site = k.model.sensor_objid[self.sensor]
                within.set(inside_site(k, site, self.body_rows.contacts.pos[c], self.sites))
        return k.select(exists, within.value, 0.0)

    # ---- one contact in each report

    def single_contacts(self, found: Any) -> None:
        """Fill the reports, each with the match that comes next in the order of the reduction."""
        k = self.k
        last_rank, last_index = k.local(-FAR), k.local(-1.0)
        with k.loop(0, self.size // self.width) as report:
            rank, index = k.local(FAR), k.local(-1.0)
            for c, turn, here in self.each_match():
                own = self.rank(c)
                behind = (own > last_rank.value) | ((own == last_rank.value) & (c * 1.0 > last_index.value))
                next_one = here & behind & (own < rank.value)
                with k.when(k.any(next_one)):
                    self.store(self.start + report * self.width, self.fields(c, turn, found), next_one)
                    rank.set(k.select(next_one, own, rank.value))
                    index.set(k.select(next_one, c * 1.0, index.value))
            last_rank.set(rank.value)
            last_index.set(index.value)
            k.leave_when(~k.any(rank.value < FAR))

    def rank(self, c: Any) -> Any:
        """What contacts are sorted by; equal ones keep their order."""
        k, reduction = self.k, self.k.model.sensor_intprm[self.sensor, 1]
        force = contact_force(self.body_rows, c)[:3]
        by_force = k.select(reduction == MAXFORCE, -dot(force, force), 0.0)
        return k.select(reduction == MINDIST, self.body_rows.contacts.dist[c], by_force)

    def fields(self, c: Any, turn: Any, found: Any) -> Fields:
        """Of a single contact. Turning one over is half a turn of its frame about the second tangent, and the force
        is then the opposite one: only its component along that axis changes sign."""
        wrench, axes, contacts = (
            contact_force(self.body_rows, c),
            contact_axes(self.body_rows, c),
            self.body_rows.contacts,
        )
        return {
            ContactData.FOUND: [found],
            ContactData.FORCE: [wrench[0], wrench[1], turn * wrench[2]],
            ContactData.TORQUE: [wrench[3], wrench[4], turn * wrench[5]],
            ContactData.DIST: [contacts.dist[c]],
            ContactData.POS: contacts.pos[c],
            ContactData.NORMAL: turn * axes[0],
            ContactData.TANGENT: turn * axes[1],
        }

    # ---- the sum of all

    def net_force(self, found: Any) -> None:
        """One report: total force and torque about the centre of pressure, world axes."""
        k, zero, pos = self.k, [0.0] * 3, self.body_rows.contacts.pos
        weight, moment, force, torque = k.local(0.0), k.local(zero), k.local(zero), k.local(zero)
        for c, turn, here in self.each_match():
            push = self.in_world(c, contact_force(self.body_rows, c)[:3], turn, here)
            strength = norm(k, push)
            weight += strength
            force += push
            moment += k.select(here, strength * pos[c], 0.0)
        centre = moment.value / k.max(MINVAL, weight.value)
        for c, turn, here in self.each_match():
            wrench = contact_force(self.body_rows, c)
            push, twist = (self.in_world(c, part, turn, here) for part in (wrench[:3], wrench[3:]))
            torque += twist + k.select(here, cross(pos[c] - centre, push), 0.0)
        fields = {
            ContactData.FOUND: [found],
            ContactData.FORCE: force.value,
            ContactData.TORQUE: torque.value,
            ContactData.POS: centre,
            ContactData.NORMAL: [1.0, 0.0, 0.0],
            ContactData.TANGENT: [0.0, 1.0, 0.0],
        }
        self.store(self.start, fields)

    def in_world(self, c: Any, part: Vector, turn: Any, here: Any) -> Vector:
        """Force or torque of a contact on the second side in world axes; zero in other worlds."""
        found: Vector = self.k.select(here, turn * (contact_axes(self.body_rows, c).T @ part), 0.0)
        return found


# ---- tables worked out from the model


def _places(model: ModelLike) -> Array:
    """Where each field (columns) begins in a report of each sensor (rows), -1 if it is not there."""
    places = np.full((max(1, model.nsensor), len(ContactData)), -1)
    for sensor in sensors_of(model, SensorType.CONTACT).tolist():
        at = 0
        for field in ContactData:
            if int(model.sensor_intprm[sensor, 0]) >> field & 1:
                places[sensor, int(field)] = at
                at += WIDTH[field]
    return places


def _widths(model: ModelLike) -> Array:
    """Numbers of one report of each sensor; 1 for sensors of other types."""
    widths = np.ones(max(1, model.nsensor), int)
    for sensor in sensors_of(model, SensorType.CONTACT).tolist():
        bits = int(model.sensor_intprm[sensor, 0])
        widths[sensor] = max(1, sum(WIDTH[field] for field in ContactData if bits >> field & 1))
    return widths


def match_table(model: ModelLike, geom1: Array, geom2: Array) -> Array:
    """How contacts between geoms (columns) match each sensor (rows)."""
    table = np.zeros((max(1, model.nsensor), len(geom1) + 1), int)
    for sensor in sensors_of(model, SensorType.CONTACT).tolist():
        first, second = (
            [on_side(model, geom, kind, obj) for geom in (geom1, geom2)]
            for kind, obj in (
                (model.sensor_objtype[sensor], model.sensor_objid[sensor]),
                (model.sensor_reftype[sensor], model.sensor_refid[sensor]),
            )
        )
        regular, reverse = first[0] & second[1], first[1] & second[0]
        table[sensor, :-1] = np.where(regular, REGULAR, np.where(reverse, TURNED, 0))
    return table


def on_side(model: ModelLike, geom: Array, kind: int, obj: int) -> Array:
    """Which geoms may be one side of a sensor; -1, a flex, is no geom and has no body."""
    body = np.where(geom >= 0, model.geom_bodyid[geom], -1)
    if kind == ObjType.GEOM:
        return np.asarray(geom == obj)
    if kind == ObjType.BODY:
        return np.asarray(body == obj)
    if kind == ObjType.XBODY:
        return np.isin(body, subtree(model, obj))
    return np.ones(len(geom), bool)
