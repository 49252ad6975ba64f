"""Stages that a model needs if it has objects of some kind."""

from __future__ import annotations

from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.words import both, plural


def tendons(model: ModelLike) -> str:
    return plural(int(model.ntendon), "tendon")


def actuators(model: ModelLike) -> str:
    return plural(int(model.nu), "actuator")


def flexes(model: ModelLike) -> str:
    return plural(int(model.nflex), "flex object")


def tendons_actuators_and_flexes(model: ModelLike) -> str:
    return both(tendons(model), actuators(model), flexes(model))


def cameras_and_lights(model: ModelLike) -> str:
    return both(plural(int(model.ncam), "camera"), plural(int(model.nlight), "light"))
