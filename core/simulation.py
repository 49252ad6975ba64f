"""The front door: loading models, stepping them, and the Simulation object that holds model, plan and data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.backend import Wrapper
from dovetail.config import Config
from dovetail.contracts import store
from dovetail.contracts.arena import DEFAULT_MAX_BYTES
from dovetail.contracts.derive import build_model, chosen_worlds, reset
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.errors import PerWorldError, ValidationError
from dovetail.per_world import PerWorld, WorldModel, set_world_constants
from dovetail.plan import Plan
from dovetail.planner import compile_plan, structure_key
from dovetail.registry import Registry, default_registry

MODELS = Path(__file__).parent / "models"
"""Models that come with dovetail; `load("humanoid")` finds them by name."""


def builtin_models() -> list[str]:
    """Names of the models that come with dovetail."""
    return sorted(p.stem for p in MODELS.glob("*.xml"))


def load(
    path: str | Path,
    *,
    asset_root: str | Path | None = None,
    dialect: str = "mujoco-3.4",
    registry: Registry | None = None,
) -> Model:
    """A Model from an MJCF file, or from the name of a built-in model.

    `asset_root` is the only directory that files may come from, if given; `dialect="legacy"` accepts older
    spellings, each with a DeprecationWarning; `registry` brings plugins of one's own.
    """
    from dovetail import mjcf

    if isinstance(path, str) and path in builtin_models():
        path = MODELS / f"{path}.xml"
    registry = registry or default_registry()
    compiled = mjcf.compile_file(path, asset_root=asset_root, dialect=dialect, **_compile_tables(registry))
    return _finish(compiled, registry)


def loads(
    xml: str | bytes,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    dialect: str = "mujoco-3.4",
    registry: Registry | None = None,
) -> Model:
    """A Model from MJCF text; `assets` holds the files it names, `dialect` and `registry` as in `load`."""
    from dovetail import mjcf

    registry = registry or default_registry()
    compiled = mjcf.compile_text(xml, assets=assets, dialect=dialect, **_compile_tables(registry))
    return _finish(compiled, registry)


def _compile_tables(registry: Registry) -> dict[str, Any]:
    """The table stages that the compiler calls, by name."""
    stages = ("geom_inertia", "load_mesh", "mesh_inertia", "flex_build", "mjcf_element", "sdf_shape")
    return {stage: _rows(registry, stage) for stage in stages}


def _rows(registry: Registry, stage: str) -> dict[str, Any]:
    """The rows of a table stage: for each key the default one, or the first."""
    rows = {}
    for key in registry.keys(stage):
        records = registry.of(f"{stage}:{key}")
        chosen = next((r for r in records if r.default), records[0])
        rows[key] = chosen.load()
    return rows


def _finish(compiled: Any, registry: Registry) -> Model:
    """Build the Model, then add what needs dynamics, then ask every plugin whether it is well."""
    model = build_model(
        compiled.sizes,
        compiled.values,
        object_names=compiled.names,
        modelname=compiled.modelname,
        source=compiled.source,
    )
    set_constants(model, registry, skip=_said(compiled))
    for complete in compiled.afterwards:
        complete(model)
    problems = [p for r in registry.of("check_model") for p in r.load()(model)]
    if problems:
        raise ValidationError(f"model {model.modelname or model.source}", problems)
    return model


def _said(compiled: Any) -> frozenset[str]:
    """Statistics that the compiler settled (written in the file, or geometric): not to be computed again."""
    return frozenset(name for name in compiled.values if name.startswith("stat."))


def finalizer(registry: Registry) -> Callable[[Model], Mapping[str, Any]]:
    """What computes the values that derive from others."""
    records = registry.of("finalize_model")
    return next((r for r in records if r.default), records[0]).load()


def set_constants(
    model: Model, registry: Registry | None = None, *, skip: frozenset[str] = frozenset()
) -> None:
    """Recompute the Model values that derive from others (after editing masses, say); as mj_setConst."""
    for name, value in finalizer(registry or default_registry())(model).items():
        if name not in skip:
            model.field(name)[...] = value


def plan_for(model: Model, data: Data) -> Plan:
    """The plan that configuration files and environment give for a Data of one's own making, remembered."""
    plans: dict[object, Plan] = model.__dict__.setdefault("_plans", {})
    key = (data.nworld, data.precision, data.arena.lanes, structure_key(model))
    if key not in plans:
        said = Config.of_call(precision=data.precision, lanes=data.arena.lanes)
        # Fields of implementations' own come with the implementations that the plan chooses.
        kept = Config.of_call(keep=tuple(name for name, _ in data.fields() if name not in data.extra))
        plans[key] = compile_plan(model, Config.merge([said, kept, Config.discover()]), nworld=data.nworld)
    return plans[key]


def forward(model: Model, data: Data) -> None:
    """Compute everything that follows from the state, without moving it (mj_forward)."""
    plan_for(model, data).forward(data)


def step(model: Model, data: Data, nstep: int = 1) -> None:
    """Advance the state by `nstep` steps (mj_step)."""
    plan_for(model, data).step(data, nstep)


class Simulation:
    """A model with a plan and the data it works on.

    `backend`, `precision`, `threads`, `stages`, `keep`, `lanes`, `runtime` and `arch` override the configuration file
    and the environment; a stage can also be a function of your own: `stages={"passive_force:wind": blow}`.
    `on_nan` says what becomes of a world whose numbers go bad: `"reset"` (MuJoCo's way, with
    a warning that names joint and time), `"raise"` or `"freeze"`. `per_world` names Model fields that have a value of
    their own in every world, found in `sim.per_world`. `wrap` puts profilers or guards around stages;
    `missing="skip"` runs without stages that nothing implements; `max_bytes` caps the memory of the data.
    """

    def __init__(
        self,
        model: Model | str | Path,
        nworld: int | None = None,
        *,
        backend: str | None = None,
        precision: str | None = None,
        threads: int | None = None,
        stages: Mapping[str, str | Callable[..., Any]] | None = None,
        keep: str | Sequence[str] | None = None,
        lanes: int | None = None,
        runtime: str | None = None,
        arch: str | None = None,
        on_nan: str | None = None,
        per_world: str | Iterable[str] = (),
        wrap: Sequence[Wrapper] = (),
        missing: str = "error",
        max_bytes: int = DEFAULT_MAX_BYTES,
        config: Config | None = None,
    ) -> None:
        self.model = model if isinstance(model, Model) else load(model)
        own = {slot: wish for slot, wish in (stages or {}).items() if callable(wish)}
        self._registry, names = default_registry().extended(own) if own else (default_registry(), {})
        said = Config.of_call(
            {**(stages or {}), **names},
            backend=backend,
            precision=precision,
            threads=threads,
            keep=keep,
            lanes=lanes,
            runtime=runtime,
            arch=arch,
            on_nan=on_nan,
        )
        self._config = Config.merge([said, Config.discover() if config is None else config])
        self._wrap = tuple(wrap)
        self._missing = missing
        self.nworld = nworld
        self._per_world = _checked_per_world(per_world, nworld)
        self.plan = self._compile()
        self.data = self.plan.make_data(max_bytes)
        self._max_bytes = max_bytes

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
    def per_world(self) -> PerWorld:
        """The Model fields that every world has for itself, as arrays to read and write."""
        return PerWorld(lambda: self.data, self.plan.per_world)

    def set_constants(self, worlds: Sequence[int] | Array | None = None) -> None:
        """Recompute what derives from edited values (inverse weights from masses, say), as mj_setConst: in the Model,
        or with fields per world in all or chosen worlds."""
        if not self.plan.per_world:
            set_constants(self.model, self._registry)
            return
        set_world_constants(
            WorldModel(self.model, self.plan.per_world),
            self.data,
            chosen_worlds(self.data, worlds),
            finalizer(self._registry),
        )

    def _current_plan(self) -> Plan:
        """The plan, compiled again if options it depends on were edited."""
        if self.plan.key != structure_key(self.model):
            self.plan = self._compile()
            if not self.plan.fits(self.data):
                self.data = _moved(self.data, self.plan.make_data(self._max_bytes))
        return self.plan

    def step(self, nstep: int = 1) -> None:
        """Advance every world by `nstep` steps."""
        self._current_plan().step(self.data, nstep)

    def forward(self) -> None:
        """Compute everything that follows from the state of every world."""
        self._current_plan().forward(self.data)

    def reset(self, keyframe: int | str | None = None, worlds: Sequence[int] | Array | None = None) -> None:
        """Put all or chosen worlds back to the start or to a keyframe."""
        reset(self.model, self.data, keyframe, worlds)

    def save(self, path: str | Path, *, fields: str | Iterable[str] = "state") -> None:
        """Save the run; `load` resumes it bit for bit."""
        store.save(self.data, path, fields=fields, implementations=self.plan.implementations)

    def load(self, path: str | Path) -> None:
        """Resume a saved run; a warning tells if other implementations will continue it."""
        store.load(self.data, path, implementations=self.plan.implementations)

    def __repr__(self) -> str:
        return f"<dovetail.Simulation of {self.model!r}, {self.data!r}>"


def _checked_per_world(fields: str | Iterable[str], nworld: int | None) -> tuple[str, ...]:
    """The wanted fields; a single world has none."""
    wanted = (fields,) if isinstance(fields, str) else tuple(fields)
    if wanted and nworld is None:
        raise PerWorldError(
            f"per_world={wanted!r} needs a batch: say nworld=, or edit the Model itself (model.{wanted[0]})"
        )
    return wanted


def _moved(old: Data, new: Data) -> Data:
    """The new Data, with the numbers of the old one where both have the field."""
    for name, view in new.fields():
        if name in old:
            view[...] = old.field(name)
    return new


def full_mass_matrix(model: Model, data: Data) -> Array:
    """The joint-space inertia as a dense symmetric (nv, nv) matrix (mj_fullM), for one world."""
    dense = np.zeros((model.nv, model.nv))
    for row in range(model.nv):
        start = model.M_rowadr[row]
        columns = model.M_colind[start : start + model.M_rownnz[row]]
        dense[row, columns] = dense[columns, row] = data.M[start : start + model.M_rownnz[row]]
    return dense
