"""Small islands solved side by side: `primal_numpy` on the arrays of `many_problems_numpy`.

Every island has its own line search, stop rule and count of iterations, as if it were solved alone; islands that have
stopped stay where they are, and are left out once they are the greater part. Compare mj_solPrimal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.cost_numpy import SATISFIED
from dovetail.plugins.shared.solver.statistics_numpy import NISLAND, Iteration, record
from dovetail.plugins.solve_constraints.many_line_searches_numpy import CostsAlongLines, minimise_along_lines
from dovetail.plugins.solve_constraints.many_problems_numpy import (
    Points,
    Problems,
    many_problems,
    points_at,
    write_points,
)
from dovetail.plugins.solve_constraints.problem_numpy import Settings


class ManyMethod(Protocol):
    """How a solver chooses directions for many islands at once."""

    def entries(self, island: int) -> int:
        """Entries of the matrices it made for one island, for solver_nnz."""
        ...

    def directions(self, points: Points) -> Array:
        """Where to go from `points`; those come in the order they are reached."""
        ...

    def updates(self, old: Points, new: Points) -> Array:
        """Rows by which the matrices of each island changed, for `data.solver.nupdate`."""
        ...

    def left(self, problems: Problems, dofs: Array) -> ManyMethod:
        """The method for what is left of its islands; `dofs` is the mask of their dofs."""
        ...

    def finish(self, points: Points) -> None:
        """Write what it leaves besides the answers, which are `points`."""
        ...


class Steps(NamedTuple):
    """What one iteration did, an entry per island."""

    points: Points
    moved: Array
    """Islands that went on; the others stay where they were."""
    lineslope: Array
    neval: Array


def solve_islands(
    model: ModelLike,
    data: DataLike,
    islands: Array,
    method: Callable[[Any, Any, Problems], ManyMethod],
    settings: Settings,
) -> None:
    """Write the answers of islands, from where `data.qacc` starts them, and their statistics."""
    problems = many_problems(data, islands)
    directions = method(model, data, problems)
    points = start(problems, data.qacc[problems.dofs])
    statistics: dict[int, list[Iteration]] = {i: [] for i in islands[islands < NISLAND].tolist()}
    running = np.ones(len(islands), bool)
    for _ in range(settings.iterations):
        if not running.any():
            break
        if 2 * running.sum() < len(running):
            write_points(data, problems, points)
            directions.finish(points)
            problems, points, directions = left(data, problems, points, directions, running)
            running = np.ones(len(problems), bool)
        steps = step(problems, points, running, directions.directions(points), settings)
        gradient = problems.scale * problems.of_dofs.norms(steps.points.gradient)
        improvement = problems.scale * (points.cost - steps.points.cost)
        note(statistics, problems, points, steps, improvement, gradient, directions.updates)
        points = steps.points
        running = steps.moved & (improvement >= settings.tolerance) & (gradient >= settings.tolerance)
    write_points(data, problems, points)
    directions.finish(points)
    for island, iterations in statistics.items():
        record(data, island, iterations, directions.entries(island))


def start(problems: Problems, qacc: Array) -> Points:
    """The points at the given accelerations."""
    return points_at(problems, qacc, problems.M @ qacc, problems.J @ qacc - problems.aref)


def left(
    data: DataLike, problems: Problems, points: Points, method: ManyMethod, running: Array
) -> tuple[Problems, Points, ManyMethod]:
    """The islands that have not stopped, where they are."""
    dofs, rows = running[problems.of_dofs.owner], running[problems.of_rows.owner]
    fewer = many_problems(data, problems.islands[running])
    return (
        fewer,
        points_at(fewer, points.qacc[dofs], points.Ma[dofs], points.jar[rows]),
        method.left(fewer, dofs),
    )


def step(problems: Problems, points: Points, running: Array, direction: Array, settings: Settings) -> Steps:
    """The best point of each running island in its part of the direction. One whose part does not lead down stays;
    one whose part is not a number goes there, and no further."""
    owner = problems.of_dofs.owner
    length = problems.of_dofs.norms(direction)
    lost = running & np.isnan(length)
    searching = running & (length >= MINVAL) & (length < np.inf)
    move = np.where(searching[owner], direction, 0.0)
    Mv, Jv = problems.M @ move, problems.J @ move
    lines = CostsAlongLines(problems, points, move, Mv, Jv)
    tolerance = settings.tolerance * settings.ls_tolerance * length / problems.scale
    best = minimise_along_lines(lines, searching, tolerance, settings.ls_iterations)
    at = np.where(searching, best.at, 0.0)
    at_rows = at[problems.of_rows.owner]
    reached = points_at(
        problems,
        points.qacc + np.where(lost[owner], direction, at[owner] * move),
        points.Ma + at[owner] * Mv,
        points.jar + at_rows * Jv,
    )
    slope = np.abs(best.slope) * problems.scale / np.where(searching, length, 1.0)
    return Steps(reached, lost | (at != 0.0), np.where(searching, slope, 1.0), lines.count)


def note(
    statistics: dict[int, list[Iteration]],
    problems: Problems,
    old: Points,
    steps: Steps,
    improvement: Array,
    gradient: Array,
    updates: Callable[[Points, Points], Array],
) -> None:
    """Add an iteration to the statistics of islands that have some and went on."""
    kept = np.flatnonzero(steps.moved & (problems.islands < NISLAND)).tolist()
    if not kept:
        return
    new, sums = steps.points, problems.of_rows.sums
    nactive = sums((new.state != SATISFIED).astype(int))
    nchange = sums((new.state != old.state).astype(int))
    nupdate = updates(old, new)
    for place in kept:
        statistics[int(problems.islands[place])].append(
            Iteration(
                improvement=float(improvement[place]),
                gradient=float(gradient[place]),
                lineslope=float(steps.lineslope[place]),
                nactive=int(nactive[place]),
                nchange=int(nchange[place]),
                neval=int(steps.neval[place]),
                nupdate=int(nupdate[place]),
            )
        )
