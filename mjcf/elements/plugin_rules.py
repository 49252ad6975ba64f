"""What MuJoCo's engine plugins ask of their configuration, and the sizes that follow from it.

Configuration values are texts that each plugin reads in its own way: `mujoco.pid` takes the number a text
begins with, or zero; others insist on numbers. The rules here are those of the plugins of the package mujoco
3.4.0, which apply them when an instance is made, used or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from dovetail.contracts.engine_plugins import NUMBER, leading_number
from dovetail.contracts.enums import DynType

Config = Mapping[str, str]
Problem = tuple[str, str]
"""Key of the configuration value that is wrong, and what is wrong with it."""

_MOST_CHANNELS = 6
_LARGEST = 2**31 - 1
_WIDEST = (180.0, 90.0)
"""Largest field of view, horizontal and vertical, in degrees."""


def _number(config: Config, key: str) -> float:
    return leading_number(config.get(key, "")) or 0.0


def _words(text: str) -> list[str]:
    """Pieces between single spaces; a space at the end ends the last one."""
    return text.removesuffix(" ").split(" ") if text else []


def _not_numeric(config: Config, keys: tuple[str, ...]) -> Problem | None:
    """What is no number; white space counts for nothing, even between digits."""
    for key in keys:
        text = "".join(config.get(key, "").split())
        if text and not NUMBER.fullmatch(text):
            return key, f"{text!r} is not a number"
    return None


# mujoco.pid


def pid_problem(config: Config) -> Problem | None:
    """Limits cannot be negative; that of the integral counts only with an integral gain."""
    if config.get("slewmax") and _number(config, "slewmax") < 0:
        return "slewmax", "slewmax cannot be negative"
    if _number(config, "ki") and _number(config, "imax") < 0:
        return "imax", "imax cannot be negative"
    return None


def pid_activations(config: Config, dyntype: int) -> int:
    """One for the integral, one for the last control if its rate is limited, one for the actuator's dynamics."""
    own = dyntype in (DynType.INTEGRATOR, DynType.FILTER, DynType.FILTEREXACT)
    return int(_number(config, "ki") != 0) + int(bool(config.get("slewmax"))) + int(own)


# mujoco.sensor.touch_grid


def _channels(config: Config) -> float:
    """A fraction is cut off, and none means one."""
    number = _number(config, "nchannel")
    return math.trunc(number) or 1 if math.isfinite(number) else number


def _resolution(config: Config) -> list[float]:
    numbers = [leading_number(word) or 0.0 for word in _words(config.get("size", ""))]
    return [math.trunc(number) if math.isfinite(number) else math.inf for number in numbers]


def touch_grid_problem(config: Config) -> Problem | None:
    """Whether channels, resolution, field of view and foveal deformation make sense."""
    wrong = _not_numeric(config, ("nchannel", "gamma"))
    if wrong:
        return wrong
    if not 1 <= _channels(config) <= _MOST_CHANNELS:
        return "nchannel", f"nchannel must be 1 to {_MOST_CHANNELS}"
    size = _resolution(config)
    if len(size) != 2 or not all(1 <= number <= _LARGEST for number in size):
        return "size", "size must be two positive whole numbers with one space between: columns and rows"
    views = [leading_number(word) or 0.0 for word in _words(config.get("fov", ""))]
    if len(views) != 2 or any(v <= 0 or v > most for v, most in zip(views, _WIDEST, strict=True)):
        return "fov", "fov must be two angles with one space between, at most 180 and 90 degrees"
    gamma = _number(config, "gamma")
    if gamma < 0 or gamma > 1:
        return "gamma", "gamma must be 0 to 1"
    return None


def touch_grid_numbers(config: Config) -> int:
    """Channels × columns × rows, of a configuration without problem."""
    columns, rows = _resolution(config)
    return int(_channels(config)) * int(columns) * int(rows)


# others


def numeric(*keys: str) -> Callable[[Config], Problem | None]:
    """The rule that some values are numbers, if they are written."""
    return lambda config: _not_numeric(config, keys)


def signed_distance(*keys: str, loose: tuple[str, ...] = ()) -> Callable[[Config], Problem | None]:
    """The rule that written values are finite or spelled infinite; `loose` ones only begin with a number."""

    def problem(config: Config) -> Problem | None:
        for key in (*keys, *loose):
            text = config.get(key, "")
            number = leading_number(text)
            overflow = number is not None and math.isinf(number) and "inf" not in text.lower()
            if text and (number is None or overflow):
                return key, f"{text!r} is not a number that fits"
        return _not_numeric(config, keys)

    return problem
