"""The rows of each world of a tile, close together: small problems of forces with their whole matrix, in lanes.

The items of a tile are those that any of its worlds has, several times as many as each has itself. So every world's
rows are moved together: row i of one world and row i of its neighbour have nothing in common but their number, and a
sweep takes as long as the world with the most rows needs. What a row feels of all others stands in a matrix
A + R = Yᵀ·Y + R, each force of a pyramid's edges having a row of its own. Rows are in units in which its diagonal is
one: then the force that is best for a row is what the others leave to it, and nothing is to be divided by.

Rows come in blocks of BLOCK, filled up with rows of zeros. The terms of a sum over rows are taken in an order that
depends on the row alone, so that the rows of neighbours change no bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import Int, IntegerField, Kernel, LaneField, SplitField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.rows.rows_lanes import ELLIPTIC, EQUALITY, PYRAMID
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import (
    SCALAR,
    UNBOUNDED,
    Dual,
    ItemKind,
    edges,
    inverse,
    pairwise_sum,
)
from dovetail.plugins.shared.solver.sweeps_lanes import guess_forces

BLOCK = 4
"""Rows that are taken together: the forces of others are loaded once for all of them."""

MOST_ROWS = 64
"""Rows of a world beyond which the whole matrix costs more than it gains: it would fill half a second-level cache."""

SPREAD = 3
"""How many times as many dofs as any item moves a model may have. With more, as with many free bodies, nearly all
entries of rows would be zeros: a step of 24 spheres, 12 of them on a floor, takes six times as long as without."""

NUMBERS = ("b", "R", "low", "high", "force")
"""What is known of a row, beside its Y."""


@attrs.define(eq=False, slots=False)
class OwnRows:
    """The problem `dual` in those worlds of a tile whose rows are few; the index i is one of a world's rows."""

    dual: Dual

    @property
    def k(self) -> Kernel:
        return self.dual.k

    # ---- what the plan knows

    @property
    def possible(self) -> bool:
        """Whether all forces of the model are found row by row, and rows have entries at many of its dofs."""
        by_row = all(kind.name != ELLIPTIC for kind in self.dual.kinds)
        return bool(self.dual.kinds) and by_row and int(self.k.model.nv) <= SPREAD * self.longest

    @cached_property
    def most(self) -> int:
        """Rows that a world can have."""
        body_rows = self.dual.body_rows
        total = self.dual.rows.count + int((3 + 3 * body_rows.equalities.weld.astype(int)).sum())
        if body_rows.has_contacts:
            contacts = body_rows.contacts
            forces = [
                2 * (dim - 1) if self.dual.kinds[kind].name == PYRAMID else dim
                for kind, dim in zip(self.dual.pair_kinds, contacts.dims.tolist(), strict=True)
            ]
            total += int((contacts.pairs.most_contacts * np.array(forces, int)).sum())
        return total

    @property
    def suffices(self) -> bool:
        """Whether no world can have more rows than there is room for."""
        return self.possible and self.most <= MOST_ROWS

    @cached_property
    def room(self) -> int:
        """Rows that there is room for, whole blocks."""
        return -(-min(self.most, MOST_ROWS) // BLOCK) * BLOCK

    @cached_property
    def longest(self) -> int:
        """Most dofs that an item moves."""
        return max(1, *self.dual.moved_dofs.length.tolist(), 1)

    # ---- memory

    def _field(self, name: str, *shape: int) -> LaneField:
        return self.k.scratch(f"own/{name}", *shape)

    @property
    def unit(self) -> LaneField:
        """Of each row's force: (A + R)^−½, or 0 if there is no such row."""
        return self._field("unit", self.room)

    @property
    def wanted(self) -> LaneField:
        """−b: the force that is best for a row while there is no other."""
        return self._field("wanted", self.room)

    @property
    def force(self) -> LaneField:
        return self._field("force", self.room)

    @property
    def bounds(self) -> LaneField:
        return self._field("bounds", self.room, 2)

    @property
    def softness(self) -> LaneField:
        """R."""
        return self._field("softness", self.room)

    @property
    def Y(self) -> LaneField:
        """By block, by dof, by row of the block."""
        return self._field("Y", self.room // BLOCK, self.k.model.nv, BLOCK)

    @property
    def A(self) -> LaneField:
        """The lower triangle of its blocks: by block, by row of it, by column (see `_place`)."""
        blocks = self.room // BLOCK
        return self._field("A", blocks * (blocks + 1) // 2, BLOCK, BLOCK)

    @property
    def _numbers(self) -> SplitField:
        return self.k.split("own/numbers", self.room, len(NUMBERS))

    @property
    def _J(self) -> SplitField:
        return self.k.split("own/J", self.room, self.k.model.nv)

    @property
    def _base_J(self) -> LaneField:
        """Of the base rows of the item that is being moved, by the dofs that it moves."""
        return self._field("base_J", self.dual.width, self.longest)

    @property
    def _item_numbers(self) -> SplitField:
        """Of the rows of that item."""
        return self.k.split("own/item_numbers", self.k.kernel_size("ndual_force"), len(NUMBERS))

    @property
    def _item_J(self) -> SplitField:
        return self.k.split("own/item_J", self.k.kernel_size("ndual_force"), self.longest)

    @property
    def _next(self) -> IntegerField:
        """Number of rows that each world has so far."""
        return self.k.integers("own/next", self.k.lanes)

    @property
    def _blocks(self) -> IntegerField:
        """Number of blocks of the world with the most rows."""
        return self.k.integers("own/blocks", 1)

    # ---- moving rows together

    def few(self) -> Any:
        """Mask of the worlds whose rows are few enough."""
        k, dual, total = self.k, self.dual, self.k.local(0.0)
        with k.loop(0, dual.counts[0]) as v:
            total += k.select(dual.R[v, 0] > 0.0, self._forces(v) * 1.0, 0.0)
        self._count[0] = total.value
        return total.value <= float(self.room)

    @property
    def _count(self) -> SplitField:
        """Rows of each world."""
        return self.k.split("own/count", 1)

    def _forces(self, v: Any) -> Int:
        """Number of forces of an item."""
        edged = self.k.table("own_rows/edged", [int(kind.name == PYRAMID) for kind in self.dual.kinds])
        size = self.dual.dim[v]
        found: Int = size + edged[self.dual.kind[v]] * (size - 2)
        return found

    def build(self, few: Any) -> None:
        """Move the rows together in some worlds, and write what sweeps need."""
        self._clear(few)
        with self.k.loop(0, self.dual.counts[0]) as v:
            self._read_item(v)
            self._move_item(v, few)
        self._project()
        self._write_matrix()

    def _clear(self, few: Any) -> None:
        """Find how many blocks there are, and fill them with zeros."""
        k, most = self.k, self.k.local(0)
        with k.worlds(few) as world:
            most.set(k.max(most.value, k.integer(self._count.of(world)[0])))
        with k.worlds() as world:
            self._next[world] = 0
        self._blocks[0] = (most.value + BLOCK - 1) // BLOCK
        for i in self.each_row():
            for n in range(len(NUMBERS)):
                self._numbers[i, n] = 0.0
            with k.loop(0, k.model.nv) as dof:
                self._J[i, dof] = 0.0

    def _read_item(self, v: Any) -> None:
        """What is known of an item's rows, to where one world can be reached alone."""
        k, dual, base_J = self.k, self.dual, self._base_J
        with k.loop(0, dual.dim[v]) as r:
            dual.write_jacobian(v, r)
            for m, place in dual.each_moved_dof(v):
                base_J[r, m] = dual.work[dual.dof(place)]
        for kind in dual.each_kind(v):
            guess_forces(dual, v, kind)
            low, high = self._bounds_of(v, kind)
            for n, r, sign in self._each_force(v, kind):
                b = dual.b[v, r] if sign is None else dual.b[v, 0] + sign * dual.b[v, r]
                R = dual.R[v, r if sign is None else 0]
                for column, number in enumerate((b, R, low, high, dual.force[v, n])):
                    self._item_numbers[n, column] = number
            for m, _ in dual.each_moved_dof(v):
                for n, r, sign in self._each_force(v, kind):
                    self._item_J[n, m] = base_J[r, m] if sign is None else base_J[0, m] + sign * base_J[r, m]

    @walk
    def _each_force(self, v: Any, kind: ItemKind) -> Iterator[tuple[Any, Any, float | None]]:
        """`for n, r, sign in …:` runs its body for each force of an item: its base row, or the tangent and the sign
        of the edge of a pyramid."""
        edged = kind.name == PYRAMID
        for r in self.dual.each_base_row(v, kind, int(edged)):
            if edged:
                for n, sign in edges(r):
                    yield n, r, sign
            else:
                yield r, r, None

    def _bounds_of(self, v: Any, kind: ItemKind) -> tuple[Any, Any]:
        """Least and largest force of an item's rows."""
        if kind.name == SCALAR:
            low, high = self.dual.bounds[v]
            return low, high
        return (-UNBOUNDED if kind.name == EQUALITY else 0.0), UNBOUNDED

    def _move_item(self, v: Any, few: Any) -> None:
        """Copy an item's rows to the next rows of the worlds that have it."""
        k, forces = self.k, self._forces(v)
        with k.worlds(few & (self.dual.R[v, 0] > 0.0)) as world:
            first = self._next[world]
            source, target = self._item_numbers.of(world), self._numbers.of(world)
            entries, J = self._item_J.of(world), self._J.of(world)
            with k.loop(0, forces) as n:
                for column in range(len(NUMBERS)):
                    target[first + n, column] = source[n, column]
                for m, place in self.dual.each_moved_dof(v):
                    J[first + n, self.dual.dof(place)] = entries[n, m]
            self._next[world] = first + forces

    @walk
    def each_row(self) -> Iterator[Any]:
        """`for i in …:` runs its body for the rows, filling too."""
        with self.k.loop(0, self._blocks[0] * BLOCK) as i:
            yield i

    # ---- the matrix

    @cached_property
    def _descendants(self) -> tuple[Array, Array, Array]:
        """For each dof, where those below it begin; which they are, descending; and where in M each feels it."""
        model = self.k.frozen_model
        found: list[list[tuple[int, int]]] = [[] for _ in range(model.nv)]
        for dof in reversed(range(model.nv)):
            start = int(model.M_rowadr[dof])
            for at in range(start, start + int(model.M_rownnz[dof]) - 1):
                found[int(model.M_colind[at])].append((dof, at))
        first = np.cumsum([0, *map(len, found)])
        entries = np.array([entry for below in found for entry in below], int).reshape(-1, 2)
        return first, entries[:, 0], entries[:, 1]

    def _project(self) -> None:
        """Y = D^−½·L^−ᵀ·Jᵀ, the rows of a block together."""
        k, rows, nv = self.k, range(BLOCK), self.k.model.nv
        first, below, at = (
            k.table(f"own_rows/{name}", numbers if len(numbers) else [0])
            for name, numbers in zip(("first", "below", "at"), self._descendants, strict=True)
        )
        solved = self._field("solved", nv, BLOCK)
        with k.loop(0, self._blocks[0]) as block:
            squared = k.local(np.full(BLOCK, 0.0, object))
            with k.loop(0, nv, reverse=True) as dof:
                total = k.local(np.array([self._J[BLOCK * block + r, dof] for r in rows], dtype=object))
                with k.loop(first[dof], first[dof + 1]) as n:
                    total -= k.data.qLD[at[n]] * solved[below[n]]
                solved[dof] = total.value
                Y = total.value * self.dual.root[dof]
                self.Y[block, dof] = Y
                squared += Y * Y
            self._write_rows(block, squared.value)

    def _write_rows(self, block: Any, squared: np.ndarray) -> None:
        """What sweeps need of the rows of a block, in units in which A + R is one."""
        k, units = self.k, []
        for r in range(BLOCK):
            i = BLOCK * block + r
            b, R, low, high, force = (self._numbers[i, n] for n in range(len(NUMBERS)))
            size = k.sqrt(squared[r] + R)
            unit = inverse(k, k.select(R > 0.0, size, 0.0))
            units.append(unit)
            self.unit[i], self.wanted[i], self.softness[i] = unit, -b * unit, R * unit * unit
            self.bounds[i, 0], self.bounds[i, 1], self.force[i] = low * size, high * size, force * size
        with k.loop(0, k.model.nv) as dof:
            self.Y[block, dof] = self.Y[block, dof] * np.array(units, dtype=object)

    def _write_matrix(self) -> None:
        k = self.k
        with k.loop(0, self._blocks[0]) as block, k.loop(0, block + 1) as other:
            A = k.local(np.full((BLOCK, BLOCK), 0.0, object))
            with k.loop(0, k.model.nv) as dof:
                A += np.multiply.outer(self.Y[block, dof], self.Y[other, dof])
            self.A[_place(block, other)] = A.value

    def cost(self) -> Any:
        """½·f·(A + R)·f + f·b."""
        k, total = self.k, self.k.local(0.0)
        for i in self.each_row():
            f = self.force[i]
            total += f * (0.5 * self.softness[i] * f - self.wanted[i])
        with k.loop(0, k.model.nv) as dof:
            pushed = self._pushed(dof)
            total += 0.5 * pushed * pushed
        return total.value

    def _pushed(self, dof: Any) -> Any:
        """Σ Y·f at a dof."""
        k, total = self.k, self.k.local(0.0)
        with k.loop(0, self._blocks[0]) as block:
            forces = np.array([self.force[BLOCK * block + r] for r in range(BLOCK)], dtype=object)
            total += pairwise_sum(self.Y[block, dof] * forces)
        return total.value

    # ---- sweeps

    def sweep(self, live: Any) -> Any:
        """Move every force to its best within bounds, one after another; by how much the cost fell in each world."""
        k, fallen = self.k, self.k.local(0.0)
        with k.loop(0, self._blocks[0]) as block:
            first = BLOCK * block
            force = np.array([self.force[first + r] for r in range(BLOCK)], dtype=object)
            best, A = self._left_by_others(block, force), self.A[_place(block, block)]
            for r in range(BLOCK):
                old = force[r]
                low, high = self.bounds[first + r]
                for s in range(r):
                    best[r] = best[r] - A[r, s] * force[s]
                new = k.select(live > 0.0, k.min(high, k.max(low, best[r])), old)
                step = new - old
                fallen += step * (best[r] - old - 0.5 * step)
                self.force[first + r] = force[r] = new
        return fallen.value

    def _left_by_others(self, block: Any, force: np.ndarray) -> np.ndarray:
        """The forces that would be best for the rows of a block, but for those before them in it: −b − A·f without
        a row's own. The rows just visited come last."""
        k, rows = self.k, range(BLOCK)
        total = k.local(np.array([self.wanted[BLOCK * block + r] for r in rows], dtype=object))
        with k.loop(block + 1, self._blocks[0]) as later:
            total -= self._felt_of(self.A[_place(later, block)], later)
        A = self.A[_place(block, block)]
        total -= np.array([sum((A[s, r] * force[s] for s in rows[r + 1 :]), 0.0) for r in rows], dtype=object)
        with k.loop(0, block) as earlier:
            total -= self._felt_of(self.A[_place(block, earlier)].T, earlier)
        left: np.ndarray = total.value
        return left

    def _felt_of(self, A: np.ndarray, other: Any) -> np.ndarray:
        """What rows feel of the forces of another block; A is by row of that, by row that feels."""
        force = np.array([self.force[BLOCK * other + s] for s in range(BLOCK)], dtype=object)
        return pairwise_sum(A * force[:, None])

    # ---- the answer

    def give_back(self, few: Any) -> None:
        """Write the forces to the items they are of, and y."""
        with self.k.loop(0, self.k.model.nv) as dof:
            self.dual.y[dof] = self.k.select(few, self._pushed(dof), self.dual.y[dof])
        self._give_forces(few)

    def _give_forces(self, few: Any) -> None:
        k, dual, found = self.k, self.dual, self.k.split("own/found", self.room)
        item = self.k.split("own/item_force", self.k.kernel_size("ndual_force"))
        for i in self.each_row():
            found[i] = self.force[i] * self.unit[i]
        with k.worlds() as world:
            self._next[world] = 0
        with k.loop(0, dual.counts[0]) as v:
            forces, has = self._forces(v), few & (dual.R[v, 0] > 0.0)
            with k.worlds(has) as world:
                first = self._next[world]
                with k.loop(0, forces) as n:
                    item.of(world)[n] = found.of(world)[first + n]
                self._next[world] = first + forces
            with k.loop(0, forces) as n:
                dual.force[v, n] = k.select(has, item[n], dual.force[v, n])


def _place(block: Any, other: Any) -> Int:
    """Place of a block of a symmetric matrix that is not to the right of the diagonal."""
    place: Int = (block * (block + 1)) // 2 + other
    return place
