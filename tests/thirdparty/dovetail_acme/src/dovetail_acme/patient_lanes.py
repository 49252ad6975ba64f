"""A solver in lanes that takes its time: every force to its own best, one after another, always the same number of
sweeps, from nothing.

The problem in terms of forces is dovetail's own (`dual_matrix_free_lanes`): which rows there are, how they feel each
other, and how forces become accelerations and readings of sensors. Equalities, friction loss, limits, contacts
without friction and pyramids; no elliptic cones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.rows.rows_lanes import EQUALITY, PYRAMID, BodyRows, DofRows
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import UNBOUNDED, Dual, Few, ItemKind, edges

SWEEPS = 400


def solve_constraints(k: Kernel) -> None:
    """Write qacc, qfrc_constraint and the forces of rows."""
    if not k.model.nv:
        return
    problem = Dual(k, BodyRows(k), DofRows(k), guess="qacc_smooth")
    problem.build()
    with k.loop(0, problem.counts[0]) as v:
        for kind in problem.each_kind(v):
            for n, *_ in each_force(problem, v, kind):
                problem.force[v, n] = 0.0
    with k.loop(0, SWEEPS), k.loop(0, problem.counts[0]) as v:
        for kind in problem.each_kind(v):
            improve(problem, v, kind)
    problem.known[0] = 1
    problem.finish()
    problem.write_forces()


@walk
def each_force(problem: Dual, v: Any, kind: ItemKind) -> Iterator[tuple[Any, Any, float]]:
    """`for n, r, sign in …:` runs its body for each force of an item: its number, its base row, and the sign of a
    pyramid's edge, 0 for what is no edge."""
    if kind.name == PYRAMID:
        for r in problem.each_base_row(v, kind, 1):
            for n, sign in edges(r):
                yield n, r, sign
    else:
        for r in problem.each_base_row(v, kind):
            yield r, r, 0.0


def improve(problem: Dual, v: Any, kind: ItemKind) -> None:
    """Move each force of one item to its best, and let the others feel it."""
    z, move = problem.acceleration(v, kind), Few(problem.k, "move", kind)
    for r in problem.each_base_row(v, kind):
        move[r] = 0.0
    for n, r, sign in each_force(problem, v, kind):
        step = best_step(problem, v, kind, n, z[0] + sign * z[r] if sign else z[r], sign)
        for s in problem.each_base_row(v, kind):
            felt = problem.A[v, s, 0] + sign * problem.A[v, s, r] if sign else problem.A[v, s, r]
            z[s] += felt * step
        if sign:
            move[0] += step
        move[r] += (sign or 1.0) * step
    problem.push(v, kind, move)


def best_step(problem: Dual, v: Any, kind: ItemKind, n: Any, z: Any, sign: float) -> Any:
    """By how much one force changes, given the acceleration of its row; nothing in worlds without it."""
    k, old = problem.k, problem.force[v, n]
    R = problem.R[v, 0] if sign else problem.R[v, n]
    wanted = old - (z + R * old) * problem.inverse_diagonal[v, n]
    low, high = bounds(problem, v, kind, sign)
    new = k.select(problem.R[v, 0] > 0.0, k.min(k.max(wanted, low), high), 0.0)
    problem.force[v, n] = new
    return new - old


def bounds(problem: Dual, v: Any, kind: ItemKind, sign: float) -> tuple[Any, Any]:
    """Least and largest value of a force."""
    if sign:
        return 0.0, UNBOUNDED
    if kind.name == EQUALITY:
        return -UNBOUNDED, UNBOUNDED
    return problem.bounds[v, 0], problem.bounds[v, 1]
