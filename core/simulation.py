"""The front door: stepping models, and the Simulation object that holds model, plan and data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dovetail.arguments import choice, instance, texts_by_name, whole, words
from dovetail.backend import REFERENCE, Wrapper, checked_wrappers
from dovetail.config import Config
from dovetail.contracts.arena import DEFAULT_MAX_BYTES
from dovetail.contracts.choices import (
    ARCHS,
    ON_MISSING,
    RUNTIMES,
    Arch,
    Backend,
    Keep,
    OnMissing,
    OnNan,
    Precision,
    Runtime,
)
from dovetail.contracts.derive import chosen_worlds, reset
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.errors import PerWorldError
from dovetail.loading import MODELS, builtin_models, finalizer, load, loads, set_constants
from dovetail.planning.execution import Ready
from dovetail.planning.loading_selection import for_loading, for_running, over_configuration
from dovetail.planning.per_world import PerWorld, WorldModel, set_world_constants
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.questions import checked
from dovetail.registry import default_registry

if TYPE_CHECKING:
    from dovetail.lock import StageLock

__all__ = [
    "MODELS",
    "Simulation",
    "builtin_models",
    "finalizer",
    "forward",
    "full_mass_matrix",
    "load",
    "loads",
    "plan_for",
    "set_constants",
    "step",
]


def plan_for(model: Model, data: Data, backend: str | None = None) -> Plan:
    """The plan that configuration files and environment give for a Data of one's own making, remembered; on a
    backend, if one is named."""
    instance("model", model, Model, "a dovetail.Model")
    instance("data", data, Data, "a dovetail.Data")
    known: dict[object, list[Plan]] = model.__dict__.setdefault("_plans", {})
    plans = known.setdefault((data.nworld, data.precision, data.arena.lanes, backend), [])
    for plan in plans:
        if plan.is_current and plan.fits(data):
            return plan
    # Fields of implementations' own come with the implementations that the plan chooses.
    kept = tuple(name for name in data.arena.layout.places if name not in data.extra)
    call = Config.of_call(backend=backend, precision=data.precision, lanes=data.arena.lanes, keep=kept)
    config = over_configuration(call)
    allowed = config if backend is None else config.unlocked()
    plans.append(compile_plan(model, allowed, nworld=data.nworld))
    return plans[-1]


def reference_plan_for(model: Model, data: Data) -> Plan:
    """The same on the reference, whatever configuration says."""
    return plan_for(model, data, REFERENCE)


def forward(model: Model, data: Data) -> None:
    """Compute everything that follows from the state, without moving it (mj_forward)."""
    plan_for(model, data).forward(data)


def step(model: Model, data: Data, nstep: int = 1) -> None:
    """Advance the state by `nstep` steps (mj_step)."""
    ready: Ready | None = data.__dict__.get("_ready") if isinstance(data, Data) else None
    if ready is not None and ready.plan.model is model and ready.step(data, nstep):
        return
    plan = plan_for(model, data)
    plan.step(data, nstep)
    data.__dict__["_ready"] = plan.execution.ready(
        data
    )  # of a Data of one's own making, as long as that lives


class Simulation:
    """A model with a plan and the data it works on.

    What is given here overrides the configuration file and the environment.

    - `nworld`: how many worlds; None for one, in MuJoCo's shapes.
    - `backend`, `precision`, `threads`, `lanes`: where and how stages run; `runtime` and `arch` are Taichi's.
    - `stages`: choices by slot, `{"integrate": "rk4@numpy"}`, or functions of your own,
      `{"passive_force:wind": blow}`. Stages of loading are for a Simulation that loads its model from a file itself.
    - `keep`: fields to read after a step; `"state"`, `"all"` or names.
    - `on_nan`: what becomes of a world whose numbers go bad: `"reset"` (MuJoCo's way, with a warning that names joint
      and time), `"raise"` or `"freeze"`.
    - `per_world`: Model fields that have a value of their own in every world, found in `sim.per_world`.
    - `plugins`: installed packages whose own rows (a force, a constraint, a callback) take part.
    - `semantics`: a bundle of rules, as `"mujoco-4"`; that of the model's loading if nobody says.
    - `locked`: a stage lock (`dovetail lock` writes one; a saved state has one): anything else than what it lists is
      refused; False for none.
    - `strict`: stop at the first field that a NumPy stage touches without declaring it (kernels never can).
    - `wrap`: profilers or guards around stages.
    - `missing`: `"skip"` runs without stages that nothing implements.
    - `max_bytes`: the most memory that the data may take.
    - `config`: configuration in place of what files and environment say.
    """

    def __init__(
        self,
        model: Model | str | Path,
        nworld: int | None = None,
        *,
        backend: Backend | None = None,
        precision: Precision | None = None,
        threads: int | None = None,
        stages: Mapping[str, str | Callable[..., Any]] | None = None,
        keep: Keep | None = None,
        lanes: int | None = None,
        runtime: Runtime | None = None,
        arch: Arch | None = None,
        on_nan: OnNan | None = None,
        strict: bool | None = None,
        plugins: str | Sequence[str] | None = None,
        locked: StageLock | str | Path | Literal[False] | None = None,
        per_world: str | Iterable[str] = (),
        wrap: Sequence[Wrapper] = (),
        missing: OnMissing = "error",
        max_bytes: int = DEFAULT_MAX_BYTES,
        semantics: str | None = None,
        config: Config | None = None,
    ) -> None:
        if stages is not None:
            texts_by_name("stages", stages)
        _check_runtime(runtime, arch)
        if config is not None:
            instance("config", config, Config, "a Config, or None")
        running = for_running(stages, loaded=isinstance(model, Model))
        loading = for_loading(stages)
        self.model = (
            model
            if isinstance(model, Model)
            else load(model, stages=loading, semantics=semantics, config=config)
        )
        self._finish = {slot: choice for slot, choice in loading.items() if slot == "finalize_model"}
        own = {slot: function for slot, function in running.items() if callable(function)}
        self._own = own
        self._registry, names = default_registry().extended(own) if own else (default_registry(), {})
        call = Config.of_call(
            {**running, **names},
            backend=backend,
            precision=precision,
            threads=threads,
            keep=keep,
            lanes=lanes,
            runtime=runtime,
            arch=arch,
            on_nan=on_nan,
            strict=strict,
            plugins=plugins,
            locked=locked,
            semantics=semantics,
        )
        self._config = over_configuration(call, config)
        self._wrap = checked_wrappers(wrap)
        self._missing = choice("missing", missing, ON_MISSING)
        self.nworld = (
            None if nworld is None else whole("nworld", nworld, 1, "WORLDS", ", or None for one world")
        )
        self._per_world = _checked_per_world(per_world, nworld)
        whole("max_bytes", max_bytes, 0)
        self.plan = self._compile()
        self.data = self.plan.make_data(max_bytes)
        self._max_bytes = max_bytes
        self._ready: Ready | None = None

    def _compile(self) -> Plan:
        return compile_plan(
            self.model,
            self._config,
            nworld=self.nworld,
            wrappers=self._wrap,
            missing=self._missing,
            registry=self._registry,
            per_world=self._per_world,
        )

    @property
    def lock(self) -> StageLock:
        """What computes the steps: for every slot the implementation, its version, package and hash of sources."""
        return self._current_plan().lock

    @property
    def per_world(self) -> PerWorld:
        """The Model fields that every world has for itself, as arrays to read and write."""
        return PerWorld(lambda: self.data, self.plan.per_world)

    def set_constants(self, worlds: Sequence[int] | Array | None = None) -> None:
        """Recompute what derives from edited values (inverse weights from masses, say), as mj_setConst: in the Model,
        or with fields per world in all or chosen worlds."""
        if not self.plan.per_world:
            set_constants(self.model, self._registry, stages=self._finish)
            return
        set_world_constants(
            WorldModel(self.model, self.plan.per_world),
            self.data,
            chosen_worlds(self.data, worlds),
            finalizer(self._registry, self.model, stages=self._finish),
        )

    def _current_plan(self) -> Plan:
        """The plan, compiled again if options it depends on were edited."""
        if not self.plan.is_current:
            self.plan = self._compile()
            if not self.plan.fits(self.data):
                self.data.move_into(self.plan.make_data(self._max_bytes))
        return self.plan

    def step(self, nstep: int = 1) -> None:
        """Advance every world by `nstep` steps."""
        ready = self._ready
        if ready is not None and ready.plan is self.plan and ready.step(self.data, nstep):
            return
        whole("nstep", nstep, 0, "STEPS")
        self._current_plan().step(self.data, nstep)
        self._ready = self.plan.execution.ready(self.data)

    def forward(self) -> None:
        """Compute everything that follows from the state of every world."""
        self._current_plan().forward(self.data)

    def reset(self, keyframe: int | str | None = None, worlds: Sequence[int] | Array | None = None) -> None:
        """Put all or chosen worlds back to the start or to a keyframe."""
        reset(self.model, self.data, keyframe, worlds)

    def save(self, path: str | Path, *, fields: str | Iterable[str] = "state") -> None:
        """Save the run; `load` resumes it bit for bit."""
        from dovetail.contracts import store

        plan = self.plan
        store.save(self.data, path, fields=fields, implementations=plan.implementations, lock=plan.lock)

    def load(self, path: str | Path) -> None:
        """Resume a saved run; a warning tells if other implementations will continue it, or an error if this run is
        locked."""
        from dovetail.contracts import store

        store.load(
            self.data,
            path,
            implementations=self.plan.implementations,
            lock=lambda: self.plan.lock,
            locked=bool(self._config.setting("locked", None).value),
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: model, data and what was asked for. Plans and kernels are made anew, so that it
        can go to another process; a function of one's own must be one that pickle finds there."""
        made_anew = ("plan", "_registry", "_ready")
        return {name: value for name, value in self.__dict__.items() if name not in made_anew}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._registry = default_registry().extended(self._own)[0] if self._own else default_registry()
        self._ready = None
        self.plan = self._compile()
        if not self.plan.fits(self.data):
            self.data.move_into(self.plan.make_data(self._max_bytes))

    def copy(self) -> Simulation:
        """An independent clone: same numbers and choices, a model and data of its own."""
        return copy.deepcopy(self)

    def __copy__(self) -> Simulation:
        return self.copy()

    def __repr__(self) -> str:
        return f"<dovetail.Simulation of {self.model!r}, {self.data!r}>"


def _checked_per_world(fields: str | Iterable[str], nworld: int | None) -> tuple[str, ...]:
    """The wanted fields; a single world has none."""
    wanted = words("per_world", fields)
    if wanted and nworld is None:
        raise PerWorldError(
            f"per_world={wanted!r} needs a batch: say nworld=, or edit the Model itself (model.{wanted[0]})"
        )
    return wanted


def _check_runtime(runtime: object, arch: object) -> None:
    """Words of the Taichi backend, also where nothing runs on it."""
    if runtime is not None:
        choice("runtime", runtime, RUNTIMES)
    if arch is not None:
        choice("arch", arch, ARCHS)


@checked
def full_mass_matrix(model: Model, data: Data) -> Array:
    """The joint-space inertia as a dense symmetric (nv, nv) matrix (mj_fullM), for one world."""
    dense = np.zeros((model.nv, model.nv))
    for row in range(model.nv):
        start = model.M_rowadr[row]
        columns = model.M_colind[start : start + model.M_rownnz[row]]
        dense[row, columns] = dense[columns, row] = data.M[start : start + model.M_rownnz[row]]
    return dense
