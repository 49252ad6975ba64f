"""Equality constraints in lanes, as wrenches and coefficients where `equality_numpy` makes rows of a Jacobian.

connect  3 rows: anchor on the first body minus anchor on the second, world frame.
weld     6 rows: the same, then the relative orientation in the second body's frame: the vector part of its
         quaternion (half the sine of the angle), times torquescale.
joint, tendon  1 row: the first's value minus a quartic polynomial of the second's, both relative to qpos0.
flex     1 row per edge that is not rigid: its length minus that at qpos0.

Anchors are points fixed in bodies, or sites. Compare mj_instantiateEquality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.constraint_rows.softness_lanes import softness
from dovetail.plugins.constraint_rows.tendon_lanes import add_coefficients
from dovetail.plugins.shared.flex.tables import row_arms
from dovetail.plugins.shared.quaternions_lanes import quat_conjugate, quat_matrix, quat_multiply
from dovetail.plugins.shared.rows.equality_anchors_lanes import Columns, anchor
from dovetail.plugins.shared.rows.rows_lanes import EQUALITY, BodyRows, DofRows, held_edges
from dovetail.plugins.shared.vectors_lanes import cross, dot, vector


def equality(k: Kernel) -> None:
    """Write the bonds of connects and welds, and the rows of coupled joints and tendons and of flex edges."""
    body_rows, rows = BodyRows(k), DofRows(k)
    if body_rows.nequality:
        body_bonds(k, body_rows)
    for r in rows.each_row("coupled_joints"):
        joint(k, rows, r)
    for r in rows.each_row("coupled_tendons"):
        tendon(k, rows, r)
    flex_edges(k, rows)


def active(k: Kernel, equality_id: Any) -> Any:
    """Mask of the worlds in which a constraint is switched on."""
    return k.data.eq_active[equality_id] > 0.5


# ---- two bodies -------------------------------------------------------------------------------------------


def body_bonds(k: Kernel, body_rows: BodyRows) -> None:
    """Connects and welds."""
    column = Columns(k, body_rows)
    with k.loop(0, body_rows.nequality) as bond:
        body_rows.near[bond], body_rows.far[bond] = column("near", bond), column("far", bond)
        body_rows.kind[bond], body_rows.dim[bond] = body_rows.index_of(EQUALITY), column("dim", bond)
        body_rows.D[bond, 0] = 0.0
        with k.when(column("near", bond) > 0), k.when(k.any(active(k, column("ids", bond)))):
            body_bond(k, body_rows, bond, column)


def body_bond(k: Kernel, body_rows: BodyRows, bond: Any, column: Columns) -> None:
    """One connect or weld: its linear rows, and the angular ones of a weld."""
    m, residual = k.model, k.scratch("residual", 6)
    equality_id = column("ids", bond)
    bodies = column("body1", bond), column("body2", bond)
    points = [anchor(k, bond, column, side) for side in (0, 1)]
    residual[:3] = points[0] - points[1]
    square = k.local(dot(residual[:3], residual[:3]))
    write_linear(k, body_rows, bond, points, column("sign", bond))
    if column.welds:
        with k.when(column("weld", bond) > 0):
            turning, angles = orientation(k, bond, column)
            residual[3:6] = angles
            square += dot(angles, angles)
            write_angular(k, body_rows, bond, turning, column("sign", bond))
    soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], k.sqrt(square.value))
    for place in range(2):
        inertia = m.body_invweight0[bodies[0], place] + m.body_invweight0[bodies[1], place]
        R = soft.regularisation(k, inertia)
        body_rows.D[bond, place] = k.select(active(k, equality_id), 1.0 / R, 0.0)
    body_rows.damping[bond, :] = soft.damping
    with k.loop(0, column("dim", bond)) as row:
        body_rows.spring[bond, row] = soft.stiffness * soft.impedance * residual[row]


def write_linear(k: Kernel, body_rows: BodyRows, bond: Any, points: list[Any], sign: Any) -> None:
    """Wrenches along the world's axes. The near end is on the first body unless that does not move."""
    m, com = k.model, k.data.subtree_com
    near, far = body_rows.near[bond], body_rows.far[bond]
    point = k.local(points[0])
    with k.when(sign < 0):
        point.set(points[1])
    lever = point.value - com[m.body_rootid[near]]
    other = points[1] - com[m.body_rootid[far]]
    for row, axis in enumerate(np.eye(3).astype(object)):
        body_rows.near_wrench[bond, row] = vector(cross(lever, axis), axis) * (1.0 * sign)
        with k.when(far > 0):
            body_rows.far_wrench[bond, row] = -vector(cross(other, axis), axis)


def write_angular(k: Kernel, body_rows: BodyRows, bond: Any, directions: np.ndarray, sign: Any) -> None:
    """Wrenches about directions (3, 3)."""
    for row in range(3):
        turn = vector(directions[row], 0.0, 0.0, 0.0)
        body_rows.near_wrench[bond, 3 + row] = turn * (1.0 * sign)
        with k.when(body_rows.far[bond] > 0):
            body_rows.far_wrench[bond, 3 + row] = -turn


def orientation(k: Kernel, bond: Any, column: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Directions (3, 3) of the angular rows of a weld, and their residual (3).

    With c = second⁻¹·first and u the relative angular velocity in the second frame, the vector part of c changes at
    ½(c₀u + u × c⃗)."""
    m, d = k.model, k.data
    equality_id = column("ids", bond)
    own = k.local(vector(m.eq_data[equality_id][6:10], 1.0, 0.0, 0.0, 0.0))
    if column.sites:
        with k.when(column("on_sites", bond) > 0):
            sites = m.eq_obj1id[equality_id], m.eq_obj2id[equality_id]
            own.set(vector(*(m.site_quat[site] for site in sites)))
    first, second = (
        quat_multiply(d.xquat[column(f"body{n + 1}", bond)], own.value[4 * n : 4 * n + 4]) for n in (0, 1)
    )
    w, x, y, z = quat_multiply(quat_conjugate(second), first)
    rate = np.array([[w, z, -y], [-z, w, x], [y, -x, w]], dtype=object)
    scale = m.eq_data[equality_id, 10]
    return 0.5 * scale * (rate @ quat_matrix(second).T), scale * vector(x, y, z)


# ---- two values -------------------------------------------------------------------------------------------


def joint(k: Kernel, rows: DofRows, r: Any) -> None:
    """A joint that follows another, or stands still; the dofs of a row stand in descending order."""
    m, equality_id = k.model, rows.column("ids", r)
    own = m.jnt_dofadr[m.eq_obj1id[equality_id]]
    rows.coefficient[r, 0] = 1.0

    def lead(leader: Any, slope: Any) -> None:
        other = m.jnt_dofadr[leader]
        with k.when(own == other):
            rows.coefficient[r, 0] = 1.0 - slope
        if rows.width > 1:
            with k.when(own > other):
                rows.coefficient[r, 1] = -slope
            with k.when(own < other):
                rows.coefficient[r, 0] = -slope
                rows.coefficient[r, 1] = 1.0

    def inertia(joint_id: Any) -> Any:
        return m.dof_invweight0[m.jnt_dofadr[joint_id]]

    coupling(k, rows, r, lambda joint_id: displacement(k, joint_id), inertia, lead)


def displacement(k: Kernel, joint_id: Any) -> Any:
    """Position of a hinge or slide relative to qpos0."""
    address = k.model.jnt_qposadr[joint_id]
    return k.data.qpos[address] - k.model.qpos0[address]


def tendon(k: Kernel, rows: DofRows, r: Any) -> None:
    """A tendon whose length follows another's, or stays."""
    m, equality_id = k.model, rows.column("ids", r)
    with k.loop(0, rows.column("nnz", r)) as n:
        rows.coefficient[r, n] = 0.0
    add_coefficients(k, rows, r, m.eq_obj1id[equality_id], 1.0)

    def stretch(tendon_id: Any) -> Any:
        return k.data.ten_length[tendon_id] - m.tendon_length0[tendon_id]

    def lead(leader: Any, slope: Any) -> None:
        add_coefficients(k, rows, r, leader, -slope)

    coupling(k, rows, r, stretch, lambda tendon_id: m.tendon_invweight0[tendon_id], lead)


def flex_edges(k: Kernel, rows: DofRows) -> None:
    """Edges of flexes that keep their lengths."""
    m, d, model = k.model, k.data, k.frozen_model
    held = held_edges(model).edge
    if not len(held):
        return
    arms = row_arms(model)
    places = np.zeros((len(held), rows.width), int)
    for row, number in enumerate(held.tolist()):
        own = [place for _, place in sorted(arms[number], reverse=True)]
        places[row, : len(own)] = own
    first = rows.first("flex_edges")
    edges, place = k.table("rows/edges", held), k.table("rows/edge_places", places)
    for r in rows.each_row("flex_edges"):
        edge, equality_id = edges[r - first], rows.column("ids", r)
        with k.loop(0, rows.column("nnz", r)) as n:
            rows.coefficient[r, n] = d.flexedge_J[place[r - first, n]]
        residual = d.flexedge_length[edge] - m.flexedge_length0[edge]
        soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], residual)
        R = soft.regularisation(k, m.flexedge_invweight0[edge])
        rows.D[r] = k.select(active(k, equality_id), 1.0 / R, 0.0)
        rows.spring[r] = soft.stiffness * soft.impedance * residual
        rows.damping[r] = soft.damping


def coupling(
    k: Kernel,
    rows: DofRows,
    r: Any,
    value: Callable[[Any], Any],
    inverse_inertia: Callable[[Any], Any],
    lead: Callable[[Any, Any], None],
) -> None:
    """The first object's value minus a polynomial of the second's; without a second one that is zero. `lead` adds
    the second's part of the row, given the polynomial's slope."""
    m, equality_id = k.model, rows.column("ids", r)
    first, second = m.eq_obj1id[equality_id], m.eq_obj2id[equality_id]
    c = m.eq_data[equality_id][:5]
    residual, inertia = k.local(value(first) - c[0]), k.local(inverse_inertia(first))
    with k.when(second >= 0):
        x = value(second)
        residual.set(value(first) - (c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))))
        inertia += inverse_inertia(second)
        lead(second, c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * (4.0 * c[4]))))
    soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], residual.value)
    R = soft.regularisation(k, inertia.value)
    rows.D[r] = k.select(active(k, equality_id), 1.0 / R, 0.0)
    rows.spring[r] = soft.stiffness * soft.impedance * residual.value
    rows.damping[r] = soft.damping
