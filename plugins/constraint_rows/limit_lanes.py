"""Rows of limits in lanes: of hinges, slides and tendons the lower side and the upper one, of balls one.

A side has a row in the worlds where its distance to the limit is below the margin. A ball joint's one side is its
angle from the reference orientation, whose largest value is the greater number of its range. Compare
mj_instantiateLimit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.constraint_rows.softness_lanes import softness
from dovetail.plugins.constraint_rows.tendon_lanes import write_coefficients
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.quaternions_lanes import quat_normalize, quat_to_rotation_vector
from dovetail.plugins.shared.rows.rows_lanes import DofRows
from dovetail.plugins.shared.vectors_lanes import norm, vector


def limit(k: Kernel) -> None:
    """Write the rows of limited joints and tendons."""
    m, d, rows = k.model, k.data, DofRows(k)
    for r in rows.each_row("scalar_limits"):
        joint = rows.column("ids", r)
        side, sign = side_of(rows, "scalar_limits", r)
        rows.coefficient[r, 0] = sign
        distance = sign * (d.qpos[m.jnt_qposadr[joint]] - m.jnt_range[joint, side])
        write(k, rows, r, distance, of_joint(k, joint))
    for r in rows.each_row("ball_limits"):
        ball_limit(k, rows, r)
    for r in rows.each_row("tendon_limits"):
        tendon = rows.column("ids", r)
        side, sign = side_of(rows, "tendon_limits", r)
        write_coefficients(k, rows, r, tendon, sign)
        distance = sign * (d.ten_length[tendon] - m.tendon_range[tendon, side])
        write(k, rows, r, distance, of_tendon(k, tendon))


def side_of(rows: DofRows, source: str, r: Any) -> tuple[Any, Any]:
    """0 for the lower side and 1 for the upper one, and how the distance changes with the value."""
    side = (r - rows.first(source)) % 2
    return side, 1.0 - 2.0 * side


def ball_limit(k: Kernel, rows: DofRows, r: Any) -> None:
    """The one side of a ball joint; its dofs stand in descending order."""
    m = k.model
    joint = rows.column("ids", r)
    start = m.jnt_qposadr[joint]
    turn = quat_to_rotation_vector(k, quat_normalize(k, k.data.qpos[start : start + 4]))
    angle = norm(k, turn)
    still = angle < MINVAL
    axis = k.select(still, vector(1.0, 0.0, 0.0), turn / k.max(angle, MINVAL))
    for place in range(3):
        rows.coefficient[r, place] = -axis[2 - place]
    largest = k.max(m.jnt_range[joint, 0], m.jnt_range[joint, 1])
    write(k, rows, r, largest - k.select(still, 0.0, angle), of_joint(k, joint))


class Parameters(NamedTuple):
    """Of a limit."""

    margin: Any
    solref: Any
    solimp: Any
    inverse_inertia: Any


def of_joint(k: Kernel, joint: Any) -> Parameters:
    m = k.model
    inertia = m.dof_invweight0[m.jnt_dofadr[joint]]
    return Parameters(m.jnt_margin[joint], m.jnt_solref[joint], m.jnt_solimp[joint], inertia)


def of_tendon(k: Kernel, tendon: Any) -> Parameters:
    m = k.model
    solref, solimp = m.tendon_solref_lim[tendon], m.tendon_solimp_lim[tendon]
    return Parameters(m.tendon_margin[tendon], solref, solimp, m.tendon_invweight0[tendon])


def write(k: Kernel, rows: DofRows, r: Any, distance: Any, parameters: Parameters) -> None:
    """Weight, spring and damping of a side at its distance from the limit."""
    violation = distance - parameters.margin
    exists = distance < parameters.margin
    rows.D[r] = 0.0
    with k.when(k.any(exists)):
        soft = softness(k, parameters.solref, parameters.solimp, violation)
        R = soft.regularisation(k, parameters.inverse_inertia)
        rows.D[r] = k.select(exists, 1.0 / R, 0.0)
        rows.spring[r] = soft.stiffness * soft.impedance * violation
        rows.damping[r] = soft.damping
