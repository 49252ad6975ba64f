"""Which types of sensors a model has, and which stages of observation they read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit, NeedStage, SensorType
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.flags import disabled, enabled
from dovetail.plugins.model_rules.words import both, plural


def sensors(model: ModelLike) -> str:
    return "" if disabled(model, DisableBit.SENSOR) else plural(int(model.nsensor), "sensor")


def energy(model: ModelLike) -> str:
    """The flag energy, or a sensor of potential energy: that leaves in Data what it measures."""
    flag = "enable flag energy" if enabled(model, EnableBit.ENERGY) else ""
    return both(flag, _of_kind(SensorType.E_POTENTIAL)(model) if sensors(model) else "")


def of_subtrees(model: ModelLike) -> str:
    """Sensors that read velocities of subtrees."""
    return _observers(model, NeedStage.VEL, SensorType.SUBTREELINVEL, SensorType.SUBTREEANGMOM)


def of_accelerations(model: ModelLike) -> str:
    """Sensors that read accelerations of bodies and forces between them."""
    kinds = (
        *(SensorType.ACCELEROMETER, SensorType.FORCE, SensorType.TORQUE),
        *(SensorType.FRAMELINACC, SensorType.FRAMEANGACC),
    )
    return _observers(model, NeedStage.ACC, *kinds)


def _observers(model: ModelLike, stage: NeedStage, *kinds: SensorType) -> str:
    """Sensors of some types, counted by type, and all that a user or an engine plugin fills after `stage`."""
    if not sensors(model):
        return ""
    foreign = np.isin(model.sensor_type, (int(SensorType.USER), int(SensorType.PLUGIN)))
    count = int(np.count_nonzero(foreign & (model.sensor_needstage == int(stage))))
    return both(*(_of_kind(kind)(model) for kind in kinds), plural(count, "user or plugin sensor"))


def _of_kind(kind: SensorType) -> Callable[[Any], str]:
    """The rule that counts the sensors of one type."""

    def rule(model: ModelLike) -> str:
        return plural(int(np.count_nonzero(model.sensor_type == int(kind))), f"{kind.keyword} sensor")

    return rule


def _sensor_plugins(model: ModelLike) -> str:
    """Sensors that one of MuJoCo's engine plugins computes."""
    count = int(np.count_nonzero(model.sensor_plugin >= 0))
    return f"MuJoCo engine plugins of {plural(count, 'sensor')}" if count else ""


SENSORS: Mapping[str, Callable[[Any], str]] = {
    **{kind.name.lower(): _of_kind(kind) for kind in SensorType},
    "plugin": _sensor_plugins,
}
"""Why a model needs each row of the sensor table."""
