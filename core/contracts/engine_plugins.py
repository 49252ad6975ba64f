"""MuJoCo's engine plugins: which there are, and how mjModel stores the configuration of their instances.

`model.plugin` holds the number of each instance's plugin, in the order in which the package mujoco 3.4.0 loads
those that come with it. `plugin_attr` holds the instance's configuration: the texts of the plugin's attributes
in the plugin's own order, each ended by a zero. Compare mj_getPluginConfig.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "mujoco.pid": ("kp", "ki", "kd", "imax", "slewmax"),
    "mujoco.elasticity.cable": ("twist", "bend", "flat", "vmax"),
    "mujoco.sensor.touch_grid": ("nchannel", "size", "fov", "gamma"),
    "mujoco.sdf.bolt": ("radius",),
    "mujoco.sdf.bowl": ("height", "radius", "thickness"),
    "mujoco.sdf.gear": ("alpha", "diameter", "teeth", "thickness", "innerdiameter"),
    "mujoco.sdf.nut": ("radius",),
    "mujoco.sdf.torus": ("radius1", "radius2"),
}
"""The plugins in the order of their numbers, and the attributes of each in the order of plugin_attr."""

NAMES = tuple(ATTRIBUTES)

NUMBER = re.compile(
    r"\s*([+-]?(?:0x[0-9a-f]+\.?[0-9a-f]*(?:p[+-]?\d+)?|inf(?:inity)?|nan|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))",
    re.IGNORECASE,
)


def plugin_name(model: Any, instance: int) -> str:
    """The plugin that an instance is of, as `mujoco.pid`."""
    return NAMES[int(model.plugin[instance])]


def plugin_config(model: Any, instance: int) -> Mapping[str, str]:
    """The configuration of an instance by attribute; an attribute that was not given is an empty text."""
    start = int(model.plugin_attradr[instance])
    return _decoded(bytes(model.plugin_attr[start:]), ATTRIBUTES[plugin_name(model, instance)])


@lru_cache(maxsize=1024)
def _decoded(text: bytes, attributes: tuple[str, ...]) -> Mapping[str, str]:
    values = text.split(b"\0", len(attributes))
    return {key: value.decode() for key, value in zip(attributes, values, strict=False)}


def leading_number(text: str) -> float | None:
    """The number that a text begins with, as strtod reads it."""
    found = NUMBER.match(text)
    if not found:
        return None
    word = found.group(1).lower()
    return float.fromhex(word) if "0x" in word else float(word)
