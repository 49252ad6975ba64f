"""The sides of a mesh as arrays: polygons, one after the other."""

from __future__ import annotations

from itertools import chain

import attrs
import numpy as np


@attrs.frozen(eq=False)
class MeshSides:
    """Polygons by the numbers of their vertices."""

    corners: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.int32))
    sizes: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """How many corners each has."""

    @classmethod
    def of(cls, polygons: list[list[int]]) -> MeshSides:
        sizes = np.fromiter(map(len, polygons), np.int64, len(polygons))
        return cls(np.fromiter(chain.from_iterable(polygons), np.int32, int(sizes.sum())), sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def triples(self) -> np.ndarray:
        """The first three corners of each, (n, 3)."""
        begins = np.cumsum(self.sizes) - self.sizes
        return self.corners[begins[:, None] + np.arange(3)]
