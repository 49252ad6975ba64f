"""Rows of limits: joints first, then tendons; of each the lower side before the upper one.

A side has a row while its distance to the limit is below the margin. A ball joint has one side: its angle from
the reference orientation, whose largest value is the greater number of its range. Compare mj_instantiateLimit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.constraint_rows.describe_numpy import named
from dovetail.plugins.constraint_rows.lengths_numpy import tendon_rows
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.quaternions_numpy import quat_normalize, quat_to_rotation_vector
from dovetail.plugins.shared.rows.append_numpy import (
    LIMIT_JOINT,
    LIMIT_TENDON,
    acting,
    begin,
    soft_rows,
    store,
    write_tendon_addresses,
)
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, ranges
from dovetail.plugins.shared.tree_numpy import BALL, single_dof

SIDES = np.array([1.0, -1.0])
"""How the distance to the lower and to the upper limit changes with the value."""


def limit(model: ModelLike, data: DataLike) -> None:
    """Append a row for each joint and tendon that is closer to a limit than its margin."""
    if not begin(model, data, DisableBit.LIMIT):
        return
    joint_limits(model, data)
    tendon_limits(model, data)


def side_distances(value: Array, bounds: Array) -> Array:
    """Distances (n, 2) of values to their lower and upper bounds; negative beyond them."""
    return np.stack([value - bounds[:, 0], bounds[:, 1] - value], axis=1)


# ---- joints -----------------------------------------------------------------------------------------------


def joint_limits(model: ModelLike, data: DataLike) -> None:
    joints = np.flatnonzero(model.jnt_limited)
    if not len(joints):
        return
    sides = joint_sides(model, data, joints)
    which, side = np.nonzero(sides.distance < model.jnt_margin[joints, None])
    if not len(which):
        return
    ids = joints[which]
    rows = soft_rows(
        model,
        LIMIT_JOINT,
        ids,
        joint_rows(model, ids, sides.rate[which, side]),
        pos=sides.distance[which, side],
        margin=model.jnt_margin[ids],
        solref=model.jnt_solref[ids],
        solimp=model.jnt_solimp[ids],
        inverse_inertia=model.dof_invweight0[model.jnt_dofadr[ids]],
        describe=lambda row: f"limit of {named(model, 'joint', ids[row])}",
    )
    store(data, rows)


class LimitSides(NamedTuple):
    """Two sides per joint; one that does not exist is infinitely far away."""

    distance: Array
    """(n, 2)"""
    rate: Array
    """How the distance changes with the joint's dofs, (n, 2, 3); hinges and slides use the first."""


def joint_sides(model: ModelLike, data: DataLike, joints: Array) -> LimitSides:
    """Distances of limited joints to their limits."""
    sides = LimitSides(np.full((len(joints), 2), np.inf), np.zeros((len(joints), 2, 3)))
    types = model.jnt_type[joints]
    scalar = np.flatnonzero(single_dof(types))
    ids = joints[scalar]
    sides.distance[scalar] = side_distances(data.qpos[model.jnt_qposadr[ids]], model.jnt_range[ids])
    sides.rate[scalar, :, 0] = SIDES
    for place in np.flatnonzero(types == BALL).tolist():
        joint = joints[place]
        start = int(model.jnt_qposadr[joint])
        axis, angle = turn(data.qpos[start : start + 4])
        sides.distance[place, 0] = model.jnt_range[joint].max() - angle
        sides.rate[place, 0] = -axis
    return sides


def turn(quat: Array) -> tuple[Array, float]:
    """Axis and angle, in [0, π], of a rotation; no rotation is about x."""
    vector = np.array(quat_to_rotation_vector(quat_normalize(quat.tolist())))
    angle = float(np.sqrt(vector @ vector))
    return (vector / angle, angle) if angle >= MINVAL else (np.array([1.0, 0.0, 0.0]), 0.0)


def joint_rows(model: ModelLike, joints: Array, rate: Array) -> SparseRows:
    """Rows over the joints' own dofs, from rates of change (n, 3) of which a hinge or slide uses the first."""
    count = np.where(model.jnt_type[joints] == BALL, 3, 1)
    dofs = ranges(model.jnt_dofadr[joints], count)
    return SparseRows(count, dofs, rate[np.arange(3) < count[:, None]])


# ---- tendons ----------------------------------------------------------------------------------------------


def tendon_limits(model: ModelLike, data: DataLike) -> None:
    limited = np.flatnonzero(model.tendon_limited) if model.ntendon else np.zeros(0, int)
    if not len(limited):
        return
    distance = side_distances(data.ten_length[limited], model.tendon_range[limited])
    which, side = np.nonzero(distance < model.tendon_margin[limited, None])
    if not len(which):
        return
    jacobian = tendon_rows(model, data, limited[which])
    jacobian = jacobian._replace(values=jacobian.values * SIDES[side][jacobian.row_of_entry])
    kept = acting(model, jacobian, np.arange(len(which)))
    write_tendon_addresses(data, LIMIT_TENDON, limited[which], kept)
    chosen = np.flatnonzero(kept)
    ids = limited[which[chosen]]
    rows = soft_rows(
        model,
        LIMIT_TENDON,
        ids,
        jacobian.take(chosen),
        pos=distance[which, side][chosen],
        margin=model.tendon_margin[ids],
        solref=model.tendon_solref_lim[ids],
        solimp=model.tendon_solimp_lim[ids],
        inverse_inertia=model.tendon_invweight0[ids],
        describe=lambda row: f"limit of {named(model, 'tendon', ids[row])}",
    )
    store(data, rows)
