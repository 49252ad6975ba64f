"""Evaluations on the reference, stage by stage, with callbacks in their places.

What MuJoCo calls where: the contact filter when pairs of geoms are listed; passive forces after the engine's own;
sensors of type `user` after the others of their stage; controls when velocities are known; gains, biases and dynamics
of type `user` inside actuation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit, SensorType
from dovetail.contracts.fields import Array
from dovetail.mj.callbacks import CURRENT
from dovetail.mj.functions.engine import engine_of
from dovetail.mj.functions.staged import POSITION, VELOCITY

if TYPE_CHECKING:
    from dovetail.mj.structs.data import MjData
    from dovetail.mj.structs.model import MjModel

NONE, POS, VEL, ACC = range(4)
"""mjtStage."""


def position(m: MjModel, d: MjData) -> None:
    """All that follows from positions (mj_fwdPosition)."""
    engine = engine_of(m, d)
    stages, data = engine.stages, engine.data
    for name in POSITION:
        stages.run(data, [name])
        if name == "broadphase" and CURRENT.contactfilter is not None:
            filter_candidates(m, d)


def filter_candidates(m: MjModel, d: MjData) -> None:
    """Take away pairs of geoms that the contact filter refuses. Pairs of the model's own are not asked for."""
    data, refuses = engine_of(m, d).data, CURRENT.contactfilter
    assert refuses is not None
    count = int(data.ncandidate)
    kept = np.ones(count, bool)
    for place in range(count):
        geom1, geom2 = data.candidate_geom[place].tolist()
        if geom1 >= 0 and geom2 >= 0 and data.candidate_pair[place] < 0:
            kept[place] = not refuses(m, d, geom1, geom2)
    if kept.all():
        return
    for name in ("geom", "pair", "flex", "elem", "vert"):
        rows = data.field(f"candidate_{name}")
        rows[: kept.sum()] = rows[:count][kept]
    data.ncandidate = int(kept.sum())


def velocity(m: MjModel, d: MjData) -> None:
    """All that follows from velocities (mj_fwdVelocity)."""
    engine = engine_of(m, d)
    stages, data = engine.stages, engine.data
    for name in VELOCITY:
        stages.run(data, [name])
        if name == "passive_force" and CURRENT.passive is not None:
            CURRENT.passive(m, d)


def sensors(m: MjModel, d: MjData, stage: int) -> None:
    """Sensors of a stage (mj_sensorPos, mj_sensorVel, mj_sensorAcc)."""
    engine = engine_of(m, d)
    model, data = engine.model, engine.data
    if model.opt.disableflags & DisableBit.SENSOR or not model.nsensor:
        return
    stages = engine.stages
    own = CURRENT.sensor
    if stage == ACC:
        stages.run(data, ["body_forces"] if _needs_body_forces(model) else [])
    if stage == VEL:
        stages.run(data, ["subtree_velocity"] if _needs_subtrees(model) else [])
    stages.sensors(data, stage, user=own is None)
    mine = (model.sensor_type == SensorType.USER) & (model.sensor_needstage == stage)
    if own is not None and mine.any():
        from dovetail.mj.enums import ENUMS

        own(m, d, ENUMS["mjtStage"](stage))


def _needs_body_forces(model: Any) -> bool:
    from dovetail.plugins.model_rules.sensors import of_accelerations

    return bool(of_accelerations(model))


def _needs_subtrees(model: Any) -> bool:
    from dovetail.plugins.model_rules.sensors import of_subtrees

    return bool(of_subtrees(model))


def energy(m: MjModel, d: MjData) -> None:
    """Both energies, if the flag says so."""
    engine = engine_of(m, d)
    if engine.model.opt.enableflags & EnableBit.ENERGY:
        engine.stages.run(engine.data, ["energy"])


def control(m: MjModel, d: MjData) -> None:
    """The control callback."""
    if CURRENT.control is not None and not m._model.opt.disableflags & DisableBit.ACTUATION:
        CURRENT.control(m, d)


def actuation(m: MjModel, d: MjData) -> None:
    """Forces of actuators (mj_fwdActuation)."""
    engine = engine_of(m, d)
    own = {
        "actuator_dynamics": _of_each(m, d, CURRENT.act_dyn, "act_dyn"),
        "actuator_gain": _of_each(m, d, CURRENT.act_gain, "act_gain"),
        "actuator_bias": _of_each(m, d, CURRENT.act_bias, "act_bias"),
    }
    engine.stages.run_with_rows(engine.data, "actuation", {k: v for k, v in own.items() if v is not None})


def _of_each(m: MjModel, d: MjData, callback: Callable[..., Any] | None, name: str) -> Any:
    """A callback that gives a number for one actuator, as a row that gives those of many."""
    if callback is None:
        return None

    def row(model: Any, data: Any, ids: Array, *_: Any) -> Array:
        values = [callback(m, d, actuator) for actuator in ids.tolist()]
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise TypeError(f"mjcb_{name} callback did not return a number")
        return np.array(values, float)

    return row


def acceleration(m: MjModel, d: MjData) -> None:
    """Accelerations without and with constraints (mj_fwdAcceleration, mj_fwdConstraint)."""
    engine = engine_of(m, d)
    engine.stages.run(engine.data, ("smooth_acceleration", "solve_constraints", "noslip"))


def first_half(m: MjModel, d: MjData, skipstage: int = NONE, skipsensor: bool = False) -> None:
    """Up to where controls are asked for; stages up to `skipstage` are still good."""
    if skipstage < POS:
        position(m, d)
        if not skipsensor:
            sensors(m, d, POS)
    if skipstage < VEL:
        velocity(m, d)
        if not skipsensor:
            sensors(m, d, VEL)
        energy(m, d)
    control(m, d)


def second_half(m: MjModel, d: MjData, skipsensor: bool = False) -> None:
    """From actuation to accelerations."""
    actuation(m, d)
    acceleration(m, d)
    if not skipsensor:
        sensors(m, d, ACC)
    engine = engine_of(m, d)
    engine.stages.run(engine.data, ["inverse", "rest"])


def forward(m: MjModel, d: MjData, skipstage: int = NONE, skipsensor: bool = False) -> None:
    """Everything that follows from the state."""
    engine = engine_of(m, d)
    engine.data.arena.late.settle()
    engine.forget()
    first_half(m, d, skipstage, skipsensor)
    second_half(m, d, skipsensor)
