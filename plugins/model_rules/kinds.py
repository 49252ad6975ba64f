"""Which features of each group a model uses: types of its joints, geoms and actuators, and what else matters to
implementations that do not handle everything."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

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
    TrnType,
)
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.flags import disabled, enabled
from dovetail.plugins.model_rules.forces import medium


def _names(values: Array, kind: type[IntEnum]) -> set[str]:
    """The types that occur among some values."""
    return {kind(value).name.lower() for value in np.unique(values)}


def _true(used: dict[str, bool]) -> list[str]:
    return [kind for kind, has in used.items() if has]


def joints(model: ModelLike) -> Iterable[str]:
    return _names(model.jnt_type, JointType)


def geoms(model: ModelLike) -> Iterable[str]:
    return _names(model.geom_type, GeomType)


def transmissions(model: ModelLike) -> Iterable[str]:
    return _names(model.actuator_trntype, TrnType)


def dynamics(model: ModelLike) -> Iterable[str]:
    return _names(model.actuator_dyntype, DynType)


def gains(model: ModelLike) -> Iterable[str]:
    return _names(model.actuator_gaintype, GainType)


def biases(model: ModelLike) -> Iterable[str]:
    return _names(model.actuator_biastype, BiasType)


def equalities(model: ModelLike) -> Iterable[str]:
    return _names(model.eq_type, EqType)


def bodies(model: ModelLike) -> Iterable[str]:
    return ["mocap"] if model.nmocap else []


def flexes(model: ModelLike) -> Iterable[str]:
    """Whether there are deformable objects, and whether any of them can touch something."""
    if not model.nflex:
        return ["none"]
    touchable = (model.flex_contype != 0) | (model.flex_conaffinity != 0)
    return ["colliding" if touchable.any() else "untouchable"]


def media(model: ModelLike) -> Iterable[str]:
    return ["present" if medium(model) else "none"]


def actuators(model: ModelLike) -> Iterable[str]:
    """Who computes the forces of actuators: the engine, or one of MuJoCo's engine plugins; and whether actuators
    compensate gravity."""
    foreign = model.actuator_plugin >= 0
    return _true(
        {
            "native": not foreign.all(),
            "plugin": bool(foreign.any()),
            "gravcomp": bool(model.nu and model.ngravcomp and model.jnt_actgravcomp.any()),
        }
    )


def convex_collision(model: ModelLike) -> Iterable[str]:
    """How convex shapes collide: by the usual method or by portal refinement, and whether for several contacts."""
    native = not disabled(model, DisableBit.NATIVECCD)
    multiple = enabled(model, EnableBit.MULTICCD)
    return ["native" if native else "portal", *(["multiple"] if multiple else [])]


def tendons(model: ModelLike) -> Iterable[str]:
    """What tendons have that stages beyond the tendon stage itself must handle."""
    if not model.ntendon:
        return ["none"]
    return _true(
        {
            "present": True,
            "stiffness": bool(model.tendon_stiffness.any()),
            "armature": bool(model.tendon_armature.any()),
            "actfrcrange": bool(model.tendon_actfrclimited.any()),
        }
    )


def actuator_plugins(model: ModelLike) -> Iterable[str]:
    return _plugin_names(model, model.actuator_plugin)


def sdf_shapes(model: ModelLike) -> Iterable[str]:
    return _plugin_names(model, model.geom_plugin[model.geom_type == GeomType.SDF])


def _plugin_names(model: ModelLike, instances: Array) -> set[str]:
    """The engine plugins of instances, as `mujoco.pid`; -1 is no instance."""
    return {engine_plugins.plugin_name(model, int(instance)) for instance in instances if instance >= 0}
