"""Rows of limits in lanes: of hinges, slides and tendons two, of balls one.

A side has a row in the worlds where its distance to the limit is below the margin; few ranges are so narrow that a
world reaches both. A ball joint's one side is its
angle from the reference orientation, whose largest value is the greater number of its range. Compare
mj_instantiateLimit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.constraint_rows.softness_lanes import softness
from dovetail.plugins.constraint_rows.tendon_lanes import write_coefficients
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.quaternions_lanes import quat_normalize, quat_to_rotation_vector
from dovetail.plugins.shared.rows.rows_lanes import DofRows
from dovetail.plugins.shared.vectors_lanes import norm, vector


def limit(k: Kernel) -> None:
    """Write the rows of limited joints and tendons."""
    m, d, rows = k.model, k.data, DofRows(k)
    for r in each_first_row(k, rows, "scalar_limits"):
        joint = rows.column("ids", r)
        value, bounds = d.qpos[m.jnt_qposadr[joint]], m.jnt_range[joint]
        for side in each_side(k, rows, r, value, bounds, of_joint(k, joint)):
            rows.coefficient[side.row, 0] = side.sign
    for r in rows.each_row("ball_limits"):
        ball_limit(k, rows, r)
    for r in each_first_row(k, rows, "tendon_limits"):
        tendon = rows.column("ids", r)
        value, bounds = d.ten_length[tendon], m.tendon_range[tendon]
        for side in each_side(k, rows, r, value, bounds, of_tendon(k, tendon)):
            write_coefficients(k, rows, side.row, tendon, side.sign)


@walk
def each_first_row(k: Kernel, rows: DofRows, source: str) -> Iterator[Any]:
    """`for r in …:` runs its body for the first row of each joint or tendon, of the two that it has."""
    first, count = rows.first(source), len(rows.tables[source].ids)
    if count:
        with k.loop(0, count // 2) as n:
            yield first + 2 * n


class Side(NamedTuple):
    """A side of a range that is in reach."""

    row: Any
    sign: Any
    """How the distance changes with the value: 1 at the lower side, −1 at the upper one."""


@walk
def each_side(
    k: Kernel, rows: DofRows, r: Any, value: Any, bounds: Any, parameters: Parameters
) -> Iterator[Side]:
    """`for side in …:` runs its body for each of two rows that a world of the tile has, to write its coefficients;
    the rest is written.

    The first row is the side that a world reaches, the lower one if it reaches both; then the second is the upper.
    So worlds at different ends of a range share a row."""
    low, high = value - bounds[0], bounds[1] - value
    at_low, at_high = low < parameters.margin, high < parameters.margin
    sides = (
        (k.select(at_low, low, high), at_low | at_high, k.select(at_low, 1.0, -1.0)),
        (high, at_low & at_high, -1.0),
    )
    for n, (distance, exists, sign) in enumerate(sides):
        rows.D[r + n] = 0.0
        with k.when(k.any(exists)):
            write(k, rows, r + n, distance, exists, parameters)
            yield Side(r + n, sign)


def ball_limit(k: Kernel, rows: DofRows, r: Any) -> None:
    """The one side of a ball joint; its dofs stand in descending order."""
    m = k.model
    joint = rows.column("ids", r)
    start = m.jnt_qposadr[joint]
    turn = quat_to_rotation_vector(k, quat_normalize(k, k.data.qpos[start : start + 4]))
    angle = norm(k, turn)
    still = angle < MINVAL
    axis = k.select(still, vector(1.0, 0.0, 0.0), turn / k.max(MINVAL, angle))
    for place in range(3):
        rows.coefficient[r, place] = -axis[2 - place]
    largest = k.max(m.jnt_range[joint, 0], m.jnt_range[joint, 1])
    distance, parameters = largest - k.select(still, 0.0, angle), of_joint(k, joint)
    exists = distance < parameters.margin
    rows.D[r] = 0.0
    with k.when(k.any(exists)):
        write(k, rows, r, distance, exists, parameters)


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


def write(k: Kernel, rows: DofRows, r: Any, distance: Any, exists: Any, parameters: Parameters) -> None:
    """Weight, spring and damping of a side at its distance from the limit, in worlds that reach it."""
    violation = distance - parameters.margin
    soft = softness(k, parameters.solref, parameters.solimp, violation)
    R = soft.regularisation(k, parameters.inverse_inertia)
    rows.D[r] = k.select(exists, 1.0 / R, 0.0)
    rows.spring[r] = soft.stiffness * soft.impedance * violation
    rows.damping[r] = soft.damping
