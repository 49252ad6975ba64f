"""`<extension>` and `<plugin>`: instances of MuJoCo's own engine plugins, with their configuration.

dovetail stores what mjModel stores of them: which plugin, the values of its attributes in the plugin's order,
and who uses the instance. The plugins known are those that come with MuJoCo's Python package, numbered in
the order in which it loads them; what they compute at run time is the matter of stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.contracts.engine_plugins import ATTRIBUTES
from dovetail.errors import listing, nearest
from dovetail.mjcf.elements.columns import Columns, Pieces, text
from dovetail.mjcf.elements.items import Item
from dovetail.mjcf.elements.plugin_rules import (
    Config,
    Problem,
    numeric,
    pid_activations,
    pid_problem,
    signed_distance,
    touch_grid_numbers,
    touch_grid_problem,
)
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.actuator import ActuatorItem
    from dovetail.mjcf.elements.sensor import SensorItem
    from dovetail.mjcf.model.context import Context


@attrs.frozen
class EnginePlugin:
    """One of MuJoCo's plugins: its number there, what it can do, and its attributes in order."""

    slot: int
    ability: str
    attributes: tuple[str, ...]
    problem: Callable[[Config], Problem | None]
    """What is wrong with a configuration."""


_RULES: Mapping[str, tuple[str, Callable[[Config], Problem | None]]] = {
    "mujoco.pid": ("actuation", pid_problem),
    "mujoco.elasticity.cable": ("passive forces", numeric("twist", "bend")),
    "mujoco.sensor.touch_grid": ("sensing", touch_grid_problem),
    "mujoco.sdf.bolt": ("signed distance", signed_distance("radius")),
    "mujoco.sdf.bowl": ("signed distance", signed_distance("height", "radius", "thickness")),
    "mujoco.sdf.gear": (
        "signed distance",
        signed_distance("alpha", "diameter", "teeth", "innerdiameter", loose=("thickness",)),
    ),
    "mujoco.sdf.nut": ("signed distance", signed_distance("radius")),
    "mujoco.sdf.torus": ("signed distance", signed_distance("radius1", "radius2")),
}

ENGINE_PLUGINS: Mapping[str, EnginePlugin] = {
    name: EnginePlugin(slot, _RULES[name][0], attributes, _RULES[name][1])
    for slot, (name, attributes) in enumerate(ATTRIBUTES.items())
}
"""Plugins of the package mujoco 3.4.0."""


@attrs.define(eq=False, kw_only=True)
class PluginInstance(Item):
    """An instance, declared in `<extension>` or made by the element that uses it."""

    plugin: str = ""
    config: dict[str, str] = attrs.field(factory=dict)


def _values(instance: PluginInstance) -> Iterator[bytes]:
    for attribute in ENGINE_PLUGINS[instance.plugin].attributes:
        yield instance.config.get(attribute, "").encode() + b"\0"


COLUMNS: Columns = {
    "plugin": lambda instance: ENGINE_PLUGINS[instance.plugin].slot,
    "plugin_stateadr": lambda instance: 0,
    "plugin_statenum": lambda instance: 0,
}
"""None of the known plugins has a state of its own."""
CONFIGURATIONS = Pieces(
    rows={"plugin_attr": lambda instance: text(_values(instance))},
    begins={"plugin_attradr": "plugin_attr"},
)


@attrs.frozen
class PluginUser:
    """An element that uses an engine plugin."""

    node: Node
    """Its `<plugin>`, or the element itself if it is one."""
    owner: Any
    """What gets the number of the instance."""
    ability: str
    """What the plugin must be able to do."""
    turn: int = 3
    """When MuJoCo reads such elements: meshes, actuators, sensors (0 to 2), then the tree."""


def read_extension(context: Context, section: Node) -> None:
    """Read an `<extension>` section: which plugins the model uses, and the instances that several may share."""
    for node in section.children:
        name = node.values["plugin"]
        if name not in ENGINE_PLUGINS:
            hint, known = nearest(name, ENGINE_PLUGINS), listing(ENGINE_PLUGINS)
            raise node.error(f"there is no engine plugin {name!r}{hint}; known: {known}", "plugin")
        if "plugin" not in node.raw and name not in context.engine_plugins:  # made for a composite
            raise node.error(f"its plugin {name!r} is not declared; add <extension><plugin plugin={name!r}/>")
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
    name, instance = node.values.get("plugin") or None, node.values.get("instance") or None
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
    """Number the instances in the order in which MuJoCo reads their users: meshes, actuators, sensors, the tree."""
    for user in sorted(context.plugin_users, key=lambda user: user.turn):
        user.owner.plugin = use_plugin(context, user.node, user.ability)
    driving = {actuator.plugin for actuator in context.actuators}
    for instance in context.objects["plugin"]:
        _check(instance, instance.id in driving)


def _check(instance: PluginInstance, drives: bool) -> None:
    row = ENGINE_PLUGINS[instance.plugin]
    problem = row.problem(instance.config)
    if problem:
        key, what = problem
        place = next((c for c in instance.place.children if c.values.get("key") == key), instance.place)
        raise place.error(f"plugin {instance.plugin}: {what}", "value" if place.tag == "config" else None)
    if row.ability == "actuation" and not drives:
        raise instance.place.error("no actuator uses this instance; use it or remove it")


def instance_of(context: Context, number: int) -> tuple[str, Config]:
    """Plugin and configuration of an instance; attributes that were not given are empty texts."""
    instance: PluginInstance = context.objects["plugin"][number]
    given = dict.fromkeys(ENGINE_PLUGINS[instance.plugin].attributes, "")
    return instance.plugin, {**given, **instance.config}


def plugin_activations(context: Context, actuator: ActuatorItem) -> int:
    """How many activations the plugin of an actuator needs."""
    instance: PluginInstance = context.objects["plugin"][actuator.plugin]
    return pid_activations(instance.config, actuator.dyntype)


def plugin_readings(context: Context, sensor: SensorItem) -> int:
    """How many numbers the plugin of a sensor writes."""
    instance: PluginInstance = context.objects["plugin"][sensor.plugin]
    return touch_grid_numbers(instance.config)
