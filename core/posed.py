"""Where everything is in a state: positions that the reference computes from it, in a Data of its own.

Who looks at a run from outside (its last screen, films) needs places of bodies and cameras at moments of its choice.
A plan keeps them only if it is asked to, and those that it has are of the state before the last step. Here they are
of the state that is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.types import STATE

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Data, Model

POSITIONS = ("kinematics", "com_position", "camera_light", "flex_kinematics", "tendon")
"""Stages that say where things are."""


def state_of(data: Any, names: Iterable[str] = STATE) -> dict[str, Array]:
    """A copy of the state of one world, in double precision."""
    return {name: np.array(getattr(data, name), dtype=_kind(getattr(data, name))) for name in names}


def _kind(value: Any) -> Any:
    """Real numbers become double; others stay what they are."""
    kind = np.asarray(value).dtype
    return np.float64 if kind.kind == "f" else kind


class Posed:
    """A Data of one world that is put into states and asked where things are."""

    def __init__(self, model: Model) -> None:
        from dovetail.contracts.derive import make_data
        from dovetail.simulation import reference_plan_for

        self.model = model
        self.data: Data = make_data(model)
        self._plan = reference_plan_for(model, self.data)

    def put(self, state: Mapping[str, Array], *, further: Iterable[str] = ()) -> Data:
        """The Data in this state, with all positions, and with what `further` stages compute from them."""
        for name, values in state.items():
            if name == "time":
                self.data.time = float(values)
            else:
                self.data.field(name)[...] = values
        self.run(POSITIONS)
        if further:
            self.run(further)
        return self.data

    def run(self, stages: Iterable[str]) -> None:
        """Run stages of the reference on what is there."""
        from dovetail.plugins.queries.partial import run_stages

        run_stages(self._plan, self.data, stages)
