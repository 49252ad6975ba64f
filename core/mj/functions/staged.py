"""The stages of a step one by one, on the reference, with the callbacks of MuJoCo's users between and inside them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from dovetail import pipeline
from dovetail.backend import Slot
from dovetail.contracts.enums import SensorType
from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan

Call: TypeAlias = Callable[[Data, int], None]

POSITION, VELOCITY, ACCELERATION = (
    tuple(n for n in pipeline.FORWARD if pipeline.STAGES[n].phase == phase)
    for phase in ("position", "velocity", "acceleration")
)
COLLISION = ("broadphase", "narrowphase", "contact_params")
SENSOR_STAGES = {"position": 1, "velocity": 2, "acceleration": 3}
"""mjtStage of sensors."""


class Stages:
    """The stages of a plan of the reference, each to be run alone."""

    def __init__(self, plan: Plan, model: Model) -> None:
        self._model = model
        self.evaluations = plan.evaluations
        self._calls: dict[str, list[tuple[Slot, Call]]] = {}
        for slot in plan.slots:
            self._calls.setdefault(slot.stage.name, []).append((slot, _bound(model, slot)))

    @classmethod
    def of(cls, plan: Plan, model: Model) -> Stages:
        """Those of a plan, for its model or another one of the same structure; remembered as long as that lives."""
        known: dict[int, tuple[weakref.ref[Plan], Stages]] = model.__dict__.setdefault("_mj_stages", {})
        found = known.get(id(plan))
        if found is None or found[0]() is not plan:
            for number in [n for n, (reference, _) in known.items() if reference() is None]:
                del known[number]
            found = known[id(plan)] = weakref.ref(plan), cls(plan, model)
        return found[1]

    def __contains__(self, stage: str) -> bool:
        return stage in self._calls

    def run(self, data: Data, names: Iterable[str], evaluation: int = 0) -> None:
        """Run stages in the order given; what the model does not need is passed over."""
        for name in names:
            for _, call in self._calls.get(name, ()):
                call(data, evaluation)

    def run_with_rows(self, data: Data, name: str, rows: Mapping[str, Any]) -> None:
        """Run a dispatching stage with other rows under the key `user` of some of its tables."""
        for slot, call in self._calls.get(name, ()):
            if not rows:
                call(data, 0)
                continue
            parts = dict(slot.parts)
            for table, row in rows.items():
                parts[table] = {**parts.get(table, {}), "user": row}
            slot.target(self._model, data, parts)

    def sensors(self, data: Data, stage: int, user: bool = True) -> None:
        """The sensors that need a stage (mjtStage); `user`: also those that a callback would fill."""
        model = self._model
        for slot, _ in self._calls.get("sensor", ()):
            kind = slot.label.partition(":")[2]
            if kind == "user" and not user:
                continue
            mine = model.sensor_type == SensorType[kind.upper()]
            if (model.sensor_needstage[mine] == stage).any():
                slot.target(model, data)


def _bound(model: Model, slot: Slot) -> Call:
    """The function of a slot with all but the Data filled in."""
    target, zero, parts = slot.target, slot.zero, slot.parts
    if slot.integrates:
        return lambda data, evaluation: target(model, data, evaluation)
    if slot.stage.parts:
        return lambda data, evaluation: target(model, data, parts)

    def run(data: Data, evaluation: int) -> None:
        for field in zero:
            data.field(field)[...] = 0
        target(model, data)

    return run
