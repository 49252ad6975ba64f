"""What the rules of plugins say of a model: which stages it needs and why, which features it has.

The kernel knows no rule itself. A stage's hookspec names one (`@stage(…, needed="module:function")`), and for a table
the rows that models may ask for (`rows="module:TABLE"`); a record names one for the row it adds
(`Implementation.needed`); a plugin states groups of features (`dovetail_features`). Rules are imported when first
asked and see the model through a `RecordedModel`, so what they depend on is known.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dovetail import pipeline
from dovetail.errors import PluginError, nearest
from dovetail.features import every_member
from dovetail.recorded_model import RecordedModel

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.pipeline import Stage
    from dovetail.registry import Registry

Rule = Callable[[Any], str]
"""Why a model needs something, or an empty string."""

EVERY_MODEL = "every model"
"""The reason for what no rule is about."""


class ModelFacts:
    """What a registry's rules say of a model, and which Model values they looked at. Each rule is asked once."""

    def __init__(self, model: Model, registry: Registry) -> None:
        self._model = RecordedModel(model)
        self._registry = registry
        self._reasons: dict[str, str] = {}
        self._members: dict[str, frozenset[str]] = {}

    @property
    def model(self) -> Any:
        """The Model as rules see it."""
        return self._model

    @cached_property
    def features(self) -> frozenset[str]:
        """The features the model uses, as `group.member`."""
        groups = self._registry.feature_groups
        return frozenset(f"{group}.{member}" for group in groups for member in self.members(group))

    def members(self, group: str) -> frozenset[str]:
        """The members of one group of features that the model uses."""
        if group not in self._members:
            stated = self._registry.feature_groups[group]
            used: Iterable[str] = load(stated.of, f"feature group {group}")(self._model)
            self._members[group] = frozenset(used)
        return self._members[group]

    def need(self, slot: str) -> str:
        """Why a slot must run: the first reason that one of its rules gives, "" if none of them does, "every model"
        without a rule."""
        if slot not in self._reasons:
            rules = list(_rules(slot, self._registry))
            reasons = (rule(self._model) for rule in rules)
            self._reasons[slot] = next(filter(None, reasons), "") if rules else EVERY_MODEL
        return self._reasons[slot]

    def reasons(self) -> dict[str, str]:
        """Why each slot that has a rule must run, in the order of a step; "" for those that need not."""
        return {slot: self.need(slot) for slot in ruled_slots(self._registry)}

    def on_request(self, stage: str) -> bool:
        """Whether a stage also runs if somebody keeps its results by name."""
        return pipeline.stage(stage).on_request

    def known_rows(self, stage: str) -> list[str]:
        """Keys of the rows that a table's rules name, though nobody may implement them."""
        return list(_row_rules(pipeline.stage(stage)))

    def part_keys(self, part: Stage) -> list[str]:
        """The keys of a part table that this model uses."""
        written = self._registry.keys(part.name)
        if not part.keys:
            return written
        used = self.members(part.keys)
        return sorted(used) if part.every_key else [key for key in written if key in used]

    def constrained(self) -> str:
        """Why constraint rows can appear."""
        return self.need("constraint_rows")

    def unsupported(self, supports: tuple[str, ...]) -> list[str]:
        """The features of the model that a record's `supports` leaves out."""
        return unsupported(supports, self.features)

    @property
    def looked_at(self) -> frozenset[str]:
        """The Model fields (dotted, as `opt.cone`) that rules have read so far."""
        return self._model.looked_at


def known_features(registry: Registry) -> set[str]:
    """Every feature a record's `supports` may name, but for groups that anybody may add members to."""
    return every_member(registry.feature_groups)


def ruled_slots(registry: Registry) -> Iterator[str]:
    """The slots that rules are about, in the order of a step."""
    for name in pipeline.STEP:
        stage = pipeline.STAGES[name]
        if stage.needed:
            yield name
        stated = [r.key for r in registry.implementations if r.stage == name and r.key and r.needed]
        yield from (f"{name}:{key}" for key in dict.fromkeys((*_row_rules(stage), *stated)))


def _rules(slot: str, registry: Registry) -> Iterator[Rule]:
    """The rules about a slot: its hookspec's, and for a row those of its records."""
    name, _, key = slot.partition(":")
    stage = pipeline.stage(name)
    if not key:
        if stage.needed:
            yield load(stage.needed, f"the need for {name}")
        return
    known = _row_rules(stage).get(key)
    if known is not None:
        yield known
    for target in dict.fromkeys(r.needed for r in registry.of(slot) if r.needed):
        yield load(target, f"the need for {slot}")


def _row_rules(stage: Stage) -> Mapping[str, Rule]:
    """The rules about rows that a table's hookspec names."""
    table: Mapping[str, Rule] = load(stage.rows, f"the rows of {stage.name}") if stage.rows else {}
    return table


def load(target: str, subject: str) -> Any:
    """What `module:name` names; an error says what it was to be."""
    module_name, _, attribute = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise PluginError(
            f"{subject}: importing {module_name} failed: {type(error).__name__}: {error}"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise PluginError(
            f"{subject}: {module_name} has no {attribute!r}{nearest(attribute, vars(module))}"
        ) from None


def unsupported(supports: tuple[str, ...], used: frozenset[str]) -> list[str]:
    """The used features that a record's `supports` leaves out (groups it does not mention are all right)."""
    groups = {feature.partition(".")[0] for feature in supports}
    return sorted(f for f in used if f.partition(".")[0] in groups and f not in supports)
