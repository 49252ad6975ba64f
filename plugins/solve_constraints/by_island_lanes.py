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
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.ldl_lanes import solve
from dovetail.plugins.shared.rows.rows_lanes import LARGEST_DIM
from dovetail.plugins.shared.solver.row_costs_lanes import bond_cost, slope_and_curvature
from dovetail.plugins.shared.vectors_lanes import dot
from dovetail.plugins.solve_constraints.cg_lanes import ConjugateGradients
from dovetail.plugins.solve_constraints.islands_lanes import Islands, whole
from dovetail.plugins.solve_constraints.newton_lanes import (
    FARTHEST,
    GRADIENT_NOISE,
    LARGEST_STRIDE,
    LAST,
    NEAR,
    NOW,
    RATE,
    ROUNDING,
    SMOOTH,
    Newton,
)
from dovetail.plugins.solve_constraints.sparse_hessian_lanes import SparseHessian

SLOPE, CURVATURE = 0, 1
"""Places of sums along the line."""

STEEPNESS, PARTS, GAIN = range(3)
"""Places of sums over a gradient: its square, that of its parts, and what it could gain."""

LINEAR, SQUARE, DESCENT, LENGTH = range(4)
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
        """About how much cost that saves."""
        return self._of_trees("gain")

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
        """As for one problem; but trees without rows are not moved from their smooth acceleration."""
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
        with k.loop(0, m.opt.iterations + 1) as turn:
            self.find_gradients()
            for tree in self.each_tree():
                steepness = k.sqrt(self.islands.sums[tree, STEEPNESS])
                flat = self.scale[tree] * steepness < m.opt.tolerance
                if k.precision == "f32":
                    flat |= self._is_noise_of(tree)
                going = k.select(flat, 0.0, self.live[tree])
                going = k.select(turn == 0, self.live[tree], going)
                self.live[tree] = k.select(turn == m.opt.iterations, 0.0, going)
            self._keep_live_trees()
            k.leave_when(self.trees_listed[0] == 0)
            self.keep_listed(None)
            self.find_direction(None, new=turn == 0)
            self.search_by_tree()
            self.move_trees()
            for tree in self.each_tree():
                self.moved[tree] = self.live[tree]
                gains = self.scale[tree] * self.gain[tree] < m.opt.tolerance
                self.live[tree] = k.select(gains, 0.0, self.live[tree])

    def _keep_live_trees(self) -> None:
        """Drop trees whose islands have converged in all worlds."""
        k, kept = self.k, self.k.local(0)
        for tree in self.each_tree():
            with k.when(k.any(self.live[tree] > 0.0)):
                self.tree_list[kept.value] = tree
                kept += 1
        self.trees_listed[0] = kept.value

    # ---- gradient

    def find_gradients(self) -> None:
        """Write gradient and, where islands have moved, qfrc_constraint; sum up the squares of the gradient."""
        k, m, d, sums = self.k, self.k.model, self.k.data, self.islands.sums
        if self.body_rows.kinds:
            self.pull_bodies()
        force = self._vector("force")
        for dof in self.each_dof():
            force[dof] = dot(d.cdof[dof], self.body_force[m.dof_bodyid[dof]]) if self.body_rows.kinds else 0.0
        for row, cost in self.each_row_by_kind():
            push = cost(self.row_z[NOW, row]).force
            with k.loop(0, self.rows.column("nnz", row)) as n:
                force[self.rows.dof(row, n)] += self.rows.coefficient[row, n] * push
        for tree in self.each_tree():
            steepness, parts, gain = k.local(0.0), k.local(0.0), k.local(0.0)
            for dof in self.each_dof_of(tree):
                d.qfrc_constraint[dof] = k.select(self.moved[tree] > 0.0, force[dof], d.qfrc_constraint[dof])
                slope = self.Ma[dof] - d.qfrc_smooth[dof] - d.qfrc_constraint[dof]
                self.gradient[dof] = slope
                steepness += slope * slope
                if k.precision == "f32":
                    for part in (self.Ma[dof], d.qfrc_smooth[dof], d.qfrc_constraint[dof]):
                        parts += part * part
                    gain += slope * slope / d.M[m.M_rowadr[dof] + m.M_rownnz[dof] - 1]
            sums[tree, STEEPNESS] = steepness.value
            sums[tree, PARTS], sums[tree, GAIN] = parts.value, gain.value
        self.islands.total(3 if k.precision == "f32" else 1)

    def _is_noise_of(self, tree: Any) -> Any:
        """`Newton.is_noise` for the island of a tree."""
        sums, m = self.islands.sums, self.k.model
        small = sums[tree, STEEPNESS] <= GRADIENT_NOISE * GRADIENT_NOISE * sums[tree, PARTS]
        return small & (0.5 * self.scale[tree] * sums[tree, GAIN] < m.opt.tolerance)

    def mass_times(self, x: Any, result: LaneField) -> None:
        """Of the listed trees."""
        self._mass_times_by_rows(x, result)

    def pull_bodies(self) -> None:
        """Wrench of the bonds on every body, and on all of its tree that it carries."""
        k, m, pull = self.k, self.k.model, self.body_force
        for body in self.each_body():
            pull[body] = 0.0
        force = k.scratch("bond_force", LARGEST_DIM)
        for bond in self.each_bond_by_kind():
            self.pull_ends(bond, force)
        for body in self.each_body(reverse=True):
            parent = m.body_parentid[body]
            with k.when(m.body_treeid[parent] >= 0):
                pull[parent] += pull[body]

    # ---- line search

    def search_by_tree(self) -> None:
        """How far each island goes in the direction, 0 where it has converged; and about how much cost that saves.
        The search is `Newton.search` for each island."""
        k, m = self.k, self.k.model
        self.mass_times(lambda dof: self.direction[dof], self.Mv)
        self.find_rates()
        self._sum_directions()
        with k.loop(0, m.opt.ls_iterations):
            self._find_slopes()
            self._narrow()
            found = k.local(0)
            for tree in self.each_tree():
                with k.when(k.any(self._of_trees("searching")[tree] > 0.0)):
                    found += 1
            k.leave_when(found.value == 0)
        low, searching = self._of_trees("low"), self._of_trees("searching")
        for tree in self.each_tree():  # where the slope would not vanish, as far as it is known to lead down
            reached = k.select(searching[tree] > 0.0, low[tree], self._of_trees("at")[tree])
            self.distance[tree] = k.select(self.live[tree] > 0.0, reached, 0.0)
            self.gain[tree] = 0.5 * self.distance[tree] * self._direction_sums[tree, DESCENT]

    @property
    def _direction_sums(self) -> LaneField:
        return self.k.scratch("direction_sums", self.islands.count, 4)

    def _sum_directions(self) -> None:
        """Sums over the direction of each island, and where its line search begins."""
        k, m, d, sums = self.k, self.k.model, self.k.data, self.islands.sums
        for tree in self.each_tree():
            linear, square, descent, length = (k.local(0.0) for _ in range(4))
            for dof in self.each_dof_of(tree):
                v = self.direction[dof]
                linear += v * (self.Ma[dof] - d.qfrc_smooth[dof])
                square += v * self.Mv[dof]
                descent -= v * self.gradient[dof]
                length += v * v
            sums[tree, LINEAR], sums[tree, SQUARE] = linear.value, square.value
            sums[tree, DESCENT], sums[tree, LENGTH] = descent.value, length.value
        self.islands.total(4)
        for tree in self.each_tree():
            self._direction_sums[tree] = sums[tree]
            accuracy = m.opt.tolerance * m.opt.ls_tolerance * k.sqrt(sums[tree, LENGTH])
            self._of_trees("flat")[tree] = accuracy / self.scale[tree]
            self._of_trees("at")[tree] = self.first_distance
            self._of_trees("low")[tree] = 0.0
            self._of_trees("high")[tree] = FARTHEST
            self._of_trees("searching")[tree] = self.live[tree]

    def _find_slopes(self) -> None:
        """First and second derivative of each island's cost along the direction, where its search is."""
        k, sums, at = self.k, self.islands.sums, self._of_trees("at")
        searching = self._of_trees("searching")
        for tree in self.each_tree():
            sums[tree, SLOPE], sums[tree, CURVATURE] = 0.0, 0.0

        def add(tree: Any, slope: Any, curvature: Any) -> None:
            sums[tree, SLOPE] += slope
            sums[tree, CURVATURE] += curvature

        for bond in self.each_bond_by_kind():
            tree = self.tree_of(0, bond.index)
            with k.when(k.any(searching[tree] > 0.0)):
                ahead, rate = self.values_ahead(bond.index, at[tree]), self.values(bond.index, RATE)
                add(tree, *slope_and_curvature(bond, ahead, rate))
        for row, cost in self.each_row_by_kind():
            tree, change = self.tree_of(1, row), self.row_z[RATE, row]
            here = cost(self.row_z[NOW, row] + at[tree] * change)
            add(tree, -here.force * change, here.weight * change * change)
        self.islands.total(2)

    def _narrow(self) -> None:
        """A Newton step on every slope, kept between points where it is known to be negative and positive."""
        k, rounding = self.k, ROUNDING[self.k.precision]
        at_of, searching_of, low_of, high_of = (
            self._of_trees(name) for name in ("at", "searching", "low", "high")
        )
        for tree in self.each_tree():
            at, sums = at_of[tree], self._direction_sums[tree]
            linear, square = sums[LINEAR], sums[SQUARE]
            slope = linear + at * square + self.islands.sums[tree, SLOPE]
            curvature = square + self.islands.sums[tree, CURVATURE]
            noise = rounding * (k.abs(linear) + at * square)
            flat = k.abs(slope) < k.max(self._of_trees("flat")[tree], noise)
            searching = k.select(flat, 0.0, searching_of[tree])
            low, high = k.select(slope < 0.0, at, low_of[tree]), k.select(slope > 0.0, at, high_of[tree])
            newton = at - slope / curvature
            inside, middle = (newton > low) & (newton < high), 0.5 * (low + high)
            if k.precision == "f32":
                inside |= k.abs(newton - at) <= rounding * at
                middle = k.min(middle, LARGEST_STRIDE * at)
            target = k.select(searching > 0.0, k.select(inside, newton, middle), at)
            near = k.abs(target - at) <= NEAR[k.precision] * at
            at_of[tree], low_of[tree], high_of[tree] = target, low, high
            searching_of[tree] = k.select(near, 0.0, searching)

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
        k, d, sums = self.k, self.k.data, self.islands.sums
        steepness = self._of_trees("steepness")
        for tree in self.each_tree():
            across = k.local(0.0)
            for dof in self.each_dof_of(tree):
                across += self.gradient[dof] * self.conditioned[dof]
                self.conditioned[dof] = self.gradient[dof]
            sums[tree, 0] = across.value
        solve(k, d.qLD, d.qLDiagInv, self.conditioned)
        for tree in self.each_tree():
            along = k.local(0.0)
            for dof in self.each_dof_of(tree):
                along += self.gradient[dof] * self.conditioned[dof]
            sums[tree, 1] = along.value
        self.islands.total(2)
        for tree in self.each_tree():
            across, along = sums[tree, 0], sums[tree, 1]
            share = k.local(k.max((along - across) / k.max(steepness[tree], MINVAL), 0.0))
            for dof in self.each_dof_of(tree):
                kept = k.select(new, 0.0, share.value * self.direction[dof])
                self.direction[dof] = k.select(self.live[tree] > 0.0, kept - self.conditioned[dof], 0.0)
            steepness[tree] = along

    def search_by_tree(self) -> None:
        """In double precision the saved cost is computed; the difference of two costs in single would be noise."""
        super().search_by_tree()
        if self.k.precision == "f32":
            return
        sums = self.islands.sums
        self._sum_changes(sums)
        self.islands.total(1)
        for tree in self.each_tree():
            self.gain[tree] = -sums[tree, 0]

    def _sum_changes(self, sums: LaneField) -> None:
        """By how much the cost of each island rises over its distance in the direction."""
        d = self.k.data
        for tree in self.each_tree():
            change, distance = self.k.local(0.0), self.k.local(self.distance[tree])
            for dof in self.each_dof_of(tree):
                ahead = self.Ma[dof] - d.qfrc_smooth[dof] + 0.5 * distance.value * self.Mv[dof]
                change += distance.value * self.direction[dof] * ahead
            sums[tree, 0] = change.value
        for bond in self.each_bond_by_kind():
            tree = self.tree_of(0, bond.index)
            ahead = bond_cost(bond, self.values_ahead(bond.index, self.distance[tree]))
            sums[tree, 0] += ahead - bond_cost(bond, self.values(bond.index, NOW))
        for row, cost in self.each_row_by_kind():
            tree, z = self.tree_of(1, row), self.row_z[NOW, row]
            sums[tree, 0] += cost(z + self.distance[tree] * self.row_z[RATE, row]).cost - cost(z).cost
