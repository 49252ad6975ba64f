"""Keyframes of copied parts: every copy of a replicate has its own, an attached model brings its own along."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dovetail.mjcf.compose.copies import refer_same, with_suffix
from dovetail.mjcf.compose.document import JOINTS, Document
from dovetail.mjcf.compose.key_layout import KeyLayout, inherited_classes, joints_below
from dovetail.mjcf.compose.namespace import Rename, copied
from dovetail.mjcf.read.source import Node
from dovetail.warned import warn

if TYPE_CHECKING:
    from dovetail.mjcf.compose.composer import Submodel


class LeftOutWarning(UserWarning):
    """An element refers to a replicated part in a way that, like in MuJoCo 3.4, no copy of it can: it is left out."""


def replicate_keys(
    document: Document, node: Node, before: list[Node], copies: list[dict[Node, Node]]
) -> None:
    """Every copy has its own keyframes, in which the other copies rest; the old ones come last.

    This happens to the keys of the document at its first replicate; keys that came with attached models stay.
    """
    keys = [key for section in document.sections("keyframe") for key in section.children]
    own = [key for key in keys if "layout" not in key.values]
    _follow_first_copy(document, node, [key for key in keys if "layout" in key.values], copies)
    if document.replicated or not own:
        document.replicated = True
        return
    document.replicated = True
    so_far = joints_below([*before, *node.children])
    for section in document.sections("keyframe"):
        section.children = [key for key in section.children if "layout" in key.values]
    digits = len(str(len(copies)))
    earlier: list[Node] = []
    for index, became in enumerate(copies):
        suffix = f"{node.values.get('sep', '')}{index:0{digits}d}"
        new = [copied(key, partial(with_suffix, suffix=suffix), refer_same) for key in own]
        for key in new:
            key.values["layout"] = KeyLayout(
                tuple(so_far), became, raw=tuple(earlier), padded=document.padded
            )
        earlier += [became[joint] for joint in so_far if joint in became]
        document.append("keyframe", new)
    gone: dict[Node, Node | None] = {old: None for became in copies for old in became}
    for key in own:
        key.values["layout"] = KeyLayout(tuple(so_far), gone, raw=tuple(earlier), padded=document.padded)
    document.append("keyframe", own)


def _follow_first_copy(
    document: Document, node: Node, keys: list[Node], copies: list[dict[Node, Node]]
) -> None:
    """Keys that came with an attached model stay one: they set the joints of the first copy only, and no
    actuators any more, even of what was not copied."""
    became = copies[0] if copies else {}
    first = {old: new if old.tag in JOINTS else None for old, new in became.items()}
    for key in keys:
        layout: KeyLayout = key.values["layout"]
        if layout.actuates(key, besides=became):
            _warn_forgotten(node, key)
        key.values["layout"] = layout.moved(first).unactuated()


def _warn_forgotten(node: Node, key: Node) -> None:
    """Warn of a key that a replicate makes forget its controls."""
    warn(
        f"{key.file}:{key.line}: {key.describe()}: ctrl and act of this key of an attached model become 0, as in "
        f"MuJoCo 3.4, because <replicate> at {node.file}:{node.line} follows; put it before the <attach>",
        LeftOutWarning,
        stacklevel=2,
    )


def attach_keys(document: Document, model: Submodel, rename: Rename, became: dict[Node, Node]) -> None:
    """Keyframes of the attached model: what came along is set, all else rests."""
    source, padded = model.root, model.composer.document.padded
    worlds = [section for section in source.children if section.tag == "worldbody"]
    actuators = [a for section in source.children if section.tag == "actuator" for a in section.children]
    new = []
    for section in (s for s in source.children if s.tag == "keyframe"):
        for key in section.children:
            old: KeyLayout | None = key.values.get("layout")
            if old and model.emptied:
                continue
            # keys that were copied before keep the name they got then, as MuJoCo warns itself
            copy = copied(key, str if old else rename, refer_same)
            joints = tuple(joints_below(worlds))
            classes = inherited_classes(worlds)
            everything: dict[Node, Node | None] = dict.fromkeys(joints)
            everything |= dict.fromkeys(actuators)
            everything |= became
            copy.values["layout"] = (
                old.moved(everything)
                if old
                else KeyLayout(
                    joints, everything, tuple(actuators), worlds=worlds, classes=classes, padded=padded
                )
            )
            new.append(copy)
    model.emptied = True
    document.append("keyframe", new)
