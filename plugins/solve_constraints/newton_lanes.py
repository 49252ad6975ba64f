"""Newton's method in lanes, matrix-free: J is never stored, whereas `newton_numpy` assembles M + Jᵀ·W·J from it.

Each step goes where the quadratic model of the cost has its minimum, with an exact line search. With a₀ =
qacc_smooth, the acceleration a under constraints minimises ½·(a − a₀)ᵀ·M·(a − a₀) + s(J·a − aref), s being the cost
of the constraint rows (`row_costs_lanes`). Here all rows of a world are one problem: that of a model with one tree,
or with islands switched off; `by_island_lanes` has the others. Products with J are passes over the
bodies: accelerations down the tree, wrenches up (`rows_lanes`). The worlds of a tile iterate together; one that has
converged stands still, bit for bit, while others go on. Compare mj_solNewton and mj_solPrimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField, Variable, select
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.rows.rows_lanes import (
    ELLIPTIC,
    LARGEST_DIM,
    PYRAMID,
    SPREAD,
    BodyRows,
    DofRows,
)
from dovetail.plugins.shared.solver.iterations_lanes import Iterations
from dovetail.plugins.shared.solver.row_costs_lanes import (
    DOF_ROWS,
    Bond,
    DofRow,
    OnLine,
    bond_cost,
    numbers_on_line,
    on_line,
    write_force,
    write_weight,
)
from dovetail.plugins.shared.solver.warm_start_lanes import is_broken, spoilt_by_last
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import dot
from dovetail.plugins.solve_constraints.hessian_lanes import (
    PATTERN,
    Hessian,
    apart,
    each_dof_above,
    has_ends,
    last_dof,
    tie_of,
)
from dovetail.plugins.solve_constraints.islands_lanes import whole
from dovetail.plugins.solve_constraints.line_search_lanes import (
    MOST_OVER,
    LineSearch,
    Variables,
    goes_anywhere,
    noise,
)
from dovetail.plugins.solve_constraints.sparse_hessian_lanes import SparseHessian, has_many_trees

GRADIENT_NOISE = 1e-6
"""Lengths of the gradient, relative to those of its parts, that are mere noise in single precision."""

NOW, RATE = 0, 1
"""Index of `z`: the rows' values at the current point; how they change along the search direction."""

LAST, SMOOTH = 0, 1
"""Index of the accelerations to start from, and of their `z`."""


def solve_constraints(k: Kernel) -> None:
    """Write qacc and qfrc_constraint."""
    from dovetail.plugins.solve_constraints.by_island_lanes import NewtonByIsland

    Iterations(k).clear()
    if k.model.nv:
        method = NewtonByIsland if k.model.ntree > 1 else Newton
        method(k, BodyRows(k), DofRows(k)).run()


@attrs.define(eq=False)
class Newton:
    """One tile's problem."""

    k: Kernel
    body_rows: BodyRows
    rows: DofRows

    follows_curvature = True
    """Whether directions are Newton's own, so that the curvature along them is known."""

    # ---- memory

    def _vector(self, name: str) -> LaneField:
        return self.k.scratch(name, self.k.model.nv)

    @property
    def Ma(self) -> LaneField:
        """M·qacc."""
        return self._vector("Ma")

    @property
    def gradient(self) -> LaneField:
        return self._vector("gradient")

    @property
    def direction(self) -> LaneField:
        return self._vector("direction")

    @property
    def Mv(self) -> LaneField:
        """M·direction."""
        return self._vector("Mv")

    @property
    def bond_z(self) -> LaneField:
        return self.k.scratch("bond_z", 2, self.body_rows.room, LARGEST_DIM)

    @property
    def row_z(self) -> LaneField:
        return self.k.scratch("row_z", 2, max(1, self.rows.count))

    @property
    def bond_list(self) -> IntegerField:
        """Bonds that a world of the tile which has not converged has."""
        return self.k.integers("bond_list", self.body_rows.room)

    @property
    def row_list(self) -> IntegerField:
        return self.k.integers("row_list", max(1, self.rows.count))

    @property
    def listed(self) -> IntegerField:
        """Lengths of the two lists."""
        return self.k.integers("listed", 2)

    def body_motion(self, n: int = 0) -> LaneField:
        return self.k.scratch(f"body_motion_{n}", self.k.model.nbody, 6)

    @property
    def body_force(self) -> LaneField:
        return self.k.scratch("body_force", self.k.model.nbody, 6)

    @cached_property
    def hessian(self) -> Hessian:
        fills = self.body_rows.couples or self.rows.fills
        if fills and has_many_trees(self.k.frozen_model):
            return SparseHessian(self.k, self.body_rows, fills, self.rows)
        return Hessian(self.k, self.body_rows, fills)

    @property
    def weight(self) -> LaneField:
        """Second derivatives of the bonds' costs."""
        return self.k.scratch("bond_weight", self.body_rows.room, LARGEST_DIM, LARGEST_DIM)

    @property
    def row_weight(self) -> LaneField:
        return self.k.scratch("row_weight", max(1, self.rows.count))

    @property
    def counts(self) -> Iterations:
        """What the kernel tells of the iterations."""
        return Iterations(self.k)

    # ---- the method

    def run(self) -> None:
        k, d = self.k, self.k.data
        has_rows = self.list_rows()
        with k.when(self.listed[0] + self.listed[1] == 0), k.loop(0, k.model.nv) as dof:
            d.qacc[dof] = d.qacc_smooth[dof]
            d.qfrc_constraint[dof] = 0.0
        with k.otherwise():
            self.find_pattern()
            self.start(has_rows)
            self.iterate(has_rows)
        self.k.group("dual").known[0] = 0  # there are no forces by item
        self.write_bond_forces()
        self.write_row_forces()

    def iterate(self, has_rows: Any) -> None:
        """Descend until no world gains."""
        k, m = self.k, self.k.model
        scale = self.scale_of_all()
        live = k.local(has_rows)
        moved = k.local(1.0 + 0.0 * has_rows)
        before, expected = k.local(0.0), k.local(0.0)
        with k.loop(0, m.opt.iterations + 1) as turn:
            steepness, cost = self.find_gradient(moved.value)
            gain = expected.value if k.precision == "f32" else before.value - cost
            going = (scale * gain >= m.opt.tolerance) & (scale * k.sqrt(steepness) >= m.opt.tolerance)
            if k.precision == "f32":
                going &= ~self.is_noise(steepness, scale)
            live.set(k.select(turn == 0, live.value, k.select(going, live.value, 0.0)))
            live.set(k.select(turn == m.opt.iterations, 0.0, live.value))
            k.leave_when(~k.any(live.value > 0.0))
            with k.when(k.any(moved.value > live.value)):
                self.keep_listed(live.value)
            before.set(cost)
            self.find_direction(live.value, new=turn == 0)
            distance, descent = self.search(live.value, scale, cost)
            self.move(distance)
            expected.set(0.5 * distance * descent)
            moved.set(live.value)
            self.counts.add_move(distance)
            live.set(k.select(k.abs(distance) > 0.0, live.value, 0.0))

    def scale_of_all(self) -> Any:
        """What gain and gradient are multiplied by before they are compared with the tolerance: one over the sum of
        the diagonal of M, as all dofs are one island here; or a constant if islands are switched off."""
        k, m, total = self.k, self.k.model, self.k.local(0.0)
        with k.loop(0, m.nv) as dof:
            total += k.data.M[m.M_rowadr[dof] + m.M_rownnz[dof] - 1]
        common = 1.0 / (m.stat.meaninertia * float(max(1, m.nv)))
        return k.select(whole(k), common, 1.0 / total.value)

    # ---- lists

    def list_rows(self) -> Any:
        """List the rows that any world has; returns 1 in the worlds that have one."""
        k = self.k
        has_rows = k.local(0.0)
        for place, (items, count, weight) in enumerate(self._row_kinds()):
            found = k.local(0)
            with k.loop(0, count) as item:
                D = weight(item)
                with k.when(k.any(D > 0.0)):
                    items[found.value] = item
                    found += 1
                    has_rows.set(k.max(has_rows.value, k.select(D > 0.0, 1.0, 0.0)))
            self.listed[place] = found.value
        return has_rows.value

    def _row_kinds(self) -> list[tuple[IntegerField, Any, Callable[[Any], Any]]]:
        """Lists of bonds and of dof rows, how many there are at most, and the weight of one."""
        return [
            (
                self.bond_list,
                self.body_rows.count if self.body_rows.kinds else 0,
                lambda n: self.body_rows.D[n, 0],
            ),
            (self.row_list, self.rows.count, lambda n: self.rows.D[n]),
        ]

    def live_of(self, live: Any, kind: int, item: Any) -> Any:
        """Where a bond or a dof row (kinds 0 and 1) belongs to what has not converged."""
        return live

    def renewed(self, live: Any, kind: int, item: Any, new: Any) -> Any:
        """Mask of where the weights of a bond or row are written; None: everywhere."""
        return None

    def is_needed(self, live: Any, kind: int, item: Any, weight: Any) -> Any:
        """Whether a bond or a dof row, of some weight, stays listed."""
        return self.k.any(weight * self.live_of(live, kind, item) > 0.0)

    def keep_listed(self, live: Any) -> None:
        """Drop rows that only worlds which have converged have."""
        k = self.k
        for place, (items, _, weight) in enumerate(self._row_kinds()):
            kept = k.local(0)
            with k.loop(0, self.listed[place]) as n:
                item = items[n]
                with k.when(self.is_needed(live, place, item, weight(item))):
                    items[kept.value] = item
                    kept += 1
            self.listed[place] = kept.value

    @walk
    def each_bond(self) -> Iterator[Any]:
        """`for bond in …:` runs its body for every listed bond, at run time."""
        if self.body_rows.kinds:
            with self.k.loop(0, self.listed[0]) as n:
                yield self.bond_list[n]

    @walk
    def each_bond_by_kind(self) -> Iterator[Bond]:
        """The same, with the body written out for every kind of bond."""
        for bond in self.each_bond():
            for kind in self.body_rows.each_kind(bond):
                yield Bond(self.k, self.body_rows, bond, kind)

    @walk
    def each_row(self) -> Iterator[Any]:
        """`for row in …:` runs its body for every listed dof row."""
        if self.rows.count:
            with self.k.loop(0, self.listed[1]) as n:
                yield self.row_list[n]

    @walk
    def each_row_by_kind(self) -> Iterator[tuple[Any, DofRow]]:
        """The same with the row's cost, and the body written out for every kind of dof row."""
        for row in self.each_row():
            for cost in self._each_kind_of_row(row):
                yield row, cost

    @walk
    def _each_kind_of_row(self, row: Any) -> Iterator[DofRow]:
        """`for cost in …:` runs its body, at run time, for the kind that this row is of."""
        rows = self.rows
        bounds = (0, rows.first("frictionloss_dofs"), rows.first("scalar_limits"), rows.count)
        for n, kind in enumerate(DOF_ROWS):
            if bounds[n] == bounds[n + 1]:
                continue
            loss = rows.loss[row] if kind == "friction" else 0.0
            if (bounds[n], bounds[n + 1]) == (0, rows.count):
                yield DofRow(self.k, rows.D[row], loss, kind)
            else:
                with self.k.when((row >= bounds[n]) & (row < bounds[n + 1])):
                    yield DofRow(self.k, rows.D[row], loss, kind)

    # ---- pattern

    def find_pattern(self) -> None:
        """Where the tile's Hessian has entries. It stays as it is if the same bodies are tied together as before."""
        if not self.hessian.fills:
            return
        k, H, body_rows, rows = self.k, self.hessian, self.body_rows, self.rows
        if isinstance(H, SparseHessian):
            H.find_pattern(self._each_coupled_bond, self._each_filling_row)
            return
        known = k.integers("known_ties", self.body_rows.room + max(1, rows.count), memo=PATTERN)
        found, same = k.local(0), k.local(1)

        def compare(tie: Any) -> None:
            with k.when(known[found.value] != tie):
                same.set(0)
                known[found.value] = tie
            found.set(found.value + 1)

        for bond in self._each_coupled_bond():
            compare(tie_of(body_rows, bond))
        for row in self._each_filling_row():
            compare(-row)
        state = self.pattern_state
        with k.when((same.value == 0) | (state[0] != found.value + 1)):
            state[0] = found.value + 1
            state[1] = 0
            H.start_pattern()
            for bond in self._each_coupled_bond():
                with k.when(body_rows.far[bond] > 0):
                    self._connect_bond(body_rows.near[bond], body_rows.far[bond])
                if body_rows.spreads:
                    with k.when(body_rows.far[bond] == SPREAD):
                        self._connect_spread(bond)
            for row in self._each_filling_row():
                state[1] = 1
                with k.loop(1, rows.column("nnz", row)) as place:
                    H.connect(rows.dof(row, 0), rows.dof(row, place))
            H.finish_pattern()
            if H.may_lack_room:
                with k.when(~H.fits):
                    state[0] = 0

    @property
    def pattern_state(self) -> IntegerField:
        """One more than the ties of the present pattern (0: there is none yet), and whether it has fill."""
        return self.k.integers("pattern_state", 2, memo=PATTERN)

    @walk
    def _each_coupled_bond(self) -> Iterator[Any]:
        if self.body_rows.couples:
            for bond in self.each_bond():
                with self.k.when(self.body_rows.far[bond] != 0):
                    yield bond

    @walk
    def _each_filling_row(self) -> Iterator[Any]:
        if self.rows.fills:
            for row in self.each_row():
                with self.k.when(self.rows.column("fills", row) > 0):
                    yield row

    def _connect_bond(self, near: Any, far: Any) -> None:
        """Connect the last dof with all others that the bond's bodies do not share."""
        k, H = self.k, self.hessian
        top, sides = k.local(-1), k.local(0)

        def visit(dof: Any, side: int) -> None:
            with k.when(top.value < 0):
                top.set(dof)
            with k.otherwise():
                H.connect(top.value, dof)
            with k.when(sides.value == 3 - side):  # the other body's side has been visited, too
                self.pattern_state[1] = 1
            sides.set(side)

        apart(k, (near, far), lambda dof: visit(dof, 1), lambda dof: visit(dof, 2))

    def _connect_spread(self, bond: Any) -> None:
        """Connect the last dof of a spread bond with all others that move one of its bodies."""
        k, H = self.k, self.hessian
        top = k.local(-1)
        for _, body in self.body_rows.each_spread_end(bond):
            top.set(k.max(top.value, last_dof(k, body)))
        self.pattern_state[1] = 1
        for _, body in self.body_rows.each_spread_end(bond):
            for dof in each_dof_above(k, body):
                with k.when(dof != top.value):
                    H.connect(top.value, dof)

    # ---- products

    @walk
    def each_dof(self) -> Iterator[Any]:
        """`for dof in …:` runs its body, at run time, for every dof, ascending."""
        with self.k.loop(0, self.k.model.nv) as dof:
            yield dof

    @walk
    def each_body(self) -> Iterator[Any]:
        """`for body in …:` runs its body for every body that may move, ascending."""
        with self.k.loop(1, self.k.model.nbody) as body:
            yield body

    def mass_times(self, x: Any, result: LaneField) -> None:
        """result = M·x; x(dof) gives the numbers of the vector."""
        k, H = self.k, self.hessian
        if not H.whole:
            self._mass_times_by_rows(x, result)
            return
        with k.loop(0, H.nblock) as block:
            for n in np.unique(H.blocks.size).tolist():
                with k.when(H.size(block) == n):
                    self._mass_times_block([H.first(block) + place for place in range(n)], x, result)

    def _mass_times_by_rows(self, x: Any, result: LaneField) -> None:
        k, m, M = self.k, self.k.model, self.k.data.M
        for row in self.each_dof():
            first = m.M_rowadr[row]
            diagonal = first + m.M_rownnz[row] - 1
            own = x(row)
            total = k.local(M[diagonal] * own)
            with k.loop(first, diagonal) as at:
                column = m.M_colind[at]
                total += M[at] * x(column)
                result[column] += M[at] * own
            result[row] = total.value

    def _mass_times_block(self, rows: list[Any], x: Any, result: LaneField) -> None:
        """The rows of one block, which have the same ancestors: what those get of them is added at once."""
        k, m, M, size = self.k, self.k.model, self.k.data.M, len(rows)
        start, count = m.M_rowadr[rows[0]], m.M_rownnz[rows[0]] - 1
        first = [m.M_rowadr[row] for row in rows]
        own = [x(row) for row in rows]
        total = k.local(np.zeros(size))
        with k.loop(0, count) as n:
            column = m.M_colind[start + n]
            entries = [M[first[place] + n] for place in range(size)]
            other = x(column)
            total += np.array([entry * other for entry in entries], dtype=object)
            result[column] += sum(entry * mine for entry, mine in zip(entries, own, strict=True))
        for place in range(size):
            for before in range(place):
                entry = M[first[place] + count + before]
                change = np.full(size, 0.0, object)
                change[place], change[before] = entry * own[before], entry * own[place]
                total += change
        inside = [M[first[place] + count + place] * own[place] for place in range(size)]
        for place in range(size):
            result[rows[place]] = total.value[place] + inside[place]

    def move_bodies(self, x: Any, motion: LaneField) -> None:
        """Spatial acceleration of every body if x were that of the dofs."""
        k, m = self.k, self.k.model
        motion[0] = 0.0
        for body in self.each_body():
            total = k.local(motion[m.body_parentid[body]])
            first = m.body_dofadr[body]
            with k.loop(first, first + m.body_dofnum[body]) as dof:
                total += k.data.cdof[dof] * x(dof)
            motion[body] = total.value

    def row_product(self, row: Any, x: Any) -> Any:
        """A dof row times a vector."""
        rows = self.rows
        total = self.k.local(rows.coefficient[row, 0] * x(rows.dof(row, 0)))
        if rows.width > 1:
            with self.k.loop(1, rows.column("nnz", row)) as n:
                total += rows.coefficient[row, n] * x(rows.dof(row, n))
        return total.value

    def find_rates(self) -> None:
        """z[RATE] = J·direction."""

        def x(dof: Any) -> Any:
            return self.direction[dof]

        if self.body_rows.kinds:
            self.move_bodies(x, self.body_motion())
        for bond in self.each_bond():
            for row, (product,) in self.body_rows.each_product(bond, self.body_motion()):
                self.bond_z[RATE, bond, row] = product
        for row in self.each_row():
            self.row_z[RATE, row] = self.row_product(row, x)

    # ---- the start

    def start(self, has_rows: Any) -> None:
        """Last step's acceleration or the smooth one, whichever costs less; the smooth one without rows."""
        k, d = self.k, self.k.data
        trial = {LAST: d.qacc_warmstart, SMOOTH: d.qacc_smooth}
        cost = self.trial_costs(trial)
        self.mass_times(lambda dof: trial[LAST][dof], self.Ma)
        off = k.select(k.disabled(DisableBit.WARMSTART), 0.0, has_rows)
        last = k.local(cost[LAST] + self.inertial_cost())
        less = (last.value > cost[SMOOTH]) & ~is_broken(spoilt_by_last(k))  # a cost of NaN is not less
        warm = k.select(less, 0.0, off) > 0.0
        with k.loop(0, k.model.nv) as dof:
            d.qacc[dof] = k.select(warm, trial[LAST][dof], trial[SMOOTH][dof])
            self.Ma[dof] = k.select(warm, self.Ma[dof], d.qfrc_smooth[dof])  # M·qacc_smooth is qfrc_smooth
            d.qfrc_constraint[dof] = 0.0
        with k.when(k.any(k.select(warm, 0.0, has_rows) > 0.0)):
            for bond in self.each_bond():
                for row in self.body_rows.each_base_row(bond):
                    now, other = self.bond_z[NOW, bond, row], self.bond_z[SMOOTH, bond, row]
                    self.bond_z[NOW, bond, row] = k.select(warm, now, other)
            for item in self.each_row():
                self.row_z[NOW, item] = k.select(warm, self.row_z[NOW, item], self.row_z[SMOOTH, item])

    def trial_costs(self, trial: dict[int, LaneField]) -> Any:
        """Write z = J·a − aref for two accelerations, and return what it costs."""
        k, body_rows, rows = self.k, self.body_rows, self.rows
        cost = k.local(np.zeros(len(trial)))
        if body_rows.kinds:
            for n, a in trial.items():
                self.move_bodies(lambda dof, a=a: a[dof], self.body_motion(n))
        for bond in self.each_bond_by_kind():
            for row, products in body_rows.each_product(bond.index, *(self.body_motion(n) for n in trial)):
                for n, product in zip(trial, products, strict=True):
                    self.bond_z[n, bond.index, row] = body_rows.offset[bond.index, row] + product
            cost += np.array([bond_cost(bond, self.values(bond.index, n)) for n in trial], dtype=object)
        for row, cost_of in self.each_row_by_kind():
            for n, a in trial.items():
                self.row_z[n, row] = rows.offset[row] + self.row_product(row, lambda dof, a=a: a[dof])
            cost += np.array([cost_of.at(self.row_z[n, row]).cost for n in trial], dtype=object)
        return cost.value

    def inertial_cost(self) -> Any:
        """½·(a − a₀)ᵀ·M·(a − a₀) of last step's acceleration, whose product with M is in Ma."""
        d, total = self.k.data, self.k.local(0.0)
        with self.k.loop(0, self.k.model.nv) as dof:
            total += (self.Ma[dof] - d.qfrc_smooth[dof]) * (d.qacc_warmstart[dof] - d.qacc_smooth[dof])
        return 0.5 * total.value

    def values(self, bond: Any, at: Any) -> Callable[[Any], Any]:
        """z[at] of a bond, by base row."""
        return lambda row: self.bond_z[at, bond, row]

    # ---- gradient

    def find_gradient(self, moved: Any) -> tuple[Any, Any]:
        """Write gradient and, in worlds that have moved, qfrc_constraint; returns the square of its length, and the
        cost. The cost is summed up in the order of `sample_at`, so that a distance of zero costs the same."""
        k, m, d = self.k, self.k.model, self.k.data
        cost = k.local(0.0)
        with k.loop(0, m.nv) as dof:
            cost += self.gauss_of(dof)
        if self.body_rows.kinds:
            self.pull_bodies(cost)
        force = self._vector("force")
        with k.loop(0, m.nv) as dof:
            force[dof] = dot(d.cdof[dof], self.body_force[m.dof_bodyid[dof]]) if self.body_rows.kinds else 0.0
        for row, rule in self.each_row_by_kind():
            here = rule.at(self.row_z[NOW, row])
            cost += here.cost
            with k.loop(0, self.rows.column("nnz", row) if self.rows.width > 1 else 1) as n:
                force[self.rows.dof(row, n)] += self.rows.coefficient[row, n] * here.force
        steepness = k.local(0.0)
        with k.loop(0, m.nv) as dof:
            d.qfrc_constraint[dof] = k.select(moved > 0.0, force[dof], d.qfrc_constraint[dof])
            slope = self.Ma[dof] - d.qfrc_smooth[dof] - d.qfrc_constraint[dof]
            self.gradient[dof] = slope
            steepness += slope * slope
        return steepness.value, cost.value

    def gauss_of(self, dof: Any) -> Any:
        """What a dof adds to ½·(a − a₀)ᵀ·M·(a − a₀)."""
        d = self.k.data
        return 0.5 * (self.Ma[dof] - d.qfrc_smooth[dof]) * (d.qacc[dof] - d.qacc_smooth[dof])

    def is_noise(self, steepness: Any, scale: Any) -> Any:
        """Whether the gradient, whose length's square is given, is what rounding leaves of its parts. Even if it were
        not, the cost could hardly fall by more than the tolerance: the Hessian is at least M, of which the diagonal
        is taken here."""
        k, m, d = self.k, self.k.model, self.k.data
        parts, gain = k.local(0.0), k.local(0.0)
        with k.loop(0, m.nv) as dof:
            slope, inertia = self.gradient[dof], d.M[m.M_rowadr[dof] + m.M_rownnz[dof] - 1]
            for part in (self.Ma[dof], d.qfrc_smooth[dof], d.qfrc_constraint[dof]):
                parts += part * part
            gain += slope * slope / inertia
        small = steepness <= GRADIENT_NOISE * GRADIENT_NOISE * parts.value
        return small & (0.5 * scale * gain.value < m.opt.tolerance)

    def pull_bodies(self, cost: Variable) -> None:
        """Wrench of the bonds on every body, and on all it carries; what the bonds cost is added to `cost`."""
        k, pull = self.k, self.body_force
        with k.loop(0, k.model.nbody) as body:
            pull[body] = 0.0
        force = k.scratch("bond_force", LARGEST_DIM)
        for bond in self.each_bond_by_kind():
            self.pull_ends(bond, force)
            cost += bond_cost(bond, self.values(bond.index, NOW))
        add_to_parents(k, pull)

    def pull_ends(self, bond: Bond, force: LaneField) -> None:
        """Add a bond's wrench to those of its bodies; its rows' forces are written to `force`."""
        k, body_rows, pull = self.k, self.body_rows, self.body_force
        write_force(bond, self.values(bond.index, NOW), force)
        near, far = body_rows.near[bond.index], body_rows.far[bond.index]
        if body_rows.spreads:
            with k.when(far == SPREAD):
                for n, body in body_rows.each_spread_end(bond.index):
                    total = k.local(np.zeros(6))
                    for row in bond.each_row():
                        total += force[row] * body_rows.spread_wrench[bond.index, n, row]
                    pull[body] += total.value
        wrench = self._wrench(bond, body_rows.near_wrench, force)
        if body_rows.spreads:
            with k.when(far != SPREAD):
                pull[near] += wrench
        else:
            pull[near] += wrench
        if body_rows.couples:
            with k.when(far > 0):
                pull[far] += (
                    -wrench if body_rows.mirrored else self._wrench(bond, body_rows.far_wrench, force)
                )

    def _wrench(self, bond: Bond, wrench: LaneField, force: LaneField) -> Any:
        """Of a bond on one of its bodies."""
        total = self.k.local(np.zeros(6))
        for row in bond.each_row():
            total += force[row] * wrench[bond.index, row]
        return total.value

    # ---- forces, for stages after the solver (left out of the kernel if none reads them)

    def write_bond_forces(self) -> None:
        """Forces of all bonds of the tile, tangents in units of force instead of the cone's."""
        k, body_rows = self.k, self.body_rows
        if not body_rows.kinds:
            return
        with k.loop(0, body_rows.count) as bond:
            body_rows.force[bond] = 0.0
            with k.when(k.any(body_rows.D[bond, 0] > 0.0)):
                for kind in body_rows.each_kind(bond):
                    own = Bond(k, body_rows, bond, kind)
                    write_force(own, self.values(bond, NOW), _FieldRow(body_rows.force, bond))
                    if kind.name in (PYRAMID, ELLIPTIC):
                        for row in own.each_row(1):
                            body_rows.force[bond, row] *= body_rows.contacts.friction[
                                bond - body_rows.nequality, row - 1
                            ]

    def write_row_forces(self) -> None:
        """Forces of all dof rows."""
        k, rows = self.k, self.rows
        with k.loop(0, rows.count) as row:
            rows.force[row] = 0.0
            with k.when(k.any(rows.D[row] > 0.0)):
                for cost in self._each_kind_of_row(row):
                    rows.force[row] = cost.at(self.row_z[NOW, row]).force

    # ---- direction

    def find_direction(self, live: Any, *, new: Any) -> None:
        """direction = −H⁻¹·gradient; 0 in worlds that have converged."""
        k, H = self.k, self.hessian
        self.find_changes(live, new)
        self.assemble(new)
        H.factor()
        with k.loop(0, k.model.nv) as dof:
            self.direction[dof] = -self.gradient[dof]
        H.solve(self.direction)
        with k.loop(0, k.model.nv) as dof:
            self.direction[dof] = k.select(live > 0.0, self.direction[dof], 0.0)

    def find_changes(self, live: Any, new: Any) -> None:
        """Write the weights of all rows, and note in which worlds that are still live they differ from before; with
        `new` there is no before."""
        k, H, rows = self.k, self.hessian, self.rows
        H.nothing_changed(new)
        for bond in self.each_bond_by_kind():
            change = k.local(0.0)
            watched = Watched(self.weight, bond.index, change, self.renewed(live, 0, bond.index, new))
            write_weight(bond, self.values(bond.index, NOW), watched)
            moved = change.value * self.live_of(live, 0, bond.index)
            with k.when(k.any(moved > 0.0)):
                H.change_bond(bond, moved)
        for row, cost in self.each_row_by_kind():
            weight = cost.at(self.row_z[NOW, row]).weight
            renewed = self.renewed(live, 1, row, new)
            weight = weight if renewed is None else k.select(renewed, weight, self.row_weight[row])
            change = k.abs(weight - self.row_weight[row]) * self.live_of(live, 1, row)
            with k.when(k.any(change > 0.0)):
                H.change_row(rows, row, change)
            self.row_weight[row] = weight
        H.spread_changes()

    def assemble(self, new: Any) -> None:
        """The changed rows of the Hessian at the current point."""
        k, H, rows = self.k, self.hessian, self.rows
        H.forget_changed()
        self._add_bonds(H.add_grounded, coupled=False)
        H.write_tree(new, self.pattern_state[1] > 0 if H.fills else None)
        self._add_bonds(H.add_coupling, coupled=True)
        for row in self.each_row():
            weight = self.row_weight[row]
            if rows.width == 1:
                own = rows.coefficient[row, 0]
                H.add_diagonal(rows.dof(row, 0), weight * own * own)
            else:
                with k.loop(0, rows.column("nnz", row)) as a:
                    own = weight * rows.coefficient[row, a]
                    with k.loop(a, rows.column("nnz", row)) as b:
                        H.add_dof_row(rows.dof(row, a), rows.dof(row, b), own * rows.coefficient[row, b])

    def _add_bonds(self, add: Callable[[Bond, LaneField], None], *, coupled: bool) -> None:
        """Add the bonds that have two moving ends, or those that have one."""
        k, body_rows = self.k, self.body_rows
        for bond in self.each_bond_by_kind():
            grounds, couples = has_ends(body_rows, bond.kind)
            if coupled and couples:
                with (
                    k.when(body_rows.far[bond.index] != 0),
                    k.when(k.any(self.weight[bond.index, 0, 0] > 0.0)),
                ):
                    add(bond, self.weight)
            elif grounds and not coupled:
                with (
                    k.when(body_rows.far[bond.index] == 0),
                    k.when(k.any(self.weight[bond.index, 0, 0] > 0.0)),
                ):
                    add(bond, self.weight)

    # ---- line search

    def search(self, live: Any, scale: Any, cost: Any) -> tuple[Any, Any]:
        """How far to go in the direction, 0 in worlds that have converged; and how steep the cost, which is given,
        falls at first."""
        k, m, d = self.k, self.k.model, self.k.data
        self.mass_times(lambda dof: self.direction[dof], self.Mv)
        self.find_rates()
        gauss, linear, square, descent, length = (k.local(0.0) for _ in range(5))
        with k.loop(0, m.nv) as dof:
            v = self.direction[dof]
            gauss += self.gauss_of(dof)
            linear += v * (self.Ma[dof] - d.qfrc_smooth[dof])
            square += v * self.Mv[dof]
            descent -= v * self.gradient[dof]
            length += v * v
        norm = k.sqrt(length.value)
        tolerance = m.opt.tolerance * m.opt.ls_tolerance * norm / scale
        search = LineSearch(k, Variables(k))
        search.begin(
            k.select(goes_anywhere(k, norm), live, 0.0),
            evaluated=not self.follows_curvature,
            cost=cost,
            descent=descent.value,
        )
        with k.loop(0, m.opt.ls_iterations + MOST_OVER):
            k.leave_when(~k.any(search.searching))
            at = k.local(search.at)
            here = self.sample_at(at.value, gauss.value, linear.value, square.value)
            flat = k.max(tolerance, noise(k, linear.value, square.value, at.value))
            search.advance(search.sample(*here), flat, m.opt.ls_iterations)
        return search.numbers["found.at"], descent.value

    def sample_at(self, at: Any, gauss: Any, linear: Any, square: Any) -> tuple[Any, Any, Any]:
        """The cost a distance along the direction, and its derivatives, from the numbers of the smooth part."""
        k, count = self.k, numbers_on_line(self.body_rows)
        smooth = OnLine(gauss, linear, 0.5 * square)
        total = k.local(np.array(smooth[:count], dtype=object))
        for bond in self.each_bond_by_kind():
            line = on_line(bond, self.values(bond.index, NOW), self.values(bond.index, RATE), at)
            total += np.array(line[:count], dtype=object)
        for row, cost in self.each_row_by_kind():
            line = cost.on_line(self.row_z[NOW, row], self.row_z[RATE, row], at)
            total += np.array(line[:count], dtype=object)
        return OnLine(*total.value).at(at)

    def move(self, distance: Any) -> None:
        """Go along the direction."""
        k, d = self.k, self.k.data
        with k.loop(0, k.model.nv) as dof:
            d.qacc[dof] += distance * self.direction[dof]
            self.Ma[dof] += distance * self.Mv[dof]
        for bond in self.each_bond():
            for row in self.body_rows.each_base_row(bond):
                self.bond_z[NOW, bond, row] += distance * self.bond_z[RATE, bond, row]
        for item in self.each_row():
            self.row_z[NOW, item] += distance * self.row_z[RATE, item]


class Watched:
    """The weights of one bond, to write; sums up how much they change."""

    def __init__(self, field: LaneField, bond: Any, change: Variable, renewed: Any = None) -> None:
        self._field, self._bond, self._change = field, bond, change
        self._renewed = renewed

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None:
        row, column = index
        if self._renewed is not None:
            value = select(self._renewed, value, self._field[self._bond, row, column])
        step = value - self._field[self._bond, row, column]
        self._change += step * step
        self._field[self._bond, row, column] = value

    def clear(self, row: Any, column: Any) -> None:
        """An entry that is always zero."""
        self._field[self._bond, row, column] = 0.0


class _FieldRow:
    """One row of a field with two axes, as a vector to write."""

    def __init__(self, field: LaneField, row: Any) -> None:
        self.field, self.row = field, row

    def __getitem__(self, index: Any) -> Any:
        return self.field[self.row, index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.field[self.row, index] = value
