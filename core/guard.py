"""What happens when a state goes bad: NaN, infinity or a number beyond MAXVAL in qpos, qvel or qacc.

MuJoCo looks at qpos and qvel before each step and at qacc before it integrates; it then resets the world and goes
on (mj_checkPos, mj_checkVel, mj_checkAcc). That is `reset`, the default, and every reset is a StateWarning that
names joint, world and time. `raise` stops with a BadStateError and leaves the data as they are; `freeze` keeps
the world where it was. With the disable flag `autoreset` MuJoCo, and so `reset`, only warns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import attrs
import numpy as np

from dovetail.contracts.choices import OnNan
from dovetail.contracts.derive import describe_index, reset
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.types import STATE, Data, Model
from dovetail.errors import BadStateError

MAXVAL = 1e10
"""Numbers beyond this count as infinite (mjMAXVAL)."""


class StateWarning(RuntimeWarning):
    """A state went bad and was reset or frozen."""


@attrs.frozen
class Event:
    """A number that went bad in a launch of a backend that watches its worlds itself."""

    world: int
    field: str
    index: int
    value: float
    time: float
    count: int
    """How often the world went bad in the launch; this is the first time."""


MOST_TOLD = 20
"""Worlds that have a warning each; of more, the numbers are told together."""


@attrs.define
class Guard:
    """Watches the worlds of one plan."""

    policy: OnNan = "reset"

    def tell(self, data: Data, found: Sequence[Event]) -> None:
        """Say what happened in a launch; the backend has reset or held back the worlds already."""
        if not found:
            return
        outcome = self._outcome(data)
        for event in found[:MOST_TOLD]:
            said = describe_event(data, event)
            if self.policy == "raise":
                others = f" (and {len(found) - 1} more worlds)" if len(found) > 1 else ""
                raise BadStateError(f'{said}{others}. Use on_nan="reset" to go on from the initial state')
            again = f", {event.count} times in this call" if event.count > 1 else ""
            warnings.warn(f"{said}{outcome}{again}", StateWarning, stacklevel=2)
        if len(found) > MOST_TOLD:
            worlds = ", ".join(str(event.world) for event in found[MOST_TOLD:])
            warnings.warn(f"so did numbers of worlds {worlds}", StateWarning, stacklevel=2)

    def _outcome(self, data: Data) -> str:
        if self.policy == "freeze":
            return ": the world stays where it is"
        return (
            ": the world is reset"
            if self._resets(data)
            else "; it is not reset, because autoreset is disabled"
        )

    def may_step(self, data: Data, number: int | None = None) -> bool:
        """Look at one world's state before a step; False if it must stay where it is."""
        for field in ("qpos", "qvel"):
            bad = first_bad(data, field)
            if bad is not None:
                return self._handle(data, field, bad, number)
        return True

    def may_integrate(self, data: Data, number: int | None = None) -> bool | None:
        """Look at one world's accelerations: True to go on, False to stay, None to evaluate again after a reset."""
        bad = first_bad(data, "qacc")
        if bad is None:
            return True
        may = self._handle(data, "qacc", bad, number)
        return None if may and self._resets(data) else may

    def _resets(self, data: Data) -> bool:
        return self.policy == "reset" and not data.model.opt.disableflags & DisableBit.AUTORESET

    def _handle(self, data: Data, field: str, index: int, number: int | None) -> bool:
        said = describe_bad(data, field, index, number)
        if self.policy == "raise":
            raise BadStateError(f'{said}. Use on_nan="reset" to go on from the initial state')
        if self.policy == "freeze":
            warnings.warn(f"{said}: the world stays where it is", StateWarning, stacklevel=2)
            return False
        if self._resets(data):
            warnings.warn(f"{said}: the world is reset", StateWarning, stacklevel=2)
            reset_world(data)
        else:
            warnings.warn(
                f"{said}; it is not reset, because autoreset is disabled", StateWarning, stacklevel=2
            )
        return True

    def watch(self, data: Data, run: Callable[[], None]) -> None:
        """Run one launch of a backend that steps all worlds together, and look at their states before and after: a
        bad world is reset or refused when next stepped, or put back where the launch found it."""
        for number in bad_worlds(data) if self.policy != "freeze" else ():
            self.may_step(data.world(number), None if data.nworld is None else number)
        before = {name: np.array(data.field(name)) for name in STATE} if self.policy == "freeze" else {}
        run()
        if before:
            self._put_back(data, before)

    def _put_back(self, data: Data, before: dict[str, Array]) -> None:
        for number in bad_worlds(data):
            world = data.world(number)
            field = "qpos" if first_bad(world, "qpos") is not None else "qvel"
            index = first_bad(world, field)
            assert index is not None  # that is why it is listed
            self._handle(world, field, index, None if data.nworld is None else number)
            for name, values in before.items():
                world.field(name)[...] = values if data.nworld is None else values[number]


def first_bad(data: Data, field: str) -> int | None:
    """Index of the first number that MuJoCo takes as broken."""
    values = data.field(field)
    good = np.abs(values) <= MAXVAL
    return None if good.all() else int(np.argmin(good))


def bad_worlds(data: Data) -> Iterator[int]:
    """Numbers of the worlds whose qpos or qvel is broken."""
    count = 1 if data.nworld is None else data.nworld
    good = np.ones(count, bool)
    for field in ("qpos", "qvel"):
        good &= (np.abs(np.asarray(data.field(field))) <= MAXVAL).reshape(count, -1).all(axis=1)
    return iter(np.flatnonzero(~good).tolist())


def describe_bad(data: Data, field: str, index: int, number: int | None) -> str:
    """`qvel[3] (joint "knee") is nan at time 0.12`, with the world's number in a batch."""
    where = describe_index(data.model, data.specs[field], (index,))
    world = "" if number is None else f"world {number}: "
    return f"{world}{field}{where} is {data.field(field)[index]} at time {data.time:.6g}"


def describe_event(data: Data, event: Event) -> str:
    """The same for an event of a launch."""
    where = describe_index(data.model, data.specs[event.field], (event.index,))
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
