"""Stages that a model needs if it has objects of some kind."""

from __future__ import annotations

from typing import Any

from dovetail.plugins.model_rules.words import both, plural


def tendons(model: Any) -> str:
    return plural(int(model.ntendon), "tendon")


def actuators(model: Any) -> str:
    return plural(int(model.nu), "actuator")


def tendons_and_actuators(model: Any) -> str:
    return both(tendons(model), actuators(model))


def flexes(model: Any) -> str:
    return plural(int(model.nflex), "flex object")


def cameras_and_lights(model: Any) -> str:
    return both(plural(int(model.ncam), "camera"), plural(int(model.nlight), "light"))
