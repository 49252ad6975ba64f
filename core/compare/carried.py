"""A state that keeps its meaning while the model around it shrinks: numbers by the names of what they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model

OWNERS: Mapping[str, str] = {
    "qpos": "jnt",
    "qvel": "dof",
    "qfrc_applied": "dof",
    "qacc_warmstart": "dof",
    "act": "act",
    "ctrl": "actuator",
    "xfrc_applied": "body",
    "mocap_pos": "mocap",
    "mocap_quat": "mocap",
    "eq_active": "equality",
}
"""What the rows of a state field belong to."""


@attrs.frozen
class Carried:
    """Numbers of a state, by field and by the name of a joint, actuator, body or equality."""

    numbers: Mapping[tuple[str, str], Array]
    time: float = 0.0

    @classmethod
    def of(cls, model: Model, state: Mapping[str, Array]) -> Carried:
        """The parts of one world's state."""
        found = {
            (field, name): np.array(np.asarray(state[field])[rows])
            for field in OWNERS
            if field in state
            for name, rows in _rows(model, field)
        }
        return cls(found, float(np.ravel(state.get("time", 0.0))[0]))

    def put(self, data: Data) -> None:
        """Write what the model of a Data still has, the rest stays as it is."""
        for field in OWNERS:
            for name, rows in _rows(data.model, field):
                value = self.numbers.get((field, name))
                if value is not None and value.shape == np.asarray(data.field(field))[rows].shape:
                    data.field(field)[rows] = value
        data.time = self.time

    def without(self, key: tuple[str, str]) -> Carried:
        """The same but for one part, which is then as the model has it."""
        return attrs.evolve(self, numbers={k: v for k, v in self.numbers.items() if k != key})

    def rounded(self, key: tuple[str, str], digits: int) -> Carried:
        """The same with one part rounded to so many digits."""
        values = np.array([float(f"{v:.{digits}g}") for v in np.ravel(self.numbers[key])])
        return attrs.evolve(self, numbers={**self.numbers, key: values.reshape(self.numbers[key].shape)})


def _rows(model: Any, field: str) -> Iterator[tuple[str, slice]]:
    """The rows of a state field with the name of what they belong to, or its number."""
    yield from _WAYS[OWNERS[field]](model)


def _named(kind: str, count: str) -> Any:
    def rows(model: Any) -> Iterator[tuple[str, slice]]:
        for number in range(model.sizes[count]):
            yield getattr(model, kind)(number).name or f"#{number}", slice(number, number + 1)

    return rows


_WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}
"""Numbers of qpos and of qvel, by type of joint: free, ball, slide, hinge."""


def _joints(model: Any) -> Iterator[tuple[str, slice]]:
    for number in range(model.njnt):
        start = int(model.jnt_qposadr[number])
        width = _WIDTHS[int(model.jnt_type[number])][0]
        yield model.joint(number).name or f"#{number}", slice(start, start + width)


def _dofs(model: Any) -> Iterator[tuple[str, slice]]:
    for number in range(model.njnt):
        start = int(model.jnt_dofadr[number])
        width = _WIDTHS[int(model.jnt_type[number])][1]
        yield model.joint(number).name or f"#{number}", slice(start, start + width)


def _activations(model: Any) -> Iterator[tuple[str, slice]]:
    for number in range(model.nu):
        start = int(model.actuator_actadr[number])
        if start >= 0:
            width = int(model.actuator_actnum[number])
            yield model.actuator(number).name or f"#{number}", slice(start, start + width)


def _mocaps(model: Any) -> Iterator[tuple[str, slice]]:
    for number in range(model.nbody):
        row = int(model.body_mocapid[number])
        if row >= 0:
            yield model.body(number).name or f"#{number}", slice(row, row + 1)


_WAYS: Mapping[str, Any] = {
    "jnt": _joints,
    "dof": _dofs,
    "act": _activations,
    "actuator": _named("actuator", "nu"),
    "body": _named("body", "nbody"),
    "mocap": _mocaps,
    "equality": _named("equality", "neq"),
}
