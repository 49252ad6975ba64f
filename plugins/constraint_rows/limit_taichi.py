"""Rows of joint limits in lanes: of hinges and slides the lower side and the upper one, of balls one.

A side has a row in the worlds where its distance to the limit is below the margin. A ball joint's one side is its
angle from the reference orientation, whose largest value is the greater number of its range. Compare
mj_instantiateLimit.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.taichi.algebra import MINVAL, norm, normalize_quat, quat_to_velocity, vector
from dovetail.backends.taichi.lanes import Kernel
from dovetail.plugins.constraint_lanes import DofRows
from dovetail.plugins.constraint_rows.softness_taichi import softness

def limit(k: Kernel) -> None:
    """Write the rows of limited joints."""
    rows = DofRows(k)
    balls = rows.first_limit + 2 * rows.structure.nscalar
    if rows.structure.nscalar:
        scalar_limits(k, rows)
    if balls < rows.count:
        with k.loop(balls, rows.count) as r:
            ball_limit(k, rows, r)


def scalar_limits(k: Kernel, rows: DofRows) -> None:
    """Both sides of hinges and slides."""
    m, d = k.model, k.data
    with k.loop(0, rows.structure.nscalar) as n:
        first = rows.first_limit + 2 * n
        joint = rows.column("ids", first)
        position = d.qpos[m.jnt_qposadr[joint]]
        with k.loop(0, 2) as side:
            sign = 1.0 - 2.0 * side  # how the distance changes with the position
            rows.coefficient[first + side, 0] = sign
            write(k, rows, first + side, joint, sign * (position - m.jnt_range[joint, side]))


def ball_limit(k: Kernel, rows: DofRows, r: Any) -> None:
    """The one side of a ball joint; its dofs stand in descending order."""
    m = k.model
    joint = rows.column("ids", r)
    start = m.jnt_qposadr[joint]
    turn = quat_to_velocity(k, normalize_quat(k, k.data.qpos[start : start + 4]))
    angle = norm(k, turn)
    still = angle < MINVAL
    axis = k.select(still, vector(1.0, 0.0, 0.0), turn / k.max(angle, MINVAL))
    for place in range(3):
        rows.coefficient[r, place] = -axis[2 - place]
    largest = k.max(m.jnt_range[joint, 0], m.jnt_range[joint, 1])
    write(k, rows, r, joint, largest - k.select(still, 0.0, angle))


def write(k: Kernel, rows: DofRows, r: Any, joint: Any, distance: Any) -> None:
    """Weight, spring and damping of a side at its distance from the limit."""
    m = k.model
    violation = distance - m.jnt_margin[joint]
    exists = distance < m.jnt_margin[joint]
    rows.D[r] = 0.0
    with k.when(k.any(exists)):
        soft = softness(k, m.jnt_solref[joint], m.jnt_solimp[joint], violation)
        R = soft.regularisation(k, m.dof_invweight0[m.jnt_dofadr[joint]])
        rows.D[r] = k.select(exists, 1.0 / R, 0.0)
        rows.spring[r] = soft.stiffness * soft.impedance * violation
        rows.damping[r] = soft.damping
