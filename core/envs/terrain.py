"""Ground that is not flat: grids of heights, put into a model as a height field, and the height under any point.

Heights are in metres, rows along y and columns along x, `cell` metres apart, with the middle of the grid at the
origin. All worlds share one terrain; they differ by where on it they start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.errors import ArgumentError, FileError
from dovetail.loading import load, loads

BASE = 1.0
"""Metres of ground below the lowest point."""


def _numbers(given: Any) -> Array:
    return np.array(given, float)


@attrs.frozen(eq=False)
class Terrain:
    """Heights (rows, columns) in metres; `centres` (levels, kinds, 2) are the middles of the patches of `patches`."""

    heights: Array = attrs.field(converter=_numbers)
    cell: float
    centres: Array = attrs.field(factory=lambda: np.zeros((0, 0, 2)))

    def __attrs_post_init__(self) -> None:
        if self.heights.ndim != 2 or min(self.heights.shape) < 2 or not np.isfinite(self.heights).all():
            raise ArgumentError(
                f"heights of shape {self.heights.shape}: they should be finite numbers (rows, columns), "
                "at least two each"
            )
        # As the engine keeps them: from 0 to 1 in single precision.
        low, span = self.heights.min(), self._span
        elevation = np.float32(np.float32(self.heights - low) / np.float32(span))
        self.heights[...] = low + elevation.astype(float) * span

    @property
    def half(self) -> tuple[float, float]:
        """From the middle to the edges along x and y."""
        rows, columns = self.heights.shape
        return (columns - 1) * self.cell / 2, (rows - 1) * self.cell / 2

    @property
    def _span(self) -> float:
        return float(max(np.ptp(self.heights), 1e-3))

    def height(self, points: Array) -> Array:
        """Heights under points (…, 2), to the triangle, as collisions see them: a cell is cut from its corner of
        smallest x and y to that of largest. Beyond the edges it is that of the edge."""
        points = np.asarray(points, float)
        rows, columns = self.heights.shape
        x = np.clip((points[..., 0] + self.half[0]) / self.cell, 0.0, columns - 1)
        y = np.clip((points[..., 1] + self.half[1]) / self.cell, 0.0, rows - 1)
        column, row = np.minimum(x.astype(int), columns - 2), np.minimum(y.astype(int), rows - 2)
        u, v, h = x - column, y - row, self.heights
        start, end = h[row, column], h[row + 1, column + 1]
        right, up = h[row, column + 1], h[row + 1, column]
        below = start + u * (right - start) + v * (end - right)
        above = start + u * (end - up) + v * (up - start)
        return np.asarray(np.where(u >= v, below, above))

    def scan(self, place: Array, yaw: Array, offsets: Array) -> Array:
        """Heights (n, k) at offsets (k, 2) around places (n, 2 or 3) that look along yaw (n,)."""
        c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
        x, y = np.asarray(offsets, float).T
        there = np.stack((c * x - s * y, s * x + c * y), axis=-1) + place[:, None, :2]
        return self.height(there)

    def load(self, source: str | Path, geom: str = "ground") -> Model:
        """A model from MJCF (a file or text), with this terrain in place of its geom of that name."""
        from lxml import etree

        text = str(source)
        file = None if text.lstrip().startswith("<") else Path(source)
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        try:
            root = etree.fromstring(file.read_bytes() if file else text.encode(), parser)
        except etree.XMLSyntaxError:
            return load(file) if file else loads(text)  # which says what is wrong, and where
        except OSError as problem:
            raise FileError(file, f"cannot be read: {problem.strerror}") from None
        ground = root.find(f".//geom[@name='{geom}']")
        if ground is None:
            raise ArgumentError(f"the model has no geom named {geom!r} for the terrain to be in place of")
        rows, columns = self.heights.shape
        assets = root.find("asset")
        assets = etree.SubElement(root, "asset") if assets is None else assets
        size = (*self.half, self._span, BASE)
        words = {"nrow": str(rows), "ncol": str(columns), "size": " ".join(repr(float(s)) for s in size)}
        etree.SubElement(assets, "hfield", {"name": geom, **words})
        ground.attrib.pop("size", "")
        ground.attrib.update({"type": "hfield", "hfield": geom, "pos": f"0 0 {float(self.heights.min())!r}"})
        model = loads(etree.tostring(root, encoding="unicode"), asset_root=file.parent if file else None)
        elevation = (self.heights - self.heights.min()) / self._span
        model.hfield(geom).data[...] = elevation
        return model


# ---- one patch: heights (n, n), zero in the middle, where a world starts


def _away(n: int, cell: float) -> Array:
    """How far each sample is from the middle, as the king goes."""
    line = np.abs(np.arange(n) - (n - 1) / 2) * cell
    return np.maximum(line[:, None], line[None, :])


def rough(
    n: int, cell: float, generator: np.random.Generator, *, deviation: float, wave: float = 0.3
) -> Array:
    """Random ground, with this standard deviation, whose bumps are about `wave` metres wide."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(generator.standard_normal((n, n)), wave / cell / 2, mode="wrap")
    spread = noise.std()
    return np.asarray(noise * (deviation / spread if spread > 0 else 0.0))


def slope(n: int, cell: float, *, tangent: float, flat: float = 0.5) -> Array:
    """A pyramid: all four sides fall (or rise, if negative) from a flat top that reaches `flat` metres out."""
    return -tangent * np.maximum(_away(n, cell) - flat, 0.0)


def stairs(n: int, cell: float, *, height: float, width: float = 0.3, flat: float = 0.5) -> Array:
    """A pyramid of stairs down (or up, if negative) on all four sides."""
    return -height * np.ceil(np.maximum(_away(n, cell) - flat, 0.0) / width - 1e-9)


def blocks(
    n: int,
    cell: float,
    generator: np.random.Generator,
    *,
    height: float,
    width: float = 0.5,
    flat: float = 0.5,
) -> Array:
    """Square blocks of random heights between 0 and `height` around a flat middle."""
    number = (np.arange(n) * cell / width).astype(int)
    tops = generator.uniform(0.0, height, (number[-1] + 1,) * 2)
    return np.where(_away(n, cell) <= flat, 0.0, tops[number[:, None], number[None, :]])


def patches(
    kinds: Sequence[Callable[[float, np.random.Generator], Array]], *, levels: int, cell: float, seed: int = 0
) -> Terrain:
    """Patches side by side: a kind along y, difficulty growing from 0 to 1 along x. `kinds` make one from difficulty
    and a generator, all of one size (n, n)."""
    generator = np.random.default_rng(seed)
    made = [[kind(level / max(levels - 1, 1), generator) for level in range(levels)] for kind in kinds]
    n = len(made[0][0])
    heights = np.concatenate([np.concatenate(row, axis=1) for row in made], axis=0)
    whole = Terrain(heights, cell)
    along = (np.arange(levels) * n + (n - 1) / 2) * cell - whole.half[0]
    across = (np.arange(len(kinds)) * n + (n - 1) / 2) * cell - whole.half[1]
    centres: Any = np.stack(np.meshgrid(along, across, indexing="ij"), axis=-1)
    return Terrain(heights, cell, centres)
