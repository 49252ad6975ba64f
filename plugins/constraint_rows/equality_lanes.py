"""Rows of equality constraints in lanes: connect, weld, joint and tendon.

connect  3 rows: anchor on the first body minus anchor on the second, world frame.
weld     6 rows: the same, then the relative orientation in the second body's frame: the vector part of its
         quaternion (half the sine of the angle), times torquescale.
joint, tendon  1 row: the first's value minus a quartic polynomial of the second's, both relative to qpos0.

Anchors are points fixed in bodies, or sites. Compare mj_instantiateEquality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.backends.lanes.algebra import cross, dot, mul_quat, neg_quat, quat_to_mat, vector
from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.constraint_lanes import EQUALITY, DofRows, Links, ends_of
from dovetail.plugins.constraint_rows.softness_lanes import softness
from dovetail.plugins.constraint_rows.tendon_lanes import add_coefficients


def equality(k: Kernel) -> None:
    """Write the links of connects and welds, and the rows of coupled joints."""
    links, rows = Links(k), DofRows(k)
    if links.nequality:
        body_links(k, links)
    for r in rows.each_row("coupled_joints"):
        joint(k, rows, r)
    for r in rows.each_row("coupled_tendons"):
        tendon(k, rows, r)


def active(k: Kernel, equality_id: Any) -> Any:
    """Mask of the worlds in which a constraint is switched on."""
    return k.data.eq_active[equality_id] > 0.5


# ---- two bodies -------------------------------------------------------------------------------------------


class Columns:
    """Tables over the links of equality constraints."""

    def __init__(self, k: Kernel, links: Links) -> None:
        table = links.equalities
        weld = table.weld.astype(int)
        ends = ends_of(k.frozen_model, table.body1, table.body2)
        self._columns = {
            **table._asdict(),
            **ends._asdict(),
            "dim": 3 + 3 * weld,
            # eq_data of a weld holds the second body's anchor before the first one's
            "anchor1": 3 * weld,
            "anchor2": 3 - 3 * weld,
        }
        self._k = k
        self.welds = bool(weld.any())
        self.sites = bool(table.on_sites.any())

    def __call__(self, name: str, link: Any) -> Any:
        return self._k.table(f"links/equality_{name}", self._columns[name])[link]


def body_links(k: Kernel, links: Links) -> None:
    """Connects and welds."""
    column = Columns(k, links)
    with k.loop(0, links.nequality) as link:
        links.near[link], links.far[link] = column("near", link), column("far", link)
        links.kind[link], links.dim[link] = links.index_of(EQUALITY), column("dim", link)
        links.D[link, 0] = 0.0
        with k.when(column("near", link) > 0), k.when(k.any(active(k, column("ids", link)))):
            body_link(k, links, link, column)


def body_link(k: Kernel, links: Links, link: Any, column: Columns) -> None:
    """One connect or weld: its linear rows, and the angular ones of a weld."""
    m, residual = k.model, k.scratch("residual", 6)
    equality_id = column("ids", link)
    bodies = column("body1", link), column("body2", link)
    points = [anchor(k, link, column, side) for side in (0, 1)]
    residual[:3] = points[0] - points[1]
    square = k.local(dot(residual[:3], residual[:3]))
    write_linear(k, links, link, points, column("sign", link))
    if column.welds:
        with k.when(column("weld", link) > 0):
            turning, angles = orientation(k, link, column)
            residual[3:6] = angles
            square += dot(angles, angles)
            write_angular(k, links, link, turning, column("sign", link))
    soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], k.sqrt(square.value))
    for place in range(2):
        inertia = m.body_invweight0[bodies[0], place] + m.body_invweight0[bodies[1], place]
        R = soft.regularisation(k, inertia)
        links.D[link, place] = k.select(active(k, equality_id), 1.0 / R, 0.0)
    links.damping[link, :] = soft.damping
    with k.loop(0, column("dim", link)) as row:
        links.spring[link, row] = soft.stiffness * soft.impedance * residual[row]


def write_linear(k: Kernel, links: Links, link: Any, points: list[Any], sign: Any) -> None:
    """Wrenches along the world's axes. The near end is on the first body unless that does not move."""
    m, com = k.model, k.data.subtree_com
    near, far = links.near[link], links.far[link]
    point = k.local(points[0])
    with k.when(sign < 0):
        point.set(points[1])
    lever = point.value - com[m.body_rootid[near]]
    other = points[1] - com[m.body_rootid[far]]
    for row, axis in enumerate(np.eye(3).astype(object)):
        links.near_wrench[link, row] = vector(cross(lever, axis), axis) * (1.0 * sign)
        with k.when(far > 0):
            links.far_wrench[link, row] = -vector(cross(other, axis), axis)


def write_angular(k: Kernel, links: Links, link: Any, directions: np.ndarray, sign: Any) -> None:
    """Wrenches about directions (3, 3)."""
    for row in range(3):
        turn = vector(directions[row], 0.0, 0.0, 0.0)
        links.near_wrench[link, 3 + row] = turn * (1.0 * sign)
        with k.when(links.far[link] > 0):
            links.far_wrench[link, 3 + row] = -turn


def anchor(k: Kernel, link: Any, column: Columns, side: int) -> Any:
    """The anchor on one side, world frame."""
    m, d = k.model, k.data
    body, equality_id = column(f"body{side + 1}", link), column("ids", link)
    place = column(f"anchor{side + 1}", link)
    local = [m.eq_data[equality_id, place + i] for i in range(3)]
    rotation = d.xmat[body].reshape(3, 3)
    point = k.local(d.xpos[body] + np.array([dot(row, local) for row in rotation], dtype=object))
    if column.sites:
        objects = (m.eq_obj1id, m.eq_obj2id)[side]
        with k.when(column("on_sites", link) > 0):
            point.set(d.site_xpos[objects[equality_id]])
    return point.value


def orientation(k: Kernel, link: Any, column: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Directions (3, 3) of the angular rows of a weld, and their residual (3).

    With c = second⁻¹·first and u the relative angular velocity in the second frame, the vector part of c changes at
    ½(c₀u + u × c⃗)."""
    m, d = k.model, k.data
    equality_id = column("ids", link)
    own = k.local(vector(m.eq_data[equality_id][6:10], 1.0, 0.0, 0.0, 0.0))
    if column.sites:
        with k.when(column("on_sites", link) > 0):
            sites = m.eq_obj1id[equality_id], m.eq_obj2id[equality_id]
            own.set(vector(*(m.site_quat[site] for site in sites)))
    first, second = (
        mul_quat(d.xquat[column(f"body{n + 1}", link)], own.value[4 * n : 4 * n + 4]) for n in (0, 1)
    )
    w, x, y, z = mul_quat(neg_quat(second), first)
    rate = np.array([[w, z, -y], [-z, w, x], [y, -x, w]], dtype=object)
    scale = m.eq_data[equality_id, 10]
    return 0.5 * scale * (rate @ quat_to_mat(second).T), scale * vector(x, y, z)


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
