"""Islands in lanes: none are made. A lane solver treats all rows of a world together, which gives the same
accelerations; worlds of a tile would fall into different islands. Compare mj_island."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.counts_lanes import count_rows


def islands(k: Kernel) -> None:
    """Here all rows are known, and are counted for who wants to know how many there are."""
    count_rows(k)
