"""Length ranges of actuators, found by pulling each one to both ends of its range in simulation.

From qpos0 the actuator pushes with a given acceleration while velocities decay; what moves it otherwise (gravity,
springs, contacts, other actuators) is switched off, limits and equality constraints act. The extreme length in
the last part of the run is the end of the range. Compare mj_setLengthRange.

Most models are pulled all at once (`batch_numpy`), which is much quicker; what that does not know is pulled by the
stages of the pipeline, one actuator after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import exp
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.backend import Slot
from dovetail.config import Config
from dovetail.contracts.derive import reset
from dovetail.contracts.enums import DisableBit, Integrator, TrnType
from dovetail.planning.planner import compile_plan
from dovetail.plugins.length_range import batch_numpy
from dovetail.plugins.length_range.batch_numpy import LEAST_TIMECONST
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.ldl_numpy import solve

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Data, Model

_SWITCHED_OFF = (
    DisableBit.FRICTIONLOSS
    | DisableBit.CONTACT
    | DisableBit.SPRING
    | DisableBit.DAMPER
    | DisableBit.GRAVITY
    | DisableBit.ACTUATION
)
_LAWS = ("actuator_dyntype", "actuator_gaintype", "actuator_biastype")
_NOT_NEEDED = ("sensor", "energy", "camera_light", "subtree_velocity", "body_forces")
"""Stages that only observe; a plan may lack them here."""
_MOST_STEPS = 1_000_000


class LengthRangeError(ValueError):
    """A range could not be computed; the message says why."""


def length_range(model: Model, actuator: int, settings: Mapping[str, Any]) -> tuple[float, float]:
    """Smallest and largest length of one actuator: from limits if that is wanted, else by simulation."""
    limits = known_limits(model, actuator) if settings["uselimit"] else None
    if limits:
        return limits
    found = simulated_together(model, [actuator], settings)
    return checked(found[actuator], settings) if found else simulated_range(model, actuator, settings)


def length_ranges(
    model: Model, actuators: Sequence[int], settings: Mapping[str, Any]
) -> Mapping[int, tuple[float, float]]:
    """The same of many actuators, as far as they can be simulated together; an entry raises its actuator's error."""
    limits = {k: known_limits(model, k) if settings["uselimit"] else None for k in actuators}
    found = simulated_together(model, [k for k, known in limits.items() if known is None], settings)
    return Ranges(limits, found, settings)


class Ranges(dict[int, tuple[float, float]]):
    """Ranges by actuator; what is wrong with one is found out when it is asked for."""

    def __init__(
        self, limits: Mapping[int, Any], found: Mapping[int, Array], settings: Mapping[str, Any]
    ) -> None:
        super().__init__({k: known for k, known in limits.items() if known is not None})
        self.update(dict.fromkeys(found, (0.0, 0.0)))
        self.found, self.settings = found, settings

    def __getitem__(self, actuator: int) -> tuple[float, float]:
        if actuator in self.found:
            return checked(self.found[actuator], self.settings)
        return super().__getitem__(actuator)


length_range.together = length_ranges  # type: ignore[attr-defined]
"""A row of this stage may have this, to be asked once for all actuators instead of once for each."""


def simulated_together(
    model: Model, actuators: Sequence[int], settings: Mapping[str, Any]
) -> Mapping[int, Array]:
    """Final lengths (side, 2) of those actuators that can be simulated in copies of the model at once."""
    known = [k for k in actuators if batch_numpy.knows_actuator(model, k)]
    if not known or not batch_numpy.knows_model(model):
        return {}
    with quiet_model(model, settings["timestep"]):
        check_steps(model, settings)
        lengths = batch_numpy.final_lengths(model, known, settings)
    return dict(zip(known, lengths, strict=True))


def known_limits(model: Model, actuator: int) -> tuple[float, float] | None:
    """The range of the joint or tendon that an actuator acts on, without its gear, as MuJoCo takes it."""
    kind, target = TrnType(int(model.actuator_trntype[actuator])), int(model.actuator_trnid[actuator, 0])
    if kind in (TrnType.JOINT, TrnType.JOINTINPARENT) and model.jnt_limited[target]:
        low, high = model.jnt_range[target]
    elif kind == TrnType.TENDON and model.tendon_limited[target]:
        low, high = model.tendon_range[target]
    else:
        return None
    return float(low), float(high)


@attrs.define
class Pull:
    """A wrapper of the transmission stage that afterwards applies the force along the actuator."""

    model: Model
    actuator: int
    accel: float
    maxforce: float
    name = "length range"

    def wants(self, label: str) -> bool:
        return label == "transmission"

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        def pulled(data: Data) -> None:
            call(data)
            data.qfrc_applied[:] = self.force(data)

        return pulled

    def force(self, data: Data) -> Any:
        """Joint forces along the actuator's moment that accelerate the joints by `accel` in all."""
        row = slice(
            int(data.moment_rowadr[self.actuator]),
            int(data.moment_rowadr[self.actuator] + data.moment_rownnz[self.actuator]),
        )
        moment = np.zeros(self.model.nv)
        moment[data.moment_colind[row]] = data.actuator_moment[row]
        response = float(np.linalg.norm(solve(self.model, data.qLD, data.qLDiagInv, moment)))
        force = moment * (self.accel / max(MINVAL, response))
        size = float(np.linalg.norm(force))
        return force * (self.maxforce / size) if 0 < self.maxforce < size else force


@contextmanager
def quiet_model(model: Model, timestep: float) -> Iterator[None]:
    """The model with everything switched off that would move it, and integrated as mj_step2 does."""
    kept = int(model.opt.disableflags), float(model.opt.timestep), int(model.opt.integrator)
    laws = {name: np.array(model.field(name)) for name in _LAWS}
    try:
        for name in _LAWS:  # no actuator produces force, so that none needs its law
            model.field(name)[...] = 0
        model.opt.disableflags = int(_SWITCHED_OFF)
        model.opt.timestep = timestep if timestep > 0 else kept[1]
        model.opt.integrator = int(Integrator.EULER) if kept[2] == Integrator.RK4 else kept[2]
        yield
    finally:
        model.opt.disableflags, model.opt.timestep, model.opt.integrator = kept
        for name, law in laws.items():
            model.field(name)[...] = law


def simulated_range(model: Model, actuator: int, settings: Mapping[str, Any]) -> tuple[float, float]:
    """The lengths at which an actuator ends up when it pulls one way, then the other."""
    with quiet_model(model, settings["timestep"]):
        check_steps(model, settings)
        intervals = [final_lengths(model, actuator, side, settings) for side in (-1, 1)]
    return checked(np.array(intervals), settings)


def check_steps(model: Model, settings: Mapping[str, Any]) -> None:
    if settings["inttotal"] / model.opt.timestep > _MOST_STEPS:
        raise LengthRangeError(f"would take more than {_MOST_STEPS} steps; shorten inttotal")


def checked(intervals: Array, settings: Mapping[str, Any]) -> tuple[float, float]:
    """The range that least and largest final lengths (side, 2) amount to, if they have settled."""
    if not np.isfinite(intervals).all():
        raise LengthRangeError("the simulation diverged; lower accel or timestep of <lengthrange>")
    low, high = float(intervals[0, 0]), float(intervals[1, 1])
    if not low < high:
        raise LengthRangeError(f"pulling both ways gives the range {low:g} {high:g}, which does not increase")
    for first, last in intervals.tolist():
        if last - first > settings["tolrange"] * (high - low):
            raise LengthRangeError(
                f"did not converge: at the end the length still varies between {first:g} and {last:g}, "
                f"the range being {low:g} {high:g}; limit the joints, or change <lengthrange>"
            )
    return low, high


def check_stages(model: Model, config: Config) -> None:
    """Refuse to simulate without a stage that may move the model."""
    lacking = [m for m in compile_plan(model, config, missing="report").missing if m.slot not in _NOT_NEEDED]
    if lacking:
        reasons = ", ".join(f"{m.slot} ({m.reason})" for m in lacking)
        raise LengthRangeError(f"no installed plugin implements {reasons}")


def final_lengths(model: Model, actuator: int, side: int, settings: Mapping[str, Any]) -> tuple[float, float]:
    """Least and largest length in the last `interval` seconds of one run."""
    pull = Pull(model, actuator, side * settings["accel"], settings["maxforce"])
    config = Config.of_call(backend="numpy", keep="all")
    check_stages(model, config)
    plan = compile_plan(model, config, wrappers=(pull,), missing="skip")
    data = plan.make_data()
    reset(model, data)
    decay = exp(-model.opt.timestep / max(LEAST_TIMECONST, settings["timeconst"]))
    lengths: list[float] = []
    while data.time < settings["inttotal"]:
        data.qvel[:] *= decay
        plan.step(data, 1)
        if data.time > settings["inttotal"] - settings["interval"]:
            lengths.append(float(data.actuator_length[actuator]))
    return (float(np.min(lengths)), float(np.max(lengths))) if lengths else (0.0, 0.0)
