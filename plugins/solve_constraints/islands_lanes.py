"""Islands in lanes: sums over the trees that constraint rows tie together, in each world of a tile.

Numbers of an island are kept once for each of its trees: what trees add to a sum is summed up over the island, in the
order of its trees, and every tree gets the result. Bonds and rows add to a tree that they move, so lanes stay lanes;
only where the islands of a tile's worlds differ, one world goes after the other. A world's sums do not depend on the
others. A tree without rows is in no island. Unlike MuJoCo with a dense Jacobian, rows tie the trees of all their dofs
together, even those whose coefficients happen to be zero. Compare mj_island.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.rows.rows_lanes import SPREAD, BodyRows, DofRows

MOST_SUMS = 5
"""Sums that are made at once."""

Walk = Callable[[], Iterator[Any]]


def whole(k: Kernel) -> Any:
    """Whether all rows are one problem: islands are switched off, or the no-slip pass couples everything."""
    return k.disabled(DisableBit.ISLAND) | (k.model.opt.noslip_iterations > 0)


@attrs.define(eq=False, slots=False)
class Islands:
    """The islands of every world. Call `find` when the rows are known."""

    k: Kernel
    body_rows: BodyRows
    rows: DofRows

    @cached_property
    def count(self) -> int:
        """Trees."""
        return int(self.k.frozen_model.ntree)

    @cached_property
    def crossing(self) -> tuple[bool, bool]:
        """Whether bonds, and whether dof rows, may tie trees together."""
        return crossing_bonds(self.body_rows), crossing_rows(self.rows)

    @property
    def tied(self) -> LaneField:
        """1 where a tree has rows."""
        return self.k.scratch("tied", self.count)

    @property
    def sums(self) -> LaneField:
        """What `total` sums up."""
        return self.k.scratch("island_sums", self.count, MOST_SUMS)

    @property
    def _label(self) -> IntegerField:
        """The first tree of each tree's island, by world."""
        return self.k.integers("island", self.k.lanes, self.count)

    @property
    def neighbours(self) -> IntegerField:
        """The first of the trees that are tied together in any world of the tile, directly or through others."""
        return self.k.integers("neighbours", self.count)

    @property
    def has_neighbours(self) -> IntegerField:
        """1 for such a tree if there are others."""
        return self.k.integers("has_neighbours", self.count)

    @property
    def _joined(self) -> IntegerField:
        """Trees that are not the first of their island in some world, ascending."""
        return self.k.integers("joined", self.count)

    @property
    def _state(self) -> IntegerField:
        """How many those are; whether their islands differ between worlds."""
        return self.k.integers("island_state", 2)

    # ---- which trees belong together

    def tree_of_bond(self, bond: Any) -> Any:
        """A tree that the bond moves."""
        return self.k.model.body_treeid[self.body_rows.near[bond]]

    def tree_of_row(self, row: Any) -> Any:
        return self.k.model.dof_treeid[self.rows.dof(row, 0)]

    def find(self, each_bond: Walk, each_row: Walk, has_rows: Any) -> None:
        """Note which trees have rows, and which of them are tied together; `has_rows` is 1 in worlds with rows. With
        islands switched off, every tree of such a world counts as one with rows."""
        k = self.k
        with k.when(k.disabled(DisableBit.ISLAND)):
            self.tie_all(has_rows)
        with k.otherwise():
            self._find_tied(each_bond, each_row)
        with k.when(whole(k)), k.loop(0, k.lanes) as world, k.loop(0, self.count) as tree:
            self._label[world, tree] = 0
        with k.otherwise():
            self._join_trees(each_bond, each_row)
        self._list_joined()
        if k.lanes > 1:
            self._find_neighbours()

    def tie_all(self, has_rows: Any) -> None:
        """Count every tree of a world with rows as one that has rows."""
        with self.k.loop(0, self.count) as tree:
            self.tied[tree] = has_rows

    def _find_tied(self, each_bond: Walk, each_row: Walk) -> None:
        k, tied, body_rows = self.k, self.tied, self.body_rows
        with k.loop(0, self.count) as tree:
            tied[tree] = 0.0
        for bond in each_bond():
            there = k.select(body_rows.D[bond, 0] > 0.0, 1.0, 0.0)
            tree = self.tree_of_bond(bond)
            tied[tree] = k.max(tied[tree], there)
            if self.crossing[0]:
                with k.when(body_rows.far[bond] > 0):
                    other = k.model.body_treeid[body_rows.far[bond]]
                    tied[other] = k.max(tied[other], there)
                if body_rows.spreads:
                    with k.when(body_rows.far[bond] == SPREAD):
                        for _, body in body_rows.each_spread_end(bond):
                            other = k.model.body_treeid[body]
                            tied[other] = k.max(tied[other], there)
        for row in each_row():
            there = k.select(self.rows.D[row] > 0.0, 1.0, 0.0)
            with k.loop(0, self.rows.column("nnz", row)) as n:
                tree = k.model.dof_treeid[self.rows.dof(row, n)]
                tied[tree] = k.max(tied[tree], there)

    def _join_trees(self, each_bond: Walk, each_row: Walk) -> None:
        """Label the trees of every world."""
        k, label = self.k, self._label
        there = k.split("island_ties", self.body_rows.room + max(1, self.rows.count))
        for bond, _, _ in self._each_crossing_bond(each_bond):
            there[bond] = k.select(self.body_rows.D[bond, 0] > 0.0, 1.0, 0.0)
        for row in self._each_crossing_row(each_row):
            there[self.body_rows.room + row] = k.select(self.rows.D[row] > 0.0, 1.0, 0.0)
        with k.worlds() as world:
            with k.loop(0, self.count) as tree:
                label[world, tree] = tree
            for bond, near, far in self._each_crossing_bond(each_bond):
                with k.when(there.of(world)[bond] > 0.5):
                    self._join(label, (world,), near, far)
            for row in self._each_crossing_row(each_row):
                with (
                    k.when(there.of(world)[self.body_rows.room + row] > 0.5),
                    k.loop(1, self.rows.column("nnz", row)) as n,
                ):
                    before, here = (k.model.dof_treeid[self.rows.dof(row, at)] for at in (n - 1, n))
                    with k.when(before != here):
                        self._join(label, (world,), before, here)
            with k.loop(0, self.count) as tree:
                label[world, tree] = label[world, label[world, tree]]

    @walk
    def _each_crossing_bond(self, each_bond: Walk) -> Iterator[tuple[Any, Any, Any]]:
        """`for bond, tree, other in …:` runs its body for the bonds between two trees; for a spread one several
        times, with each tree but one."""
        k = self.k
        if self.crossing[0]:
            for bond in each_bond():
                with k.when(self.body_rows.far[bond] > 0):
                    near = k.local(self.tree_of_bond(bond))
                    far = k.local(k.model.body_treeid[self.body_rows.far[bond]])
                    with k.when(near.value != far.value):
                        yield bond, near.value, far.value
                if self.body_rows.spreads:
                    with k.when(self.body_rows.far[bond] == SPREAD):
                        first = k.local(self.tree_of_bond(bond))
                        for _, body in self.body_rows.each_spread_end(bond):
                            other = k.local(k.model.body_treeid[body])
                            with k.when(first.value != other.value):
                                yield bond, first.value, other.value

    @walk
    def _each_crossing_row(self, each_row: Walk) -> Iterator[Any]:
        """`for row in …:` runs its body for the dof rows of several dofs."""
        if self.crossing[1]:
            for row in each_row():
                with self.k.when(self.rows.column("nnz", row) > 1):
                    yield row

    def _join(self, label: IntegerField, world: tuple[Any, ...], one: Any, other: Any) -> None:
        """Of two groups of trees, the one that begins later gets the label of the other."""
        k = self.k
        first, second = (self._first_of(label, world, tree) for tree in (one, other))
        low, high = k.local(k.min(first, second)), k.local(k.max(first, second))
        label[*world, high.value] = low.value

    def _first_of(self, label: IntegerField, world: tuple[Any, ...], tree: Any) -> Any:
        """Follow the labels to a tree that has its own, shortening the way for the next."""
        k = self.k
        at = k.local(tree)
        with k.loop(0, self.count):
            above = k.local(label[*world, at.value])
            k.leave_when(above.value == at.value)
            label[*world, at.value] = label[*world, above.value]
            at.set(label[*world, at.value])
        return at.value

    def _find_neighbours(self) -> None:
        """Join the islands of all worlds."""
        k, label = self.k, self.neighbours
        with k.loop(0, self.count) as tree:
            label[tree] = tree
            self.has_neighbours[tree] = 0
        with k.loop(0, self._state[0]) as n, k.loop(0, k.lanes) as world:
            joined = k.local(self._joined[n])
            self._join(label, (), joined.value, self._label[world, joined.value])
        with k.loop(0, self.count) as tree:
            label[tree] = label[label[tree]]
            with k.when(label[tree] != tree):
                self.has_neighbours[label[tree]] = 1

    def _list_joined(self) -> None:
        k, label = self.k, self._label
        found, mixed = k.local(0), k.local(0)
        with k.loop(0, self.count) as tree:
            joined = k.local(0)
            with k.loop(0, k.lanes) as world:
                with k.when(label[world, tree] != tree):
                    joined.set(1)
                with k.when(label[world, tree] != label[0, tree]):
                    mixed.set(1)
            with k.when(joined.value > 0):
                self._joined[found.value] = tree
                found += 1
        self._state[0] = found.value
        self._state[1] = mixed.value

    # ---- numbers

    def in_order(self, by_tree: LaneField, by_island: LaneField) -> None:
        """Of numbers that the trees of an island share, those of every world's islands one after another, in the
        order of their first trees; as many as there is room for, and the rest stays."""
        k, trees = self.k, self.k.split("tree_numbers", self.count, 2)
        room = by_island.shape[0]
        islands = k.split("island_numbers", room)
        with k.loop(0, self.count) as tree:
            trees[tree, 0], trees[tree, 1] = self.tied[tree], by_tree[tree]
        with k.loop(0, room) as island:
            islands[island] = by_island[island]
        with k.worlds() as world:
            found, own = k.local(0), trees.of(world)
            with k.loop(0, self.count) as tree:
                begins = (self._label[world, tree] == tree) & (found.value < room)
                with k.when(begins & (own[tree, 0] > 0.5)):
                    islands.of(world)[found.value] = own[tree, 1]
                    found += 1
        with k.loop(0, room) as island:
            by_island[island] = islands[island]

    # ---- sums

    def total(self, count: int) -> None:
        """Replace the first `count` sums of every tree by those of its island."""
        k = self.k
        with k.when(self._state[0] > 0):
            with k.when(self._state[1] == 0):
                self._total_alike(count)
            if k.lanes > 1 and any(self.crossing):
                with k.otherwise():
                    self._total_mixed(count)

    def _total_alike(self, count: int) -> None:
        """All worlds have the same islands."""
        k, sums = self.k, self.sums
        for back in (False, True):
            with k.loop(0, self._state[0]) as n:
                tree = k.local(self._joined[n])
                first = k.local(self._label[0, tree.value])
                for place in range(count):
                    if back:
                        sums[tree.value, place] = sums[first.value, place]
                    else:
                        sums[first.value, place] += sums[tree.value, place]

    def _total_mixed(self, count: int) -> None:
        """Islands differ: one world after the other."""
        k, sums = self.k, self.sums
        split = k.split("split_sums", self.count, MOST_SUMS)
        with k.loop(0, self.count) as tree:
            for place in range(count):
                split[tree, place] = sums[tree, place]
        with k.worlds() as world:
            own = split.of(world)
            for back in (False, True):
                with k.loop(0, self._state[0]) as n:
                    joined = k.local(self._joined[n])
                    first = k.local(self._label[world, joined.value])
                    with k.when(first.value != joined.value):
                        for place in range(count):
                            if back:
                                own[joined.value, place] = own[first.value, place]
                            else:
                                own[first.value, place] += own[joined.value, place]
        with k.loop(0, self.count) as tree:
            for place in range(count):
                sums[tree, place] = split[tree, place]


def crossing_bonds(body_rows: BodyRows) -> bool:
    """Whether any bond may have ends in two trees."""
    if body_rows.spreads:
        return True
    model = body_rows.k.frozen_model
    sides = [(body_rows.equalities.body1, body_rows.equalities.body2)]
    if body_rows.has_contacts:
        sides.append((body_rows.contacts.pairs.body1, body_rows.contacts.pairs.body2))
    return any(bool(_cross(model, *pair).any()) for pair in sides)


def _cross(model: ModelLike, one: Any, other: Any) -> Any:
    tree = np.asarray(model.body_treeid)
    return (tree[one] != tree[other]) & (tree[one] >= 0) & (tree[other] >= 0)


def crossing_rows(rows: DofRows) -> bool:
    """Whether any dof row may move two trees."""
    tree = np.asarray(rows.k.frozen_model.dof_treeid)
    return any(
        len(table.ids) and (np.ptp(tree[table.dofs], axis=1) > 0).any() for table in rows.tables.values()
    )
