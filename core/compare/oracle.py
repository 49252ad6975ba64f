"""MuJoCo 3.4.0 as the oracle: found if installed, never needed to run dovetail."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.derive import build_model
from dovetail.contracts.named import KINDS
from dovetail.contracts.sizes import SIZES
from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import MissingDependencyError

VERSION = "3.4.0"

_OBJECT_KINDS = {
    "body": "BODY",
    "joint": "JOINT",
    "geom": "GEOM",
    "site": "SITE",
    "camera": "CAMERA",
    "light": "LIGHT",
    "tendon": "TENDON",
    "actuator": "ACTUATOR",
    "sensor": "SENSOR",
    "equality": "EQUALITY",
    "key": "KEY",
}


def require_mujoco() -> Any:
    """The mujoco module, or an error that says how to get the right one."""
    try:
        import mujoco
    except ImportError:
        raise MissingDependencyError(
            f"comparing with MuJoCo needs the package 'mujoco', which is not installed; "
            f"run: pip install mujoco=={VERSION}"
        ) from None
    if mujoco.__version__ != VERSION:
        raise MissingDependencyError(
            f"comparing needs mujoco {VERSION}, but {mujoco.__version__} is installed; "
            f"run: pip install mujoco=={VERSION}"
        )
    return mujoco


def model_from_mujoco(mj_model: Any) -> Model:
    """Our Model with the numbers of a compiled MjModel: to compare stages apart from the compiler."""
    mujoco = require_mujoco()
    sizes = {name: int(getattr(mj_model, name)) for name, s in SIZES.items() if s.owner == "model"}
    values = {}
    for name, spec in MODEL_SPECS.items():
        value = _read(mj_model, name)
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        array = np.asarray(value)
        if spec.dtype == "uint8" and array.dtype != np.uint8:
            array = array.astype(np.uint8)
        values[name] = array.reshape(spec.dims({**sizes, **_derived(sizes)}))
    names = {
        kind: tuple(
            mujoco.mj_id2name(mj_model, getattr(mujoco.mjtObj, f"mjOBJ_{tag}"), i) or ""
            for i in range(sizes[KINDS[kind].size])
        )
        for kind, tag in _OBJECT_KINDS.items()
    }
    return build_model(sizes, values, object_names=names, modelname="", source="mujoco.MjModel")


def _derived(sizes: dict[str, int]) -> dict[str, int]:
    return {
        n: s.multiple_of[1] * sizes[s.multiple_of[0]] for n, s in SIZES.items() if s.multiple_of is not None
    }


def _read(owner: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        owner = getattr(owner, name)
    return owner
