"""Elasticity of interpolated flexes: their nodes resist leaving the shape they have at rest, wherever that is turned.

Nodes are seen from their middle and turned back by R, the rotation that the flex has as a whole at its centre; what
is left, less the nodes at rest, is multiplied by a stiffness K that couples all nodes, and turned into the world
again. Velocities likewise, times the damping time. K has its sign already. R is found by Müller's iteration: turn by
the sum of Rₖ × Fₖ over columns, divided by |Σ Rₖ·Fₖ|, F the gradient of the deformation, until that is little.
Compare the flex part of mj_springdamper; Müller et al., A robust method to extract the rotational part of
deformations, 2016.

Habits of MuJoCo 3.4 that decide numbers: the velocity of a node is, where the flex is centred, three numbers of qvel
from its body's first dof, else that of its body's centre of mass; and where it is not centred, forces act not where
the nodes are but at the points, in the world, whose coordinates they have in the box, turned back.
"""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from dovetail.contracts.enums import ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.interpolation_numpy import node_slopes
from dovetail.plugins.shared.flex.joint_forces_numpy import forces_at_points, forces_on_own_dofs
from dovetail.plugins.shared.flex.nodes_numpy import nodes_of, places_of_nodes
from dovetail.plugins.shared.motion_numpy import object_frames, velocities
from dovetail.plugins.shared.quaternions_numpy import (
    IDENTITY,
    Quaternion,
    quat_from_axis_angle,
    quat_matrix,
    quat_multiply,
    quat_normalize,
)
from dovetail.plugins.shared.vectors_numpy import Vector, add, cross, dot, norm, scale

CENTRE = np.array([[0.5, 0.5, 0.5]])
"""The middle of the box, where the rotation is taken."""
MOST_TURNS, LITTLE, TINY = 500, 1e-9, 1e-15
"""Müller's iteration: how often at most; the angle [rad] that is small enough; what keeps from dividing by zero."""


def node_forces(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Joint forces of springs and of dampers between the nodes of all interpolated flexes."""
    spring, damper = np.zeros(int(model.nv)), np.zeros(int(model.nv))
    for flex in elastic_flexes(model).tolist():
        place, velocity = places_of_nodes(model, data, flex), node_velocities(model, data, flex)
        stiffness = stiffness_of(model, flex)
        back, turn = seen_at_rest(int(model.flex_interp[flex]), place)
        rest = model.flex_node0[nodes_of(model, flex)]
        pull = times(stiffness, back - rest) @ turn.T
        drag = times(stiffness, velocity @ turn) @ turn.T
        spring += on_nodes(model, data, flex, back, pull)
        damper += on_nodes(model, data, flex, back, model.flex_damping[flex] * drag)
    return spring, damper


def elastic_flexes(model: ModelLike) -> Array:
    """Interpolated flexes of triangles or tetrahedra that resist being deformed, by the first number of K."""
    made_of = (
        (model.flex_interp > 0) & (model.flex_dim >= 2) & (model.flex_rigid == 0) & (model.flex_elemnum > 0)
    )
    chosen = np.flatnonzero(made_of)
    first = model.flex_stiffness.reshape(-1, 21)[model.flex_elemadr[chosen], 0]
    return chosen[first != 0.0]


def stiffness_of(model: ModelLike, flex: int) -> Array:
    """K (3n, 3n) of a flex with n nodes, which begins where its elements' numbers do."""
    size, first = 3 * int(model.flex_nodenum[flex]), 21 * int(model.flex_elemadr[flex])
    return model.flex_stiffness.reshape(-1)[first : first + size * size].reshape(size, size)


def times(stiffness: Array, vectors: Array) -> Array:
    """K times vectors (n, 3), as vectors again. The flex's place in the world is among them, and only cancels: so
    sums are rounded as MuJoCo's are, by four partial sums, lest the forces of a flex at rest differ."""
    product = stiffness * vectors.reshape(-1)
    whole = len(product) // 4 * 4
    one, two, three, four = product[:, :whole].reshape(len(product), -1, 4).sum(axis=1).T
    total = (one + three) + (two + four)
    return (total + product[:, whole:].sum(axis=1)).reshape(-1, 3)


def node_velocities(model: ModelLike, data: DataLike, flex: int) -> Array:
    """What stands for the velocities (n, 3) of nodes."""
    body = model.flex_nodebodyid[nodes_of(model, flex)]
    if model.flex_centered[flex]:
        return data.qvel[model.body_dofadr[body][:, None] + np.arange(3)]
    frames = object_frames(model, data, np.full(len(body), int(ObjType.BODY)), body)
    return velocities(model, data, frames)[:, 3:]


def seen_at_rest(order: int, place: Array) -> tuple[Array, Array]:
    """Nodes (n, 3) in the box, turned back, and the rotation (3, 3) of the flex as a whole."""
    around = place - (place * (1.0 / len(place))).sum(axis=0)
    gradient = around.T @ node_slopes(order, CENTRE)[0]
    turn = rotation_of(gradient)
    return around @ turn + CENTRE, turn


def rotation_of(gradient: Array) -> Array:
    """The rotation (3, 3) within a deformation's gradient (3, 3)."""
    first, second, third = (tuple(column) for column in gradient.T.tolist())
    turn: Quaternion = IDENTITY
    for _ in range(MOST_TURNS):
        matrix = quat_matrix(turn)
        columns = matrix[0::3], matrix[1::3], matrix[2::3]
        step = _step(columns, (first, second, third))
        angle = norm(step)
        if angle < LITTLE:
            break
        if not isfinite(angle):
            return np.full((3, 3), nan)
        turn = quat_normalize(quat_multiply(quat_from_axis_angle(scale(step, 1.0 / angle), angle), turn))
    return np.array(quat_matrix(turn)).reshape(3, 3)


def _step(columns: tuple[Vector, ...], gradient: tuple[Vector, ...]) -> Vector:
    """The rotation vector that brings columns of a rotation nearer to those of a gradient."""
    around, along = (0.0, 0.0, 0.0), 0.0
    for column, towards in zip(columns, gradient, strict=True):
        around, along = add(around, cross(column, towards)), along + dot(column, towards)
    return scale(around, 1.0 / (abs(along) + TINY))


def on_nodes(model: ModelLike, data: DataLike, flex: int, place: Array, force: Array) -> Array:
    """Joint forces (nv,) of forces (n, 3) on nodes, which count as being at places (n, 3)."""
    body = model.flex_nodebodyid[nodes_of(model, flex)]
    if model.flex_centered[flex]:
        return forces_on_own_dofs(model, body, force)
    return forces_at_points(model, data, body, place, force)
