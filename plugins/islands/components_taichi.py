"""Islands in lanes: none are made. A lane solver treats all rows of a world together, which gives the same
accelerations; worlds of a tile would fall into different islands. Compare mj_island."""

from __future__ import annotations

from dovetail.backends.taichi.lanes import Kernel


def islands(k: Kernel) -> None:
    """Nothing to write."""
