"""Worlds as a task sees them: fields as ordinary arrays with the world as first axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.errors import UnknownFieldError, listing
from dovetail.simulation import Simulation

_OWN = frozenset(("_sim", "_count", "_memory", "_rows", "_seen", "_constants", "generators"))


class Worlds:
    """All worlds of an environment after a step, or those that start.

    `w.qpos` is the field as an array (n, …), read once per step; `w.qpos = values` writes it, or a row of `memory`
    that the task declares. `uniform`, `normal` and `integers` draw from each world's own generator, so that a
    world's numbers depend on its seed and on nothing else.
    """

    generators: Sequence[np.random.Generator]
    """One of each world."""
    _sim: Simulation
    _count: int
    _memory: Mapping[str, Array]
    _rows: Any
    _seen: dict[str, Array]
    _constants: set[int]

    def __init__(
        self,
        sim: Simulation,
        count: int,
        memory: Mapping[str, Array],
        rows: Any,
        generators: Sequence[np.random.Generator],
    ) -> None:
        own = self.__dict__
        own["_sim"], own["_count"], own["_memory"], own["_rows"] = sim, count, memory, rows
        own["_seen"], own["_constants"] = {}, set()
        own["generators"] = generators

    def __len__(self) -> int:
        return int(self._count)

    @property
    def model(self) -> Any:
        """The Model that all worlds share."""
        return self._sim.model

    def forget(self) -> None:
        """What was read is read anew: the worlds have moved."""
        self._seen.clear()

    def __getattr__(self, name: str) -> Array:
        if name.startswith("__"):
            raise AttributeError(name)
        seen: dict[str, Array] = self.__dict__["_seen"]
        if name in seen:
            return seen[name]
        if name in self._memory:
            return np.asarray(self._memory[name][self._rows])
        field = np.asarray(self._sim.data.field(name))
        seen[name] = field if len(field) == self._count else field[: self._count]
        return seen[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._memory:
            self._memory[name][self._rows] = value
            return
        data = self._sim.data
        if name in _OWN or name not in data:
            there = [*self._memory, "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "qfrc_applied"]
            raise UnknownFieldError(
                f"worlds have no field {name!r} to write: declare it in the task's memory; there are "
                f"{listing(there)}"
            )
        field = data.field(name)
        if self._count == len(field):
            field[...] = value
        else:
            field[: self._count] = value
        self._seen.pop(name, None)

    def set_model(self, name: str, values: Any, *, rows: Any = None, constants: bool = True) -> None:
        """Give these worlds, or `rows` of them, their own values of a Model field that the task names in `per_world`.
        `constants`: whether what derives from it (inverse weights from masses) is computed anew, which takes
        milliseconds a world; say False for what nothing derives from, as friction."""
        chosen = np.arange(self._count) if rows is None else np.asarray(rows, int)
        if len(chosen):
            self._sim.per_world[name][chosen] = values
        if constants:
            self._constants.update(chosen.tolist())

    # ---- random numbers

    # `rows` are numbers of worlds among these; only they draw, and n is how many they are.

    def uniform(self, low: Any, high: Any, size: Any = None, rows: Any = None) -> Array:
        """Numbers between `low` and `high`, (n, *size)."""
        return self._draw(lambda g: g.uniform(low, high, size), rows)

    def normal(self, size: Any = None, rows: Any = None) -> Array:
        """Numbers of the standard normal distribution, (n, *size)."""
        return self._draw(lambda g: g.standard_normal(size), rows)

    def integers(self, low: int, high: int, size: Any = None, rows: Any = None) -> Array:
        """Whole numbers from `low` to below `high`, (n, *size)."""
        return self._draw(lambda g: g.integers(low, high, size), rows)

    def _draw(self, one: Callable[[np.random.Generator], Any], rows: Any) -> Array:
        chosen = self.generators if rows is None else [self.generators[int(row)] for row in rows]
        if not len(chosen):
            return np.zeros((0, *np.shape(one(np.random.default_rng(0)))))
        return np.array([one(generator) for generator in chosen])
