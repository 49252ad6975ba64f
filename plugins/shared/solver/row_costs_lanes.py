"""The cost of constraint rows in lanes, the forces that are minus its slope, and its second derivatives.

As functions of z = J·qacc − aref, one number per base row of a bond (the normal, then the tangents multiplied by
their friction coefficients) or per dof row. With the tangents so scaled, a pyramid's edges are z₀ ± z_k, and an
elliptic cone is round: with T = ‖(z₁, …)‖ and m the square of the regularised slope, z₀ ≥ T costs nothing,
m·z₀ + T ≤ 0 costs ½·D·(z₀² + T²/m), and between them the cost is ½·D/(1 + m)·(z₀ − T)². The rules are those of
`cost_numpy`. Compare mj_constraintUpdate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.rows_lanes import (
    ELLIPTIC,
    EQUALITY,
    FRICTIONLESS,
    PYRAMID,
    BodyRows,
    BondKind,
)

Values = Callable[[Any], Any]
"""A number for each base row of a bond."""


@attrs.frozen(eq=False)
class Bond:
    """One bond of a known kind."""

    k: Kernel
    body_rows: BodyRows
    index: Any
    kind: BondKind

    def each_row(self, first: int = 0) -> Iterator[Any]:
        """`for row in …:` runs its body for the base rows, from `first` on."""
        return self.body_rows.each_base_row(self.index, self.kind, first)

    @property
    def D(self) -> Any:
        return self.body_rows.D[self.index, 0]

    @property
    def m(self) -> Any:
        """Square of the regularised cone's slope."""
        return self.body_rows.D[self.index, 1]

    def weight_of(self, row: Any) -> Any:
        """Weight of an equality's row: linear ones first."""
        if isinstance(row, int):
            return self.body_rows.D[self.index, row // 3]
        return self.k.select(row < 3, self.D, self.body_rows.D[self.index, 1])


# ---- cost


def bond_cost(bond: Bond, z: Values) -> Any:
    """Cost of a bond."""
    return _COST[bond.kind.name](bond, z)


def _equality_cost(bond: Bond, z: Values) -> Any:
    total = bond.k.local(0.0)
    for row in bond.each_row():
        total += 0.5 * (bond.weight_of(row) * z(row)) * z(row)
    return total.value


def _frictionless_cost(bond: Bond, z: Values) -> Any:
    return _edge_cost(bond, z(0))


def _pyramid_cost(bond: Bond, z: Values) -> Any:
    total = bond.k.local(0.0)
    for row in bond.each_row(1):
        for edge in (z(0) + z(row), z(0) - z(row)):
            total += _edge_cost(bond, edge)
    return total.value


def _edge_cost(bond: Bond, z: Any) -> Any:
    return 0.5 * bond.k.select(z < 0.0, bond.D * z, 0.0) * z


def _elliptic_cost(bond: Bond, z: Values) -> Any:
    k, square = bond.k, bond.k.local(0.0)
    for row in bond.each_row(1):
        square += z(row) * z(row)
    cone = _cone(bond, z(0), square.value)
    middle = 0.5 * (cone.stiffness * cone.gap) * cone.gap
    bottom = 0.5 * (bond.D * z(0)) * z(0) + 0.5 * (bond.D / bond.m) * square.value
    return k.select(cone.top, 0.0, k.select(cone.bottom, bottom, middle))


# ---- force


class Vector(Protocol):
    """Where forces are written (6)."""

    def __setitem__(self, index: Any, value: Any) -> None: ...


def write_force(bond: Bond, z: Values, force: Vector) -> None:
    """Write the forces of a bond's base rows."""
    _FORCE[bond.kind.name](bond, z, force)


def _equality_force(bond: Bond, z: Values, force: Vector) -> None:
    for row in bond.each_row():
        force[row] = -bond.weight_of(row) * z(row)


def _frictionless_force(bond: Bond, z: Values, force: Vector) -> None:
    force[0] = -bond.D * bond.k.min(0.0, z(0))


def _pyramid_force(bond: Bond, z: Values, force: Vector) -> None:
    k, normal = bond.k, bond.k.local(0.0)
    for row in bond.each_row(1):
        up, down = k.min(0.0, z(0) + z(row)), k.min(0.0, z(0) - z(row))
        force[row] = bond.D * (down - up)
        normal -= up + down
    force[0] = bond.D * normal.value


def _elliptic_force(bond: Bond, z: Values, force: Vector) -> None:
    k, cone = bond.k, cone_of(bond, z)
    push = cone.stiffness * cone.gap
    normal = k.select(cone.bottom, -bond.D * z(0), -push)
    tangent = k.select(cone.bottom, -bond.D / bond.m, push / cone.T)
    force[0] = k.select(cone.top, 0.0, normal)
    for row in bond.each_row(1):
        force[row] = k.select(cone.top, 0.0, tangent * z(row))


# ---- second derivatives


class Matrix(Protocol):
    """Where second derivatives are written (6, 6)."""

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None: ...

    def clear(self, row: Any, column: Any) -> None:
        """Write an entry that is always zero."""


def write_weight(bond: Bond, z: Values, W: Matrix) -> None:
    """Write the second derivatives of a bond's cost."""
    _WEIGHT[bond.kind.name](bond, z, W)


def always_zero(bond: Bond, row: Any, column: Any) -> bool:
    """Whether an entry of a bond's second derivatives is known to vanish while the kernel is built."""
    if not (isinstance(row, int) and isinstance(column, int)) or row == column:
        return False
    return bond.kind.name == EQUALITY or (bond.kind.name == PYRAMID and min(row, column) > 0)


@walk
def _each_beside(bond: Bond, row: Any, first: int) -> Iterator[Any]:
    """The rows from `first` on but one."""
    for column in bond.each_row(first):
        if not isinstance(row, int):
            with bond.k.when(column != row):
                yield column
        elif column != row:
            yield column


def _equality_weight(bond: Bond, z: Values, W: Matrix) -> None:
    for row in bond.each_row():
        for column in _each_beside(bond, row, 0):
            W.clear(row, column)
        W[row, row] = bond.weight_of(row)


def _frictionless_weight(bond: Bond, z: Values, W: Matrix) -> None:
    W[0, 0] = bond.k.select(z(0) < 0.0, bond.D, 0.0)


def _pyramid_weight(bond: Bond, z: Values, W: Matrix) -> None:
    k, normal = bond.k, bond.k.local(0.0)
    for row in bond.each_row(1):
        up, down = (k.select(edge < 0.0, bond.D, 0.0) for edge in (z(0) + z(row), z(0) - z(row)))
        for column in _each_beside(bond, row, 1):
            W.clear(row, column)
        W[row, row] = up + down
        W[0, row] = up - down
        W[row, 0] = up - down
        normal += up + down
    W[0, 0] = normal.value


def _elliptic_weight(bond: Bond, z: Values, W: Matrix) -> None:
    k, cone = bond.k, cone_of(bond, z)
    stiffness = k.select(cone.top | cone.bottom, 0.0, cone.stiffness)
    flat = k.select(cone.bottom & ~cone.top, bond.D, 0.0)
    bend = cone.gap / cone.T
    W[0, 0] = stiffness + flat
    for row in bond.each_row(1):
        u = z(row) / cone.T
        W[0, row] = -stiffness * u
        W[row, 0] = -stiffness * u
        for column in _each_beside(bond, row, 1):
            W[row, column] = stiffness * (1.0 + bend) * u * (z(column) / cone.T)
        W[row, row] = stiffness * ((1.0 + bend) * u * u - bend) + flat / bond.m


class ConeState(NamedTuple):
    """Where an elliptic contact is."""

    T: Any
    """Length of the tangential part, not zero."""
    gap: Any
    stiffness: Any
    """Of the middle zone."""
    top: Any
    bottom: Any


def cone_of(bond: Bond, z: Values) -> ConeState:
    square = bond.k.local(0.0)
    for row in bond.each_row(1):
        square += z(row) * z(row)
    return _cone(bond, z(0), square.value)


def _cone(bond: Bond, z0: Any, square: Any) -> ConeState:
    k = bond.k
    T = k.sqrt(square)
    return ConeState(k.max(T, MINVAL), z0 - T, bond.D / (1.0 + bond.m), z0 >= T, bond.m * z0 + T <= 0.0)


# ---- along a line


class OnLine(NamedTuple):
    """What a row or a bond adds to the cost along a line, which it is z on and changes at a rate.

    The cost is a quadratic of the distance, whose numbers stand first. They are those at the beginning of the line,
    summed over the pieces that hold somewhere on it: as long as the pieces stay the same, so do the numbers, bit for
    bit, however small the distance is. Cones between their zones are no quadratics: they add their cost to the
    constant, and their slope and curvature where they are.
    """

    constant: Any
    linear: Any
    square: Any
    slope: Any = 0.0
    curvature: Any = 0.0

    def at(self, distance: Any) -> tuple[Any, Any, Any]:
        """Cost, slope and curvature some distance along the line."""
        return (
            self.constant + distance * (self.linear + distance * self.square),
            self.linear + 2.0 * distance * self.square + self.slope,
            2.0 * self.square + self.curvature,
        )


QUADRATIC = 3
"""Numbers of a quadratic, which stand first."""


def numbers_on_line(body_rows: BodyRows) -> int:
    """How many numbers of `OnLine` may differ from zero: without cones those of a quadratic."""
    return len(OnLine._fields) if any(kind.name == ELLIPTIC for kind in body_rows.kinds) else QUADRATIC


def on_line(bond: Bond, z: Values, rate: Values, distance: Any) -> OnLine:
    """A bond that is z where the line begins, some distance along it."""
    return _LINE[bond.kind.name](bond, z, rate, distance)


def _equality_line(bond: Bond, z: Values, rate: Values, distance: Any) -> OnLine:
    total = bond.k.local(np.zeros(QUADRATIC))
    for row in bond.each_row():
        total += np.array(_quadratic(bond.weight_of(row), z(row), rate(row)), dtype=object)
    return OnLine(*total.value)


def _quadratic(D: Any, z: Any, rate: Any) -> tuple[Any, Any, Any]:
    """½·D·(z + distance·rate)²."""
    push, pull = D * z, D * rate
    return 0.5 * push * z, pull * z, 0.5 * pull * rate


def _frictionless_line(bond: Bond, z: Values, rate: Values, distance: Any) -> OnLine:
    return OnLine(*_edge_line(bond, z(0), rate(0), distance))


def _pyramid_line(bond: Bond, z: Values, rate: Values, distance: Any) -> OnLine:
    total = bond.k.local(np.zeros(QUADRATIC))
    for row in bond.each_row(1):
        for edge, change in ((z(0) + z(row), rate(0) + rate(row)), (z(0) - z(row), rate(0) - rate(row))):
            total += np.array(_edge_line(bond, edge, change, distance), dtype=object)
    return OnLine(*total.value)


def _edge_line(bond: Bond, z: Any, rate: Any, distance: Any) -> tuple[Any, Any, Any]:
    pushes = z + distance * rate < 0.0
    return _quadratic(bond.k.select(pushes, bond.D, 0.0), z, rate)


def _elliptic_line(bond: Bond, z: Values, rate: Values, distance: Any) -> OnLine:
    k = bond.k
    zz, zr, rr = (k.local(0.0) for _ in range(3))
    for row in bond.each_row(1):
        zz += z(row) * z(row)
        zr += z(row) * rate(row)
        rr += rate(row) * rate(row)
    square = zz.value + distance * (2.0 * zr.value + distance * rr.value)
    cone = _cone(bond, z(0) + distance * rate(0), k.max(square, 0.0))
    stretch = (zr.value + distance * rr.value) / cone.T
    change = rate(0) - stretch
    bend = cone.gap * (rr.value - stretch * stretch) / cone.T
    push = cone.stiffness * cone.gap
    side = bond.D / bond.m
    tangent = (0.5 * side * zz.value, side * zr.value, 0.5 * side * rr.value)
    bottom = OnLine(*(n + t for n, t in zip(_quadratic(bond.D, z(0), rate(0)), tangent, strict=True)))
    middle = OnLine(0.5 * push * cone.gap, 0.0, 0.0, push * change, cone.stiffness * (change * change - bend))
    return OnLine(
        *(k.select(cone.top, 0.0, k.select(cone.bottom, b, m)) for b, m in zip(bottom, middle, strict=True))
    )


_COST = {
    EQUALITY: _equality_cost,
    FRICTIONLESS: _frictionless_cost,
    PYRAMID: _pyramid_cost,
    ELLIPTIC: _elliptic_cost,
}
_FORCE = {
    EQUALITY: _equality_force,
    FRICTIONLESS: _frictionless_force,
    PYRAMID: _pyramid_force,
    ELLIPTIC: _elliptic_force,
}
_WEIGHT = {
    EQUALITY: _equality_weight,
    FRICTIONLESS: _frictionless_weight,
    PYRAMID: _pyramid_weight,
    ELLIPTIC: _elliptic_weight,
}
_LINE = {
    EQUALITY: _equality_line,
    FRICTIONLESS: _frictionless_line,
    PYRAMID: _pyramid_line,
    ELLIPTIC: _elliptic_line,
}


# ---- dof rows


class DofCost(NamedTuple):
    """Of one dof row."""

    force: Any
    weight: Any
    cost: Any


@attrs.frozen(eq=False)
class DofRow:
    """One dof row of a known kind: an equality, friction loss or a limit."""

    k: Kernel
    D: Any
    loss: Any
    """The most that friction loss can do."""
    kind: str

    def at(self, z: Any) -> DofCost:
        """Where the row is z."""
        return _DOF_COST[self.kind](self, z)

    def on_line(self, z: Any, rate: Any, distance: Any) -> OnLine:
        """Some distance along a line that begins where the row is z."""
        return _DOF_LINE[self.kind](self, z, rate, distance)


DOF_ROWS = ("equality", "friction", "limit")
"""Kinds of dof rows, in their order."""


def _equality_dof(row: DofRow, z: Any) -> DofCost:
    push = row.D * z
    return DofCost(-push, row.D, 0.5 * push * z)


def _equality_dof_line(row: DofRow, z: Any, rate: Any, distance: Any) -> OnLine:
    return OnLine(*_quadratic(row.D, z, rate))


def _friction_dof(row: DofRow, z: Any) -> DofCost:
    """Quadratic while the force stays below the friction loss, then linear."""
    k, push = row.k, row.D * z
    slips, sign, bound = _slips(row, z)
    return DofCost(
        k.select(slips, -sign * row.loss, -push),
        k.select(slips, 0.0, row.D),
        k.select(slips, row.loss * (sign * z - 0.5 * bound), 0.5 * push * z),
    )


def _friction_dof_line(row: DofRow, z: Any, rate: Any, distance: Any) -> OnLine:
    slips, sign, bound = _slips(row, z + distance * rate)
    linear = row.loss * (sign * z - 0.5 * bound), row.loss * sign * rate, 0.0
    still = _quadratic(row.D, z, rate)
    return OnLine(*(row.k.select(slips, a, b) for a, b in zip(linear, still, strict=True)))


def _slips(row: DofRow, z: Any) -> tuple[Any, Any, Any]:
    """Whether friction loss does all it can, in which direction the row slips, and where that begins."""
    bound = row.loss / row.D
    return row.k.abs(z) >= bound, row.k.select(z < 0.0, -1.0, 1.0), bound


def _limit_dof(row: DofRow, z: Any) -> DofCost:
    weight = row.k.select(z < 0.0, row.D, 0.0)
    push = weight * z
    return DofCost(-push, weight, 0.5 * push * z)


def _limit_dof_line(row: DofRow, z: Any, rate: Any, distance: Any) -> OnLine:
    return OnLine(*_quadratic(row.k.select(z + distance * rate < 0.0, row.D, 0.0), z, rate))


_DOF_COST = dict(zip(DOF_ROWS, (_equality_dof, _friction_dof, _limit_dof), strict=True))
_DOF_LINE = dict(zip(DOF_ROWS, (_equality_dof_line, _friction_dof_line, _limit_dof_line), strict=True))
