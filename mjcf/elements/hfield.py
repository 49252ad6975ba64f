"""`<hfield>`: elevations from a PNG image, from a file of numbers, or written down.

Whatever the source, the lowest sample becomes 0 and the highest 1; the first row is the one at the smallest y
(`mjCHField::Compile`). A geom with a height field counts as a box around it in mass and inertia.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.mjcf.elements.columns import Columns, Pieces
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.geometry.images import ImageError, check_size, decode_png
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import EPS

if TYPE_CHECKING:
    from dovetail.mjcf.elements.geom import GeomItem
    from dovetail.mjcf.model.context import Context

_PNG, _CUSTOM = "image/png", "image/vnd.mujoco.hfield"
_HEADER = 8
"""Bytes of the two counts, rows and columns, before the samples of MuJoCo's own format."""


@attrs.define(eq=False, kw_only=True)
class HFieldItem(Item):
    """An `<hfield>`."""

    file: str = ""
    content_type: str = ""
    nrow: int = 0
    ncol: int = 0
    size: Vec = (0.0,) * 4
    elevation: Vec | None = None
    data: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.float32))
    """Elevations from 0 to 1, row by row."""


COLUMNS: Columns = {"hfield_size": "size", "hfield_nrow": "nrow", "hfield_ncol": "ncol"}
ELEVATIONS = Pieces(
    rows={"hfield_data": lambda field: field.data},
    begins={"hfield_adr": "hfield_data"},
)


def read_hfield(context: Context, node: Node) -> None:
    """Read one `<hfield>`."""
    field = HFieldItem(node=node)
    overlay(field, node.values)
    context.add("hfield", field)
    if not field.name:
        raise node.error("a height field needs a name; add name=…, or file=…, which gives it one")


def compile_hfields(context: Context) -> None:
    """Load the elevations of every height field, and find those that geoms use."""
    for field in context.objects["hfield"]:
        _check_size(field)
        samples = _from_file(context, field) if field.file else _from_numbers(field)
        field.nrow, field.ncol = samples.shape
        field.data = _normalised(field, samples)
    for geom in context.geoms:
        if geom.hfield:
            geom.dataid = context.find("hfield", geom.hfield, geom.place, "hfield")


def _check_size(field: HFieldItem) -> None:
    if min(field.size) <= 0:
        raise field.place.error(
            "size needs four positive numbers: half-sizes along x and y, height, thickness of the base",
            "size",
        )


def _from_numbers(field: HFieldItem) -> np.ndarray:
    node, rows, columns = field.place, field.nrow, field.ncol
    if rows < 1 or columns < 1:
        raise node.error("needs file=…, or positive nrow and ncol", "nrow")
    try:
        check_size(columns, rows)
    except ImageError as problem:
        raise node.error(str(problem), "nrow") from None
    if not field.elevation:
        return np.zeros((rows, columns), np.float32)
    if len(field.elevation) != rows * columns:
        raise node.error(
            f"elevation has {len(field.elevation)} numbers for {rows} rows and {columns} columns; "
            f"write {rows * columns}",
            "elevation",
        )
    return np.array(field.elevation, np.float32).reshape(rows, columns)[::-1]


def _from_file(context: Context, field: HFieldItem) -> np.ndarray:
    """Elevations of a file; those written down beside it do not count, as in MuJoCo."""
    node = field.place
    kind = field.content_type or (_PNG if field.file.lower().endswith(".png") else _CUSTOM)
    if kind not in (_PNG, _CUSTOM):
        raise node.error(f"unknown content type; height fields are {_PNG} and {_CUSTOM}", "content_type")
    content, filename = context.read_asset(node, "file", field.file, context.compiler_of(node).meshdir)
    try:
        if kind == _PNG:
            return decode_png(content, 1).pixels[::-1, :, 0].astype(np.float32)
        return _decode_custom(content)
    except ImageError as problem:
        raise node.error(f"{filename}: {problem}", "file") from None


def _decode_custom(content: bytes) -> np.ndarray:
    """Rows and columns as 32-bit integers, then single-precision samples row by row."""
    if len(content) < _HEADER:
        raise ImageError("is too short for a height field; it begins with two 32-bit counts")
    rows, columns = struct.unpack("<2i", content[:_HEADER])
    check_size(columns, rows)
    if len(content) != _HEADER + 4 * rows * columns:
        raise ImageError(
            f"should have {_HEADER + 4 * rows * columns} bytes for {rows} rows and {columns} columns, "
            f"but has {len(content)}"
        )
    return np.frombuffer(content, "<f4", offset=_HEADER).astype(np.float32).reshape(rows, columns)


def _normalised(field: HFieldItem, samples: np.ndarray) -> np.ndarray:
    """Samples moved and scaled to reach from 0 to 1, in single precision; level ones stay at 0."""
    if not np.isfinite(samples).all():
        raise field.place.error("an elevation is not a finite number; repair the data", "file")
    low, high = samples.min(), samples.max()
    moved = samples - low
    return moved / (high - low) if high - low > EPS else moved


# geoms


def set_hfield_size(context: Context, geom: GeomItem) -> None:
    """Size of a geom with a height field: a box of the volume of the base and half the elevation."""
    x, y, height, base = context.objects["hfield"][geom.dataid].size
    geom.size = (x, y, 0.25 * height + 0.5 * base)


def hfield_box(field: HFieldItem) -> Vec:
    """Centre and half-sizes of the bounding box in the geom's frame."""
    x, y, height, base = field.size
    return 0.0, 0.0, (height - base) / 2, x, y, (height + base) / 2


def hfield_radius(field: HFieldItem) -> float:
    """Radius of the sphere about the geom's origin that holds the height field."""
    x, y, height, base = field.size
    return float(np.sqrt(x * x + y * y + max(height * height, base * base)))
