"""Jacobians of points, bodies, sites, geoms, flex vertices and subtrees, and products with the mass matrix.

A Jacobian maps joint velocities to the velocity of something: `jacp` (3, nv) to the linear velocity of a point,
`jacr` (3, nv) to the angular velocity of the body it is fixed in, both in world axes. They need the position
stages (cdof, subtree_com), those of rates the velocity stages too. Compare mj_jac, mj_jacBody, mj_jacBodyCom,
mj_jacSite, mj_jacGeom, mj_jacSubtreeCom, mj_jacDot, mj_angmomMat, mj_applyFT, mj_fullM, mj_mulM and mj_solveM.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.named import Which
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.interpolation_numpy import node_weights
from dovetail.plugins.shared.flex.nodes_numpy import nodes_of, places_of_nodes
from dovetail.plugins.shared.ldl_numpy import solve
from dovetail.plugins.shared.spatial_numpy import cross_motion_matrix, inertia_matrix
from dovetail.plugins.shared.symmetric_numpy import multiply_symmetric
from dovetail.plugins.shared.tree_numpy import BALL, FREE
from dovetail.plugins.shared.vectors_numpy import apply_rows

# ---- points fixed in a body -------------------------------------------------------------------------------


def jac_point(model: ModelLike, data: DataLike, point: Array, body: Which) -> tuple[Array, Array]:
    """Jacobians (jacp, jacr) of a point, given in the world, that moves with `body` (mj_jac)."""
    dofs, linear, angular = jac_point_chain(model, data, point, body)
    return spread(model, dofs, linear), spread(model, dofs, angular)


def jac_point_chain(
    model: ModelLike, data: DataLike, point: Array, body: Which
) -> tuple[Array, Array, Array]:
    """The non-zero columns of `jac_point`: the dofs that move the body (ascending), jacp (3, n), jacr (3, n)."""
    dofs = dof_chain(model, body)
    axes = data.cdof[dofs]
    lever = point - data.subtree_com[model.body_rootid[body]]
    angular, linear = axes[:, :3], axes[:, 3:]
    return dofs, (linear + angular @ skew(lever)).T, angular.T


def dof_chain(model: ModelLike, body: Which) -> Array:
    """The dofs that move a body, ascending: its own and its ancestors'."""
    mover = int(model.body_weldid[body])
    if not mover:
        return np.zeros(0, np.intp)
    # A row of B lists ancestors, own dofs and descendants, in this order.
    start = int(model.B_rowadr[mover])
    row = model.B_colind[start : start + int(model.B_rownnz[mover])]
    last = int(model.body_dofadr[mover]) + int(model.body_dofnum[mover]) - 1
    return row[: int(row.searchsorted(last)) + 1]


def skew(v: Array) -> Array:
    """The matrix S with a @ S = a × v for rows a."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def spread(model: ModelLike, dofs: Array, columns: Array) -> Array:
    """Columns (3, n) at their dofs in a dense (3, nv) matrix."""
    dense = np.zeros((3, model.nv))
    dense[:, dofs] = columns
    return dense


def jac_body(model: ModelLike, data: DataLike, body: Which) -> tuple[Array, Array]:
    """Jacobians of a body's frame (mj_jacBody)."""
    return jac_point(model, data, data.xpos[body], body)


def jac_body_com(model: ModelLike, data: DataLike, body: Which) -> tuple[Array, Array]:
    """Jacobians of a body's centre of mass (mj_jacBodyCom)."""
    return jac_point(model, data, data.xipos[body], body)


def jac_site(model: ModelLike, data: DataLike, site: Which) -> tuple[Array, Array]:
    """Jacobians of a site (mj_jacSite)."""
    return jac_point(model, data, data.site_xpos[site], int(model.site_bodyid[site]))


def jac_geom(model: ModelLike, data: DataLike, geom: Which) -> tuple[Array, Array]:
    """Jacobians of a geom's centre (mj_jacGeom)."""
    return jac_point(model, data, data.geom_xpos[geom], int(model.geom_bodyid[geom]))


def jac_flex_vertex(model: ModelLike, data: DataLike, flex: Which, vertex: int) -> Array:
    """Jacobian jacp (3, nv) of a vertex, counted inside its flex. One that follows nodes moves with them by its
    weights. MuJoCo has no such function; flexvert_xpos and mj_jac of the bodies give the same."""
    row = int(model.flex_vertadr[flex]) + vertex
    order = int(model.flex_interp[flex])
    if not order:
        return jac_point(model, data, data.flexvert_xpos[row], int(model.flex_vertbodyid[row]))[0]
    nodes = nodes_of(model, flex)
    parts = zip(
        node_weights(order, model.flex_vert0[row : row + 1])[0].tolist(),
        places_of_nodes(model, data, flex),
        model.flex_nodebodyid[nodes].tolist(),
        strict=True,
    )
    total = np.zeros((3, model.nv))
    for weight, place, body in parts:
        total += weight * jac_point(model, data, place, body)[0]
    return total


def jac_dot(model: ModelLike, data: DataLike, point: Array, body: Which) -> tuple[Array, Array]:
    """Rates of change of `jac_point` for a point that moves with the body (mj_jacDot)."""
    dofs = dof_chain(model, body)
    axes, rate = data.cdof[dofs], axis_rates(model, data, dofs)
    lever = point - data.subtree_com[model.body_rootid[body]]
    velocity = data.cvel[body, 3:] + np.cross(data.cvel[body, :3], lever)
    linear = rate[:, 3:] + rate[:, :3] @ skew(lever) + axes[:, :3] @ skew(velocity)
    return spread(model, dofs, linear.T), spread(model, dofs, rate[:, :3].T)


def axis_rates(model: ModelLike, data: DataLike, dofs: Array) -> Array:
    """How fast motion axes (n, 6) change. The axes of a ball or of a free joint's rotation turn with the body,
    while cdof_dot lets only what precedes the joint carry them."""
    rate = np.array(data.cdof_dot[dofs])
    joint = model.dof_jntid[dofs]
    rotates = (model.jnt_type[joint] == BALL) | (
        (model.jnt_type[joint] == FREE) & (dofs - model.jnt_dofadr[joint] >= 3)
    )
    if rotates.any():
        carrier = cross_motion_matrix(data.cvel[model.dof_bodyid[dofs[rotates]]])
        rate[rotates] = apply_rows(carrier, data.cdof[dofs[rotates]])
    return rate


def apply_ft(
    model: ModelLike, data: DataLike, force: Array, torque: Array, point: Array, body: Which
) -> Array:
    """Joint forces (nv) of a force and a torque in world axes that act on a point of a body (mj_applyFT)."""
    dofs, linear, angular = jac_point_chain(model, data, point, body)
    qfrc = np.zeros(model.nv)
    qfrc[dofs] = np.asarray(force) @ linear + np.asarray(torque) @ angular
    return qfrc


# ---- subtrees ---------------------------------------------------------------------------------------------


def jac_subtree_com(model: ModelLike, data: DataLike, body: Which) -> Array:
    """Jacobian jacp (3, nv) of the centre of mass of a body with all it carries (mj_jacSubtreeCom)."""
    total = np.zeros((3, model.nv))
    for part in subtree(model, body):
        dofs, linear, _ = jac_point_chain(model, data, data.xipos[part], part)
        total[:, dofs] += model.body_mass[part] * linear
    return total / max(MINVAL, float(model.body_subtreemass[body]))


def angmom_matrix(model: ModelLike, data: DataLike, body: Which) -> Array:
    """The matrix (3, nv) from joint velocities to the angular momentum of a subtree about its centre of mass
    (mj_angmomMat)."""
    total = np.zeros((3, model.nv))
    inertia = inertia_matrix(data.cinert)
    for part in subtree(model, body):
        dofs = dof_chain(model, part)
        momentum = data.cdof[dofs] @ inertia[part]
        lever = data.subtree_com[model.body_rootid[part]] - data.subtree_com[body]
        total[:, dofs] += (momentum[:, :3] - momentum[:, 3:] @ skew(lever)).T
    # Momentum was taken about the subtree's centre as a point at rest; the centre's own motion adds none.
    return total


def subtree(model: ModelLike, body: Which) -> list[int]:
    """A body and its descendants."""
    parent_of = model.body_parentid.tolist()
    inside = {body}
    for other in range(body + 1, model.nbody):
        if parent_of[other] in inside:
            inside.add(other)
    return sorted(inside)


# ---- the mass matrix --------------------------------------------------------------------------------------


def full_m(model: ModelLike, data: DataLike) -> Array:
    """The mass matrix, dense and symmetric (nv, nv) (mj_fullM)."""
    dense = np.zeros((model.nv, model.nv))
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    dense[row, model.M_colind] = dense[model.M_colind, row] = data.M
    return dense


def mul_m(model: ModelLike, data: DataLike, vector: Array) -> Array:
    """Mass matrix times a vector (nv) (mj_mulM)."""
    return multiply_symmetric(model, data.M, vector)


def solve_m(model: ModelLike, data: DataLike, right: Array) -> Array:
    """M⁻¹·x for a vector (nv), or for each row of a matrix (n, nv) (mj_solveM)."""
    if np.ndim(right) == 2:
        return np.array([solve(model, data.qLD, data.qLDiagInv, row) for row in right]).reshape(right.shape)
    return solve(model, data.qLD, data.qLDiagInv, np.asarray(right, dtype=float))
