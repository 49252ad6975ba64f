"""The Hessian of models with many trees, in lanes: each world has a pattern, an order and a factor of its own.

Many bodies that may touch each other touch few others at a time, and others in every world: what the worlds of a
tile need together would be nearly full. So the pattern is each world's own, and its trees are eliminated in an order
that keeps it small (`elimination_order_lanes`); within a tree from the leaves to the root as in `hessian_lanes`. Rows
of the matrix stand in that order; a *place in order*, `at`, counts them. Memory and work grow with the entries of the
factor. Entries are computed in lanes and put to their places world by world; the factor is computed one world at a
time. What a world gets depends on its own ties only. Compare mj_solNewton; Davis, Direct Methods for Sparse Linear
Systems, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, LaneField, SplitField, Variable
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.rows_lanes import EQUALITY, LARGEST_DIM, SPREAD, DofRows
from dovetail.plugins.shared.solver.row_costs_lanes import Bond, always_zero
from dovetail.plugins.shared.vectors_lanes import dot
from dovetail.plugins.solve_constraints.elimination_order_lanes import EliminationOrder
from dovetail.plugins.solve_constraints.hessian_lanes import (
    PATTERN,
    B,
    Hessian,
    _upper_solve,
    apart,
    each_dof_above,
    has_ends,
    last_dof,
    symmetric_times,
    tie_of,
)

Walk = Callable[[], Iterator[Any]]

MANY_TREES = 32
"""Trees from which on each world has its own pattern, if contacts may tie them together."""

DEEPEST_SEARCH = 32
"""Halvings that find any place."""

LOWER = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
"""Entries of a diagonal block that count."""


def has_many_trees(model: ModelLike) -> bool:
    """Whether there are so many trees, and contacts may tie any of them together, others in every world. Contacts
    with what does not move tie none together, or the corners of an element, which are near each other in the order of
    the bodies; and equalities tie the same in all worlds."""
    return int(model.ntree) >= MANY_TREES and contacts_tie_trees(model)


def contacts_tie_trees(model: ModelLike) -> bool:
    """Whether contacts between two things that move are possible: of explicit pairs, of geoms whose masks meet, and
    of flexes with moving geoms, each other or themselves."""
    tree = np.asarray(model.body_treeid)
    moving = tree >= 0
    of_geom = tree[model.geom_bodyid]
    pairs = of_geom[np.stack([model.pair_geom1, model.pair_geom2])].reshape(2, -1)
    if ((pairs[0] != pairs[1]) & (pairs >= 0).all(axis=0)).any():
        return True
    for flex in range(int(model.nflex)):
        if meets_what_moves(model, flex):
            return True
    rows = np.stack([of_geom, model.geom_contype, model.geom_conaffinity], axis=1)[moving[model.geom_bodyid]]
    groups = np.unique(rows, axis=0)
    for mask in np.unique(groups[:, 1:], axis=0):
        meet = ((groups[:, 2] & mask[0]) | (groups[:, 1] & mask[1])) != 0
        own = groups[(groups[:, 1:] == mask).all(axis=1), 0]
        if meet.any() and len(np.union1d(own, groups[meet, 0])) > 1:
            return True
    return False


def meets_what_moves(model: ModelLike, flex: int) -> bool:
    """Whether a flex may have contacts with another thing that moves: a geom, another flex, or itself."""
    contype, conaffinity = int(model.flex_contype[flex]), int(model.flex_conaffinity[flex])

    def meets(types: Array, affinities: Array) -> Array:
        return ((types & conaffinity) | (affinities & contype)) != 0

    geoms = meets(model.geom_contype, model.geom_conaffinity) & (model.body_treeid[model.geom_bodyid] >= 0)
    others = meets(model.flex_contype, model.flex_conaffinity)
    others[flex] = bool(contype & conaffinity) and bool(
        model.flex_selfcollide[flex] or model.flex_internal[flex]
    )
    return bool(geoms.any() or others.any())


def most_lanes(model: ModelLike) -> int:
    """Worlds that go well together in a tile; 0: any number."""
    return int(has_many_trees(model))


@attrs.define(eq=False, slots=False)
class SparseHessian(Hessian):
    """Blocks H[I, J], by place in order; in place of them comes the factor L of H = Lᵀ·L."""

    dof_rows: DofRows

    # ---- memory

    def _of_pattern(self, name: str, count: int) -> IntegerField:
        """Of each world's pattern."""
        return self.k.integers(f"H_{name}", self.k.lanes, count, memo=PATTERN)

    def _integers(self, name: str, count: int) -> IntegerField:
        """For work on one world."""
        return self.k.integers(f"H_{name}", count)

    @property
    def at(self) -> IntegerField:
        """Place in order of a block."""
        return self._of_pattern("at", self.nblock)

    @property
    def block_at(self) -> IntegerField:
        """The block at a place in order."""
        return self._of_pattern("block_at", self.nblock)

    @property
    def row_start(self) -> IntegerField:
        """Where the blocks beside the diagonal of a row begin."""
        return self._of_pattern("row_start", self.nblock)

    @property
    def row_length(self) -> IntegerField:
        return self._of_pattern("row_length", self.nblock)

    @property
    def column(self) -> IntegerField:
        """Columns of the rows' blocks, ascending."""
        return self._of_pattern("column", self.room)

    @property
    def below_start(self) -> IntegerField:
        """Where the list of the blocks of a column begins."""
        return self._of_pattern("below_start", self.nblock + 1)

    @property
    def below_row(self) -> IntegerField:
        """The row of a block of a column."""
        return self._of_pattern("below_row", self.room)

    @property
    def below_place(self) -> IntegerField:
        """The how manieth block of its row it is."""
        return self._of_pattern("below_place", self.room)

    @property
    def world_changed(self) -> IntegerField:
        """1 for rows, by place in order, that have other entries than before."""
        return self.k.integers("H_world_changed", self.k.lanes, self.nblock)

    @property
    def numbers(self) -> SplitField:
        """The diagonal blocks by place in order, then those beside them."""
        return self.k.split("H_numbers", self.nblock + self.room, B * B)

    @property
    def tie_room(self) -> int:
        return int(self.body_rows.room) + max(1, self.dof_rows.count)

    @property
    def ties(self) -> IntegerField:
        """What ties dofs together in each world: two bodies as one number, or −1 − a dof row."""
        return self._of_pattern("ties", self.tie_room)

    @property
    def tie_count(self) -> IntegerField:
        """One more than there are; 0: the pattern is not known."""
        return self._of_pattern("tie_count", 1)

    # ---- which worlds' ties have changed

    def find_pattern(self, each_bond: Walk, each_row: Walk) -> None:
        """Every world's pattern, which stays as it is where the same bodies are tied together as before."""
        k, body_rows, rows = self.k, self.body_rows, self.dof_rows
        there = k.split("H_there", self.tie_room)
        for bond in each_bond():
            there[bond] = k.select(body_rows.D[bond, 0] > 0.0, 1.0, 0.0)
        for row in each_row():
            there[body_rows.room + row] = k.select(rows.D[row] > 0.0, 1.0, 0.0)
        with k.worlds() as world:
            count, same, before = k.local(0), k.local(1), k.local(0)

            def compare(tie: Any) -> None:
                with k.when(tie != before.value):
                    before.set(tie)
                    with k.when(self.ties[world, count.value] != tie):
                        same.set(0)
                        self.ties[world, count.value] = tie
                    count.set(count.value + 1)

            for bond in each_bond():
                with k.when(there.of(world)[bond] > 0.5):
                    compare(tie_of(body_rows, bond))
            for row in each_row():
                with k.when(there.of(world)[body_rows.room + row] > 0.5):
                    compare(-1 - row)
            with k.when((same.value == 0) | (self.tie_count[world, 0] != count.value + 1)):
                self.tie_count[world, 0] = count.value + 1
                self._order_blocks(world, count.value)
                self._find_rows(world, count.value)

    # ---- order

    @cached_property
    def _tree_of_block(self) -> Array:
        return np.asarray(self.k.frozen_model.dof_treeid)[self.blocks.first]

    @property
    def _elimination(self) -> EliminationOrder:
        ntree = int(self.k.frozen_model.ntree)
        most = int(self.body_rows.room) + max(1, self.dof_rows.count * self.dof_rows.width)
        return EliminationOrder(self.k, ntree, most, self.room)

    def _tree(self, dof: Any) -> Any:
        return self.k.model.dof_treeid[dof]

    def _order_blocks(self, world: Any, count: Any) -> None:
        """The tree that is eliminated first stands last; blocks of a tree stand side by side, the root's first."""
        k, order = self.k, self._elimination
        order.begin()
        with k.loop(0, count) as n:
            tie = k.local(self.ties[world, n])
            with k.when(tie.value >= 0):
                known = k.local(-1)
                for body in self._each_tied_body(tie.value):
                    tree = k.local(self._tree(last_dof(k, body)))
                    with k.when(known.value < 0):
                        known.set(tree.value)
                    with k.otherwise():
                        order.connect(known.value, tree.value)
            if self.dof_rows.fills:
                with k.otherwise():
                    row = -1 - tie.value
                    with k.loop(1, self.dof_rows.column("nnz", row)) as place:
                        order.connect(
                            self._tree(self.dof_rows.dof(row, 0)), self._tree(self.dof_rows.dof(row, place))
                        )
        order.find()
        first = k.table("H/tree_first", np.searchsorted(self._tree_of_block, np.arange(order.count + 1)))
        end = k.local(self.nblock)
        with k.loop(0, order.count) as turn:
            tree = order.order[turn]
            begin, stop = first[tree], first[tree + 1]
            end -= stop - begin
            with k.loop(begin, stop) as block:
                at = end.value + block - begin
                self.at[world, block] = at
                self.block_at[world, at] = block

    def _bodies(self, tie: Any) -> tuple[Any, Any]:
        nbody = int(self.k.frozen_model.nbody)
        return tie // nbody, tie % nbody

    def _is_of_two(self, tie: Any) -> Any:
        """Whether a tie is one of two bodies; else it is that of a pair of which one side is spread."""
        nbody = int(self.k.frozen_model.nbody)
        return tie < nbody * nbody

    @walk
    def _each_tied_body(self, tie: Any) -> Iterator[Any]:
        """`for body in …:` runs its body for the bodies that a tie ties together."""
        k, nbody = self.k, int(self.k.frozen_model.nbody)
        if not self.body_rows.spreads:
            yield from self._bodies(tie)
            return
        with k.when(self._is_of_two(tie)):
            both = k.integers("tied_bodies", 2)
            both[0], both[1] = self._bodies(tie)
            with k.loop(0, 2) as n:
                yield both[n]
        with k.otherwise():
            for _, body in self.body_rows.each_spread_body(tie - nbody * nbody):
                yield body

    # ---- pattern

    def _find_rows(self, world: Any, count: Any) -> None:
        """Eliminating a row leaves its columns to the highest of them, its *parent*."""
        k = self.k
        total = self._find_columns(world, count)
        with k.when(total > self.room):
            k.lacks(total, self.room)
            self.tie_count[world, 0] = 0
            with k.loop(0, self.nblock) as at:
                self.row_length[world, at] = 0
        self._sort_columns_of(world)

    def _chain_ties(self, world: Any, count: Any) -> tuple[IntegerField, IntegerField]:
        """Chains of ties by the highest place in order among their dofs: the first of each, and the next."""
        k, rows = self.k, self.dof_rows
        head, following = self._integers("tie_head", self.nblock), self._integers("tie_next", self.tie_room)
        with k.loop(0, self.nblock) as at:
            head[at] = -1
        with k.loop(0, count) as n:
            tie, top = k.local(self.ties[world, n]), k.local(0)

            def rise(dof: Any, top: Any = top) -> None:
                top.set(k.max(top.value, self.at[world, self.block_of(dof)]))

            with k.when(tie.value >= 0):
                for body in self._each_tied_body(tie.value):
                    rise(last_dof(k, body))
            if rows.fills:
                with k.otherwise(), k.loop(0, rows.column("nnz", -1 - tie.value)) as place:
                    rise(rows.dof(-1 - tie.value, place))
            following[n] = head[top.value]
            head[top.value] = n
        return head, following

    def _find_columns(self, world: Any, count: Any) -> Any:
        """List the columns of every row, in no order; returns how many there are."""
        k, rows = self.k, self.dof_rows
        tie_head, tie_next = self._chain_ties(world, count)
        child, sibling = self._integers("child", self.nblock), self._integers("sibling", self.nblock)
        mark, found = self._integers("mark", self.nblock), self._integers("found", self.room)
        total = k.local(0)
        with k.loop(0, self.nblock) as at:
            child[at] = -1
            mark[at] = -1
        with k.loop(0, self.nblock, reverse=True) as at:
            start, parent = k.local(total.value), k.local(-1)
            mark[at] = at

            def add(other: Any, at: Any = at, parent: Any = parent) -> None:
                with k.when(mark[other] != at):
                    mark[other] = at
                    with k.when(total.value < self.room):
                        found[total.value] = other
                    total.set(total.value + 1)
                    parent.set(k.max(parent.value, other))

            def add_dof(dof: Any, add: Any = add) -> None:
                add(self.at[world, self.block_of(dof)])

            for other, _ in self._each_listed("ancestors", self._ancestors, self.block_at[world, at]):
                add(self.at[world, other])
            tie = k.local(tie_head[at])
            with k.loop(0, self.tie_room):
                k.leave_when(tie.value < 0)
                code = k.local(self.ties[world, tie.value])
                with k.when(code.value >= 0):
                    self._visit_tied_dofs(code.value, add_dof)
                if rows.fills:
                    with k.otherwise(), k.loop(0, rows.column("nnz", -1 - code.value)) as place:
                        add_dof(rows.dof(-1 - code.value, place))
                tie.set(tie_next[tie.value])
            lower = k.local(child[at])
            with k.loop(0, self.nblock):
                k.leave_when(lower.value < 0)
                first = k.local(self.row_start[world, lower.value])
                with k.loop(first.value, first.value + self.row_length[world, lower.value]) as n:
                    add(found[n])
                lower.set(sibling[lower.value])
            kept = k.min(start.value, self.room)
            self.row_start[world, at] = kept
            self.row_length[world, at] = k.min(total.value, self.room) - kept
            with k.when(parent.value >= 0):
                sibling[at] = child[parent.value]
                child[parent.value] = at
        return total.value

    def _visit_tied_dofs(self, tie: Any, visit: Callable[[Any], None]) -> None:
        """The dofs that a tie ties together: of two bodies, those that move one but not both."""
        k, nbody = self.k, int(self.k.frozen_model.nbody)
        if not self.body_rows.spreads:
            apart(k, self._bodies(tie), visit, visit)
            return
        with k.when(self._is_of_two(tie)):
            apart(k, self._bodies(tie), visit, visit)
        with k.otherwise():
            for _, body in self.body_rows.each_spread_body(tie - nbody * nbody):
                for dof in each_dof_above(k, body):
                    visit(dof)

    def _sort_columns_of(self, world: Any) -> None:
        """Rows by columns, then columns by rows: what is listed by ascending columns ascends in every row."""
        k = self.k
        found, filled = self._integers("found", self.room), self._integers("filled", self.nblock)
        with k.loop(0, self.nblock + 1) as at:
            self.below_start[world, at] = 0
        for other, _ in self._each_found(world, found):
            self.below_start[world, other + 1] += 1
        with k.loop(0, self.nblock) as at:
            self.below_start[world, at + 1] += self.below_start[world, at]
            filled[at] = self.below_start[world, at]
        for other, row in self._each_found(world, found):
            self.below_row[world, filled[other]] = row
            filled[other] += 1
        with k.loop(0, self.nblock) as at:
            filled[at] = 0
        with k.loop(0, self.nblock) as at:
            for n, row in self.each_lower(world, at):
                self.column[world, self.row_start[world, row] + filled[row]] = at
                self.below_place[world, n] = filled[row]
                filled[row] += 1

    @walk
    def _each_found(self, world: Any, found: IntegerField) -> Iterator[tuple[Any, Any]]:
        """`for column, row in …:` runs its body for all blocks beside the diagonal, by ascending rows."""
        k = self.k
        with k.loop(0, self.nblock) as at:
            start = k.local(self.row_start[world, at])
            with k.loop(start.value, start.value + self.row_length[world, at]) as n:
                yield found[n], at

    @walk
    def each_lower(self, world: Any, at: Any) -> Iterator[tuple[Any, Any]]:
        """`for n, row in …:` runs its body for the blocks of a column: their numbers in its lists, and their rows."""
        with self.k.loop(self.below_start[world, at], self.below_start[world, at + 1]) as n:
            yield n, self.below_row[world, n]

    def place_in(self, world: Any, row: Any, column: Any) -> Any:
        """Where the block of a row in a column stands in `numbers`; there is one, or it is the diagonal's."""
        k = self.k
        start = k.local(self.row_start[world, row])
        low, high = k.local(start.value), k.local(start.value + self.row_length[world, row])
        with k.loop(0, DEEPEST_SEARCH):
            k.leave_when(low.value >= high.value)
            middle = k.local((low.value + high.value) // 2)
            with k.when(self.column[world, middle.value] < column):
                low.set(middle.value + 1)
            with k.otherwise():
                high.set(middle.value)
        return k.select(row == column, row, k.min(low.value, self.room - 1) + self.nblock)

    # ---- what has changed

    def nothing_changed(self, new: Any) -> None:
        super().nothing_changed(new)
        k, value = self.k, self.k.select(new, 1, 0)
        with k.loop(0, k.lanes) as world, k.loop(0, self.nblock) as at:
            self.world_changed[world, at] = value

    def change_bond(self, bond: Bond, change: Any) -> None:
        """A bond weighs otherwise than before where `change` is positive."""
        super().change_bond(bond, change)
        k, body_rows = self.k, bond.body_rows
        near, far = body_rows.near[bond.index], body_rows.far[bond.index]
        _, couples = has_ends(body_rows, bond.kind)
        with k.worlds(change > 0.0) as world:
            self.world_changed[world, self.at[world, self.block_of(last_dof(k, near))]] = 1
            if couples:
                with k.when(far > 0):
                    self.world_changed[world, self.at[world, self.block_of(last_dof(k, far))]] = 1
            if body_rows.spreads:
                with k.when(far == SPREAD):
                    for _, body in body_rows.each_spread_end(bond.index):
                        self.world_changed[world, self.at[world, self.block_of(last_dof(k, body))]] = 1

    def change_row(self, rows: DofRows, row: Any, change: Any) -> None:
        """The order of a row's trees differs between worlds, so that any of its dofs may be the first to be
        eliminated."""
        k = self.k
        super().change_row(rows, row, change)
        with k.worlds(change > 0.0) as world, k.loop(0, rows.column("nnz", row)) as n:
            self.world_changed[world, self.at[world, self.block_of(rows.dof(row, n))]] = 1

    def spread_changes(self) -> None:
        """In every world; then note the blocks that have changed in any."""
        k = self.k
        with k.loop(0, k.lanes) as world:
            for at in self._each_changed(world):
                self.changed[self.block_at[world, at]] = 1
                for other, _ in self._each_column(world, at):
                    self.world_changed[world, other] = 1

    @walk
    def _each_changed(self, world: Any) -> Iterator[Any]:
        """`for at in …:` runs its body for the changed rows, from the last."""
        k = self.k
        with k.loop(0, self.nblock, reverse=True) as at, k.when(self.world_changed[world, at] > 0):
            yield at

    # ---- entries

    @property
    def _deepest(self) -> int:
        """Most ancestors of a block."""
        return int(np.diff(self._ancestors.start).max())

    @property
    def _row(self) -> SplitField:
        """The blocks of one row that the tree has, from the root's to the diagonal."""
        return self.k.split("H_row", self._deepest + 1, B * B)

    def write_tree(self, new: Any, filled: Any = None) -> None:
        k, m = self.k, self.k.model
        with k.when(self.any_body_changed[0] > 0):
            self.sum_composites()
        start = k.table("H/ancestors_start", self._ancestors.start)
        with k.loop(0, self.nblock) as block, k.when(self.changed[block] > 0):
            size, first = self.size(block), self.first(block)
            depth = start[block + 1] - start[block]
            with k.loop(0, depth + 1) as n:
                self._row[n] = 0.0
            with k.loop(size, B) as place:
                self._row[depth, (B + 1) * place] = 1.0
            self._add_mass(first, size)
            with k.when(self.carries[m.dof_bodyid[first]] > 0):
                for n in np.unique(self.blocks.size).tolist():
                    with k.when(size == n):
                        self._add_composites([first + place for place in range(n)])
            self._put_row(block, depth)

    def _depth(self, dof: Any) -> Any:
        """How many ancestors a dof's block has."""
        start = self.k.table("H/ancestors_start", self._ancestors.start)
        block = self.block_of(dof)
        return start[block + 1] - start[block]

    def _add_mass(self, first: Any, size: Any) -> None:
        k, m, M = self.k, self.k.model, self.k.data.M
        with (
            k.loop(first, first + size) as row,
            k.loop(m.M_rowadr[row], m.M_rowadr[row] + m.M_rownnz[row]) as n,
        ):
            column = m.M_colind[n]
            self._row[self._depth(column), B * self.place_of(row) + self.place_of(column)] = M[n]

    def _add_composites(self, rows: list[Any]) -> None:
        """What the bonds to the ground make of a block's rows."""
        k, m, d, H = self.k, self.k.model, self.k.data, self._row
        pull = [symmetric_times(self.composite[m.dof_bodyid[row]], d.cdof[row]) for row in rows]
        start, count = m.D_rowadr[rows[0]], m.D_diag[rows[0]]
        with k.loop(0, count) as n:
            column = m.D_colind[start + n]
            axis, beside, depth = d.cdof[column], self.place_of(column), self._depth(column)
            for place in range(len(rows)):
                H[depth, B * place + beside] = H[depth, B * place + beside] + dot(pull[place], axis)
        depth = self._depth(rows[0])
        for place in range(len(rows)):
            for beside in range(place + 1):
                cell = depth, B * place + beside
                H[cell] = H[cell] + dot(pull[place], d.cdof[rows[beside]])

    def _put_row(self, block: Any, depth: Any) -> None:
        """Write a row into the worlds where it has changed; zero beside what the tree has."""
        k = self.k
        ancestors = k.table("H/ancestors", self._ancestors.blocks)
        start = k.table("H/ancestors_start", self._ancestors.start)[block]
        with k.worlds() as world:
            at = k.local(self.at[world, block])
            H, row = self.numbers.of(world), self._row.of(world)
            with k.when(self.world_changed[world, at.value] > 0):
                first = k.local(self.nblock + self.row_start[world, at.value])
                with k.loop(first.value, first.value + self.row_length[world, at.value]) as n:
                    H[n] = 0.0
                H[at.value] = row[depth]
                with k.loop(0, depth) as n:
                    place = k.local(self.place_in(world, at.value, self.at[world, ancestors[start + n]]))
                    H[place.value] = row[n]

    def add_coupling(self, bond: Bond, W: LaneField) -> None:
        """A bond between two moving bodies, block by block of its dofs."""
        k = self.k
        blocks, J = k.integers("unshared_blocks", self.nblock), self._unshared_J
        count = self._list_unshared(bond)
        with k.loop(0, count) as a, k.loop(a, count) as b:
            one, other = blocks[a], blocks[b]
            with k.when((self.changed[one] > 0) | (self.changed[other] > 0)):
                block = [[k.local(0.0) for _ in range(B)] for _ in range(B)]
                for row in bond.each_row():
                    for column in bond.each_row():
                        if not always_zero(bond, row, column):
                            weight = W[bond.index, row, column]
                            right = [weight * J[b, column, j] for j in range(B)]
                            for i in range(B):
                                for j in range(B):
                                    block[i][j] += J[a, row, i] * right[j]
                self._put_block(one, other, [[x.value for x in line] for line in block], bond)

    @property
    def _unshared_J(self) -> LaneField:
        return self.k.scratch("unshared_J", self.nblock, LARGEST_DIM, B)

    def _list_unshared(self, bond: Bond) -> Any:
        """Write J, and the blocks of the dofs that move one of a bond's bodies relative to the other; returns how
        many."""
        k, rows = self.k, bond.body_rows
        count = k.local(0)
        if bond.kind.name == EQUALITY:
            self._write_both_chains(bond, count)
            self._list_span(bond, count)
            return count.value
        if not rows.spreads:
            self._list_two(bond, count)
            return count.value
        with k.when(rows.far[bond.index] == SPREAD):
            self._write_many_chains(bond, count)
            self._list_span(bond, count)
        if (rows.contact_ends.far > 0).any() or rows.nequality:
            with k.when(rows.far[bond.index] > 0):
                self._list_two(bond, count)
        return count.value

    def _list_span(self, bond: Bond, count: Variable) -> None:
        """Take over blocks and J that the dense Hessian's way of writing them has found."""
        k, J = self.k, self._unshared_J
        blocks = k.integers("unshared_blocks", self.nblock)
        with k.loop(0, count.value) as n:
            blocks[n] = self._span[n]
            for row in bond.each_row():
                for place in range(B):
                    J[n, row, place] = self._span_J[n, place, row]

    def _list_two(self, bond: Bond, count: Variable) -> None:
        """The same for a contact of two bodies."""
        k, d, body_rows, J = self.k, self.k.data, bond.body_rows, self._unshared_J
        blocks = k.integers("unshared_blocks", self.nblock)
        last = k.local(-1)

        def visit(dof: Any, wrench: LaneField, sign: float = 1.0) -> None:
            with k.when(self.block_of(dof) != last.value):
                last.set(self.block_of(dof))
                blocks[count.value] = last.value
                for row in bond.each_row():
                    J[count.value, row] = 0.0
                count.set(count.value + 1)
            for row in bond.each_row():
                product = dot(wrench[bond.index, row], d.cdof[dof])
                J[count.value - 1, row, self.place_of(dof)] = sign * product

        apart(
            k,
            (body_rows.near[bond.index], body_rows.far[bond.index]),
            lambda dof: visit(dof, body_rows.near_wrench),
            lambda dof: (
                visit(dof, body_rows.near_wrench, -1.0)
                if body_rows.mirrored
                else visit(dof, body_rows.far_wrench)
            ),
        )

    def _put_block(self, one: Any, other: Any, block: list[list[Any]], bond: Bond) -> None:
        """Add a block in the worlds that have the bond and whose row has changed, on this side of the diagonal."""
        k = self.k
        numbers = k.split("H_block", B * B)
        for i in range(B):
            for j in range(B):
                numbers[B * i + j] = block[i][j]
        with k.worlds(bond.D > 0.0) as world:
            H, own = self.numbers.of(world), numbers.of(world)
            first, second = k.local(self.at[world, one]), k.local(self.at[world, other])
            row = k.max(first.value, second.value)
            with k.when(self.world_changed[world, row] > 0):
                place = k.local(self.place_in(world, row, k.min(first.value, second.value)))
                with k.when(first.value >= second.value):
                    for n in range(B * B):
                        H[place.value, n] = H[place.value, n] + own[n]
                with k.otherwise():
                    for i in range(B):
                        for j in range(B):
                            H[place.value, B * j + i] = H[place.value, B * j + i] + own[B * i + j]

    def add_diagonal(self, dof: Any, value: Any) -> None:
        self.add_dof_row(dof, dof, value)

    def add_dof_row(self, dof: Any, other: Any, value: Any) -> None:
        k = self.k
        one, second = self.block_of(dof), self.block_of(other)
        with k.when((self.changed[one] > 0) | (self.changed[second] > 0)):
            number = k.split("H_number", 1)
            number[0] = value
            with k.worlds(k.abs(value) > 0.0) as world:
                H = self.numbers.of(world)
                first, last = k.local(self.at[world, one]), k.local(self.at[world, second])
                row = k.max(first.value, last.value)
                with k.when(self.world_changed[world, row] > 0):
                    place = self.place_in(world, row, k.min(first.value, last.value))
                    below = B * self.place_of(dof) + self.place_of(other)
                    above = B * self.place_of(other) + self.place_of(dof)
                    cell = k.local(k.select(first.value >= last.value, below, above))
                    there = k.local(place)
                    H[there.value, cell.value] = H[there.value, cell.value] + number.of(world)[0]

    # ---- factor

    def factor(self) -> None:
        """H = Lᵀ·L in place, the changed rows of it."""
        k = self.k
        with k.loop(0, k.lanes) as world:
            for at in self._each_changed(world):
                inside = self._root(self._take_in(world, at))
                self._finish_row(world, at, inside)

    def _take_in(self, world: Any, at: Any) -> Any:
        """Subtract from a row what the rows below it, done already, make of it; returns the diagonal block."""
        k, L, nblock = self.k, self.numbers.of(world), self.nblock
        where = self._integers("where", nblock)
        for other, place in self._each_column(world, at):
            where[other] = place
        total = k.uniform(np.array([L[at, B * i + j] for i, j in LOWER], dtype=object))
        for n, row in self.each_lower(world, at):
            first = k.local(self.row_start[world, row])
            place = k.local(self.below_place[world, n])
            x = L[nblock + first.value + place.value].reshape(B, B)
            total -= np.array([dot(x[:, i], x[:, j]) for i, j in LOWER], dtype=object)
            with k.loop(0, place.value) as m:
                y = L[nblock + first.value + m].reshape(B, B)
                there = k.local(where[self.column[world, first.value + m]])
                product = [dot(x[:, i], y[:, j]) for i in range(B) for j in range(B)]
                L[there.value] = L[there.value] - np.array(product, dtype=object)
        return total.value

    def _finish_row(self, world: Any, at: Any, inside: tuple[Any, ...]) -> None:
        """Write L of the diagonal block, and of those beside it."""
        L = self.numbers.of(world)
        r0, r1, r2, l10, l20, l21 = inside
        for (i, j), value in zip(LOWER, (r0, l10, r1, l20, l21, r2), strict=True):
            L[at, B * i + j] = value
        for _, place in self._each_column(world, at):
            h = L[place].reshape(B, B)
            solved = np.array([_upper_solve(inside, h[:, j]) for j in range(B)], dtype=object).T
            L[place] = solved.reshape(-1)

    def _root(self, total: Any) -> tuple[Any, ...]:
        """L of a diagonal block: inverse diagonal, then L₁₀, L₂₀, L₂₁."""
        k = self.k
        h00, h10, h11, h20, h21, h22 = total
        r2 = 1.0 / k.sqrt(k.max(h22, MINVAL))
        l20, l21 = h20 * r2, h21 * r2
        r1 = 1.0 / k.sqrt(k.max(h11 - l21 * l21, MINVAL))
        l10 = (h10 - l20 * l21) * r1
        r0 = 1.0 / k.sqrt(k.max(h00 - l20 * l20 - l10 * l10, MINVAL))
        return r0, r1, r2, l10, l20, l21

    def solve(self, vector: LaneField) -> None:
        """Replace a vector (nv) by H⁻¹ times it."""
        k, numbers = self.k, self.k.split("H_vector", self.nv)
        with k.loop(0, self.nv) as dof:
            numbers[dof] = vector[dof]
        with k.loop(0, k.lanes) as world:
            self._solve_world(world, numbers)
        with k.loop(0, self.nv) as dof:
            vector[dof] = numbers[dof]

    def _solve_world(self, world: Any, numbers: SplitField) -> None:
        k = self.k
        x, L, given = k.reals("H_unknowns", self.nblock, B), self.numbers.of(world), numbers.of(world)
        if self.padded:
            with k.loop(0, self.nblock) as at:
                x[at] = 0.0
        with k.loop(0, self.nv) as dof:
            x[self.at[world, self.block_of(dof)], self.place_of(dof)] = given[dof]
        with k.loop(0, self.nblock, reverse=True) as at:  # Lᵀ u = x
            u = np.array(_upper_solve(self._inside_of(L[at]), x[at]), dtype=object)
            x[at] = u
            for other, there in self._each_column(world, at):
                x[other] = x[other] - L[there].reshape(B, B).T @ u
        with k.loop(0, self.nblock) as at:  # L x = u
            total = k.uniform(x[at])
            for other, there in self._each_column(world, at):
                total -= L[there].reshape(B, B) @ x[other]
            r0, r1, r2, l10, l20, l21 = self._inside_of(L[at])
            u0, u1, u2 = total.value
            x0 = u0 * r0
            x1 = (u1 - l10 * x0) * r1
            x[at] = np.array([x0, x1, (u2 - l20 * x0 - l21 * x1) * r2], dtype=object)
        with k.loop(0, self.nv) as dof:
            given[dof] = x[self.at[world, self.block_of(dof)], self.place_of(dof)]

    @walk
    def _each_column(self, world: Any, at: Any) -> Iterator[tuple[Any, Any]]:
        """`for column, place in …:` runs its body for the blocks beside the diagonal of a row."""
        k = self.k
        start = k.local(self.row_start[world, at])
        with k.loop(start.value, start.value + self.row_length[world, at]) as n:
            yield self.column[world, n], self.nblock + n

    def _inside_of(self, L: Any) -> tuple[Any, ...]:
        return L[0], L[4], L[8], L[3], L[6], L[7]
