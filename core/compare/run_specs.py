"""What one side of a `diff` is: a plan, MuJoCo itself, or the results of an earlier run; as text or a mapping.

    integrate=rk4,backend=native        choices by slot, and settings
    mujoco                              MuJoCo 3.4.0
    f32                                 a precision; also a backend's name, a semantics bundle
    before.npz                          what `dovetail diff --save before.npz` recorded

Nothing said means the reference: the NumPy implementations in double precision.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.config import Config
from dovetail.contracts.types import Model
from dovetail.errors import SelectionError, listing, nearest, shown
from dovetail.loading import load, loads
from dovetail.planning.loading_selection import for_loading, for_running
from dovetail.registry import Registry, default_registry

Stage = str | Callable[..., Any]
Source = Model | str | Path
"""A loaded Model, a model's file or built-in name, or MJCF text."""

MUJOCO = "mujoco"
NUDGE = "nudge"
NOTHING_SAID = ("", "default", "reference")
PRECISIONS = ("f64", "f32")
KEYS = ("backend", "precision", "config", "model", "plugin", "semantics", NUDGE)
"""What a SPEC can set besides slots."""

_BUNDLE = re.compile(r"mujoco-\d+(\.\d+)*$")
"""The name of a semantics bundle."""


@attrs.frozen(kw_only=True)
class RunSpec:
    """One side of a comparison, understood."""

    text: str
    """As it was written, or as it could be."""
    kind: Literal["plan", "mujoco", "saved"] = "plan"
    stages: Mapping[str, Stage] = attrs.field(factory=dict)
    backend: str | None = None
    precision: str | None = None
    config: str | Config | None = None
    model: Source | None = None
    """A second model."""
    plugins: tuple[str, ...] = ()
    semantics: str | None = None
    saved: str | None = None
    nudge: int = 0
    """Units in the last place by which the first state is moved."""

    @classmethod
    def of(cls, spec: RunSpec | Mapping[str, Any] | str | Path | None, which: str) -> RunSpec:
        """From what a call or a command says; `which` names the side in errors."""
        if isinstance(spec, RunSpec):
            return spec
        if spec is None or isinstance(spec, str | Path):
            return _from_items(_items(str(spec or "")), which, str(spec or ""))
        if isinstance(spec, Mapping):
            items = {**spec}
            stages = items.pop("stages", None) or {}
            return _from_items([*items.items(), *dict(stages).items()], which, "")
        raise SelectionError(f"{which} = {shown(spec)} should be text, as 'integrate=rk4', or a mapping")

    @property
    def name(self) -> str:
        """What reports call this side."""
        return self.text or "reference"

    def load(self, source: Source, registry: Registry | None = None) -> Model:
        """The model of this side: its own, or the common one, loaded with what it says for loading."""
        chosen = for_loading(self.stages)
        source = source if self.model is None else self.model
        if isinstance(source, Model):
            if not chosen:
                return source
            if not Path(source.source).is_file():
                raise SelectionError(
                    f"{', '.join(chosen)} takes part in loading, and this Model is loaded already; give the model's "
                    "file or its MJCF text"
                )
            source = source.source
        config = self._configuration()
        if isinstance(source, str) and source.lstrip().startswith("<"):
            return loads(source, stages=chosen or None, registry=registry, config=config)
        return load(source, stages=chosen or None, registry=registry, config=config)

    def _configuration(self) -> Config | None:
        if self.config is None or isinstance(self.config, Config):
            return self.config
        return Config.of_file(self.config)

    def simulation_arguments(self) -> dict[str, Any]:
        """What a Simulation of this side is made with, besides model, worlds and fields to keep."""
        config = self._configuration()
        backend = self.backend
        if backend is None and (config is None or "backend" not in config.settings):
            backend = REFERENCE
        arguments: dict[str, Any] = {
            "stages": for_running(self.stages) or None,
            "backend": backend,
            "precision": self.precision,
            "plugins": self.plugins or None,
            "config": config,
        }
        if self.semantics is not None:
            arguments["semantics"] = _known_semantics(self.semantics)
        return arguments


def _known_semantics(bundle: str) -> str:
    """The bundle, if this version of dovetail has any."""
    from dovetail.simulation import Simulation

    if "semantics" not in inspect.signature(Simulation).parameters:
        raise SelectionError(
            f"semantics={bundle}: this version of dovetail has no semantics bundles; its rules are those of MuJoCo "
            "3.4.0. To compare with MuJoCo itself write mujoco"
        )
    return bundle


def _items(text: str) -> list[tuple[str, Any]]:
    """`key=value` and bare words, which have no value, in order."""
    found: list[tuple[str, Any]] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = item.partition("=")
        found.append((key.strip(), value.strip() if equals else None))
    return found


def _from_items(items: list[tuple[str, Any]], which: str, text: str) -> RunSpec:
    values: dict[str, Any] = {"stages": {}, "plugins": ()}
    for key, value in items:
        if value is None:
            key, value = _word(key, which)
        _set(values, key, value, which)
    alone = [kind for kind in (MUJOCO, "saved") if kind in values]
    settings = {key for key in values if key not in ("stages", "plugins", *alone)}
    if alone and (settings - {"model"} or values["stages"] or values["plugins"] or len(alone) > 1):
        raise SelectionError(
            f"{which} = {text!r}: {'MuJoCo' if alone[0] == MUJOCO else 'a saved run'} stands alone, since nothing of "
            "it can be chosen"
        )
    values["kind"] = alone[0] if alone else "plan"
    values.pop(MUJOCO, None)
    return RunSpec(text=text or _written(items), **values)


def _written(items: list[tuple[str, Any]]) -> str:
    """A mapping as text."""
    parts = [
        key if value is None or value is True else f"{key}={_short(str(getattr(value, '__name__', value)))}"
        for key, value in items
    ]
    return ",".join(parts)


def _short(text: str) -> str:
    return text if len(text) <= 40 and not text.lstrip().startswith("<") else "…"


def _set(values: dict[str, Any], key: str, value: Any, which: str) -> None:
    """Take one item over."""
    if key in (MUJOCO, "saved"):
        values[key] = value
    elif key in ("plugin", "plugins"):
        values["plugins"] += (value,) if isinstance(value, str) else tuple(value)
    elif key == NUDGE:
        values[NUDGE] = _ulps(value, which)
    elif key == "precision" and value not in PRECISIONS:
        raise SelectionError(
            f"{which}: precision={value}: should be f64 or f32{nearest(str(value), PRECISIONS)}"
        )
    elif key in KEYS:
        values[key] = value
    else:
        _check_slot(key, value, which)
        values["stages"][key] = value


def _ulps(value: Any, which: str) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise SelectionError(f"{which}: nudge={value} should be a whole number of ulps, at least 1")
    return count


def _check_slot(key: str, value: Any, which: str) -> None:
    if key.partition(":")[0] not in pipeline.STAGES:
        known = [*KEYS, *pipeline.STAGES]
        raise SelectionError(
            f"{which}: there is no stage or setting {key!r}{nearest(key, known) or '.'} Settings: {listing(KEYS)}. "
            "`dovetail stages` lists the stages"
        )
    if not (isinstance(value, str) and value) and not callable(value):
        raise SelectionError(f"{which}: {key} = {shown(value)} should be a name, name@backend or a function")


def _word(word: str, which: str) -> tuple[str, Any]:
    """A bare word as key and value."""
    registry = default_registry()
    backends = [*registry.backends, "auto"]
    if word in NOTHING_SAID:
        return "backend", REFERENCE
    if word == MUJOCO:
        return MUJOCO, True
    if word in PRECISIONS:
        return "precision", word
    if word in backends:
        return "backend", word
    if word == NUDGE:
        return NUDGE, 1
    if _BUNDLE.match(word):
        return "semantics", word
    kind = {".npz": "saved", ".toml": "config", ".xml": "model"}.get(Path(word).suffix)
    if kind is not None:
        return kind, word
    raise _unknown_word(
        word, which, [MUJOCO, *PRECISIONS, *backends, NUDGE, "mujoco-3.4", "mujoco-4"], registry
    )


def _unknown_word(word: str, which: str, known: list[str], registry: Registry) -> SelectionError:
    name = word.partition("@")[0]
    slots = sorted({record.slot for record in registry.implementations if record.name == name})
    hint = f" {name} is an implementation: write {slots[0]}={word}." if slots else nearest(word, known) or "."
    return SelectionError(
        f"{which}: {word!r} is not understood{'.' if slots else ''}{hint} Words: {listing(known)}; or a file .npz "
        "(a saved run), .toml (configuration), .xml (a second model); or key=value with a stage or "
        f"{listing(KEYS)} as key"
    )
