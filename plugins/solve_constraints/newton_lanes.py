"""Newton's method in lanes: go where the quadratic model of the cost has its minimum, with an exact line search.

With a₀ = qacc_smooth, the acceleration a under constraints minimises ½·(a − a₀)ᵀ·M·(a − a₀) + s(J·a − aref), s being
the cost of the constraint rows (`cost_lanes`). All rows of a world are one problem. Products with J are passes over
the bodies: accelerations down the tree, wrenches up (`constraint_lanes`). The worlds of a tile iterate together; one
that has converged stands still, bit for bit, while others go on. Compare mj_solNewton and mj_solPrimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs

from dovetail.backends.lanes.algebra import dot
from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField, Variable
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.bias_force.rne_lanes import add_to_parents
from dovetail.plugins.constraint_lanes import ELLIPTIC, LARGEST_DIM, PYRAMID, DofRows, Links
from dovetail.plugins.solve_constraints.cost_lanes import (
    DofCost,
    Link,
    equality_cost,
    friction_cost,
    limit_cost,
    link_cost,
    slope_and_curvature,
    write_force,
    write_weight,
)
from dovetail.plugins.solve_constraints.hessian_lanes import Hessian, apart, has_ends

FARTHEST = 1e20
"""Upper end of the line search before a point with rising cost is known."""

ROUNDING = {"f64": 1e-15, "f32": 5e-7}
"""Relative changes of the distance along the line, and slopes relative to their parts, that are mere noise."""

NOW, RATE = 0, 1
"""Index of `z`: the rows' values at the current point; how they change along the search direction."""

SMOOTH, LAST = 0, 1
"""Index of the accelerations to start from, and of their `z`."""


def solve_constraints(k: Kernel) -> None:
    """Write qacc and qfrc_constraint."""
    if k.model.nv:
        Newton(k, Links(k), DofRows(k)).run()


@attrs.define(eq=False)
class Newton:
    """One tile's problem."""

    k: Kernel
    links: Links
    rows: DofRows

    first_distance = 1.0
    """Where the line search begins: Newton's step itself."""

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
    def link_z(self) -> LaneField:
        return self.k.scratch("link_z", 2, self.links.capacity, LARGEST_DIM)

    @property
    def row_z(self) -> LaneField:
        return self.k.scratch("row_z", 2, max(1, self.rows.count))

    @property
    def link_list(self) -> IntegerField:
        """Links that a world of the tile which has not converged has."""
        return self.k.integers("link_list", self.links.capacity)

    @property
    def row_list(self) -> IntegerField:
        return self.k.integers("row_list", max(1, self.rows.count))

    @property
    def listed(self) -> IntegerField:
        """Lengths of the two lists."""
        return self.k.integers("listed", 2)

    @property
    def body_motion(self) -> LaneField:
        return self.k.scratch("body_motion", self.k.model.nbody, 6)

    @property
    def body_force(self) -> LaneField:
        return self.k.scratch("body_force", self.k.model.nbody, 6)

    @cached_property
    def hessian(self) -> Hessian:
        return Hessian(self.k, self.links, self.couples or self.rows.fills)

    @cached_property
    def couples(self) -> bool:
        """Whether links between moving bodies are possible."""
        return bool(self.links.kinds) and has_ends(self.links)[1]

    @property
    def weight(self) -> LaneField:
        """Second derivatives of the links' costs."""
        return self.k.scratch("link_weight", self.links.capacity, LARGEST_DIM, LARGEST_DIM)

    @property
    def row_weight(self) -> LaneField:
        return self.k.scratch("row_weight", max(1, self.rows.count))

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
        self.write_link_forces()
        self.write_row_forces()

    def iterate(self, has_rows: Any) -> None:
        """Descend until no world gains."""
        k, m = self.k, self.k.model
        scale = 1.0 / (m.stat.meaninertia * float(max(1, m.nv)))
        live = k.local(has_rows)
        moved = k.local(1.0 + 0.0 * has_rows)
        with k.loop(0, m.opt.iterations + 1) as turn:
            steepness = self.find_gradient(moved.value)
            flat = scale * k.sqrt(steepness) < m.opt.tolerance
            going = k.select(flat, 0.0, live.value)
            live.set(k.select(turn == 0, live.value, going))
            live.set(k.select(turn == m.opt.iterations, 0.0, live.value))
            k.leave_when(~k.any(live.value > 0.0))
            self.keep_listed(live.value)
            self.find_direction(live.value, new=turn == 0)
            distance, gain = self.search(live.value, scale)
            self.move(distance)
            moved.set(live.value)
            live.set(k.select(scale * gain < m.opt.tolerance, 0.0, live.value))

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
        """Lists of links and of dof rows, how many there are at most, and the weight of one."""
        return [
            (self.link_list, self.links.count if self.links.kinds else 0, lambda n: self.links.D[n, 0]),
            (self.row_list, self.rows.count, lambda n: self.rows.D[n]),
        ]

    def keep_listed(self, live: Any) -> None:
        """Drop rows that only worlds which have converged have."""
        k = self.k
        for place, (items, _, weight) in enumerate(self._row_kinds()):
            kept = k.local(0)
            with k.loop(0, self.listed[place]) as n:
                item = items[n]
                with k.when(k.any(weight(item) * live > 0.0)):
                    items[kept.value] = item
                    kept += 1
            self.listed[place] = kept.value

    @walk
    def each_link(self) -> Iterator[Any]:
        """`for link in …:` runs its body for every listed link, at run time."""
        if self.links.kinds:
            with self.k.loop(0, self.listed[0]) as n:
                yield self.link_list[n]

    @walk
    def each_link_by_kind(self) -> Iterator[Link]:
        """The same, with the body written out for every kind of link."""
        for link in self.each_link():
            for kind in self.links.each_kind(link):
                yield Link(self.k, self.links, link, kind)

    @walk
    def each_row(self) -> Iterator[Any]:
        """`for row in …:` runs its body for every listed dof row."""
        if self.rows.count:
            with self.k.loop(0, self.listed[1]) as n:
                yield self.row_list[n]

    @walk
    def each_row_by_kind(self) -> Iterator[tuple[Any, Callable[[Any], DofCost]]]:
        """The same with the function that gives a row's cost, for every kind of dof row."""
        for row in self.each_row():
            for cost in self._each_row_cost(row):
                yield row, cost

    @walk
    def _each_row_cost(self, row: Any) -> Iterator[Callable[[Any], DofCost]]:
        """`for cost in …:` runs its body, at run time, with the function that gives the cost of this row."""
        rows = self.rows
        bounds = (0, rows.first("rubbing_dofs"), rows.first("scalar_limits"), rows.count)
        for n, rule in enumerate((equality_cost, friction_cost, limit_cost)):
            if bounds[n] == bounds[n + 1]:
                continue
            if (bounds[n], bounds[n + 1]) == (0, rows.count):
                yield self._row_cost(row, rule)
            else:
                with self.k.when((row >= bounds[n]) & (row < bounds[n + 1])):
                    yield self._row_cost(row, rule)

    def _row_cost(self, row: Any, rule: Callable[..., DofCost]) -> Callable[[Any], DofCost]:
        rows = self.rows
        loss = rows.loss[row] if rule is friction_cost else 0.0
        return lambda z: rule(self.k, z, rows.D[row], loss)

    # ---- pattern

    def find_pattern(self) -> None:
        """Where the tile's Hessian has entries. It stays as it is if the same bodies are tied together as before."""
        if not self.hessian.fills:
            return
        k, H, links, rows = self.k, self.hessian, self.links, self.rows
        known = k.integers("known_ties", self.links.capacity + max(1, rows.count))
        found, same = k.local(0), k.local(1)

        def note(tie: Any) -> None:
            with k.when(known[found.value] != tie):
                same.set(0)
                known[found.value] = tie
            found.set(found.value + 1)

        for link in self._each_coupled_link():
            note(links.near[link] * k.model.nbody + links.far[link])
        for row in self._each_filling_row():
            note(-row)
        state = self.pattern_state
        with k.when((same.value == 0) | (state[0] != found.value + 1)):
            state[0] = found.value + 1
            state[1] = 0
            H.start_pattern()
            for link in self._each_coupled_link():
                self._connect_link(links.near[link], links.far[link])
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
        return self.k.integers("pattern_state", 2)

    @walk
    def _each_coupled_link(self) -> Iterator[Any]:
        if self.couples:
            for link in self.each_link():
                with self.k.when(self.links.far[link] > 0):
                    yield link

    @walk
    def _each_filling_row(self) -> Iterator[Any]:
        if self.rows.fills:
            for row in self.each_row():
                with self.k.when(self.rows.column("fills", row) > 0):
                    yield row

    def _connect_link(self, near: Any, far: Any) -> None:
        """Connect the last dof with all others that the link's bodies do not share."""
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

    # ---- products

    def mass_times(self, x: Any, result: Any) -> None:
        """result = M·x; x(dof) gives the numbers of the vector."""
        k, m, M = self.k, self.k.model, self.k.data.M
        with k.loop(0, m.nv) as row:
            first = m.M_rowadr[row]
            diagonal = first + m.M_rownnz[row] - 1
            own = x(row)
            total = k.local(M[diagonal] * own)
            with k.loop(first, diagonal) as at:
                column = m.M_colind[at]
                total += M[at] * x(column)
                result[column] += M[at] * own
            result[row] = total.value

    def move_bodies(self, x: Any) -> None:
        """Spatial acceleration of every body if x were that of the dofs."""
        k, m, motion = self.k, self.k.model, self.body_motion
        motion[0] = 0.0
        with k.loop(1, m.nbody) as body:
            total = k.local(motion[m.body_parentid[body]])
            first = m.body_dofadr[body]
            with k.loop(first, first + m.body_dofnum[body]) as dof:
                total += k.data.cdof[dof] * x(dof)
            motion[body] = total.value

    def link_product(self, link: Any, row: Any) -> Any:
        """A link's base row times the accelerations that `move_bodies` was given."""
        k, links = self.k, self.links
        total = k.local(dot(links.near_wrench[link, row], self.body_motion[links.near[link]]))
        if self.couples:
            with k.when(links.far[link] > 0):
                total += dot(links.far_wrench[link, row], self.body_motion[links.far[link]])
        return total.value

    def row_product(self, row: Any, x: Any) -> Any:
        """A dof row times a vector."""
        rows = self.rows
        total = self.k.local(rows.coefficient[row, 0] * x(rows.dof(row, 0)))
        if rows.width > 1:
            with self.k.loop(1, rows.column("nnz", row)) as n:
                total += rows.coefficient[row, n] * x(rows.dof(row, n))
        return total.value

    def rows_times(self, x: Any, into: Any, *, offset: bool) -> None:
        """z[into] = J·x, minus aref if `offset`."""
        links, rows = self.links, self.rows
        if links.kinds:
            self.move_bodies(x)
        for link in self.each_link():
            for row in links.each_base_row(link):
                start = links.offset[link, row] if offset else 0.0
                self.link_z[into, link, row] = start + self.link_product(link, row)
        for row in self.each_row():
            start = rows.offset[row] if offset else 0.0
            self.row_z[into, row] = start + self.row_product(row, x)

    # ---- the start

    def start(self, has_rows: Any) -> None:
        """Last step's acceleration or the smooth one, whichever costs less; the smooth one without rows."""
        k, d = self.k, self.k.data
        trial, cost = k.scratch("trial", 2, k.model.nv), k.scratch("trial_cost", 2)
        with k.loop(0, k.model.nv) as dof:
            trial[SMOOTH, dof] = d.qacc_smooth[dof]
            trial[LAST, dof] = d.qacc_warmstart[dof]
        with k.loop(0, 2) as n:
            self.rows_times(lambda dof: trial[n, dof], n, offset=True)
            cost[n] = self.constraint_cost(n)
        self.mass_times(lambda dof: trial[LAST, dof], self.Ma)
        cost[LAST] += self.inertial_cost()
        off = k.select(k.disabled(DisableBit.WARMSTART), 0.0, has_rows)
        warm = k.select(cost[LAST] <= cost[SMOOTH], off, 0.0) > 0.0
        with k.loop(0, k.model.nv) as dof:
            d.qacc[dof] = k.select(warm, trial[LAST, dof], trial[SMOOTH, dof])
            self.Ma[dof] = k.select(warm, self.Ma[dof], d.qfrc_smooth[dof])  # M·qacc_smooth is qfrc_smooth
            d.qfrc_constraint[dof] = 0.0
        for link in self.each_link():
            for row in self.links.each_base_row(link):
                now, other = self.link_z[NOW, link, row], self.link_z[LAST, link, row]
                self.link_z[NOW, link, row] = k.select(warm, other, now)
        for item in self.each_row():
            self.row_z[NOW, item] = k.select(warm, self.row_z[LAST, item], self.row_z[NOW, item])

    def inertial_cost(self) -> Any:
        """½·(a − a₀)ᵀ·M·(a − a₀) of last step's acceleration, whose product with M is in Ma."""
        d, total = self.k.data, self.k.local(0.0)
        with self.k.loop(0, self.k.model.nv) as dof:
            total += (self.Ma[dof] - d.qfrc_smooth[dof]) * (d.qacc_warmstart[dof] - d.qacc_smooth[dof])
        return 0.5 * total.value

    def values(self, link: Any, at: Any) -> Callable[[Any], Any]:
        """z[at] of a link, by base row."""
        return lambda row: self.link_z[at, link, row]

    def values_ahead(self, link: Any, distance: Any) -> Callable[[Any], Any]:
        """z of a link a distance along the direction."""
        z = self.link_z
        return lambda row: z[NOW, link, row] + distance * z[RATE, link, row]

    def constraint_cost(self, at: Any) -> Any:
        """Cost of all rows at z[at]."""
        total = self.k.local(0.0)
        for link in self.each_link_by_kind():
            total += link_cost(link, self.values(link.index, at))
        for row, cost in self.each_row_by_kind():
            total += cost(self.row_z[at, row]).cost
        return total.value

    # ---- gradient

    def find_gradient(self, moved: Any) -> Any:
        """Write gradient and, in worlds that have moved, qfrc_constraint; returns the square of its length."""
        k, m, d = self.k, self.k.model, self.k.data
        if self.links.kinds:
            self.pull_bodies()
        force = self._vector("force")
        with k.loop(0, m.nv) as dof:
            force[dof] = dot(d.cdof[dof], self.body_force[m.dof_bodyid[dof]]) if self.links.kinds else 0.0
        for row, cost in self.each_row_by_kind():
            push = cost(self.row_z[NOW, row]).force
            with k.loop(0, self.rows.column("nnz", row)) as n:
                force[self.rows.dof(row, n)] += self.rows.coefficient[row, n] * push
        steepness = k.local(0.0)
        with k.loop(0, m.nv) as dof:
            d.qfrc_constraint[dof] = k.select(moved > 0.0, force[dof], d.qfrc_constraint[dof])
            slope = self.Ma[dof] - d.qfrc_smooth[dof] - d.qfrc_constraint[dof]
            self.gradient[dof] = slope
            steepness += slope * slope
        return steepness.value

    def pull_bodies(self) -> None:
        """Wrench of the links on every body, and on all it carries."""
        k, links, pull = self.k, self.links, self.body_force
        with k.loop(0, k.model.nbody) as body:
            pull[body] = 0.0
        force = k.scratch("link_force", LARGEST_DIM)
        for link in self.each_link_by_kind():
            write_force(link, self.values(link.index, NOW), force)
            self._pull(link, links.near, links.near_wrench, force)
            if self.couples:
                with k.when(links.far[link.index] > 0):
                    self._pull(link, links.far, links.far_wrench, force)
        add_to_parents(k, pull)

    def _pull(self, link: Link, end: IntegerField, wrench: LaneField, force: LaneField) -> None:
        """Add a link's wrench on one of its bodies."""
        body = end[link.index]
        total = self.k.local(self.body_force[body])
        for row in link.each_row():
            total += force[row] * wrench[link.index, row]
        self.body_force[body] = total.value

    # ---- forces, for stages after the solver (left out of the kernel if none reads them)

    def write_link_forces(self) -> None:
        """Forces of all links of the tile, tangents in units of force instead of the cone's."""
        k, links = self.k, self.links
        if not links.kinds:
            return
        with k.loop(0, links.count) as link:
            links.force[link] = 0.0
            with k.when(k.any(links.D[link, 0] > 0.0)):
                for kind in links.each_kind(link):
                    own = Link(k, links, link, kind)
                    write_force(own, self.values(link, NOW), _Row(links.force, link))
                    if kind.name in (PYRAMID, ELLIPTIC):
                        for row in own.each_row(1):
                            links.force[link, row] *= links.contacts.friction[link - links.nequality, row - 1]

    def write_row_forces(self) -> None:
        """Forces of all dof rows."""
        k, rows = self.k, self.rows
        with k.loop(0, rows.count) as row:
            rows.force[row] = 0.0
            with k.when(k.any(rows.D[row] > 0.0)):
                for cost in self._each_row_cost(row):
                    rows.force[row] = cost(self.row_z[NOW, row]).force

    # ---- direction

    def find_direction(self, live: Any, *, new: Any) -> None:
        """direction = −H⁻¹·gradient; 0 in worlds that have converged."""
        k, H = self.k, self.hessian
        self.find_changes(live, new)
        self.assemble()
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
        for link in self.each_link_by_kind():
            change = k.local(0.0)
            write_weight(link, self.values(link.index, NOW), Watched(self.weight, link.index, change))
            with k.when(k.any(change.value * live > 0.0)):
                H.change_link(link)
        for row, cost in self.each_row_by_kind():
            weight = cost(self.row_z[NOW, row]).weight
            with k.when(k.any(k.abs(weight - self.row_weight[row]) * live > 0.0)):
                H.change_dof(rows.dof(row, 0))
            self.row_weight[row] = weight
        H.spread_changes()

    def assemble(self) -> None:
        """The changed rows of the Hessian at the current point."""
        k, H, rows = self.k, self.hessian, self.rows
        H.clear_changed()
        self._add_links(H.add_grounded, coupled=False)
        H.write_tree(self.pattern_state[1] > 0 if H.fills else None)
        self._add_links(H.add_coupling, coupled=True)
        for row in self.each_row():
            weight = self.row_weight[row]
            with k.loop(0, rows.column("nnz", row)) as a:
                own = weight * rows.coefficient[row, a]
                with k.loop(a, rows.column("nnz", row)) as b:
                    H.add_dof_row(rows.dof(row, a), rows.dof(row, b), own * rows.coefficient[row, b])

    def _add_links(self, add: Callable[[Link, LaneField], None], *, coupled: bool) -> None:
        """Add the links that have two moving ends, or those that have one."""
        k, links = self.k, self.links
        for link in self.each_link_by_kind():
            grounds, couples = has_ends(links, link.kind)
            if coupled and couples:
                with k.when(links.far[link.index] > 0), k.when(k.any(self.weight[link.index, 0, 0] > 0.0)):
                    add(link, self.weight)
            elif grounds and not coupled:
                with k.when(links.far[link.index] == 0), k.when(k.any(self.weight[link.index, 0, 0] > 0.0)):
                    add(link, self.weight)

    # ---- line search

    def search(self, live: Any, scale: Any) -> tuple[Any, Any]:
        """How far to go in the direction, 0 in worlds that have converged; and about how much cost that saves.

        The slope along the line rises steadily; Newton steps on it, kept between points where it is known to be
        negative and positive."""
        k, m, d = self.k, self.k.model, self.k.data
        self.mass_times(lambda dof: self.direction[dof], self.Mv)
        self.rows_times(lambda dof: self.direction[dof], RATE, offset=False)
        linear, square, descent, length = (k.local(0.0) for _ in range(4))
        with k.loop(0, m.nv) as dof:
            v = self.direction[dof]
            linear += v * (self.Ma[dof] - d.qfrc_smooth[dof])
            square += v * self.Mv[dof]
            descent -= v * self.gradient[dof]
            length += v * v
        tolerance = m.opt.tolerance * m.opt.ls_tolerance * k.sqrt(length.value) / scale
        at, low, high = k.local(self.first_distance + 0.0 * live), k.local(0.0), k.local(FARTHEST)
        searching = k.local(live)
        rounding = ROUNDING[k.precision]
        with k.loop(0, m.opt.ls_iterations):
            slope, curvature = self.slope_at(at.value, linear.value, square.value)
            noise = rounding * (k.abs(linear.value) + at.value * square.value)
            flat = k.abs(slope) < k.max(tolerance, noise)
            searching.set(k.select(flat, 0.0, searching.value))
            k.leave_when(~k.any(searching.value > 0.0))
            low.set(k.select(slope < 0.0, at.value, low.value))
            high.set(k.select(slope > 0.0, at.value, high.value))
            newton = at.value - slope / curvature
            inside = (newton > low.value) & (newton < high.value)
            target = k.select(inside, newton, 0.5 * (low.value + high.value))
            target = k.select(searching.value > 0.0, target, at.value)
            near = k.abs(target - at.value) <= rounding * at.value
            at.set(target)
            searching.set(k.select(near, 0.0, searching.value))
        # Where the slope would not vanish, as far as it is known to lead down.
        reached = k.select(searching.value > 0.0, low.value, at.value)
        distance = k.select(live > 0.0, reached, 0.0)
        return distance, 0.5 * distance * descent.value

    def slope_at(self, at: Any, linear: Any, square: Any) -> tuple[Any, Any]:
        """First and second derivative of the cost along the direction, at a distance."""
        k = self.k
        slope, curvature = k.local(linear + at * square), k.local(square)
        for link in self.each_link_by_kind():
            first, second = slope_and_curvature(
                link, self.values_ahead(link.index, at), self.values(link.index, RATE)
            )
            slope += first
            curvature += second
        for row, cost in self.each_row_by_kind():
            change = self.row_z[RATE, row]
            here = cost(self.row_z[NOW, row] + at * change)
            slope -= here.force * change
            curvature += here.weight * change * change
        return slope.value, curvature.value

    def move(self, distance: Any) -> None:
        """Go along the direction."""
        k, d = self.k, self.k.data
        with k.loop(0, k.model.nv) as dof:
            d.qacc[dof] += distance * self.direction[dof]
            self.Ma[dof] += distance * self.Mv[dof]
        for link in self.each_link():
            for row in self.links.each_base_row(link):
                self.link_z[NOW, link, row] += distance * self.link_z[RATE, link, row]
        for item in self.each_row():
            self.row_z[NOW, item] += distance * self.row_z[RATE, item]


class Watched:
    """The weights of one link, to write; sums up how much they change."""

    def __init__(self, field: LaneField, link: Any, change: Variable) -> None:
        self._field, self._link, self._change = field, link, change

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None:
        row, column = index
        step = value - self._field[self._link, row, column]
        self._change += step * step
        self._field[self._link, row, column] = value

    def clear(self, row: Any, column: Any) -> None:
        """An entry that is always zero."""
        self._field[self._link, row, column] = 0.0


class _Row:
    """One row of a field with two axes, as a vector to write."""

    def __init__(self, field: LaneField, row: Any) -> None:
        self.field, self.row = field, row

    def __getitem__(self, index: Any) -> Any:
        return self.field[self.row, index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.field[self.row, index] = value
