"""Rows of equality constraints, in the order of their ids.

connect  3 rows: anchor on the first body minus anchor on the second, world frame.
weld     6 rows: the same, then the relative orientation in the second body's frame: the vector part of its
         quaternion (half the sine of the angle), times torquescale.
joint, tendon  1 row: the first's value minus a quartic polynomial of the second's, both relative to qpos0.
flex     1 row per edge that is not rigid: its length minus that at qpos0.

Anchors are points fixed in bodies, or sites. Compare mj_instantiateEquality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit, EqType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.constraint_rows.describe_numpy import named
from dovetail.plugins.constraint_rows.lengths_numpy import flex_edge_rows, tendon_rows
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate, quat_matrix_rows, quat_multiply_rows
from dovetail.plugins.shared.rows.append_numpy import EQUALITY, acting, begin, soft_rows, store
from dovetail.plugins.shared.rows.coupling_numpy import polynomial
from dovetail.plugins.shared.rows.point_motion_numpy import along, relative_motion
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, joined, merged, ranges

SITE = int(ObjType.SITE)
TENDON = int(EqType.TENDON)


class RowsOfType(NamedTuple):
    """The rows of all active constraints of one type."""

    ids: Array
    """Constraint of each row."""
    jacobian: SparseRows
    pos: Array
    violation: Array
    """What the impedance depends on: of connect and weld, the norm over the constraint's rows."""
    inverse_inertia: Array
    size: int
    """Rows that stand or fall together."""


def equality(model: ModelLike, data: DataLike) -> None:
    """Append the rows of active equality constraints."""
    if not begin(model, data, DisableBit.EQUALITY):
        return
    active = np.flatnonzero(data.eq_active)
    if not len(active):
        return
    types = model.eq_type[active]
    parts = [rule_of(model, kind)(model, data, active[types == kind]) for kind in np.unique(types).tolist()]
    write_tendon_addresses(model, data, active[types == TENDON])
    add_parts(model, data, parts)


def add_parts(model: ModelLike, data: DataLike, parts: list[RowsOfType]) -> None:
    """Store the rows that some dof can change, sorted by constraint."""
    kept = np.concatenate(
        [acting(model, part.jacobian, np.arange(len(part.ids)) // part.size) for part in parts]
    )
    ids, pos, violation, inertia = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("ids", "pos", "violation", "inverse_inertia")
    )
    chosen = np.flatnonzero(kept)
    chosen = chosen[np.argsort(ids[chosen], kind="stable")]
    ids = ids[chosen]
    if not len(ids):
        return
    rows = soft_rows(
        model,
        EQUALITY,
        ids,
        joined([part.jacobian for part in parts]).take(chosen),
        pos=pos[chosen],
        solref=model.eq_solref[ids],
        solimp=model.eq_solimp[ids],
        inverse_inertia=inertia[chosen],
        violation=violation[chosen],
        describe=lambda row: named(model, "equality", ids[row]),
    )
    store(data, rows)


def write_tendon_addresses(model: ModelLike, data: DataLike, ids: Array) -> None:
    """Write tendon_efcadr of tendons in equality constraints. MuJoCo 3.4 puts the constraint's id there, not the
    row's number, and so does this."""
    for equality_id in ids.tolist():
        for tendon in (int(model.eq_obj1id[equality_id]), int(model.eq_obj2id[equality_id])):
            if tendon >= 0 and data.tendon_efcadr[tendon] < 0:
                data.tendon_efcadr[tendon] = equality_id


# ---- two bodies -------------------------------------------------------------------------------------------


class Anchors(NamedTuple):
    """The two sides of connect and weld constraints."""

    bodies: Array
    """(n, 2)"""
    points: Array
    """World frame (n, 2, 3)."""
    motion: SparseRows
    """Of the first side relative to the second."""

    @property
    def apart(self) -> Array:
        return self.points[:, 0] - self.points[:, 1]


def objects_of(model: ModelLike, ids: Array) -> tuple[Array, Array, Array]:
    """Objects and bodies (n, 2) of constraints, and which constraints name sites."""
    objects = np.stack([model.eq_obj1id[ids], model.eq_obj2id[ids]], axis=1)
    on_sites = np.flatnonzero(model.eq_objtype[ids] == SITE)
    bodies = objects.copy()
    bodies[on_sites] = model.site_bodyid[objects[on_sites]]
    return objects, bodies, on_sites


def anchors(model: ModelLike, data: DataLike, ids: Array, local: Array) -> Anchors:
    """The sides of constraints whose anchors have the coordinates `local` (n, 2, 3) in their bodies."""
    objects, bodies, on_sites = objects_of(model, ids)
    rotation = data.xmat[bodies].reshape(-1, 2, 3, 3)
    points = data.xpos[bodies] + np.matmul(rotation, local[..., None])[..., 0]
    points[on_sites] = data.site_xpos[objects[on_sites]]
    count = len(ids)
    motion = relative_motion(
        model,
        data,
        owner=np.repeat(np.arange(count), 2),
        body=bodies.reshape(-1),
        point=points.reshape(-1, 3),
        weight=np.tile([1.0, -1.0], count),
        nowner=count,
    )
    return Anchors(bodies, points, motion)


def body_part(model: ModelLike, ids: Array, sides: Anchors, pos: Array, direction: Array) -> RowsOfType:
    """Rows along directions (n, size, 6) with residuals (n, size), linear rows first."""
    size = pos.shape[1]
    owner = np.repeat(np.arange(len(ids)), size)
    weight = model.body_invweight0[sides.bodies].sum(axis=1)
    return RowsOfType(
        ids=np.repeat(ids, size),
        jacobian=along(sides.motion, owner, direction.reshape(-1, 6)),
        pos=pos.reshape(-1),
        violation=np.repeat(np.linalg.norm(pos, axis=1), size),
        inverse_inertia=np.repeat(weight, 3, axis=1)[:, :size].reshape(-1),
        size=size,
    )


def connect(model: ModelLike, data: DataLike, ids: Array) -> RowsOfType:
    """Two points that coincide."""
    sides = anchors(model, data, ids, model.eq_data[ids, :6].reshape(-1, 2, 3))
    direction = np.broadcast_to(np.eye(3, 6), (len(ids), 3, 6))
    return body_part(model, ids, sides, sides.apart, direction)


def weld(model: ModelLike, data: DataLike, ids: Array) -> RowsOfType:
    """Two frames that coincide; eq_data holds the second body's anchor before the first one's."""
    sides = anchors(model, data, ids, model.eq_data[ids, :6].reshape(-1, 2, 3)[:, ::-1])
    scale = model.eq_data[ids, 10]
    first, second = orientations(model, data, ids)
    difference = quat_multiply_rows(quat_conjugates(second), first)
    direction = np.zeros((len(ids), 6, 6))
    direction[:, :3, :3] = np.eye(3)
    direction[:, 3:, 3:] = scale[:, None, None] * turning_rate(difference, second)
    pos = np.hstack([sides.apart, scale[:, None] * difference[:, 1:]])
    return body_part(model, ids, sides, pos, direction)


def orientations(model: ModelLike, data: DataLike, ids: Array) -> tuple[Array, Array]:
    """World quaternions (n, 4) of the frames that shall coincide: of two sites, or of the first body turned by
    relpose and of the second body."""
    objects, bodies, on_sites = objects_of(model, ids)
    own = np.zeros((len(ids), 2, 4))
    own[:, 0] = model.eq_data[ids, 6:10]
    own[:, 1, 0] = 1.0
    own[on_sites] = model.site_quat[objects[on_sites]]
    first, second = (quat_multiply_rows(data.xquat[bodies[:, side]], own[:, side]) for side in (0, 1))
    return first, second


def quat_conjugates(q: Array) -> Array:
    return np.stack(quat_conjugate(tuple(q.T)), axis=1)


def turning_rate(difference: Array, second: Array) -> Array:
    """Matrices (n, 3, 3) from the relative angular velocity of two frames, world axes, to the rate of the vector
    part of their difference c = second⁻¹·first. With u the velocity in the second frame that rate is half the
    vector part of u·c, that is ½(c₀u + u × c⃗)."""
    w, x, y, z = difference.T
    product = np.stack([w, z, -y, -z, w, x, y, -x, w], axis=1).reshape(-1, 3, 3)
    return 0.5 * np.matmul(product, quat_matrix_rows(second).transpose(0, 2, 1))


# ---- two values -------------------------------------------------------------------------------------------


class Values(NamedTuple):
    """Joint positions or tendon lengths."""

    value: Array
    """Relative to qpos0."""
    rows: SparseRows
    inverse_inertia: Array


def joint_values(model: ModelLike, data: DataLike, joints: Array) -> Values:
    address, dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    rows = SparseRows(np.ones(len(dofs), int), dofs, np.ones(len(dofs)))
    return Values(data.qpos[address] - model.qpos0[address], rows, model.dof_invweight0[dofs])


def tendon_values(model: ModelLike, data: DataLike, tendons: Array) -> Values:
    value = data.ten_length[tendons] - model.tendon_length0[tendons]
    return Values(value, tendon_rows(model, data, tendons), model.tendon_invweight0[tendons])


def joint(model: ModelLike, data: DataLike, ids: Array) -> RowsOfType:
    """A joint that follows another, or stands still."""
    return coupling(model, data, ids, joint_values)


def tendon(model: ModelLike, data: DataLike, ids: Array) -> RowsOfType:
    """A tendon whose length follows another's, or stays."""
    return coupling(model, data, ids, tendon_values)


def coupling(
    model: ModelLike, data: DataLike, ids: Array, values: Callable[[Any, Any, Array], Values]
) -> RowsOfType:
    """first − polynomial(second), where a missing second one is zero."""
    follower = values(model, data, model.eq_obj1id[ids])
    pair = np.flatnonzero(model.eq_obj2id[ids] >= 0)
    leader = values(model, data, model.eq_obj2id[ids[pair]])
    coefficients = model.eq_data[ids, :5]
    target, slope = coefficients[:, 0].copy(), np.zeros(len(ids))
    target[pair], slope[pair] = polynomial(coefficients[pair], leader.value)
    inverse_inertia = follower.inverse_inertia.copy()
    inverse_inertia[pair] += leader.inverse_inertia
    led = pair[leader.rows.row_of_entry]
    jacobian = merged(
        np.concatenate([follower.rows.row_of_entry, led]),
        np.concatenate([follower.rows.colind, leader.rows.colind]),
        np.concatenate([follower.rows.values, -slope[led] * leader.rows.values]),
        len(ids),
        model.nv,
    )
    pos = follower.value - target
    return RowsOfType(ids, jacobian, pos, pos, inverse_inertia, size=1)


# ---- flex edges -------------------------------------------------------------------------------------------


def flex(model: ModelLike, data: DataLike, ids: Array) -> RowsOfType:
    """Edges that keep their length."""
    flexes = model.eq_obj1id[ids]
    edges = ranges(model.flex_edgeadr[flexes], model.flex_edgenum[flexes])
    soft = ~model.flexedge_rigid[edges].astype(bool)
    edges = edges[soft]
    pos = data.flexedge_length[edges] - model.flexedge_length0[edges]
    owner = np.repeat(ids, model.flex_edgenum[flexes])[soft]
    rows = flex_edge_rows(model, data, edges)
    return RowsOfType(owner, rows, pos, pos, model.flexedge_invweight0[edges], size=1)


RULES: Mapping[int, Callable[[Any, Any, Array], RowsOfType]] = {
    int(EqType.CONNECT): connect,
    int(EqType.WELD): weld,
    int(EqType.JOINT): joint,
    TENDON: tendon,
    int(EqType.FLEX): flex,
}


def rule_of(model: ModelLike, kind: int) -> Callable[[Any, Any, Array], RowsOfType]:
    """The function for a type of constraint; the error names the first constraint that wants another."""
    if kind not in RULES:
        culprit = named(model, "equality", int(np.argmax(model.eq_type == kind)))
        known = ", ".join(EqType(k).name.lower() for k in RULES)
        raise ValueError(f"{culprit}: there are no rows for eq_type {kind}; there are for {known}")
    return RULES[kind]
