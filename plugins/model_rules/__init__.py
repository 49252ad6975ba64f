"""Rules about MuJoCo's models: which features there are, which of them a model uses, which stages it needs and why.

Hookspecs name the rules about stages (`needed=`, `rows=`); this plugin states the groups of features. A rule is a
function of the Model; what it reads of real fields may decide only by their signs (see `dovetail.recorded_model`).

`kinds.py` has the groups of features; `counts.py`, `flags.py`, `constraints.py`, `contacts.py`, `forces.py`,
`sensors.py` say when stages are needed, in the words of `words.py`. Begin with `counts.py`. Tests:
`tests/stages/model_rules`, `tests/kernel/test_needs.py`.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import combinations_with_replacement

from dovetail.contracts.enums import BiasType, DynType, EqType, GainType, GeomType, JointType, TrnType
from dovetail.plugin import FeatureGroup, hookimpl
from dovetail.plugins.model_rules.flexes import every_meeting

_KINDS = "dovetail.plugins.model_rules.kinds"
_CONTACTS = "dovetail.plugins.model_rules.contacts"
_FLEXES = "dovetail.plugins.model_rules.flexes"


def _names(kind: type[IntEnum]) -> tuple[str, ...]:
    return tuple(member.name.lower() for member in kind)


def _types() -> list[FeatureGroup]:
    """Types that objects of a model have."""
    groups = {
        "joint": (JointType, "joints"),
        "geom": (GeomType, "geoms"),
        "trn": (TrnType, "transmissions"),
        "dyn": (DynType, "dynamics"),
        "gain": (GainType, "gains"),
        "bias": (BiasType, "biases"),
        "eq": (EqType, "equalities"),
    }
    return [
        FeatureGroup(name=name, members=_names(kind), of=f"{_KINDS}:{rule}")
        for name, (kind, rule) in groups.items()
    ]


def _properties() -> list[FeatureGroup]:
    """What else implementations may not handle."""
    groups = {
        "body": ("mocap", "bodies"),
        "flex": ("none untouchable colliding", "flexes"),
        "medium": ("none present", "media"),
        "ccd": ("native portal multiple", "convex_collision"),
        "actuator": ("native plugin gravcomp", "actuators"),
        "tendon": ("none present stiffness armature actfrcrange", "tendons"),
    }
    return [
        FeatureGroup(name=name, members=tuple(members.split()), of=f"{_KINDS}:{rule}")
        for name, (members, rule) in groups.items()
    ]


def _engine_plugins() -> list[FeatureGroup]:
    """MuJoCo's engine plugins, to which anybody may add some."""
    return [
        FeatureGroup(name="actuator_plugin", members=None, of=f"{_KINDS}:actuator_plugins"),
        FeatureGroup(name="sdf_shape", members=None, of=f"{_KINDS}:sdf_shapes"),
    ]


def _pairs() -> list[FeatureGroup]:
    """Pairs of geom types: those that can meet, and those whose distance sensors measure."""
    pairs = tuple("-".join(pair) for pair in combinations_with_replacement(_names(GeomType), 2))
    return [
        FeatureGroup(name="meeting", members=pairs, of=f"{_CONTACTS}:meeting"),
        FeatureGroup(name="distance", members=pairs, of=f"{_CONTACTS}:measured"),
    ]


def _flexes() -> list[FeatureGroup]:
    """What flexes are like, and which of their shapes can meet what."""
    members = ("none", "vertices", "interpolated", "passive", "self", "internal")
    return [
        FeatureGroup(name="deformable", members=members, of=f"{_FLEXES}:kinds"),
        FeatureGroup(name="flex_meeting", members=every_meeting(), of=f"{_FLEXES}:meeting"),
    ]


@hookimpl
def dovetail_features() -> list[FeatureGroup]:
    return [*_types(), *_properties(), *_engine_plugins(), *_pairs(), *_flexes()]
