"""Islands in lanes: no arrays are sorted by island. The worlds of a tile fall into different islands, so that the
solvers keep an island's numbers by tree instead, and find themselves which trees their rows tie together
(`solve_constraints.islands_lanes`). Compare mj_island."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.counts_lanes import count_rows


def islands(k: Kernel) -> None:
    """Here all rows are known, and are counted for who wants to know how many there are."""
    count_rows(k)
