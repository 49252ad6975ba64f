"""Accelerations of bodies, forces from outside on them, and forces between them and their parents.

`cacc` follows from joint velocities and accelerations, with gravity as an upward acceleration of the world.
`cfrc_ext` collects the user's forces, contacts between geoms, and connect and weld constraints. What else a body
needs for its acceleration its parent must supply, through joints and everything else: `cfrc_int`. All about the
tree's centre of mass, in world axes, torque first. Compare mj_rnePostConstraint.

As in MuJoCo, contacts of flexes do not count, nor do joint, tendon and flex equalities, and the three rotational
rows of a weld are taken for a torque in world axes.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import EqType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.motion_numpy import force_moved_to
from dovetail.plugins.shared.rne_numpy import bias_accelerations
from dovetail.plugins.shared.rne_numpy import body_forces as required_forces
from dovetail.plugins.shared.rows.contact_forces_numpy import contact_forces, in_world_axes
from dovetail.plugins.shared.tree_numpy import add_from_parents, add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows


def body_forces(model: ModelLike, data: DataLike) -> None:
    """Write cacc, cfrc_ext and cfrc_int."""
    data.cacc[:] = body_accelerations(model, data)
    data.cfrc_ext[:] = external_forces(model, data)
    between = required_forces(model, data, data.cacc) - data.cfrc_ext
    add_to_parents(between, model.body_parentid)
    data.cfrc_int[:] = between


def body_accelerations(model: ModelLike, data: DataLike) -> Array:
    """Acceleration of every body from gravity, velocities and joint accelerations."""
    from_joints = np.zeros((model.nbody, 6))
    np.add.at(from_joints, model.dof_bodyid, data.cdof * data.qacc[:, None])
    add_from_parents(from_joints, model.body_parentid)
    return bias_accelerations(model, data) + from_joints


def external_forces(model: ModelLike, data: DataLike) -> Array:
    """Force on every body from outside its tree's joints; none on the world."""
    force = applied_forces(model, data)
    add_contacts(model, data, force)
    add_equalities(model, data, force)
    force[0] = 0.0
    return force


def applied_forces(model: ModelLike, data: DataLike) -> Array:
    """What the user applies at the bodies' centres of mass."""
    force = data.xfrc_applied[:, [3, 4, 5, 0, 1, 2]]
    return force_moved_to(data.subtree_com[model.body_rootid] - data.xipos, force)


def add_contacts(model: ModelLike, data: DataLike, force: Array) -> None:
    """Add the forces of contacts between two geoms: on the second body, and back on the first."""
    count = int(data.ncon)
    geom = data.contact.geom[:count]
    pushing = np.flatnonzero((data.contact.efc_address[:count] >= 0) & (geom >= 0).all(axis=1))
    wrench = in_world_axes(data, contact_forces(model, data))[pushing]
    push = wrench[:, [3, 4, 5, 0, 1, 2]]
    for side, sign in ((0, -1.0), (1, 1.0)):
        body = model.geom_bodyid[geom[pushing, side]]
        add_at_points(model, data, force, body, data.contact.pos[pushing], sign * push)


def add_equalities(model: ModelLike, data: DataLike, force: Array) -> None:
    """Add the forces of connect and weld constraints: on the first body, and back on the second."""
    count = int(data.ne)
    if not count:
        return
    equality, row = np.unique(data.efc_id[:count], return_index=True)
    for kind, rows in ((EqType.CONNECT, 3), (EqType.WELD, 6)):
        ours = model.eq_type[equality] == kind
        ids, first = equality[ours], row[ours]
        pull = np.zeros((len(ids), 6))
        pull[:, 3:] = data.efc_force[first[:, None] + np.arange(3)]
        if rows == 6:
            pull[:, :3] = data.efc_force[first[:, None] + np.arange(3, 6)]
        for side, sign in ((0, 1.0), (1, -1.0)):
            body, point = anchors(model, data, ids, side)
            add_at_points(model, data, force, body, point, sign * pull)


def anchors(model: ModelLike, data: DataLike, equality: Array, side: int) -> tuple[Array, Array]:
    """The body on one side (0 or 1) of connect and weld constraints, and the point where it is held."""
    obj = (model.eq_obj1id, model.eq_obj2id)[side][equality]
    by_site = model.eq_objtype[equality] == ObjType.SITE
    # A weld keeps the point on its second body first in eq_data, a connect that on its first body.
    place = 3 * (side ^ (model.eq_type[equality] == EqType.WELD))
    local = model.eq_data[equality[:, None], place[:, None] + np.arange(3)]
    body = obj.copy()
    body[by_site] = model.site_bodyid[obj[by_site]]
    local[by_site] = model.site_pos[obj[by_site]]
    return body, data.xpos[body] + apply_rows(data.xmat[body].reshape(-1, 3, 3), local)


def add_at_points(
    model: ModelLike, data: DataLike, force: Array, body: Array, point: Array, push: Array
) -> None:
    """Add forces that act on bodies at points of the world, torque first, to the bodies' totals."""
    lever = data.subtree_com[model.body_rootid[body]] - point
    np.add.at(force, body, force_moved_to(lever, push))
