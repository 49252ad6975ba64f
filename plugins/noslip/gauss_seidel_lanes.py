"""No-slip in lanes, without the matrix A that `gauss_seidel_numpy` has.

Friction forces as if friction were hard, at the normal forces that the solver found. Sweeps over friction loss rows
and over the friction of contacts like PGS, but with A = J·M⁻¹·Jᵀ alone, without R. Normal forces stay: of an
elliptic contact only the tangents move, of a pyramid the two edges of a pair exchange force while their sum
remains. The forces to begin with are those of PGS, or what the acceleration that another solver found gives. Rules
and thresholds are those of `gauss_seidel_numpy`. Compare mj_solNoSlip.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.noslip.gauss_seidel_numpy import SMALLEST
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.rows_lanes import ELLIPTIC, PYRAMID, BodyRows, DofRows
from dovetail.plugins.shared.solver.ball_qcqp_lanes import minimise_in_ball
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import SCALAR, Dual, base_force, edges
from dovetail.plugins.shared.solver.dual_numpy import WORSE
from dovetail.plugins.shared.solver.iterations_lanes import NOSLIP, Iterations
from dovetail.plugins.shared.solver.sweeps_lanes import Visit, each_force, exists, guess_forces
from dovetail.plugins.shared.vectors_lanes import dot


def noslip(k: Kernel) -> None:
    """Write qfrc_constraint and qacc anew."""
    Iterations(k, NOSLIP).clear()
    if not k.model.nv:
        return
    dual = Dual(k, BodyRows(k), DofRows(k), guess="qacc")
    has_rows = dual.build()
    regular = start(dual)
    list_frictional(dual)
    iterate(dual, has_rows, regular)
    dual.finish()
    dual.write_forces()


def start(dual: Dual) -> Any:
    """Take over the solver's forces; returns what regularisation makes them cost."""
    k, cost = dual.k, dual.k.local(0.0)
    with k.loop(0, dual.counts[0]) as v:
        for kind in dual.each_kind(v):
            with k.when(dual.known[0] == 0):
                guess_forces(dual, v, kind)
            dual.push(v, kind, base_force(dual, v, kind))
            own = k.local(0.0)
            for n in each_force(dual, v, kind):
                f = dual.force[v, n]
                own += 0.5 * dual.R[v, 0 if kind.name == PYRAMID else n] * f * f
            cost += k.select(exists(dual, v), own.value, 0.0)
    return cost.value


def list_frictional(dual: Dual) -> None:
    """Visit friction loss rows and contacts with friction only."""
    k, rows, kept = dual.k, dual.rows, dual.k.local(0)
    wanted = k.table("noslip/kinds", [int(kind.name in (PYRAMID, ELLIPTIC)) for kind in dual.kinds] or [0])
    first, end = rows.first("frictionloss_dofs"), rows.first("scalar_limits")
    with k.loop(0, dual.counts[0]) as v:
        place = dual.place[v]
        with k.when((wanted[dual.kind[v]] == 1) | ((place >= first) & (place < end))):
            dual.visits[kept.value] = v
            kept += 1
    dual.counts[1] = kept.value


def iterate(dual: Dual, has_rows: Any, regular: Any) -> None:
    """Sweep until no world gains as much as the tolerance; the first sweep also gains what regularisation cost."""
    k, m = dual.k, dual.k.model
    scale = 1.0 / (m.stat.meaninertia * float(max(1, m.nv)))
    live = k.local(has_rows)
    with k.loop(0, m.opt.noslip_iterations) as turn:
        k.leave_when(~k.any(live.value > 0.0))
        Iterations(k, NOSLIP).add(live.value)
        dual.keep_listed(live.value)
        fallen = k.local(k.select(turn == 0, regular, 0.0 * regular))
        with k.loop(0, dual.counts[1]) as n:
            v = dual.visits[n]
            for kind in dual.each_kind(v):
                if kind.name in _VISIT:
                    visit = Visit(dual, v, kind, live.value, fallen)
                    _VISIT[kind.name](visit)
                    visit.end()
        live.set(k.select(scale * fallen.value >= m.opt.noslip_tolerance, live.value, 0.0))


def visit_dry(visit: Visit) -> None:
    """Move the force of a friction loss row."""
    k, old = visit.dual.k, visit.force(0)
    low, high = visit.dual.bounds[visit.v]
    residual, curvature = visit.z[0], k.max(MINVAL, visit.A(0, 0))
    new = k.min(high, k.max(low, old - residual / curvature))
    step = k.select(visit.moves, new - old, 0.0)
    visit.dual.force[visit.v, 0] = k.select(visit.moves, new, old)
    visit.fallen -= k.select(visit.moves, step * (residual + 0.5 * curvature * step), 0.0)
    visit.move[0] = step


def visit_pyramid(visit: Visit) -> None:
    """Shift force between opposite edges, the sum of each pair kept."""
    for r in visit.each_row(1):
        (up, _), (down, _) = edges(r)
        rise, fall = visit_edges(visit, r, up, down)
        for s in visit.each_row():
            visit.z[s] += (rise + fall) * visit.A(s, 0) + (rise - fall) * visit.A(s, r)
        visit.move[0] += rise + fall
        visit.move[r] += rise - fall


def visit_edges(visit: Visit, r: Any, up: Any, down: Any) -> tuple[Any, Any]:
    """Move the forces of the two edges of a tangent; by how much they change."""
    k = visit.dual.k
    normal, tangent, both = visit.A(0, 0), visit.A(r, r), 2.0 * visit.A(r, 0)
    own = [k.max(normal + tangent + sign * both, SMALLEST) for sign in (1.0, -1.0)]
    block = np.array([[own[0], normal - tangent], [normal - tangent, own[1]]], dtype=object)
    residual = np.array([visit.z[0] + visit.z[r], visit.z[0] - visit.z[r]], dtype=object)
    old = np.array([visit.force(up), visit.force(down)], dtype=object)
    mean = 0.5 * (old[0] + old[1])
    curvature = own[0] + own[1] - 2.0 * (normal - tangent)
    b = residual - block @ old
    slope = mean * (own[0] - own[1]) + (b[0] - b[1])  # at equal forces
    flat = curvature < MINVAL
    shift = k.min(mean, k.max(-mean, -slope / k.select(flat, 1.0, curvature)))
    shift = k.select(flat, 0.0, shift)
    rise, fall = accept(
        visit, [up, down], np.array([mean + shift, mean - shift], dtype=object), old, block, residual
    )
    return rise, fall


def visit_elliptic(visit: Visit) -> None:
    """Move the friction forces of a contact inside their circle."""
    k, dual, size = visit.dual.k, visit.dual, visit.kind.dim
    assert size is not None
    rows = list(range(1, size))
    contact = dual.place[visit.v] - dual.rows.count - dual.body_rows.nequality
    block = np.array([[visit.A(max(r, s), min(r, s)) for s in rows] for r in rows], dtype=object)
    for n, r in enumerate(rows):
        mu = dual.body_rows.contacts.friction[contact, r - 1]
        block[n, n] = k.max(block[n, n], SMALLEST * mu * mu)
    residual = np.array([visit.z[r] for r in rows], dtype=object)
    old = np.array([visit.force(r) for r in rows], dtype=object)
    normal = visit.force(0)
    touches = ~(normal < MINVAL)
    found = minimise_in_ball(k, block, residual - block @ old, normal, visit.moves & touches)
    new = k.select(touches, found, np.full(len(rows), 0.0, object))
    for r, step in zip(rows, accept(visit, rows, new, old, block, residual), strict=True):
        visit.move[r] = step


def accept(
    visit: Visit, places: list[Any], new: np.ndarray, old: np.ndarray, block: np.ndarray, residual: np.ndarray
) -> list[Any]:
    """Take a move over unless it raises the cost; by how much the forces change."""
    k, step = visit.dual.k, new - old
    change = dot(step, residual + 0.5 * (block @ step))
    taken = visit.moves & ~(change > WORSE)
    visit.fallen -= k.select(taken, change, 0.0)
    for n, place in enumerate(places):
        visit.dual.force[visit.v, place] = k.select(taken, new[n], old[n])
    return [k.select(taken, one, 0.0) for one in step]


_VISIT = {SCALAR: visit_dry, PYRAMID: visit_pyramid, ELLIPTIC: visit_elliptic}
