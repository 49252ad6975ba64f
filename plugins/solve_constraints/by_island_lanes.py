"""Descent island by island, in lanes: each island goes its own distance and stops by its own rule.

The islands of a world share nothing, so that their directions are found together; but how far to go, when to stop
and, for conjugate gradients, how much of the last direction to keep are questions of each island alone. The answers
are kept by tree (`islands_lanes`). A tree takes part while its island has not converged in any world of the tile;
trees without rows have their smooth acceleration. Compare mj_solPrimal, which MuJoCo calls for one island after the
other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.ldl_lanes import solve
from dovetail.plugins.shared.rows.rows_lanes import LARGEST_DIM
from dovetail.plugins.shared.solver.iterations_lanes import moves
from dovetail.plugins.shared.solver.row_costs_lanes import OnLine, bond_cost, numbers_on_line, on_line
from dovetail.plugins.shared.vectors_lanes import dot
from dovetail.plugins.solve_constraints.cg_lanes import ConjugateGradients
from dovetail.plugins.solve_constraints.islands_lanes import MOST_SUMS, Islands, whole
from dovetail.plugins.solve_constraints.line_search_lanes import (
    MOST_OVER,
    NAMES,
    LineSearch,
    Row,
    goes_anywhere,
    noise,
)
from dovetail.plugins.solve_constraints.newton_lanes import (
    GRADIENT_NOISE,
    LAST,
    NOW,
    RATE,
    SMOOTH,
    Newton,
)
from dovetail.plugins.solve_constraints.sparse_hessian_lanes import SparseHessian

STEEPNESS, INERTIAL, ROWS, PARTS, GAIN = range(5)
"""Places of sums over a gradient: its square, the two parts of the cost, the square of its parts, and what it could
gain."""

GAUSS, LINEAR, SQUARE, DESCENT, LENGTH = range(5)
"""Places of sums over a direction."""


class ByIsland(Newton):
    """What Newton's method and conjugate gradients do alike for each island."""

    @cached_property
    def islands(self) -> Islands:
        return Islands(self.k, self.body_rows, self.rows)

    # ---- numbers by tree

    def _of_trees(self, name: str) -> LaneField:
        return self.k.scratch(f"tree_{name}", self.islands.count)

    @property
    def live(self) -> LaneField:
        """1 where a tree's island has not converged."""
        return self._of_trees("live")

    @property
    def moved(self) -> LaneField:
        """1 where it has moved since the forces were last written."""
        return self._of_trees("moved")

    @property
    def scale(self) -> LaneField:
        """What gain and gradient are multiplied by before they are compared with the tolerance."""
        return self._of_trees("scale")

    @property
    def distance(self) -> LaneField:
        """How far to go along the direction."""
        return self._of_trees("distance")

    @property
    def gain(self) -> LaneField:
        """How much cost that should save, by the slope."""
        return self._of_trees("gain")

    @property
    def tree_cost(self) -> LaneField:
        """The cost of a tree's island at the current point."""
        return self._of_trees("cost")

    @property
    def iterations(self) -> LaneField:
        """How many times a tree's island has moved."""
        return self._of_trees("iterations")

    @property
    def tree_list(self) -> IntegerField:
        """Trees that take part, ascending."""
        return self.k.integers("tree_list", self.islands.count)

    @property
    def trees_listed(self) -> IntegerField:
        """How many they are."""
        return self.k.integers("trees_listed", 1)

    def tree_of(self, kind: int, item: Any) -> Any:
        """The tree of a bond or of a dof row (kinds 0 and 1)."""
        return self.islands.tree_of_row(item) if kind else self.islands.tree_of_bond(item)

    def live_of(self, live: Any, kind: int, item: Any) -> Any:
        return self.live[self.tree_of(kind, item)]

    def renewed(self, live: Any, kind: int, item: Any, new: Any) -> Any:
        """In a matrix that the worlds of a tile share, an island that has converged must stay as it is, lest it spoil
        the other islands of its world: some of its rows are computed again with those of other worlds."""
        if self.k.lanes == 1 or not self.shares_matrix:
            return None
        return self.k.select(new, 1.0, self.live_of(live, kind, item)) > 0.0

    def is_needed(self, live: Any, kind: int, item: Any, weight: Any) -> Any:
        """For the same reason rows stay as long as any tree near them takes part."""
        needed = super().is_needed(live, kind, item, weight)
        if self.k.lanes == 1 or not self.shares_matrix:
            return needed
        return needed | (self._near_live[self.islands.neighbours[self.tree_of(kind, item)]] > 0)

    @property
    def shares_matrix(self) -> bool:
        """Whether the worlds of a tile do."""
        return False

    @property
    def _near_live(self) -> IntegerField:
        """1 for the first of some neighbours if any of them takes part."""
        return self.k.integers("near_live", self.islands.count)

    def keep_listed(self, live: Any) -> None:
        k, islands = self.k, self.islands
        if k.lanes > 1 and self.shares_matrix:
            with k.loop(0, islands.count) as tree:
                self._near_live[tree] = 0
            for tree in self.each_tree():
                first = islands.neighbours[tree]
                self._near_live[first] = k.max(self._near_live[first], islands.has_neighbours[first])
        super().keep_listed(live)

    # ---- walks over what takes part

    @walk
    def each_tree(self, *, reverse: bool = False) -> Iterator[Any]:
        """`for tree in …:` runs its body, at run time, for the listed trees."""
        with self.k.loop(0, self.trees_listed[0], reverse=reverse) as n:
            yield self.tree_list[n]

    @walk
    def each_dof_of(self, tree: Any) -> Iterator[Any]:
        m = self.k.model
        with self.k.loop(m.tree_dofadr[tree], m.tree_dofadr[tree] + m.tree_dofnum[tree]) as dof:
            yield dof

    @walk
    def each_dof(self) -> Iterator[Any]:
        for tree in self.each_tree():
            yield from self.each_dof_of(tree)

    @walk
    def each_body(self, *, reverse: bool = False) -> Iterator[Any]:
        m = self.k.model
        for tree in self.each_tree():
            first = m.tree_bodyadr[tree]
            with self.k.loop(first, first + m.tree_bodynum[tree], reverse=reverse) as body:
                yield body

    def _list_trees(self, chosen: LaneField | None = None) -> None:
        """List the trees for which any world has a positive number; or all."""
        k, found = self.k, self.k.local(0)
        with k.loop(0, self.islands.count) as tree:
            wanted = k.any(chosen[tree] > 0.0) if chosen is not None else tree >= 0
            with k.when(wanted):
                self.tree_list[found.value] = tree
                found += 1
        self.trees_listed[0] = found.value

    # ---- the start

    def start(self, has_rows: Any) -> None:
        """As for one problem; but trees without rows start from their smooth acceleration. They are moved only if all
        rows are one problem, which the no-slip pass asks for."""
        k, d, islands = self.k, self.k.data, self.islands
        islands.find(self.each_bond, self.each_row, has_rows)
        self._list_trees()
        self._hold_static_bodies()
        super().start(has_rows)
        self._find_scales()
        with k.loop(0, islands.count) as tree:
            tied = islands.tied[tree] > 0.0
            for dof in self.each_dof_of(tree):
                d.qacc[dof] = k.select(tied, d.qacc[dof], d.qacc_smooth[dof])
                self.Ma[dof] = k.select(tied, self.Ma[dof], d.qfrc_smooth[dof])
        with k.when(whole(k)):
            islands.tie_all(has_rows)
        self._list_trees(islands.tied)
        for tree in self.each_tree():
            self.live[tree] = islands.tied[tree]
            self.moved[tree] = 1.0

    def _hold_static_bodies(self) -> None:
        """Bodies of no tree do not move."""
        if self.body_rows.kinds:
            static = np.flatnonzero(np.asarray(self.k.frozen_model.body_treeid) < 0)
            with self.k.loop(0, len(static)) as n:
                for which in (LAST, SMOOTH):
                    self.body_motion(which)[self.k.table("static_bodies", static)[n]] = 0.0

    def _find_scales(self) -> None:
        """One over the sum of the diagonal of the island's mass matrix; of the whole problem, one over a constant."""
        k, m, sums = self.k, self.k.model, self.islands.sums
        for tree in self.each_tree():
            total = k.local(0.0)
            for dof in self.each_dof_of(tree):
                total += k.data.M[m.M_rowadr[dof] + m.M_rownnz[dof] - 1]
            sums[tree, 0] = total.value
        self.islands.total(1)
        common = 1.0 / (m.stat.meaninertia * float(max(1, m.nv)))
        for tree in self.each_tree():
            self.scale[tree] = k.select(whole(k), common, 1.0 / sums[tree, 0])

    # ---- the method

    def iterate(self, has_rows: Any) -> None:
        """Descend until no island of any world gains."""
        k, m = self.k, self.k.model
        self._clear_iterations()
        with k.loop(0, m.opt.iterations + 1) as turn:
            self.find_gradients()
            for tree in self.each_tree():
                going = k.select(self._gains(tree) & self._is_steep(tree), self.live[tree], 0.0)
                going = k.select(turn == 0, self.live[tree], going)
                self.live[tree] = k.select(turn == m.opt.iterations, 0.0, going)
                self.tree_cost[tree] = self._cost_of(tree)
            self._keep_live_trees()
            k.leave_when(self.trees_listed[0] == 0)
            self.keep_listed(None)
            self.find_direction(None, new=turn == 0)
            self.search_by_tree(new=turn == 0)
            self.move_trees()
            self._count_iteration()
            for tree in self.each_tree():
                self.moved[tree] = self.live[tree]
                self.live[tree] = k.select(k.abs(self.distance[tree]) > 0.0, self.live[tree], 0.0)
        self._leave_iterations()

    def _clear_iterations(self) -> None:
        """None were made yet."""
        if self.counts.wanted:
            for tree in self.each_tree():
                self.iterations[tree] = 0.0

    def _count_iteration(self) -> None:
        """One more of the islands that have gone somewhere."""
        if self.counts.wanted:
            for tree in self.each_tree():
                self.iterations[tree] += moves(self.k, self.distance[tree])

    def _leave_iterations(self) -> None:
        """The counts of islands, for who is to read them."""
        if self.counts.wanted:
            self.islands.in_order(self.iterations, self.counts.field)

    def _gains(self, tree: Any) -> Any:
        """Whether the last move of a tree's island has saved enough."""
        saved = self.tree_cost[tree] - self._cost_of(tree)
        if self.k.precision == "f32":  # that would be noise
            saved = self.gain[tree]
        return self.scale[tree] * saved >= self.k.model.opt.tolerance

    def _cost_of(self, tree: Any) -> Any:
        """Of a tree's island where it is now, summed up in the order of `_take_samples`, so that a distance of zero
        costs the same."""
        return self.islands.sums[tree, INERTIAL] + self.islands.sums[tree, ROWS]

    def _is_steep(self, tree: Any) -> Any:
        steepness = self.k.sqrt(self.islands.sums[tree, STEEPNESS])
        steep = self.scale[tree] * steepness >= self.k.model.opt.tolerance
        return steep & ~self._is_noise_of(tree) if self.k.precision == "f32" else steep

    def _keep_live_trees(self) -> None:
        """Drop trees whose islands have converged in all worlds: they go nowhere, though some of their rows may
        stay."""
        k, kept = self.k, self.k.local(0)
        for tree in self.each_tree():
            with k.when(k.any(self.live[tree] > 0.0)):
                self.tree_list[kept.value] = tree
                kept += 1
            with k.otherwise():
                self.distance[tree] = 0.0
        self.trees_listed[0] = kept.value

    # ---- gradient

    def find_gradients(self) -> None:
        """Write gradient and, where islands have moved, qfrc_constraint; sum up the cost and the squares of the
        gradient."""
        k, m, d, sums = self.k, self.k.model, self.k.data, self.islands.sums
        for tree in self.each_tree():
            sums[tree, ROWS] = 0.0
        if self.body_rows.kinds:
            self._pull_bodies()
        force = self._vector("force")
        for dof in self.each_dof():
            force[dof] = dot(d.cdof[dof], self.body_force[m.dof_bodyid[dof]]) if self.body_rows.kinds else 0.0
        for row, cost in self.each_row_by_kind():
            here = cost.at(self.row_z[NOW, row])
            sums[self.tree_of(1, row), ROWS] += here.cost
            with k.loop(0, self.rows.column("nnz", row)) as n:
                force[self.rows.dof(row, n)] += self.rows.coefficient[row, n] * here.force
        for tree in self.each_tree():
            steepness, gauss, parts, gain = (k.local(0.0) for _ in range(4))
            for dof in self.each_dof_of(tree):
                gauss += self.gauss_of(dof)
                d.qfrc_constraint[dof] = k.select(self.moved[tree] > 0.0, force[dof], d.qfrc_constraint[dof])
                slope = self.Ma[dof] - d.qfrc_smooth[dof] - d.qfrc_constraint[dof]
                self.gradient[dof] = slope
                steepness += slope * slope
                if k.precision == "f32":
                    for part in (self.Ma[dof], d.qfrc_smooth[dof], d.qfrc_constraint[dof]):
                        parts += part * part
                    gain += slope * slope / d.M[m.M_rowadr[dof] + m.M_rownnz[dof] - 1]
            sums[tree, STEEPNESS], sums[tree, INERTIAL] = steepness.value, gauss.value
            sums[tree, PARTS], sums[tree, GAIN] = parts.value, gain.value
        self.islands.total(5 if k.precision == "f32" else 3)

    def _is_noise_of(self, tree: Any) -> Any:
        """`Newton.is_noise` for the island of a tree."""
        sums, m = self.islands.sums, self.k.model
        small = sums[tree, STEEPNESS] <= GRADIENT_NOISE * GRADIENT_NOISE * sums[tree, PARTS]
        return small & (0.5 * self.scale[tree] * sums[tree, GAIN] < m.opt.tolerance)

    def mass_times(self, x: Any, result: LaneField) -> None:
        """Of the listed trees."""
        self._mass_times_by_rows(x, result)

    def _pull_bodies(self) -> None:
        """Wrench of the bonds on every body, and on all of its tree that it carries; what the bonds cost is added to
        the sums."""
        k, m, pull = self.k, self.k.model, self.body_force
        for body in self.each_body():
            pull[body] = 0.0
        force = k.scratch("bond_force", LARGEST_DIM)
        for bond in self.each_bond_by_kind():
            self.pull_ends(bond, force)
            cost = bond_cost(bond, self.values(bond.index, NOW))
            self.islands.sums[self.tree_of(0, bond.index), ROWS] += cost
        for body in self.each_body(reverse=True):
            parent = m.body_parentid[body]
            with k.when(m.body_treeid[parent] >= 0):
                pull[parent] += pull[body]

    # ---- line search

    def search_by_tree(self, new: Any) -> None:
        """How far each island goes in the direction, 0 where it has converged; and how much cost that should save.
        The search is `Newton.search` for each island."""
        k, m = self.k, self.k.model
        self.mass_times(lambda dof: self.direction[dof], self.Mv)
        self.find_rates()
        self._sum_directions()
        for tree in self.each_tree():
            sums = self._direction_sums[tree]
            norm = k.sqrt(sums[LENGTH])
            self._of_trees("flat")[tree] = m.opt.tolerance * m.opt.ls_tolerance * norm / self.scale[tree]
            self._search_of(tree).begin(
                k.select(goes_anywhere(k, norm), self.live[tree], 0.0),
                evaluated=new if self.follows_curvature else True,
                cost=self.tree_cost[tree],
                descent=sums[DESCENT],
            )
        with k.loop(0, m.opt.ls_iterations + MOST_OVER):
            found = k.local(0)
            for tree in self.each_tree():
                with k.when(k.any(self._search_of(tree).searching)):
                    found += 1
            k.leave_when(found.value == 0)
            self._take_samples()
        for tree in self.each_tree():
            self.distance[tree] = self._search_of(tree).numbers["found.at"]
            if k.precision == "f32":
                self.gain[tree] = 0.5 * self.distance[tree] * self._direction_sums[tree, DESCENT]

    def _search_of(self, tree: Any) -> LineSearch:
        return LineSearch(self.k, Row(self.k.scratch("tree_search", self.islands.count, len(NAMES)), tree))

    @property
    def _direction_sums(self) -> LaneField:
        return self.k.scratch("direction_sums", self.islands.count, MOST_SUMS)

    def _sum_directions(self) -> None:
        """Sums over the direction of each island."""
        k, d, sums = self.k, self.k.data, self.islands.sums
        for tree in self.each_tree():
            gauss, linear, square, descent, length = (k.local(0.0) for _ in range(MOST_SUMS))
            for dof in self.each_dof_of(tree):
                v = self.direction[dof]
                gauss += self.gauss_of(dof)
                linear += v * (self.Ma[dof] - d.qfrc_smooth[dof])
                square += v * self.Mv[dof]
                descent -= v * self.gradient[dof]
                length += v * v
            for place, total in zip(
                (GAUSS, LINEAR, SQUARE, DESCENT, LENGTH),
                (gauss, linear, square, descent, length),
                strict=True,
            ):
                sums[tree, place] = total.value
        self.islands.total(MOST_SUMS)
        for tree in self.each_tree():
            self._direction_sums[tree] = sums[tree]

    def _take_samples(self) -> None:
        """Each island's cost along the direction, where its search is, and on from there."""
        k, sums, count = self.k, self.islands.sums, numbers_on_line(self.body_rows)
        for tree in self.each_tree():
            for place in range(count):
                sums[tree, place] = 0.0

        def add(tree: Any, part: OnLine) -> None:
            for place in range(count):
                sums[tree, place] += part[place]

        for bond in self.each_bond_by_kind():
            tree, n = self.tree_of(0, bond.index), bond.index
            search = self._search_of(tree)
            with k.when(k.any(search.searching)):
                add(tree, on_line(bond, self.values(n, NOW), self.values(n, RATE), search.at))
        for row, cost in self.each_row_by_kind():
            tree = self.tree_of(1, row)
            at = self._search_of(tree).at
            add(tree, cost.on_line(self.row_z[NOW, row], self.row_z[RATE, row], at))
        self.islands.total(count)
        for tree in self.each_tree():
            search = self._search_of(tree)
            with k.when(k.any(search.searching)):
                at = k.local(search.at)
                gauss, linear, square, *_ = self._direction_sums[tree]
                flat = k.max(self._of_trees("flat")[tree], noise(k, linear, square, at.value))
                smooth = OnLine(gauss, linear, 0.5 * square)
                here = OnLine(*(smooth[place] + sums[tree, place] for place in range(count))).at(at.value)
                search.advance(search.sample(*here), flat, k.model.opt.ls_iterations)

    def move_trees(self) -> None:
        """Go along the direction."""
        d, distance = self.k.data, self.distance
        for tree in self.each_tree():
            far = self.k.local(distance[tree])
            for dof in self.each_dof_of(tree):
                d.qacc[dof] += far.value * self.direction[dof]
                self.Ma[dof] += far.value * self.Mv[dof]
        for bond in self.each_bond():
            far = self.k.local(distance[self.tree_of(0, bond)])
            for row in self.body_rows.each_base_row(bond):
                self.bond_z[NOW, bond, row] += far.value * self.bond_z[RATE, bond, row]
        for item in self.each_row():
            self.row_z[NOW, item] += distance[self.tree_of(1, item)] * self.row_z[RATE, item]


class NewtonByIsland(ByIsland):
    """Newton's method for many trees."""

    @property
    def shares_matrix(self) -> bool:
        return self.hessian.fills and not isinstance(self.hessian, SparseHessian)

    def find_direction(self, live: Any, *, new: Any) -> None:
        """direction = −H⁻¹·gradient; 0 in islands that have converged."""
        k, H = self.k, self.hessian
        self.find_changes(live, new)
        self.assemble(new)
        H.factor()
        with k.loop(0, k.model.nv) as dof:
            self.direction[dof] = 0.0
        for dof in self.each_dof():
            self.direction[dof] = -self.gradient[dof]
        H.solve(self.direction)
        for tree in self.each_tree():
            for dof in self.each_dof_of(tree):
                self.direction[dof] = k.select(self.live[tree] > 0.0, self.direction[dof], 0.0)


class ConjugateGradientsByIsland(ByIsland, ConjugateGradients):
    """Conjugate gradients for many trees."""

    def find_direction(self, live: Any, *, new: Any) -> None:
        """The preconditioned gradient and a share of the last direction; 0 in islands that have converged."""
        k, sums = self.k, self.islands.sums
        steepness = self._of_trees("steepness")
        for dof in self.each_dof():
            self.condition(dof)
        solve(k, k.data.qLD, k.data.qLDiagInv, self.conditioned)
        for tree in self.each_tree():
            along, gained = k.local(0.0), k.local(0.0)
            for dof in self.each_dof_of(tree):
                along += self.gradient[dof] * self.conditioned[dof]
                gained += self.gradient[dof] * (self.conditioned[dof] - self.conditioned_before[dof])
            sums[tree, 0], sums[tree, 1] = along.value, gained.value
        self.islands.total(2)
        for tree in self.each_tree():
            share = k.local(self.share(sums[tree, 1], steepness[tree]))
            for dof in self.each_dof_of(tree):
                kept = k.select(new, 0.0, share.value * self.direction[dof])
                self.direction[dof] = k.select(self.live[tree] > 0.0, kept - self.conditioned[dof], 0.0)
            steepness[tree] = sums[tree, 0]
