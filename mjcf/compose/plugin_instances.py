"""Instances of engine plugins that the elements of a document use."""

from __future__ import annotations

from dovetail.mjcf.read.source import Node


def instances(node: Node) -> list[str]:
    """Instances of plugins that an element uses, itself or by a `<plugin>` in it."""
    plugins = [part for part in (node, *node.children) if part.tag == "plugin"]
    return [part.values["instance"] for part in plugins if part.values.get("instance")]
