"""Callbacks of MuJoCo's: functions of the user's that the engine calls, one of each kind, for all models.

While one is set, what it takes part in runs on the reference (`functions/with_callbacks.py`). A control callback
alone leaves steps to kernels: one up to where it is called, one for the whole step after it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import attrs

Callback = Callable[..., Any]

NAMES = ("act_bias", "act_dyn", "act_gain", "contactfilter", "control", "passive", "sensor", "time")
"""Those that MuJoCo calls mjcb_…; what it calls mju_user_warning is `user_warning`."""


@attrs.define
class Callbacks:
    """What is set now."""

    act_bias: Callback | None = None
    act_dyn: Callback | None = None
    act_gain: Callback | None = None
    contactfilter: Callback | None = None
    control: Callback | None = None
    passive: Callback | None = None
    sensor: Callback | None = None
    time: Callback | None = None
    user_warning: Callback | None = None
    any: bool = False
    """Whether there is one that the engine has to look for."""
    inside: bool = False
    """Whether there is one that takes part in stages."""


CURRENT = Callbacks()


_FOR_C = ("time", "user_warning")
"""Those that a function of C can be: the others would get pointers to mjModel and mjData."""


def _set(name: str, callback: object) -> None:
    if callback is not None and not callable(callback):
        raise TypeError("callback is not an Optional[Callable]")
    if _is_of_c(callback) and name not in _FOR_C:
        raise TypeError(
            f"mjcb_{name} is a function of C, which wants pointers to mjModel and mjData, and there are none here: "
            "give a Python function, which gets the MjModel and the MjData"
        )
    setattr(CURRENT, name, callback)
    inside = ("act_bias", "act_dyn", "act_gain", "contactfilter", "passive", "sensor")
    CURRENT.inside = any(getattr(CURRENT, kind) is not None for kind in inside)
    CURRENT.any = CURRENT.inside or CURRENT.control is not None or CURRENT.time is not None


_ABOUT = {
    "act_bias": "bias of actuators of bias type `user`: called with m, d, id; gives a number",
    "act_dyn": "time derivative of activations of dynamics type `user`: called with m, d, id; gives a number",
    "act_gain": "gain of actuators of gain type `user`: called with m, d, id; gives a number",
    "contactfilter": "whether two geoms may not collide: called with m, d, geom1, geom2; True leaves the pair out",
    "control": "controls: called with m, d when positions and velocities are known, before forces are computed",
    "passive": "passive forces: called with m, d after the engine's own; adds to d.qfrc_passive",
    "sensor": "sensors of type `user`: called with m, d, stage; writes to d.sensordata",
    "time": "the clock of timers: called without arguments; gives a number",
}


_OF_C: Any = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of all functions of ctypes, which has no public name."""


def _is_of_c(callback: object) -> bool:
    """Whether it is a function of ctypes: one of a library, or one of Python's in the shape of C's."""
    return isinstance(callback, _OF_C)


def _setter(name: str) -> Callable[[object], None]:
    def set_callback(callback: object) -> None:
        _set(name, callback)

    set_callback.__name__ = set_callback.__qualname__ = f"set_mjcb_{name}"
    set_callback.__doc__ = f"Set the callback for {_ABOUT[name]}; None for none."
    return set_callback


def _getter(name: str) -> Callable[[], Callback | None]:
    def get_callback() -> Callback | None:
        found: Callback | None = getattr(CURRENT, name)
        return found

    get_callback.__name__ = get_callback.__qualname__ = f"get_mjcb_{name}"
    get_callback.__doc__ = f"The callback for {_ABOUT[name]}; None if there is none."
    return get_callback


set_mjcb_act_bias, get_mjcb_act_bias = _setter("act_bias"), _getter("act_bias")
set_mjcb_act_dyn, get_mjcb_act_dyn = _setter("act_dyn"), _getter("act_dyn")
set_mjcb_act_gain, get_mjcb_act_gain = _setter("act_gain"), _getter("act_gain")
set_mjcb_contactfilter, get_mjcb_contactfilter = _setter("contactfilter"), _getter("contactfilter")
set_mjcb_control, get_mjcb_control = _setter("control"), _getter("control")
set_mjcb_passive, get_mjcb_passive = _setter("passive"), _getter("passive")
set_mjcb_sensor, get_mjcb_sensor = _setter("sensor"), _getter("sensor")
set_mjcb_time, get_mjcb_time = _setter("time"), _getter("time")


def set_mju_user_warning(callback: object) -> None:
    """Set what is called with the text of a warning about broken numbers; None for Python's own warnings.

    A function of ctypes gets the text as C has it, in bytes."""
    _set("user_warning", callback)


def get_mju_user_warning() -> Callback | None:
    """What is called with the text of a warning; None if that is Python's own warnings."""
    return CURRENT.user_warning


def warn(text: str) -> bool:
    """Give the text of a warning to who asked for it; False if that is Python's own warnings."""
    callback = CURRENT.user_warning
    if callback is not None:
        callback(ctypes.create_string_buffer(text.encode()) if _is_of_c(callback) else text)
    return callback is not None


def reset() -> None:
    """Remove all callbacks."""
    for name in NAMES:
        _set(name, None)


def now() -> float:
    """The time of the clock callback, in milliseconds by MuJoCo's convention."""
    assert CURRENT.time is not None
    value = CURRENT.time()
    if isinstance(value, bool) or not isinstance(value, int | float):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError("mjcb_time callback did not return a number") from None
    return float(value)
