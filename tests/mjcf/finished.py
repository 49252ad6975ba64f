"""Comparing whole models, constants that need dynamics included, with MuJoCo's own, value by value."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from comparing import attribute

import dovetail
from dovetail.contracts.types import MODEL_SPECS
from dovetail.errors import MJCFError

RELATIVE = 1e-10
"""Largest relative error: rounding, through one inversion of the mass matrix."""
FLOOR = 1e-3
"""Numbers are compared relative to at least this: below it they are differences of larger ones."""


def different_fields(xml: str, relative: float = RELATIVE) -> list[str]:
    """What differs between a loaded model and MuJoCo's, one line per size or field."""
    ours, theirs = dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml)
    sizes = (
        "nq",
        "nv",
        "nu",
        "na",
        "nwrap",
        "nsensordata",
        "nemax",
        "nJmom",
        "nM",
        "nC",
        "npair",
        "nexclude",
    )
    found = [
        f"{s}: {getattr(ours, s)} instead of {getattr(theirs, s)}"
        for s in sizes
        if getattr(ours, s) != getattr(theirs, s)
    ]
    for name in MODEL_SPECS:
        if name.startswith("vis."):
            continue
        found += _different(name, ours.field(name), attribute(theirs, name), relative)
    return found


def _different(name: str, ours: Any, theirs: Any, relative: float) -> list[str]:
    if isinstance(theirs, bytes):
        return []
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.size != b.size:
        return [f"{name}: shape {a.shape} instead of {b.shape}"]
    a = a.reshape(b.shape)
    if b.dtype.kind in "iub":
        return [] if (a.astype(np.int64) == b).all() else [f"{name}: {a.tolist()} instead of {b.tolist()}"]
    limit = max(relative, 1e-6 if b.dtype == np.float32 else 0.0)
    close = np.abs(a - b) <= limit * np.maximum(FLOOR, np.abs(b))
    equal = close | (np.isnan(a) & np.isnan(b)) | (a == b)
    return [] if equal.all() else [f"{name}: {a.tolist()} instead of {b.tolist()}"]


def assert_same(xml: str, relative: float = RELATIVE) -> None:
    """MuJoCo loads the same model."""
    assert different_fields(xml, relative) == []


def assert_refused(xml: str, message: str, line: int | None = None) -> None:
    """MuJoCo refuses the model, and so do we, with a message that says this."""
    with pytest.raises(ValueError, match="rror"):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(MJCFError) as caught:
        dovetail.loads(xml)
    assert message in str(caught.value)
    assert line is None or f":{line}:" in str(caught.value)
