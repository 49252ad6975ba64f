"""Sweeps over forces, in lanes: how an item's forces begin, and a visit that improves them. For PGS and noslip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from dovetail.backends.lanes.kernel import LaneField, Variable
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.rows.rows_lanes import ELLIPTIC, EQUALITY, PYRAMID
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import SCALAR, Dual, Few, ItemKind, edges
from dovetail.plugins.shared.solver.row_costs_lanes import write_force


@walk
def each_force(dual: Dual, v: Any, kind: ItemKind) -> Iterator[Any]:
    """`for n in …:` runs its body for each of an item's forces."""
    for r in dual.each_base_row(v, kind, 1 if kind.name == PYRAMID else 0):
        if kind.name == PYRAMID:
            yield 2 * r - 2
            yield 2 * r - 1
        else:
            yield r


def guess_forces(dual: Dual, v: Any, kind: ItemKind) -> None:
    """The forces of an item that the acceleration `dual.guess` gives."""
    _START[kind.name](dual, v, kind)


def exists(dual: Dual, v: Any) -> Any:
    """Mask of the worlds that have an item."""
    return dual.R[v, 0] > 0.0


def pushed_by(dual: Dual, v: Any, z: Any, r: Any = 0) -> Any:
    """The force of a row that its own softness alone would set against an acceleration; 0 in worlds without it."""
    k, R = dual.k, dual.R[v, r]
    return k.select(R > 0.0, -z / k.select(R > 0.0, R, 1.0), 0.0)


def _start_scalar(dual: Dual, v: Any, kind: ItemKind) -> None:
    low, high = dual.bounds[v]
    clipped = dual.k.clip(pushed_by(dual, v, dual.last[v, 0]), low, high)
    dual.force[v, 0] = dual.k.select(exists(dual, v), clipped, 0.0)


def _start_equality(dual: Dual, v: Any, kind: ItemKind) -> None:
    for r in dual.each_base_row(v, kind):
        dual.force[v, r] = pushed_by(dual, v, dual.last[v, r], r)


def _start_pyramid(dual: Dual, v: Any, kind: ItemKind) -> None:
    for r in dual.each_base_row(v, kind, 1):
        for n, sign in edges(r):
            z = dual.last[v, 0] + sign * dual.last[v, r]
            dual.force[v, n] = dual.k.max(0.0, pushed_by(dual, v, z))


def _start_elliptic(dual: Dual, v: Any, kind: ItemKind) -> None:
    bond = dual.cost_bond(dual.place[v] - dual.rows.count, kind)
    write_force(bond, lambda r: dual.last[v, r], _ItemForces(dual.force, v))
    for r in dual.each_base_row(v, kind):
        dual.force[v, r] = dual.k.select(exists(dual, v), dual.force[v, r], 0.0)


_START: dict[str, Callable[[Dual, Any, ItemKind], None]] = {
    SCALAR: _start_scalar,
    EQUALITY: _start_equality,
    PYRAMID: _start_pyramid,
    ELLIPTIC: _start_elliptic,
}


@attrs.define(eq=False)
class Visit:
    """An item whose forces are being improved in the worlds that have it and have not converged."""

    dual: Dual
    v: Any
    kind: ItemKind
    live: Any
    fallen: Variable
    z: Few = attrs.field()
    """Accelerations of the base rows."""
    move: Few = attrs.field()
    """What is added to the forces of the base rows."""

    @z.default
    def _present(self) -> Few:
        return self.dual.acceleration(self.v, self.kind)

    @move.default
    def _nothing(self) -> Few:
        move = Few(self.dual.k, "move", self.kind)
        for r in self.each_row():
            move[r] = 0.0
        return move

    def each_row(self, first: int = 0) -> Iterator[Any]:
        """`for r in …:` runs its body for the base rows, from `first` on."""
        return self.dual.each_base_row(self.v, self.kind, first)

    @property
    def moves(self) -> Any:
        """Mask of the worlds in which the item moves."""
        return self.dual.R[self.v, 0] * self.live > 0.0

    def A(self, r: Any, s: Any) -> Any:
        return self.dual.A[self.v, r, s]

    def R(self, r: Any = 0) -> Any:
        return self.dual.R[self.v, r]

    def force(self, n: Any) -> Any:
        return self.dual.force[self.v, n]

    def row_move(self, n: Any, z: Any, R: Any, A: Any, low: Any, high: Any) -> Any:
        """Move one force to its best within bounds; by how much it changes."""
        k, old = self.dual.k, self.force(n)
        residual, curvature = z + R * old, A + R
        new = k.min(high, k.max(low, old - residual * self.dual.inverse_diagonal[self.v, n]))
        step = k.select(self.moves, new - old, 0.0)
        self.dual.force[self.v, n] = k.select(self.moves, new, old)
        self.fallen -= k.select(self.moves, step * (residual + 0.5 * curvature * step), 0.0)
        return step

    def end(self) -> None:
        """Let the others feel the move."""
        k, largest = self.dual.k, self.dual.k.local(0.0)
        for r in self.each_row():
            largest.set(k.max(largest.value, k.abs(self.move[r])))
        with k.when(k.any(~(largest.value == 0.0))):
            self.dual.push(self.v, self.kind, self.move)


class _ItemForces:
    """The forces of one item, to write."""

    def __init__(self, field: LaneField, v: Any) -> None:
        self._field, self._v = field, v

    def __setitem__(self, r: Any, value: Any) -> None:
        self._field[self._v, r] = value
