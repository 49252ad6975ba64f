"""`<replicate>`: a frame per copy, each turned and moved on from the one before.

Elements of other sections that refer to what is copied are copied with it; the originals go.
See the replicate case of `mjXReader::Body`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from dovetail.mjcf.compose.copies import frame_at, with_suffix
from dovetail.mjcf.compose.document import JOINTS, LISTS, Document
from dovetail.mjcf.compose.key_copies import LeftOutWarning, replicate_keys
from dovetail.mjcf.compose.namespace import TREE_KINDS, Named, Rename, copied, kind_of, names_below
from dovetail.mjcf.compose.plugin_instances import instances
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec, add, rotate
from dovetail.mjcf.read.source import Node, walk
from dovetail.warned import warn

Turn = Callable[[Node, Vec], Vec]
"""Euler angles of an element to a quaternion, by the settings of the model it stands in."""


def replicate(document: Document, node: Node, before: list[Node], turn: Turn) -> list[Node]:
    """Frames with the copies; `before` is what stands before it in its `<worldbody>`."""
    count = max(node.values["count"], 0)
    _check_doubling(document, node, count)
    _refuse_flexcomps(node)
    digits = len(str(count))
    sep = node.values.get("sep", "")
    known = _stems(document.names, len(sep) + digits) | names_below(node.children)
    candidates = _candidates(document, known)
    new: dict[str, list[Node]] = {tag: [] for tag in LISTS}
    frames, copies = [], []
    for index, (pos, quat) in enumerate(_poses(node, count, turn)):
        frames.append(frame_at(node, pos, quat, node.values.get("childclass")))
        rename = partial(with_suffix, suffix=f"{sep}{index:0{digits}d}")
        found = _copy_into(document, frames[-1], node, rename, candidates)
        copies.append(found[0])
        for tag, elements in found[1].items():
            new[tag] += elements
            candidates[tag] += [e for e in elements if _may_be_copied(document, e, tag, known)]
    for tag, elements in new.items():
        document.append(tag, elements)
    removed = _forget(document, names_below(node.children))
    if count:
        _warn_left_out(node, removed, copies)
    _drop_instances(document)
    document.joints -= sum(part.tag in JOINTS for part in walk(node))
    for frame in frames:  # until they are entered in their place
        document.names.subtract(names_below(frame.children))
    replicate_keys(document, node, before, copies)
    return frames


def _check_doubling(document: Document, node: Node, count: int) -> None:
    """Sensors that refer to nothing are copied every time, their copies too: their number doubles."""
    free = [s for section in document.sections("sensor") for s in section.children if not document.used(s)]
    if free and (count > 30 or len(free) << count > document.budget.left):
        raise node.error(
            f"every copy doubles the sensors that belong to no object, such as <{free[0].tag}> at "
            f"{free[0].file}:{free[0].line}; {count} copies are too many for that",
            "count",
        )


def _refuse_flexcomps(node: Node) -> None:
    for part in walk(node):
        if part.tag == "flexcomp":
            raise part.error("a flexcomp cannot be replicated: its flex would have the same name; copy it")


def _poses(node: Node, count: int, turn: Turn) -> Iterable[tuple[Vec, Vec]]:
    """Pose of each copy: the angles grow evenly, every offset is along the copy before."""
    offset, euler = node.values.get("offset", ORIGIN), node.values.get("euler", ORIGIN)
    pos: Vec = ORIGIN
    for index in range(count):
        quat = turn(node, tuple(index * angle for angle in euler))
        yield pos, quat
        pos = add(pos, rotate(quat, offset))


def _stems(names: Iterable[Named], length: int) -> set[Named]:
    """Names without their last letters, which may be the suffix of a copy."""
    return {(kind, name[:-length]) for kind, name in names if name[-1:].isdecimal()}


def _candidates(document: Document, known: set[Named]) -> dict[str, list[Node]]:
    """Elements of other sections that may be copied with names that are `known`, or with one another."""
    found: dict[str, list[Node]] = {tag: [] for tag in LISTS}
    for tag in LISTS:
        for element in [e for section in document.sections(tag) for e in section.children]:
            if tag == "custom" and element.tag != "tuple":
                continue
            if _may_be_copied(document, element, tag, known):
                found[tag].append(element)
                known.add((kind_of(element, tag), element.values.get("name", "")))
    return found


def _may_be_copied(document: Document, element: Node, tag: str, known: set[Named]) -> bool:
    """Whether an element refers to something known; a sensor of nothing is copied on and on."""
    used = document.used(element)
    return not known.isdisjoint(used) or (tag == "sensor" and not used)


def _copy_into(
    document: Document,
    frame: Node,
    node: Node,
    rename: Rename,
    candidates: dict[str, list[Node]],
) -> tuple[dict[Node, Node], dict[str, list[Node]]]:
    """Make one copy of a replicate's contents: what became what, and what comes along in other sections."""
    became: dict[Node, Node] = {}
    refer = partial(_refer_replicated, rename)
    inside = [child for child in node.children if child.tag != "inertial"]
    frame.children = [copied(child, rename, refer, copies=became) for child in inside]
    document.spend(node, len(became))
    document.names.update(names_below(frame.children))
    new = {
        tag: document.take_along(tag, elements, rename, became, node) for tag, elements in candidates.items()
    }
    return became, new


def _refer_replicated(rename: Rename, node: Node, attribute: str, kind: str, name: str) -> str:
    """In the tree of a replicate: assets are shared, but for the textures of lights, as in MuJoCo 3.4."""
    return rename(name) if kind in TREE_KINDS or kind == "texture" else name


def _forget(document: Document, gone: set[Named]) -> list[Node]:
    """Remove, and return, what referred to the replicated part, now that only its copies remain.

    What referred to something unknown before stays, and is an error later.
    """
    lost: Counter[Named] = Counter(gone)
    gone = {named for named in gone if document.names[named] <= lost[named]}
    removed: list[Node] = []
    for tag in LISTS[:-1]:
        for section in document.sections(tag):
            kept = []
            for element in section.children:
                if gone.isdisjoint(document.used(element)) or not document.stands(element, tag):
                    kept.append(element)
                else:
                    named = kind_of(element, tag), element.values.get("name", "")
                    gone.add(named)
                    lost[named] += 1
                    removed.append(element)
            section.children = kept
    document.names.subtract(lost)
    for kind, name in lost:
        if kind == "body":
            document.bodies.pop(name, None)
    return removed


def _warn_left_out(node: Node, removed: list[Node], copies: list[dict[Node, Node]]) -> None:
    """Warn of elements that a replicate removed and that no copy replaces."""
    gone = set(removed)
    made = {copy for became in copies for copy in became.values()} if removed else set()
    replaced = (
        {old for became in copies for old, copy in became.items() if copy not in gone} if removed else set()
    )
    for element in removed:
        if element not in replaced and element not in made:
            warn(
                f"{element.file}:{element.line}: {element.describe()}: left out, because it connects what "
                f"<replicate> at {node.file}:{node.line} copies with something else; write it for the copies",
                LeftOutWarning,
                stacklevel=2,
            )


def _drop_instances(document: Document) -> None:
    """A replicate, like in MuJoCo 3.4, leaves out the instances of plugins that nothing in the document uses."""
    declared = [element for section in document.sections("extension") for element in section.children]
    if any(child.tag == "instance" for element in declared for child in element.children):
        parts = [part for section in document.root.children for part in walk(section)]
        used = {name for part in parts for name in instances(part)}
        for element in declared:
            element.children = [
                child for child in element.children if child.values.get("name", "") in used | {""}
            ]
