"""`<extension>` and `<plugin>`: instances of MuJoCo's own engine plugins, with their configuration.

dovetail stores what mjModel stores of them: which plugin, the values of its attributes in the plugin's order,
and who uses the instance. The plugins known are those that come with MuJoCo's Python package, numbered in
the order in which it loads them; what they compute at run time is the matter of stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from dovetail.errors import listing, nearest

from ..context import Context
from ..source import Node
from ..tree import Item


@attrs.frozen
class EnginePlugin:
    """One of MuJoCo's plugins: its number there, what it can do, and its attributes in order."""

    slot: int
    ability: str
    attributes: tuple[str, ...]


ENGINE_PLUGINS: Mapping[str, EnginePlugin] = {
    "mujoco.pid": EnginePlugin(0, "actuation", ("kp", "ki", "kd", "imax", "slewmax")),
    "mujoco.elasticity.cable": EnginePlugin(1, "passive forces", ("twist", "bend", "flat", "vmax")),
    "mujoco.sensor.touch_grid": EnginePlugin(2, "sensing", ("nchannel", "size", "fov", "gamma")),
    "mujoco.sdf.bolt": EnginePlugin(3, "signed distance", ("radius",)),
    "mujoco.sdf.bowl": EnginePlugin(4, "signed distance", ("height", "radius", "thickness")),
    "mujoco.sdf.gear": EnginePlugin(
        5, "signed distance", ("alpha", "diameter", "teeth", "thickness", "innerdiameter")
    ),
    "mujoco.sdf.nut": EnginePlugin(6, "signed distance", ("radius",)),
    "mujoco.sdf.torus": EnginePlugin(7, "signed distance", ("radius1", "radius2")),
}
"""Plugins of the package mujoco 3.4.0."""


@attrs.define(eq=False, kw_only=True)
class PluginInstance(Item):
    """An instance, declared in `<extension>` or made by the element that uses it."""

    plugin: str = ""
    config: dict[str, str] = attrs.field(factory=dict)


def read_extension(context: Context, section: Node) -> None:
    """Read an `<extension>` section: which plugins the model uses, and the instances that several may share."""
    for node in section.children:
        name = node.values["plugin"]
        if name not in ENGINE_PLUGINS:
            hint, known = nearest(name, ENGINE_PLUGINS), listing(ENGINE_PLUGINS)
            raise node.error(f"there is no engine plugin {name!r}{hint}; known: {known}", "plugin")
        context.engine_plugins.add(name)
        for child in node.children:
            if child.tag == "config":
                raise child.error("configuration belongs to an <instance>; put it there")
            _add(context, child, name)


def _add(context: Context, node: Node, plugin: str) -> PluginInstance:
    instance = PluginInstance(node=node, plugin=plugin, config=_config(node, plugin))
    name = node.values.get("name", "") if node.tag == "instance" else ""
    context.add_named("plugin", instance, name)
    return instance


def _config(node: Node, plugin: str) -> dict[str, str]:
    known = ENGINE_PLUGINS[plugin].attributes
    config: dict[str, str] = {}
    for row in node.children:
        key = row.values["key"]
        if key in config:
            raise row.error(f"key {key!r} is given twice; write it once", "key")
        if key not in known:
            raise row.error(
                f"plugin {plugin} has no attribute {key!r}{nearest(key, known)}; it has: {listing(known)}",
                "key",
            )
        config[key] = row.values["value"]
    return config


def use_plugin(context: Context, node: Node, ability: str) -> int:
    """Number of the instance that an element's `<plugin>` names or makes."""
    name, instance = node.values.get("plugin"), node.values.get("instance")
    if instance is not None:
        found: PluginInstance = context.objects["plugin"][context.find("plugin", instance, node, "instance")]
        if name is not None and name != found.plugin:
            raise node.error(f"instance {instance!r} is of {found.plugin}, not of {name}", "plugin")
    elif name is None:
        raise node.error("says neither plugin nor instance; write one of them")
    elif name not in context.engine_plugins:
        raise node.error(
            f"plugin {name!r} is not declared; add <extension><plugin plugin={name!r}/>", "plugin"
        )
    else:
        found = _add(context, node, name)
    if ENGINE_PLUGINS[found.plugin].ability != ability:
        raise node.error(f"plugin {found.plugin} offers no {ability}", "plugin" if name else "instance")
    return found.id


def resolve_plugins(context: Context) -> None:
    """Number the instances that bodies and geoms use, in document order."""
    for node, item, ability in context.plugin_users:
        item.plugin = use_plugin(context, node, ability)


def plugin_fields(context: Context) -> dict[str, Any]:
    """plugin, plugin_attr… and plugin_state…: none of the known plugins has a state of its own."""
    instances: list[PluginInstance] = context.objects["plugin"]
    texts = [b"".join(_values(instance)) for instance in instances]
    lengths = np.array([len(text) for text in texts], np.int64)
    zeros = np.zeros(len(instances), np.int32)
    return {
        "plugin": np.array([ENGINE_PLUGINS[i.plugin].slot for i in instances], np.int32),
        "plugin_stateadr": zeros,
        "plugin_statenum": zeros.copy(),
        "plugin_attr": np.frombuffer(b"".join(texts), np.uint8).copy(),
        "plugin_attradr": (np.cumsum(lengths) - lengths).astype(np.int32),
    }


def _values(instance: PluginInstance) -> Iterator[bytes]:
    for attribute in ENGINE_PLUGINS[instance.plugin].attributes:
        yield instance.config.get(attribute, "").encode() + b"\0"
