"""MuJoCo 3.4.0 as the oracle: found if installed, never needed to run dovetail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.contracts.choices import COMPILED_BY, CompiledBy
from dovetail.contracts.derive import build_model
from dovetail.contracts.named import KINDS
from dovetail.contracts.sizes import SIZES
from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import MissingDependencyError, MJCFError, ValidationError, listing, shown

VERSION = "3.4.0"
INSTALL = f"run: pip install mujoco=={VERSION} (it has wheels for Python 3.10 to 3.13)"

UNREADABLE = ("vis.rgba.bv", "vis.rgba.bvactive")
"""Fields that mujoco's Python bindings show as empty arrays."""

_OBJECT_KINDS = {
    "body": "BODY",
    "joint": "JOINT",
    "geom": "GEOM",
    "site": "SITE",
    "camera": "CAMERA",
    "light": "LIGHT",
    "flex": "FLEX",
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
            f"comparing with MuJoCo needs the package 'mujoco', which is not installed; {INSTALL}"
        ) from None
    if mujoco.__version__ != VERSION:
        raise MissingDependencyError(
            f"comparing needs mujoco {VERSION}, but {mujoco.__version__} is installed; {INSTALL}"
        )
    return mujoco


@contextmanager
def unheard() -> Iterator[None]:
    """Keep MuJoCo from printing warnings, and from writing them into a file of the present folder: it is given states
    that are bad on purpose."""
    mujoco = require_mujoco()
    kept = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(kept)


def model_from_mujoco(mj_model: Any, source: str = "mujoco.MjModel") -> Model:
    """Our Model with the numbers of a compiled MjModel: to compare stages apart from the compiler."""
    sizes = {name: int(getattr(mj_model, name)) for name, s in SIZES.items() if s.owner == "model"}
    values = {}
    for name, spec in MODEL_SPECS.items():
        value = read(mj_model, name)
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        array = np.asarray(value)
        if name in UNREADABLE:
            continue
        if spec.dtype == "uint8" and array.dtype != np.uint8:
            array = array.astype(np.uint8)
        if array.dtype.kind == "f":
            array = np.nan_to_num(array)  # normals of mesh polygons without area
        values[name] = array.reshape(spec.dims({**sizes, **_derived(sizes)}))
    return build_model(
        sizes, values, object_names=object_names(mj_model), modelname=model_name(mj_model), source=source
    )


def object_names(mj_model: Any) -> dict[str, tuple[str, ...]]:
    """Names by kind of object, in order of ids; empty where there is none."""
    mujoco = require_mujoco()
    return {
        kind: tuple(
            mujoco.mj_id2name(mj_model, getattr(mujoco.mjtObj, f"mjOBJ_{tag}"), i) or ""
            for i in range(int(getattr(mj_model, KINDS[kind].size)))
        )
        for kind, tag in _OBJECT_KINDS.items()
    }


def model_name(mj_model: Any) -> str:
    """The model's own name: the first of its byte table."""
    return bytes(mj_model.names).partition(b"\0")[0].decode()


def load_both(model: str | Path | Model, compiled_by: CompiledBy = "dovetail") -> tuple[Model, Any]:
    """A Model and the MjModel of the same MJCF: a file, a built-in model's name, MJCF text, or a Model that
    knows its file. `compiled_by="mujoco"`: our Model takes MuJoCo's numbers."""
    from dovetail.simulation import MODELS, builtin_models, load, loads

    if compiled_by not in COMPILED_BY:
        raise ValidationError("compiled_by", [f"{compiled_by!r} should be 'dovetail' or 'mujoco'"])
    mujoco = require_mujoco()
    if isinstance(model, Model):
        if not Path(model.source).is_file():
            raise ValidationError(
                f"model {model.modelname!r}",
                [
                    f"its source {model.source!r} is no file that MuJoCo could read; give the path or the MJCF text"
                ],
            )
        return model, _read_by(mujoco.MjModel.from_xml_path, model.source, model.source)
    text = str(model)
    if text.lstrip().startswith("<"):
        ours = loads(text) if compiled_by == "dovetail" else None
        theirs = _read_by(mujoco.MjModel.from_xml_string, text, "<string>")
        return (model_from_mujoco(theirs) if ours is None else ours), theirs
    path = MODELS / f"{text}.xml" if text in builtin_models() else Path(text)
    if not os.path.isfile(path):
        raise ValidationError(
            f"model {shown(text)}", [f"no such file; built in are: {listing(builtin_models())}"]
        )
    ours = load(path) if compiled_by == "dovetail" else None
    theirs = _read_by(mujoco.MjModel.from_xml_path, str(path), str(path))
    return (model_from_mujoco(theirs, str(path)) if ours is None else ours), theirs


def _read_by(reader: Callable[[str], Any], what: str, file: str) -> Any:
    """What MuJoCo reads, or its complaint."""
    try:
        return reader(what)
    except ValueError as problem:
        raise MJCFError(f"MuJoCo does not load it: {problem}", file=file) from None


def _derived(sizes: dict[str, int]) -> dict[str, int]:
    return {
        n: s.multiple_of[1] * sizes[s.multiple_of[0]] for n, s in SIZES.items() if s.multiple_of is not None
    }


def read(owner: Any, dotted: str) -> Any:
    """A field of an MjModel or MjData by its full name, as `opt.timestep` or `contact.dist`."""
    for name in dotted.split("."):
        owner = getattr(owner, name)
    return owner
