"""The Hessian M + Jᵀ·W·J of the constrained problem in lanes: its pattern, its entries, its factor.

Links to bodies that do not move keep the sparsity of the tree: with A(b) = Σ wᵀ·W·w over the links of body b and of
all it carries, their part is cdofⱼ·A(body of i)·cdofᵢ for every ancestor j of i, as in the composite-rigid-body
algorithm. Links between two moving bodies act through a short J over the dofs that the bodies do not share. If those
are of different branches, rows get columns beyond their ancestors; which, is worked out for the tile as a whole by
symbolic elimination from the leaves to the root. An entry that another world needs is an exact zero in this one.
Compare mj_solNewton; Featherstone, Rigid Body Dynamics Algorithms, sections 6.3 and 6.5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.taichi.algebra import MINVAL, dot
from dovetail.backends.taichi.lanes import Field, IntegerField, Kernel
from dovetail.plugins.constraint_lanes import EQUALITY, LARGEST_DIM, Kind, Links, contact_kind, ends_of
from dovetail.plugins.solve_constraints.cost_taichi import Link
from dovetail.plugins.spatial import Array

PACKED = [(i, j) for i in range(6) for j in range(i + 1)]
"""Entries of a symmetric 6 x 6 matrix that are stored."""


LARGEST_BLOCK = 3
"""Rows that are eliminated together (1.6 times quicker than one by one, humanoid)."""


def has_ends(links: Links, kind: Kind | None = None) -> tuple[bool, bool]:
    """Whether any link (of a kind) may be tied to the ground, and whether any may have two moving ends."""
    model, table = links.k.structure, links.equalities
    far: list[Any] = []
    if kind is None or kind.name == EQUALITY:
        far += ends_of(model, table.body1, table.body2).far.tolist()
    if links.has_contacts:
        pairs, cone = links.contacts.pairs, int(model.opt.cone)
        ends = ends_of(model, pairs.body2, pairs.body1).far.tolist()
        dims = links.contacts.dims.tolist()
        far += [e for e, d in zip(ends, dims, strict=True) if kind in (None, _contact_kind(links, d, cone))]
    return 0 in far, any(far)


def _contact_kind(links: Links, dim: int, cone: int) -> Kind:
    return links.kinds[links.index_of(contact_kind(dim, cone))]


class Blocks(NamedTuple):
    """Runs of dofs each of which is the parent of the next."""

    first: Array
    size: Array
    of: Array
    """Block of each dof."""


def blocks_of(model: Any) -> Blocks:
    """Cut the dofs into short runs."""
    first: list[int] = []
    size: list[int] = []
    for dof, parent in enumerate(np.asarray(model.dof_parentid).tolist()):
        if first and parent == dof - 1 >= first[-1] and size[-1] < LARGEST_BLOCK:
            size[-1] += 1
        else:
            first.append(dof)
            size.append(1)
    return Blocks(np.array(first), np.array(size), np.repeat(np.arange(len(first)), size))


@attrs.define(eq=False)
class Hessian:
    """Entries H[i, j] with j ≤ i, in place of which the factors L and D of H = Lᵀ·D·L come."""

    k: Kernel
    couples: bool
    """Whether links between moving bodies are possible."""
    fills: bool
    """Whether entries beyond those of the tree are possible."""

    @property
    def nv(self) -> int:
        return int(self.k.model.nv)

    @property
    def entries(self) -> Field:
        return self.k.scratch("H", self.nv, self.nv)

    @property
    def inverse_diagonal(self) -> Field:
        return self.k.scratch("H_inverse_diagonal", self.nv)

    @cached_property
    def blocks(self) -> Blocks:
        return blocks_of(self.k.structure)

    @property
    def nblock(self) -> int:
        return len(self.blocks.first)

    def first(self, block: Any) -> Any:
        return self.k.table("H/first", self.blocks.first)[block]

    def size(self, block: Any) -> Any:
        return self.k.table("H/size", self.blocks.size)[block]

    def block_of(self, dof: Any) -> Any:
        return self.k.table("H/block", self.blocks.of)[dof]

    # ---- pattern: the rows of a block share the columns before it, column(at) for begin(block) ≤ at < end(block)

    def begin(self, block: Any) -> Any:
        return self._begin[block] if self.fills else self.k.model.D_rowadr[self.first(block)]

    def end(self, block: Any) -> Any:
        return self._end[block] if self.fills else ancestors_end(self.k, self.first(block))

    def column(self, at: Any) -> Any:
        return self._column[at] if self.fills else self.k.model.D_colind[at]

    @property
    def _begin(self) -> IntegerField:
        return self.k.integers("H_begin", self.nblock)

    @property
    def _end(self) -> IntegerField:
        return self.k.integers("H_end", self.nblock)

    @property
    def _column(self) -> IntegerField:
        return self.k.integers("H_column", max(int(self.blocks.first.sum()), 1))

    @property
    def _connected(self) -> IntegerField:
        return self.k.integers("H_connected", self.nblock, self.nv)

    def clear_connections(self) -> None:
        """Start a pattern with the ancestors of every block."""
        k, m = self.k, self.k.model
        with k.loop(0, self.nblock) as block:
            dof = self.first(block)
            with k.loop(0, dof) as column:
                self._connected[block, column] = 0
            with k.loop(m.D_rowadr[dof], ancestors_end(k, dof)) as at:
                self._connected[block, m.D_colind[at]] = 1

    def connect(self, dof: Any, column: Any) -> None:
        """The last dof of a constraint row and another one of it; the others get connected by elimination."""
        self._connected[self.block_of(dof), column] = 1

    def eliminate(self) -> None:
        """Columns of all blocks: eliminating a block connects all that it is connected with, which the highest of
        those passes on."""
        k = self.k
        used = k.local(0)
        with k.loop(0, self.nblock, reverse=True) as block:
            start = k.local(used.value)
            with k.loop(0, self.first(block)) as column, k.when(self._connected[block, column] > 0):
                self._column[used.value] = column
                used += 1
            self._begin[block], self._end[block] = start.value, used.value
            with k.when(used.value > start.value):
                highest = self.block_of(self._column[used.value - 1])
                with k.loop(start.value, used.value) as at:
                    self._connected[highest, self._column[at]] = 1

    # ---- entries

    @property
    def composite(self) -> Field:
        return self.k.scratch("composite", self.k.model.nbody, len(PACKED))

    @property
    def loaded(self) -> IntegerField:
        """1 for bodies that have, or carry bodies with, links to what does not move."""
        return self.k.integers("loaded", self.k.model.nbody)

    def unload(self) -> None:
        """No links."""
        with self.k.loop(0, self.k.model.nbody) as body:
            self.loaded[body] = 0

    def load(self, body: Any) -> None:
        """Make sure that a body has a composite."""
        with self.k.when(self.loaded[body] == 0):
            self.loaded[body] = 1
            self.composite[body] = 0.0

    def add_grounded(self, link: Link, W: Field) -> None:
        """A link between a body and the ground: A += wᵀ·W·w."""
        k, wrench = self.k, link.links.near_wrench
        body = link.links.near[link.index]
        self.load(body)
        total = k.local(self.composite[body])
        for row in link.rows():
            weighted = k.local(np.full(6, 0.0, object))
            for column in link.rows():
                weighted += W[row, column] * wrench[link.index, column]
            w, u = wrench[link.index, row], weighted.value
            total += np.array([w[i] * u[j] for i, j in PACKED], dtype=object)
        self.composite[body] = total.value

    def write_tree(self, filled: Any) -> None:
        """M and the links to the ground; zero in all other places of the pattern."""
        k, m = self.k, self.k.model
        with k.loop(1, m.nbody, reverse=True) as body:
            parent = m.body_parentid[body]
            with k.when(self.loaded[body] > 0), k.when(parent > 0):
                self.load(parent)
                self.composite[parent] += self.composite[body]
        if self.fills:
            with k.when(filled):
                self._clear()
        whole = np.array_equal(k.structure.M_rownnz, k.structure.D_diag + 1)
        with k.loop(0, self.nv) as row:
            self._write_row(row, mass=whole)
            if not whole:
                self._add_mass(row)

    def _clear(self) -> None:
        with self.k.loop(0, self.nv) as row:
            block = self.block_of(row)
            with self.k.loop(self.begin(block), self.end(block)) as at:
                self.entries[row, self.column(at)] = 0.0

    def _write_row(self, row: Any, *, mass: bool) -> None:
        """Entries of the ancestors of a dof and of itself: what the links to the ground make, and M if asked for
        (whose entries then stand in the same order)."""
        k, m, d, H = self.k, self.k.model, self.k.data, self.entries
        first, count = m.D_rowadr[row], m.D_diag[row] + 1
        body = m.dof_bodyid[row]
        M = m.M_rowadr[row]
        with k.when(self.loaded[body] > 0):
            pull = symmetric_times(self.composite[body], d.cdof[row])
            with k.loop(0, count) as n:
                column = m.D_colind[first + n]
                H[row, column] = (d.M[M + n] if mass else 0.0) + dot(pull, d.cdof[column])
        with k.otherwise(), k.loop(0, count) as n:
            H[row, m.D_colind[first + n]] = d.M[M + n] if mass else 0.0

    def _add_mass(self, row: Any) -> None:
        m = self.k.model
        first = m.M_rowadr[row]
        with self.k.loop(first, first + m.M_rownnz[row]) as at:
            self.entries[row, m.M_colind[at]] += self.k.data.M[at]

    def add_coupling(self, link: Link, W: Field) -> None:
        """A link between two moving bodies, through its J over the dofs they do not share."""
        k, d, links = self.k, self.k.data, link.links
        span, J = k.integers("span", self.nv), k.scratch("span_J", self.nv, LARGEST_DIM)
        count = k.local(0)

        def visit(dof: Any, wrench: Field) -> None:
            nonlocal count
            span[count.value] = dof
            for row in link.rows():
                J[count.value, row] = dot(wrench[link.index, row], d.cdof[dof])
            count += 1

        apart(
            k,
            (links.near[link.index], links.far[link.index]),
            lambda dof: visit(dof, links.near_wrench),
            lambda dof: visit(dof, links.far_wrench),
        )
        own = k.scratch("span_WJ", LARGEST_DIM)
        with k.loop(0, count.value) as a:
            for row in link.rows():
                total = k.local(0.0)
                for column in link.rows():
                    total += W[row, column] * J[a, column]
                own[row] = total.value
            with k.loop(a, count.value) as b:
                total = k.local(self.entries[span[a], span[b]])
                for row in link.rows():
                    total += own[row] * J[b, row]
                self.entries[span[a], span[b]] = total.value

    # ---- factor

    def factor(self) -> None:
        """H = Lᵀ·D·L from the leaves to the root, in place, block by block."""
        k = self.k
        sizes = np.unique(self.blocks.size).tolist()
        with k.loop(0, self.nblock, reverse=True) as block:
            for size in sizes:
                with k.when(self.size(block) == size):
                    self._eliminate(block, [self.first(block) + n for n in range(size)])

    def _eliminate(self, block: Any, rows: list[Any]) -> None:
        """Eliminate the rows of a block, the last one first."""
        k, H = self.k, self.entries
        inside, inverse = self._factor_inside(rows)
        first, end = self.begin(block), self.end(block)
        if len(rows) > 1:
            with k.loop(first, end) as at:
                column = self.column(at)
                x = [H[row, column] for row in rows]
                for n in reversed(range(len(rows))):
                    for o in range(n):
                        x[o] = x[o] - inside[n, o] * x[n]
                for row, value in zip(rows[:-1], x, strict=False):
                    H[row, column] = value
        # From the last column down: a column is still unscaled when a later one needs it.
        with k.loop(first, end, reverse=True) as at:
            column = self.column(at)
            scale = [H[row, column] * inv for row, inv in zip(rows, inverse, strict=True)]
            with k.loop(first, at + 1) as other:
                i = self.column(other)
                H[column, i] -= dot(scale, [H[row, i] for row in rows])
            for row, value in zip(rows, scale, strict=True):
                H[row, column] = value

    def _factor_inside(self, rows: list[Any]) -> tuple[dict[tuple[int, int], Any], list[Any]]:
        """L within a block, and the inverse diagonal; both are stored."""
        k, H, size = self.k, self.entries, len(rows)
        h = {(n, o): H[rows[n], rows[o]] for n in range(size) for o in range(n + 1)}
        inverse: list[Any] = [None] * size
        for n in reversed(range(size)):
            inverse[n] = 1.0 / k.max(h[n, n], MINVAL)
            self.inverse_diagonal[rows[n]] = inverse[n]
            scaled = [h[n, o] * inverse[n] for o in range(n)]
            for o in range(n):
                for q in range(o + 1):
                    h[o, q] = h[o, q] - scaled[o] * h[n, q]
            for o in range(n):
                h[n, o] = scaled[o]
                H[rows[n], rows[o]] = scaled[o]
        return h, inverse

    def solve(self, x: Field) -> None:
        """Replace x (nv) by H⁻¹·x."""
        k, H = self.k, self.entries
        with k.loop(0, self.nv, reverse=True) as row:  # Lᵀ y = x
            block, value = self.block_of(row), x[row]
            with k.loop(self.begin(block), self.end(block)) as at:
                x[self.column(at)] -= H[row, self.column(at)] * value
            with k.loop(self.first(block), row) as column:
                x[column] -= H[row, column] * value
        with k.loop(0, self.nv) as row:  # L z = D⁻¹ y
            block, total = self.block_of(row), k.local(x[row] * self.inverse_diagonal[row])
            with k.loop(self.begin(block), self.end(block)) as at:
                total -= H[row, self.column(at)] * x[self.column(at)]
            with k.loop(self.first(block), row) as column:
                total -= H[row, column] * x[column]
            x[row] = total.value


def ancestors_end(k: Kernel, row: Any) -> Any:
    """Where the ancestors of a dof end in D_colind; they begin at D_rowadr. (M leaves some out.)"""
    return k.model.D_rowadr[row] + k.model.D_diag[row]


def symmetric_times(packed: Any, v: Any) -> np.ndarray:
    """A packed symmetric matrix times a vector (6)."""
    place = {ij: n for n, ij in enumerate(PACKED)}
    rows = [[packed[place[max(i, j), min(i, j)]] for j in range(6)] for i in range(6)]
    return np.array([dot(row, v) for row in rows], dtype=object)


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
