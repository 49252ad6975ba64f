"""What a bad state is, and what happens to its world: NaN, infinity or a number beyond MAXVAL in qpos, qvel or qacc.

MuJoCo looks at qpos and qvel before each step and at qacc before it integrates; it then resets the world and goes
on (mj_checkPos, mj_checkVel, mj_checkAcc). That is `reset`, the default, and every reset is a StateWarning that
names joint, world and time. `raise` stops with a BadStateError and leaves the data as they are; `freeze` keeps
the world where it was. With the disable flag `autoreset` MuJoCo, and so `reset`, only warns.

Who runs a whole step looks: NumPy calls `may_step` and `may_integrate`, a lane kernel has the same looks printed into
it (`backends.lanes.bad_states`) and reports afterwards. Where a step is several segments, or a backend cannot look
within its launches, `around` looks before and after each step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from dovetail.contracts.choices import OnNan
from dovetail.contracts.derive import describe_index, describe_object, reset
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.protocols import DataLike
from dovetail.contracts.types import STATE, Data, Model
from dovetail.errors import BadStateError

MAXVAL = 1e10
"""Numbers beyond this count as infinite (mjMAXVAL)."""

BEFORE_STEP = ("qpos", "qvel")
"""Fields that are looked at before each step."""
BEFORE_INTEGRATION = ("qacc",)
"""Fields that are looked at before they are integrated."""


MOST_REPORTED = 20
"""Worlds that have a warning each; of more, the numbers are reported together."""


class StateWarning(RuntimeWarning):
    """A state went bad and was reset or frozen."""


@attrs.frozen
class Event:
    """A number that went bad in a launch of a backend that looks at its worlds itself."""

    world: int
    field: str
    index: int
    value: float
    time: float
    count: int
    """How often the world went bad in the launch; this is the first time."""
    by_field: Mapping[str, int] = attrs.field(factory=dict)
    """How often each field was bad, where that is known."""


@attrs.frozen
class BadStates:
    """What becomes of the bad worlds of one plan."""

    policy: OnNan = "reset"
    told: tuple[Callable[[int, str], None], ...] = attrs.field(default=(), eq=False, repr=False)
    """Who else is told of a bad world, by its number and in words."""

    @property
    def holds(self) -> bool:
        """Whether a bad world is held back."""
        return self.policy != "reset"

    def resets(self, model: Model) -> bool:
        """Whether a bad world starts over."""
        return self.policy == "reset" and not model.opt.disableflags & DisableBit.AUTORESET

    # ---- for who takes steps world by world

    def may_step(self, data: Data, number: int | None = None) -> bool:
        """Look at one world's state before a step; False if it must stay where it is."""
        may = True
        for field in BEFORE_STEP:
            bad = first_bad(data, field) if may else None
            if bad is not None:
                may = self._handle(data, field, bad, number)
        return may

    def may_integrate(self, data: Data, number: int | None = None) -> bool | None:
        """Look at one world's accelerations: True to go on, False to stay, None to evaluate again after a reset."""
        for field in BEFORE_INTEGRATION:
            bad = first_bad(data, field)
            if bad is not None:
                may = self._handle(data, field, bad, number)
                return None if may and self.resets(data.model) else may
        return True

    def _handle(self, data: Data, field: str, index: int, number: int | None) -> bool:
        text = describe_bad(data, field, index, number)
        self._tell(number or 0, text)
        if self.policy == "raise":
            raise self._error(text)
        value = float(data.field(field)[index])
        if not is_heard(data, [Event(number or 0, field, index, value, float(data.time), 1)]):
            warnings.warn(text + self._outcome(data.model), StateWarning, stacklevel=2)
        if self.resets(data.model):
            reset_world(data)
        return self.policy != "freeze"

    # ---- for who launches all worlds together

    def around(self, data: Data, launch: Callable[[], None]) -> None:
        """Launch one step, and look at the states before and after. A world whose acceleration was bad is reset, and
        all worlds take the step again from where they were, which changes nothing in the others; or it is refused,
        or put back where the launch found it."""
        held = self._look(data)
        before = {name: np.array(data.field(name)) for name in STATE if name in data}
        launch()
        found = [event for event in bad_accelerations(data, before["time"]) if event.world not in held]
        again = bool(found) and self.resets(data.model)
        if again or (found and self.policy == "raise"):
            self._put_back(data, before, range(data.nworld or 1))
        self.report(data, found)
        if again:
            for event in found:
                reset_world(data.world(event.world))
            launch()
        if self.policy == "freeze":
            held |= {event.world for event in found}
            self._put_back(data, before, held | self._look(data, held))

    def _look(self, data: Data, but: Collection[int] = ()) -> set[int]:
        """Look at the states of worlds, and say which are bad."""
        bad = {number for number in bad_worlds(data) if number not in but}
        for number in bad:
            self.may_step(data.world(number), None if data.nworld is None else number)
        return bad if self.policy == "freeze" else set()

    def _put_back(self, data: Data, before: dict[str, Array], numbers: Iterable[int]) -> None:
        for number in numbers:
            world = data.world(number)
            for name, values in before.items():
                world.field(name)[...] = values if data.nworld is None else values[number]

    # ---- for who has looked in the launch

    def report(self, data: Data, found: Sequence[Event]) -> None:
        """Say what happened in a launch; the backend has reset or held back the worlds already."""
        for event in found if self.told else ():
            self._tell(event.world, describe_event(data, event))
        if found and self.policy != "raise" and is_heard(data, found):
            return
        for event in found[:MOST_REPORTED]:
            text = describe_event(data, event)
            if self.policy == "raise":
                raise self._error(text, others=len(found) - 1)
            again = f", {event.count} times in this call" if event.count > 1 else ""
            warnings.warn(f"{text}{self._outcome(data.model)}{again}", StateWarning, stacklevel=2)
        if len(found) > MOST_REPORTED:
            worlds = ", ".join(str(event.world) for event in found[MOST_REPORTED:])
            warnings.warn(f"so did numbers of worlds {worlds}", StateWarning, stacklevel=2)

    # ---- what is said

    def _tell(self, world: int, text: str) -> None:
        for tell in self.told:
            tell(world, text)

    def _outcome(self, model: Model) -> str:
        if self.policy == "freeze":
            return ": the world stays where it is"
        if self.resets(model):
            return ": the world is reset"
        return "; it is not reset, because autoreset is disabled"

    def _error(self, text: str, others: int = 0) -> BadStateError:
        more = f" (and {others} more worlds)" if others else ""
        return BadStateError(f'{text}{more}. Use on_nan="reset" to go on from the initial state')


def is_heard(data: DataLike, events: Sequence[Event]) -> bool:
    """Whether the owner of a Data takes it on itself to tell (`hears_bad_states`)."""
    hears = getattr(data, "__dict__", {}).get("hears_bad_states")  # mjData has no such dict
    return hears is not None and bool(hears(events))


def first_bad(data: Data, field: str) -> int | None:
    """Index of the first number that MuJoCo takes as broken."""
    values = data.field(field)
    good = np.abs(values) <= MAXVAL
    return None if good.all() else int(np.argmin(good))


def bad_worlds(data: Data) -> Iterator[int]:
    """Numbers of the worlds whose qpos or qvel is broken."""
    count = 1 if data.nworld is None else data.nworld
    good = np.ones(count, bool)
    for field in BEFORE_STEP:
        good &= (np.abs(np.asarray(data.field(field))) <= MAXVAL).reshape(count, -1).all(axis=1)
    return iter(np.flatnonzero(~good).tolist())


def bad_accelerations(data: Data, times: Array) -> Iterator[Event]:
    """What was bad about the accelerations of a step that is over: it left them for the next one's solver. `times`:
    when the step began."""
    values = np.asarray(data.field("qacc_warmstart")).reshape(times.size, -1)
    good = np.abs(values) <= MAXVAL
    for world in np.flatnonzero(~good.all(axis=1)).tolist():
        index = int(np.argmin(good[world]))
        yield Event(world, "qacc", index, float(values[world, index]), float(times.flat[world]), 1)


def describe_bad(data: Data, field: str, index: int, number: int | None) -> str:
    """`qvel[3] (joint "knee") is nan at time 0.12`, with the world's number in a batch."""
    where = describe_dof(data.model, data.specs[field], index)
    world = "" if number is None else f"world {number}: "
    return f"{world}{field}{where} is {data.field(field)[index]} at time {data.time:.6g}"


def describe_dof(model: Model, spec: FieldSpec, index: int) -> str:
    """`[3] (joint "knee")`; of a body that carries a vertex of a flex, its name and the vertex too."""
    where = describe_index(model, spec, (index,))
    if spec.shape[0] == "nv":
        joint = int(model.dof_jntid[index])
    else:
        joint = int(np.searchsorted(model.jnt_qposadr, index, side="right")) - 1
    carried = _carried(model, int(model.jnt_bodyid[joint]))
    return f"{where[:-1]}; {carried})" if carried else where


def _carried(model: Model, body: int) -> str:
    """`body "cloth_4", vertex 4 of flex "cloth"` for the first vertex or node of a flex on a body."""
    for kind, bodies, starts in (
        ("vertex", model.flex_vertbodyid, model.flex_vertadr),
        ("node", model.flex_nodebodyid, model.flex_nodeadr),
    ):
        found = np.flatnonzero(bodies == body)
        if len(found):
            having = np.flatnonzero(starts >= 0)
            flex = int(having[np.searchsorted(starts[having], found[0], side="right") - 1])
            owner = describe_object(model, "flex", flex)
            return f"{describe_object(model, 'body', body)}, {kind} {found[0] - int(starts[flex])} of {owner}"
    return ""


def describe_event(data: Data, event: Event) -> str:
    """The same for an event of a launch."""
    where = describe_dof(data.model, data.specs[event.field], event.index)
    world = "" if data.nworld is None else f"world {event.world}: "
    return f"{world}{event.field}{where} is {event.value} at time {event.time:.6g}"


def describe_control(model: Model, actuator: int, value: float, time: float, number: int | None) -> str:
    """What becomes of a broken control (mj_fwdActuation): `ctrl of actuator 'knee' is nan at time 0.1: …`."""
    name = model.actuator(actuator).name
    world = "" if number is None else f"world {number}: "
    which = f"actuator {name!r}" if name else f"actuator {actuator}"
    return (
        f"{world}ctrl of {which} is {value} at time {time:g}: every control is taken as 0 in this evaluation"
    )


def reset_world(data: Data) -> None:
    """Put one world back to its initial state."""
    reset(data.model, data, worlds=[0])
