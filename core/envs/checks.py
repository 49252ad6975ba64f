"""What environments are given by their callers, checked before anything is made of it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from dovetail.arguments import as_whole, instance, real, texts_by_name, truth, whole, words
from dovetail.envs.errors import BadSeedError
from dovetail.envs.task import Task
from dovetail.errors import ArgumentError, shown

F = TypeVar("F", bound=Callable[..., None])


def checked_seed(seed: object, name: str = "seed") -> int | None:
    """A seed as Gymnasium takes them, or None."""
    if seed is None:
        return None
    number = as_whole(seed)
    if number is None or number < 0:
        raise BadSeedError(f"{name} = {shown(seed)} should be a whole number, at least 0, or None")
    return number


def checked_seeds(seed: object, count: int) -> list[int | None]:
    """Seeds of so many environments: the given ones, or the numbers that begin with one."""
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes) and np.ndim(seed) == 1:
        if len(seed) != count:
            raise BadSeedError(f"seed has {len(seed)} entries for {count} environments")
        return [checked_seed(one, f"seed[{i}]") for i, one in enumerate(seed)]
    first = checked_seed(seed)
    return [None if first is None else first + i for i in range(count)]


def checked_options(options: object) -> Mapping[str, Any]:
    """Options of a reset, by name."""
    return {} if options is None else texts_by_name("options", options)


def checked_limit(limit: object, name: str = "max_episode_steps") -> int | None:
    """After how many steps an episode is cut off; None if never."""
    return None if limit is None else whole(name, limit, 1, also=", or None")


def checked_task(task: object) -> Task:
    """A task whose attributes mean something."""
    found = instance("task", task, Task, "an object of a class derived from dovetail.envs.Task")
    for name, check in _OF_TASKS.items():
        check(f"{type(found).__name__}.{name}", getattr(found, name))
    unknown = [name for name in found.lasting if name not in found.memory]
    if unknown:
        raise ArgumentError(
            f"{type(found).__name__}.lasting names {unknown[0]!r}, which is not in its memory; "
            f"there are {', '.join(found.memory) or 'none'}"
        )
    return found


def _camera_config(name: str, value: object) -> None:
    if value is not None:
        texts_by_name(name, value)


def _deviation(name: str, value: object) -> None:
    """A number that is at least 0, or an array of such."""
    if np.ndim(value) == 0:  # type: ignore[arg-type]
        real(name, value, least=0.0)
        return
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiu" or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ArgumentError(f"{name} = {shown(value)} should be finite numbers, at least 0")


def _widths(name: str, value: object) -> None:
    for key, width in texts_by_name(name, value).items():
        for number in width if isinstance(width, tuple) else (width,):
            whole(f"{name}[{key!r}]", number, 0)


_OF_TASKS: dict[str, Callable[[str, Any], object]] = {
    "frame_skip": lambda name, value: whole(name, value, 1, "STEPS"),
    "control_delay": lambda name, value: whole(name, value, 0),
    "max_episode_steps": lambda name, value: checked_limit(value, name),
    "unit_actions": truth,
    "observation_noise": _deviation,
    "memory": _widths,
    "lasting": words,
    "keep": words,
    "per_world": words,
    "unknown_after_reset": words,
    "default_camera_config": _camera_config,
}
"""Attributes of a task, and what sees to it that they are right."""


def _bounds(name: str, value: object) -> None:
    """A smallest and a largest number; either may be infinite."""
    low, high = _two(name, value)
    if not low <= high:
        raise ArgumentError(f"{name} = {shown(value)} should be two numbers, the smaller one first")


def _two(name: str, value: object) -> tuple[float, float]:
    both = list(value) if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else []
    if len(both) != 2:
        raise ArgumentError(f"{name} = {shown(value)} should be two numbers, the smaller one first")
    return real(f"{name}[0]", both[0], finite=False), real(f"{name}[1]", both[1], finite=False)


_BY_TYPE: dict[str, Callable[[str, Any], object]] = {
    "int": lambda name, value: whole(name, value, 1),
    "float": real,
    "bool": truth,
    "str": lambda name, value: instance(name, value, str, "text"),
    "tuple[float, float]": _bounds,
    "Mapping[str, Any] | None": _camera_config,
}
"""Arguments of Gymnasium's tasks by their types, and what sees to it that they are right."""

_BY_NAME: dict[str, Callable[[str, Any], object]] = {
    "reset_noise_scale": lambda name, value: real(name, value, least=0.0),
}
"""The same for arguments that may be less than their types say."""


def with_checked_arguments(function: F) -> F:
    """A constructor whose arguments are looked at first, by the types that it says they have."""
    signature = inspect.signature(function)
    checks = {
        name: _BY_NAME.get(name) or _BY_TYPE[parameter.annotation]
        for name, parameter in signature.parameters.items()
        if name in _BY_NAME or parameter.annotation in _BY_TYPE
    }

    @functools.wraps(function)
    def construct(*arguments: Any, **named: Any) -> None:
        for name, value in signature.bind(*arguments, **named).arguments.items():
            if name in checks:
                checks[name](name, value)
        function(*arguments, **named)

    return construct  # type: ignore[return-value]
