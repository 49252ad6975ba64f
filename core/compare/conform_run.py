"""How `conform` compares: states of MuJoCo's, stages one by one, steps of a Simulation, under two sets of options."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dovetail.backend import REFERENCE
from dovetail.bad_states import MAXVAL
from dovetail.compare.conform import StageRecorder
from dovetail.compare.conform_report import CONVERGED, OWN, Part
from dovetail.compare.errors import FieldError
from dovetail.compare.isolate import plan_with_holes
from dovetail.compare.mujoco_fields import MujocoFields
from dovetail.compare.mujoco_moves import Judged, Oracle, put_state, state_of
from dovetail.compare.oracle import require_mujoco
from dovetail.compare.real_steps import WORLDS, Moment, RealSteps
from dovetail.compare.run_sides import Side
from dovetail.compare.run_specs import RunSpec
from dovetail.compare.run_starts import AllStarts, AnyStart, Beginning, all_starts, keyframe_start
from dovetail.compare.stage_bench import (
    InBlocks,
    InPlace,
    Stages,
    finished,
    is_in_place,
    last_writers,
)
from dovetail.config import Config
from dovetail.contracts.choices import Backend, Precision
from dovetail.contracts.enums import DisableBit, EnableBit, Flag, Jacobian
from dovetail.contracts.fields import Array
from dovetail.contracts.types import STATE, Data, Model
from dovetail.errors import ArgumentError, DovetailError, ValidationError, listing, nearest, shown
from dovetail.lock import StageLock
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

SOLVER_ITERATIONS = 500
"""The least number of iterations that both engines may take when they solve further than the model asks."""


TRAJECTORY_SEEDS = 1000
"""Random starts of trajectories have seeds from here on, so that they are not those of single states."""

STRIDE = 20
"""How many steps MuJoCo takes between the later states of a trajectory."""

BETWEEN, LARGE = 2, 60
"""Of the states on the way batches step from every second; of models with more dofs than that, from no more."""

KEYFRAME_STEPS = 2
"""How many states each of several keyframes gives: the second has a warm start."""


# ---- states


def chosen_starts(
    model: Model,
    starts: Sequence[AnyStart],
    keyframes: Sequence[str],
    steps: int,
    states: int,
    seed: int,
    worlds: int,
) -> AllStarts:
    """Where states come from: those that are named, or all kinds. Of random starts as many as states are wanted, and
    one more for a trajectory. Starts with a seed are drawn for each world."""
    given = next((start for start in starts if isinstance(start, Mapping)), None)
    if given is not None:
        raise ArgumentError(f"starts: {shown(given)} should be a kind of start, a keyframe or a file")
    named = [*map(str, starts), *(keyframe_start(model, name) for name in keyframes)]
    found = all_starts(model, random=0, near=0, seed=seed)
    kinds = named or ["random", "near", *(begun.start for begun in found.beginnings)]
    beginnings: list[Beginning] = []
    for kind in kinds:
        if kind == "random":
            beginnings += [Beginning(kind, seed + n) for n in range(states * worlds)]
        if steps:
            first = seed + TRAJECTORY_SEEDS if kind == "random" else seed
            beginnings += [
                Beginning(kind, first + n) for n in range(worlds if kind in ("random", "near") else 1)
            ]
    return AllStarts(tuple(beginnings), () if named or not steps else found.left_out)


@attrs.frozen
class Moments:
    """States of MuJoCo's."""

    chosen: tuple[Moment, ...]
    """Those in which everything is compared."""
    between: tuple[Moment, ...]
    """Those on the way, which only batches step from: that costs little."""


def moments_of(ours: Model, theirs: Any, chosen: AllStarts, steps: int) -> Moments:
    """States along MuJoCo's trajectories; of a random state that is to stand alone, this one."""
    data = require_mujoco().MjData(theirs)
    keys = [begun for begun in chosen.beginnings if begun.start not in ("random", "near", "rest")]
    often = BETWEEN if ours.nv <= LARGE else STRIDE
    found, between = list[Moment](), list[Moment]()
    for begun in chosen.beginnings:
        alone = begun.start == "random" and begun.seed < TRAJECTORY_SEEDS
        several = len(keys) > 1 and begun in keys
        wanted = [0] if alone else _spread(min(steps, KEYFRAME_STEPS) if several else steps)
        last = STRIDE if several and not alone else max(wanted, default=-1)
        put_state(theirs, data, begun.state(ours))
        for step in range(last + 1 if wanted else 0):
            if step in wanted or step % often == 0:
                into = found if step in wanted else between
                into.append(Moment(f"{begun}, step {step}", state_of(data)))
            require_mujoco().mj_step(theirs, data)
            if _exploded(data):
                break
    return Moments(tuple(found), tuple(between))


def _spread(count: int) -> list[int]:
    """The steps of a trajectory in which everything is compared: half of them at its beginning, the others farther
    and farther on, where things have fallen."""
    close = (count + 1) // 2
    return [*range(close), *(close + STRIDE * (n + 1) for n in range(count - close))]


# ---- comparing


@attrs.frozen
class Settings:
    """What computes."""

    backend: Backend | None
    precision: Precision | None
    nworld: int | None
    found: Config
    locked: StageLock | str | None

    def of_stages(self) -> Config:
        """Those of the stages: the reference, unless something is said."""
        said = self.backend or (None if "backend" in self.found.settings else REFERENCE)
        call = Config.of_call(backend=said, precision=self.precision, keep="all", locked=self.locked)
        return Config.merge([call, self.found.unlocked()])

    def simulation(self) -> dict[str, Any]:
        """Arguments of a Simulation: nothing said is what users get; under a lock it is what the stages are."""
        return {
            "backend": self.backend or (REFERENCE if self.locked is not None else None),
            "precision": self.precision,
            "config": self.found.unlocked(),
            "locked": self.locked,
            "missing": "skip",
        }


class Comparison:
    """Both engines, compared under the model's own options and converged."""

    def __init__(self, ours: Model, theirs: Any, settings: Settings) -> None:
        self.settings = settings
        self.models = (ours, theirs)
        self.stage_models = (ours.copy(), copy.copy(theirs))
        # A random state may be beyond what the integrator bears; each stage shall see it all the same.
        set_flags(*self.stage_models, ("autoreset",), ())
        self.notes: list[str] = []
        self.parts: list[Part] = []
        self.count = 0
        self.stepped = ""
        self.plan, self._stages = self._make_stages()
        self._labels = last_writers(self._stages.slots)

    def _make_stages(self) -> tuple[Plan, Stages]:
        model, settings = self.stage_models[0], self.settings
        config, nworld = settings.of_stages(), settings.nworld
        plan = plan_with_holes(model, config, nworld=nworld)
        if is_in_place(plan):
            recorder = StageRecorder()
            plan = plan_with_holes(model, config, nworld=nworld, wrappers=(recorder,))
            return plan, InPlace(plan, recorder)
        spec = RunSpec(
            text="", backend=settings.backend, precision=settings.precision, config=settings.found.unlocked()
        )
        blocks = InBlocks(Side(spec, model, plan))
        if blocks.cut:
            together = "; ".join(_block(labels) for labels in blocks.cut)
            self.notes = [f"compared together, because their kernels cannot be cut: {together}"]
        return plan, blocks

    def run(self, moments: Moments, tolerance: float | None) -> None:
        """All parts. Without a constraint in any state there is nothing to converge."""
        self.count = len(moments.chosen) + len(moments.between)
        make = self._simulations()
        ours = (make(), make(nworld=self.settings.nworld or WORLDS, keep="computed"))
        self.stepped = "; ".join(sim.plan.headline().partition(": ")[2] for sim in ours)
        self._part(OWN, moments, make, ours)
        if tolerance is None or not self._has_rows((*moments.chosen, *moments.between)):
            return
        was_dense = MujocoFields(self.models[1]).dense
        for pair in (self.models, self.stage_models):
            _converge(*pair, tolerance)
        if was_dense:  # stages look at that when they are compiled
            self.plan, self._stages = self._make_stages()
        self._part(CONVERGED, moments, make, ours)

    def _simulations(self) -> Callable[..., Simulation]:
        own = self.models[0].copy()
        self.models = (own, self.models[1])
        return lambda **more: Simulation(own, **self.settings.simulation(), **more)

    def _part(
        self,
        name: str,
        moments: Moments,
        make: Callable[..., Simulation],
        sims: tuple[Simulation, Simulation],
    ) -> None:
        own, precision = name == OWN, self.plan.precision
        counted = own and precision == "f64"
        stages = Judged(self.stage_models[0], precision)
        fields = MujocoFields(self.stage_models[1], iterations=counted)
        _StageComparison(self._stages, fields, stages, self.settings.nworld).run(moments.chosen)
        steps = Judged(self.models[0], sims[0].plan.precision)
        real = RealSteps(
            fields=MujocoFields(self.models[1], iterations=counted),
            make=make,
            one=sims[0],
            batch=sims[1],
            judged=steps,
            moments=moments.chosen,
            between=moments.between if own else (),
            name_stage=lambda moment: self._named(moment, stages),
        )
        real.run(relations=own)
        self.parts.append(
            Part(
                name=name,
                stages=stages.sorted_rows(),
                steps=self._of_the_plan(steps.sorted_rows()),
                disagreements=tuple(real.found),
                moved=(*stages.moved.values(), *steps.moved.values()),
                explained=stages.explained + steps.explained,
                compared=stages.compared + steps.compared,
            )
        )

    def _of_the_plan(self, rows: Sequence[FieldError]) -> tuple[FieldError, ...]:
        """Rows of steps, each under the slot that writes its field. Fields of stages that the model does without are
        left out where nothing is in them."""
        there = {slot.stage.name for slot in self._stages.slots}
        return tuple(
            attrs.evolve(row, slot=self._labels.get(row.field, row.slot))
            for row in rows
            if row.slot in there or row.error
        )

    def _has_rows(self, moments: Sequence[Moment]) -> bool:
        oracle = Oracle(MujocoFields(self.models[1]))
        for moment in moments:
            oracle.forward(moment.state)
            if int(oracle.data.nefc):
                return True
        return False

    def _named(self, moment: Moment, stages: Judged) -> tuple[str, str] | None:
        """The stage that shows by itself what is wrong with a step: beside MuJoCo, or beside the reference."""
        wrong = next((row for row in stages.sorted_rows() if not row.ok), None)
        together = {label for labels in self._stages.cut for label in labels}
        if wrong is not None and wrong.slot not in together:
            return wrong.slot, "the stage shows it by itself"
        traced = self._beside_reference(moment)
        if traced is None and wrong is not None:
            return wrong.slot, "the stage shows it, together with those of its kernel"
        return traced

    def _beside_reference(self, moment: Moment) -> tuple[str, str] | None:
        """The first stage that differs from the reference on the same inputs."""
        from dovetail.compare.runs import diff_runs

        spec = {
            "backend": self.settings.simulation()["backend"] or "auto",
            "config": self.settings.found.unlocked(),
        }
        if self.settings.precision is not None:
            spec["precision"] = self.settings.precision
        try:
            report = diff_runs(self.models[0], None, spec, start=moment.state, steps=1)
        except DovetailError as problem:
            return ("step", f"its stages could not be told apart: {problem}")
        first = report.first
        if first is None or not first.alone:
            return None
        return first.stage, first.how or "the stage shows it by itself, beside the reference"


@attrs.frozen
class _StageComparison:
    """Each stage by itself, in states of MuJoCo's."""

    stages: Stages
    fields: MujocoFields
    judged: Judged
    nworld: int | None

    def run(self, moments: Sequence[Moment]) -> None:
        size = self.nworld or 1
        oracles = [Oracle(self.fields, self.judged.precision) for _ in range(size)]
        for first in range(0, len(moments), size):
            self._compare([moments[(first + n) % len(moments)] for n in range(size)], oracles)

    def _compare(self, moments: Sequence[Moment], oracles: Sequence[Oracle]) -> None:
        """Put all worlds into states, and compare all that stages leave on the way."""
        _inject(self.stages.data, [moment.state for moment in moments])
        for moment, oracle in zip(moments, oracles, strict=True):
            oracle.forward(moment.state)
        good = [not _exploded(oracle.data) for oracle in oracles]
        if not any(good):
            return
        last = last_writers(self.stages.slots)
        for written in self.stages.run():
            if written.integrates:
                for moment, oracle in zip(moments, oracles, strict=True):
                    oracle.step(moment.state)
            for slot, spec in finished(written, last):
                if not self.fields.has(spec.name, matrices=not written.reference):
                    continue
                for world, oracle in enumerate(oracles):
                    if not good[world]:
                        continue
                    number = None if self.nworld is None else world
                    self.judged.oracle, self.judged.moment = oracle, moments[world].where
                    get, matrices = written.of_world(number), not written.reference
                    pair = self.fields.pair(spec, get, oracle.data, matrices=matrices)
                    self.judged.compared += 1
                    self.judged.add(slot.label, spec, *pair, reference=written.reference, world=number)


def _inject(data: Data, states: Sequence[Mapping[str, Array]]) -> None:
    for name in STATE:
        if name in data and name in states[0]:
            values = np.stack([state[name] for state in states]) if data.nworld else states[0][name]
            data.field(name)[...] = np.reshape(values, np.shape(data.field(name)))


def _exploded(oracle: Any) -> bool:
    """Whether MuJoCo itself would give this world up: its numbers say nothing any more."""
    state = (np.asarray(value) for value in (oracle.qpos, oracle.qvel, oracle.qacc))
    return not all((np.abs(value) <= MAXVAL).all() for value in state)


def _block(labels: Sequence[str]) -> str:
    return " + ".join(labels) if len(labels) < 3 else f"{labels[0]} … {labels[-1]}"


def _converge(ours: Model, theirs: Any, tolerance: float) -> None:
    """Let both solve as far as asked, and MuJoCo store its constraint Jacobian as dovetail does."""
    for model in (ours, theirs):
        model.opt.jacobian = int(Jacobian.SPARSE)
        model.opt.tolerance = tolerance
        model.opt.iterations = max(int(model.opt.iterations), SOLVER_ITERATIONS)


def set_flags(ours: Model, theirs: Any, disable: Sequence[str], enable: Sequence[str]) -> None:
    for names, bits, option in ((disable, DisableBit, "disableflags"), (enable, EnableBit, "enableflags")):
        mask = _mask(names, bits, option)
        for model in (ours, theirs):
            setattr(model.opt, option, int(getattr(model.opt, option)) | mask)


def _mask(names: Sequence[str], bits: type[Flag], option: str) -> int:
    known = {bit.keyword: int(bit) for bit in bits}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise ValidationError(
            option, [f"unknown flag {n!r}{nearest(n, known)} Flags: {listing(known)}" for n in unknown]
        )
    return sum(known[n] for n in set(names))
