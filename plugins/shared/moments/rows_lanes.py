"""Walking the moments of actuators in lanes: the dofs of a row and their entries, from tables of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.moments.layout import moment_rows


@contextmanager
def moment_entries(k: Kernel, actuator: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Repeat for each entry of an actuator's row: its address in actuator_moment, its dof, where it comes from."""
    rows = moment_rows(k.frozen_model)
    source = k.table("transmission/source", [entry.source for row in rows for entry in row])
    dof = k.table("transmission/dof", [entry.dof for row in rows for entry in row])
    first = row_addresses(k)
    with k.loop(first[actuator], first[actuator + 1]) as at:
        yield at, dof[at], source[at]


def row_addresses(k: Kernel) -> Any:
    """Where each row begins in actuator_moment, and after them where the last one ends."""
    return k.table("transmission/row", np.cumsum([0, *map(len, moment_rows(k.frozen_model))]))
