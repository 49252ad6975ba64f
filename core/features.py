"""Features: what a model uses that an implementation may or may not handle, as `joint.ball` or `trn.tendon`.

Which features there are is stated by plugins: each `FeatureGroup` names a group, its members, and the function that
says which of them a model uses. `planning.needs.ModelFacts` asks those functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from dovetail.errors import nearest

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.planning.needs import ModelFacts
    from dovetail.registry import Registry


@attrs.frozen(kw_only=True)
class FeatureGroup:
    """Features of one kind, stated by a plugin: `FeatureGroup(name="joint", members=("free", …), of="…:joints")`."""

    name: str
    members: tuple[str, ...] | None
    """Every member there is; None if anybody may add some, as names of engine plugins."""
    of: str
    """`module:function` of the Model that gives the members it uses."""
    doc: str = ""
    plugin: str = attrs.field(default="", eq=False)
    """The plugin it came from; set by the registry."""


def strange_feature(supports: Iterable[str], groups: Mapping[str, FeatureGroup]) -> str:
    """The first feature that no group has, with the nearest that one has; empty if all are known."""
    for feature in supports:
        group, _, member = feature.partition(".")
        members = groups[group].members if group in groups else ()
        if members is not None and member not in members:
            return f"{feature!r}, which is no feature{nearest(feature, every_member(groups)) or '.'}"
    return ""


def every_member(groups: Mapping[str, FeatureGroup]) -> set[str]:
    """The features of all groups whose members are known."""
    return {f"{group.name}.{member}" for group in groups.values() for member in group.members or ()}


def features(model: Model, registry: Registry | None = None) -> frozenset[str]:
    """The features a model uses, as `group.member`, by the groups of a registry or of the usual one."""
    return _facts(model, registry).features


def need(model: Model, slot: str, registry: Registry | None = None) -> str:
    """Why a slot must run by the rules of a registry or of the usual one, or an empty string."""
    return _facts(model, registry).need(slot)


def _facts(model: Model, registry: Registry | None) -> ModelFacts:
    from dovetail.planning.needs import ModelFacts
    from dovetail.registry import default_registry

    return ModelFacts(model, registry or default_registry())
