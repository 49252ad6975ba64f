"""What computes an MjData: plans of dovetail, and the ways in which functions of MuJoCo's use them.

An `Engine` hangs on every MjData. A step is `dovetail.step`'s one call of a kernel where that is possible. So is a
forward evaluation: a step whose move is taken back leaves the same fields. Single stages are those of the reference.

MuJoCo steps an MjData with any MjModel of the same sizes. A dovetail Data belongs to one Model; for another Model, a
second Data is made in the same memory.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail import pipeline
from dovetail.bad_states import Event, StateWarning, describe_control, describe_event, first_bad
from dovetail.config import Config
from dovetail.contracts.derive import initial_values, reset
from dovetail.contracts.enums import DisableBit, Integrator, Solver
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.mj import callbacks
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.body_forces import BODY_FORCES
from dovetail.mj.functions.staged import Stages
from dovetail.mj.functions.stand_ins import FillingAs, stand_in_for
from dovetail.planning.execution import Ready
from dovetail.planning.loading_selection import over_configuration
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan

if TYPE_CHECKING:
    from dovetail.mj.structs.data import MjData
    from dovetail.mj.structs.model import MjModel

ON_REQUEST = (*BODY_FORCES, "subtree_linvel", "subtree_angmom")

AFTER_VELOCITY = tuple(
    name
    for name, spec in DATA_SPECS.items()
    if spec.writer is not None
    and spec.writer in pipeline.STAGES
    and (pipeline.STAGES[spec.writer].phase == "acceleration" or spec.writer in ("body_forces", "inverse"))
)
"""What follows from accelerations: the first half of a step leaves it alone."""

BAD_FIELDS = {"qpos": 4, "qvel": 5, "qacc": 6, "ctrl": 7}
"""Warnings (mjtWarning) about numbers that went bad, by field."""


def engine_of(m: MjModel, d: MjData) -> Engine:
    """What computes an MjData with an MjModel of the same sizes."""
    model: Model = m._model
    found: Engine | None = d._ready
    if found is None or found.model is not model:
        try:
            data = d.seen_by(m)
        except ValueError as problem:
            raise FatalError(f"{problem}; make one of this model: MjData(model)") from None
        found = d._ready = Engine(model, data, d)
    return found


class Engine:
    """How one MjData is computed with one Model."""

    def __init__(self, model: Model, data: Data, owner: MjData) -> None:
        self.model, self.data = model, data
        self._owner = weakref.ref(owner)
        self._stand_in = None if "_mj_plans" in model.__dict__ else stand_in_for(model)
        self._hears = weakref.WeakMethod(self._hear)
        self._listen(data)
        self._work = data if self._stand_in is None else self._listen(self._stand_in.data_of(data))
        """What plans work on: the same memory, of the model or of its stand-in."""
        self.with_body_forces = False
        """Whether steps compute what mj_rnePostConstraint will be asked for."""
        self.fresh: list[Array] | None = None
        """That of the last step, if nothing else was computed since."""
        self._halfway: list[Array] | None = None
        """Buffers as the first half of a step left them, if a kernel computed it."""
        self.last_ready: Ready | None = None
        """What took the last step, if it was kept ready and nothing else was computed since."""
        self._ready: Ready | None = None
        self._forward_ready: Ready | None = None
        self._observing_ready: Ready | None = None
        self._template: dict[str, Array] = {}
        self._taking_back = False
        self._before_controls = False
        """Whether controls are not asked for yet: what a kernel computes of them is taken back."""
        self._went_bad = False
        self._step_durations, self._step_numbers = owner.timer.duration, owner.timer.number
        places = data.arena.layout.places
        self._state_end = places["mocap_quat"].offset + places["mocap_quat"].count

    def _listen(self, data: Data) -> Data:
        """Have bad states of a Data told here."""
        hears = self._hears
        object.__setattr__(data, "hears_bad_states", lambda events: _told(hears, events))
        return data

    # ---- whose plan it is

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        """While a stand-in is this model; what it leaves to be filled later is filled as this model too."""
        stand_in = self._stand_in
        if stand_in is None:
            yield
            return
        with stand_in.turn:
            stand_in.take_over(self.model)
            late = self.data.arena.late
            before = late.pending[1]
            yield
            names, fill = late.pending
            if fill is not None and fill is not before and not isinstance(fill, FillingAs):
                late.expect(names, FillingAs(stand_in, self.model, fill))

    @contextmanager
    def _same_room(self) -> Iterator[None]:
        """Give the Data as much room for contacts as others of its structure needed: kernels are made for layouts."""
        room: dict[str, int] = self._work.model.__dict__.setdefault("_mj_room", {})
        self._work.reserve(**room)
        yield
        room.update({name: self._work.sizes.get(name, 0) for name in CAPACITIES})

    def _kept_ready(self, plan: Plan) -> Ready | None:
        """The step that was just taken, ready to be taken again with this model's own numbers."""
        stand_in, model = self._stand_in, self.model
        if stand_in is None:
            return plan.execution.ready(self._work)
        ready = plan.execution.ready(self._work, model)
        if ready is not None:
            ready.stand_for(lambda: stand_in.take_over(model), lambda fill: FillingAs(stand_in, model, fill))
        return ready

    # ---- plans

    def plan(self, stages: dict[str, str] | None = None, backend: str | None = None) -> Plan:
        """What computes all fields as configuration says; remembered with the Model."""
        if int(self._work.model.opt.solver) not in [int(solver) for solver in Solver]:
            raise FatalError(f"mj_fwdConstraint: unknown solver type {int(self._work.model.opt.solver)}")
        known: dict[Any, list[Plan]] = self._work.model.__dict__.setdefault("_mj_plans", {})
        requested = ON_REQUEST if backend else BODY_FORCES if self.with_body_forces else ()
        plans = known.setdefault((requested, backend, tuple((stages or {}).items())), [])
        for plan in plans:
            if plan.is_current and plan.fits(self._work):
                return plan
        config = over_configuration(
            Config.of_call(stages, backend=backend, lanes=1, keep=("all", *requested))
        )
        plans[:] = [plan for plan in plans if plan.is_current][-3:]
        plans.append(compile_plan(self._work.model, config.unlocked() if backend else config))
        return plans[-1]

    @property
    def stages(self) -> Stages:
        """The reference, stage by stage."""
        with self._taking_turn():
            return Stages.of(self.plan(backend="numpy"), self.model)

    # ---- whole steps

    def step(self, nstep: int) -> None:
        """Advance by steps."""
        ready = self._ready
        if self.with_body_forces:
            self._step_with_body_forces(nstep)
        elif ready is not None and ready.step(self._work, nstep):
            self.last_ready = ready
        else:
            self._step_slowly(nstep)

    def _step_slowly(self, nstep: int) -> None:
        self.last_ready = None
        with self._taking_turn():
            plan = self.plan()
            with self._same_room():
                plan.step(self._work, nstep)
            self._ready = self._kept_ready(plan)

    def _step_with_body_forces(self, nstep: int) -> None:
        """The same, and set aside what mj_rnePostConstraint would find: until then nobody sees it."""
        views = [self.data.field(name) for name in BODY_FORCES]
        shown = [view.copy() for view in views]
        if self._ready is None or not self._ready.step(self._work, nstep):
            self._step_slowly(nstep)
        self.fresh = [view.copy() for view in views]
        for view, values in zip(views, shown, strict=True):
            view[...] = values

    def forget(self) -> None:
        """What was set aside of an earlier evaluation is not what would be found now."""
        self.fresh = self._halfway = self.last_ready = None

    # ---- a forward evaluation

    def forward(self) -> None:
        """Compute everything that follows from the state."""
        self.forget()
        if not self._forward_by_a_step():
            with self._taking_turn():
                self._forward_plan().forward(self._work)

    def observe(self) -> bool:
        """The same with body forces, by kernels; False if they cannot evaluate alone."""
        asked, ready = self.with_body_forces, self._forward_ready
        self.with_body_forces, self._forward_ready = True, self._observing_ready
        try:
            return self._forward_by_a_step()
        finally:
            self._observing_ready = self._forward_ready
            self.with_body_forces, self._forward_ready = asked, ready

    def _forward_plan(self) -> Plan:
        """Steps of RK4 evaluate at other states too; a forward evaluation is that of Euler's."""
        rk4 = int(self.model.opt.integrator) == Integrator.RK4
        return self.plan({"integrate": "euler"} if rk4 else None)

    def _forward_by_a_step(self) -> bool:
        """Take a step and take it back; False, and nothing done, if that is not the same."""
        data, end = self.data, self._state_end
        numbers = data.arena.buffers["real"]
        before = numbers[0, :end, 0].copy()
        if not np.isfinite(before).all():
            return False
        active = np.array(data.eq_active) if self.model.neq else None
        self._taking_back, self._went_bad = True, False
        try:
            if not self._one_step():
                return False
        finally:
            self._taking_back = False
            numbers = data.arena.buffers["real"]  # it may have grown
            energy = np.array(data.energy)
            numbers[0, :end, 0] = before
            data.energy[...] = energy
            if active is not None:
                data.eq_active[...] = active
        return not self._went_bad

    def _one_step(self) -> bool:
        """Take a step if that is one call, or can be one the next time."""
        ready = self._forward_ready
        if ready is not None and ready.step(self._work, 1):
            return True
        with self._taking_turn():
            plan = self._forward_plan()
            if not plan.execution.may_be_ready:
                return False
            with self._same_room():
                plan.step(self._work, 1)
            self._forward_ready = self._kept_ready(plan)
        return self._forward_ready is not None

    def may_take_steps(self) -> bool:
        """Whether a forward evaluation can be a step that is taken back."""
        return self._forward_ready is not None or self._forward_plan().execution.may_be_ready

    # ---- halves of a step

    def first_half(self) -> None:
        """What follows from positions and velocities; accelerations and all that follows from them stay."""
        data = self.data
        late = data.arena.late.names
        views = [data.field(n) for n in AFTER_VELOCITY if n not in late and n in data and data.field(n).size]
        kept = [view.copy() for view in views]
        sensors = np.array(data.sensordata)
        self._before_controls = True
        try:
            self.forward()
        finally:
            self._before_controls = False
        for view, values in zip(views, kept, strict=True):
            view[...] = values
        of_accelerations = self._acceleration_sensors
        data.sensordata[of_accelerations] = sensors[of_accelerations]
        self._halfway = [buffer.copy() for buffer in data.arena.buffers.values()]

    def second_half(self) -> None:
        """All of a step again from where its first half left it, and then the move."""
        self.forget()
        if int(self.model.opt.integrator) != Integrator.RK4:
            self.step(1)
        elif self._forward_ready is None or not self._forward_ready.step(self._work, 1):
            with self._taking_turn():
                self._forward_plan().step(self._work, 1)

    def integrate(self, name: str) -> None:
        """Move the state by an integrator that evaluates once."""
        self.data.arena.late.settle()
        self.forget()
        self.with_integrator(name).run(self.data, ["integrate"])

    def with_integrator(self, name: str) -> Stages:
        """The reference with an integrator of one's own choice."""
        with self._taking_turn():
            return Stages.of(self.plan({"integrate": name}, "numpy"), self.model)

    @property
    def _acceleration_sensors(self) -> Array:
        """Which numbers of sensordata need accelerations."""
        model = self.model
        needs = np.repeat(model.sensor_needstage, model.sensor_dim)
        return np.flatnonzero(needs == 3)

    def is_halfway(self) -> bool:
        """Whether all is as the first half of a step left it, but for forces and controls."""
        if self._halfway is None:
            return False
        data = self.data
        buffers = list(data.arena.buffers.values())
        if [b.shape for b in buffers] != [b.shape for b in self._halfway]:
            return False
        inputs = slice(data.arena.layout.places["ctrl"].offset, data.arena.layout.places["mocap_pos"].offset)
        known = self._halfway[list(data.arena.buffers).index("real")]
        known[0, inputs] = data.arena.buffers["real"][0, inputs]
        return all(np.array_equal(a, b) for a, b in zip(buffers, self._halfway, strict=True))

    # ---- the start

    def reset(self) -> None:
        """Put every field back to its initial value."""
        data = self.data
        data.arena.late.forget()
        self.forget()
        # Patterns of sparse fields are constants, which a kernel that is kept ready does not write again.
        self._ready = self._forward_ready = self._observing_ready = None
        buffers = data.arena.buffers
        if any(self._template.get(k, b[:0]).shape != b.shape for k, b in buffers.items()):
            reset(self.model, data)
            self._template = {dtype: buffer.copy() for dtype, buffer in buffers.items()}
        for dtype, buffer in buffers.items():
            buffer[...] = self._template[dtype]
        data.qpos[...] = self.model.qpos0
        if self.model.neq:
            data.eq_active[...] = self.model.eq_active0
        for name in ("mocap_pos", "mocap_quat") if self.model.nmocap else ():
            data.field(name)[...] = initial_values(self.model, DATA_SPECS[name])

    # ---- counting, and numbers that go bad

    def count(self, timer: int, times: int, duration: float) -> None:
        """Add to a timer (mjtTimer)."""
        owner = self._owner()
        if owner is not None:
            row = owner.timer[timer]
            row.number, row.duration = row.number + times, row.duration + duration

    def count_step(self, nstep: int, duration: float) -> None:
        """The same for steps, without a detour."""
        self._step_durations[0] += duration
        self._step_numbers[0] += nstep

    @property
    def resets(self) -> bool:
        """Whether a state that goes bad is reset."""
        return not int(self.model.opt.disableflags) & DisableBit.AUTORESET

    def check(self, fields: Sequence[str]) -> bool:
        """Look for broken numbers; what is found is counted and told, and the state reset. True if all are well."""
        for field in fields:
            index = first_bad(self.data, field)
            if index is not None:
                value = float(self.data.field(field)[index])
                self._hear([Event(0, field, index, value, float(self.data.time), 1)])
                if self.resets:
                    self.reset()
                return False
        return True

    def _hear(self, events: Sequence[Event]) -> None:
        """Count and tell what went bad in a step; nothing happens to a state that is taken back."""
        owner = self._owner()
        for event in events:
            of_state = event.field != "ctrl"
            self._went_bad |= of_state
            if owner is None or (self._taking_back and of_state) or (self._before_controls and not of_state):
                continue
            # The first one is told; the others are counted.
            if not owner.warning[BAD_FIELDS[event.field]].number:
                text = self._describe(event)
                if not callbacks.warn(text):
                    warnings.warn(text, StateWarning, stacklevel=2)
            self._count_event(owner, event)

    def _count_event(self, owner: MjData, event: Event) -> None:
        """Count as MuJoCo 3.4 does: a reset forgets what was counted before; a bad state that is not reset counts
        twice, where it is told and where it is looked for."""
        if event.field == "ctrl":
            note_warning(owner, BAD_FIELDS["ctrl"], event.index, event.count)
        elif self.resets:
            for kind in BAD_FIELDS.values():
                owner.warning[kind].number = 0
            note_warning(owner, BAD_FIELDS[event.field], event.index)
        else:
            for field, count in (event.by_field or {event.field: event.count}).items():
                if count:
                    note_warning(owner, BAD_FIELDS[field], event.index, 2 * count)

    def _describe(self, event: Event) -> str:
        """What went bad, and what becomes of it, in words."""
        if event.field == "ctrl":
            again = f", and in {event.count - 1} more of this call" if event.count > 1 else ""
            return describe_control(self.model, event.index, event.value, event.time, None) + again
        outcome = "the state is reset" if self.resets else "it goes on, because autoreset is disabled"
        return f"{describe_event(self.data, event)}: {outcome}"


def _told(hears: weakref.WeakMethod[Any], events: Sequence[Event]) -> bool:
    hear = hears()
    if hear is None:
        return False
    hear(events)
    return True


def note_warning(d: MjData, kind: int, info: int, times: int = 1) -> None:
    """Count a warning of MuJoCo's kinds."""
    row = d.warning[kind]
    row.lastinfo, row.number = info, row.number + times
