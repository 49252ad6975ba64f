"""Pairs of dofs that an arm couples and for which the mass matrix has an entry, in lanes.

An arm is a row of a Jacobian: a tendon's, or an actuator's moments. What acts along it adds scale·armᵀ·arm to a
matrix with M's layout; pairs of dofs of different branches have no place there and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.protocols import ModelLike

Arm: TypeAlias = Sequence[tuple[int, int]]
"""(dof, place of its number) of the entries of one arm."""

Stored: TypeAlias = Callable[[Any, Arm], list[tuple[int, int, int]]]
"""Of a Model and an arm, (place, place, entry) of the pairs that a matrix has room for."""


@contextmanager
def each_pair(
    k: Kernel, name: str, rows: Sequence[Arm], arm: Any, stored: Stored | None = None
) -> Iterator[tuple[Any, Any, Any]]:
    """Repeat for each stored pair of an arm's dofs: the places of both numbers, and where the entry is in M.

    `rows` are (dof, place of its number) of all arms; `name` tells their tables from others'. `stored` gives the
    pairs of matrices with another layout than M's.
    """
    pairs = [(stored or coupled)(k.frozen_model, row) for row in rows]
    layout = stored.__name__ if stored else "mass"
    first = k.table(f"{layout}/{name}_pairs", np.cumsum([0, *map(len, pairs)]))
    table = k.table(f"{layout}/{name}_pair", np.array([p for row in pairs for p in row], int).reshape(-1, 3))
    with k.loop(first[arm], first[arm + 1]) as at:
        one, other, entry = table[at]
        yield one, other, entry


def coupled(model: ModelLike, row: Arm) -> list[tuple[int, int, int]]:
    """(place of a dof's number, of its ancestor's or its own again, entry of M) for one arm."""
    place = dict(row)
    found = []
    for dof in sorted(place):
        first, count = int(model.M_rowadr[dof]), int(model.M_rownnz[dof])
        columns = model.M_colind[first : first + count].tolist()
        found += [
            (place[dof], place[column], first + n) for n, column in enumerate(columns) if column in place
        ]
    return found
