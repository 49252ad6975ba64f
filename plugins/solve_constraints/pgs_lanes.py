"""Projected Gauss-Seidel in lanes, in two ways.

The force of one row after another is minimised over, the others held, sweep by sweep. A scalar row moves to its own
minimum and is clipped to what it can exert; so do the edges of a pyramid, one after another. An elliptic contact
makes two moves: along the ray of its present force (or, if it has none, by its normal alone), then over the
friction forces inside the circle that the normal force allows. The worlds of a tile sweep together; one that has
converged stands still, bit for bit. Rules, order and thresholds are those of `pgs_numpy`.

A world with few rows has its whole matrix A, as `pgs_numpy` has (`own_rows_lanes`); one with many, and any with
elliptic contacts, sweeps over the items of the tile without it (`dual_matrix_free_lanes`). Which way a world goes
depends on nothing but its own number of rows. Compare mj_solPGS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.rows_lanes import ELLIPTIC, EQUALITY, PYRAMID, BodyRows, DofRows
from dovetail.plugins.shared.solver.ball_qcqp_lanes import minimise_in_ball
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import (
    SCALAR,
    UNBOUNDED,
    Dual,
    ItemKind,
    base_force,
    edges,
)
from dovetail.plugins.shared.solver.dual_numpy import WORSE
from dovetail.plugins.shared.solver.iterations_lanes import Iterations
from dovetail.plugins.shared.solver.own_rows_lanes import OwnRows
from dovetail.plugins.shared.solver.sweeps_lanes import Visit, each_force, exists, guess_forces
from dovetail.plugins.shared.solver.warm_start_lanes import is_broken, spoilt_by_last
from dovetail.plugins.shared.vectors_lanes import dot


def solve_constraints(k: Kernel) -> None:
    """Write qacc and qfrc_constraint."""
    Iterations(k).clear()
    if not k.model.nv:
        return
    dual = Dual(k, BodyRows(k), DofRows(k))
    own = OwnRows(dual)
    has_rows = dual.begin()
    if own.possible:
        solve_either(dual, own, has_rows)
    else:
        solve_items(dual, has_rows)
    dual.known[0] = 1
    dual.finish()
    dual.write_forces()


def solve_either(dual: Dual, own: OwnRows, has_rows: Any) -> None:
    """Find the forces of each world in the way that suits the number of its rows."""
    k = dual.k
    few = own.few() & (has_rows > 0.0)
    many = ~few & (has_rows > 0.0)
    with k.when(k.any(few)):
        solve_own_rows(own, few)
    if not own.suffices:
        with k.when(k.any(many)):
            solve_items(dual, k.select(many, 1.0, 0.0))
    with k.when(k.any(few)):
        own.give_back(few)


def solve_own_rows(own: OwnRows, few: Any) -> None:
    """Find the forces of the worlds whose rows are few."""
    own.build(few)
    start_own_rows(own)
    iterate(own.k, own.k.select(few, 1.0, 0.0), own.sweep)


def solve_items(dual: Dual, live: Any) -> None:
    """Find the forces of some worlds without their matrix."""

    def turn(live: Any) -> Any:
        dual.keep_listed(live)
        return sweep(dual, live)

    dual.write_rows()
    start(dual)
    iterate(dual.k, live, turn)


def iterate(k: Kernel, live: Any, sweep: Callable[[Any], Any]) -> None:
    """Sweep until no world gains as much as the tolerance."""
    m = k.model
    scale = 1.0 / (m.stat.meaninertia * float(max(1, m.nv)))
    left = k.local(live)
    with k.loop(0, m.opt.iterations):
        k.leave_when(~k.any(left.value > 0.0))
        Iterations(k).add(left.value)
        fallen = sweep(left.value)
        left.set(k.select(scale * fallen >= m.opt.tolerance, left.value, 0.0))


# ---- the start


def pays(k: Kernel, cost: Any, spoilt: Any) -> Any:
    """Mask of the worlds that start from last step's forces."""
    helps = k.select((cost <= 0.0) | is_broken(spoilt), 1.0, 0.0)
    return k.select(k.disabled(DisableBit.WARMSTART), 0.0, helps) > 0.0


def start_own_rows(own: OwnRows) -> None:
    """The forces that last step's acceleration would give, or none if those cost more."""
    k = own.k
    spoilt = spoilt_by_last(k)
    warm = pays(k, own.cost(), spoilt)
    for i in own.each_row():
        own.force[i] = k.select(warm, own.force[i] + spoilt, 0.0)


def start(dual: Dual) -> None:
    """The same, item by item."""
    k = dual.k
    cost = k.local(0.0)
    with k.loop(0, dual.counts[0]) as v:
        for kind in dual.each_kind(v):
            guess_forces(dual, v, kind)
            cost += linear_cost(dual, v, kind)
            dual.push(v, kind, base_force(dual, v, kind))
    with k.loop(0, k.model.nv) as dof:
        cost += 0.5 * dual.y[dof] * dual.y[dof]
    spoilt = spoilt_by_last(k)
    warm = pays(k, cost.value, spoilt)
    with k.loop(0, dual.counts[0]) as v:
        for kind in dual.each_kind(v):
            for n in each_force(dual, v, kind):
                dual.force[v, n] = k.select(warm, dual.force[v, n] + spoilt, 0.0)
    with k.loop(0, k.model.nv) as dof:
        dual.y[dof] = k.select(warm, dual.y[dof], 0.0)


def linear_cost(dual: Dual, v: Any, kind: ItemKind) -> Any:
    """f·b + ½·f·R·f of an item."""
    k, total = dual.k, dual.k.local(0.0)
    pushed = base_force(dual, v, kind)
    for r in dual.each_base_row(v, kind):
        total += pushed[r] * dual.b[v, r]
    for n in each_force(dual, v, kind):
        f = dual.force[v, n]
        total += 0.5 * dual.R[v, 0 if kind.name == PYRAMID else n] * f * f
    return k.select(exists(dual, v), total.value, 0.0)


# ---- sweeps


def sweep(dual: Dual, live: Any) -> Any:
    """Visit every item once; by how much the cost fell in each world."""
    k, fallen = dual.k, dual.k.local(0.0)
    with k.loop(0, dual.counts[1]) as n:
        v = dual.visits[n]
        for kind in dual.each_kind(v):
            visit = Visit(dual, v, kind, live, fallen)
            _VISIT[kind.name](visit)
            visit.end()
    return fallen.value


def visit_scalar(visit: Visit) -> None:
    """Move one row's force to its best within its bounds."""
    low, high = visit.dual.bounds[visit.v]
    visit.move[0] = visit.row_move(0, visit.z[0], visit.R(), visit.A(0, 0), low, high)


def visit_equality(visit: Visit) -> None:
    """Move the forces of an equality, row after row."""
    k = visit.dual.k
    for r in visit.each_row():
        old = visit.force(r)
        curvature = visit.A(r, r) + visit.R(r)
        residual = visit.z[r] + visit.R(r) * old
        step = k.select(visit.moves, -residual * visit.dual.inverse_diagonal[visit.v, r], 0.0)
        visit.dual.force[visit.v, r] = old + step
        visit.fallen -= k.select(visit.moves, step * (residual + 0.5 * curvature * step), 0.0)
        visit.move[r] = step
        for s in visit.each_row():
            visit.z[s] += visit.A(s, r) * step


def visit_pyramid(visit: Visit) -> None:
    """Move the forces of a pyramid, edge after edge."""
    for r in visit.each_row(1):
        for n, sign in edges(r):
            z = visit.z[0] + sign * visit.z[r]
            A = visit.A(0, 0) + visit.A(r, r) + 2.0 * sign * visit.A(r, 0)
            step = visit.row_move(n, z, visit.R(), A, 0.0, UNBOUNDED)
            for s in visit.each_row():
                visit.z[s] += (visit.A(s, 0) + sign * visit.A(s, r)) * step
            visit.move[0] += step
            visit.move[r] += sign * step


def visit_elliptic(visit: Visit) -> None:
    """Move the forces of an elliptic contact."""
    k, size = visit.dual.k, visit.kind.dim
    assert size is not None
    rows = range(size)
    block = np.array([[visit.A(max(r, s), min(r, s)) for s in rows] for r in rows], dtype=object)
    block += np.diag(np.array([visit.R(r) for r in rows], dtype=object))
    old = np.array([visit.force(r) for r in rows], dtype=object)
    residual = np.array([visit.z[r] + visit.R(r) * old[r] for r in rows], dtype=object)
    normal = ray_move(k, block, residual, old)
    tangents = friction_move(k, block, residual, old, normal, visit.moves)
    new = np.array([normal, *tangents], dtype=object)
    step = new - old
    change = dot(step, residual + 0.5 * (block @ step))
    taken = visit.moves & ~(change > WORSE)
    visit.fallen -= k.select(taken, change, 0.0)
    for r in rows:
        visit.dual.force[visit.v, r] = k.select(taken, new[r], old[r])
        visit.move[r] = k.select(taken, step[r], 0.0)


def ray_move(k: Kernel, block: np.ndarray, residual: np.ndarray, old: np.ndarray) -> Any:
    """The normal force of the best multiple of the present force, or the best one if there is none."""
    alone = k.max(old[0] - residual[0] / block[0, 0], 0.0)
    curvature = dot(old, block @ old)
    flat = curvature < MINVAL
    stretch = 1.0 + k.max(-dot(old, residual) / k.select(flat, 1.0, curvature), -1.0)
    return k.select(old[0] < MINVAL, alone, k.select(flat, old[0], old[0] * stretch))


def friction_move(
    k: Kernel, block: np.ndarray, residual: np.ndarray, old: np.ndarray, normal: Any, moves: Any
) -> np.ndarray:
    """The best friction forces at the given normal force."""
    A = block[1:, 1:]
    b = residual[1:] - A @ old[1:] + block[1:, 0] * (normal - old[0])
    touches = ~(normal < MINVAL)
    found: np.ndarray = minimise_in_ball(k, A, b, normal, moves & touches)
    return k.select(touches, found, np.full(len(found), 0.0, object))


_VISIT: dict[str, Callable[[Visit], None]] = {
    SCALAR: visit_scalar,
    EQUALITY: visit_equality,
    PYRAMID: visit_pyramid,
    ELLIPTIC: visit_elliptic,
}
