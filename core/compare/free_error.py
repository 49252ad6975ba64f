"""The step in which a run went wrong: the first that the other side does not take from the same state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dovetail.compare.free_run import FIELDS, MARGIN, NEIGHBOURS, Runs, distance, nudged
from dovetail.contracts.fields import Array
from dovetail.contracts.types import STATE


class Remembering:
    """A run that remembers the state before each of its steps."""

    def __init__(self, run: Runs) -> None:
        self._run = run
        self.precision = run.precision
        self.states: list[dict[str, Array]] = []
        self._given: dict[str, Array] = {}

    def begin(self, state: Mapping[str, Array]) -> None:
        self._given = {name: np.array(value) for name, value in state.items()}
        self._run.begin(state)

    def step(self) -> None:
        self.states.append({name: self._read(name) for name in STATE if name in self._given})
        self._run.step()

    def _read(self, name: str) -> Array:
        try:
            return self._run.read(name)
        except AttributeError:  # MuJoCo has no such field
            return self._given[name]

    def read(self, name: str) -> Array:
        return self._run.read(name)

    def contacts(self) -> int:
        return self._run.contacts()

    def energy(self) -> float:
        return self._run.energy()


def first_wrong_step(a: Runs, b: Remembering, until: int, model: object, seed: int) -> tuple[int, str] | None:
    """The first step of B that A does not take from the same state, farther apart than A's steps from nudged states
    are, and the field that shows it; None if there is none."""
    rng = np.random.default_rng(seed + 11)
    fields = [name for name in FIELDS if b.states and name in b.states[0] and b.states[0][name].size]
    unit = float(np.finfo(np.float32 if "f32" in (a.precision, b.precision) else np.float64).eps)
    for number, state in enumerate(b.states[: until + 1]):
        after = {name: _after(b, number, name) for name in fields}
        here = _step_from(a, state, fields)
        near = [_step_from(a, nudged(state, model, rng, a.precision), fields) for _ in range(NEIGHBOURS)]
        for name in fields:
            allowed = MARGIN * max([unit, *(distance(other[name], here[name]) for other in near)])
            if distance(after[name], here[name]) > allowed:
                return number, name
    return None


def _after(b: Remembering, number: int, name: str) -> Array:
    """A field of B after one of its steps."""
    return b.states[number + 1][name] if number + 1 < len(b.states) else b.read(name)


def _step_from(run: Runs, state: Mapping[str, Array], fields: list[str]) -> dict[str, Array]:
    run.begin(state)
    run.step()
    return {name: run.read(name) for name in fields}
