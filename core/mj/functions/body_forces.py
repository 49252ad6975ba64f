"""mj_rnePostConstraint: accelerations of bodies and forces on them, found when somebody reads them.

They need constraint forces, which kernels keep to themselves. A step of an integrator that evaluates once brings them
along from the second request on. A step of RK4 ends with a fourth evaluation at a state that is not kept: its first
three evaluations are taken again, each as a step of Euler's that is taken back, and then the fourth one. Otherwise
the reference repeats the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.arena import Filling
from dovetail.contracts.enums import Integrator
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.positions_numpy import move

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.mj.functions.engine import Engine

BODY_FORCES = ("cacc", "cfrc_int", "cfrc_ext")


def request(engine: Engine) -> None:
    """Have body forces of what was computed last in their fields, now or when they are read."""
    if engine.fresh is not None:
        for name, values in zip(BODY_FORCES, engine.fresh, strict=True):
            engine.data.field(name)[...] = values
        return
    late = engine.data.arena.late
    names, fill = late.pending
    if fill is None:
        engine.stages.run(engine.data, ["body_forces"])
    elif int(engine.model.opt.integrator) == Integrator.RK4:
        engine.data.arena.expect(
            names | frozenset(BODY_FORCES), LateBodyForces(engine, fill, _before(engine))
        )
    else:
        late.settle()
        engine.stages.run(engine.data, ["body_forces"])
        engine.with_body_forces = True  # who asks once will ask again


def _before(engine: Engine) -> Mapping[str, Array] | None:
    """The state before the last step, if a kernel that was kept ready took it and it is the last that happened."""
    ready = engine.last_ready
    return None if ready is None else ready.before


@attrs.frozen
class LateBodyForces:
    """Fills body forces after a step of RK4, and the other late fields."""

    engine: Engine
    others: Filling
    before: Mapping[str, Array] | None

    def fill_some(self, wanted: str) -> bool:
        """Fill body forces alone, if one of them is wanted and kernels can."""
        if wanted not in BODY_FORCES or self.before is None:
            return False
        late = self.engine.data.arena.late
        late.forget()
        names = late.names
        found = _of_rk4(self.engine, self.before)
        if found is None:
            late.expect(names, self)
            return False
        late.expect(names - frozenset(BODY_FORCES), self.others)
        for name, values in zip(BODY_FORCES, found, strict=True):
            self.engine.data.field(name)[...] = values
        return True

    def __call__(self) -> None:
        self.others()
        self.engine.stages.run(self.engine.data, ["body_forces"])

    def on(self, data: Data) -> Filling:
        """For a copy of the Data: the fields are filled here first, so that the copy has them."""
        self()
        return self.others.on(data)


REACH = (0.0, 0.5, 0.5, 1.0)
"""Parts of the time step at which RK4 evaluates."""


def _of_rk4(engine: Engine, before: Mapping[str, Array]) -> list[Array] | None:
    """Body forces at the last evaluation of a step of RK4 from a state; None if kernels cannot evaluate alone. All
    else stays as it is."""
    data, model = engine.data, engine.model
    late = data.arena.late
    names = late.names
    saved = {dtype: buffer.copy() for dtype, buffer in data.arena.buffers.items()}
    try:
        for name, values in before.items():
            data.field(name)[...] = values
        start = {name: data.field(name).copy() for name in ("time", "qpos", "qvel", "act")}
        for reach in REACH:
            if reach:
                _visit(model, data, start, reach * float(model.opt.timestep))
            if not engine.observe():
                return None
        return [data.field(name).copy() for name in BODY_FORCES]
    finally:
        for dtype, buffer in data.arena.buffers.items():
            if buffer.shape == saved[dtype].shape:  # else it has grown, and holds the same to rounding
                buffer[...] = saved[dtype]
        late.expect(names, None)


def _visit(model: Model, data: Data, start: dict[str, Array], duration: float) -> None:
    """Set the state to the start plus the latest derivative kept up for a while."""
    velocity = data.qvel.copy()
    data.qpos[:] = start["qpos"]
    move(model, data.qpos, velocity, duration)
    data.qvel[:] = start["qvel"] + duration * data.qacc
    data.act[:] = start["act"] + duration * data.act_dot
    data.time = float(start["time"]) + duration
