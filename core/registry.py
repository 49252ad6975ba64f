"""All records and backends that are installed, found through pluggy, looked up with helpful errors."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import pluggy

from dovetail import pipeline
from dovetail.backend import Backend
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS, KernelField, Transfer, expand
from dovetail.contracts.plugin_fields import wrong_with
from dovetail.contracts.types import DATA_SPECS
from dovetail.deprecation import find, todays
from dovetail.entry_points import entry_points
from dovetail.errors import NoVersionError, PluginError, UnknownImplementationError, listing, nearest, shown
from dovetail.features import FeatureGroup, strange_feature
from dovetail.hookspecs import discovery
from dovetail.hookspecs.markers import PROJECT
from dovetail.implementation import Implementation
from dovetail.once import Once
from dovetail.semantics import Semantics

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Warn = Callable[[str], None]
"""How to tell of a plugin that is left out."""

ENTRY_POINTS = "dovetail.plugins"
DISABLED = "DOVETAIL_DISABLED_PLUGINS"


@attrs.frozen
class PluginInfo:
    """One plugin as `dovetail plugins` lists it."""

    name: str
    distribution: str
    version: str
    status: str
    """`active`, `disabled` or `broken`."""
    detail: str = ""
    implementations: tuple[Implementation, ...] = ()


@attrs.define
class Registry:
    """Records by slot (`stage` or `stage:key`), backends by name, and the plugins they came from."""

    implementations: list[Implementation] = attrs.field(factory=list)
    backends: dict[str, Backend] = attrs.field(factory=dict)
    plugins: list[PluginInfo] = attrs.field(factory=list)
    kernel_fields: dict[str, KernelField] = attrs.field(factory=lambda: dict(BUILTIN_KERNEL_FIELDS))
    """What lane stages may leave for each other, by name."""
    transfers: list[Transfer] = attrs.field(factory=list)
    versions: list[Callable[[Implementation], Iterable[Implementation]]] = attrs.field(factory=list)
    """What gives versions for other backends of a function that is written for the reference."""
    no_versions: dict[str, str] = attrs.field(factory=dict)
    """Why a function has none, by slot and label."""
    feature_groups: dict[str, FeatureGroup] = attrs.field(factory=dict)
    """Which features models may have, by group."""
    semantics: dict[str, Semantics] = attrs.field(factory=dict)
    """Bundles of choices by name."""
    in_languages: list[Implementation] = attrs.field(factory=list)
    """Records that name a language where others name a backend, as they were given."""

    def on_each_backend(self, record: Implementation) -> tuple[Implementation, ...]:
        """The record on its backend or, where it names a language, on every backend that speaks it.

        While nobody speaks it the record stays as it is: it is listed, and choosing it is an error.
        """
        if record.backend in self.backends:
            return (record,)
        speakers = [b.name for b in self.backends.values() if b.language == record.backend]
        return tuple(attrs.evolve(record, backend=name) for name in speakers) or (record,)

    def add(self, record: Implementation) -> tuple[Implementation, ...]:
        """Register a record, on every backend that speaks its language; what was registered."""
        records = self.on_each_backend(record)
        for one in records:
            self._add(one)
        if record.backend not in self.backends:
            self.in_languages.append(record)
        return records

    def add_backend(self, backend: Backend) -> None:
        """Register a backend, and on it all records in its language."""
        _check_backend(backend)
        self.backends[backend.name] = backend
        language = backend.language
        self.implementations = [
            r for r in self.implementations if r.backend != language or r.backend in self.backends
        ]
        for record in self.in_languages:
            if record.backend == language:
                self._add(attrs.evolve(record, backend=backend.name))

    def _add(self, record: Implementation) -> None:
        """Register one record; the same stage, key, name and backend twice is an error."""
        stage = pipeline.stage(record.stage)
        for field in record.kernel_fields:
            self._add_kernel_field(record, field)
        for spec in record.model_fields:
            self._check_model_field(record, spec)
        record = self._with_whole_groups(record)
        if (stage.kind == "table") != (record.key is not None):
            need = "needs" if stage.kind == "table" else "takes no"
            raise PluginError(f"{record.slot} {record.label} from {record.provider}: stage {need} key")
        for name in _named_fields(record):
            if name not in DATA_SPECS and name not in self.kernel_fields:
                known = {*DATA_SPECS, *self.kernel_fields}
                raise PluginError(
                    f"{record.slot} {record.label} from {record.provider}: there is no Data or kernel field "
                    f"{name!r}{nearest(name, known) or '.'} Fields of its own it declares with fields= and "
                    "kernel_fields="
                )
        strange = strange_feature(record.supports, self.feature_groups)
        if strange:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: supports names {strange}"
            )
        for other in self.of(record.slot):
            if other.label == record.label and stage.kind != "all":
                raise PluginError(
                    f"{record.slot} {record.label} is registered twice: by {other.provider} and by "
                    f"{record.provider}; disable one with {DISABLED}"
                )
        self.implementations.append(record)

    def copy(self) -> Registry:
        """A registry to which records can be added without changing this one."""
        return attrs.evolve(
            self,
            implementations=list(self.implementations),
            kernel_fields=dict(self.kernel_fields),
            feature_groups=dict(self.feature_groups),
            semantics=dict(self.semantics),
            backends=dict(self.backends),
            in_languages=list(self.in_languages),
            no_versions=dict(self.no_versions),
        )

    def add_feature_group(self, group: FeatureGroup) -> None:
        """Take over a group of features; two plugins may not state the same one."""
        other = self.feature_groups.setdefault(group.name, group)
        if other is not group:
            raise PluginError(
                f"the feature group {group.name!r} of {group.plugin} is stated by {other.plugin} already; give it "
                "another name"
            )

    def add_semantics(self, bundle: Semantics) -> None:
        """Take over a bundle; two plugins may not state the same one, and its slots must exist."""
        other = self.semantics.setdefault(bundle.name, bundle)
        if other is not bundle:
            raise PluginError(
                f"the semantics {bundle.name!r} of {bundle.provider} is stated by {other.provider} already; give it "
                "another name"
            )
        for slot in bundle.stages:
            pipeline.stage(slot.partition(":")[0])

    def _add_kernel_field(self, record: Implementation, field: KernelField) -> None:
        """Take over a kernel field that a record declares; two records may declare the same one alike."""
        if ":" not in field.name:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: kernel field {field.name!r} of a plugin "
                "should be named 'namespace:field'"
            )
        if self.kernel_fields.setdefault(field.name, field) != field:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: kernel field {field.name!r} is declared "
                "otherwise already"
            )

    def _check_model_field(self, record: Implementation, spec: FieldSpec) -> None:
        """A Model field that a record declares is well named, and two records declare the same one alike."""
        problem = wrong_with(spec)
        if not problem and self.model_fields().get(spec.name, spec) != spec:
            problem = "is declared otherwise already"
        if problem:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: Model field {spec.name!r} {problem}"
            )

    def _with_whole_groups(self, record: Implementation) -> Implementation:
        """The record with `group.*` spelt out, and with fields as they are called now."""
        named = _named_fields(record)
        if not any(name.endswith(".*") or find("kernel field", name) for name in named):
            return record
        where = f"{record.slot} {record.label} from {record.provider}"

        def spelt(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
            if names is None:
                return None
            return expand((todays("kernel field", name, where) for name in names), self.kernel_fields)

        return attrs.evolve(
            record,
            reads=spelt(record.reads),
            writes=spelt(record.writes),
            reads_with={feature: spelt(names) or () for feature, names in record.reads_with.items()},
        )

    def extended(self, functions: Mapping[str, Callable[..., Any]]) -> tuple[Registry, dict[str, str]]:
        """A registry that also has functions of the caller's own by slot, and the names they have there."""
        registry = self.copy()
        chosen = {}
        for slot, function in functions.items():
            record = Implementation.of_function(slot, function)
            taken = {r.name for r in registry.of(slot)}
            if record.name in taken:
                record = attrs.evolve(record, name=f"{record.name}_of_call")
            registry.add(record)
            chosen[slot] = record.name if registry.add_versions(record) else record.label
        return registry, chosen

    def add_versions(self, record: Implementation) -> bool:
        """Have versions for other backends made of a function for the reference, in place of those made before if
        these are out of date; whether there are any. Where its package brings a sibling, that is the version."""
        siblings = [r for r in self.of(record.slot) if r.name == record.name and r is not record]
        if any(r.captures is None for r in siblings):
            return True
        if siblings and all(r.captures.hold() for r in siblings):
            return True
        self.implementations = [r for r in self.implementations if r not in siblings]
        versions = self._versions(record)
        if versions:  # a version hides the function itself from its backend's look at the arguments
            self.backend(record.backend).check(record, pipeline.STAGES[record.stage], record.load())
        for version in versions:
            self.add(version)
        return bool(versions)

    def _versions(self, record: Implementation) -> list[Implementation]:
        """What plugins make of a function; why they cannot is noted."""
        reason = f"{record.slot} {record.label}"
        self.no_versions.pop(reason, None)
        try:
            return [version for versions in self.versions for version in versions(record)]
        except NoVersionError as error:
            self.no_versions[reason] = str(error)
            return []

    def why_no_version(self, record: Implementation) -> str:
        """Why a function for the reference could not be worked into kernels; empty if it was not tried, or was."""
        return self.no_versions.get(f"{record.slot} {record.label}", "")

    def of(self, slot: str) -> list[Implementation]:
        """Every record for a slot, `stage` or `stage:key`."""
        stage, colon, row = slot.partition(":")
        key = row if colon else None
        return [r for r in self.implementations if r.stage == stage and r.key == key]

    def keys(self, stage: str) -> list[str]:
        """The row keys of a table stage, in order of registration."""
        return list(
            dict.fromkeys(r.key for r in self.implementations if r.stage == stage and r.key is not None)
        )

    def find(self, slot: str, name: str, backend: str) -> Implementation | None:
        for record in self.of(slot):
            if record.name == name and record.backend == backend:
                return record
        return None

    def written_in(self, language: str, slot: str, name: str) -> Implementation | None:
        """The record of a slot on whichever backend speaks a language: what a library asks for that calls a stage."""
        for record in self.of(slot):
            backend = self.backends.get(record.backend)
            if record.name == name and backend is not None and backend.language == language:
                return record
        return None

    def get(self, slot: str, label: str) -> Implementation:
        """The record `name@backend` of a slot, or an error that lists what exists."""
        for record in self.of(slot):
            if record.label == label:
                return record
        labels = [r.label for r in self.of(slot)]
        raise UnknownImplementationError(
            f"{slot}: there is no {label!r}{nearest(label, labels) or '.'} Installed: {listing(labels)}"
        )

    def backend(self, name: str) -> Backend:
        try:
            return self.backends[name]
        except KeyError:
            raise UnknownImplementationError(
                f"there is no backend {name!r}{nearest(name, self.backends) or '.'} "
                f"Installed: {listing(self.backends)}"
            ) from None

    def data_fields(self) -> dict[str, FieldSpec]:
        """The Data fields that implementations add, by namespaced name."""
        return {field.name: field for record in self.implementations for field in record.fields}

    def model_fields(self) -> dict[str, FieldSpec]:
        """The Model fields that implementations add, by namespaced name."""
        return {spec.name: spec for record in self.implementations for spec in record.model_fields}

    def broken(self) -> list[PluginInfo]:
        return [p for p in self.plugins if p.status == "broken"]


def _check_backend(backend: Backend) -> None:
    """Whether a backend has all that plans ask it for."""
    asked = {name for name in (*Backend.__annotations__, *vars(Backend)) if not name.startswith("_")}
    lacking = [name for name in asked if not hasattr(backend, name)]
    if lacking:
        name = getattr(backend, "name", type(backend).__name__)
        raise PluginError(f"backend {name!r} lacks {listing(lacking)}; see dovetail.backend.Backend")


def _named_fields(record: Implementation) -> list[str]:
    """The Data fields a record says it reads and writes, without those it brings itself."""
    own = {field.name for field in record.fields}
    named = (
        *(record.reads or ()),
        *(record.writes or ()),
        *(f for r in record.reads_with.values() for f in r),
    )
    return [f for f in named if f not in own]


def _disabled() -> set[str]:
    return {name.strip() for name in os.environ.get(DISABLED, "").split(",") if name.strip()}


def _hooks() -> pluggy.PluginManager:
    """What knows the specifications of all hooks, and no plugin yet."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(discovery)
    for module in pipeline.HOOKSPEC_MODULES:
        manager.add_hookspecs(module)
    return manager


@contextmanager
def _asked_alone(manager: pluggy.PluginManager, plugin: object, name: str) -> Iterator[Any]:
    """The hooks with one plugin behind them, which is taken off again: it is judged by itself, and reading the
    specifications takes longer than asking a plugin."""
    try:
        manager.register(plugin, name)
        manager.check_pending()
        _refuse_bare_stages(manager)
        _refuse_without_hooks(manager, plugin)
        yield manager.hook
    finally:
        manager.unregister(plugin, name)


def _of_provider(record: Implementation, distribution: str) -> Implementation:
    return record if record.provider == distribution else attrs.evolve(record, provider=distribution)


def _answers(hook: Any, name: str, kind: type[Any]) -> list[Any]:
    """What a plugin's hook returns, which must be a list of one kind of thing."""
    return [one for answer in getattr(hook, name)() for one in _listed(name, answer, kind)]


def _listed(name: str, answer: object, kind: type[Any]) -> list[Any]:
    wanted = "Backend" if kind is object else kind.__name__
    article = "an" if wanted[0] in "AEIOU" else "a"
    if isinstance(answer, str | bytes | Mapping | type) or not isinstance(answer, Iterable):
        raise PluginError(
            f"{name} returns {shown(answer)}; it should return a list: return [{wanted}(…), …], with brackets even "
            "for one"
        )
    found = list(answer)
    for number, one in enumerate(found):
        strange = isinstance(one, str | type) or not isinstance(one, kind)
        if strange:
            raise PluginError(
                f"{name} returns a list whose entry {number} is {shown(one)}, not {article} {wanted}; make each with "
                f"{wanted}(…) of dovetail.plugin"
            )
    return found


def _collect(
    registry: Registry,
    plugin: object,
    name: str,
    distribution: str,
    manager: pluggy.PluginManager | None = None,
) -> tuple[Implementation, ...]:
    """Call one plugin's discovery hooks and add what it returns, all or nothing."""
    with _asked_alone(manager or _hooks(), plugin, name) as hook:
        records = [
            _of_provider(record, distribution)
            for record in _answers(hook, "dovetail_implementations", Implementation)
        ]
        backends: list[Any] = _answers(hook, "dovetail_backends", object)
        transfers = _answers(hook, "dovetail_transfers", Transfer)
        versions: list[Any] = [h.function for h in hook.dovetail_function_versions.get_hookimpls()]
        bundles = [
            attrs.evolve(bundle, provider=distribution)
            for bundle in _answers(hook, "dovetail_semantics", Semantics)
        ]
        groups = [
            attrs.evolve(group, plugin=name) for group in _answers(hook, "dovetail_features", FeatureGroup)
        ]
    trial = registry.copy()
    for group in groups:
        trial.add_feature_group(group)
    for bundle in bundles:
        trial.add_semantics(bundle)
    clash = next((b.name for b in backends if b.name in registry.backends), None)
    if clash is not None:
        raise PluginError(f"backend {clash!r} of {distribution} is registered already; give it another name")
    for backend in backends:
        trial.add_backend(backend)
    added = tuple(one for record in records for one in trial.add(record))
    registry.implementations = trial.implementations
    registry.kernel_fields = trial.kernel_fields
    registry.feature_groups = trial.feature_groups
    registry.semantics = trial.semantics
    registry.backends = trial.backends
    registry.in_languages = trial.in_languages
    registry.transfers += transfers
    registry.versions += versions
    return added


def _refuse_bare_stages(manager: pluggy.PluginManager) -> None:
    """A hookimpl of a stage itself would never be called: stages are chosen by their records."""
    for name in pipeline.STAGES:
        if getattr(manager.hook, name).get_hookimpls():
            raise PluginError(
                f"it marks {name} as a hookimpl; return an Implementation(stage={name!r}, …, "
                'target="module:function") from dovetail_implementations instead'
            )


def _refuse_without_hooks(manager: pluggy.PluginManager, plugin: object) -> None:
    """What has no hook can offer nothing."""
    if manager.get_hookcallers(plugin):
        return
    known = [name for name in vars(discovery) if name.startswith("dovetail_")]
    bare = [name for name in known if callable(getattr(plugin, name, None))]
    what = getattr(plugin, "__name__", None) or shown(plugin)
    raise PluginError(
        f"{what} has no hooks, so it offers nothing; "
        + (
            f"mark {bare[0]} with @hookimpl of dovetail.plugin"
            if bare
            else "write a function dovetail_implementations marked with @hookimpl of dovetail.plugin, or let the "
            "entry point name the module that has it"
        )
    )


def _add_third_party(
    registry: Registry, entry: EntryPoint, manager: pluggy.PluginManager, warn: Warn
) -> None:
    distribution = entry.dist.name if entry.dist else entry.name
    version = entry.dist.version if entry.dist else ""
    if {entry.name, distribution} & _disabled():
        registry.plugins.append(PluginInfo(entry.name, distribution, version, "disabled", f"by {DISABLED}"))
        return
    try:
        records = _collect(registry, entry.load(), entry.name, distribution, manager)
    except Exception as error:  # a third party's bug must not stop those who do not use it
        detail = f"{type(error).__name__}: {error}"
        registry.plugins.append(PluginInfo(entry.name, distribution, version, "broken", detail))
        warn(
            f"plugin {entry.name!r} of {distribution} is broken and left out: {detail}. Mend or uninstall it, or set "
            f"{DISABLED}={entry.name} to leave it out without a word"
        )
        return
    registry.plugins.append(PluginInfo(entry.name, distribution, version, "active", "", records))


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=3)


def _warn_once(text: str) -> None:
    """The same is said once in a process, however often the registry is built again."""
    with _told.new(text) as new:
        if new:
            warnings.warn(text, stacklevel=4)


_told = Once()


def _note_unknown_backends(registry: Registry, warn: Warn) -> None:
    """Records of third parties for a backend that nobody has: they can never be chosen, the rest can."""
    for number, info in enumerate(registry.plugins):
        lost = [r for r in info.implementations if r.backend not in registry.backends]
        lost = [r for r in lost if registry.find(r.slot, r.name, r.backend) is not None]
        if info.distribution == "dovetail" or not lost:
            continue
        languages = {b.language for b in registry.backends.values()}
        known = sorted({*registry.backends, *languages})
        detail = (
            f"{lost[0].slot} {lost[0].label} is for a backend that is not installed"
            f"{nearest(lost[0].backend, known) or '.'} Backends and languages here: {', '.join(known)}"
        )
        registry.plugins[number] = attrs.evolve(info, detail=detail)
        warn(
            f"plugin {info.name!r} of {info.distribution}: {detail}. Correct backend= of the record, or install what "
            "brings it; the rest of the package is used"
        )


def build_registry(*, third_party: bool = True, warn: Warn = _warn) -> Registry:
    """A registry of the built-in plugins, then of installed ones in order of their names."""
    from dovetail import __version__, builtin

    registry, manager = Registry(), _hooks()
    for name, plugin in builtin.plugins():
        records = _collect(registry, plugin, name, "dovetail", manager)
        registry.plugins.append(PluginInfo(name, "dovetail", __version__, "active", "", records))
    if third_party:
        for entry in sorted(entry_points(ENTRY_POINTS), key=lambda entry: entry.name):
            _add_third_party(registry, entry, manager, warn)
        _note_unknown_backends(registry, warn)
    return registry


_cached: tuple[str, Registry] | None = None


def default_registry() -> Registry:
    """The process-wide registry, rebuilt when the set of disabled plugins changes."""
    global _cached
    key = os.environ.get(DISABLED, "")
    if _cached is None or _cached[0] != key:
        _cached = (key, build_registry(warn=_warn_once))
    return _cached[1]
