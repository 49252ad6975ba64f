"""What a solver did, iteration by iteration, for `data.solver`, `solver_niter` and `solver_nnz`.

Compare mjSolverStat and saveStats in engine_solver.c.
"""

from __future__ import annotations

import attrs

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike

NISLAND = 20
"""Islands that statistics are kept of (mjNISLAND, MuJoCo 3.4)."""
NSOLVER = 200
"""Iterations that statistics are kept of, per island (mjNSOLVER, MuJoCo 3.4)."""


@attrs.frozen(kw_only=True)
class Iteration:
    """One iteration of a solver; the fields are those of mjSolverStat."""

    improvement: float
    gradient: float = 0.0
    lineslope: float = 0.0
    nactive: int
    nchange: int
    neval: int = 0
    nupdate: int = 0


_FIELDS = tuple(field.name for field in attrs.fields(Iteration))


def record(data: DataLike, island: int, iterations: list[Iteration], nnz: int | None = None) -> None:
    """Add iterations to those an island (-1: all rows together) has already had, and say how many entries its
    matrices have."""
    place = max(0, island)
    if place >= NISLAND:
        return
    made = int(data.solver_niter[place])
    kept = iterations[: max(0, NSOLVER - made)]
    first = place * NSOLVER + made
    for name in _FIELDS:
        getattr(data.solver, name)[first : first + len(kept)] = [getattr(it, name) for it in kept]
    data.solver_niter[place] = made + len(iterations)
    if nnz is not None:
        data.solver_nnz[place] = nnz


def changes(old: Array, new: Array) -> int:
    """How many rows have another state."""
    return int((old != new).sum())
