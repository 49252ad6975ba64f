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
from typing import Any

import attrs
import numpy as np

from dovetail.backends.taichi.algebra import MINVAL, dot
from dovetail.backends.taichi.lanes import Field, IntegerField, Kernel
from dovetail.plugins.constraint_lanes import LARGEST_DIM, Links, ends_of
from dovetail.plugins.solve_constraints.cost_taichi import Link

PACKED = [(i, j) for i in range(6) for j in range(i + 1)]
"""Entries of a symmetric 6 x 6 matrix that are stored."""


def can_couple(k: Kernel, links: Links) -> bool:
    """Whether any link may have two moving ends."""
    table, pairs = links.equalities, links.contacts.pairs
    found = ends_of(k.structure, table.body1, table.body2).far.any()
    if links.has_contacts:
        found |= ends_of(k.structure, pairs.body2, pairs.body1).far.any()
    return bool(found)


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

    # ---- pattern: the columns of row i before the diagonal are column(at), begin(i) ≤ at < end(i)

    def begin(self, row: Any) -> Any:
        return self._begin[row] if self.fills else self.k.model.D_rowadr[row]

    def end(self, row: Any) -> Any:
        return self._end[row] if self.fills else ancestors_end(self.k, row)

    def column(self, at: Any) -> Any:
        return self._column[at] if self.fills else self.k.model.D_colind[at]

    @property
    def _begin(self) -> IntegerField:
        return self.k.integers("H_begin", self.nv)

    @property
    def _end(self) -> IntegerField:
        return self.k.integers("H_end", self.nv)

    @property
    def _column(self) -> IntegerField:
        return self.k.integers("H_column", max(self.nv * (self.nv - 1) // 2, 1))

    @property
    def _connected(self) -> IntegerField:
        return self.k.integers("H_connected", self.nv, self.nv)

    def tree_pattern(self) -> None:
        """The ancestors of every dof."""
        k, m = self.k, self.k.model
        used = k.local(0)
        with k.loop(0, self.nv) as row:
            self._begin[row] = used.value
            with k.loop(m.D_rowadr[row], ancestors_end(k, row)) as at:
                self._column[used.value] = m.D_colind[at]
                used += 1
            self._end[row] = used.value

    def clear_connections(self) -> None:
        """Start a pattern with the ancestors of every dof."""
        k, m = self.k, self.k.model
        with k.loop(0, self.nv) as row:
            with k.loop(0, row) as column:
                self._connected[row, column] = 0
            with k.loop(m.D_rowadr[row], ancestors_end(k, row)) as at:
                self._connected[row, m.D_colind[at]] = 1

    def connect(self, row: Any, column: Any) -> None:
        """The last dof of a constraint row and another one of it; the others get connected by elimination."""
        self._connected[row, column] = 1

    def eliminate(self) -> None:
        """Columns of all rows: eliminating a dof connects all that it is connected with, which the highest of those
        passes on."""
        k = self.k
        used = k.local(0)
        with k.loop(0, self.nv, reverse=True) as row:
            self._begin[row] = used.value
            with k.loop(0, row) as column, k.when(self._connected[row, column] > 0):
                self._column[used.value] = column
                used += 1
            self._end[row] = used.value
            first = self._begin[row]
            with k.when(used.value > first):
                highest = self._column[used.value - 1]
                with k.loop(first, used.value - 1) as at:
                    self._connected[highest, self._column[at]] = 1

    # ---- entries

    @property
    def composite(self) -> Field:
        return self.k.scratch("composite", self.k.model.nbody, len(PACKED))

    @property
    def loaded(self) -> IntegerField:
        """1 for bodies that have, or carry bodies with, links to what does not move."""
        return self.k.integers("loaded", self.k.model.nbody)

    def clear(self) -> None:
        """No links, no entries."""
        k = self.k
        with k.loop(0, k.model.nbody) as body:
            self.loaded[body] = 0
        with k.loop(0, self.nv) as row:
            with k.loop(self.begin(row), self.end(row)) as at:
                self.entries[row, self.column(at)] = 0.0
            self.entries[row, row] = 0.0

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

    def add_tree(self) -> None:
        """Add M and the links to the ground."""
        k, m, d, H = self.k, self.k.model, self.k.data, self.entries
        with k.loop(1, m.nbody, reverse=True) as body:
            parent = m.body_parentid[body]
            with k.when(self.loaded[body] > 0), k.when(parent > 0):
                self.load(parent)
                self.composite[parent] += self.composite[body]
        with k.loop(0, self.nv) as row:
            first, diagonal = m.M_rowadr[row], m.M_rownnz[row] - 1
            with k.loop(first, first + diagonal) as at:
                H[row, m.M_colind[at]] += d.M[at]
            H[row, row] += d.M[first + diagonal]
            body = m.dof_bodyid[row]
            with k.when(self.loaded[body] > 0):
                pull = symmetric_times(self.composite[body], d.cdof[row])
                with k.loop(m.D_rowadr[row], ancestors_end(k, row) + 1) as at:
                    column = m.D_colind[at]
                    H[row, column] += dot(pull, d.cdof[column])

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
        """H = Lᵀ·D·L from the leaves to the root, in place."""
        k, H = self.k, self.entries
        with k.loop(0, self.nv, reverse=True) as row:
            first = self.begin(row)
            inverse = 1.0 / k.max(H[row, row], MINVAL)
            self.inverse_diagonal[row] = inverse
            # From the last column down: a column is still unscaled when a later one needs it.
            with k.loop(first, self.end(row), reverse=True) as at:
                column = self.column(at)
                scale = H[row, column] * inverse
                with k.loop(first, at + 1) as other:
                    H[column, self.column(other)] -= scale * H[row, self.column(other)]
                H[row, column] = scale

    def solve(self, x: Field) -> None:
        """Replace x (nv) by H⁻¹·x."""
        k, H = self.k, self.entries
        with k.loop(0, self.nv, reverse=True) as row:  # Lᵀ y = x
            value = x[row]
            with k.loop(self.begin(row), self.end(row)) as at:
                x[self.column(at)] -= H[row, self.column(at)] * value
        with k.loop(0, self.nv) as row:  # L z = D⁻¹ y
            total = k.local(x[row] * self.inverse_diagonal[row])
            with k.loop(self.begin(row), self.end(row)) as at:
                total -= H[row, self.column(at)] * x[self.column(at)]
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
