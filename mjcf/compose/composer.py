"""Building one document out of parts: `<replicate>` and `<attach>`, expanded before anything is compiled.

Both copy a part of a kinematic tree under other names (a suffix, a prefix), together with the elements of other
sections that refer to that part: contact pairs, tendons, equalities, actuators, sensors (`namespace.resolved` says
which). What they refer to is looked up among all that was read or made before, in the order of the file. A replicate
is a frame per copy, each turned and moved on from the one before; an attached body brings its model's assets, custom
data and keyframes along. Copies stand after what was there before. See `mjs_attach` and the replicate and attach
cases of `mjXReader::Body`.

Sizes are counted before anything is copied: a few nested replicates can ask for more than any memory holds.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import attrs

from dovetail import limits
from dovetail.errors import MJCFError, listing, nearest
from dovetail.mjcf.compose import composite
from dovetail.mjcf.compose.key_layout import KeyLayout, inherited_classes, joints_below
from dovetail.mjcf.compose.namespace import (
    ATTACHED_FLEX,
    ATTACHED_MAIN,
    LOST_WORLD,
    MOVED_TO,
    TREE_KINDS,
    WORLD,
    Named,
    copied,
    flawed,
    kind_of,
    names_below,
    resolved,
    unknown_class,
    used_names,
)
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN, Vec, add, rotate
from dovetail.mjcf.read.source import Node, walk

MAX_ELEMENTS = limits.COPIED_ELEMENTS
"""Most elements that all copies together may have."""
MAX_MODELS = limits.SUBMODELS
"""Deepest chain of models that attach one another."""
_NESTING = ("body", "frame", "replicate")
_JOINTS = ("joint", "freejoint")
_CLASSED = ("geom", "joint", "site", "camera", "light")
"""What in the tree has a default class."""
_BODY_LISTS = ("body", "node")
"""Attributes of a flex that list names of bodies."""
_LISTS = ("contact", "tendon", "equality", "actuator", "sensor", "custom")
"""Sections whose elements are copied with what they refer to, in MuJoCo's order (of custom data only tuples)."""
_ORIGINAL_MATERIAL = ("mesh", "spatial", "fixed")
"""Elements that, like MuJoCo 3.4, keep the name of their material without prefix: it is this model's."""
Turn = Callable[[Node, Vec], Vec]
"""Euler angles of an element to a quaternion, by the settings of the model it stands in."""


Level = tuple[Node, Iterator[Node], list[Node]]
"""An element of the tree that is being read: itself, what is left in it, and what became of the rest."""


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
    emptied: bool = False
    """Whether keys that it got from copies and attached models went to another model, which happens once."""

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
    names: Counter[Named] = attrs.field(factory=lambda: Counter([WORLD]))
    """How often each name was given so far."""
    places: dict[Named, Node] = attrs.field(factory=dict)
    """Where names in the tree were given, for messages."""
    repeated: dict[str, tuple[Named, Node]] = attrs.field(factory=dict)
    """A name of each kind that a copy shares; an error as soon as another of that kind is read."""
    bodies: dict[str, tuple[Node | None, Node | None]] = attrs.field(factory=lambda: {"world": (None, None)})
    """Bodies so far with what they stand in: a body, a replicate, or None for the world."""
    counted: int = -1
    """What `size` found, once it was asked."""
    classes: set[str] = attrs.field(factory=lambda: {"main"})
    """Default classes that are known so far: those of the document, then those of attached models."""
    main: str = ""
    """The class of elements without one, if a model attached with an empty prefix has replaced it."""
    composed: bool = False
    """Whether something was replicated already: keyframes take part in the first time only."""
    extra: dict[str, Node] = attrs.field(factory=dict)
    """Sections that were added to the document for copies."""
    uses: dict[Node, frozenset[Named]] = attrs.field(factory=dict)
    """What elements of other sections refer to, once it was asked."""
    joints: int = 0
    """How many joints there are so far."""
    padded: int = 0
    """How many joints there were when a model was attached last: keys may stop before them."""
    attached: list[tuple[str, int]] = attrs.field(factory=list)
    """Prefixes under which the default classes of sub-models are known here."""

    def compose(self) -> None:
        """Replace every `<replicate>` and `<attach>` of the document by what it stands for."""
        self.size()
        for model in [*self.models.values(), *self.shadowed]:
            model.ready()  # also those that nothing attaches, which must be correct all the same
        for section in self._sections("default"):
            self.classes.update(part.values.get("class", "main") for part in walk(section))
        for section in self.root.children:
            if section.tag not in ("worldbody", "default"):
                self.names.update(_names_in(section.children, section.tag))
                if section.tag == "extension":
                    self.names.update(
                        _names_in([i for e in section.children for i in e.children], "extension")
                    )
                for element in section.children:
                    self._check_class(element)
        self._check_names()
        for section in self._sections("worldbody"):
            self._compose_tree(section)

    def _check_names(self) -> None:
        """Refuse names that elements outside of the tree share, also of those that nothing copies."""
        seen: dict[Named, Node] = {}
        for section in self.root.children:
            for element in section.children if section.tag in (*_LISTS, "asset", "keyframe") else ():
                named = kind_of(element, section.tag), element.values.get("name", "")
                if named[1] and seen.setdefault(named, element) is not element:
                    raise _used_twice(element, named, seen[named])

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
        stack: list[Level] = [(section, iter(section.children), [])]
        while stack:
            node, children, done = stack[-1]
            child = next(children, None)
            if child is not None:
                self._check_class(child)
                self._see(child, stack)
            if child is None:
                stack.pop()
                node.children = done
                if stack and node.tag == "replicate":
                    before = [part for _, _, parts in stack for part in parts]
                    frames = self._replicate(node, before)
                    self._enter(frames, _owner(stack))
                    stack[-1][2].extend(frames)
                elif stack:
                    stack[-1][2].append(node)
            elif child.tag in _NESTING:
                stack.append((child, iter(child.children), []))
            elif child.tag == "attach":
                done.extend(self._attach(child, stack))
            elif child.tag == "composite":
                done.append(self._composite(child))
                self._enter(done[-1:], _owner(stack))
            elif child.tag == "flexcomp":
                # its equality, if any, comes after those written and those copied so far
                self._append("equality", [child])
                done.append(child)
            else:
                if (
                    self.main
                    and child.tag in _CLASSED
                    and not any("childclass" in n.values for n, _, _ in stack)
                ):
                    child.values.setdefault("class", self.main)
                done.append(child)

    def _check_class(self, node: Node) -> None:
        """Refuse classes that are not known yet: those of an attached model are, once it is attached."""
        for attribute in ("class", "childclass"):
            if node.values.get(attribute, "main") not in self.classes:
                raise unknown_class(node, attribute, self.classes)

    def _see(self, node: Node, stack: list[Level]) -> None:
        """Remember the name of an element as it is read; it must be a new one."""
        self.joints += node.tag in _JOINTS
        named = kind_of(node), node.values.get("name", "")
        if not named[1] or node.tag in ("attach", "replicate", "composite"):
            return
        if node.tag not in ("frame", "flexcomp") and self.names[named] > 0:
            raise _used_twice(node, named, self.places.get(named))
        repeated, copy = self.repeated.get(named[0], (named, node))
        if self.names[repeated] > 1:
            raise _used_twice(copy, repeated, None)
        self.names[named] += 1
        self.places[named] = node
        if node.tag == "body":
            self.bodies[named[1]] = node, _owner(stack)

    def _enter(self, parts: list[Node], owner: Node | None) -> None:
        """Remember the names of all in some new parts of the tree."""
        pending = [(part, owner) for part in parts]
        while pending:
            part, around = pending.pop()
            self.joints += part.tag in _JOINTS
            name = part.values.get("name")
            if name:
                named = kind_of(part), name
                self.names[named] += 1
                self.places[named] = part
                if self.names[named] > 1 and part.tag != "frame":
                    self.repeated[named[0]] = named, part
            if name and part.tag == "body":
                self.bodies[name] = part, around
            inside = part if part.tag == "body" else around
            pending.extend((child, inside) for child in part.children)

    def _exists(self, kind: str, name: str) -> bool:
        """Whether something of that name was read or made before; bodies of a flexcomp have its name and a number."""
        if self.names[kind, name] > 0:
            return True
        stem, _, number = name.rpartition("_")
        return kind == "body" and number.isdecimal() and self.names["flexcomp", stem] > 0

    def _composite(self, node: Node) -> Node:
        """The first body of the chain that a composite stands for."""
        self._spend(node, composite.size_of(node))
        cable = composite.expand(node, self.root.schema)
        for tag, element in cable.sections:
            self._append(tag, [element])
        return cable.body

    # replicate

    def _check_doubling(self, node: Node, count: int) -> None:
        """Sensors that refer to nothing are copied every time, their copies too: their number doubles."""
        free = [s for section in self._sections("sensor") for s in section.children if not self._used(s)]
        if free and (count > 30 or len(free) << count > self.budget.left):
            raise node.error(
                f"every copy doubles the sensors that belong to no object, such as <{free[0].tag}> at "
                f"{free[0].file}:{free[0].line}; {count} copies are too many for that",
                "count",
            )

    def _replicate(self, node: Node, before: list[Node]) -> list[Node]:
        """Frames with the copies; `before` is what stands before it in its `<worldbody>`."""
        count = max(node.values["count"], 0)
        self._check_doubling(node, count)
        _refuse_flexcomps(node)
        digits = len(str(count))
        sep = node.values.get("sep", "")
        known = _stems(self.names, len(sep) + digits) | names_below(node.children)
        candidates = self._candidates(known)
        new: dict[str, list[Node]] = {tag: [] for tag in _LISTS}
        frames, copies = [], []
        for index, (pos, quat) in enumerate(_poses(node, count, self.turn)):
            frames.append(_frame(node, pos, quat, node.values.get("childclass")))
            rename = partial(_with_suffix, suffix=f"{sep}{index:0{digits}d}")
            found = self._copy_into(frames[-1], node, rename, candidates)
            copies.append(found[0])
            for tag, elements in found[1].items():
                new[tag] += elements
                candidates[tag] += [e for e in elements if self._may_be_copied(e, tag, known)]
        for tag, elements in new.items():
            self._append(tag, elements)
        removed = self._forget(names_below(node.children))
        if count:
            _warn_left_out(node, removed, copies)
        self._drop_instances()
        self.joints -= sum(part.tag in _JOINTS for part in walk(node))
        for frame in frames:  # until they are entered in their place
            self.names.subtract(names_below(frame.children))
        self._replicate_keys(node, before, copies)
        return frames

    def _copy_into(
        self,
        frame: Node,
        node: Node,
        rename: Callable[[str], str],
        candidates: dict[str, list[Node]],
    ) -> tuple[dict[Node, Node], dict[str, list[Node]]]:
        """Make one copy of a replicate's contents: what became what, and what comes along in other sections."""
        became: dict[Node, Node] = {}
        refer = partial(_refer_replicated, rename)
        inside = [child for child in node.children if child.tag != "inertial"]
        frame.children = [copied(child, rename, refer, copies=became) for child in inside]
        self._spend(node, len(became))
        self.names.update(names_below(frame.children))
        new = {
            tag: self._take_along(tag, elements, rename, became, node) for tag, elements in candidates.items()
        }
        return became, new

    def _may_be_copied(self, element: Node, tag: str, known: set[Named]) -> bool:
        """Whether an element refers to something known; a sensor of nothing is copied on and on."""
        used = self._used(element)
        return not known.isdisjoint(used) or (tag == "sensor" and not used)

    def _candidates(self, known: set[Named]) -> dict[str, list[Node]]:
        """Elements of other sections that may be copied with names that are `known`, or with one another."""
        found: dict[str, list[Node]] = {tag: [] for tag in _LISTS}
        for tag in _LISTS:
            for element in [e for section in self._sections(tag) for e in section.children]:
                if tag == "custom" and element.tag != "tuple":
                    continue
                if self._may_be_copied(element, tag, known):
                    found[tag].append(element)
                    known.add((kind_of(element, tag), element.values.get("name", "")))
        return found

    def _used(self, element: Node) -> frozenset[Named]:
        """What an element of another section refers to."""
        if element not in self.uses:
            self.uses[element] = frozenset(used_names(element))
        return self.uses[element]

    def _stands(self, element: Node, tag: str) -> bool:
        """Whether all that an element refers to exists, and stands itself."""
        used = self._used(element)
        others = [(kind, name) for kind, name in used if kind in ("tendon", "actuator")]
        return (
            not flawed(element, tag)
            and all(self._exists(*named) for named in used)
            and all(
                self._stands(other, kind)
                for kind, name in others
                for section in self._sections(kind)
                for other in section.children
                if other.values.get("name") == name
            )
        )

    def _take_along(
        self,
        tag: str,
        elements: list[Node],
        rename: Callable[[str], str],
        became: dict[Node, Node],
        node: Node,
        prefix: str = "",
    ) -> list[Node]:
        """Copies of those elements of a section that come along with the part of the tree copied last."""
        new = []
        for element in elements:
            found = resolved(element, tag, rename, self._exists)
            if found is None:
                continue
            self._spend(node, 1 + len(element.children))
            refer = partial(_refer_resolved, rename if prefix else str, found)
            new.append(copied(element, rename, refer, prefix, became))
            self._name_once(new[-1], tag, node)
        return new

    def _name_once(self, element: Node, tag: str, node: Node) -> None:
        kind, name = kind_of(element, tag), element.values.get("name", "")
        if name and self.names[kind, name] > 0:
            raise element.error(
                f"{kind} name {name!r} is used twice once <{node.tag}> at {node.file}:{node.line} has copied this; "
                "names must be unique",
                "name",
            )
        self.names[kind, name] += 1

    def _forget(self, gone: set[Named]) -> list[Node]:
        """Remove, and return, what referred to the replicated part, now that only its copies remain.

        What referred to something unknown before stays, and is an error later.
        """
        lost: Counter[Named] = Counter(gone)
        gone = {named for named in gone if self.names[named] <= lost[named]}
        removed: list[Node] = []
        for tag in _LISTS[:-1]:
            for section in self._sections(tag):
                kept = []
                for element in section.children:
                    if gone.isdisjoint(self._used(element)) or not self._stands(element, tag):
                        kept.append(element)
                    else:
                        named = kind_of(element, tag), element.values.get("name", "")
                        gone.add(named)
                        lost[named] += 1
                        removed.append(element)
                section.children = kept
        self.names.subtract(lost)
        for kind, name in lost:
            if kind == "body":
                self.bodies.pop(name, None)
        return removed

    def _drop_instances(self) -> None:
        """A replicate, like in MuJoCo 3.4, leaves out the instances of plugins that nothing in the document uses."""
        declared = [element for section in self._sections("extension") for element in section.children]
        if any(child.tag == "instance" for element in declared for child in element.children):
            parts = [part for section in self.root.children for part in walk(section)]
            used = {name for part in parts for name in _instances(part)}
            for element in declared:
                element.children = [
                    child for child in element.children if child.values.get("name", "") in used | {""}
                ]

    def _replicate_keys(self, node: Node, before: list[Node], copies: list[dict[Node, Node]]) -> None:
        """Every copy has its own keyframes, in which the other copies rest; the old ones come last.

        This happens to the keys of the document at its first replicate; keys that came with attached models stay.
        """
        keys = [key for section in self._sections("keyframe") for key in section.children]
        own = [key for key in keys if "layout" not in key.values]
        self._follow_first_copy(node, [key for key in keys if "layout" in key.values], copies)
        if self.composed or not own:
            self.composed = True
            return
        self.composed = True
        so_far = joints_below([*before, *node.children])
        for section in self._sections("keyframe"):
            section.children = [key for key in section.children if "layout" in key.values]
        digits = len(str(len(copies)))
        earlier: list[Node] = []
        for index, became in enumerate(copies):
            suffix = f"{node.values.get('sep', '')}{index:0{digits}d}"
            new = [copied(key, partial(_with_suffix, suffix=suffix), _refer_same) for key in own]
            for key in new:
                key.values["layout"] = KeyLayout(
                    tuple(so_far), became, raw=tuple(earlier), padded=self.padded
                )
            earlier += [became[joint] for joint in so_far if joint in became]
            self._append("keyframe", new)
        gone: dict[Node, Node | None] = {old: None for became in copies for old in became}
        for key in own:
            key.values["layout"] = KeyLayout(tuple(so_far), gone, raw=tuple(earlier), padded=self.padded)
        self._append("keyframe", own)

    def _follow_first_copy(self, node: Node, keys: list[Node], copies: list[dict[Node, Node]]) -> None:
        """Keys that came with an attached model stay one: they set the joints of the first copy only, and no
        actuators any more, even of what was not copied."""
        became = copies[0] if copies else {}
        first = {old: new if old.tag in _JOINTS else None for old, new in became.items()}
        for key in keys:
            layout: KeyLayout = key.values["layout"]
            if layout.actuates(key, besides=became):
                _warn_forgotten(node, key)
            key.values["layout"] = layout.moved(first).unactuated()

    # attach

    def _attach(self, node: Node, stack: list[Level]) -> list[Node]:
        prefix = node.values["prefix"]
        if "body" in node.values and f"{prefix}{node.values['body']}" in self.bodies:
            self._move(node, f"{prefix}{node.values['body']}", stack)
            return []
        model = self._model(node).ready()
        trunk, childclass = _trunk(model.root, node)
        parts = [trunk] if trunk.tag == "body" else trunk.children
        became: dict[Node, Node] = {}
        frame = _frame(node, ORIGIN, IDENTITY, childclass, model.number)
        self._spend(node, sum(1 for part in parts for _ in walk(part)))
        _graft(frame, parts, prefix, became)
        self._enter([frame], _owner(stack))
        self._bring(model, node, names_below(parts), became)
        self.padded = self.padded if self.composed else self.joints
        return [frame]

    def _bring(self, model: Submodel, node: Node, names: set[Named], became: dict[Node, Node]) -> None:
        """What comes along with a part of an attached model, of which these are the names."""
        prefix = node.values["prefix"]
        rename = partial(_with_prefix, prefix=prefix)
        users = [(part, part.tag) for part in became.values()]
        users += [(part, part.tag) for part in self._adopt(model, prefix, node)]
        self._attach_deformables(model.root, names, rename, node)
        for tag in _LISTS:
            everything = [e for s in model.root.children if s.tag == tag for e in s.children]
            listed = [e for e in everything if tag != "custom" or e.tag == "tuple"]
            new = self._take_along(tag, listed, rename, became, node, prefix)
            users += [(element, tag) for element in new]
            self._append(tag, new)
        self._attach_plugins(model.root, rename, users)
        self._attach_keys(model, rename, became)

    def _move(self, node: Node, name: str, stack: list[Level]) -> None:
        """Attach a body that is there already: it is put into the frames of this place, if it has the same parent."""
        body, owner = self.bodies[name]
        if body is None or owner is not _owner(stack):
            raise node.error(
                f"there is a body {name!r} already, in another body; choose another prefix", "prefix"
            )
        frames: list[Node] = []
        for part, _, _ in stack:
            frames = [*frames, part] if part.tag == "frame" else []
        body.values[MOVED_TO] = frames

    def _attach_plugins(
        self, source: Node, rename: Callable[[str], str], users: list[tuple[Node, str]]
    ) -> None:
        """Declarations of plugins come whole; of their instances those that something uses, unless they are there."""
        ranks: dict[str, int] = {}
        for part, kind in users:
            if kind in _PLUGIN_USERS:
                for name in _instances(part):
                    ranks[name] = min(ranks.get(name, len(_PLUGIN_USERS)), _PLUGIN_USERS.index(kind))
        declared = [e for s in source.children if s.tag == "extension" for e in s.children]
        refer = partial(_refer_attached, rename)
        copies = [copied(element, rename, refer) for element in declared]
        used = [
            (ranks[child.values["name"]], element, child)
            for element in copies
            for child in element.children
            if child.values.get("name") in ranks and not self._exists("plugin", child.values["name"])
        ]
        for element in copies:
            element.children = []
        for _, element, child in sorted(used, key=lambda found: found[0]):
            alone = copied(element, str, _refer_same)
            alone.children = [child]
            copies.append(alone)
            self.names["plugin", child.values["name"]] += 1
        self._append("extension", copies)

    def _adopt(self, model: Submodel, prefix: str, node: Node) -> list[Node]:
        """Assets and custom numbers and texts come whole; returns the assets."""
        adopted: list[Node] = []
        if (prefix, model.number) not in self.attached:
            self.attached.append((prefix, model.number))
        self.classes |= {prefix + name for name in model.composer.classes}
        self.main = self.main if prefix else f"{ATTACHED_MAIN}{model.number}"
        rename = partial(_with_prefix, prefix=prefix)
        for tag in ("asset", "custom"):
            everything = [e for s in model.root.children if s.tag == tag for e in s.children]
            old = [e for e in everything if e.tag not in ("tuple", "skin")]
            self._spend(node, len(old))
            new = [copied(element, rename, partial(_refer_attached, rename), prefix) for element in old]
            for element in new:
                self._name_once(element, tag, node)
            self._append(tag, new)
            adopted += new
        return adopted

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
        self.names.update(_names_in(new, "deformable"))
        self._append("deformable", new)

    def _attach_keys(self, model: Submodel, rename: Callable[[str], str], became: dict[Node, Node]) -> None:
        """Keyframes of the attached model: what came along is set, all else rests."""
        source, padded = model.root, model.composer.padded
        worlds = [section for section in source.children if section.tag == "worldbody"]
        actuators = [a for section in source.children if section.tag == "actuator" for a in section.children]
        new = []
        for section in (s for s in source.children if s.tag == "keyframe"):
            for key in section.children:
                old: KeyLayout | None = key.values.get("layout")
                if old and model.emptied:
                    continue
                # keys that were copied before keep the name they got then, as MuJoCo warns itself
                copy = copied(key, str if old else rename, _refer_same)
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
        self._append("keyframe", new)

    # the document

    def _sections(self, tag: str) -> list[Node]:
        return [section for section in self.root.children if section.tag == tag]

    def _append(self, tag: str, elements: list[Node]) -> None:
        """Put elements after all others of a section."""
        if elements and tag not in self.extra:
            self.extra[tag] = Node(tag, elements[0].file, elements[0].line, {})
            self.extra[tag].schema = self.root.schema.children[tag]
            self.root.children.append(self.extra[tag])
        if elements:
            self.extra[tag].children += elements


def _children_first(sections: list[Node]) -> list[Node]:
    order = [node for section in sections for node in walk(section)]
    return order[::-1]


class LeftOutWarning(UserWarning):
    """An element refers to a replicated part in a way that, like in MuJoCo 3.4, no copy of it can: it is left out."""


def _warn_left_out(node: Node, removed: list[Node], copies: list[dict[Node, Node]]) -> None:
    """Warn of elements that a replicate removed and that no copy replaces."""
    gone = set(removed)
    made = {copy for became in copies for copy in became.values()} if removed else set()
    replaced = (
        {old for became in copies for old, copy in became.items() if copy not in gone} if removed else set()
    )
    for element in removed:
        if element not in replaced and element not in made:
            warnings.warn(
                f"{element.file}:{element.line}: {element.describe()}: left out, because it connects what "
                f"<replicate> at {node.file}:{node.line} copies with something else; write it for the copies",
                LeftOutWarning,
                stacklevel=2,
            )


def _warn_forgotten(node: Node, key: Node) -> None:
    """Warn of a key that a replicate makes forget its controls."""
    warnings.warn(
        f"{key.file}:{key.line}: {key.describe()}: ctrl and act of this key of an attached model become 0, as in "
        f"MuJoCo 3.4, because <replicate> at {node.file}:{node.line} follows; put it before the <attach>",
        LeftOutWarning,
        stacklevel=2,
    )


_PLUGIN_USERS = ("body", "geom", "mesh", "actuator", "sensor")
"""What may use an instance of a plugin, in the order in which MuJoCo copies instances for them."""


def _instances(node: Node) -> list[str]:
    """Instances of plugins that an element uses, itself or by a `<plugin>` in it."""
    plugins = [part for part in (node, *node.children) if part.tag == "plugin"]
    return [part.values["instance"] for part in plugins if part.values.get("instance")]


def _refuse_flexcomps(node: Node) -> None:
    for part in walk(node):
        if part.tag == "flexcomp":
            raise part.error("a flexcomp cannot be replicated: its flex would have the same name; copy it")


def _owner(stack: list[Level]) -> Node | None:
    """The body or replicate that something stands in, looking through frames; None for the world."""
    return next((node for node, _, _ in reversed(stack) if node.tag in ("body", "replicate")), None)


def _used_twice(node: Node, named: Named, first: Node | None) -> MJCFError:
    place = f" (first at {first.file}:{first.line})" if first else ""
    return node.error(f"{named[0]} name {named[1]!r} is used twice{place}; names must be unique", "name")


def _names_in(elements: Iterable[Node], tag: str) -> list[Named]:
    """Names of the elements of a section."""
    return [(kind_of(e, tag), e.values["name"]) for e in elements if e.values.get("name")]


def _stems(names: Iterable[Named], length: int) -> set[Named]:
    """Names without their last letters, which may be the suffix of a copy."""
    return {(kind, name[:-length]) for kind, name in names if name[-1:].isdecimal()}


# what the references of a copy become


def _refer_same(node: Node, attribute: str, kind: str, name: str) -> str:
    return name


def _refer_replicated(rename: Callable[[str], str], node: Node, attribute: str, kind: str, name: str) -> str:
    """In the tree of a replicate: assets are shared, but for the textures of lights, as in MuJoCo 3.4."""
    return rename(name) if kind in TREE_KINDS or kind == "texture" else name


def _refer_attached(rename: Callable[[str], str], node: Node, attribute: str, kind: str, name: str) -> str:
    """In the tree and the assets of an attached model."""
    own = kind in ("default", "model") or (kind == "material" and node.tag in _ORIGINAL_MATERIAL)
    return name if own else rename(name)


def _refer_body(rename: Callable[[str], str], node: Node, attribute: str, kind: str, name: str) -> str:
    return rename(name) if kind == "body" else name


def _refer_resolved(
    rename: Callable[[str], str],
    found: dict[tuple[Node, str], str],
    node: Node,
    attribute: str,
    kind: str,
    name: str,
) -> str:
    """In other sections: what was found, and the instances of plugins."""
    return rename(name) if kind == "plugin" else found.get((node, attribute), name)


def _deformed_bodies(element: Node) -> list[str]:
    """Bodies that move a flex or a skin."""
    bones = [bone.values["body"] for bone in element.children if bone.tag == "bone"]
    return bones + [word for key in _BODY_LISTS for word in element.values.get(key, "").split()]


def _attached_deformable(element: Node, rename: Callable[[str], str]) -> Node:
    copy = copied(element, rename, partial(_refer_body, rename))
    copy.values |= {key: element.values[key] for key in ("name",) if key in element.values}
    for key in _BODY_LISTS:
        if key in element.values:
            copy.values[key] = " ".join(map(rename, element.values[key].split()))
    return copy


def _graft(frame: Node, parts: list[Node], prefix: str, became: dict[Node, Node]) -> None:
    """Copy parts of an attached model into a frame."""
    rename = partial(_with_prefix, prefix=prefix)
    refer = partial(_refer_attached, rename)
    frame.children = [copied(part, rename, refer, prefix, became) for part in parts]
    for old, new in became.items():
        if old.tag == "flexcomp":
            _keep_flex_names(old, new)
    for part in _outside_bodies(frame):
        part.values[LOST_WORLD] = True


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
