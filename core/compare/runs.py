"""Two runs side by side: where do they first part, and why?

    report = diff_runs("humanoid", "numpy", "mujoco", steps=200)
    print(report.table())

*Isolated*: A runs; before each of its stages B's stage gets a copy of A's data, so that every difference is that
stage's own and no echo of an earlier one. Where B is a kernel its whole step is compared, too. *Free*: both run on
their own from the same state (see `free_run`).
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.arguments import choice, whole
from dovetail.bad_states import MAXVAL
from dovetail.compare import run_models
from dovetail.compare.ab import median
from dovetail.compare.conform_report import COMPILE
from dovetail.compare.errors import Worst, compare_data
from dovetail.compare.evidence import why_nothing
from dovetail.compare.free_error import Remembering, first_wrong_step
from dovetail.compare.free_run import NEIGHBOURS, FreeRun, Runs, free_run, nudged
from dovetail.compare.inside import NOSLIP, SOLVER, Inside, blamed
from dovetail.compare.mujoco_fields import pipeline_order, writer_of
from dovetail.compare.oracle import load_both
from dovetail.compare.own_moves import cache_moves, moves_of_block, moves_of_step
from dovetail.compare.run_engines import MujocoRun, OwnRun, state_of
from dovetail.compare.run_mujoco import ECHOES, ONLY_WHOLE, WHOLE, MujocoBench
from dovetail.compare.run_report import DiffRunsReport, StageResult
from dovetail.compare.run_sides import Block, Side, blocks_of, common_specs, overlay, transfer
from dovetail.compare.run_specs import RunSpec, Source
from dovetail.compare.run_starts import AnyStart, begin_at, said_starts
from dovetail.compare.saved_run import Replayed, RunRecorder, SavedRun, given_fields, write_field
from dovetail.compare.solver_stop import SOLVERS, stopped_elsewhere
from dovetail.compare.timeline import Divergence, SlotHistory, Timeline, in_pipeline_order
from dovetail.contracts.enums import DisableBit, EnableBit, Jacobian
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import DATA_SPECS, STATE, Data, Model
from dovetail.errors import SelectionError

Mode = Literal["isolated", "free", "both"]
MODES = ("isolated", "free", "both")
HOW_IT_WENT = (
    *(
        "bvh_active",
        "contact.H",
        "efc_AR*",
        "nA",
        "solver.*",
        "solver_niter",
        "solver_nnz",
        "qH",
        "qHDiagInv",
    ),
)
"""Fields that tell how an algorithm went and not where it arrived: compared only between the same implementation."""
BEYOND_ROUNDING = 1e-12
"""Errors of a stage by itself beyond this are more than the order of sums."""
BROADPHASE, NARROWPHASE = "broadphase", "narrowphase"
LOST_PAIRS = (
    "pairs of geoms have no contact at all, others are right; their narrowphase may have lost them, too"
)
INSIDE = {("broadphase", "narrowphase"): ("ncandidate", "candidate_*", "contact_candidate")}
"""Fields that pass from one slot to another, and are not compared where both run as one kernel: what is near enough
to be looked at is the first one's affair, what touches is compared."""


def diff_runs(
    model: Source,
    a: RunSpec | Mapping[str, Any] | str | None = None,
    b: RunSpec | Mapping[str, Any] | str | None = None,
    *,
    mode: Mode = "isolated",
    steps: int = 100,
    nworld: int | None = None,
    seed: int = 0,
    start: AnyStart | Sequence[AnyStart] = "near",
    tolerance: float | None = None,
    save: str | Path | None = None,
) -> DiffRunsReport:
    """Compare two runs of a model: a file, a built-in model's name, MJCF text or a loaded Model.

    `a` and `b`: what runs (see `run_specs`); A is the authority. `start`: `near` the model's pose with random
    controls, at `rest` in it, `random`, a keyframe's name or number, the file of a saved state, or fields of a state;
    or several of these, which are run one after the other. `tolerance` replaces those of the fields. `save` records
    the results of A in a file that can be compared with later.
    """
    sides = RunSpec.of(a, "a"), RunSpec.of(b, "b")
    choice("mode", mode, MODES)
    whole("steps", steps, 1, "STEPS")
    whole("seed", seed, 0)
    return _Diff(model, *sides, steps, nworld, seed, said_starts(start), tolerance, save).report(mode)


@attrs.define(eq=False)
class _Diff:
    """One comparison, as it is asked for."""

    source: Source
    a: RunSpec
    b: RunSpec
    steps: int
    nworld: int | None
    seed: int
    starts: tuple[AnyStart, ...]
    tolerance: float | None
    save: str | Path | None
    notes: list[str] = attrs.field(factory=list)
    models: tuple[Model, Model] = attrs.field(init=False)
    theirs: Any = None
    """MuJoCo's model, if one side is MuJoCo."""
    timeline: Timeline = attrs.field(init=False)
    results: list[StageResult] = attrs.field(factory=list)
    unseen: list[str] = attrs.field(factory=list)
    times: list[float] = attrs.field(factory=list)
    contacts: list[int] = attrs.field(factory=list)
    energy: list[float] = attrs.field(factory=list)
    order: list[str] = attrs.field(factory=list)
    """Slots and blocks as they run."""

    def report(self, mode: str) -> DiffRunsReport:
        self._check()
        self._load()
        free: FreeRun | None = None
        if mode != "free":
            self._isolated()
        if mode != "isolated":
            free = self._free_from_all()
        model = self.models[0]
        self.results.sort(key=lambda stage: stage.stage != COMPILE)  # loading comes first
        order = {stage: n for n, stage in enumerate([*self.order, *(r.stage for r in self.results)])}
        order[COMPILE] = -1
        return DiffRunsReport(
            model=model.modelname or model.source,
            a=self.a.name,
            b=self.b.name,
            mode=mode,
            steps=self.steps,
            worlds=self.nworld or 1,
            precision=self.timeline.precision,
            rows=self.timeline.sorted_rows(),
            divergences=tuple(in_pipeline_order(self.timeline.found, order, self._names_of_starts())),
            stages=tuple(self.results),
            unseen=tuple(self.unseen),
            times=tuple(self.times),
            contacts=tuple(self.contacts),
            energy=tuple(self.energy),
            free=free,
            notes=tuple(self.notes),
            starts=tuple(map(name_of, self.starts)),
        )

    def _names_of_starts(self) -> list[str]:
        """As divergences name them: only where there are several."""
        return [name_of(start) for start in self.starts] if len(self.starts) > 1 else [""]

    # ---- models

    def _check(self) -> None:
        kinds = [self.a.kind, self.b.kind]
        if kinds.count("plan") == 0:
            raise SelectionError(
                f"a = {self.a.name} and b = {self.b.name}: one of them must be a plan of dovetail's; MuJoCo and "
                "saved runs are what a plan is compared with"
            )
        if self.save is not None and (self.a.kind != "plan" or "mujoco" in kinds or "saved" in kinds):
            raise SelectionError("save records the results of A, and both sides must be plans for that")
        if self.save is not None and len(self.starts) > 1:
            raise SelectionError("save records one run: give one start")

    def _load(self) -> None:
        if "mujoco" in (self.a.kind, self.b.kind):
            plan = self.a if self.b.kind == "mujoco" else self.b
            given = self.source if plan.model is None else plan.model
            ours, self.theirs = load_both(given)
            if plan.stages and not isinstance(given, Model):
                ours = plan.load(given)
            self.theirs.opt.jacobian = int(Jacobian.SPARSE)
            self.theirs.opt.enableflags |= int(EnableBit.ENERGY)
            self.theirs.opt.disableflags |= int(DisableBit.AUTORESET)
            own = _observed(ours)
            own.opt.disableflags = int(own.opt.disableflags) | int(DisableBit.AUTORESET)
            own.opt.jacobian = int(Jacobian.SPARSE)
            self.models = (own, own)
        else:
            common = not any(side.model is not None or _loads(side, self.source) for side in (self.a, self.b))
            first = _observed(self.a.load(self.source))
            self.models = (first, first if common else _observed(self.b.load(self.source)))
        self._make_timeline()
        if self.theirs is not None:
            run_models.against_mujoco(self.models[0], self.theirs, self.timeline)
        elif self.models[0] is not self.models[1]:
            run_models.model_differences(*self.models, self.timeline)

    def _make_timeline(self) -> None:
        precisions = {spec.precision for spec in (self.a, self.b)}
        self.timeline = Timeline(
            self.models[0], "f32" if "f32" in precisions else "f64", tolerance=self.tolerance
        )
        self.timeline.single = self.a.precision == "f32"
        self.timeline.flipped = self.b.kind != "plan"

    # ---- isolated

    def _isolated(self) -> None:
        if self.theirs is not None:
            self._beside_mujoco()
            return
        sizes = run_models.different_sizes(*self.models)
        if sizes:
            self.notes.append(
                f"the models have other sizes ({'; '.join(sizes[:3])}), so only they were compared"
            )
            return
        lockstep = _Lockstep.of(self)
        for start in self.starts:
            lockstep.begin(start)
            lockstep.run()
            if isinstance(lockstep.driver, SavedRun):
                break  # it has a start of its own
        self.order = [label for labels in lockstep.blocks for label in (*labels, block_name(labels))]
        self.results += lockstep.stage_results()
        self.unseen += lockstep.unseen()
        self.notes += lockstep.notes

    def _beside_mujoco(self) -> None:
        plan = self.a if self.b.kind == "mujoco" else self.b
        bench = MujocoBench(
            plan,
            self.models[0],
            self.theirs,
            self.nworld,
            self.timeline,
            mujoco_drives=self.a.kind == "mujoco",
        )
        for start in self.starts:
            self._turn_to(start)
            begin_at(bench.data, start, self.seed)
            bench.begin()
            now = 0.0
            for step in range(self.steps):
                self.timeline.at(step, now)
                self.times.append(now)
                bench.step()
                now += float(self.models[0].opt.timestep)
                self.contacts.append(bench.contacts())
                self.energy.append(bench.energy())
        self.notes.append(ECHOES)
        names = {slot.label: slot.record.label for slot in bench.plan.slots}
        for slot, history in self.timeline.slots.items():
            pair = [names.get(slot, ""), "MuJoCo"]
            pair = pair if self.a.kind == "plan" else pair[::-1]
            self.results.append(_result(slot, history, pair[0], pair[1]))
        places = {slot.label: n for n, slot in enumerate(bench.plan.slots)}
        self.results.sort(
            key=lambda result: len(places) if result.stage == WHOLE else places.get(result.stage, -1)
        )

    def _turn_to(self, start: AnyStart) -> None:
        """Go on to the run from a start."""
        timeline = self.timeline
        timeline.offset = len(self.times)
        timeline.start = name_of(start) if len(self.starts) > 1 else ""
        timeline.same_lost = isinstance(start, Mapping) and not all(
            np.isfinite(np.asarray(value, np.float64)).all() for value in start.values()
        )

    # ---- free

    def _free_from_all(self) -> FreeRun | None:
        """From every start; of several runs the worst, the others in words."""
        runs = [run for run in map(self._free, self.starts) if run is not None]
        if len(runs) > 1:
            self.notes += [
                f"from {name_of(start)}, {run.sentence()}"
                for start, run in zip(self.starts, runs, strict=True)
            ]
        ranks = {"error": 0, "chaos": 1, "same": 2}
        return min(runs, key=lambda run: ranks[run.verdict], default=None)

    def _free(self, start: AnyStart) -> FreeRun | None:
        if "saved" in (self.a.kind, self.b.kind):
            self.notes.append("a saved run cannot run freely; it is compared stage by stage only")
            return None
        first, second = self.models
        names = ("nq", "nv", "nu", "na", "nmocap")
        if any(first.sizes[n] != second.sizes[n] for n in names):
            self.notes.append("the models have other states, so they cannot run beside each other")
            return None
        begun = OwnRun(RunSpec(text="reference"), first, self.nworld).sim.data
        begin_at(begun, start, self.seed)
        state = state_of(begun, [name for name in given_fields(begun) if name in STATE])
        b = Remembering(self._engine(self.b, second))
        rng = np.random.default_rng(self.seed + 7)
        b.begin(nudged(state, first, rng, b.precision, self.b.nudge) if self.b.nudge else state)
        neighbours = [self._engine(self.a, first) for _ in range(NEIGHBOURS)]
        run = free_run(
            self._engine(self.a, first), b, neighbours, state, self.steps, model=first, seed=self.seed
        )
        return attrs.evolve(run, cause=self._cause(b, run)) if run.first_error is not None else run

    def _cause(self, b: Remembering, run: FreeRun) -> str:
        """The first step of B that A does not take from the same state, its stage and field, in words."""
        if self.b.nudge:
            return ""
        engine = self._engine(self.a, self.models[0])
        wrong = first_wrong_step(engine, b, run.first_error or 0, self.models[0], self.seed)
        if wrong is None:
            return "every step of B is what A does from the same state; only their sum is farther apart"
        step, field = wrong
        begun = f"step {step} is the first that A does not take from the same state ({field} differs)"
        alone = self._alone(b.states[step])
        if alone is None:
            return f"{begun}; NO STAGE SHOWS IT BY ITSELF: it is what B keeps between steps, or passes in its kernel"
        return f"{begun}; by itself, stage {alone.stage} differs first, in {alone.field} (error {alone.error:.1e})"

    def _alone(self, state: Mapping[str, Any]) -> Divergence | None:
        """The first stage that differs by itself in a state, or the one whose error is beyond rounding."""
        single = {name: value[0] for name, value in state.items()}
        sides = (attrs.evolve(self.a, nudge=0), attrs.evolve(self.b, nudge=0))
        report = diff_runs(self.source, *sides, steps=1, start=single)
        if report.first is not None:
            return report.first if report.first.alone else None
        worst = [stage.worst for stage in report.stages if stage.worst is not None and stage.stage != WHOLE]
        return next((one for one in worst if one.error > BEYOND_ROUNDING), None)

    def _engine(self, spec: RunSpec, model: Model) -> Runs:
        if spec.kind == "mujoco":
            return MujocoRun(self.theirs, self.nworld)
        return OwnRun(spec, model, self.nworld)


def _observed(model: Model) -> Model:
    """A copy in which energy is computed."""
    copy = model.copy()
    copy.opt.enableflags = int(copy.opt.enableflags) | int(EnableBit.ENERGY)
    return copy


def _loads(spec: RunSpec, source: Source) -> bool:
    """Whether a side says something about loading, which a loaded Model has behind it but for choices of stages."""
    from dovetail.planning.loading_selection import for_loading

    return bool(for_loading(spec.stages)) or (spec.config is not None and not isinstance(source, Model))


# ---- lock-step of two plans, or of a plan and a saved run


AnyBlock = Block | Replayed


@attrs.define(eq=False)
class _Lockstep:
    """A drives; B gets A's inputs block by block."""

    diff: _Diff
    driver: Side | SavedRun
    other: Side
    blocks: list[tuple[str, ...]]
    pairs: list[tuple[AnyBlock | None, Block | None]]
    extra: dict[str, FieldSpec]
    data: Data
    """What A has computed so far."""
    copy: Data
    """B's copy of it."""
    own: Data | None
    """A's own copy, where the reference must fill what A's kernels keep to themselves."""
    filling: list[Block | None]
    steps: int
    hybrid: Side | None = None
    """A with B's integrator, where it takes another number of evaluations."""
    clears: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    """By label: sums to clear before the block."""
    seconds: dict[int, tuple[list[float], list[float]]] = attrs.field(factory=dict)
    notes: list[str] = attrs.field(factory=list)
    recorder: RunRecorder | None = None
    given: Data | None = None
    """What A had computed before the present block, where a kernel's stages may have to be told apart."""
    real: Data | None = None
    """The Data of B's own steps: one for the whole run, as users have it."""

    @classmethod
    def of(cls, diff: _Diff) -> _Lockstep:
        driver, other = _sides(diff)
        cleared = {}
        if isinstance(driver, Side):
            cleared = _mark(driver, other)
        blocks = blocks_of(driver, other)
        extra = {**(driver.extra() if isinstance(driver, Side) else {}), **other.extra()}
        pairs = [(driver.block(labels), other.block(labels)) for labels in blocks]
        notes: list[str] = []
        hybrid = None
        if driver.evaluations != other.evaluations:
            hybrid = _hybrid(driver, other, diff.nworld)
            notes.append(
                f"A's integrator takes {driver.evaluations} evaluation(s) a step and B's {other.evaluations}: "
                "integrators are compared by the state after the step, other stages at its first evaluation"
            )
        data = (driver if isinstance(driver, Side) else other).make_data(extra)
        kernels = isinstance(driver, Side) and not driver.in_place
        filling: list[Block | None] = [None] * len(blocks)
        if kernels and isinstance(driver, Side):
            filling = _filling(driver, blocks)
        return cls(
            diff=diff,
            driver=driver,
            other=other,
            blocks=blocks,
            pairs=pairs,
            extra=extra,
            data=data,
            copy=other.make_data(extra),
            own=driver.make_data(extra) if kernels and isinstance(driver, Side) else None,
            filling=filling,
            steps=diff.steps,
            hybrid=hybrid,
            notes=notes,
            clears=_clears(blocks, cleared),
        )

    def begin(self, start: AnyStart) -> None:
        """Go to the beginning of a run."""
        diff, driver = self.diff, self.driver
        diff._turn_to(start)
        if isinstance(driver, SavedRun):
            for name, value in driver.start.items():
                write_field(self.data, name, value)
            if driver.steps < self.steps:
                self.notes.append(f"{driver.path} has {driver.steps} steps, so only these were compared")
                self.steps = diff.steps = driver.steps
            return
        begin_at(self.data, start, diff.seed)
        if diff.save is not None:
            self.recorder = RunRecorder(
                model=driver.model,
                start={name: np.array(self.data.field(name)) for name in given_fields(self.data)},
                nworld=diff.nworld,
                precision=driver.plan.precision,
                evaluations=driver.evaluations,
                implementations=driver.plan.implementations,
                blocks=self.blocks,
            )

    # ---- running

    def run(self) -> None:
        for step in range(self.steps):
            self._step(step)
        if self.recorder is not None and self.diff.save is not None:
            self.recorder.save(self.diff.save, self.steps)
            self.notes.append(f"the results of A are in {self.diff.save}")

    def _step(self, step: int) -> None:
        timeline = self.diff.timeline
        timeline.at(step, float(np.asarray(self.data.field("time")).flat[0]))
        self.diff.times.append(timeline.time)
        before = timeline.beyond
        if isinstance(self.driver, SavedRun):
            self.driver.step = step
        started = self._whole_step_of_b()
        for evaluation in range(self.driver.evaluations):
            timeline.evaluation = evaluation
            for number in range(len(self.blocks)):
                self._block(number, evaluation, step)
            if evaluation == 0:
                self._observe()
        timeline.evaluation = 0
        if started is not None and timeline.beyond == before and self._is_sound():
            self._compare_whole(*started)

    def _is_sound(self) -> bool:
        """Whether A's numbers say something: who takes whole steps begins a bad state anew."""
        state = (np.asarray(self.data.field(name)) for name in ("qpos", "qvel", "qacc"))
        return all(bool((np.abs(value) <= MAXVAL).all()) for value in state)

    def _observe(self) -> None:
        self.diff.contacts.append(int(np.sum(self.data.field("ncon"))))
        self.diff.energy.append(float(np.asarray(self.data.field("energy")).reshape(-1, 2)[0].sum()))

    def _block(self, number: int, evaluation: int, step: int) -> None:
        first, second = self.pairs[number]
        for field in self.clears.get(self.blocks[number][0], ()):
            self.data.field(field)[...] = 0
        compared = self._is_compared(number, evaluation)
        own = taken = 0.0
        if compared:
            transfer(self.copy, self.data)
            self._remember_given()
        for who in ("second", "first") if step % 2 else ("first", "second"):  # so that both meet warm memory
            if who == "first":
                own = self._run_driver(number, first, evaluation)
            elif compared and second is not None:
                clock = time.perf_counter()
                second.run(self.copy, evaluation)
                taken = time.perf_counter() - clock
        if compared:
            if step:  # the first step warms up
                mine, theirs = self.seconds.setdefault(number, ([], []))
                mine.append(own)
                theirs.append(taken)
            self._compare(number, first, second, evaluation)
        if self.recorder is not None and isinstance(first, Block):
            self.recorder.keep(number, evaluation, first, self.data)

    def _run_driver(self, number: int, block: AnyBlock | None, evaluation: int) -> float:
        """Run A's block; where it is a kernel, with the reference for what it keeps to itself."""
        if block is None:
            return 0.0
        fill = self.filling[number]
        if fill is None or self.own is None:
            clock = time.perf_counter()
            block.run(self.data, evaluation)
            return time.perf_counter() - clock
        transfer(self.own, self.data)
        clock = time.perf_counter()
        block.run(self.own, evaluation)
        taken = time.perf_counter() - clock
        fill.run(self.data, evaluation)
        overlay(self.data, self.own, sorted(name for name in block.leaves if name in self.data))
        return taken

    def _is_compared(self, number: int, evaluation: int) -> bool:
        first, second = self.pairs[number]
        if self.driver.evaluations == self.other.evaluations:
            return True
        slots = () if second is None else second.slots
        if any(block is not None and block.integrates for block in (first, second)):
            return False
        return evaluation == 0 and not any(slot.when == "last" for slot in slots)

    # ---- comparing

    def _compare(self, number: int, first: AnyBlock | None, second: Block | None, evaluation: int) -> None:
        timeline, labels = self.diff.timeline, self.blocks[number]
        timeline.slots.setdefault(block_name(labels), SlotHistory())
        specs = [
            spec for spec in common_specs(first, second, self.extra) if self._is_comparable(spec, labels)
        ]
        reference = all(block is None or block.is_reference for block in (first, second))
        timeline.excusing = self._stops_elsewhere(labels)
        timeline.contacts = self.data
        ours, theirs = (self.data, self.copy) if timeline.flipped else (self.copy, self.data)
        before = len(timeline.found)
        timeline.moves = self._moves(number, first, evaluation)
        compare_data(timeline, block_name(labels), specs, ours, theirs, reference=reference)
        timeline.excusing, timeline.moves = False, None
        if len(labels) > 1 and len(timeline.found) > before:
            self._name_stages(before, number, evaluation)

    # ---- what rounding does

    def _remember_given(self) -> None:
        if self.given is None:
            self.given = (self.driver if isinstance(self.driver, Side) else self.other).make_data(self.extra)
        transfer(self.given, self.data)

    def _moves(self, number: int, block: AnyBlock | None, evaluation: int) -> Callable[[str], float] | None:
        """How far what A's block leaves moves when its inputs are nudged; found out when somebody asks."""
        driver, given = self.driver, self.given
        if not isinstance(driver, Side) or not isinstance(block, Block) or given is None:
            return None
        if self.diff.tolerance is not None or self.diff.timeline.single:
            return None
        clears = self.clears.get(self.blocks[number][0], ())
        return cache_moves(
            lambda: moves_of_block(block, given, driver.make_data(self.extra), evaluation, clears)
        )

    # ---- which stage of a block

    def _name_stages(self, before: int, number: int, evaluation: int) -> None:
        """Give what was found in a block to the stages that write the fields, in their order. What only forces show
        is traced to the rows or to the solver."""
        timeline, labels = self.diff.timeline, self.blocks[number]
        new = {one.field: one for one in timeline.found[before:]}
        ordered = [new[name] for name in pipeline_order(new)]
        stages = [self._slot_of(one.field, labels) for one in ordered]
        how = ""
        if stages[0] == NARROWPHASE and BROADPHASE in labels and self._lacks_pairs():
            stages, how = [BROADPHASE] * len(stages), LOST_PAIRS
        if stages[0] in (SOLVER, NOSLIP):
            traced = self._traced(number, evaluation)
            if traced is not None:
                stage, how = traced
                stages = [stage if one in (SOLVER, NOSLIP) else one for one in stages]
        timeline.found[before:] = [
            attrs.evolve(one, stage=stage, how=how if stage == stages[0] else "")
            for one, stage in zip(ordered, stages, strict=True)
        ]
        history = timeline.slots[block_name(labels)]
        if history.first is not None and history.first.step == timeline.step:
            history.first = timeline.found[before]

    def _lacks_pairs(self) -> bool:
        """Whether B has no contact of some pairs of geoms that touch in A, and has A's contacts of all others."""
        lost = False
        for one, other in zip(self.data.worlds(), self.copy.worlds(), strict=True):
            contacts = [Counter(_contacts(world)) for world in (one, other)]
            extra, missing = contacts[1] - contacts[0], contacts[0] - contacts[1]
            touching = {geoms for geoms, _ in contacts[1]}
            if extra or any(geoms in touching for geoms, _ in missing):
                return False
            lost = lost or bool(missing)
        return lost

    def _slot_of(self, field: str, labels: tuple[str, ...]) -> str:
        """The slot of a block after which a field has its final value."""
        slots = self.other.slots
        writers = [label for label in labels if label in slots and field in slots[label].in_data]
        stage = writer_of(field)
        own = [label for label in writers if label.partition(":")[0] == stage]
        return (own or writers or [stage])[-1]

    def _traced(self, number: int, evaluation: int) -> tuple[str, str] | None:
        """The stage of a kernel that forces of constraints are due to."""
        first, second = self.pairs[number]
        if not isinstance(self.driver, Side) or not isinstance(first, Block) or second is None:
            return None
        if self.given is None or self.driver.model is not self.other.model:
            return None
        copies = self.driver.make_data(self.extra), self.other.make_data(self.extra)
        clears = self.clears.get(self.blocks[number][0], ())
        inside = Inside(self.other.model, first, second, self.given, copies, evaluation, clears)
        return blamed(lambda: inside.stage(self.blocks[number]))

    def _is_comparable(self, spec: FieldSpec, labels: tuple[str, ...]) -> bool:
        same = all(self.driver.label(label) == self.other.label(label) for label in labels)
        inside = [p for slots, patterns in INSIDE.items() if set(slots) <= set(labels) for p in patterns]
        return same or not any(fnmatchcase(spec.name, pattern) for pattern in (*HOW_IT_WENT, *inside))

    def _stops_elsewhere(self, labels: tuple[str, ...]) -> bool:
        """Whether the block is two different solvers that arrive at the same place as far as their tolerance goes."""
        solvers = [label for label in labels if label in SOLVERS]
        names = [[side.label(s).partition("@")[0] for s in solvers] for side in (self.driver, self.other)]
        if not solvers or names[0] == names[1]:
            return False
        return stopped_elsewhere(self.other.model, self.data, self.copy)

    # ---- whole steps

    def _whole_step_of_b(self) -> tuple[str, Data, dict[str, Any]] | None:
        """B's step as one, from A's state: of a kernel, or of an integrator that A cannot follow call by call."""
        side = self.hybrid or (None if self.other.in_place else self.other)
        if side is None or self.diff.timeline.same_lost:
            return None
        if self.real is None:
            self.real = side.plan.make_data()
        given = {
            name: np.array(self.data.field(name)) for name in given_fields(self.real) if name in self.data
        }
        self._take_step(side, self.real, given)
        return ("integrate" if self.hybrid else WHOLE), self.real, given

    def _take_step(self, side: Side, data: Data, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            data.field(name)[...] = value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # bad states, and what touches by its last bit
            side.plan.step(data)

    def _compare_whole(self, label: str, data: Data, given: Mapping[str, Any]) -> None:
        """All that B's step leaves, of a hybrid the state. What differs here, and in no stage by itself, is told
        under the stage that writes it."""
        timeline = self.diff.timeline
        specs = [self.data.specs[name] for name in pipeline_order(self._left_by_steps(data, label))]
        ours, theirs = (self.data, data) if timeline.flipped else (data, self.data)
        before = len(timeline.found)
        timeline.excusing = label == WHOLE and self._solvers_stop_elsewhere(data)
        driver = self.driver
        if label == WHOLE and isinstance(driver, Side) and self.diff.tolerance is None:
            timeline.moves = cache_moves(lambda: moves_of_step(driver.plan, driver.model, given))
        compare_data(timeline, label, specs, ours, theirs, reference=self.hybrid is not None)
        timeline.excusing, timeline.moves = False, None
        if label != WHOLE or len(timeline.found) == before:
            return
        first = timeline.found[before]
        how = ONLY_WHOLE
        if self._new_one_is_right(first.field, given):
            how += "; a new Simulation of B gives A's number, so B's step depends on the steps before it"
        timeline.found[before:] = [
            attrs.evolve(one, stage=writer_of(one.field), alone=False, how=how)
            for one in timeline.found[before:]
        ]

    def _left_by_steps(self, data: Data, label: str) -> list[str]:
        """The fields to compare after a whole step."""
        slots = list((self.hybrid or self.other).slots.values())
        if label != WHOLE:
            moved = {name for slot in slots if slot.integrates for name in slot.leaves}
            return sorted(name for name in moved & set(STATE) if name in data and name in self.data)
        leaves = frozenset[str]().union(*(slot.in_data for slot in slots))
        own = frozenset[str]().union(*(block.leaves for block, _ in self.pairs if block is not None))
        late = () if self.other.plan.replay is None else self.other.plan.replay.fields
        names = (leaves & own & DATA_SPECS.keys()).difference(late)
        apart = (*HOW_IT_WENT, *(pattern for patterns in INSIDE.values() for pattern in patterns))
        return [
            name
            for name in names
            if name in data and name in self.data and not any(fnmatchcase(name, one) for one in apart)
        ]

    def _solvers_stop_elsewhere(self, data: Data) -> bool:
        names = {side.label(SOLVER).partition("@")[0] for side in (self.driver, self.other)}
        needed = all(name in data for name in ("qacc", "qfrc_constraint", "efc_force"))
        return len(names) > 1 and needed and stopped_elsewhere(self.other.model, self.data, data)

    def _new_one_is_right(self, field: str, given: Mapping[str, Any]) -> bool:
        """Whether B's step from the same state, as the first of a new Simulation, leaves A's number."""
        spec = attrs.evolve(self.other.spec)
        side = Side.of(spec, self.other.model, self.diff.nworld)
        data = side.plan.make_data()
        self._take_step(side, data, given)
        worst = Worst(self.other.model, self.diff.timeline.precision, tolerance=self.diff.tolerance)
        compare_data(worst, WHOLE, [self.data.specs[field]], data, self.data, reference=False)
        return all(row.ok for row in worst.sorted_rows())

    # ---- telling

    def stage_results(self) -> Iterator[StageResult]:
        timeline, told = self.diff.timeline, set()
        for number, labels in enumerate(self.blocks):
            name = block_name(labels)
            told.add(name)
            history = timeline.slots.get(name, SlotHistory())
            times = [median(values) for values in self.seconds.get(number, ([], []))]
            pair = [
                " + ".join(dict.fromkeys(filter(None, (side.label(label) for label in labels))))
                for side in (self.driver, self.other)
            ]
            if timeline.flipped:
                pair, times = pair[::-1], times[::-1]
            yield _result(name, history, pair[0], pair[1], times[0], times[1])
        for name, history in timeline.slots.items():
            if name not in told:
                yield _result(name, history, self.driver.label(name), self.other.label(name))

    def unseen(self) -> Iterator[str]:
        """Choices that differ, and that nothing put to the test."""
        timeline, driver = self.diff.timeline, self.driver
        for labels in self.blocks:
            name = block_name(labels)
            history = timeline.slots.get(name, SlotHistory())
            differing = [label for label in labels if driver.label(label) != self.other.label(label)]
            integrates = "integrate" in labels and self.hybrid is not None
            if differing and not history.compared and not integrates and self._writes(labels):
                yield f"{', '.join(differing)}: {why_nothing(differing[0])}"
        for slot in sorted(self.other.counts):
            where = dispatcher_of(slot)
            if not self._was_used(slot, where):
                yield f"{slot} in {where}: {why_nothing(where)}"

    def _writes(self, labels: tuple[str, ...]) -> bool:
        return any(label in self.other.slots and self.other.slots[label].leaves for label in labels)

    def _was_used(self, slot: str, where: str) -> bool:
        """Whether a part was called; in a kernel, whether its stage had something to do."""
        if where in self.other.slots and self.other.label(where).endswith("@numpy"):
            return bool(self.other.calls.get(slot))
        name = next((block_name(labels) for labels in self.blocks if where in labels), "")
        history = self.diff.timeline.slots.get(name)
        return history is not None and history.compared > 0


def _sides(diff: _Diff) -> tuple[Side | SavedRun, Side]:
    """Who drives, and who gets its inputs. A saved run always drives: it cannot take inputs."""
    specs, models = (diff.a, diff.b), diff.models
    saved = [n for n, spec in enumerate(specs) if spec.kind == "saved"]
    if not saved:
        return Side.of(specs[0], models[0], diff.nworld), Side.of(specs[1], models[1], diff.nworld)
    spec = specs[saved[0]]
    run = SavedRun.read(str(spec.saved), models[0])
    if diff.nworld != run.nworld:
        diff.notes.append(f"{run.path} has {run.nworld or 1} world(s), so as many were compared")
        diff.nworld = run.nworld
    if run.precision == "f32":
        diff.timeline.precision = "f32"
    return run, Side.of(specs[1 - saved[0]], models[1 - saved[0]], diff.nworld)


def _mark(a: Side, b: Side) -> dict[str, tuple[str, ...]]:
    """Let both count the calls of parts that they choose differently, and leave sums of tables whose rows differ to
    be cleared here; these, by stage."""
    slots = {
        label: (a.plan.choices.get(label), b.plan.choices.get(label))
        for label in {*a.plan.choices, *b.plan.choices}
    }
    for label, (one, two) in slots.items():
        stage = pipeline.STAGES.get(label.partition("#")[0].partition(":")[0])
        part = stage is not None and stage.part_of is not None
        if part and two is not None and (one is None or one.record != two.record):
            b.counts.add(label)
    rows = a.rows(), b.rows()
    cleared = {
        stage: sums
        for stage, sums in {**b.sums(), **a.sums()}.items()
        if rows[0].get(stage) != rows[1].get(stage)
    }
    a.cleared = b.cleared = frozenset(cleared)
    return cleared


def _clears(
    blocks: list[tuple[str, ...]], cleared: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """By the first label of a table's first block: what to clear before it."""
    found: dict[str, tuple[str, ...]] = {}
    for stage, sums in cleared.items():
        first = next((b[0] for b in blocks if any(label.partition(":")[0] == stage for label in b)), None)
        if first is not None:
            found[first] = found.get(first, ()) + sums
    return found


def _hybrid(driver: Side | SavedRun, other: Side, nworld: int | None) -> Side:
    """A with B's integrator; of a saved run nothing is left to run, so B itself."""
    if not isinstance(driver, Side):
        return other
    integrate = other.spec.stages.get("integrate", other.plan.choices["integrate"].record.label)
    spec = attrs.evolve(driver.spec, stages={**driver.spec.stages, "integrate": integrate})
    return Side.of(spec, driver.model, nworld)


def _filling(driver: Side, blocks: list[tuple[str, ...]]) -> list[Block | None]:
    """For blocks of kernels, the reference's, which leaves in Data what kernels keep to themselves."""
    reference = Side.reference_for(driver)
    found: list[Block | None] = []
    for labels in blocks:
        own = driver.block(labels)
        needed = own is not None and not own.is_reference
        found.append(reference.block(labels) if needed else None)
    return found


def _result(
    slot: str, history: SlotHistory, a: str, b: str, time_a: float = np.nan, time_b: float = np.nan
) -> StageResult:
    return StageResult(
        stage=slot,
        a=a,
        b=b,
        errors=tuple(sorted(history.errors.items())),
        worst=history.worst,
        first=history.first,
        compared=history.compared,
        stopped_elsewhere=len(history.excused),
        moved=len(history.moved),
        microseconds_a=1e6 * time_a,
        microseconds_b=1e6 * time_b,
    )


def _contacts(world: Data) -> list[tuple[tuple[int, ...], float]]:
    """The geoms and, roughly, the distance of each contact."""
    count = int(world.field("ncon"))
    geoms = np.asarray(world.field("contact.geom"))[:count].tolist()
    dist = np.asarray(world.field("contact.dist"))[:count].tolist()
    return [(tuple(pair), float(f"{value:.6e}")) for pair, value in zip(geoms, dist, strict=True)]


def name_of(start: AnyStart) -> str:
    """A start in a report."""
    return "a given state" if isinstance(start, Mapping) else str(start)


def block_name(labels: tuple[str, ...]) -> str:
    """A block's name in reports: its slot, or those from the first to the last."""
    return " + ".join(labels) if len(labels) < 3 else f"{labels[0]} … {labels[-1]}"


def dispatcher_of(slot: str) -> str:
    """The stage of the step in which a part runs."""
    name = slot.partition(":")[0]
    while (owner := pipeline.stage(name).part_of) is not None:
        name = owner
    return name
