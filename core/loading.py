"""Loading models: MJCF to a Model, by compile-time stages that are chosen as any other stage is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dovetail.compile_choice import Loading, Stages, recorded
from dovetail.config import Config
from dovetail.contracts.derive import build_model
from dovetail.contracts.types import Model
from dovetail.errors import ValidationError
from dovetail.registry import Registry, default_registry

MODELS = Path(__file__).parent / "models"
"""Models that come with dovetail; `load("humanoid")` finds them by name."""
DEFAULT_DIALECT = "mujoco-3.4"


def builtin_models() -> list[str]:
    """Names of the models that come with dovetail."""
    return sorted(p.stem for p in MODELS.glob("*.xml"))


def load(
    path: str | Path,
    *,
    asset_root: str | Path | None = None,
    dialect: str = DEFAULT_DIALECT,
    registry: Registry | None = None,
    stages: Stages | None = None,
    config: Config | None = None,
) -> Model:
    """A Model from an MJCF file, or from the name of a built-in model.

    `asset_root` is the only directory that files may come from, if given; `dialect="legacy"` accepts older
    spellings, each with a DeprecationWarning; `registry` brings plugins of one's own. `stages` chooses what loads the
    model, by name or by a function: `stages={"mesh_inertia:exact": integrate}`; `config` stands for the configuration
    files and the environment.
    """
    from dovetail import mjcf

    if isinstance(path, str) and path in builtin_models():
        path = MODELS / f"{path}.xml"
    loading = Loading.of(registry, stages, config)
    compiled = mjcf.compile_file(path, asset_root=asset_root, dialect=dialect, **loading.tables())
    return _finish(compiled, loading)


def loads(
    xml: str | bytes,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    dialect: str = DEFAULT_DIALECT,
    registry: Registry | None = None,
    stages: Stages | None = None,
    config: Config | None = None,
) -> Model:
    """A Model from MJCF text; `assets` holds the files it names, all else is as in `load`."""
    from dovetail import mjcf

    loading = Loading.of(registry, stages, config)
    compiled = mjcf.compile_text(xml, assets=assets, dialect=dialect, **loading.tables())
    return _finish(compiled, loading)


def _finish(compiled: Any, loading: Loading) -> Model:
    """Build the Model, then add what needs dynamics, then ask the plugins whether it is well."""
    model = build_model(
        compiled.sizes,
        compiled.values,
        object_names=compiled.names,
        modelname=compiled.modelname,
        source=compiled.source,
        own=loading.registry.model_fields().values(),
    )
    compiled.fill(model)
    _take(model, loading.function("finalize_model")(model), skip=_said(compiled))
    for complete in compiled.afterwards:
        complete(model, loading.function)
    loading.record(model)
    problems = [p for check in loading.checks() for p in check(model)]
    if problems:
        raise ValidationError(f"model {model.modelname or model.source}", problems)
    return model


def _said(compiled: Any) -> frozenset[str]:
    """Statistics that the compiler settled (written in the file, or geometric): not to be computed again."""
    return frozenset(name for name in compiled.values if name.startswith("stat."))


def _take(model: Model, values: Mapping[str, Any], skip: frozenset[str]) -> None:
    for name, value in values.items():
        if name not in skip:
            model.field(name)[...] = value


def finalizer(
    registry: Registry,
    model: Model | None = None,
    *,
    stages: Stages | None = None,
    config: Config | None = None,
) -> Callable[[Model], Mapping[str, Any]]:
    """What computes the values that derive from others: as the call says, else what the model was loaded with, else
    as for a model to be loaded."""
    used = recorded(registry, model, "finalize_model") if model is not None and not stages else None
    return (
        used.load() if used is not None else Loading.of(registry, stages, config).function("finalize_model")
    )


def set_constants(
    model: Model,
    registry: Registry | None = None,
    *,
    skip: frozenset[str] = frozenset(),
    stages: Stages | None = None,
    config: Config | None = None,
) -> None:
    """Recompute the Model values that derive from others (after editing masses, say); as mj_setConst.

    `stages={"finalize_model": …}` computes them otherwise than the model was loaded with.
    """
    finalize = finalizer(registry or default_registry(), model, stages=stages, config=config)
    _take(model, finalize(model), skip)
