"""Where runs that are compared begin: near the model's pose, at random, at a keyframe, or in a saved state."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np

from dovetail.compare.rollout import Start
from dovetail.compare.states import randomize
from dovetail.contracts import store
from dovetail.contracts.derive import make_data, reset
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, STATE, Data, Model
from dovetail.errors import ArgumentError, SelectionError, listing, nearest, shown

T = TypeVar("T")

STARTS = ("near", "rest", "random")
"""A pose near the model's own with random controls; the model's own state; anything a user might set."""

MOST_KEYFRAMES = 16
"""As many keyframes are tried where you name none; collections of motions have hundreds."""

NUMBER = "#"
"""Stands before the number of a keyframe that its name does not tell."""


@attrs.frozen
class Beginning:
    """One start, and the seed of its random numbers."""

    start: str
    seed: int = 0

    def write(self, data: Data) -> None:
        """Put every world of a Data there."""
        begin(data, self.start, self.seed)

    def state(self, model: Model) -> dict[str, Array]:
        """All that a step depends on, for one world."""
        data = make_data(model, keep="state")
        self.write(data)
        return {name: np.array(data.field(name)) for name in STATE if name in data}

    def __str__(self) -> str:
        return f"{self.start} (seed {self.seed})" if self.start in ("near", "random") else self.start


@attrs.frozen
class AllStarts:
    """Every kind of start that a model has, and the keyframes among them that were too many."""

    beginnings: tuple[Beginning, ...]
    left_out: tuple[str, ...] = ()


def all_starts(
    model: Model, *, random: int = 5, near: int = 1, keyframes: int = MOST_KEYFRAMES, seed: int = 0
) -> AllStarts:
    """So many random starts, so many near the model's pose, and its keyframes, at most so many of them: first, last
    and others at equal distances."""
    known = keyframe_starts(model)
    chosen = spread_out(known, keyframes)
    counted = (("random", random), ("near", near))
    return AllStarts(
        (
            *(Beginning(kind, seed + n) for kind, count in counted for n in range(count)),
            *(Beginning(name, seed) for name in chosen),
        ),
        tuple(name for name in known if name not in chosen),
    )


def keyframe_starts(model: Model) -> tuple[str, ...]:
    """Every keyframe as a start: its name, or its number if it has none or shares it with another start."""
    names = _names(model)
    return tuple(
        name if name and name not in STARTS and not name.startswith(NUMBER) else f"{NUMBER}{number}"
        for number, name in enumerate(names)
    )


AnyStart = str | Path | Mapping[str, Any]
"""A kind of start, a keyframe or a file, or fields of the state itself."""


def said_starts(start: AnyStart | Sequence[AnyStart]) -> tuple[AnyStart, ...]:
    """One start or several, as a list without repetitions."""
    if isinstance(start, str | Path | Mapping):
        return (start,)
    found: list[AnyStart] = []
    for one in start if isinstance(start, Iterable) else (start,):
        if not isinstance(one, str | Path | Mapping):
            raise ArgumentError(f"start = {shown(one)} should be {', '.join(STARTS)}, a keyframe or a file")
        if not any(one is known or (not isinstance(one, Mapping) and one == known) for known in found):
            found.append(one)
    if not found:
        raise ArgumentError("start: give at least one")
    return tuple(found)


def begin_at(data: Data, start: AnyStart, seed: int) -> None:
    """Put every world of a Data into its first state, which may be given itself."""
    if not isinstance(start, Mapping):
        begin(data, start, seed)
        return
    unknown = [name for name in start if name not in DATA_SPECS]
    if unknown:
        raise SelectionError(f"start: Data has no field {unknown[0]!r}{nearest(unknown[0], STATE) or '.'}")
    reset(data.model, data)
    for name, value in start.items():
        if name in data:
            place = data.field(name)
            shape = np.shape(place)[data.nworld is not None :]
            if np.size(value) != np.prod(shape, dtype=int):
                raise ArgumentError(f"start: {name} has shape {np.shape(value)}, which should be {shape}")
            place[...] = np.reshape(value, shape)


def begin(data: Data, start: str | Path, seed: int) -> None:
    """Put every world of a Data into its first state: one of STARTS, a keyframe or a saved state's file."""
    name = str(start)
    reset(data.model, data)
    if name in STARTS:
        _WAYS[name](data, seed)
        return
    number = _keyframe(data.model, name)
    if number is not None:
        reset(data.model, data, number)
    elif name.endswith(".npz"):
        with warnings.catch_warnings():  # every side has today's values of the Model
            warnings.simplefilter("ignore", store.ResumeWarning)
            store.load(data, name)
    else:
        raise _unknown(data.model, name)


def keyframe_start(model: Model, name: str) -> str:
    """A keyframe, by its name or its number, as a start."""
    number = _keyframe(model, name)
    if number is None:
        keys = keyframe_starts(model)
        raise SelectionError(
            f"keyframe = {name!r}: the model has no such keyframe{nearest(name, keys) or '.'} "
            f"Keyframes: {listing(keys) or 'none'}"
        )
    return keyframe_starts(model)[number]


def _near(data: Data, seed: int) -> None:
    found = Start.near(data.model, data.nworld or 1, seed)
    if data.nworld:
        found.write(data)
    else:
        found.write_world(0, data)


_WAYS: Mapping[str, Callable[[Data, int], None]] = {
    "near": _near,
    "rest": lambda data, seed: None,
    "random": lambda data, seed: randomize(data, np.random.default_rng(seed)),
}


def _names(model: Model) -> tuple[str, ...]:
    """Of the keyframes, empty where one has none."""
    known = tuple(model.object_names.get("key", ()))
    return (*known, *("",) * (int(model.nkey) - len(known)))


def _keyframe(model: Model, name: str) -> int | None:
    """The number of a keyframe, by its name or by its number; None if there is none."""
    names = _names(model)
    if name and name in names:
        return names.index(name)
    digits = name.removeprefix(NUMBER)
    known = digits.isdecimal() and len(digits) <= len(str(len(names))) and int(digits) < len(names)
    return int(digits) if known else None


def spread_out(items: Sequence[T], most: int) -> tuple[T, ...]:
    """At most `most` of them, at equal distances."""
    if len(items) <= most:
        return tuple(items)
    places = np.linspace(0, len(items) - 1, most).round().astype(int) if most > 0 else ()
    return tuple(items[place] for place in places)


def _unknown(model: Model, name: str) -> SelectionError:
    keys = keyframe_starts(model)
    return SelectionError(
        f"start = {name!r}: neither {', '.join(STARTS)}, a saved state (.npz) nor a keyframe"
        f"{nearest(name, [*STARTS, *keys]) or '.'} Keyframes: {listing(keys) or 'none'}"
    )
