"""The stage lock: what exactly computes a model's steps, so that it can be kept, compared, and insisted on.

    sim = dovetail.Simulation("humanoid")
    sim.lock.stages["mass_matrix"]        # implementation, version, package, hash of its sources
    dovetail.Simulation("humanoid", locked="dovetail.lock")

A lock has for every slot and part, those of loading included, the implementation, its version, the package it comes
from, and a hash of what its results depend on (`sources`); the same of the backends; and settings that results depend
on. Runs, trajectories and saved states carry theirs. `dovetail lock` writes those of a project's models to one file,
in TOML and in a stable order, which `locked` reads.

Another set is refused with a LockError that lists what changed. What surrounds the stages (NumPy, a backend's
runtime) is recorded too; a change there is a LockWarning.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dovetail import files, pipeline, sources
from dovetail.distribution import DISTRIBUTION
from dovetail.errors import FileFormatError, LockError, listing, nearest

if TYPE_CHECKING:
    from dovetail.config import Setting
    from dovetail.contracts.types import Model
    from dovetail.implementation import Implementation
    from dovetail.planning.plan import Plan
    from dovetail.registry import Registry

FORMAT = "dovetail-lock-1"
NOTHING = "nothing"
"""In place of an implementation, where one side has none."""
OPTIONS = ("semantics",)
"""Settings of a plan that its results depend on, besides the precision; recorded where somebody gives them."""
OF_BACKENDS = ("dovetail.backends",)
"""Whose sources a backend's results depend on, besides its own package."""


class LockWarning(UserWarning):
    """What surrounds the stages is not what it was when the lock was written."""


@attrs.frozen
class Locked:
    """What fills one slot."""

    implementation: str
    """`name@backend`."""
    version: str
    package: str
    """The distribution and its version."""
    source: str
    """The hash of what its results depend on."""


@attrs.frozen
class Change:
    """One thing that is not as it was."""

    what: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.what} was {self.was}, is {self.now}"


@attrs.frozen(kw_only=True)
class StageLock:
    """What computes the steps of one model."""

    model: str
    """The name of a built-in model, the path of a file, or the name that a model gives itself."""
    settings: Mapping[str, str]
    stages: Mapping[str, Locked]
    """By slot."""
    backends: Mapping[str, str]
    """Hashes of their sources."""
    environment: Mapping[str, str]
    """Versions of what surrounds the stages."""
    skipped: frozenset[str] = attrs.field(default=frozenset(), eq=False, repr=False)
    """Slots that the model does not need as it is now, if this is the lock of a plan: that is a matter of the model,
    not of who computes it."""

    # ---- making

    @classmethod
    def of(cls, plan: Plan) -> StageLock:
        """The lock of a plan and of the loading of its model."""
        registry = plan.registry
        records: dict[str, Implementation | None] = {s: c.record for s, c in plan.choices.items()}
        for slot, text in plan.model.stages.items():
            records.setdefault(slot, _of_loading(registry, slot, text))
        stages = {slot: _locked(registry, record) for slot, record in records.items() if record is not None}
        lost = {s: _unknown(text) for s, text in plan.model.stages.items() if records.get(s) is None}
        used = sorted({choice.record.backend for choice in plan.choices.values()})
        given = {name: str(plan.options[name]) for name in OPTIONS if plan.options.get(name) is not None}
        return cls(
            model=model_key(plan.model, Path()),
            settings={"precision": plan.precision, **given},
            stages=dict(sorted({**stages, **lost}.items())),
            backends={name: _backend_source(registry, name) for name in used},
            environment=_environment(plan, used),
            skipped=frozenset(plan.skipped),
        )

    # ---- comparing

    def changes(self, now: StageLock) -> list[Change]:
        """What another lock has otherwise: settings, then stages, then backends."""
        found = _changed(self.settings, now.settings)
        for slot in sorted({*self.stages, *now.stages}):
            if slot in now.stages or not now.does_without(slot):
                found += _slot_changes(slot, self.stages.get(slot), now.stages.get(slot))
        both = self.backends.keys() & now.backends.keys()  # one more or less shows in the stages
        for name in sorted(both):
            found += _changed(
                {f"source of backend {name}": self.backends[name]},
                {f"source of backend {name}": now.backends[name]},
            )
        return found

    def does_without(self, slot: str) -> bool:
        """Whether the model does not need a slot, its stage, or the stage that calls it."""
        stage = slot.partition(":")[0]
        caller = pipeline.STAGES[stage].part_of if stage in pipeline.STAGES else None
        return not self.skipped.isdisjoint({slot, stage, caller or slot})

    def surroundings(self, now: StageLock) -> list[Change]:
        """What is otherwise around the stages, as far as both say."""
        both = self.environment.keys() & now.environment.keys()
        return _changed(
            {k: v for k, v in self.environment.items() if k in both},
            {k: v for k, v in now.environment.items() if k in both},
        )

    def check(self, now: StageLock, place: str, accept: str = "") -> None:
        """Refuse another set; warn of other surroundings. `accept` says how to have the new one."""
        changes = self.changes(now)
        if changes:
            raise LockError(
                f"{place} does not allow this run of {now.model!r}: {_count(changes)}\n"
                + "\n".join(f"  - {change}" for change in changes)
                + f"\nPut back what changed{f', or accept it: {accept}' if accept else ''}"
            )
        around = self.surroundings(now)
        if around:
            warnings.warn(f"{place}: {'; '.join(map(str, around))}", LockWarning, stacklevel=4)

    @property
    def digest(self) -> str:
        """One hash of it all but the model's name and the surroundings: equal for equal sets."""
        told = {key: value for key, value in self.as_plain().items() if key not in ("model", "environment")}
        return sources.digest([json.dumps(told, sort_keys=True).encode()])

    # ---- as plain values

    def as_plain(self) -> dict[str, Any]:
        """For JSON: what headers of files and reports have."""
        return {
            "model": self.model,
            "settings": dict(self.settings),
            "stages": {slot: attrs.asdict(one) for slot, one in self.stages.items()},
            "backends": dict(self.backends),
            "environment": dict(self.environment),
        }

    @classmethod
    def from_plain(cls, plain: Any, place: str) -> StageLock:
        """Read again; what is no lock is a FileFormatError that names the place."""
        try:
            return cls(
                model=_text(plain["model"]),
                settings=_texts(plain["settings"]),
                stages={_text(slot): Locked(**_texts(one)) for slot, one in plain["stages"].items()},
                backends=_texts(plain["backends"]),
                environment=_texts(plain["environment"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileFormatError(f"{place}: its stage lock cannot be read: {error!r}") from None

    def write(self, path: str | Path) -> None:
        """Write it as the lock of a project of one model."""
        ProjectLock((self,)).write(path)


@attrs.frozen
class ProjectLock:
    """The locks of a project's models."""

    models: tuple[StageLock, ...]

    @classmethod
    def read(cls, path: str | Path) -> ProjectLock:
        """From a lock file."""
        from dovetail.config import read_table

        place = files.checked_path(path)
        table, _ = read_table(place)
        if table.get("format") != FORMAT:
            raise FileFormatError(f"{path}: not in the format {FORMAT}; write it with: dovetail lock MODEL")
        return cls(tuple(_from_toml(table, str(path))))

    def write(self, path: str | Path) -> None:
        """To a lock file, whole or not at all."""
        place = files.checked_path(path)
        with files.replacing(place) as stream:
            stream.write(self.to_toml(place.parent).encode())

    def to_toml(self, folder: Path) -> str:
        """The file's text; files of models are named from the folder it is in."""
        return "\n".join(_toml(self, folder)) + "\n"

    def of_model(self, model: Model, path: str | Path) -> StageLock:
        """The lock of a model; one that the file does not have is an error that lists what it has."""
        key = model_key(model, Path(path).parent)
        found = next((lock for lock in self.models if lock.model == key), None)
        if found is None:
            known = [lock.model for lock in self.models]
            raise LockError(
                f"{path} has no model {key!r}{nearest(key, known) or '.'} It has: {listing(known)}. Add it: "
                f"dovetail lock {_from_here(model)} -o {path}"
            )
        return found


# ---- insisting on one


def enforce(plan: Plan, setting: Setting) -> None:
    """Refuse a plan that is not what the setting `locked` allows: a lock, or the path of a file that has one."""
    wanted = setting.value
    if isinstance(wanted, StageLock):
        wanted.check(plan.lock, f"the lock of {wanted.model!r}")
    elif wanted:
        accept = "" if is_recording(wanted) else f"dovetail lock -o {wanted}"
        allowed(wanted, plan.model).check(plan.lock, str(wanted), accept)


def allowed(path: str | Path, model: Model) -> StageLock:
    """What a file allows for a model: a project's lock, or a state or trajectory, which says what made it."""
    place = files.checked_path(path)
    if not place.exists():
        raise LockError(f"{path}: there is no such lock; write it with: dovetail lock MODEL -o {path}")
    if is_recording(place):
        return recorded(place)
    return ProjectLock.read(place).of_model(model, place)


def is_recording(path: str | Path) -> bool:
    """Whether a file is a state or trajectory, which carries a lock besides its numbers."""
    return Path(path).suffix == ".npz"


def recorded(path: str | Path) -> StageLock:
    """The lock that a state or a trajectory carries."""
    from dovetail.contracts.store import read_header

    header = read_header(path)
    if "lock" not in header:
        raise LockError(f"{path} carries no stage lock; files of this version of dovetail do")
    return StageLock.from_plain(header["lock"], str(path))


# ---- what a model is called


def _from_here(model: Model) -> str:
    return model_key(model, Path())


def model_key(model: Model, folder: Path) -> str:
    """What a lock calls a model: a built-in one's name, a file's path from a folder, or the name it gives itself."""
    from dovetail.loading import MODELS

    source = model.source
    if not source or source.startswith("<"):
        return model.modelname or source or "model"
    absolute = Path(os.path.abspath(source))
    if absolute.parent == MODELS:
        return absolute.stem
    return Path(os.path.relpath(absolute, os.path.abspath(folder))).as_posix()


# ---- the parts of a lock


def _locked(registry: Registry, record: Implementation) -> Locked:
    return Locked(record.label, record.version, _package(registry, record.provider), source_of(record))


def source_of(record: Implementation) -> str:
    """The hash of what an implementation's results depend on."""
    if record.function is not None and record.provider == "the call":
        return sources.of_function(record.function)
    return sources.of_module(record.target.partition(":")[0])


def _package(registry: Registry, provider: str) -> str:
    from dovetail import __version__

    if provider == "dovetail":
        return f"{DISTRIBUTION} {__version__}"
    version = next((p.version for p in registry.plugins if p.distribution == provider), "")
    return f"{provider} {version}".rstrip()


def _of_loading(registry: Registry, slot: str, text: str) -> Implementation | None:
    """The record of `name@backend/version`, as a Model says what loaded it; None for what is not installed."""
    name, _, backend = text.partition("/")[0].partition("@")
    return registry.find(slot, name, backend)


def _unknown(text: str) -> Locked:
    """What a Model says of its loading, where that is not at hand: a function of a call, another installation."""
    label, _, rest = text.partition(" (")[0].partition("/")
    version, _, provider = rest.partition(" of ")
    return Locked(label, version, provider or "dovetail", sources.UNKNOWN)


def _backend_source(registry: Registry, name: str) -> str:
    return sources.of_module(type(registry.backend(name)).__module__, OF_BACKENDS)


def _environment(plan: Plan, backends: Iterable[str]) -> dict[str, str]:
    import numpy as np

    found = {"numpy": np.__version__}
    for name in backends:
        runtime = getattr(plan.registry.backend(name), "runtime", None)
        if runtime is not None:
            found[f"runtime of {name}"] = str(runtime(plan.options))
    return found


# ---- comparing


def _changed(was: Mapping[str, str], now: Mapping[str, str]) -> list[Change]:
    return [
        Change(name, was.get(name, NOTHING), now.get(name, NOTHING))
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    ]


def _slot_changes(slot: str, was: Locked | None, now: Locked | None) -> list[Change]:
    """Another implementation as a whole; of the same one, each part that is otherwise."""
    if was is None or now is None or was.implementation != now.implementation:
        if was == now:
            return []
        elsewhere = was is None or now is None or was.package != now.package
        return [Change(slot, _named(was, elsewhere), _named(now, elsewhere))]
    named = f"{slot} {now.implementation}"
    return [
        Change(f"{named}: {part}", getattr(was, part), getattr(now, part))
        for part in ("version", "package", "source")
        if getattr(was, part) != getattr(now, part)
    ]


def _named(one: Locked | None, elsewhere: bool) -> str:
    if one is None:
        return NOTHING
    return one.implementation + (f" of {one.package}" if elsewhere else "")


def _count(changes: list[Change]) -> str:
    return f"{len(changes)} change{'s'[: len(changes) != 1]}"


# ---- TOML


_HEAD = (
    "# What computes the steps of this project's models. Written by `dovetail lock`; a run with `--locked` that",
    "# would differ is refused. Commit it, and do not edit it.",
)


def _toml(project: ProjectLock, folder: Path) -> Iterator[str]:
    locks = sorted(project.models, key=lambda lock: lock.model)
    yield from _HEAD
    yield f"format = {_quoted(FORMAT)}"
    for name in ("environment", "backends"):
        yield from ("", f"[{name}]")
        yield from _lines({k: v for lock in locks for k, v in getattr(lock, name).items()})
    yield from ("", "[implementations]")
    records = {f"{s} {one.implementation}": one for lock in locks for s, one in lock.stages.items()}
    for key, one in sorted(records.items()):
        parts = {"version": one.version, "package": one.package, "source": one.source}
        yield f"{_quoted(key)} = {{ {', '.join(_lines(parts, quote=False))} }}"
    for lock in locks:
        key = _quoted(model_of(lock.model, folder))
        yield from ("", f"[models.{key}]")
        yield from _lines(lock.settings)
        yield from ("", f"[models.{key}.stages]")
        yield from _lines({slot: one.implementation for slot, one in lock.stages.items()})


def model_of(model: str, folder: Path) -> str:
    """A path from the working directory as one from a folder; names stay."""
    if not os.path.exists(model):
        return model
    return Path(os.path.relpath(model, folder)).as_posix()


def _lines(entries: Mapping[str, str], *, quote: bool = True) -> list[str]:
    return [f"{_quoted(k) if quote else k} = {_quoted(v)}" for k, v in sorted(entries.items())]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _from_toml(table: Mapping[str, Any], place: str) -> Iterator[StageLock]:
    try:
        records = {key: _texts(one) for key, one in table["implementations"].items()}
        for model, entry in table["models"].items():
            stages = {s: {"implementation": t, **records[f"{s} {t}"]} for s, t in entry["stages"].items()}
            used = {text.partition("@")[2] for text in entry["stages"].values()}
            yield StageLock.from_plain(
                {
                    "model": model,
                    "settings": {name: value for name, value in entry.items() if name != "stages"},
                    "stages": stages,
                    "backends": {name: h for name, h in table["backends"].items() if name in used},
                    "environment": table["environment"],
                },
                place,
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{place}: it is not as `dovetail lock` writes it: {error!r}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _texts(plain: Any) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in plain.items()}
