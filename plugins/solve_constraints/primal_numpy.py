"""What Newton and conjugate gradients share: descend by exact line searches until the cost hardly falls.

A method is a way to choose directions. Each island is a problem of its own; with the island flag off, or with the
no-slip pass (whose matrices couple everything), all dofs are one problem. An island's answer is that of the whole
problem restricted to it, up to the tolerance. Small islands, of which there may be hundreds, are solved side by side
(`many_islands_numpy`), each as if alone. Compare mj_fwdConstraint and mj_solPrimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.cost_numpy import SATISFIED
from dovetail.plugins.shared.solver.dual_numpy import write_dual_matrix
from dovetail.plugins.shared.solver.statistics_numpy import Iteration, changes, record
from dovetail.plugins.solve_constraints.line_search_numpy import CostAlongLine, minimise_along
from dovetail.plugins.solve_constraints.many_islands_numpy import ManyMethod, solve_islands
from dovetail.plugins.solve_constraints.many_problems_numpy import Problems
from dovetail.plugins.solve_constraints.problem_numpy import (
    Point,
    Problem,
    Settings,
    island_problem,
    only_island,
    point_at,
    starting_acceleration,
    whole_problem,
)


class Method(Protocol):
    """How a solver chooses its directions."""

    nnz: int
    """Entries of the matrices it made, for solver_nnz."""

    def direction(self, point: Point) -> Array:
        """Where to go from `point`; points come in the order they are reached."""
        ...

    def updates(self, old: Point, new: Point) -> int:
        """Rows by which its matrices changed, for `data.solver.nupdate`."""
        ...

    def finish(self, point: Point) -> None:
        """Write what it leaves besides the answer, which is `point`."""
        ...


SMALL = 60
"""Dofs up to which islands are solved side by side."""
FEW = 8
"""Fewer small islands than this are quicker alone. Measured on boxes on a plane."""


def solve_primal(
    model: ModelLike,
    data: DataLike,
    method: Callable[[Any, Any, Problem], Method],
    many: Callable[[Any, Any, Problems], ManyMethod],
) -> None:
    """Write qacc, the constraint forces and states, and statistics. `method` and `many` choose directions for one
    problem and for many small ones."""
    data.qfrc_constraint[:] = 0.0
    data.solver_niter[:] = 0
    if not data.nefc:
        data.qacc[:] = data.qacc_smooth
        return
    whole = whole_problem(model, data)
    data.efc_b[: data.nefc] = whole.J @ data.qacc_smooth - whole.aref
    data.qacc[:] = starting_acceleration(model, data, whole)
    settings = Settings.of(model)
    together = small_islands(model, data)
    for problem in problems(model, data, whole, together):
        chosen = method(model, data, problem)
        point, iterations = descend(problem, data.qacc[problem.dofs], chosen, settings)
        write(data, problem, point)
        chosen.finish(point)
        record(data, problem.island, iterations, chosen.nnz)
    if len(together):
        solve_islands(model, data, together, many, settings)
    if model.opt.noslip_iterations > 0:
        write_dual_matrix(model, data, whole.J)


def small_islands(model: ModelLike, data: DataLike) -> Array:
    """Islands that are solved side by side: small ones, if there are several."""
    small = np.flatnonzero(data.island_nv[: data.nisland] <= SMALL)
    return small if len(small) >= FEW and not model.opt.noslip_iterations > 0 else small[:0]


def problems(model: ModelLike, data: DataLike, whole: Problem, together: Array) -> Iterator[Problem]:
    """One problem per island, but for those that are solved together, or the whole."""
    if not data.nisland or model.opt.noslip_iterations > 0:
        yield whole
    elif data.nisland == 1 and data.nidof == model.nv:
        yield only_island(data, whole)
    else:
        alone = np.delete(np.arange(data.nisland), together)
        yield from (island_problem(data, island) for island in alone.tolist())


def descend(
    problem: Problem, qacc: Array, method: Method, settings: Settings
) -> tuple[Point, list[Iteration]]:
    """Go down from `qacc` until an iteration gains, or the gradient is, less than the tolerance."""
    point = point_at(problem, qacc, problem.M @ qacc, problem.J @ qacc - problem.aref)
    iterations: list[Iteration] = []
    while len(iterations) < settings.iterations:
        reached, lineslope, neval = step(problem, point, method.direction(point), settings)
        if reached is point:
            break
        done = Iteration(
            improvement=problem.scale * (point.cost - reached.cost),
            gradient=problem.scale * float(np.linalg.norm(reached.gradient)),
            lineslope=lineslope,
            nactive=int((reached.state != SATISFIED).sum()),
            nchange=changes(point.state, reached.state),
            neval=neval,
            nupdate=method.updates(point, reached),
        )
        iterations.append(done)
        point = reached
        if not (done.improvement >= settings.tolerance and done.gradient >= settings.tolerance):
            break  # also where the numbers are no longer finite
    return point, iterations


def step(problem: Problem, point: Point, direction: Array, settings: Settings) -> tuple[Point, float, int]:
    """The best point in a direction, the slope left there, and how many evaluations it took; `point` itself if the
    direction does not lead down."""
    length = float(np.linalg.norm(direction))
    if np.isnan(length):
        return point_at(problem, point.qacc + direction, point.Ma, point.jar), 1.0, 0
    if not MINVAL <= length < np.inf:
        return point, 1.0, 0
    Mv, Jv = problem.M @ direction, problem.J @ direction
    line = CostAlongLine(problem, point, direction, Mv, Jv)
    tolerance = settings.tolerance * settings.ls_tolerance * length / problem.scale
    best = minimise_along(line, tolerance, settings.ls_iterations)
    if best.at == 0.0:
        return point, 1.0, line.count
    reached = point_at(
        problem,
        point.qacc + best.at * direction,
        point.Ma + best.at * Mv,
        point.jar + best.at * Jv,
    )
    return reached, abs(best.slope) * problem.scale / length, line.count


def write(data: DataLike, problem: Problem, point: Point) -> None:
    """Put an answer in its place, and in the arrays sorted by island."""
    data.qacc[problem.dofs] = point.qacc
    data.qfrc_constraint[problem.dofs] = point.qfrc_constraint
    data.efc_force[problem.efc] = point.force
    data.efc_state[problem.efc] = point.state
    if problem.island < 0:
        return
    first = int(data.island_idofadr[problem.island])
    dof = slice(first, first + len(problem.dofs))
    data.iacc[dof] = point.qacc
    data.iacc_smooth[dof] = problem.qacc_smooth
    data.ifrc_smooth[dof] = problem.qfrc_smooth
    data.ifrc_constraint[dof] = point.qfrc_constraint
    first = int(data.island_iefcadr[problem.island])
    row = slice(first, first + len(problem.efc))
    data.iefc_aref[row] = problem.aref
    data.iefc_force[row] = point.force
    data.iefc_state[row] = point.state
