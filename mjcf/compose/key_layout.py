"""Keyframes of copied parts: whose numbers the vectors of a key hold, and where they go in the whole model.

A key written in one document lists the joints and actuators of that document. When a part of it is copied
elsewhere, the numbers of that part go to the copies, those of parts left behind are dropped, and everything
else rests at the model's reference state. See `mjCModel::StoreKeyframes` and `ResizeKeyframe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from dovetail.mjcf.read.source import Node, walk


@attrs.define(eq=False)
class KeyLayout:
    """The elements that a key's numbers belong to, in order, and what became of them."""

    joints: tuple[Node, ...]
    became: Mapping[Node, Node | None]
    """Copy of each element that moved; None if it was left behind."""
    actuators: tuple[Node, ...] | None = None
    """None: those of the whole model."""
    raw: tuple[Node, ...] = ()
    """Joints of other copies, which rest at their `ref` as written, not converted to radians."""
    worlds: Sequence[Node] = ()
    """Document the joints stand in, where the bodies of the key's mocap poses are found."""
    classes: Mapping[Node, str] = attrs.field(factory=dict)
    """The default class that each joint inherits in its document."""
    padded: int = 0
    """How many of the joints a key may stop before, because a model was attached when they were the last."""

    def moved(self, further: Mapping[Node, Node | None]) -> KeyLayout:
        """The layout after what it leads to was copied once more."""
        became = {old: further.get(new, new) if new else None for old, new in self.became.items()}
        for joint in self.joints:
            became.setdefault(joint, further.get(joint, joint))
        raw = [further.get(joint, joint) for joint in self.raw]
        return attrs.evolve(self, became=became, raw=tuple(joint for joint in raw if joint))

    def actuates(self, key: Node, besides: Mapping[Node, Node]) -> bool:
        """Whether a key with this layout gives actuators, besides some, something else than zero."""
        written = any(any(key.values.get(name, ())) for name in ("ctrl", "act"))
        targets = {self.target(actuator) for actuator in self.actuators or ()}
        return written and bool(targets - {None, *besides})

    def unactuated(self) -> KeyLayout:
        """The layout without controls and activations, which a later replicate makes MuJoCo forget."""
        return attrs.evolve(self, became={**self.became, **dict.fromkeys(self.actuators or ())})

    def target(self, node: Node) -> Node | None:
        """Where an element's numbers go."""
        return self.became.get(node, node)


def joints_below(parts: Sequence[Node]) -> list[Node]:
    """Joints of some elements in the order of qpos: a body's own before those of its children."""
    return [joint for part in parts for joint in _joints(part)]


def inherited_classes(worlds: Sequence[Node]) -> dict[Node, str]:
    """The nearest childclass around each joint of a document, where there is one."""
    found: dict[Node, str] = {}
    stack = [(world, "") for world in worlds]
    while stack:
        node, name = stack.pop()
        if node.tag in ("joint", "freejoint"):
            found[node] = name
        below = node.values.get("childclass", name)
        stack.extend((child, below) for child in node.children)
    return found


def _joints(top: Node) -> list[Node]:
    found: list[Node] = []
    stack = [top]
    while stack:
        node = stack.pop()
        if node.tag in ("joint", "freejoint"):
            found.append(node)
            continue
        contents = _contents(node)
        found += [part for part in contents if part.tag in ("joint", "freejoint")]
        stack.extend(reversed([part for part in contents if part.tag == "body"]))
    return found


def _contents(node: Node) -> list[Node]:
    """What stands in a body, looking through frames."""
    found: list[Node] = []
    stack = list(reversed(node.children))
    while stack:
        part = stack.pop()
        if part.tag in ("frame", "replicate"):
            stack.extend(reversed(part.children))
        else:
            found.append(part)
    return found


def mocap_bodies(worlds: Sequence[Node]) -> list[Node]:
    """Mocap bodies of a document, in order."""
    return [
        node for world in worlds for node in walk(world) if node.tag == "body" and node.values.get("mocap")
    ]
