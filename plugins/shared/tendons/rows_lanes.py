"""Walking the Jacobians of tendons in lanes: the dofs of a row and their entries, from tables of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.tendons.layout import row_arms


@contextmanager
def row_entries(k: Kernel, tendon: Any) -> Iterator[tuple[Any, Any]]:
    """Repeat for each entry of a tendon's row: its dof, and its place in ten_J counted through (`entry`)."""
    rows = row_arms(k.frozen_model)
    first = k.table("tendon/row", np.cumsum([0, *map(len, rows)]))
    dof = k.table("tendon/dof", [dof for row in rows for dof, _ in row])
    place = k.table("tendon/place", [at for row in rows for _, at in row])
    with k.loop(first[tendon], first[tendon + 1]) as at:
        yield dof[at], place[at]


def entry(k: Kernel, place: Any) -> Any:
    """A number of ten_J by its place counted through all rows."""
    return k.data.ten_J[0, place]


def add_along(k: Kernel, tendon: Any, force: Any, *fields: Any) -> None:
    """Add a force along a tendon, as joint forces, to fields with one number per dof."""
    with row_entries(k, tendon) as (dof, place):
        pull = force * entry(k, place)
        for field in fields:
            field[dof] += pull
