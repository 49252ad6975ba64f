"""Lengths and moments of actuators that act on tendons, sites, slider-cranks and bodies, in lanes.

Moments are the work of forces at the ends of the transmission when a dof moves: a site is pushed by a wrench, in its
own frame or in that of a reference site, which is pushed back; a slider-crank pulls its crank and turns and pushes
its slider; a body is pulled along the normals of its contacts, all together one unit strong. Contacts come from the
memory of the kernel. Compare mj_transmission.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.moments.layout import BOTH, OTHER, OWN
from dovetail.plugins.shared.moments.rows_lanes import moment_entries
from dovetail.plugins.shared.quaternions_lanes import quat_difference, quat_multiply
from dovetail.plugins.shared.tendons.rows_lanes import entry
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, vector


def tendon_arm(k: Kernel, actuator: Int) -> None:
    """The tendon's length and Jacobian times the gear."""
    m, d = k.model, k.data
    gear = m.actuator_gear[actuator, 0]
    d.actuator_length[actuator] = d.ten_length[m.actuator_trnid[actuator, 0]] * gear
    with moment_entries(k, actuator) as (at, _, place):
        d.actuator_moment[at] = entry(k, place) * gear


def site_arm(k: Kernel, actuator: Int) -> None:
    """A wrench on a site: in the site's frame, or against a reference site and in its frame."""
    m, d = k.model, k.data
    site, reference = m.actuator_trnid[actuator]
    gear = m.actuator_gear[actuator]
    alone = reference < 0
    frame = k.select(alone, site, reference)
    axes = d.site_xmat[frame].reshape(3, 3)
    force, torque = axes @ gear[:3], axes @ gear[3:]
    length = k.local(0.0)
    with k.when(~alone):
        length.set(relative_length(k, site, reference, gear))
    d.actuator_length[actuator] = length.value
    write_moments(k, actuator, wrench(k, site, force, torque), wrench(k, frame, -force, -torque), 1.0)


def relative_length(k: Kernel, site: Any, reference: Any, gear: Vector) -> Any:
    """Position and rotation of a site relative to another one, along the gear."""
    m, d = k.model, k.data
    apart = d.site_xpos[site] - d.site_xpos[reference]
    total = k.local(dot(gear[:3], d.site_xmat[reference].reshape(3, 3).T @ apart))
    with k.when(k.any((gear[3] != 0.0) | (gear[4] != 0.0) | (gear[5] != 0.0))):
        # MuJoCo 3.4 turns the sites' own orientations by the bodies', not the other way round
        turned = [quat_multiply(m.site_quat[i], d.xquat[m.site_bodyid[i]]) for i in (site, reference)]
        total += dot(gear[3:], quat_difference(k, *turned))
    return total.value


def crank_arm(k: Kernel, actuator: Int) -> None:
    """A rod of fixed length from the crank's site to a slider that moves along the slider site's z axis."""
    m, d = k.model, k.data
    crank, slider = m.actuator_trnid[actuator]
    rod, gear = m.actuator_cranklength[actuator], m.actuator_gear[actuator, 0]
    axis = d.site_xmat[slider].reshape(3, 3)[:, 2]
    apart = d.site_xpos[crank] - d.site_xpos[slider]
    along = dot(apart, axis)
    rest = along * along + rod * rod - dot(apart, apart)
    short = rest <= 0.0  # the rod is too short to reach the axis: take the projection
    root = k.sqrt(k.select(short, 1.0, rest))
    d.actuator_length[actuator] = gear * k.select(short, along, along - root)
    share = 1.0 - along / root
    by_axis = k.select(short, apart, apart * share)
    by_apart = k.select(short, axis, axis * share + apart / root)
    nothing = vector(0.0, 0.0, 0.0)
    write_moments(
        k,
        actuator,
        wrench(k, crank, by_apart, nothing),
        wrench(k, slider, -by_apart, cross(axis, by_axis)),
        gear,
    )


def body_arm(k: Kernel, actuator: Int) -> None:
    """Adhesion: against the mean normal of the body's contacts, those in the gap too; without gear."""
    m, d, contacts = k.model, k.data, Contacts(k)
    body, count = m.actuator_trnid[actuator, 0], k.local(0.0)
    pull = k.scratch("pull", m.nbody, 6)
    with k.loop(0, m.nbody) as every:
        pull[every] = 0.0
    if contacts.pairs.count:
        with k.loop(0, contacts.count) as c:
            pair = contacts.pair[c]
            ends = [contacts.of_pair(name, pair) for name in ("body1", "body2")]
            counts = (contacts.of_pair("moves", pair) > 0) & (contacts.of_pair("flex", pair) < 0)
            with k.when((ends[0] == body) | (ends[1] == body)), k.when(counts):
                count += k.select(contacts.exists(c), 1.0, 0.0)
                add_normal(k, contacts, c, ends, pull)
    add_to_parents(k, pull)
    d.actuator_length[actuator] = 0.0
    share = 1.0 / k.max(count.value, 1.0)
    with moment_entries(k, actuator) as (at, dof, _):
        d.actuator_moment[at] = -share * dot(d.cdof[dof], pull[m.dof_bodyid[dof]])


def add_normal(k: Kernel, contacts: Contacts, c: Any, bodies: list[Any], pull: LaneField) -> None:
    """Add a contact's unit force along its normal on the second body, and back on the first; about the centres of
    mass of their trees, and only in worlds that have the contact."""
    normal, exists = contacts.frame[c][:3], contacts.exists(c)
    for body, way in zip(bodies, (-1.0, 1.0), strict=True):
        lever = contacts.pos[c] - k.data.subtree_com[k.model.body_rootid[body]]
        pull[body] += k.select(exists, way * vector(cross(lever, normal), normal), 0.0)


def wrench(k: Kernel, site: Any, force: Vector, torque: Vector) -> Vector:
    """A force and a torque at a site, about the centre of mass of the site's tree."""
    m, d = k.model, k.data
    lever = d.site_xpos[site] - d.subtree_com[m.body_rootid[m.site_bodyid[site]]]
    return vector(torque + cross(lever, force), force)


def write_moments(k: Kernel, actuator: Int, own: Vector, other: Vector, gear: Any) -> None:
    """Write a row from the wrenches on the first and the second site."""
    d = k.data
    ends = k.scratch("ends", 3, 6)
    ends[OWN], ends[OTHER], ends[BOTH] = own, other, own + other
    with moment_entries(k, actuator) as (at, dof, end):
        d.actuator_moment[at] = gear * dot(d.cdof[dof], ends[end])
