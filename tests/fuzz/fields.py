"""Two Models, or two motions, of which only the arrays are there: what differs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import whole_model

CLOSE = 1e-6
"""Largest error of a motion after ten steps, relative to the field's largest number (at least 1): iterative solvers
stop somewhere near the answer, at a tolerance of 1e-8, each at a place of its own."""
CHAOTIC = 1e4
"""How many times as far as a nudge carries MuJoCo's own motion an error may go."""


class Group:
    """Attributes by name, some of them groups again: stands for an MjModel."""

    __module__ = "mujoco.snapshot"  # `whole_model` looks into what belongs to MuJoCo


def compared_names(model: Any) -> Iterator[str]:
    """Fields of an MjModel that have something to compare."""
    return (name for name in whole_model.field_names(model) if name not in whole_model.EXCLUDED)


def snapshot(fields: Mapping[str, Any]) -> Group:
    """An object with the attributes that dotted names describe."""
    top = Group()
    for name, value in fields.items():
        holder = top
        *groups, last = name.split(".")
        for group in groups:
            if not hasattr(holder, group):
                setattr(holder, group, Group())
            holder = getattr(holder, group)
        setattr(holder, last, value)
    return top


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], almost_flat: bool = False) -> list[str]:
    """What differs between two Models, one line per field; numbers that are noise on both sides do not count, such as
    fractions of the extent of a flex that is flat but for rounding."""
    a, b = snapshot(ours), snapshot(theirs)
    shapes = [n for n in theirs if np.shape(ours[n]) != np.shape(theirs[n])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about fields that are NaN altogether
        found = whole_model.differences_but_axes(a, b) if not shapes else _shapes(ours, theirs, shapes)
    if _same_file_twice(theirs):
        found = [line for line in found if not line.startswith(("mesh_poly", "nmeshpoly"))]
    if almost_flat:
        found = [line for line in found if not line.startswith("flex_vert0:")]
    if noisy(theirs):
        found = [line for line in found if line.partition(":")[0] not in whole_model.FROM_INERTIA]
    return found


def _same_file_twice(theirs: Mapping[str, Any]) -> bool:
    """Whether two meshes come from one file. MuJoCo keeps a mesh that it has processed, so the polygons of the second
    one depend on whether the first had a hull: on what was read before, even by other models of the process."""
    starts = [int(start) for start in theirs["mesh_pathadr"] if start >= 0]
    paths = [bytes(theirs["paths"][start:]).partition(b"\0")[0] for start in starts]
    return len(set(paths)) < len(paths)


def _shapes(ours: Mapping[str, Any], theirs: Mapping[str, Any], names: list[str]) -> list[str]:
    sizes = [
        f"{name}: {ours[name]} instead of {theirs[name]}"
        for name in theirs
        if name.startswith("n") and np.ndim(theirs[name]) == 0 and ours[name] != theirs[name]
    ]
    return sizes + [
        f"{name}: shape {np.shape(ours[name])} instead of {np.shape(theirs[name])}" for name in names
    ]


def noisy(theirs: Mapping[str, Any]) -> bool:
    """Whether the mass matrix is so close to singular that its inverse has no correct digits."""
    inverse = np.asarray(theirs["dof_invweight0"])
    return bool((inverse < 0).any() or (inverse > 1e9).any() or not np.isfinite(inverse).all())


States = list[dict[str, Any]]


def moved_apart(ours: States, theirs: States, nudged: list[States]) -> tuple[str, bool]:
    """The first field that leaves MuJoCo's motion, and whether MuJoCo's own moves as much when nudged."""
    excused = False
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True), start=1):
        for name, value in b.items():
            error = distance(a[name], value)
            if error <= CLOSE:
                continue
            spread = max((distance(n[number - 1][name], value) for n in nudged), default=0.0)
            if error <= CHAOTIC * spread or excused:
                excused = True
                continue
            return _told(name, number, a[name], value, error, spread), excused
    return "", excused


def _told(name: str, number: int, ours: Any, theirs: Any, error: float, spread: float) -> str:
    a, b = np.ravel(ours), np.ravel(theirs)
    if a.shape != b.shape:
        return f"{name}[] after step {number}: {a.size} numbers instead of {b.size}"
    at = int(np.argmax(np.nan_to_num(np.abs(a - b), nan=np.inf)))
    return (
        f"{name}[{at}] after step {number}: {a[at]!r} instead of {b[at]!r}"
        f" (off by {error:.1e}, a nudge moves it by {spread:.1e})"
    )


def distance(a: Any, b: Any) -> float:
    """Largest difference relative to the largest number; infinite where only one side is a number."""
    a, b = np.ravel(a), np.ravel(b)
    if a.shape != b.shape:
        return float("inf")
    if not a.size:
        return 0.0
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
        size = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
    return float(np.nan_to_num(gap, nan=np.inf).max() / size)
