"""What a model uses, and therefore which stages it needs.

`features(model)` names what an implementation may or may not handle (`joint.ball`, `trn.tendon`, `dyn.muscle`);
`need(model, slot)` says why a stage must run for this model, or an empty string if nothing asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import (
    BiasType,
    DisableBit,
    DynType,
    EnableBit,
    GainType,
    GeomType,
    JointType,
    TrnType,
)
from dovetail.contracts.fields import Array

if TYPE_CHECKING:
    from dovetail.contracts.types import Model


def features(model: Model) -> frozenset[str]:
    """The features a model uses, as `group.member`."""
    found: set[str] = set()
    for group, values in _values(model).items():
        found |= {f"{group}.{GROUPS[group](v).name.lower()}" for v in np.unique(values)}
    if model.nmocap:
        found.add("body.mocap")
    found |= {f"actuator.{kind}" for kind in _actuator_features(model)}
    return frozenset(found | {f"tendon.{kind}" for kind in _tendon_features(model)})


ACTUATOR_FEATURES = ("native", "plugin")


def _actuator_features(model: Model) -> list[str]:
    """Who computes the forces of actuators: the engine, or one of MuJoCo's engine plugins."""
    foreign = model.actuator_plugin >= 0
    return [kind for kind, has in (("native", not foreign.all()), ("plugin", foreign.any())) if has]


TENDON_FEATURES = ("none", "present", "stiffness", "armature", "actfrcrange")


def _tendon_features(model: Model) -> list[str]:
    """What tendons have that stages beyond the tendon stage itself must handle."""
    if not model.ntendon:
        return ["none"]
    used = {
        "present": True,
        "stiffness": bool(model.tendon_stiffness.any()),
        "armature": bool(model.tendon_armature.any()),
        "actfrcrange": bool(model.tendon_actfrclimited.any()),
    }
    return [kind for kind, has in used.items() if has]


GROUPS: Mapping[str, type[IntEnum]] = {
    "joint": JointType,
    "geom": GeomType,
    "trn": TrnType,
    "dyn": DynType,
    "gain": GainType,
    "bias": BiasType,
}


def known_features() -> set[str]:
    """Every feature a record's `supports` may name."""
    members = {f"{group}.{member.name.lower()}" for group, enum in GROUPS.items() for member in enum}
    actuators = {f"actuator.{kind}" for kind in ACTUATOR_FEATURES}
    return members | actuators | {"body.mocap"} | {f"tendon.{kind}" for kind in TENDON_FEATURES}


def _values(model: Model) -> Mapping[str, Array]:
    """The Model field that holds each group's members."""
    return {
        "joint": model.jnt_type,
        "geom": model.geom_type,
        "trn": model.actuator_trntype,
        "dyn": model.actuator_dyntype,
        "gain": model.actuator_gaintype,
        "bias": model.actuator_biastype,
    }


def unsupported(supports: tuple[str, ...], used: frozenset[str]) -> list[str]:
    """The used features that a record's `supports` leaves out (groups it does not mention are all right)."""
    groups = {feature.partition(".")[0] for feature in supports}
    return sorted(f for f in used if f.partition(".")[0] in groups and f not in supports)


def disabled(model: Model, bit: DisableBit) -> bool:
    return bool(model.opt.disableflags & bit)


def enabled(model: Model, bit: EnableBit) -> bool:
    return bool(model.opt.enableflags & bit)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def collidable(model: Model) -> str:
    """Why contacts can appear: explicit pairs, or geoms of different bodies whose masks match."""
    if disabled(model, DisableBit.CONSTRAINT) or disabled(model, DisableBit.CONTACT):
        return ""
    if model.npair:
        return _plural(int(model.npair), "contact pair")
    if model.nflex:
        return _plural(int(model.nflex), "flex object")
    weld = model.body_weldid[model.geom_bodyid]
    groups = np.unique(np.stack([weld, model.geom_contype, model.geom_conaffinity], axis=1), axis=0)
    for row, (body, contype, affinity) in enumerate(groups):
        rest = groups[row + 1 :]
        touching = ((rest[:, 2] & contype) | (rest[:, 1] & affinity)) != 0
        if np.any(touching & (rest[:, 0] != body)):
            return "geoms that can collide"
    return ""


def constrained(model: Model) -> str:
    """Why constraint rows can appear."""
    if disabled(model, DisableBit.CONSTRAINT):
        return ""
    reasons = [
        "" if disabled(model, DisableBit.EQUALITY) else _plural(int(model.neq), "equality constraint"),
        "" if disabled(model, DisableBit.FRICTIONLOSS) else _friction(model),
        "" if disabled(model, DisableBit.LIMIT) else _limits(model),
        collidable(model),
    ]
    return ", ".join(r for r in reasons if r)


def _friction(model: Model) -> str:
    count = np.count_nonzero(model.dof_frictionloss > 0) + np.count_nonzero(model.tendon_frictionloss > 0)
    return f"friction loss on {_plural(int(count), 'dof')}" if count else ""


def _limits(model: Model) -> str:
    count = np.count_nonzero(model.jnt_limited) + np.count_nonzero(model.tendon_limited)
    return _plural(int(count), "limit")


def _fluid(model: Model) -> str:
    return "a medium with density or viscosity" if model.opt.density > 0 or model.opt.viscosity > 0 else ""


def _body_plugins(model: Model) -> str:
    count = int(np.count_nonzero(model.body_plugin >= 0))
    return (
        f"MuJoCo engine plugins of {_plural(count, 'body') if count == 1 else f'{count} bodies'}"
        if count
        else ""
    )


def _sensor_plugins(model: Model) -> str:
    count = int(np.count_nonzero(model.sensor_plugin >= 0))
    return f"MuJoCo engine plugins of {_plural(count, 'sensor')}" if count else ""


def _noslip(model: Model) -> str:
    return "noslip_iterations > 0" if model.opt.noslip_iterations > 0 and constrained(model) else ""


def _energy(model: Model) -> str:
    return "enable flag energy" if enabled(model, EnableBit.ENERGY) else ""


def _fwdinv(model: Model) -> str:
    return "enable flag fwdinv" if enabled(model, EnableBit.FWDINV) else ""


def _sleep(model: Model) -> str:
    return "enable flag sleep" if enabled(model, EnableBit.SLEEP) else ""


def _count(size: str, noun: str) -> Callable[[Model], str]:
    return lambda model: _plural(int(getattr(model, size)), noun)


def _transmitted(model: Model) -> str:
    return ", ".join(
        r for r in (_plural(int(model.ntendon), "tendon"), _plural(int(model.nu), "actuator")) if r
    )


def _looks(model: Model) -> str:
    return ", ".join(
        r for r in (_plural(int(model.ncam), "camera"), _plural(int(model.nlight), "light")) if r
    )


NEEDS: Mapping[str, Callable[[Model], str]] = {
    "camera_light": _looks,
    "flex_kinematics": _count("nflex", "flex object"),
    "tendon": _count("ntendon", "tendon"),
    "broadphase": collidable,
    "narrowphase": collidable,
    "contact_params": collidable,
    "constraint_rows": constrained,
    "islands": constrained,
    "transmission": _count("nu", "actuator"),
    "transmission_velocity": _transmitted,
    "passive_force:tendon_spring": _count("ntendon", "tendon"),
    "passive_force:tendon_damper": _count("ntendon", "tendon"),
    "passive_force:gravcomp": _count("ngravcomp", "body with gravcomp"),
    "passive_force:fluid": _fluid,
    "passive_force:flex": _count("nflex", "flex object"),
    "passive_force:plugin": _body_plugins,
    "constraint_reference": constrained,
    "actuation": _count("nu", "actuator"),
    "noslip": _noslip,
    "subtree_velocity": lambda model: "",
    "body_forces": lambda model: "",
    "sensor": _count("nsensor", "sensor"),
    "sensor:plugin": _sensor_plugins,
    "energy": _energy,
    "inverse": _fwdinv,
    "sleep": _sleep,
}
"""Stages and rows that some models do not need. What is not listed always runs."""


def need(model: Model, slot: str) -> str:
    """Why the slot must run, or an empty string."""
    rule = NEEDS.get(slot)
    return "every model" if rule is None else rule(model)
