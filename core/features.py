"""What a model uses, and therefore which stages it needs.

`features(model)` names what an implementation may or may not handle (`joint.ball`, `trn.tendon`, `dyn.muscle`);
`need(model, slot)` says why a stage must run for this model, or an empty string if nothing asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts import engine_plugins
from dovetail.contracts.enums import (
    BiasType,
    DisableBit,
    DynType,
    EnableBit,
    EqType,
    GainType,
    GeomType,
    JointType,
    NeedStage,
    ObjType,
    SensorType,
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
    found.add(f"flex.{_flex_feature(model)}")
    found.add("medium.present" if _fluid(model) else "medium.none")
    found |= {f"ccd.{kind}" for kind in _ccd_features(model)}
    found |= {f"actuator.{kind}" for kind in _actuator_features(model)}
    found |= {f"actuator_plugin.{name}" for name in _plugin_names(model, model.actuator_plugin)}
    shapes = model.geom_plugin[model.geom_type == GeomType.SDF]
    found |= {f"sdf_shape.{name}" for name in _plugin_names(model, shapes)}
    found |= {f"distance.{pair}" for pair in _measured_pairs(model)}
    return frozenset(found | {f"tendon.{kind}" for kind in _tendon_features(model)})


FLEX_FEATURES = ("none", "untouchable", "colliding")


def _flex_feature(model: Model) -> str:
    """Whether there are deformable objects, and whether any of them can touch something."""
    if not model.nflex:
        return "none"
    touchable = (model.flex_contype != 0) | (model.flex_conaffinity != 0)
    return "colliding" if touchable.any() else "untouchable"


ACTUATOR_FEATURES = ("native", "plugin", "gravcomp")


def _actuator_features(model: Model) -> list[str]:
    """Who computes the forces of actuators: the engine, or one of MuJoCo's engine plugins; and whether actuators
    compensate gravity."""
    foreign = model.actuator_plugin >= 0
    used = {
        "native": not foreign.all(),
        "plugin": foreign.any(),
        "gravcomp": bool(model.nu and model.ngravcomp and model.jnt_actgravcomp.any()),
    }
    return [kind for kind, has in used.items() if has]


def _plugin_names(model: Model, instances: Array) -> set[str]:
    """The engine plugins of instances, as `mujoco.pid`; -1 is no instance."""
    return {engine_plugins.plugin_name(model, int(instance)) for instance in instances if instance >= 0}


CCD_FEATURES = ("native", "portal", "multiple")


def _ccd_features(model: Model) -> list[str]:
    """How convex shapes collide: by the usual method or by portal refinement, and whether for several contacts."""
    native = not int(model.opt.disableflags) & int(DisableBit.NATIVECCD)
    multiple = bool(int(model.opt.enableflags) & int(EnableBit.MULTICCD))
    return ["native" if native else "portal", *(["multiple"] if multiple else [])]


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
    "eq": EqType,
}


_DISTANCE_SENSORS = (SensorType.GEOMDIST, SensorType.GEOMNORMAL, SensorType.GEOMFROMTO)


def _measured_pairs(model: Model) -> set[str]:
    """The pairs of geom types whose distances sensors measure, as keys of `collide_pair`."""
    found = set()
    for sensor in np.flatnonzero(np.isin(model.sensor_type, [int(kind) for kind in _DISTANCE_SENSORS])):
        sides = (
            _types_of(model, model.sensor_objtype[sensor], model.sensor_objid[sensor]),
            _types_of(model, model.sensor_reftype[sensor], model.sensor_refid[sensor]),
        )
        found |= {_pair_key(a, b) for a in sides[0] for b in sides[1]}
    return found


def _types_of(model: Model, objtype: int, objid: int) -> set[int]:
    """Types of a geom, or of all geoms of a body."""
    ids = model.geom_bodyid == objid if objtype == ObjType.BODY else [objid]
    return set(np.atleast_1d(model.geom_type[ids]).tolist())


def _pair_key(a: int, b: int) -> str:
    return "-".join(GeomType(kind).name.lower() for kind in sorted((a, b)))


def known_features() -> set[str]:
    """Every feature a record's `supports` may name."""
    distances = {f"distance.{_pair_key(a, b)}" for a in GeomType for b in GeomType}
    members = {f"{group}.{member.name.lower()}" for group, enum in GROUPS.items() for member in enum}
    actuators = {f"actuator.{kind}" for kind in ACTUATOR_FEATURES}
    flexes = {f"flex.{kind}" for kind in FLEX_FEATURES} | {"medium.none", "medium.present"}
    flexes |= {f"ccd.{kind}" for kind in CCD_FEATURES}
    return (
        distances
        | members
        | actuators
        | flexes
        | {"body.mocap"}
        | {f"tendon.{kind}" for kind in TENDON_FEATURES}
    )


def _values(model: Model) -> Mapping[str, Array]:
    """The Model field that holds each group's members."""
    return {
        "joint": model.jnt_type,
        "geom": model.geom_type,
        "trn": model.actuator_trntype,
        "dyn": model.actuator_dyntype,
        "gain": model.actuator_gaintype,
        "bias": model.actuator_biastype,
        "eq": model.eq_type,
    }


def geom_pairs(model: Model) -> frozenset[str]:
    """The pairs of geom types that can meet in the model, as keys of `collide_pair`: those of explicit pairs, and of
    geoms of different bodies whose masks match."""
    weld = model.body_weldid[model.geom_bodyid]
    columns = [model.geom_type, weld, model.geom_contype, model.geom_conaffinity]
    groups = np.unique(np.stack(columns, axis=1), axis=0)
    found = set(zip(model.geom_type[model.pair_geom1], model.geom_type[model.pair_geom2], strict=True))
    for row, (kind, body, contype, affinity) in enumerate(groups):
        rest = groups[row:]
        meet = (rest[:, 1] != body) & (((rest[:, 3] & contype) | (rest[:, 2] & affinity)) != 0)
        found |= {(kind, other) for other in np.unique(rest[meet, 0])}
    names = {kind: GeomType(kind).name.lower() for pair in found for kind in pair}
    return frozenset("-".join(names[kind] for kind in sorted(pair)) for pair in found)


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
    count = np.count_nonzero(model.dof_frictionloss) + np.count_nonzero(model.tendon_frictionloss > 0)
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


def _sensors(model: Model) -> str:
    return "" if disabled(model, DisableBit.SENSOR) else _plural(int(model.nsensor), "sensor")


def _sensors_of(*kinds: SensorType) -> Callable[[Model], str]:
    """The sensors of some types, counted by type."""

    def rule(model: Model) -> str:
        counts = {kind: int(np.count_nonzero(model.sensor_type == int(kind))) for kind in kinds}
        return ", ".join(_plural(n, f"{kind.keyword} sensor") for kind, n in counts.items() if n)

    return rule


def _observed_by(stage: NeedStage, *kinds: SensorType) -> Callable[[Model], str]:
    """Sensors that read what a stage of observation computes: those types, and all that a user or an engine plugin
    fills after `stage`."""
    by_type = _sensors_of(*kinds)

    def rule(model: Model) -> str:
        if not _sensors(model):
            return ""
        foreign = np.isin(model.sensor_type, (int(SensorType.USER), int(SensorType.PLUGIN)))
        count = int(np.count_nonzero(foreign & (model.sensor_needstage == int(stage))))
        return ", ".join(r for r in (by_type(model), _plural(count, "user or plugin sensor")) if r)

    return rule


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
    "subtree_velocity": _observed_by(NeedStage.VEL, SensorType.SUBTREELINVEL, SensorType.SUBTREEANGMOM),
    "body_forces": _observed_by(
        NeedStage.ACC,
        SensorType.ACCELEROMETER,
        SensorType.FORCE,
        SensorType.TORQUE,
        SensorType.FRAMELINACC,
        SensorType.FRAMEANGACC,
    ),
    "sensor": _sensors,
    **{f"sensor:{kind.name.lower()}": _sensors_of(kind) for kind in SensorType},
    "sensor:plugin": _sensor_plugins,
    "energy": _energy,
    "inverse": _fwdinv,
    "sleep": _sleep,
}
"""Stages and rows that some models do not need. What is not listed always runs."""


ON_REQUEST = ("subtree_velocity", "body_forces")
"""Of these, the stages that run, too, if somebody asks for their results by name."""


def need(model: Model, slot: str) -> str:
    """Why the slot must run, or an empty string."""
    rule = NEEDS.get(slot)
    return "every model" if rule is None else rule(model)
