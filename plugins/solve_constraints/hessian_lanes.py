"""The Hessian M + Jᵀ·W·J of the constrained problem in lanes: its pattern, its entries, its factor.

Bonds to bodies that do not move keep the sparsity of the tree: with A(b) = Σ wᵀ·W·w over the bonds of body b and of
all it carries, their part is cdofⱼ·A(body of i)·cdofᵢ for every ancestor j of i, as in the composite-rigid-body
algorithm. Bonds between two moving bodies act through a short J over the dofs above the bodies; contacts, over those
that the bodies do not share. If the bodies are of different branches, rows get columns beyond their ancestors; which,
is worked out for the tile as a whole by symbolic elimination from the leaves to the root. An entry that another world
needs is an exact zero in this one.

Dofs are taken in blocks of up to three, each the parent of the next, so that most of the work is on 3 x 3 matrices
in registers. From one iteration to the next only the blocks are done again in whose rows something has changed.
Compare mj_solNewton; Featherstone, Rigid Body Dynamics Algorithms, sections 6.3 and 6.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField, Variable
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.rows_lanes import EQUALITY, LARGEST_DIM, SPREAD, BodyRows, BondKind, DofRows
from dovetail.plugins.shared.solver.row_costs_lanes import Bond, Values, always_zero
from dovetail.plugins.shared.vectors_lanes import dot

PACKED = [(i, j) for i in range(6) for j in range(i + 1)]
"""Entries of a symmetric 6 x 6 matrix that are stored."""

B = 3
"""Dofs per block; shorter blocks are filled up with rows of the identity."""

PIVOT_NOISE = 1e-6
"""Pivots relative to the matrix's entry that are mere rounding in single precision."""

PATTERN = "it follows from the ties, and is found again only if other bodies are tied together"
"""Why the pattern of a Hessian is kept beside the ties that it follows from."""

USUAL_ROOM, USUAL_WIDTH = 4096, 64
"""Blocks beside the diagonal that there is memory for: so many, or so many per row. They lie side by side from the
front, so that what a tile does not need is never touched."""


def has_ends(body_rows: BodyRows, kind: BondKind) -> tuple[bool, bool]:
    """Whether any bond of a kind may be tied to the ground, and whether any may have two moving ends."""
    far = [end for _, end in body_rows.far_bodies(kind)]
    return 0 in far, any(far)


class Blocks(NamedTuple):
    """Runs of dofs each of which is the parent of the next."""

    first: Array
    size: Array
    of: Array
    """Block of each dof."""
    place: Array
    """Of each dof within its block."""


def blocks_of(model: ModelLike) -> Blocks:
    """Cut the dofs into short runs."""
    first: list[int] = []
    size: list[int] = []
    for dof, parent in enumerate(np.asarray(model.dof_parentid).tolist()):
        if first and parent == dof - 1 >= first[-1] and size[-1] < B:
            size[-1] += 1
        else:
            first.append(dof)
            size.append(1)
    of = np.repeat(np.arange(len(first)), size)
    return Blocks(np.array(first), np.array(size), of, np.arange(len(of)) - np.array(first)[of])


class BlockLists(NamedTuple):
    """A list of blocks for each block."""

    start: Array
    """Of each block's list, and the end of the last."""
    blocks: Array


def ancestors_of(model: ModelLike, blocks: Blocks) -> BlockLists:
    """The blocks that hold ancestors of each block's dofs, ascending."""
    found: list[list[int]] = []
    for dof in blocks.first.tolist():
        parent = int(model.dof_parentid[dof])
        above = int(blocks.of[parent]) if parent >= 0 else -1
        found.append([*found[above], above] if above >= 0 else [])
    return _joined(found)


def descendants_of(ancestors: BlockLists) -> BlockLists:
    """The blocks that have each block among their ancestors, ascending."""
    found: list[list[int]] = [[] for _ in ancestors.start[1:]]
    for block, (start, end) in enumerate(zip(ancestors.start, ancestors.start[1:], strict=False)):
        for above in ancestors.blocks[start:end].tolist():
            found[above].append(block)
    return _joined(found)


def _joined(lists: list[list[int]]) -> BlockLists:
    start = np.concatenate([[0], np.cumsum([len(own) for own in lists])])
    return BlockLists(start, np.array([*(block for own in lists for block in own), 0]))


@attrs.define(eq=False)
class Hessian:
    """Blocks H[I, J] with J ≤ I, in place of which the factor L of H = Lᵀ·L comes."""

    k: Kernel
    body_rows: BodyRows
    fills: bool
    """Whether entries beyond those of the tree are possible."""

    @property
    def nv(self) -> int:
        return int(self.k.model.nv)

    @cached_property
    def blocks(self) -> Blocks:
        return blocks_of(self.k.frozen_model)

    @property
    def nblock(self) -> int:
        return len(self.blocks.first)

    @property
    def padded(self) -> bool:
        return bool((self.blocks.size < B).any())

    @cached_property
    def _padded(self) -> Array:
        """1 for blocks whose row has places of no entry: they or ancestors are short, or the chain above them leaves
        an ancestor's block before its end."""
        ancestors = np.diff(self._ancestors.start)
        above = np.asarray(self.k.frozen_model.D_diag)[self.blocks.first]
        return ((self.blocks.size < B) | (above < B * ancestors)).astype(int)

    @property
    def most(self) -> int:
        """Blocks beside the diagonal that the pattern can have."""
        if not self.fills:
            return len(self._ancestors.blocks)
        return self.nblock * (self.nblock - 1) // 2

    @property
    def room(self) -> int:
        """Blocks beside the diagonal that there is memory for; never less than a row of them."""
        return self.k.room(self.most, max(USUAL_ROOM, USUAL_WIDTH * self.nblock)) if self.fills else self.most

    @property
    def may_lack_room(self) -> bool:
        return self.room < self.most

    @property
    def blocks_field(self) -> LaneField:
        """H[I, J] or L[I, J] at `place(I, J)`: the diagonal blocks, of which the lower triangle counts, L's diagonal
        inverted; then the others that the pattern has, row by row."""
        return self.k.scratch("H", self.nblock + self.room, B * B)

    @property
    def entries(self) -> _Entries:
        return _Entries(self)

    def block_of(self, dof: Any) -> Any:
        return self.k.table("H/block", self.blocks.of)[dof]

    def place_of(self, dof: Any) -> Any:
        return self.k.table("H/place", self.blocks.place)[dof]

    def first(self, block: Any) -> Any:
        return self.k.table("H/first", self.blocks.first)[block]

    def size(self, block: Any) -> Any:
        return self.k.table("H/size", self.blocks.size)[block]

    # ---- pattern: which blocks have entries

    @cached_property
    def _ancestors(self) -> BlockLists:
        return ancestors_of(self.k.frozen_model, self.blocks)

    @cached_property
    def _descendants(self) -> BlockLists:
        return descendants_of(self._ancestors)

    @walk
    def _each_listed(self, name: str, lists: BlockLists, block: Any) -> Iterator[tuple[Any, Any]]:
        """`for other, n in …:` runs its body, at run time, for the blocks of a constant list and their indices."""
        k, start = self.k, self.k.table(f"H/{name}_start", lists.start)
        with k.loop(start[block], start[block + 1]) as n:
            yield k.table(f"H/{name}", lists.blocks)[n], n

    @property
    def _places(self) -> IntegerField:
        """By row and column, where a block of H stands; 0 beside the diagonal where H has no entries."""
        return self.k.integers("H_places", self.nblock, self.nblock, memo=PATTERN)

    @property
    def _lists(self) -> IntegerField:
        """Of each block, from the front the columns of its row; up to the end the rows below it in its column."""
        return self.k.integers("H_lists", self.nblock, self.nblock, memo=PATTERN)

    @property
    def _start(self) -> IntegerField:
        """Where the first block of each row stands."""
        return self.k.integers("H_start", self.nblock, memo=PATTERN)

    @property
    def _beside(self) -> IntegerField:
        """How many columns are listed of each row."""
        return self.k.integers("H_beside", self.nblock, memo=PATTERN)

    @property
    def _below(self) -> IntegerField:
        """How many rows are listed of each column."""
        return self.k.integers("H_below", self.nblock, memo=PATTERN)

    def place(self, block: Any, other: Any) -> Any:
        """Where H[block, other] stands, which has entries; `other` does not come after `block`."""
        if self.fills:
            return self._places[block, other]
        return self.k.select(block == other, block, self.place_beside(block, other))

    def place_beside(self, block: Any, other: Any) -> Any:
        """The same for another block than the diagonal one; 0 if it has no entries, though not in a tree, where it
        must be an ancestor: the how manieth is known from its own ancestors."""
        if self.fills:
            return self._places[block, other]
        start = self.k.table("H/ancestors_start", self._ancestors.start)
        return start[block] + start[other + 1] - start[other] + self.nblock

    @walk
    def each_beside(self, block: Any) -> Iterator[tuple[Any, Any]]:
        """`for other, place in …:` runs its body for the columns before the diagonal in which a row has entries, and
        where those are; ascending, so that a world's sums do not depend on what others in the tile connect."""
        if self.fills:
            with self.k.loop(0, self._beside[block]) as n:
                yield self._lists[block, n], self._start[block] + n
        else:
            for other, n in self._each_listed("ancestors", self._ancestors, block):
                yield other, n + self.nblock

    @walk
    def each_below(self, block: Any) -> Iterator[Any]:
        """`for lower in …:` runs its body for the rows that have entries in a block's column, ascending."""
        if self.fills:
            with self.k.loop(self.nblock - self._below[block], self.nblock) as n:
                yield self._lists[block, n]
        else:
            for lower, _ in self._each_listed("descendants", self._descendants, block):
                yield lower

    def start_pattern(self) -> None:
        """The ancestors of every block."""
        k = self.k
        with k.loop(0, self.nblock) as block:
            for other, _ in self.each_beside(block):
                self._places[block, other] = 0
            self._places[block, block] = block
            self._beside[block] = 0
            self._below[block] = 0
            for other, _ in self._each_listed("ancestors", self._ancestors, block):
                self._connect_blocks(block, other)

    def connect(self, dof: Any, other: Any) -> None:
        """The last dof of a constraint row and another one of it; the others get connected by `finish_pattern`."""
        with self.k.when(self.block_of(dof) != self.block_of(other)):
            self._connect_blocks(self.block_of(dof), self.block_of(other))

    def _connect_blocks(self, block: Any, other: Any) -> None:
        """List a column of a row, unless it is listed; its place comes later."""
        with self.k.when(self._places[block, other] == 0):
            self._places[block, other] = 1
            self._lists[block, self._beside[block]] = other
            self._beside[block] += 1

    def finish_pattern(self) -> None:
        """Eliminating a block connects all that it is connected with, which the highest of those passes on."""
        k, lists, total = self.k, self._lists, self.k.local(0)
        with k.loop(0, self.nblock, reverse=True) as block:
            self._sort_columns(block)
            count = k.local(self._beside[block])
            taken = k.min(total.value, self.room - count.value) if self.may_lack_room else total.value
            start = k.local(self.nblock + taken)
            self._start[block] = start.value
            total += count.value
            with k.loop(0, count.value) as n:
                other = lists[block, n]
                self._places[block, other] = start.value + n
                self._below[other] += 1
                lists[other, self.nblock - self._below[other]] = block
                with k.when(n < count.value - 1):
                    self._connect_blocks(lists[block, count.value - 1], other)
        self._total[0] = total.value
        if self.may_lack_room:
            with k.when(~self.fits):
                k.lacks(total.value, self.room)

    @property
    def _total(self) -> IntegerField:
        return self.k.integers("H_total", 1, memo=PATTERN)

    @property
    def fits(self) -> Any:
        """Whether there is room for the pattern."""
        return self._total[0] <= self.room

    def _sort_columns(self, block: Any) -> None:
        """Insert one column after the other among those before it; most are in order."""
        k, lists = self.k, self._lists
        with k.loop(1, self._beside[block]) as n:
            column, place = k.local(lists[block, n]), k.local(n)
            with k.loop(0, n, reverse=True) as before:
                k.leave_when(lists[block, before] < column.value)
                lists[block, before + 1] = lists[block, before]
                place.set(before)
            lists[block, place.value] = column.value

    # ---- what has changed

    @property
    def changed_body(self) -> IntegerField:
        """1 for bodies whose bonds to the ground weigh otherwise than before."""
        return self.k.integers("changed_body", self.k.model.nbody)

    @property
    def any_body_changed(self) -> IntegerField:
        """1 if there is such a body."""
        return self.k.integers("any_body_changed", 1)

    @property
    def changed(self) -> IntegerField:
        """1 for blocks whose rows have other entries than before."""
        return self.k.integers("changed_block", self.nblock)

    def nothing_changed(self, new: Any) -> None:
        """Before the first of the changes; with `new`, everything is to be done."""
        k = self.k
        value = k.select(new, 1, 0)
        self.any_body_changed[0] = value
        with k.loop(0, k.model.nbody) as body:
            self.changed_body[body] = value
        with k.loop(0, self.nblock) as block:
            self.changed[block] = value

    def change_bond(self, bond: Bond, change: Any) -> None:
        """A bond weighs otherwise than before, in the worlds where `change` is positive."""
        body_rows = bond.body_rows
        near, far = body_rows.near[bond.index], body_rows.far[bond.index]
        grounds, couples = has_ends(body_rows, bond.kind)
        self.changed[self.block_of(last_dof(self.k, near))] = 1
        if couples:
            with self.k.when(far > 0):
                self.changed[self.block_of(last_dof(self.k, far))] = 1
        if body_rows.spreads:
            with self.k.when(far == SPREAD):
                for _, body in body_rows.each_spread_end(bond.index):
                    self.changed[self.block_of(last_dof(self.k, body))] = 1
        if grounds:
            with self.k.when(far == 0):
                self.changed_body[near] = 1
                self.any_body_changed[0] = 1

    def change_row(self, rows: DofRows, row: Any, change: Any) -> None:
        """So does a dof row."""
        self.changed[self.block_of(rows.dof(row, 0))] = 1

    def spread_changes(self) -> None:
        """What a block does to those it is connected with changes, too."""
        k = self.k
        with k.loop(0, self.nblock, reverse=True) as block, k.when(self.changed[block] > 0):
            for other, _ in self.each_beside(block):
                self.changed[other] = 1

    # ---- entries

    @property
    def own(self) -> LaneField:
        """A of a body's own bonds to the ground."""
        return self.k.scratch("own", self.k.model.nbody, len(PACKED))

    @property
    def composite(self) -> LaneField:
        return self.k.scratch("composite", self.k.model.nbody, len(PACKED))

    @property
    def loaded(self) -> IntegerField:
        """1 for bodies that have bonds to the ground."""
        return self.k.integers("loaded", self.k.model.nbody)

    def forget_changed(self) -> None:
        """Forget the bonds of bodies that will be added again."""
        k = self.k
        with k.loop(1, k.model.nbody) as body, k.when(self.changed_body[body] > 0):
            self.loaded[body] = 0

    def add_grounded(self, bond: Bond, W: LaneField) -> None:
        """A bond between a changed body and the ground: A += wᵀ·W·w."""
        k, wrench = self.k, bond.body_rows.near_wrench
        body = bond.body_rows.near[bond.index]
        with k.when(self.changed_body[body] > 0):
            total = k.local(np.zeros(len(PACKED)))
            for row in bond.each_row():
                weighted = k.local(np.full(6, 0.0, object))
                for column in bond.each_row():
                    if not always_zero(bond, row, column):
                        weighted += W[bond.index, row, column] * wrench[bond.index, column]
                w, u = wrench[bond.index, row], weighted.value
                total += np.array([w[i] * u[j] for i, j in PACKED], dtype=object)
            self._gather(self.loaded, self.own, body, total.value)

    def _gather(self, there: IntegerField, sums: LaneField, body: Any, part: Any) -> None:
        """Add to a body's sum, which this begins unless `there` says that it is there."""
        with self.k.when(there[body] > 0):
            sums[body] += part
        with self.k.otherwise():
            sums[body] = part
        there[body] = 1

    @property
    def carries(self) -> IntegerField:
        """1 for bodies that have bonds to the ground, or carry such."""
        return self.k.integers("carries", self.k.model.nbody)

    def sum_composites(self) -> None:
        """A of every body with all it carries."""
        k, m = self.k, self.k.model
        with k.loop(0, m.nbody) as body:
            self.carries[body] = 0
        with k.loop(1, m.nbody, reverse=True) as body:
            with k.when(self.loaded[body] > 0):
                self._gather(self.carries, self.composite, body, self.own[body])
            parent = m.body_parentid[body]
            with k.when(self.carries[body] == 0):
                self.composite[body] = 0.0
            with k.otherwise(), k.when(parent > 0):
                self._gather(self.carries, self.composite, parent, self.composite[body])

    def write_tree(self, new: Any, filled: Any = None) -> None:
        """M and the bonds to the ground in the rows of changed blocks; zero in all other places of the pattern, of
        which there are some if `filled` (None: never). With `new` the places hold what another step left there, so
        those of no entry are cleared, too; the factor leaves them as they are."""
        k, m = self.k, self.k.model
        with k.when(self.any_body_changed[0] > 0):
            self.sum_composites()
        with k.loop(0, self.nblock) as block, k.when(self.changed[block] > 0):
            size, first = self.size(block), self.first(block)
            if self.whole:
                cleared = new & (k.table("H/padded", self._padded)[block] > 0)
                cleared = cleared if filled is None else cleared | filled
            else:
                cleared = size > 0
            with k.when(cleared):
                self._clear(block)
            with k.when(self.carries[m.dof_bodyid[first]] > 0):
                for n in np.unique(self.blocks.size).tolist():
                    with k.when(size == n):
                        self._write_composites(block, [first + place for place in range(n)])
                if not self.whole:
                    self._write_mass(first, size)
            with k.otherwise():
                self._write_mass(first, size)

    @cached_property
    def whole(self) -> bool:
        """Whether M has an entry for every ancestor of every dof; they stand in the same order then."""
        model = self.k.frozen_model
        return bool(np.array_equal(model.M_rownnz, model.D_diag + 1))

    def _write_composites(self, block: Any, rows: list[Any]) -> None:
        """What the bonds to the ground make of a block's rows, and M if it is whole."""
        k, m, d, H = self.k, self.k.model, self.k.data, self.blocks_field
        pull = [symmetric_times(self.composite[m.dof_bodyid[row]], d.cdof[row]) for row in rows]
        start, count = m.D_rowadr[rows[0]], m.D_diag[rows[0]]

        def entry(place: int, at: Any, axis: Any) -> Any:
            mass = d.M[m.M_rowadr[rows[place]] + at] if self.whole else 0.0
            return mass + dot(pull[place], axis)

        with k.loop(0, count) as n:
            column = m.D_colind[start + n]
            axis, beside = d.cdof[column], self.place_of(column)
            there = self.place_beside(block, self.block_of(column))
            for place in range(len(rows)):
                H[there, B * place + beside] = entry(place, n, axis)
        for place in range(len(rows)):
            for beside in range(place + 1):
                H[block, B * place + beside] = entry(place, count + beside, d.cdof[rows[beside]])

    def _write_mass(self, first: Any, size: Any) -> None:
        """M in rows that have nothing yet; added, if it is not whole, to what is there."""
        k, m, M = self.k, self.k.model, self.k.data.M
        with (
            k.loop(first, first + size) as row,
            k.loop(m.M_rowadr[row], m.M_rowadr[row] + m.M_rownnz[row]) as at,
        ):
            cell = row, m.M_colind[at]
            self.entries[cell] = M[at] if self.whole else self.entries[cell] + M[at]

    def _clear(self, block: Any) -> None:
        """Zero the rows of a block; those that only fill it up are the identity's."""
        k, H = self.k, self.blocks_field
        for _, there in self.each_beside(block):
            H[there] = 0.0
        H[block] = 0.0
        with k.loop(self.size(block), B) as place:
            H[block, (B + 1) * place] = 1.0

    def add_coupling(self, bond: Bond, W: LaneField) -> None:
        """A bond between two moving bodies, through its J over the blocks of dofs."""
        k, H, blocks = self.k, self.blocks_field, self._span
        count = self._write_span(bond)
        with k.loop(0, count) as a, k.when(self.changed[blocks[a]] > 0):
            block = blocks[a]
            own = [self._weighted(bond, W, a, place) for place in range(B)]
            lower = [(i, j) for i in range(B) for j in range(i + 1)]
            H[block] = _placed(self._product(bond, own, a, lower), lower, H[block])
            with k.loop(a + 1, count) as b:
                there = self.place_beside(block, blocks[b])
                H[there] += self._product(bond, own, b, [(i, j) for i in range(B) for j in range(B)])

    @property
    def _span(self) -> IntegerField:
        """Blocks with dofs that move one of a bond's bodies relative to the other, descending."""
        return self.k.integers("span", self.nblock)

    @property
    def _span_J(self) -> LaneField:
        """J over their dofs."""
        return self.k.scratch("span_J", self.nblock, B, LARGEST_DIM)

    def _write_span(self, bond: Bond) -> Any:
        """Write the blocks of a bond's dofs, and J; returns how many they are."""
        k, rows = self.k, bond.body_rows
        count = k.local(0)
        if bond.kind.name == EQUALITY:
            self._write_both_chains(bond, count)
            return count.value
        if not rows.spreads:
            self._write_two_chains(bond, count)
            return count.value
        with k.when(rows.far[bond.index] == SPREAD):
            self._write_many_chains(bond, count)
        if (rows.contact_ends.far > 0).any() or rows.nequality:
            with k.when(rows.far[bond.index] > 0):
                self._write_two_chains(bond, count)
        return count.value

    def _write_many_chains(self, bond: Bond, count: Variable) -> None:
        """All blocks above any body of a spread bond, from the last on, and J summed over the bodies. Dofs that move
        all of them have a J of nearly zero."""
        k, m, rows = self.k, self.k.model, bond.body_rows
        tips = k.integers("tips", rows.spread_table.shape[1])
        with k.loop(0, rows.spread_table.shape[1]) as n:
            tips[n] = -1
        for n, body in rows.each_spread_end(bond.index):
            tips[n] = last_dof(k, body)
        with k.loop(0, self.nblock):
            top = k.local(-1)
            with k.loop(0, rows.spread_table.shape[1]) as n:
                top.set(k.max(top.value, tips[n]))
            k.leave_when(top.value < 0)
            block = k.local(self.block_of(top.value))
            self._span[count.value] = block.value
            for place in range(B):
                for row in bond.each_row():
                    self._span_J[count.value, place, row] = 0.0
            with k.loop(0, rows.spread_table.shape[1]) as n, k.when(tips[n] >= self.first(block.value)):
                for place in range(B):
                    counts = self.first(block.value) + place <= tips[n]
                    axis = k.data.cdof[k.min(self.first(block.value) + place, tips[n])]
                    for row in bond.each_row():
                        own = dot(rows.spread_wrench[bond.index, n, row], axis)
                        self._span_J[count.value, place, row] += k.select(counts, own, 0.0)
                tips[n] = m.dof_parentid[self.first(block.value)]
            count += 1

    def _write_both_chains(self, bond: Bond, count: Variable) -> None:
        """All blocks above either body of an equality: its two points lie apart as long as it is violated, so that
        dofs which move both bodies move the one relative to the other."""
        k, m, rows = self.k, self.k.model, bond.body_rows
        tips = [k.local(last_dof(k, end[bond.index])) for end in (rows.near, rows.far)]
        with k.loop(0, self.nblock):
            top = k.max(tips[0].value, tips[1].value)
            k.leave_when(top < 0)
            block = k.local(self.block_of(top))
            first = k.local(self.first(block.value))
            self._span[count.value] = block.value
            for place in range(B):
                for row in bond.each_row():
                    self._span_J[count.value, place, row] = 0.0
            for tip, wrench in zip(tips, (rows.near_wrench, rows.far_wrench), strict=True):
                with k.when(tip.value >= first.value):
                    for place in range(B):
                        axis = k.data.cdof[k.min(first.value + place, tip.value)]
                        for row in bond.each_row():
                            own = dot(wrench[bond.index, row], axis)
                            counts = first.value + place <= tip.value
                            self._span_J[count.value, place, row] += k.select(counts, own, 0.0)
                    tip.set(m.dof_parentid[first.value])
            count += 1

    def _write_two_chains(self, bond: Bond, count: Variable) -> None:
        """Up both chains of a contact, until they meet: what moves both of its bodies moves its one point with
        both."""
        k, m, rows = self.k, self.k.model, bond.body_rows
        ends = [k.local(last_dof(k, end[bond.index])) for end in (rows.near, rows.far)]
        wrenches = [(rows.near_wrench, 1.0), (rows.near_wrench, -1.0)]
        if not rows.mirrored:
            wrenches[1] = rows.far_wrench, 1.0

        def climb(side: int) -> None:
            dof, other = ends[side].value, ends[1 - side].value
            block = self.block_of(dof)
            shared = k.max(other - self.first(block) + 1, 0)  # dofs of the block, if they meet in it
            self._span[count.value] = block
            self._write_span_J(bond, count.value, *wrenches[side], (self.first(block), shared, dof))
            count.set(count.value + 1)
            ends[side].set(k.select(shared > 0, other, m.dof_parentid[self.first(block)]))

        with k.loop(0, 2 * self.nblock):
            k.leave_when(ends[0].value == ends[1].value)
            with k.when(ends[0].value > ends[1].value):
                climb(0)
            with k.otherwise():
                climb(1)

    def _write_span_J(
        self, bond: Bond, n: Any, wrench: LaneField, sign: float, dofs: tuple[Any, Any, Any]
    ) -> None:
        """J over a block of which some first dofs are shared, and one is the last that counts; zero over others."""
        k, (first, shared, last) = self.k, dofs
        for place in range(B):
            counts = (shared <= place) & (first + place <= last)
            factor = k.select(counts, sign, 0.0)
            axis = k.data.cdof[k.min(first + place, last)]
            for row in bond.each_row():
                self._span_J[n, place, row] = factor * dot(wrench[bond.index, row], axis)

    def _weighted(self, bond: Bond, W: LaneField, n: Any, place: int) -> Values:
        """W times a column of J over a span; kept in registers if the rows are written out."""
        k, J, memory = self.k, self._span_J, self.k.scratch("span_WJ", B, LARGEST_DIM)
        found: dict[int, Any] = {}
        for row in bond.each_row():
            total = k.local(0.0)
            for column in bond.each_row():
                if not always_zero(bond, row, column):
                    total += W[bond.index, row, column] * J[n, place, column]
            if isinstance(row, int):
                found[row] = total.value
            else:
                memory[place, row] = total.value
        return lambda row: found[row] if isinstance(row, int) else memory[place, row]

    def _product(self, bond: Bond, own: list[Values], n: Any, entries: list[tuple[int, int]]) -> Any:
        """Entries of Jᵀ·W·J, from W·J of a block and J of another one."""
        total = self.k.local(np.zeros(len(entries)))
        for row in bond.each_row():
            total += np.array([own[i](row) * self._span_J[n, j, row] for i, j in entries], dtype=object)
        return total.value

    def add_diagonal(self, dof: Any, value: Any) -> None:
        """The product of a row of one dof with itself."""
        block = self.block_of(dof)
        with self.k.when(self.changed[block] > 0):
            self.blocks_field[block, (B + 1) * self.place_of(dof)] += value

    def add_dof_row(self, dof: Any, other: Any, value: Any) -> None:
        """One product of a dof row with itself."""
        with self.k.when(self.changed[self.block_of(dof)] > 0):
            self.entries[dof, other] += value

    # ---- factor

    def factor(self) -> None:
        """H = Lᵀ·L from the leaves to the root, in place, the changed blocks of it."""
        k = self.k
        with k.loop(0, self.nblock, reverse=True) as block, k.when(self.changed[block] > 0):
            inside = self._factor_diagonal(block)
            for other, there in self.each_beside(block):
                self._factor_beside(block, other, there, inside)

    def _factor_diagonal(self, block: Any) -> tuple[Any, ...]:
        """L of a diagonal block; returns it: inverse diagonal, then L₁₀, L₂₀, L₂₁."""
        k, L = self.k, self.blocks_field
        places = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
        total = k.local(np.array([L[block, B * i + j] for i, j in places], dtype=object))
        for lower in self.each_below(block):
            x = L[self.place_beside(lower, block)].reshape(B, B)
            total -= np.array([dot(x[:, i], x[:, j]) for i, j in places], dtype=object)
        least = [smallest_pivot(k, L[block, B * i + i]) for i in range(B)]
        h00, h10, h11, h20, h21, h22 = total.value
        # one number waits for the other, so the roots are drawn last, where none waits for them
        s2 = 1.0 / k.max(h22, least[2])
        share = h21 * s2
        s1 = 1.0 / k.max(h11 - h21 * share, least[1])
        rest = h10 - h20 * share
        s0 = 1.0 / k.max(h00 - h20 * (h20 * s2) - rest * (rest * s1), least[0])
        r0, r1, r2 = (k.sqrt(s) for s in (s0, s1, s2))
        l10, l20, l21 = rest * r1, h20 * r2, h21 * r2
        for (i, j), value in zip(places, (r0, l10, r1, l20, l21, r2), strict=True):
            L[block, B * i + j] = value
        return r0, r1, r2, l10, l20, l21

    def _factor_beside(self, block: Any, other: Any, there: Any, inside: tuple[Any, ...]) -> None:
        """L of a block beside the diagonal, which stands at `there`."""
        k, L = self.k, self.blocks_field
        total = k.local(L[there])
        for lower in self.each_below(block):
            at = self.place_beside(lower, other)
            with k.when(at > 0):
                x, y = L[self.place_beside(lower, block)].reshape(B, B), L[at].reshape(B, B)
                total -= np.array([dot(x[:, i], y[:, j]) for i in range(B) for j in range(B)], dtype=object)
        h = total.value.reshape(B, B)
        solved = np.array([_upper_solve(inside, h[:, j]) for j in range(B)], dtype=object).T
        L[there] = solved.reshape(-1)

    @property
    def unknowns(self) -> LaneField:
        """Three numbers per block."""
        return self.k.scratch("unknowns", self.nblock, B)

    def solve(self, vector: LaneField) -> None:
        """Replace a vector (nv) by H⁻¹ times it."""
        k, L, x = self.k, self.blocks_field, self.unknowns
        if self.padded:
            with k.loop(0, self.nblock) as block:
                x[block] = 0.0
        with k.loop(0, self.nv) as dof:
            x[self.block_of(dof), self.place_of(dof)] = vector[dof]
        with k.loop(0, self.nblock, reverse=True) as block:  # Lᵀ u = x
            u = np.array(_upper_solve(self._inside(block), x[block]), dtype=object)
            x[block] = u
            for other, there in self.each_beside(block):
                x[other] -= L[there].reshape(B, B).T @ u
        with k.loop(0, self.nblock) as block:  # L x = u
            total = k.local(x[block])
            for other, there in self.each_beside(block):
                total -= L[there].reshape(B, B) @ x[other]
            r0, r1, r2, l10, l20, l21 = self._inside(block)
            u0, u1, u2 = total.value
            x0 = u0 * r0
            x1 = (u1 - l10 * x0) * r1
            x[block] = np.array([x0, x1, (u2 - l20 * x0 - l21 * x1) * r2], dtype=object)
        with k.loop(0, self.nv) as dof:
            vector[dof] = x[self.block_of(dof), self.place_of(dof)]

    def _inside(self, block: Any) -> tuple[Any, ...]:
        L = self.blocks_field[block]
        return L[0], L[4], L[8], L[3], L[6], L[7]


class _Entries:
    """H by dofs instead of by blocks."""

    def __init__(self, hessian: Hessian) -> None:
        self._hessian = hessian

    def _cell(self, index: tuple[Any, Any]) -> tuple[Any, ...]:
        h, (row, column) = self._hessian, index
        return h.place(h.block_of(row), h.block_of(column)), B * h.place_of(row) + h.place_of(column)

    def __getitem__(self, index: tuple[Any, Any]) -> Any:
        return self._hessian.blocks_field[self._cell(index)]

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None:
        self._hessian.blocks_field[self._cell(index)] = value


def smallest_pivot(k: Kernel, diagonal: Any) -> Any:
    """What a pivot is at least whose entry of the matrix is `diagonal`. What is left of it in single precision may be
    rounding, even negative, and would send the solution far off."""
    return MINVAL if k.precision == "f64" else k.max(PIVOT_NOISE * diagonal, MINVAL)


def _upper_solve(inside: tuple[Any, ...], y: Any) -> list[Any]:
    """u of Lᵀ·u = y for a diagonal block."""
    r0, r1, r2, l10, l20, l21 = inside
    u2 = y[2] * r2
    u1 = (y[1] - l21 * u2) * r1
    return [(y[0] - l10 * u1 - l20 * u2) * r0, u1, u2]


def _placed(values: Any, entries: list[tuple[int, int]], block: Any) -> np.ndarray:
    """A block with values added to some of its entries."""
    found = np.array(block, dtype=object)
    for value, (i, j) in zip(values, entries, strict=True):
        found[B * i + j] = found[B * i + j] + value
    return found


def symmetric_times(packed: Any, v: Any) -> np.ndarray:
    """A packed symmetric matrix times a vector (6)."""
    place = {ij: n for n, ij in enumerate(PACKED)}
    rows = [[packed[place[max(i, j), min(i, j)]] for j in range(6)] for i in range(6)]
    return np.array([dot(row, v) for row in rows], dtype=object)


@walk
def each_dof_above(k: Kernel, body: Any) -> Iterator[Any]:
    """`for dof in …:` runs its body for the dofs that move a body which has some, descending."""
    dof = k.local(last_dof(k, body))
    with k.loop(0, int(k.model.nv)):
        k.leave_when(dof.value < 0)
        yield dof.value
        dof.set(k.model.dof_parentid[dof.value])


def tie_of(body_rows: BodyRows, bond: Any) -> Any:
    """What a bond with several moving ends ties together, as one number: two bodies, or those of a pair."""
    k, nbody = body_rows.k, int(body_rows.k.frozen_model.nbody)
    two = body_rows.near[bond] * nbody + body_rows.far[bond]
    if not body_rows.spreads:
        return two
    pair = body_rows.contacts.pair[k.max(bond - body_rows.nequality, 0)]
    return k.select(body_rows.far[bond] == SPREAD, nbody * nbody + pair, two)


def last_dof(k: Kernel, body: Any) -> Any:
    """Of a body that has dofs."""
    return k.model.body_dofadr[body] + k.model.body_dofnum[body] - 1


def apart(
    k: Kernel, bodies: tuple[Any, Any], on_near: Callable[[Any], None], on_far: Callable[[Any], None]
) -> None:
    """Visit the dofs that move one of two bodies but not both, in descending order: up both chains until they
    meet."""
    m = k.model
    first, second = (k.local(last_dof(k, body)) for body in bodies)
    with k.loop(0, int(m.nv)):
        k.leave_when(first.value == second.value)
        with k.when(first.value > second.value):
            on_near(first.value)
            first.set(m.dof_parentid[first.value])
        with k.otherwise():
            on_far(second.value)
            second.set(m.dof_parentid[second.value])
