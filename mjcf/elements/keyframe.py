"""`<keyframe>`: saved states. What a key does not write is the model's reference state."""

from __future__ import annotations

from ..context import Context
from ..source import Node
from ..tree import Key, overlay


def read_keyframe(context: Context, section: Node) -> None:
    """Read a `<keyframe>` section."""
    for node in section.children:
        key = Key(node=node)
        overlay(key, node.values)
        context.add("key", key)


def fill_keys(context: Context, lengths: dict[str, int]) -> None:
    """Check the length of every vector of every key, and make up the keys that `nkey` asks for."""
    for key in context.objects["key"]:
        for name, length in lengths.items():
            values = getattr(key, name)
            if values is not None and len(values) not in (0, length):
                raise key.place.error(f"{name} has {len(values)} numbers; this model needs {length}", name)
            if values == ():
                setattr(key, name, None)
    while len(context.objects["key"]) < context.sizes["nkey"]:
        context.add("key", Key())
