"""Building one document out of parts: `<replicate>` and `<attach>`, expanded before anything is compiled.

Both copy a part of a kinematic tree under other names (a suffix, a prefix), together with the elements of other
sections that refer to that part alone: contact pairs, tendons, equalities, actuators, sensors. (Contact pairs and
exclusions of a replicate may also name one partner that was written before it.) A replicate is a frame per copy,
each turned and moved on from the one before; an attached body brings its model's assets, custom data and
keyframes along. Copies stand after what was there before. See `mjs_attach` and the
replicate and attach cases of `mjXReader::Body`.

Sizes are counted before anything is copied: a few nested replicates can ask for more than any memory holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

import attrs

from dovetail.errors import listing, nearest

from . import composite
from .kinds import Vec
from .layout import Layout, inherited_classes, joints_below
from .namespace import (
    ATTACHED_FLEX,
    LOST_WORLD,
    REFERRING_KINDS,
    TREE_KINDS,
    WORLD,
    Named,
    all_references,
    copied,
    kind_of,
    names_below,
)
from .rotation import IDENTITY, ORIGIN, add, rotate
from .source import Node, walk

MAX_ELEMENTS = 250_000
"""Most elements that all copies together may have."""
MAX_MODELS = 32
"""Deepest chain of models that attach one another."""
_NESTING = ("body", "frame", "replicate")
_BODY_LISTS = ("body", "node")
"""Attributes of a flex that list names of bodies."""
_ATTACHED_SECTIONS = ("asset", "custom", "contact", "tendon", "equality", "actuator", "sensor")
_EVERY_KIND = (
    TREE_KINDS
    | REFERRING_KINDS
    | frozenset(
        ["mesh", "hfield", "skin", "texture", "material", "numeric", "text", "tuple", "key", "flex", "plugin"]
    )
)
Turn = Callable[[Node, Vec], Vec]
"""Euler angles of an element to a quaternion, by the settings of the model it stands in."""


@attrs.define
class Budget:
    """How many more elements copies may have, over all documents."""

    left: int


@attrs.define(eq=False)
class Submodel:
    """A model that others attach: its document, composed when it is first attached."""

    number: int
    composer: Composer
    composed: bool = False

    @property
    def root(self) -> Node:
        return self.composer.root

    def ready(self) -> Submodel:
        """This model with all its parts put together."""
        if not self.composed:
            self.composed = True
            self.composer.compose()
        return self


@attrs.define
class Composer:
    """Composes one document; sub-models, loaded on first use, are composed by composers of their own."""

    root: Node
    load: Callable[[Node], Submodel]
    """Reads and checks the model that an `<asset><model>` names."""
    turn: Turn
    budget: Budget
    models: dict[str, Submodel] = attrs.field(factory=dict)
    shadowed: list[Submodel] = attrs.field(factory=list)
    """Models that cannot be attached: another one before them has their name."""
    seen: dict[str, Node] = attrs.field(factory=dict)
    """Bodies so far, by name: where each was written."""
    counted: int = -1
    """What `size` found, once it was asked."""
    composed: bool = False
    """Whether something was replicated or attached already: keyframes take part in the first time only."""
    attached: list[tuple[str, int]] = attrs.field(factory=list)
    """Prefixes under which the default classes of sub-models are known here."""

    def compose(self) -> None:
        """Replace every `<replicate>` and `<attach>` of the document by what it stands for."""
        self.size()
        for model in [*self.models.values(), *self.shadowed]:
            model.ready()  # also those that nothing attaches, which must be correct all the same
        for section in self._sections("worldbody"):
            self._compose_tree(section)

    def _find_models(self) -> None:
        for section in self._sections("asset"):
            for node in section.children:
                if node.tag != "model":
                    continue
                loaded = self.load(node)
                loaded.composer.size()  # loads the models below, and refuses absurd ones before any is composed
                name = node.values.get("name") or loaded.root.values.get("model", "MuJoCo Model")
                if self.models.setdefault(name, loaded) is not loaded:
                    self.shadowed.append(loaded)
            section.children = [node for node in section.children if node.tag != "model"]

    def _model(self, node: Node) -> Submodel:
        name = node.values["model"]
        found = self.models.get(name)
        if found is None:
            known = f"; models: {listing(self.models)}" if self.models else "; add <asset><model> for it"
            raise node.error(f"unknown model {name!r}{nearest(name, self.models)}{known}", "model")
        return found

    def size(self) -> int:
        """About how many elements the composed tree will have, counted before the first copy is made.

        A copy that would be absurdly large is refused here. Of attached bodies only the model as a whole is
        counted, so what comes out may be smaller, but not larger than a few elements more.
        """
        if self.counted < 0:
            self._find_models()
            sizes: dict[Node, int] = {}
            for node in _children_first(self._sections("worldbody")):
                below = sum(sizes.pop(child) for child in node.children)
                sizes[node] = 1 + self._grown(node, below)
            self.counted = sum(sizes.values())
        return self.counted

    def _grown(self, node: Node, below: int) -> int:
        """What an element becomes, given how much stands in it."""
        if node.tag == "replicate":
            grown = below * max(node.values["count"], 0)
        elif node.tag == "composite":
            grown = composite.size_of(node)
        elif node.tag == "attach" and "body" not in node.values:
            grown = self._model(node).composer.size()
        else:
            return below
        if grown > self.budget.left:
            raise node.error(f"would make {grown:,} elements; the most is {MAX_ELEMENTS:,}", "count")
        return grown

    def _spend(self, node: Node, count: int) -> None:
        self.budget.left -= count
        if self.budget.left < 0:
            raise node.error(f"the copies in this model have more than {MAX_ELEMENTS:,} elements; make fewer")

    def _compose_tree(self, section: Node) -> None:
        stack: list[tuple[Node, Iterator[Node], list[Node]]] = [(section, iter(section.children), [])]
        while stack:
            node, children, done = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                node.children = done
                if stack and node.tag == "replicate":
                    before = [part for _, _, parts in stack for part in parts]
                    outside = self._partners(node, [part for part, _, _ in stack], before)
                    stack[-1][2].extend(self._replicate(node, before, outside))
                elif stack:
                    stack[-1][2].append(node)
            elif child.tag in _NESTING:
                self._see(child)
                stack.append((child, iter(child.children), []))
            elif child.tag == "attach":
                done.extend(self._attach(child))
            elif child.tag == "composite":
                done.append(self._composite(child))
            elif child.tag == "flexcomp":
                # its equality, if any, comes after those written and those copied so far
                self._append("equality", [child])
                done.append(child)
            else:
                done.append(child)

    def _see(self, node: Node) -> None:
        if node.tag == "body" and node.values.get("name"):
            self.seen.setdefault(node.values["name"], node)

    def _composite(self, node: Node) -> Node:
        """The first body of the chain that a composite stands for."""
        self._spend(node, composite.size_of(node))
        cable = composite.expand(node, self.root.schema)
        for tag, element in cable.sections:
            self._append(tag, [element])
        for part in walk(cable.body):
            self._see(part)
        return cable.body

    # replicate

    def _check_doubling(self, node: Node, count: int) -> None:
        """Sensors that refer to nothing are copied every time, their copies too: their number doubles."""
        free = [s for section in self._sections("sensor") for s in section.children if not all_references(s)]
        if free and (count > 30 or len(free) << count > self.budget.left):
            raise node.error(
                f"every copy doubles the sensors that belong to no object, such as <{free[0].tag}> at "
                f"{free[0].file}:{free[0].line}; {count} copies are too many for that",
                "count",
            )

    def _partners(self, node: Node, around: list[Node], before: list[Node]) -> set[Named]:
        """Names that contact elements use beside those in a replicate, of what is around or before it.

        MuJoCo resolves contact elements when it has read the replicate, so that later names are still unknown.
        """
        inside = names_below(node.children)
        contacts = [all_references(e) for section in self._sections("contact") for e in section.children]
        wanted = {name for used in contacts if not inside.isdisjoint(used) for name in used} - inside
        if wanted <= {WORLD}:
            return set()
        worlds = self._sections("worldbody")
        earlier = worlds[: worlds.index(around[0])]
        enclosing = {(kind_of(part), part.values["name"]) for part in around if part.values.get("name")}
        return wanted & (names_below([*earlier, *before]) | enclosing)

    def _replicate(self, node: Node, before: list[Node], outside: set[Named]) -> list[Node]:
        """Frames with the copies; `before` is what stands before it in its `<worldbody>`.

        `outside` are names of other parts that contact elements may use together with those in the replicate.
        """
        count = max(node.values["count"], 0)
        self._check_doubling(node, count)
        for part in walk(node):
            if part.tag == "flexcomp":
                raise part.error(
                    "a flexcomp cannot be replicated: its flex would have the same name; copy it"
                )
        inside = [child for child in node.children if child.tag != "inertial"]
        names = names_below(inside)
        digits = len(str(count))
        frames = []
        copies: list[dict[Node, Node]] = []
        so_far = joints_below([*before, *inside])
        for index, (pos, quat) in enumerate(_poses(node, count, self.turn)):
            suffix = f"{node.values.get('sep', '')}{index:0{digits}d}"
            rename = partial(_with_suffix, suffix=suffix)
            became: dict[Node, Node] = {}
            frame = _frame(node, pos, quat, node.values.get("childclass"))
            frame.children = [copied(child, rename, TREE_KINDS, copies=became) for child in inside]
            self._spend(node, len(became))
            self._take_along(self.root, names, rename, became, node, outside)
            frames.append(frame)
            copies.append(became)
        self._forget(names, outside)
        self._replicate_keys(node, so_far, copies)
        for frame in frames:
            for part in walk(frame):
                self._see(part)
        return frames

    def _take_along(
        self,
        source: Node,
        names: set[Named],
        rename: Callable[[str], str],
        became: dict[Node, Node],
        node: Node,
        outside: Collection[Named] = (),
    ) -> None:
        """Copy the elements of other sections that refer to nothing but the named part of the tree.

        Those of contacts may refer to `outside` as well; that reference stays.
        """
        known = set(names)
        keep = frozenset([WORLD, *outside])
        for tag in ("contact", "tendon", "equality", "actuator", "sensor"):
            new = []
            for element in [e for s in source.children if s.tag == tag for e in s.children]:
                if _belongs(element, tag, known, outside):
                    self._spend(node, 1 + len(element.children))
                    new.append(
                        copied(element, rename, _EVERY_KIND, keep=keep, copies=became)
                        if source is not self.root
                        else copied(
                            element,
                            rename,
                            TREE_KINDS | REFERRING_KINDS,
                            keep=keep,
                            copies=became,
                        )
                    )
                    if element.values.get("name"):
                        known.add((kind_of(element, tag), element.values["name"]))
            self._append(tag, new)

    def _forget(self, names: set[Named], outside: set[Named]) -> None:
        """Remove what referred to the replicated part, now that only its copies remain."""
        known = set(names)
        for tag in ("contact", "tendon", "equality", "actuator", "sensor"):
            for section in self._sections(tag):
                kept = []
                for element in section.children:
                    if _belongs(element, tag, known, outside) and known.intersection(all_references(element)):
                        if element.values.get("name"):
                            known.add((kind_of(element, tag), element.values["name"]))
                    else:
                        kept.append(element)
                section.children = kept
        for kind, name in names:
            if kind == "body":
                self.seen.pop(name, None)

    def _replicate_keys(self, node: Node, so_far: list[Node], copies: list[dict[Node, Node]]) -> None:
        """Every copy has its own keyframes, in which the other copies rest; the old ones come last."""
        keys = [key for section in self._sections("keyframe") for key in section.children]
        if self.composed or not keys:
            self.composed = True
            self._follow_first_copy(keys, copies)
            return
        self.composed = True
        for section in self._sections("keyframe"):
            section.children = []
        digits = len(str(len(copies)))
        earlier: list[Node] = []
        for index, became in enumerate(copies):
            suffix = f"{node.values.get('sep', '')}{index:0{digits}d}"
            new = [copied(key, partial(_with_suffix, suffix=suffix), frozenset()) for key in keys]
            for key in new:
                key.values["layout"] = Layout(tuple(so_far), became, raw=tuple(earlier))
            earlier += [became[joint] for joint in so_far if joint in became]
            self._append("keyframe", new)
        gone: dict[Node, Node | None] = {old: None for became in copies for old in became}
        for key in keys:
            key.values["layout"] = Layout(tuple(so_far), gone, raw=tuple(earlier))
        self._append("keyframe", keys)

    def _follow_first_copy(self, keys: list[Node], copies: list[dict[Node, Node]]) -> None:
        """Keys that came with an attached model stay one: they set the joints of the first copy only."""
        if not copies:
            return
        first = {old: new if old.tag in ("joint", "freejoint") else None for old, new in copies[0].items()}
        for key in keys:
            if "layout" in key.values:
                key.values["layout"] = key.values["layout"].moved(first)

    # attach

    def _attach(self, node: Node) -> list[Node]:
        model, prefix = self._model(node).ready(), node.values["prefix"]
        trunk, childclass = _trunk(model.root, node)
        if trunk.tag == "body" and f"{prefix}{node.values['body']}" in self.seen:
            return []  # attached already: MuJoCo takes a second request for the same body as done
        parts = [trunk] if trunk.tag == "body" else trunk.children
        rename = partial(_with_prefix, prefix=prefix)
        became: dict[Node, Node] = {}
        frame = _frame(node, ORIGIN, IDENTITY, childclass, model.number)
        self._spend(node, sum(1 for part in parts for _ in walk(part)))
        frame.children = [copied(part, rename, _EVERY_KIND, copies=became) for part in parts]
        for old, new in became.items():
            if old.tag == "flexcomp":
                _keep_flex_names(old, new)
        for part in _outside_bodies(frame):
            part.values[LOST_WORLD] = True
        for part in walk(frame):
            self._see(part)
        self._adopt(model, prefix, node)
        names = names_below(parts)
        self._attach_deformables(model.root, names, rename, node)
        self._take_along(model.root, names, rename, became, node)
        self._attach_tuples(model.root, names, rename)
        self._attach_keys(model.root, rename, became)
        self.composed = True
        return [frame]

    def _adopt(self, model: Submodel, prefix: str, node: Node) -> None:
        """Assets and custom numbers and texts come whole, once per prefix."""
        if (prefix, model.number) in self.attached:
            return
        self.attached.append((prefix, model.number))
        rename = partial(_with_prefix, prefix=prefix)
        for tag in ("extension", "asset", "custom"):
            everything = [e for s in model.root.children if s.tag == tag for e in s.children]
            old = [e for e in everything if e.tag not in ("tuple", "skin")]
            self._spend(node, len(old))
            self._append(tag, [copied(element, rename, _EVERY_KIND) for element in old])

    def _attach_deformables(
        self, source: Node, names: set[Named], rename: Callable[[str], str], node: Node
    ) -> None:
        """Flexes and skins whose bodies all come along.

        Like MuJoCo 3.4, keep their names and materials without prefix: the material is this model's.
        """
        sections = [s for s in source.children if s.tag in ("asset", "deformable")]
        new = []
        for element in [e for s in sections for e in s.children if e.tag in ("flex", "skin")]:
            if names.issuperset(("body", body) for body in _deformed_bodies(element)):
                self._spend(node, 1 + len(element.children))
                new.append(_attached_deformable(element, rename))
        self._append("deformable", new)

    def _attach_tuples(self, source: Node, names: set[Named], rename: Callable[[str], str]) -> None:
        for section in (s for s in source.children if s.tag == "custom"):
            tuples = [
                element
                for element in section.children
                if element.tag == "tuple" and set(all_references(element)) <= names | {WORLD}
            ]
            self._append("custom", [copied(t, rename, _EVERY_KIND, keep=frozenset([WORLD])) for t in tuples])

    def _attach_keys(self, source: Node, rename: Callable[[str], str], became: dict[Node, Node]) -> None:
        """Keyframes of the attached model: what came along is set, all else rests."""
        worlds = [section for section in source.children if section.tag == "worldbody"]
        actuators = [a for section in source.children if section.tag == "actuator" for a in section.children]
        new = []
        for section in (s for s in source.children if s.tag == "keyframe"):
            for key in section.children:
                old: Layout | None = key.values.get("layout")
                # keys that were copied before keep the name they got then, as MuJoCo warns itself
                copy = copied(key, str if old else rename, frozenset())
                joints = tuple(joints_below(worlds))
                classes = inherited_classes(worlds)
                everything: dict[Node, Node | None] = dict.fromkeys(joints)
                everything |= dict.fromkeys(actuators)
                everything |= became
                copy.values["layout"] = (
                    old.moved(everything)
                    if old
                    else Layout(joints, everything, tuple(actuators), worlds=worlds, classes=classes)
                )
                new.append(copy)
        self._append("keyframe", new)

    # the document

    def _sections(self, tag: str) -> list[Node]:
        return [section for section in self.root.children if section.tag == tag]

    def _append(self, tag: str, elements: list[Node]) -> None:
        """Put elements after all others of a section."""
        if elements:
            section = Node(tag, elements[0].file, elements[0].line, {})
            section.schema = self.root.schema.children[tag]
            section.children = elements
            self.root.children.append(section)


def _children_first(sections: list[Node]) -> list[Node]:
    order = [node for section in sections for node in walk(section)]
    return order[::-1]


def _belongs(element: Node, tag: str, known: set[Named], outside: Collection[Named]) -> bool:
    """Whether an element refers to nothing outside of the known names; sensors may refer to nothing at all.

    Contact elements may also use names of `outside`, beside a known one.
    """
    needed = all_references(element)
    allowed = [WORLD, *outside] if tag == "contact" else [WORLD]
    if not known.issuperset(name for name in needed if name not in allowed):
        return False
    return tag == "sensor" or not known.isdisjoint(needed)


def _deformed_bodies(element: Node) -> list[str]:
    """Bodies that move a flex or a skin."""
    bones = [bone.values["body"] for bone in element.children if bone.tag == "bone"]
    return bones + [word for key in _BODY_LISTS for word in element.values.get(key, "").split()]


def _attached_deformable(element: Node, rename: Callable[[str], str]) -> Node:
    copy = copied(element, rename, frozenset(["body"]))
    copy.values |= {key: element.values[key] for key in ("name",) if key in element.values}
    for key in _BODY_LISTS:
        if key in element.values:
            copy.values[key] = " ".join(map(rename, element.values[key].split()))
    return copy


def _outside_bodies(frame: Node) -> Iterator[Node]:
    """The flexcomps in a frame and the frames in it."""
    stack = [frame]
    while stack:
        node = stack.pop()
        yield from (child for child in node.children if child.tag == "flexcomp")
        stack.extend(child for child in node.children if child.tag == "frame")


def _keep_flex_names(old: Node, new: Node) -> None:
    """The flex of an attached flexcomp keeps its name and material; what moves it is renamed."""
    new.values[ATTACHED_FLEX] = old.values.get(ATTACHED_FLEX, old.values["name"])
    new.values |= {key: old.values[key] for key in ("material",) if key in old.values}


def _with_suffix(name: str, suffix: str) -> str:
    return name + suffix


def _with_prefix(name: str, prefix: str) -> str:
    return prefix + name


def _frame(node: Node, pos: Vec, quat: Vec, childclass: str | None, model: int | None = None) -> Node:
    """A `<frame>` in the place of an element."""
    frame = Node("frame", node.file, node.line, node.raw, model=node.model if model is None else model)
    frame.schema = node.schema
    frame.values = {"pos": pos, "quat": quat}
    if childclass is not None:
        frame.values["childclass"] = childclass
    return frame


def _poses(node: Node, count: int, turn: Turn) -> Iterable[tuple[Vec, Vec]]:
    """Pose of each copy: the angles grow evenly, every offset is along the copy before."""
    offset, euler = node.values.get("offset", ORIGIN), node.values.get("euler", ORIGIN)
    pos: Vec = ORIGIN
    for index in range(count):
        quat = turn(node, tuple(index * angle for angle in euler))
        yield pos, quat
        pos = add(pos, rotate(quat, offset))


def _trunk(root: Node, node: Node) -> tuple[Node, str]:
    """The element to attach, a body or the whole world, and the class that its contents inherit."""
    world = Node("worldbody", root.file, root.line, {}, schema=root.schema.children["worldbody"])
    world.children = [part for s in root.children if s.tag == "worldbody" for part in s.children]
    wanted = node.values.get("body")
    if wanted is None:
        return world, "main"
    if wanted == "world":
        world.tag, world.schema, world.model = "body", world.schema.children["body"], root.model
        world.values = {"name": "world"}
        return world, "main"
    stack = [(child, "main") for child in reversed(world.children)]
    names = []
    while stack:
        part, childclass = stack.pop()
        if part.tag not in _NESTING:
            continue
        if part.tag == "body":
            if part.values.get("name") == wanted:
                return part, childclass
            names.append(part.values.get("name", ""))
        below = part.values.get("childclass", childclass)
        stack.extend((child, below) for child in reversed(part.children))
    known = [name for name in names if name]
    raise node.error(
        f"the model has no body {wanted!r}{nearest(wanted, known)}; its bodies: {listing(known)}", "body"
    )
