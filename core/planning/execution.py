"""Running a plan: its segments are compiled when they are first run, and kept.

A step is one launch where a single segment holds all of it, else segment after segment, evaluation after evaluation,
with a look at the states between steps.
"""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail import interrupts, pipeline
from dovetail.arguments import whole
from dovetail.backend import Advance, Runner, Segment, Slot, Wrapper, step_watchers, written
from dovetail.contracts.derive import initial_values
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.indices import check_indices, check_rings
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.errors import PlanError
from dovetail.planning.per_world import PATTERNS, check_patterns
from dovetail.planning.replay import Replayer, State
from dovetail.planning.used_values import UsedValues

if TYPE_CHECKING:
    from dovetail.planning.costs import Clock
    from dovetail.planning.flow import Flow
    from dovetail.planning.plan import Plan


class Execution:
    """Compiled segments of one plan, and the loop that runs them. Their memory is for one thread at a time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._programs: dict[str, _Program] = {}
        self._turn = threading.RLock()
        self._bad_states = plan.bad_states
        self.clock: Clock | None = None
        """What times the segments; it is given before the first of them is compiled."""
        self._replayer = None if plan.replay is None else Replayer(plan.replay, plan.depends_on)

    def forward(self, data: Data) -> None:
        """Compute everything that follows from the state, without moving it."""
        self._take_on(data)
        with self._turn, self._suspecting_indices():
            self._look_first(data)
            self._program("forward").evaluate(data, 0)
            if self._replayer is not None:
                self._replayer.forward(data)
            self._plan.depends_on.settle(self._only_kernels)

    def step(self, data: Data, nstep: int = 1) -> None:
        """Advance the state by `nstep` steps."""
        nstep = whole("nstep", nstep, 0, "STEPS")
        self._take_on(data)
        if not nstep:
            return
        with self._turn, interrupts.held_back(), self._suspecting_indices():
            self._step(data, nstep)

    # ---- steps that are kept ready

    @cached_property
    def may_be_ready(self) -> bool:
        """Whether a step can be one call of a kernel, with nothing to look at before or after it but memory."""
        plan = self._plan
        groups = plan.segments("step")
        if len(groups) != 1 or plan.wrappers or plan.once_per_call or plan.missing or plan.partial:
            return False
        backend = plan.registry.backend(groups[0][0].record.backend)
        told = bool(self._first_looks or plan.has_captures or set(plan.per_world).intersection(PATTERNS))
        return backend.takes_whole_steps and not backend.in_place and not told

    def ready(self, data: Data, model: Model | None = None) -> Ready | None:
        """The step of a Data that was just stepped, kept ready; None if it takes more than a call. `model`: another
        Model of the same layout and with the same values where the plan depends on them, for whose numbers the
        plan's own stood."""
        plan = self._plan
        program = self._programs.get("step")
        if not self.may_be_ready or program is None or not program.whole_step:
            return None
        if plan.model.opt.enableflags & EnableBit.SLEEP or data.served_by is not plan:
            return None
        replayer = self._replayer
        if replayer is not None and not replayer.late:
            return None
        kept_ready = getattr(program.runners[0], "kept_ready", None)
        if kept_ready is None:
            return None
        own = plan.model if model is None else model
        watched = plan.depends_on.memory("opt.enableflags")
        if own is not plan.model:
            watched = [(_same_place(view, plan.model, own), content) for view, content in watched]
        used = None if replayer is None else replayer.used(own)
        noted = None if used is None else used.variable(own)
        steps = kept_ready(data, watched, noted=noted, model=own.buffers)
        return Ready(plan, data, steps, self._turn, replayer, used) if steps else None

    def runners(self, sequence: str = "step") -> tuple[Runner, ...]:
        """The compiled segments of a sequence, in order."""
        return self._program(sequence).runners

    # ---- the loop

    def _step(self, data: Data, nstep: int) -> None:
        """Advance, and fill what is filled once per call; an interrupt makes it fewer steps."""
        self._look_first(data)
        if self._replayer is None:
            self._advance(data, nstep)
        else:
            self._advance(data, nstep - 1)
            before = self._replayer.remember(data)
            with interrupts.unheeded():
                self._advance(data, 1)
                self._repeat(self._replayer, data, before)
        if self._plan.once_per_call:
            self._program("once_per_call").evaluate(data, 0)
        self._plan.depends_on.settle(self._only_kernels)

    def _repeat(self, replayer: Replayer, data: Data, before: State) -> None:
        """Have the reference fill what kernels do not."""
        if self.clock is None:
            replayer.step(data, before)
        else:
            self.clock.repeating(lambda: replayer.step(data, before))

    def _advance(self, data: Data, nstep: int) -> None:
        """Take steps, inside of what watches them."""
        if nstep:
            self._watched(data, nstep)

    @cached_property
    def _watched(self) -> Advance:
        """What takes steps: the plan alone, or those that watch it around it, the first one outermost."""
        advance: Advance = self._advance_alone
        for watcher in reversed(step_watchers(self._plan.wrappers)):
            advance = watcher.wrap_steps(self._plan, advance)
        return advance

    def _advance_alone(self, data: Data, nstep: int) -> None:
        """Take steps without a look back. Who runs whole steps looks for bad states itself."""
        program = self._program("step")
        if program.whole_step:
            program.runners[0](data, nstep, 0)
            return
        for _ in range(nstep):
            self._bad_states.around(data, lambda: self._one_step(program, data))
            if interrupts.wanted():
                return

    def _one_step(self, program: _Program, data: Data) -> None:
        for evaluation in range(self._plan.evaluations):
            program.evaluate(data, evaluation)

    def _look_first(self, data: Data) -> None:
        """Evaluate once more before anything else, where an implementation asks for it after a reset."""
        if any(asks(self._plan.model, data) for asks in self._first_looks):
            self._program("forward").evaluate(data, 0)

    @cached_property
    def _first_looks(self) -> list[Callable[[Model, Data], bool]]:
        """Functions of implementations that say whether they have to see an evaluation first."""
        facts = (choice.record.facts.get("looks_first") for choice in self._plan.choices.values())
        return [pkgutil.resolve_name(target) for target in facts if target]

    @cached_property
    def _only_kernels(self) -> bool:
        """Whether nothing runs on the Model itself."""
        backend = self._plan.registry.backend
        return not any(backend(slot.record.backend).in_place for slot in self._plan.slots)

    # ---- before anything runs

    def _take_on(self, data: Data) -> None:
        """See that indices of the Model are well, and that a Data fits. What another plan left in fields that this
        one does not fill is cleared: without contacts there are none."""
        plan = self._plan
        plan.depends_on.check_indices()
        self._check(data)
        if plan.model.opt.enableflags & EnableBit.SLEEP and "tree_asleep" in data:
            check_rings(data)
        if not plan.partial and data.served_by is not plan:
            for name in self._unfilled:
                if name in data:
                    data.field(name)[...] = initial_values(plan.model, DATA_SPECS[name])
            data.arena.late.forget()
            data.note_plan(plan)

    def _check(self, data: Data) -> None:
        plan = self._plan
        plan.check_complete()
        why = plan.misfit(data)
        if why:
            raise PlanError(f"this Data was not made for this plan ({why}); use plan.make_data()")
        check_patterns(plan.model, data, plan.per_world)

    @cached_property
    def _unfilled(self) -> tuple[str, ...]:
        """Fields that stages of a step compute, and no slot of this plan. What only looks leaves its last reading, as
        in MuJoCo, but for energies."""
        plan = self._plan
        filled = written(plan.slots).union(*plan.flow.exports, plan.contracts.constant)
        filled |= set() if plan.replay is None else set(plan.replay.fields)
        computing = {name for name in pipeline.STEP if pipeline.STAGES[name].phase != "observe"} | {"energy"}
        return tuple(
            name for name, spec in DATA_SPECS.items() if spec.writer in computing and name not in filled
        )

    @contextmanager
    def _suspecting_indices(self) -> Iterator[None]:
        """An index that NumPy finds out of bounds may be one of the Model, in a field too large to compare."""
        try:
            yield
        except IndexError:
            check_indices(self._plan.model)
            raise

    # ---- compiling

    def _program(self, sequence: str) -> _Program:
        if sequence not in self._programs:
            check_indices(self._plan.model)  # also what other sequences do not read
            self._programs[sequence] = self._compile(sequence)
        return self._programs[sequence]

    def _compile(self, sequence: str) -> _Program:
        plan = self._plan
        after = plan.once_per_call if sequence == "step" else ()
        later = frozenset[str]().union(*(slot.reads for slot in after))
        flow = plan.flow_of(plan.sequence(sequence), later)
        wrappers = [plan.wrappers_of(group[0]) for group in flow.groups]
        whole_step = (
            sequence == "step"
            and len(flow.groups) == 1
            and not wrappers[0]
            and plan.registry.backend(flow.groups[0][0].record.backend).takes_whole_steps
        )
        runners = compile_segments(plan, flow, whole=whole_step, clock=self.clock)
        wrapped = [
            _inside(runner, group[0], around, plan.evaluations)
            for runner, group, around in zip(runners, flow.groups, wrappers, strict=True)
        ]
        return _Program(tuple(wrapped), whole_step)


def _same_place(view: Array, model: Model, other: Model) -> Array:
    """The bytes of another Model of the same layout that lie where a view lies in its own."""
    address = view.ctypes.data
    for dtype, buffer in model.arena.buffers.items():
        begin = address - buffer.ctypes.data
        if 0 <= begin < buffer.nbytes:
            return other.arena.buffers[dtype].reshape(-1).view(np.uint8)[begin : begin + view.nbytes]
    raise AssertionError("a view lies outside of the Model")


class Ready:
    """The step of one Data, ready to be taken without a look at anything but the memory that the kernel compares."""

    def __init__(
        self,
        plan: Plan,
        data: Data,
        steps: Any,
        turn: threading.RLock,
        replayer: Replayer | None,
        used: UsedValues | None,
    ) -> None:
        self.plan, self.data = plan, data
        self._resets, self._known_resets = data.arena.resets, data.arena.resets.count
        self._steps, self._turn = steps, turn
        self._names = frozenset[str]() if replayer is None else replayer.names
        self._fill = None if replayer is None else replayer.step_from(data, lambda: steps.before, used)

    def stand_for(self, prepare: Callable[[], None], wrap: Callable[[Any], Any]) -> None:
        """Have something done before anything but the kernel uses the plan's Model, which is another one's."""
        self._steps.prepare = prepare
        if self._fill is not None:
            self._fill = wrap(self._fill)

    @property
    def before(self) -> Mapping[str, Array] | None:
        """The state of all worlds before the last step; None if nothing is kept of it."""
        return None if self._fill is None else self._steps.before

    def step(self, data: Data, nstep: int) -> bool:
        """Advance the state; False, and nothing done, if that takes another look."""
        if data is not self.data or type(nstep) is not int or nstep < 1:
            return False
        if self._resets.count != self._known_resets:
            return False  # what is kept ready does not write constants (patterns of sparse fields) again
        with self._turn:
            if self._fill is None:
                return bool(self._steps.step(nstep))
            late = data.arena.late
            pending = late.pending
            late.expect(self._names, self._fill)  # first, for an interrupt may come when the step is done
            done = bool(self._steps.step(nstep))
            if not done:
                late.expect(*pending)
            return done


def compile_segments(
    plan: Plan, flow: Flow, *, whole: bool = False, clock: Clock | None = None
) -> list[Runner]:
    """The segments of a flow, each compiled by its backend; `whole`: they are one, and a complete step."""
    return [
        _compiled(plan, group, plan.segment(flow, number, whole), clock)
        for number, group in enumerate(flow.groups)
    ]


def _compiled(plan: Plan, slots: Sequence[Slot], segment: Segment, clock: Clock | None) -> Runner:
    """One segment, with a clock around it if there is one."""
    backend = plan.registry.backend(slots[0].record.backend)
    if clock is None:
        return backend.compile(segment)
    return clock.around(backend.compile(clock.watched(segment)), slots)


@attrs.frozen
class _Program:
    """The compiled segments of a sequence, in order."""

    runners: tuple[Runner, ...]
    whole_step: bool
    """Whether it is one segment that can take many steps in a call."""

    def evaluate(self, data: Data, evaluation: int) -> None:
        """Run all segments once."""
        for run in self.runners:
            run(data, 1, evaluation)


def _inside(runner: Runner, slot: Slot, wrappers: Sequence[Wrapper], evaluations: int) -> Runner:
    """The runner, inside its wrappers if it has some."""
    return _Wrapped(runner, slot, wrappers, evaluations) if wrappers else runner


class _Wrapped:
    """A runner of one slot inside wrappers, each of which is asked once. Where the slot does not run, neither do
    they."""

    def __init__(self, runner: Runner, slot: Slot, wrappers: Sequence[Wrapper], evaluations: int) -> None:
        self._runner = runner
        self._only = {"first": 0, "last": evaluations - 1}.get(slot.when)
        self._evaluation = 0
        """The present one; wrappers pass on nothing but the Data."""
        self._outer: Callable[[Data], None] = self._inner
        for wrapper in wrappers:
            self._outer = wrapper.wrap(slot, self._outer)

    def _inner(self, data: Data) -> None:
        self._runner(data, 1, self._evaluation)

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        if self._only is None or evaluation == self._only:
            self._evaluation = evaluation
            self._outer(data)
