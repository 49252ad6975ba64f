"""Copying elements under other names: what they are called, what their references become, the frame they stand in."""

from __future__ import annotations

from dovetail.mjcf.compose.namespace import Rename
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

_ORIGINAL_MATERIAL = ("mesh", "spatial", "fixed")
"""Elements that, like MuJoCo 3.4, keep the name of their material without prefix: it is this model's."""


def with_suffix(name: str, suffix: str) -> str:
    """The name of something in a copy of a replicate."""
    return name + suffix


def with_prefix(name: str, prefix: str) -> str:
    """The name of something in an attached model."""
    return prefix + name


def refer_same(node: Node, attribute: str, kind: str, name: str) -> str:
    """To what the original refers to."""
    return name


def refer_attached(rename: Rename, node: Node, attribute: str, kind: str, name: str) -> str:
    """In the tree and the assets of an attached model."""
    own = kind in ("default", "model") or (kind == "material" and node.tag in _ORIGINAL_MATERIAL)
    return name if own else rename(name)


def frame_at(node: Node, pos: Vec, quat: Vec, childclass: str | None, model: int | None = None) -> Node:
    """A `<frame>` in the place of an element."""
    frame = Node("frame", node.file, node.line, node.raw, model=node.model if model is None else model)
    frame.schema = node.schema
    frame.values = {"pos": pos, "quat": quat}
    if childclass is not None:
        frame.values["childclass"] = childclass
    return frame
