"""Factors Lᵀ·D·L of matrices with the mass matrix's sparsity, in place, and solutions with them, in lanes.

The layout is that of ldl_numpy.py. Three rows of which each is the parent of the next are taken together where there
are such, so that what they share is loaded and stored once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.vectors_lanes import dot


def copy(k: Kernel, source: LaneField, target: LaneField) -> None:
    """Element by element, for fields with one axis."""
    with k.loop(0, target.shape[0]) as i:
        target[i] = source[i]


def factor(k: Kernel, entries: LaneField, inverse_diagonal: LaneField) -> None:
    """Turn M's entries, in place, into L and D of M = Lᵀ·D·L; also give 1/D."""
    for row, three in each_block(k, reverse=True):
        if three:
            inverses = _factor_inside(k, entries, row)
        else:
            inverses = [1.0 / entries[_diagonal(k, row)]]
        for n, inverse in enumerate(inverses):
            inverse_diagonal[row + n] = inverse
        _eliminate(k, entries, row, inverses)


def _factor_inside(k: Kernel, entries: LaneField, row: Any) -> list[Any]:
    """Eliminate three rows from one another; returns 1/D. Entries at their common ancestors stay unscaled."""
    m = k.model
    start = [m.M_rowadr[row + n] for n in range(3)]
    count = m.M_rownnz[row] - 1
    (d0,), (h10, d1), (h20, h21, d2) = (
        [entries[start[n] + count + i] for i in range(n + 1)] for n in range(3)
    )
    inverse2 = 1.0 / d2
    l20, l21 = h20 * inverse2, h21 * inverse2
    h10, d1 = h10 - l21 * h20, d1 - l21 * h21
    inverse1 = 1.0 / d1
    l10 = h10 * inverse1
    d0 = d0 - l20 * h20 - l10 * h10
    for n, values in enumerate(([d0], [l10, d1], [l20, l21])):
        for i, value in enumerate(values):
            entries[start[n] + count + i] = value
    with k.loop(0, count) as at:
        x2 = entries[start[2] + at]
        x1 = entries[start[1] + at] - l21 * x2
        entries[start[0] + at] -= l20 * x2 + l10 * x1
        entries[start[1] + at] = x1
    return [1.0 / d0, inverse1, inverse2]


def _eliminate(k: Kernel, entries: LaneField, row: Any, inverses: list[Any]) -> None:
    """Take rows out of those of their common ancestors, and scale them."""
    m = k.model
    start = [m.M_rowadr[row + n] for n in range(len(inverses))]
    # From the last column down: a column is still unscaled when a later one needs it.
    with k.loop(0, m.M_rownnz[row] - 1, reverse=True) as at:
        scale = [entries[first + at] * inverse for first, inverse in zip(start, inverses, strict=True)]
        ancestor = m.M_rowadr[m.M_colind[start[0] + at]]
        with k.loop(0, at + 1) as i:
            entries[ancestor + i] -= dot(scale, [entries[first + i] for first in start])
        for first, value in zip(start, scale, strict=True):
            entries[first + at] = value


def solve(k: Kernel, qLD: LaneField, qLDiagInv: LaneField, x: LaneField) -> None:
    """Replace x (nv) by M⁻¹·x, from the factors."""
    m = k.model
    for row, three in each_block(k, reverse=True):  # Lᵀ y = x
        start = [m.M_rowadr[row + n] for n in range(3 if three else 1)]
        value = [x[row + n] for n in range(len(start))]
        if three:
            l10, l20, l21 = _inside(k, qLD, row)
            value[1] = value[1] - l21 * value[2]
            value[0] = value[0] - l10 * value[1] - l20 * value[2]
            x[row], x[row + 1] = value[0], value[1]
        with k.loop(0, m.M_rownnz[row] - 1) as at:
            x[m.M_colind[start[0] + at]] -= dot(value, [qLD[first + at] for first in start])
    for row, three in each_block(k):  # L z = D⁻¹ y
        start = [m.M_rowadr[row + n] for n in range(3 if three else 1)]
        total = k.local(np.array([x[row + n] * qLDiagInv[row + n] for n in range(len(start))], object))
        with k.loop(0, m.M_rownnz[row] - 1) as at:
            other = x[m.M_colind[start[0] + at]]
            total -= np.array([qLD[first + at] * other for first in start], dtype=object)
        value = list(total.value)
        if three:
            l10, l20, l21 = _inside(k, qLD, row)
            value[1] = value[1] - l10 * value[0]
            value[2] = value[2] - l20 * value[0] - l21 * value[1]
        for n, found in enumerate(value):
            x[row + n] = found


def _inside(k: Kernel, entries: LaneField, row: Any) -> tuple[Any, Any, Any]:
    """L₁₀, L₂₀, L₂₁ of three rows."""
    m = k.model
    count = m.M_rownnz[row] - 1
    second, third = m.M_rowadr[row + 1] + count, m.M_rowadr[row + 2] + count
    return entries[second], entries[third], entries[third + 1]


def _diagonal(k: Kernel, row: Any) -> Any:
    return k.model.M_rowadr[row] + k.model.M_rownnz[row] - 1


@walk
def each_block(k: Kernel, *, reverse: bool = False) -> Iterator[tuple[Any, bool]]:
    """`for row, three in …:` runs its body for the first row of every block, written out for blocks of three rows
    and for single rows."""
    first, three = row_blocks(k.frozen_model)
    with k.loop(0, len(first), reverse=reverse) as n:
        row = k.table("M/first", first)[n]
        if three.all() or not three.any():
            yield row, bool(three.all())
        else:
            with k.when(k.table("M/three", three.astype(int))[n] > 0):
                yield row, True
            with k.otherwise():
                yield row, False


def row_blocks(model: ModelLike) -> tuple[Array, Array]:
    """Cut M's rows into threes of which each has the columns of the one before and its own, and single rows.

    Returns the first row of each block, and whether it is three."""
    adr, nnz, columns = (np.asarray(getattr(model, f"M_{name}")) for name in ("rowadr", "rownnz", "colind"))

    def follows(row: int) -> bool:
        mine, before = (columns[adr[r] : adr[r] + nnz[r]] for r in (row, row - 1))
        return len(mine) == len(before) + 1 and bool((mine[:-1] == before).all())

    first: list[int] = []
    three: list[bool] = []
    row = 0
    while row < len(nnz):
        first.append(row)
        three.append(row + 2 < len(nnz) and follows(row + 1) and follows(row + 2))
        row += 3 if three[-1] else 1
    return np.array(first), np.array(three)
