"""The same script on MuJoCo's MjSpec and on the drop-in's, and whether the models are the same."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import mujoco
import numpy as np

import dovetail.mj

LEFT_OUT = ("names", "paths", "signature", "names_map", "text_data", "bv", "bvactive", "global")
"""Attributes of a model that are no numbers, say where files were, or are not shown by MuJoCo's bindings."""
GROUPS = ("opt", "stat", "vis", "global_", "quality", "headlight", "map", "scale", "rgba")


def run(script: str, engine: Any) -> dict[str, Any]:
    """The names that a script leaves behind; it is given the engine as `mujoco`."""
    scope: dict[str, Any] = {"mujoco": engine, "np": np}
    exec(compile(textwrap.dedent(script), "<script>", "exec"), scope)
    return scope


def fields(holder: Any, prefix: str = "") -> Iterator[str]:
    """Names of all numbers of a model, those of its groups dotted."""
    for name in dir(holder):
        if name.startswith("_") or name in LEFT_OUT or name.endswith("pathadr"):
            continue
        value = getattr(holder, name)
        if name in GROUPS:
            yield from fields(value, f"{prefix}{name}.")
        elif isinstance(value, np.ndarray) or (prefix and isinstance(value, float | int)):
            yield prefix + name


def model_differences(theirs: Any, ours: Any, tolerance: float = 1e-10) -> list[str]:
    """Numbers of two models that are not the same."""
    found = []
    for name in fields(theirs):
        value, other = np.asarray(attrgetter(name)(theirs)), np.asarray(attrgetter(name)(ours))
        if value.shape != other.shape:
            found.append(f"{name}: {value.shape} and {other.shape}")
        elif value.dtype.kind == "f":
            scale = np.maximum(1.0, np.abs(value))
            if not np.allclose(value / scale, other / scale, rtol=0, atol=tolerance, equal_nan=True):
                found.append(f"{name}: {value.tolist()} and {other.tolist()}")
        elif not np.array_equal(value, other):
            found.append(f"{name}: {value.tolist()} and {other.tolist()}")
    return found


def names(model: Any) -> bytes:
    """All names of a model."""
    return bytes(model.names)


def same(script: str, tolerance: float = 1e-10) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a script, which makes a `spec`, on both; the compiled models must agree in every array and name."""
    theirs, ours = run(script, mujoco), run(script, dovetail.mj)
    left, right = theirs["spec"].compile(), ours["spec"].compile()
    assert model_differences(left, right, tolerance) == []
    assert names(left) == names(right)
    theirs["model"], ours["model"] = left, right
    return theirs, ours
