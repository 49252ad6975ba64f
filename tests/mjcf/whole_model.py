"""Comparing a loaded Model with MuJoCo's mjModel: every field is compared, or excluded with a reason.

Unlike `comparing`, which looks at what the MJCF compiler produces, this looks at what a user gets from
`dovetail.load`: the constants that need dynamics are there too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import comparing
import numpy as np

RELATIVE = 1e-10
"""Largest error of a real number, relative to the largest of its row (an object's values)."""
RELATIVE_SINGLE = 1e-6
"""The same where MuJoCo stores single precision."""

TINY = 1e-300
"""Keeps a difference from zero finite; anything but zero is then wrong."""

EXCLUDED = {
    "signature": "a checksum over MuJoCo's own editable description, which dovetail does not have",
    "nbuffer": "bytes of MuJoCo's memory block",
    "narena": "bytes of MuJoCo's scratch memory; dovetail allocates its own",
    "vis.rgba.bv": "MuJoCo's Python bindings show it without numbers",
    "vis.rgba.bvactive": "MuJoCo's Python bindings show it without numbers",
}
"""Fields of mjModel that are not compared, and why."""

LOOSER = {
    "mesh_polynormal": 1e-8,  # normals of slivers: rounding divided by the area
}
"""Fields whose rounding errors are amplified, and by what."""


def field_names(model: Any) -> Iterator[str]:
    """Every field of an mjModel, those of its groups (`opt.timestep`, `vis.map.znear`) as dotted names."""
    yield from _members(model, "")


def _members(holder: Any, prefix: str) -> Iterator[str]:
    for name in dir(holder):
        value = None if name.startswith("_") else getattr(holder, name)
        if value is None or callable(value):
            continue
        if type(value).__module__.startswith("mujoco"):
            yield from _members(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def attribute(holder: Any, name: str) -> Any:
    """`vis.map.znear` and the like."""
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder


_AXES_TEXT = """
body_iquat body_sameframe body_simple geom_sameframe site_sameframe bvh_depth bvh_child bvh_nodeid bvh_aabb nbvh
nbvhstatic body_bvhnum body_bvhadr dof_simplenum nC M_rownnz M_rowadr M_colind mapM2M dof_length
"""
IN_PRINCIPAL_AXES = frozenset(_AXES_TEXT.split())
"""What may differ when a body's principal axes may: equal moments leave the choice to rounding."""


FROM_INERTIA = dict.fromkeys(
    ("dof_M0", "stat.meaninertia", "bvh_aabb", "dof_damping", "jnt_stiffness", "actuator_biasprm"), 1e-6
) | dict.fromkeys(("body_invweight0", "dof_invweight0", "tendon_invweight0", "actuator_acc0"), 1e-4)
"""Limits found by experiment: rounding of principal axes spreads to these, and inverses amplify it."""


def differences_but_axes(ours: Any, theirs: Any) -> list[str]:
    """Like `differences`, but principal axes may be others of the same inertia tensor."""
    found = differences(ours, theirs, {**LOOSER, **FROM_INERTIA, "body_iquat": 1e-8}, floor=1.0)
    if any(line.startswith("body_iquat:") for line in found):
        error = _tensor_error(ours, theirs)
        found = [line for line in found if line.partition(":")[0] not in IN_PRINCIPAL_AXES]
        found += [f"inertia tensors: off by {error:.1e}"] if error > _TENSOR else []
    return found


_TENSOR = 1e-5
"""Largest error of an inertia tensor, relative to its largest element: rounding of axes, measured up to 2e-6."""


def _tensor_error(ours: Any, theirs: Any) -> float:
    a, b = (comparing.tensors(lambda name, model=model: getattr(model, name)) for model in (ours, theirs))
    scale = np.abs(b).max(axis=(1, 2), keepdims=True)
    return float((np.abs(a - b) / np.maximum(scale, 1e-15)).max())


def differences(
    ours: Any, theirs: Any, looser: Mapping[str, float] = LOOSER, floor: float = TINY
) -> list[str]:
    """What differs, one line per field. Where MuJoCo has NaN or infinity there is nothing to compare."""
    found = []
    for name in field_names(theirs):
        if name not in EXCLUDED:
            problem = _difference(name, attribute(ours, name), attribute(theirs, name), looser, floor)
            found += [f"{name}: {problem}"] if problem else []
    return found


def _difference(name: str, ours: Any, theirs: Any, looser: Mapping[str, float], floor: float) -> str:
    a, b = _plain(ours), _plain(theirs)
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        wrong = np.argwhere(a != b)
        return f"{_shown(a, wrong)} instead of {_shown(b, wrong)}" if len(wrong) else ""
    limit = RELATIVE_SINGLE if b.dtype == np.float32 else looser.get(name, RELATIVE)
    # the normal of a polygon of no area is 1 divided by a rounding error
    meaningful = np.isfinite(b) & ((name != "mesh_polynormal") | (np.abs(b) <= 2))
    error = np.where(meaningful, relative_error(a, b, floor), 0.0)
    wrong = np.argwhere(~(error <= limit))
    return (
        f"off by {np.nanmax(error):.1e}: {_shown(a, wrong)} instead of {_shown(b, wrong)}"
        if len(wrong)
        else ""
    )


def _plain(value: Any) -> np.ndarray[Any, Any]:
    """An array; text that the bindings show as one string becomes bytes, signed bytes unsigned."""
    array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    return array.view(np.uint8) if array.dtype in (np.int8, np.bool_) else array


def relative_error(a: Any, b: Any, floor: float) -> Any:
    """Difference relative to the magnitude of the object's row, or to `floor` if that is smaller."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    size = np.where(np.isfinite(b), np.abs(b), 0.0)
    scale = size.max(axis=-1, keepdims=True, initial=0.0) if np.ndim(b) > 1 else size
    with np.errstate(invalid="ignore"):
        return np.abs(a - b) / np.maximum(floor, scale)


def _shown(array: Any, wrong: Any) -> str:
    """The first wrong values with their places."""
    places = [tuple(int(i) for i in index) for index in wrong[:3]]
    return ", ".join(f"{list(place)}={array[place]}" if place else str(array) for place in places)
