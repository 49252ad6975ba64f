"""Choosing implementations of the stages that load a model, before there is a model.

The rule is the Selector's. A choice for a whole table holds for the rows that have an implementation of that name;
the other rows keep theirs. What nobody has is an error. A row is chosen when the model first needs it, so that a row
with two defaults hurts only those who use it, and what was used is what the Model records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from dovetail import pipeline, semantics
from dovetail.blame import blamed
from dovetail.config import BY_CALL, Config, Request
from dovetail.contracts.plugin_fields import as_plain
from dovetail.deprecation import todays_identity
from dovetail.errors import SelectionError
from dovetail.implementation import Implementation
from dovetail.planning.selection import UNASKED, Choice, Selector, check_slot, check_stage, no_row
from dovetail.registry import Registry, default_registry
from dovetail.signatures import signature

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

Stages = Mapping[str, str | Callable[..., Any]]
"""Choices by slot, as a call gives them: names or functions."""

ALSO_RUNNING = ("sdf_shape",)
"""Stages of running that loading uses too."""
CLOSED = ("geom_inertia", "mesh_inertia")
"""Tables whose rows the compiler asks for by MJCF's own keywords: a function under another key would never run."""


def loads_models(slot: str) -> bool:
    """Whether a slot takes part in loading."""
    stage = pipeline.STAGES.get(slot.partition(":")[0])
    return _also_runs(slot) or (stage is not None and stage.phase == "compile")


def loads_only(slot: str) -> bool:
    """Whether a slot takes part in loading and in nothing else."""
    return loads_models(slot) and not _also_runs(slot)


def loaded_already(slot: str) -> SelectionError:
    """What to say to a call that chooses for loading when the model is there."""
    return SelectionError(
        f"{BY_CALL}: {slot} takes part in loading a model, and this model is loaded already; give it to "
        f'dovetail.load: load(path, stages={{"{slot}": …}})'
    )


def for_loading(stages: Stages | None) -> dict[str, str | Callable[..., Any]]:
    """The choices that loading looks at."""
    return {slot: choice for slot, choice in (stages or {}).items() if loads_models(slot)}


def for_running(stages: Stages | None, *, loaded: bool = False) -> dict[str, str | Callable[..., Any]]:
    """The choices that a plan looks at: all that are not of loading alone, unknown ones too. With a model that is
    `loaded` already, those of loading come too late."""
    too_late = [slot for slot in stages or {} if loads_only(slot)]
    if loaded and too_late:
        raise loaded_already(too_late[0])
    return {slot: choice for slot, choice in (stages or {}).items() if slot not in too_late}


def _also_runs(slot: str) -> bool:
    return slot.partition(":")[0] in ALSO_RUNNING


@attrs.define
class LoadingSelector(Selector):
    """The Selector for slots of loading: no model has a say yet, and none could be unsuitable."""

    def _check_requests(self) -> None:
        """Every slot exists, and its strongest request can be granted somewhere."""
        for slot, requests in self.config.requests.items():
            check_slot(self.registry, slot, requests[0].origin)
            self._check_request(slot, requests[0])

    def _check_request(self, slot: str, request: Request) -> None:
        stage = pipeline.stage(slot.partition(":")[0])
        if stage.kind == "all":
            raise SelectionError(
                f"{request.origin}: every implementation of {slot} runs, so none is chosen; "
                "a function of your own can be added, and plugins can be disabled"
            )
        whole = stage.kind == "table" and stage.name == slot
        records = [r for r in self.registry.implementations if (r.stage if whole else r.slot) == slot]
        if not any(_grants(record, request) for record in records):
            asked = f"{request.name or ''}{f'@{request.backend}' if request.backend else ''}"
            installed = list({record.label: record for record in records}.values())
            raise self._unknown(slot, asked, request.origin, installed)

    def requests(self, slot: str) -> list[Request]:
        """Requests for this row, then those for its whole table that this row can grant."""
        records, own = self.registry.of(slot), self._requests.get(slot, [])
        of_table = super().requests(slot)[len(own) :]
        return own + [request for request in of_table if any(_grants(r, request) for r in records)]


def _grants(record: Implementation, request: Request) -> bool:
    return request.name in (None, record.name) and request.backend in (None, record.backend)


@attrs.define(eq=False)
class Loading:
    """The choices of one loading: what fills each slot, asked for when it is first called."""

    registry: Registry
    selector: LoadingSelector
    _used: dict[str, tuple[Choice, Callable[..., Any]]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(
        cls,
        registry: Registry | None = None,
        stages: Stages | None = None,
        config: Config | None = None,
        bundle: str | None = None,
    ) -> Loading:
        """From what a call says (stages, and which `bundle` of rules), with a configuration (else files and
        environment) behind it."""
        registry = registry or default_registry()
        for slot in stages or {}:
            _refuse_running(slot)
        wanted = {_slot(registry, slot): choice for slot, choice in (stages or {}).items()}
        extended, names = _with_functions(registry, wanted)
        named = {**{s: c for s, c in wanted.items() if not callable(c)}, **names}
        call = Config.of_call(named, semantics=bundle)
        merged = Config.merge([call, Config.discover() if config is None else config])
        return cls(extended, LoadingSelector(extended, _of_loading(merged, extended)))

    def tables(self) -> dict[str, Any]:
        """The tables that the compiler calls: by stage, a Row for each key."""
        return {
            stage.name: {key: Row(self, f"{stage.name}:{key}") for key in self.registry.keys(stage.name)}
            for stage in pipeline.STAGES.values()
            if stage.kind == "table" and loads_models(stage.name)
        }

    def checks(self) -> list[Callable[..., Any]]:
        """What looks at a finished model: dovetail's, the call's, and of other packages those that are asked for."""
        return [record.load() for record in self._checking()]

    def _checking(self) -> list[Implementation]:
        records = self.registry.of("check_model")
        return [r for r in records if self.selector.asks_for(f"check_model#{r.name}", r)]

    def choice(self, slot: str) -> Choice:
        """What fills a slot."""
        return self._entry(slot)[0]

    def function(self, slot: str) -> Callable[..., Any]:
        """The function that fills a slot."""
        return self._entry(slot)[1]

    def _entry(self, slot: str) -> tuple[Choice, Callable[..., Any]]:
        if slot not in self._used:
            choice = self.selector.choose(slot)
            self._used[slot] = (choice, _bound(choice.record, self.registry))
        return self._used[slot]

    def described(self) -> list[Any] | None:
        """All that decides which implementations are used, as plain values, for who keeps the result. None if a
        function takes part: what it does is not known by its name."""
        records = [r for r in self.registry.implementations if loads_models(r.stage)]
        if any(record.function is not None for record in records):
            return None
        config = self.selector.config
        requests = [[slot, *map(attrs.astuple, found)] for slot, found in config.requests.items()]
        settings = [[name, *attrs.astuple(setting)] for name, setting in config.settings.items()]
        rules = sorted(self.option_defaults().items())
        installed = [[p.name, p.distribution, p.version, p.status] for p in self.registry.plugins]
        offered = [[r.slot, r.identity, r.target, r.default] for r in records]
        own = as_plain(self.registry.model_fields().values())
        return [requests, settings, rules, installed, offered, own]

    def option_defaults(self) -> dict[str, Any]:
        """Defaults of `<option>` and its flags that the bundle of rules has otherwise."""
        return self.selector.semantics.defaults()

    def is_all_builtin(self) -> bool:
        """Whether nothing but dovetail's own implementations took part."""
        used = [choice.record for choice, _ in self._used.values()]
        return all(record.is_builtin for record in (*used, *self._checking()))

    def record(self, model: Model) -> None:
        """Let the Model say what it was made with: every slot that was needed, and what filled it."""
        used = {slot: _described(choice) for slot, (choice, _) in self._used.items()}
        asked = semantics.asked(self.selector.config)
        if asked.value != semantics.DEFAULT:
            used[semantics.SLOT] = f"{asked.value} ({asked.origin})"
        object.__setattr__(model, "stages", MappingProxyType(used))


@attrs.frozen(eq=False)
class Row:
    """A row of a table as the compiler calls it."""

    loading: Loading
    slot: str

    def __call__(self, *arguments: Any) -> Any:
        return self.loading.function(self.slot)(*arguments)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the compiler must know of the implementation."""
        return self.loading.choice(self.slot).record.facts


def _bound(record: Implementation, registry: Registry) -> Callable[..., Any]:
    """An implementation as a function of the stage's arguments in their order; others' are checked, and called by
    name, so that the order in which they list the arguments does not matter. What it gets besides, because its record
    asks for that, are the arguments of its own."""
    function = record.load()
    if record.is_builtin:
        return function
    stage = pipeline.stage(record.stage)
    registry.backend(record.backend).check(record, stage, function)
    parameters = signature(function).parameters
    names = [*stage.arguments, *(name for name in parameters if name not in stage.arguments)]

    def call(*arguments: Any) -> Any:
        given = dict(zip(names, arguments, strict=False))
        with blamed(record):
            return function(**{name: value for name, value in given.items() if name in parameters})

    return call


def _described(choice: Choice) -> str:
    return choice.record.identity + ("" if choice.origin in UNASKED else f" ({choice.origin})")


# what was written, as slots


def _slot(registry: Registry, slot: str) -> str:
    """A slot with its row spelt as the registry does: environment variables have neither dots nor capitals, and a
    suffix may be written without its dot."""
    stage, colon, key = slot.partition(":")
    keys = registry.keys(stage)
    if not colon or not loads_models(stage) or key in keys:
        return slot
    alike = [known for known in keys if _plain(known) == _plain(key)]
    if len(alike) == 1:
        return f"{stage}:{alike[0]}"
    return f"{stage}:.{key}" if stage == "load_mesh" and not key.startswith(".") else slot


def _plain(key: str) -> str:
    return re.sub(r"\W+", "_", key).strip("_").lower()


def _with_functions(registry: Registry, stages: Stages) -> tuple[Registry, dict[str, str]]:
    """A registry that also has the functions, and their names by slot; a function for a table is one for each row."""
    own = {slot: choice for slot, choice in stages.items() if callable(choice)}
    if not own:
        return registry, {}
    names: dict[str, str] = {}
    for slot, function in own.items():
        _check_function_slot(registry, slot)
        stage = pipeline.stage(slot.partition(":")[0])
        whole = stage.kind == "table" and slot == stage.name
        rows = [f"{slot}:{key}" for key in registry.keys(slot)] if whole else [slot]
        registry, chosen = registry.extended(dict.fromkeys(rows, function))
        if stage.kind != "all":
            names |= {slot: next(iter(chosen.values()))} if whole else chosen
    return registry, names


def _check_function_slot(registry: Registry, slot: str) -> None:
    """Refuse a function where nothing would call it."""
    stage, _, key = slot.partition(":")
    keys = registry.keys(stage)
    if (stage in CLOSED and key and key not in keys) or (
        pipeline.stage(stage).kind == "table" and not keys and not key
    ):
        raise no_row(registry, slot, BY_CALL)


def _of_loading(config: Config, registry: Registry) -> Config:
    """The requests of a configuration that are for loading; the others are for plans, if there is such a stage."""
    requests: dict[str, tuple[Request, ...]] = {}
    for written, found in config.requests.items():
        check_stage(written, found[0].origin)
        if loads_models(written):
            slot = _slot(registry, written)
            requests[slot] = requests.get(slot, ()) + found
    kept = ("plugins", semantics.SLOT)
    return Config(requests, {name: setting for name, setting in config.settings.items() if name in kept})


def without_loading(config: Config, registry: Registry | None = None) -> Config:
    """A configuration for plans: what it has for loading is not for them, and rows are spelt as the registry does."""
    known = registry or default_registry()
    kept = {slot: requests for slot, requests in config.requests.items() if not loads_only(slot)}
    return attrs.evolve(config, requests={_slot(known, slot): requests for slot, requests in kept.items()})


def over_configuration(call: Config, config: Config | None = None) -> Config:
    """What a call asks for, and behind it a configuration (else files and environment) without its part for
    loading."""
    return Config.merge([call, without_loading(Config.discover() if config is None else config)])


def _refuse_running(slot: str) -> None:
    """A call that loads has no use for stages of running."""
    check_stage(slot, BY_CALL)
    if not loads_models(slot):
        raise SelectionError(
            f"{BY_CALL}: {slot} runs in simulations and takes no part in loading; give it to Simulation: "
            f'Simulation(model, stages={{"{slot}": …}})'
        )


# what a Model says about its loading


def recorded(registry: Registry, model: Model, slot: str) -> Implementation | None:
    """The implementation that loading used for a slot; None if the Model does not say."""
    text = model.stages.get(slot)
    if text is None:
        return None
    todays = todays_identity(slot, text, f"model {model.modelname or model.source!r}")
    name, _, backend = todays.partition("/")[0].partition("@")
    record = registry.find(slot, name, backend)
    if record is None:
        raise SelectionError(
            f"{slot}: this model was made with {text}, which is not installed here; say which to use, as in "
            f'dovetail.set_constants(model, stages={{"{slot}": …}})'
        )
    return record


def is_chosen(text: str) -> bool:
    """Whether a Model's entry for a slot is something else than dovetail's own default."""
    return " " in text


def chosen_stages(model: Model) -> dict[str, str]:
    """What loading used that was not dovetail's own default."""
    return {slot: text for slot, text in model.stages.items() if is_chosen(text)}


def compile_lines(model: Model) -> list[str]:
    """One line for each choice of loading that was not dovetail's own default."""
    return [f"loaded with {slot} {text}" for slot, text in chosen_stages(model).items()]
