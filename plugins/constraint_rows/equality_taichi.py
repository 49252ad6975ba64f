"""Rows of equality constraints in lanes: connect, weld and joint.

connect  3 rows: anchor on the first body minus anchor on the second, world frame.
weld     6 rows: the same, then the relative orientation in the second body's frame: the vector part of its
         quaternion (half the sine of the angle), times torquescale.
joint    1 row: the first joint's position minus a quartic polynomial of the second's, both relative to qpos0.

Anchors are points fixed in bodies, or sites. Compare mj_instantiateEquality.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.taichi.algebra import dot, mul_quat, neg_quat, norm, quat_to_mat, vector
from dovetail.backends.taichi.lanes import Kernel
from dovetail.plugins.constraint_lanes import EQ_ACTIVE, WELD, DofRows, Form, Links, ends_of
from dovetail.plugins.constraint_rows.contact_taichi import wrench
from dovetail.plugins.constraint_rows.softness_taichi import softness


def equality(k: Kernel) -> None:
    """Write the links of connects and welds, and the rows of coupled joints."""
    links, rows = Links(k), DofRows(k)
    if links.nequality:
        body_links(k, links)
    if rows.first_friction:
        with k.loop(0, rows.first_friction) as r:
            joint(k, rows, r)


def active(k: Kernel, equality_id: Any) -> Any:
    """Mask of the worlds in which a constraint is switched on."""
    return k.data.extra[EQ_ACTIVE][equality_id] > 0.5


# ---- two bodies -------------------------------------------------------------------------------------------


class Sides(NamedTuple):
    """The two objects of a constraint, and the bodies they are on."""

    objects: tuple[Any, Any]
    bodies: tuple[Any, Any]
    on_sites: Any


def body_links(k: Kernel, links: Links) -> None:
    """Connects and welds."""
    table = links.equalities
    ends = ends_of(k.structure, table.body1, table.body2)
    columns = {"id": table.ids, **table._asdict(), **ends._asdict()}
    columns["form"] = np.array([links.forms.index(Form("equality", 6 if weld else 3)) for weld in table.weld])

    def column(name: str, link: Any) -> Any:
        return k.table(f"links/equality_{name}", columns[name])[link]

    with k.loop(0, links.nequality) as link:
        links.near[link], links.far[link] = column("near", link), column("far", link)
        links.form[link] = column("form", link)
        links.D[link, 0] = 0.0
        equality_id = column("id", link)
        on = active(k, equality_id)
        with k.when(column("near", link) > 0), k.when(k.any(on)):
            sides = Sides(
                (k.model.eq_obj1id[equality_id], k.model.eq_obj2id[equality_id]),
                (column("body1", link), column("body2", link)),
                column("on_sites", link) > 0,
            )
            for form in links.by_form(link):
                if form.kind == "equality":
                    body_link(k, links, link, form, equality_id, sides, column("sign", link))


def body_link(
    k: Kernel, links: Links, link: Any, form: Form, equality_id: Any, sides: Sides, sign: Any
) -> None:
    """One connect or weld."""
    m, weld = k.model, form == WELD
    points = [anchor(k, equality_id, sides, side, weld=weld) for side in (0, 1)]
    apart = points[0] - points[1]
    directions, residual = np.eye(3).astype(object), apart
    if weld:
        turning, angles = orientation(k, equality_id, sides)
        directions, residual = np.concatenate([directions, turning]), vector(apart, angles)
    soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], norm(k, residual))
    on = active(k, equality_id)
    for place in range(form.dim // 3):
        inertia = m.body_invweight0[sides.bodies[0], place] + m.body_invweight0[sides.bodies[1], place]
        links.D[link, place] = k.select(on, 1.0 / soft.regularisation(k, inertia), 0.0)
    links.damping[link, 0] = soft.damping
    for row in range(form.dim):
        links.spring[link, row] = soft.stiffness * soft.impedance * residual[row]
        write_wrenches(k, links, link, row, points, directions[row], sign)


def write_wrenches(
    k: Kernel, links: Links, link: Any, row: int, points: list[Any], direction: Any, sign: Any
) -> None:
    """Wrenches of one row; the near end is on the first body unless that does not move."""
    near, far, turns = links.near[link], links.far[link], row >= 3
    point = k.select(sign > 0, points[0], points[1])
    links.near_wrench[link, row] = wrench(k, near, point, direction, turns=turns) * (1.0 * sign)
    with k.when(far > 0):
        links.far_wrench[link, row] = -wrench(k, far, points[1], direction, turns=turns)


def anchor(k: Kernel, equality_id: Any, sides: Sides, side: int, *, weld: bool) -> Any:
    """The anchor on one side, world frame. eq_data of a weld holds the second body's before the first one's."""
    d, place = k.data, 3 * (1 - side if weld else side)
    body = sides.bodies[side]
    local = k.model.eq_data[equality_id][place : place + 3]
    rotation = d.xmat[body].reshape(3, 3)
    point = k.local(d.xpos[body] + np.array([dot(row, local) for row in rotation], dtype=object))
    if k.model.nsite:
        with k.when(sides.on_sites):
            point.set(d.site_xpos[sides.objects[side]])
    return point.value


def orientation(k: Kernel, equality_id: Any, sides: Sides) -> tuple[np.ndarray, np.ndarray]:
    """Directions (3, 3) of the angular rows of a weld, and their residual (3).

    With c = second⁻¹·first and u the relative angular velocity in the second frame, the vector part of c changes at
    ½(c₀u + u × c⃗)."""
    m, d = k.model, k.data
    own = k.local(vector(m.eq_data[equality_id][6:10], 1.0, 0.0, 0.0, 0.0) * 1.0)
    if m.nsite:
        with k.when(sides.on_sites):
            own.set(vector(*(m.site_quat[site] for site in sides.objects)))
    quats = own.value
    first, second = (
        mul_quat(d.xquat[body], quats[4 * n : 4 * n + 4]) for n, body in enumerate(sides.bodies)
    )
    w, x, y, z = mul_quat(neg_quat(second), first)
    rate = np.array([[w, z, -y], [-z, w, x], [y, -x, w]], dtype=object)
    scale = m.eq_data[equality_id, 10]
    return 0.5 * scale * (rate @ quat_to_mat(second).T), scale * vector(x, y, z)


# ---- two joints -------------------------------------------------------------------------------------------


def joint(k: Kernel, rows: DofRows, r: Any) -> None:
    """A joint that follows another, or stands still; the dofs of a row stand in descending order."""
    m = k.model
    equality_id = rows.column("ids", r)
    follower, leader = m.eq_obj1id[equality_id], m.eq_obj2id[equality_id]
    c = m.eq_data[equality_id][:5]
    value, own = displacement(k, follower), m.jnt_dofadr[follower]
    residual, inertia = k.local(value - c[0]), k.local(m.dof_invweight0[own])
    rows.coefficient[r, 0] = 1.0
    with k.when(leader >= 0):
        x, other = displacement(k, leader), m.jnt_dofadr[leader]
        residual.set(value - (c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))))
        slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * (4.0 * c[4])))
        inertia += m.dof_invweight0[other]
        with k.when(own == other):
            rows.coefficient[r, 0] = 1.0 - slope
        if rows.width > 1:
            with k.when(own > other):
                rows.coefficient[r, 1] = -slope
            with k.when(own < other):
                rows.coefficient[r, 0] = -slope
                rows.coefficient[r, 1] = 1.0
    soft = softness(k, m.eq_solref[equality_id], m.eq_solimp[equality_id], residual.value)
    R = soft.regularisation(k, inertia.value)
    rows.D[r] = k.select(active(k, equality_id), 1.0 / R, 0.0)
    rows.spring[r] = soft.stiffness * soft.impedance * residual.value
    rows.damping[r] = soft.damping


def displacement(k: Kernel, joint_id: Any) -> Any:
    """Position of a hinge or slide relative to qpos0."""
    address = k.model.jnt_qposadr[joint_id]
    return k.data.qpos[address] - k.model.qpos0[address]
