"""Accelerations of bodies, forces from outside on them, and forces between them and their parents, in lanes.

`cacc` follows from joint velocities and accelerations, with gravity as an upward acceleration of the world.
`cfrc_ext` collects the user's forces, contacts, and connect and weld constraints. What else a body needs for its
acceleration its parent must supply: `cfrc_int`. All about the tree's centre of mass, in world axes, torque first. The
forces of constraints come from the solver's memory in the same kernel. Compare mj_rnePostConstraint.

As in MuJoCo, the three rotational rows of a weld are taken for a torque in world axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.motion_lanes import force_moved_to
from dovetail.plugins.shared.rows.contact_forces_lanes import contact_axes, contact_force, each_contact
from dovetail.plugins.shared.rows.equality_anchors_lanes import Columns, anchor
from dovetail.plugins.shared.rows.rows_lanes import BodyRows
from dovetail.plugins.shared.spatial_lanes import cross_force, inertia_times
from dovetail.plugins.shared.vectors_lanes import Vector, vector


def body_forces(k: Kernel) -> None:
    """Write cacc, cfrc_ext and cfrc_int."""
    body_rows = BodyRows(k)
    body_accelerations(k)
    applied_forces(k)
    add_contacts(k, body_rows)
    add_equalities(k, body_rows)
    k.data.cfrc_ext[0] = 0.0
    forces_between(k)


def body_accelerations(k: Kernel) -> None:
    """Write cacc."""
    m, d = k.model, k.data
    on = k.select(k.disabled(DisableBit.GRAVITY), 0.0, 1.0)
    d.cacc[0] = vector(np.zeros(3), -m.opt.gravity[:] * on)
    with k.loop(1, m.nbody) as body:
        total = k.local(d.cacc[m.body_parentid[body]])
        first = m.body_dofadr[body]
        with k.loop(first, first + m.body_dofnum[body]) as dof:
            total += d.cdof_dot[dof] * d.qvel[dof] + d.cdof[dof] * d.qacc[dof]
        d.cacc[body] = total.value


def applied_forces(k: Kernel) -> None:
    """Begin cfrc_ext with what the user applies at the bodies' centres of mass."""
    m, d = k.model, k.data
    with k.loop(0, m.nbody) as body:
        push = d.xfrc_applied[body]
        lever = d.subtree_com[m.body_rootid[body]] - d.xipos[body]
        d.cfrc_ext[body] = force_moved_to(lever, vector(push[3:], push[:3]))


def add_contacts(k: Kernel, body_rows: BodyRows) -> None:
    """Add the forces of contacts between two geoms: on the second body, and back on the first."""
    contacts = body_rows.contacts
    for c in each_contact(k, body_rows):
        acts = contacts.acts(c)
        with k.when(contacts.of_pair("flex", contacts.pair[c]) < 0), k.when(k.any(acts)):
            wrench, to_world = contact_force(body_rows, c), contact_axes(body_rows, c).T
            push = vector(to_world @ wrench[3:], to_world @ wrench[:3])
            for body, way in (("body1", -push), ("body2", push)):
                add_at_point(k, contacts.of_pair(body, contacts.pair[c]), contacts.pos[c], way, acts)


def add_equalities(k: Kernel, body_rows: BodyRows) -> None:
    """Add the forces of connect and weld constraints: on the first body, and back on the second."""
    if not body_rows.nequality:
        return
    column = Columns(k, body_rows)
    with k.loop(0, body_rows.nequality) as bond:
        active = body_rows.D[bond, 0] != 0.0
        with k.when(k.any(active)):
            force = body_rows.force[bond]
            torque = k.local([0.0] * 3)
            if column.welds:
                with k.when(column("weld", bond) > 0):
                    torque.set(force[3:])
            pull = vector(torque.value, force[:3])
            for side, way in ((0, pull), (1, -pull)):
                point = anchor(k, bond, column, side)
                add_at_point(k, column(f"body{side + 1}", bond), point, way, active)


def add_at_point(k: Kernel, body: Any, point: Vector, push: Vector, where: Any) -> None:
    """Add a force that acts on a body at a point of the world, torque first; only in worlds of the mask, so that
    others keep their bits."""
    d = k.data
    lever = d.subtree_com[k.model.body_rootid[body]] - point
    before = d.cfrc_ext[body]
    d.cfrc_ext[body] = k.select(where, before + force_moved_to(lever, push), before)


def forces_between(k: Kernel) -> None:
    """Write cfrc_int: what bodies need for their accelerations beyond cfrc_ext, summed from the leaves."""
    m, d = k.model, k.data
    d.cfrc_int[0] = 0.0
    with k.loop(1, m.nbody) as body:
        inertia, velocity = d.cinert[body], d.cvel[body]
        needed = inertia_times(inertia, d.cacc[body])
        carried = cross_force(velocity, inertia_times(inertia, velocity))
        d.cfrc_int[body] = needed + carried - d.cfrc_ext[body]
    with k.loop(1, m.nbody, reverse=True) as body:
        d.cfrc_int[m.body_parentid[body]] += d.cfrc_int[body]
