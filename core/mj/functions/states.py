"""mj_resetData, keyframes, and the state as one vector (mj_getState and its like)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.engine import engine_of

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel

PARTS = (
    *("time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", "qfrc_applied", "xfrc_applied", "eq_active"),
    *("mocap_pos", "mocap_quat", "userdata", "plugin_state"),
)
"""The parts of a state in order; part i has the bit 1 << i of a signature (mjtState)."""

_KEYS = {
    "qpos": "key_qpos",
    "qvel": "key_qvel",
    "act": "key_act",
    "ctrl": "key_ctrl",
    "mocap_pos": "key_mpos",
    "mocap_quat": "key_mquat",
}
"""What a keyframe holds besides the time, by the field it goes to."""


@function("m: m, d: d")
def mj_resetData(m: MjModel, d: MjData) -> None:
    """Put everything back to its start: positions of the model, all else zero."""
    _reset(m, d)


def _reset(m: MjModel, d: MjData) -> None:
    engine_of(m, d).reset()
    for rows in (d.warning.number, d.warning.lastinfo, d.timer.number, d.timer.duration):
        rows[...] = 0


@function("m: m, d: d, debug_value: int")
def mj_resetDataDebug(m: MjModel, d: MjData, debug_value: int) -> None:
    """The same, but fill all that is computed with a byte, so that what is read before it is computed stands out."""
    _reset(m, d)
    data = engine_of(m, d).data
    byte = np.uint8(debug_value & 0xFF)
    for name, view in data.fields():
        if name not in data.state and not data.specs[name].grows and data.specs[name].shape:
            view[...] = np.full(view.nbytes, byte).view(view.dtype).reshape(view.shape)


@function("m: m, d: d, key: int")
def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    """Put everything back to its start, then to a keyframe, if there is one of that number."""
    _reset(m, d)
    engine = engine_of(m, d)
    model, data = engine.model, engine.data
    if not 0 <= key < model.nkey:
        return
    data.time = float(model.key_time[key])
    for field, source in _KEYS.items():
        view = data.field(field)
        view[...] = np.asarray(model.field(source)[key]).reshape(view.shape)


@function("m: m, d: d, k: int")
def mj_setKeyframe(m: MjModel, d: MjData, k: int) -> None:
    """Write the present state into a keyframe of the model."""
    engine = engine_of(m, d)
    model, data = engine.model, engine.data
    if k < 0:
        raise FatalError("mj_setKeyframe: keyframe index cannot be negative")
    if k >= model.nkey:
        raise FatalError(
            f"mj_setKeyframe: index must be smaller than {model.nkey} (keyframes allocated in model)"
        )
    model.key_time[k] = data.time
    for field, source in _KEYS.items():
        model.field(source)[k] = np.asarray(data.field(field)).reshape(-1)


# ---- state vectors ----------------------------------------------------------------------------------------------


def _parts(name: str, sig: int) -> list[str]:
    if sig < 0:
        raise TypeError(
            f"{name}(): incompatible function arguments: sig should not be negative, and is {sig}"
        )
    if sig >= 1 << len(PARTS):
        raise FatalError(f"{name}: invalid state signature {sig} >= 2^mjNSTATE")
    return [part for bit, part in enumerate(PARTS) if sig >> bit & 1]


def _size(model: Model, part: str) -> int:
    sizes = {
        "time": 1,
        "qpos": model.nq,
        "act": model.na,
        "ctrl": model.nu,
        "xfrc_applied": 6 * model.nbody,
        "eq_active": model.neq,
        "mocap_pos": 3 * model.nmocap,
        "mocap_quat": 4 * model.nmocap,
        "userdata": model.nuserdata,
        "plugin_state": model.npluginstate,
    }
    return int(sizes.get(part, model.nv))


def state_size(model: Model, sig: int, name: str = "mj_stateSize") -> int:
    """How many numbers a state has."""
    return sum(_size(model, part) for part in _parts(name, sig))


def write_state(data: Data, state: Array, parts: list[str]) -> None:
    """Put the parts of a state into a vector, one behind the other."""
    start = 0
    for part in parts:
        values = data.field(part).reshape(-1)
        state[start : start + len(values)] = values
        start += len(values)


def read_state(data: Data, state: Array, parts: list[str]) -> None:
    """Take the parts of a state out of a vector."""
    start = 0
    for part in parts:
        view = data.field(part)
        count = view.size
        values = state[start : start + count]
        view[...] = (values != 0.0 if part == "eq_active" else values).reshape(view.shape)
        start += count


@function("m: m, sig: int", "int")
def mj_stateSize(m: MjModel, sig: int) -> int:
    """How many numbers a state has."""
    return state_size(m._model, sig)


@function("m: m, d: d, state: w, sig: int")
def mj_getState(m: MjModel, d: MjData, state: Array, sig: int) -> None:
    """Write the state into a vector."""
    parts = _parts("mj_getState", sig)
    need(len(state) == state_size(m._model, sig), "state size should equal mj_stateSize(m, sig)")
    write_state(engine_of(m, d).data, state, parts)


@function("m: m, d: d, state: v, sig: int")
def mj_setState(m: MjModel, d: MjData, state: Array, sig: int) -> None:
    """Take the state out of a vector."""
    parts = _parts("mj_setState", sig)
    need(len(state) == state_size(m._model, sig), "state size should equal mj_stateSize(m, sig)")
    read_state(engine_of(m, d).data, state, parts)


@function("m: m, src: d, dst: d, sig: int")
def mj_copyState(m: MjModel, src: MjData, dst: MjData, sig: int) -> None:
    """Copy the state of one Data to another."""
    for part in _parts("mj_copyState", sig):
        engine_of(m, dst).data.field(part)[...] = engine_of(m, src).data.field(part)


@function("m: m, src: v, srcsig: int, dst: w, dstsig: int")
def mj_extractState(m: MjModel, src: Array, srcsig: int, dst: Array, dstsig: int) -> None:
    """Take some parts out of a state vector that has more."""
    model = m._model
    there, wanted = _parts("mj_extractState", srcsig), _parts("mj_extractState", dstsig)
    need(len(src) == state_size(model, srcsig), "src size should equal mj_stateSize(m, srcsig)")
    need(len(dst) == state_size(model, dstsig), "dst size should equal mj_stateSize(m, dstsig)")
    if dstsig & ~srcsig:
        raise FatalError("mj_extractState: dstsig is not a subset of srcsig")
    start = target = 0
    for part in there:
        count = _size(model, part)
        if part in wanted:
            dst[target : target + count] = src[start : start + count]
            target += count
        start += count


__all__ = [name for name in globals() if name.startswith("mj_")]
