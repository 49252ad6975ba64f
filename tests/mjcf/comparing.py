"""Comparing everything the compiler produces with MuJoCo's own compiler, value by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.mjcf import Compiled

RELATIVE = 1e-12
"""Largest relative error of a real number: rounding of differently ordered sums."""
RELATIVE_SINGLE = 1e-6
"""The same for MuJoCo's single-precision fields (colours)."""
RELATIVE_AXES = 1e-10
"""The same for what depends on principal axes: their error is rounding divided by the gap between moments."""
_AXES = {"body_iquat", "bvh_aabb"}
RELATIVE_THIN = 1e-8
"""The same for normals of polygons, which may be extremely thin."""
RELATIVE_NEAR = 1e-9
"""Distances of points close to a surface: roots of small differences."""


def attribute(model: Any, name: str) -> Any:
    """`opt.timestep` and the like of an MjModel."""
    for part in name.split("."):
        model = getattr(model, part)
    return model


_IN_PRINCIPAL_AXES = {"body_iquat", "body_sameframe", "body_simple", "geom_sameframe", "site_sameframe"}
_IN_PRINCIPAL_AXES |= {"bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb"}


def differences_but_axes(compiled: Compiled, model: Any) -> list[str]:
    """Like `differences`, but principal axes may be others of the same tensor.

    A body with equal moments, or with off-diagonal elements of equal size, leaves the choice to rounding.
    """
    found = differences(compiled, model)
    if any(line.startswith("body_iquat") for line in found):
        ours, theirs = tensors(compiled.values.__getitem__), tensors(lambda name: getattr(model, name))
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
        return [line for line in found if line.split(":")[0] not in _IN_PRINCIPAL_AXES]
    return found


def tensors(get: Callable[[str], Any]) -> Any:
    """Inertia tensors of all bodies, in body frames."""
    w, x, y, z = get("body_iquat").T
    axes = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("ikb,bk,jkb->bij", axes, get("body_inertia"), axes)


def differences(compiled: Compiled, model: Any, relative: float = RELATIVE) -> list[str]:
    """What differs between our values and MuJoCo's, one line per field."""
    found = [
        f"{name}: {ours} instead of {getattr(model, name)}"
        for name, ours in compiled.sizes.items()
        if ours != getattr(model, name)
    ]
    for name, ours in compiled.values.items():
        found.extend(_field(name, ours, attribute(model, name), relative))
    found.extend(_names(compiled, model))
    return found


def _field(name: str, ours: Any, theirs: Any, relative: float) -> list[str]:
    if isinstance(theirs, bytes):  # text, which the bindings show as one string
        theirs = np.frombuffer(theirs, np.uint8)
    elif isinstance(theirs, np.ndarray) and theirs.dtype == np.int8:
        theirs = theirs.view(np.uint8)
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape:
        return [f"{name}: shape {a.shape} instead of {b.shape}"]
    if isinstance(theirs, np.ndarray) and a.dtype != b.dtype:
        return [f"{name}: dtype {a.dtype} instead of {b.dtype}"]
    if a.dtype.kind in "iub":
        return [] if (a == b).all() else [f"{name}: {a.tolist()} instead of {b.tolist()}"]
    error = relative_error(a, b)
    limit = RELATIVE_SINGLE if b.dtype == np.float32 else max(relative, RELATIVE_AXES * (name in _AXES))
    limit = {"mesh_polynormal": RELATIVE_THIN, "oct_coeff": RELATIVE_NEAR}.get(name, limit)
    return [] if error <= limit else [f"{name}: off by {error:.2e}: {a.tolist()} instead of {b.tolist()}"]


def relative_error(a: Any, b: Any) -> float:
    """Largest difference relative to the field's magnitude (at least one).

    MuJoCo has infinite normals for polygons without area; ours may be anything.
    """
    known = np.isfinite(b)
    a, b = a[known], b[known]
    if not np.size(a):
        return 0.0
    return float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b))))


_KINDS = [
    "body",
    "joint",
    "geom",
    "site",
    "camera",
    "light",
    "actuator",
    "numeric",
    "text",
    "tuple",
    "key",
    "material",
    "texture",
    "mesh",
    "hfield",
    "skin",
]


def _names(compiled: Compiled, model: Any) -> list[str]:
    import mujoco

    found = []
    for kind in _KINDS:
        objtype = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        theirs = tuple(mujoco.mj_id2name(model, objtype, i) or "" for i in range(len(compiled.names[kind])))
        if compiled.names[kind] != theirs:
            found.append(f"names of {kind}: {compiled.names[kind]} instead of {theirs}")
    if model.names[: model.names.index(b"\0")].decode() != compiled.modelname:
        found.append(f"modelname: {compiled.modelname!r}")
    return found
