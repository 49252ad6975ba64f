"""A Model as MJCF text, and whether reading it gives the same Model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import CannotWriteError, listing
from dovetail.mjcf.write.compiled import ModelWriter
from dovetail.mjcf.write.text import printed

if TYPE_CHECKING:
    from dovetail.mjcf.model.tables import Tables

TOLERANCE, SINGLE = 1e-9, 4e-6
"""Largest error of a number after writing and reading, relative to the largest of its field: of numbers in double
precision, and of those that a Model keeps in single precision or that follow from them."""
_PLACES = ("paths", "mesh_pathadr", "skin_pathadr", "hfield_pathadr", "tex_pathadr")
"""Fields that say which files the model came from: what is written in the text itself comes from none."""


def model_text(model: Model, tables: Tables, files: dict[str, bytes] | None) -> str:
    """MJCF text of a Model."""
    return printed(ModelWriter(model, files, tables).document())


def differences(model: Model, other: Model) -> list[str]:
    """Fields in which two Models are not the same, names of files aside."""
    found = [] if model.object_names == other.object_names else ["names"]
    meshed = bool(model.sizes["nmesh"])
    for name in MODEL_SPECS:
        if name in _PLACES:
            continue
        one, two = np.asarray(model.field(name)), np.asarray(other.field(name))
        if one.shape != two.shape:
            found.append(name)
        elif one.dtype.kind != "f":
            found += [name] if not np.array_equal(one, two) else []
        elif not _near(one, two, SINGLE if meshed or one.dtype == np.float32 else TOLERANCE):
            found.append(name)
    return found


def _near(one: Any, two: Any, tolerance: float) -> bool:
    if not np.array_equal(np.isnan(one), np.isnan(two)):
        return False
    with np.errstate(invalid="ignore"):
        gap, most = np.abs(one - two), np.nanmax(np.abs(one), initial=1.0, where=np.isfinite(one))
    return bool(np.nanmax(np.where(one == two, 0.0, gap), initial=0.0) <= tolerance * most)


def check_written(changed: list[str]) -> None:
    """Refuse a text that brings back another Model: one with other numbers in some fields."""
    if changed:
        raise CannotWriteError(
            f"MJCF brings back other numbers in {listing(changed)}: they were edited apart from what they follow "
            "from, or MJCF has no words for them"
        )
