"""Which worlds are computed together, and for how long. That follows from their number, never from the workers."""

from __future__ import annotations

from itertools import pairwise

import attrs
import numpy as np

from dovetail.contracts.fields import Array

PARTS, TILE, LARGEST = 16, 16, 256
"""Worlds are cut into about so many blocks, of a multiple of so many worlds, and of no more than so many."""

CHUNK = 25_000
"""Steps of worlds between two checkpoints of a block: the milliseconds that Ray needs for a task are little beside
them, and there are enough tasks for nobody to wait long for the last one."""


@attrs.frozen
class Block:
    """Worlds that one worker computes as a batch."""

    number: int
    first: int
    count: int

    @property
    def worlds(self) -> Array:
        return np.arange(self.first, self.first + self.count)

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.count)

    def __str__(self) -> str:
        return (
            f"worlds {self.first} to {self.first + self.count - 1}"
            if self.count > 1
            else f"world {self.first}"
        )


def usual_size(nworld: int) -> int:
    """Worlds in a block where nobody says."""
    share = -(-nworld // PARTS)
    return min(LARGEST, -(-share // TILE) * TILE)


def usual_interval(nstep: int, size: int) -> int:
    """Steps between two checkpoints where nobody says, in even parts."""
    parts = max(1, round(nstep * size / CHUNK))
    return max(1, -(-nstep // parts))


def blocks(nworld: int, size: int) -> list[Block]:
    """All worlds in order, the last block with what is left."""
    starts = range(0, nworld, size)
    return [Block(number, first, min(size, nworld - first)) for number, first in enumerate(starts)]


def shares(total: int, parts: int) -> list[Block]:
    """So many parts, as even as they can be."""
    bounds = [total * part // parts for part in range(parts + 1)]
    return [Block(n, a, b - a) for n, (a, b) in enumerate(pairwise(bounds))]
