"""Loading models: MJCF to a Model, by compile-time stages that are chosen as any other stage is."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dovetail import files, model_cache
from dovetail.arguments import instance, texts_by_name
from dovetail.config import Config
from dovetail.contracts.choices import Dialect
from dovetail.contracts.derive import build_model
from dovetail.contracts.indices import check_indices
from dovetail.contracts.types import Model
from dovetail.errors import (
    ArgumentError,
    CapacityError,
    FileError,
    MJCFError,
    ValidationError,
    nearest,
    shown,
    shown_path,
)
from dovetail.planning.loading_selection import Loading, Stages, recorded
from dovetail.registry import Registry, default_registry

MODELS = Path(__file__).parent / "models"
"""Models that come with dovetail; `load("humanoid")` finds them by name."""
DEFAULT_DIALECT: Dialect = "mujoco-3.4"


def builtin_models() -> list[str]:
    """Names of the models that come with dovetail."""
    return sorted(p.stem for p in MODELS.glob("*.xml"))


def load(
    path: str | Path,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    asset_root: str | Path | None = None,
    dialect: Dialect = DEFAULT_DIALECT,
    registry: Registry | None = None,
    stages: Stages | None = None,
    semantics: str | None = None,
    config: Config | None = None,
) -> Model:
    """A Model from an MJCF file, or from the name of a built-in model.

    `assets` holds files by name that go before those on the disk. `asset_root` is the only directory that files may
    come from, if given; `dialect="legacy"` accepts older spellings, each with a DeprecationWarning; `registry` brings
    plugins of one's own. `stages` chooses what loads the model, by name or by a function:
    `stages={"mesh_inertia:exact": integrate}`; `semantics` names a bundle of rules, as `"mujoco-4"`; `config` stands
    for the configuration files and the environment. A model that was loaded before comes from the cache while its
    files are the same.
    """
    builtin = isinstance(path, str) and path in builtin_models()
    file = MODELS / f"{path}.xml" if builtin else files.checked_path(path)
    root = None if builtin else checked_root(asset_root)
    given = texts_by_name("assets", {} if assets is None else assets)
    loading = _loading(registry, stages, config, dialect, semantics)
    if not builtin and not given and isinstance(path, str):
        _check_name(path)

    def make() -> Model:
        from dovetail import mjcf

        compiled = mjcf.compile_file(file, _tables(loading), assets=given, asset_root=root, dialect=dialect)
        return _finish(compiled, loading)

    with _at_work(str(path)):
        key = None if given else model_cache.key_of_file(file, root, dialect, loading)
        return model_cache.kept(key, make, loading)


def _check_name(path: str) -> None:
    """A word that is no file was perhaps meant as the name of a built-in model."""
    if path.isidentifier() and not os.path.lexists(path):
        known = builtin_models()
        raise MJCFError(
            f"no such file, and no built-in model of this name{nearest(path, known)}; "
            f"built-in models: {', '.join(known)}",
            file=path,
        )


def loads(
    xml: str | bytes,
    *,
    assets: Mapping[str, bytes | str] | None = None,
    asset_root: str | Path | None = None,
    dialect: Dialect = DEFAULT_DIALECT,
    registry: Registry | None = None,
    stages: Stages | None = None,
    semantics: str | None = None,
    config: Config | None = None,
) -> Model:
    """A Model from MJCF text; `assets` holds the files it names. Those that it does not hold are looked for in
    `asset_root`, which they may not leave, or else in the working directory; all else is as in `load`."""
    if not isinstance(xml, str | bytes | bytearray | memoryview):
        raise ArgumentError(f"loads takes a model as text or bytes, not {shown(xml)}; load takes a file")
    given = texts_by_name("assets", {} if assets is None else assets)
    root = checked_root(asset_root)
    loading = _loading(registry, stages, config, dialect, semantics)

    def make() -> Model:
        from dovetail import mjcf

        tables = _tables(loading)
        compiled = mjcf.compile_text(xml, tables, assets=given, asset_root=root, dialect=dialect)
        return _finish(compiled, loading)

    with _at_work("<string>"):
        return model_cache.kept(model_cache.key_of_text(xml, given, root, dialect, loading), make, loading)


def load_tree(root: Any, source: str, *, folder: Path, assets: Mapping[str, bytes | str]) -> Model:
    """A Model from a tree of MJCF elements, as an editable spec makes it; its files are in `folder` or `assets`."""
    from dovetail.mjcf.model.compile import compile_tree
    from dovetail.mjcf.read.source import Loader

    loading = _loading(None, None, None, DEFAULT_DIALECT, None)
    loader = Loader(folder, assets={os.path.normpath(name): content for name, content in assets.items()})
    with _at_work(source):
        return _finish(compile_tree(root, source, loader, _tables(loading)), loading)


def _tables(loading: Loading) -> Any:
    """What the compiler is to call and to take for granted."""
    from dovetail import mjcf

    return mjcf.Tables(**loading.tables(), option_defaults=loading.option_defaults())


def checked_root(asset_root: object) -> Path | None:
    """The folder that files may come from, which must exist."""
    if asset_root is None:
        return None
    root = files.checked_path(asset_root)
    with files.reasons(root):
        if not root.is_dir():
            raise FileError(root, "asset_root should be a folder that exists")
        return root.resolve()


def _loading(
    registry: Registry | None,
    stages: Stages | None,
    config: Config | None,
    dialect: object,
    semantics: str | None,
) -> Loading:
    instance("dialect", dialect, str, "the name of a dialect, as 'legacy'")
    _check_choices(registry, stages, config)
    return Loading.of(registry, stages, config, semantics)


def _check_choices(registry: object, stages: object, config: object) -> None:
    if registry is not None:
        instance("registry", registry, Registry, "a Registry, or None")
    if stages is not None:
        texts_by_name("stages", stages)
    if config is not None:
        instance("config", config, Config, "a Config, or None")


@contextmanager
def _at_work(source: str) -> Iterator[None]:
    """What NumPy or Python could not allocate is a matter of the model's size. Meanwhile nobody looks for garbage:
    a large model is many objects that all stay, and to go through them again and again takes as long as the rest."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    except MemoryError as problem:
        raise CapacityError(
            f"{shown_path(source)}: there is not enough memory to load this model ({problem or 'out of memory'}); "
            "make it smaller"
        ) from None
    finally:
        if collecting:
            gc.enable()


def _finish(compiled: Any, loading: Loading) -> Model:
    """Build the Model, then add what needs dynamics, then ask the plugins whether it is well."""
    model = build_model(
        compiled.sizes,
        compiled.values,
        object_names=compiled.names,
        modelname=compiled.modelname,
        source=compiled.source,
        own=loading.registry.model_fields().values(),
        finite=False,  # as MuJoCo, which accepts nan and inf; the compiler has warned
    )
    compiled.fill(model)
    with np.errstate(all="ignore"):
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
    instance("model", model, Model, "a dovetail.Model")
    _check_choices(registry, stages, config)
    check_indices(model)
    finalize = finalizer(registry or default_registry(), model, stages=stages, config=config)
    _take(model, finalize(model), skip)
