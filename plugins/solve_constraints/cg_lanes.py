"""Conjugate gradients in lanes, preconditioned with the inverse of the mass matrix, by the rule of Polak and Ribière.

A direction is the preconditioned gradient plus a share of the last direction; the share is never negative. No Hessian
is formed. The cost, the line search and the way in which the worlds of a tile go together are Newton's
(`newton_lanes`); the rule is that of `cg_numpy`. Here all rows of a world are one problem; `by_island_lanes` has the
conjugate gradients of many trees. Compare
mj_solCG; Nocedal and Wright, Numerical Optimization, section 5.2.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.ldl_lanes import solve
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.plugins.shared.solver.iterations_lanes import Iterations
from dovetail.plugins.solve_constraints.newton_lanes import Newton


def solve_constraints(k: Kernel) -> None:
    """Write qacc and qfrc_constraint."""
    from dovetail.plugins.solve_constraints.by_island_lanes import ConjugateGradientsByIsland

    Iterations(k).clear()
    if k.model.nv:
        method = ConjugateGradientsByIsland if k.model.ntree > 1 else ConjugateGradients
        method(k, BodyRows(k), DofRows(k)).run()


class ConjugateGradients(Newton):
    """One tile's problem."""

    follows_curvature = False

    @property
    def conditioned(self) -> LaneField:
        """M⁻¹·gradient."""
        return self._vector("conditioned")

    @property
    def conditioned_before(self) -> LaneField:
        """That of the point before."""
        return self._vector("conditioned_before")

    @property
    def steepness(self) -> LaneField:
        """gradient·M⁻¹·gradient of the point before, at index 0."""
        return self.k.scratch("steepness", 1)

    def find_pattern(self) -> None:
        """There is no Hessian."""

    def find_direction(self, live: Any, *, new: Any) -> None:
        """The preconditioned gradient and a share of the last direction; 0 in worlds that have converged."""
        k, nv = self.k, self.k.model.nv
        along, gained = k.local(0.0), k.local(0.0)
        with k.loop(0, nv) as dof:
            self.condition(dof)
        solve(k, k.data.qLD, k.data.qLDiagInv, self.conditioned)
        with k.loop(0, nv) as dof:
            along += self.gradient[dof] * self.conditioned[dof]
            gained += self.gradient[dof] * (self.conditioned[dof] - self.conditioned_before[dof])
        share = self.share(gained.value, self.steepness[0])
        with k.loop(0, nv) as dof:
            kept = k.select(new, 0.0, share * self.direction[dof])
            self.direction[dof] = k.select(live > 0.0, kept - self.conditioned[dof], 0.0)
        self.steepness[0] = along.value

    def condition(self, dof: Any) -> None:
        """Begin to condition the gradient; what was found last time is kept."""
        self.conditioned_before[dof] = self.conditioned[dof]
        self.conditioned[dof] = self.gradient[dof]

    def share(self, gained: Any, steepness: Any) -> Any:
        """How much of the last direction the next one keeps."""
        k = self.k
        return k.max(gained / k.max(steepness, MINVAL), 0.0)
