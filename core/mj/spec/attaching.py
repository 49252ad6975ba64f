"""Attaching a spec, or a part of one, to another, with all that belongs to it; names get a prefix and suffix.

Unless the receiving spec copies, the elements themselves move: whoever holds one can go on editing it, and the spec
they came from can no longer be compiled.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dovetail.errors import ArgumentError, shown
from dovetail.mj.spec.defaults import MjsDefault
from dovetail.mj.spec.keys import taken_apart
from dovetail.mj.spec.lists import MjsKey
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.references import TREE, referred, rename_references
from dovetail.mj.spec.tree import CHILD_KINDS, MjsBody, MjsFrame, MjsSite
from dovetail.mj.spec.units import pose_quat

if TYPE_CHECKING:
    from dovetail.mj.spec.spec import MjSpec

_ASSETS = ("texture", "material", "mesh", "hfield")
_WHOLE = ("numeric", "text")
"""Kinds that come along whole, whatever part is attached."""
_STRICT = ("equality", "actuator", "tuple", "skin", "flex")
"""Kinds that do not come along if they refer to nothing."""
_FOLLOWING = ("pair", "exclude", "tendon", "equality", "actuator", "sensor", "flex", "skin", "tuple")
"""Kinds that refer to others, those that are referred to first."""


def attach_spec(
    spec: MjSpec, child: Any, prefix: str | None, suffix: str | None, site: Any, frame: Any
) -> MjsFrame:
    """Attach all of another spec, in a frame of its own, at a site or in a frame."""
    from dovetail.mj.spec.spec import MjSpec

    if not isinstance(child, MjSpec):
        raise ArgumentError(f"attach takes another MjSpec, not {shown(child)}")
    if site is not None and frame is not None:
        raise SpecError("Only one of frame or site can be specified.")
    if site is None and frame is None:
        raise SpecError("One of frame or site must be specified.")
    around = (
        _place(spec, "site", site, MjsSite) if site is not None else _place(spec, "frame", frame, MjsFrame)
    )
    _check_other(spec, child)
    if spec._copies:
        child = child.copy()
    if isinstance(around, MjsSite):
        around = frame_at(around)
    world = child.worldbody
    wrapper = MjsFrame(child)
    wrapper._parent = world
    for kind in CHILD_KINDS:
        for part in world._children[kind]:
            part._frame = part._frame if part._frame is not None else wrapper
    world._raw = [(frame if frame is not None else wrapper, node) for frame, node in world._raw]
    world._children["frame"].insert(0, wrapper)
    _graft(around, [wrapper], child, "/" if prefix is None else prefix, suffix or "")
    return wrapper


def attach_body(frame: MjsFrame, body: Any, prefix: str | None, suffix: str | None) -> MjsBody:
    """Attach one body of another spec in a frame."""
    if not isinstance(body, MjsBody):
        raise ArgumentError(f"attach_body takes a body, not {shown(body)}")
    spec, child = frame._owner(), body._owner()
    if body is child.worldbody:
        raise SpecError("the world itself cannot be attached; attach its spec, with spec.attach")
    if child is spec:
        body = _copy_within(frame, body)
    else:
        _check_other(spec, child)
        if spec._copies:
            from dovetail.mj.spec.copying import copy_spec

            child, became = copy_spec(child)
            body = became[id(body)]
    _graft(frame, [body], body._owner(), prefix or "", suffix or "")
    return body


def attach_frame(body: MjsBody, frame: Any, prefix: str | None, suffix: str | None) -> MjsFrame:
    """Attach one frame of another spec, with what stands in it, to a body."""
    if not isinstance(frame, MjsFrame):
        raise ArgumentError(f"attach_frame takes a frame, not {shown(frame)}")
    spec, child = body._owner(), frame._owner()
    _check_other(spec, child)
    if spec._copies:
        from dovetail.mj.spec.copying import copy_spec

        child, became = copy_spec(child)
        frame = became[id(frame)]
    _graft(body, [frame], child, prefix or "", suffix or "")
    return frame


def _place(spec: MjSpec, kind: str, given: Any, cls: type) -> Any:
    """The site or frame that was given, itself or by name."""
    found = spec._find(kind, given) if isinstance(given, str) else given
    if found is None:
        raise SpecError(f"{kind.title()} not found. There is no {kind} {given!r} in this spec")
    if not isinstance(found, cls):
        raise ArgumentError(f"{kind} takes a {kind} or the name of one, not {shown(given)}")
    if found._owner() is not spec:  # type: ignore[attr-defined]
        raise SpecError(f"the {kind} is another spec's")
    return found


def _check_other(spec: MjSpec, child: MjSpec) -> None:
    here: MjSpec | None = spec
    while here is not None:
        if here is child:
            raise SpecError("a spec cannot be attached to itself; attach a copy of it, spec.copy()")
        here = here.parent
    if child.parent is not None:
        raise SpecError(
            "the spec was attached already; set copy_during_attach to attach it more than once, or attach a copy"
        )


def frame_at(site: MjsSite) -> MjsFrame:
    """A new frame where a site is."""
    owner, parent = site._owner(), site._parent
    assert parent is not None
    frame = MjsFrame(owner)
    frame._values["pos"][:] = site._values["pos"]
    frame._values["quat"][:] = pose_quat(site)
    frame._parent, frame._frame, frame._settings = parent, site._frame, site._settings
    parent._children["frame"].append(frame)
    owner._changed()
    return frame


def _copy_within(frame: MjsFrame, body: MjsBody) -> MjsBody:
    """A body of the same spec is attached as a copy, out of a copy of the spec."""
    from dovetail.mj.spec.copying import copy_spec

    _, became = copy_spec(body._owner())
    copy: MjsBody = became[id(body)]
    copy._owner()._twin = True
    return copy


def _graft(target: Any, parts: list[Any], child: MjSpec, prefix: str, suffix: str) -> None:
    """Move parts of another spec's tree into a frame or body, and bring along what belongs to them."""
    spec = target._owner()
    moved = _moved(parts)
    _refuse_flexcomps(parts, moved)
    names = {(element.KIND, element._values["name"]) for element in moved if element._values["name"]}
    move = _Move(spec, child, prefix, suffix, names)
    _prepare_keys(spec)
    keys = [(key, taken_apart(child, key)) for key in child._lists["key"]] + list(child._pending)
    move.adopt_classes()
    for element in moved:
        move.adopt(element)
    _hang(target, parts)
    move.bring_lists()
    if not child._twin:
        _bring_files(spec, child, prefix, suffix)
        for key, known in keys:
            new = MjsKey(spec)
            new._take(key)
            new._values["name"] = move.rename(key._values["name"])
            spec._pending.append((new, known))
        child._parent = spec
        spec._plugins_used += [name for name in child._plugins_used if name not in spec._plugins_used]
    spec._changed()
    child._changed()


def _refuse_flexcomps(parts: list[Any], moved: list[Any]) -> None:
    """A flexcomp is kept as it was written, so it cannot get other names."""
    homes = [element for element in moved if isinstance(element, MjsBody)]
    frames = {id(element) for element in moved if isinstance(element, MjsFrame)}
    outside = [
        pair for part in parts if isinstance(part, MjsFrame) and part._parent for pair in part._parent._raw
    ]
    found = [node for body in homes for _, node in body._raw]
    found += [node for frame, node in outside if id(frame) in frames]
    if found:
        name = found[0].raw.get("name", "")
        raise SpecError(
            f"flexcomp {name!r} cannot be attached with its spec; write it into the receiving model"
        )


def _prepare_keys(spec: MjSpec) -> None:
    """Remember the numbers of the spec's own keys by element, before there are more elements."""
    known = {id(key) for key, _ in spec._pending}
    for key in spec._lists["key"]:
        if id(key) not in known:
            spec._pending.append((key, taken_apart(spec, key)))


def _moved(parts: list[Any]) -> list[Any]:
    """All elements of some parts of a tree."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, MjsBody):
            for body in part._subtree():
                found += [body, *(c for kind in CHILD_KINDS if kind != "body" for c in body._children[kind])]
        else:
            found.append(part)
            found += _moved(_inside(part))
    return list({id(element): element for element in found}.values())


def _inside(frame: MjsFrame) -> list[Any]:
    """What stands directly in a frame."""
    assert frame._parent is not None
    children = frame._parent._children
    return [child for kind in CHILD_KINDS for child in children[kind] if child._frame is frame]


def _hang(target: Any, parts: list[Any]) -> None:
    """Put parts into a body, or into a frame of one. Their old spec goes on listing them."""
    home, frame = target._home()
    for part in parts:
        old = part._parent
        group = _moved_here(part)
        part._frame = frame
        for element in group:
            element._parent = home
            home._children[element.KIND].append(element)
        if isinstance(part, MjsFrame) and old is not None:
            frames = {id(element) for element in group}
            home._raw += [(f, node) for f, node in old._raw if f is not None and id(f) in frames]


def _moved_here(part: Any) -> list[Any]:
    """What of a part stands in the body itself: the part, and if it is a frame all that stands in it."""
    if isinstance(part, MjsFrame):
        return [part, *(element for child in _inside(part) for element in _moved_here(child))]
    return [part]


class _Move:
    """Elements that go from one spec to another: under which names, with which classes.

    From a twin, a copy of the receiving spec itself, only the part comes along: assets and classes are there already.
    """

    def __init__(
        self, spec: MjSpec, child: MjSpec, prefix: str, suffix: str, names: set[tuple[str, str]]
    ) -> None:
        self.spec, self.child, self.prefix, self.suffix = spec, child, prefix, suffix
        self.names = names
        """Kind and old name of all that comes along."""
        self.classes: dict[int, MjsDefault] = {}

    def rename(self, name: str) -> str:
        return f"{self.prefix}{name}{self.suffix}" if name else name

    def refer(self, kind: str, name: str) -> str:
        """The new name of something that an element refers to."""
        stays = self.child._twin and (kind, name) not in self.names
        return name if stays else self.rename(name)

    def adopt_classes(self) -> None:
        """The default classes of the other spec, under new names, in this one's top class."""
        stack = [(self.child.default, self.spec.default)]
        while stack:
            old, parent = stack.pop()
            name = old.name if self.child._twin else self.rename(old.name)
            known = self.spec.find_default(name)
            if known is None:
                known = self._adopted_class(old, parent, name)
            self.classes[id(old)] = known
            stack += [(below, known) for below in reversed(old._children)]

    def _adopted_class(self, old: MjsDefault, parent: MjsDefault, name: str) -> MjsDefault:
        new = MjsDefault(self.spec, name, parent)
        parent._children.append(new)
        for kind, prototype in new._prototypes.items():
            prototype._take(old._prototypes[kind])
            prototype._settings = old._prototypes[kind]._settings
            for attribute in TREE.get(kind, {}):
                prototype._values[attribute] = self.rename(prototype._values[attribute])
        return new

    def adopt(self, element: Any) -> None:
        """Make an element one of the receiving spec, under its new name."""
        values, owner = element._values, element._owner()
        values["name"] = self.rename(values["name"])
        element._class = self.classes.get(id(element._class)) or self.classes[id(self.child.default)]
        if values.get("childclass") and not self.child._twin:
            values["childclass"] = self.rename(values["childclass"])
        used = values.get("plugin")
        if used is not None and used._values["active"] and used._spec is not self.spec:
            used._values["name"] = self.refer("plugin", used._values["name"])
            used._spec = self.spec
        rename_references(element, self.refer)
        if getattr(element, "_origin", None) is None:
            object.__setattr__(element, "_origin", owner.modelfiledir)
        element._spec = self.spec

    def bring_lists(self) -> None:
        """Assets and custom data, and what refers to the attached part."""
        child, spec = self.child, self.spec
        for kind in () if child._twin else (*_ASSETS, *_WHOLE):
            for element in child._lists[kind]:
                if element._spec is child:
                    self.adopt(element)
                    spec._lists[kind].append(element)
        for plugin in () if child._twin else child._lists["plugin"]:
            if plugin._spec is child:
                plugin._values["name"] = self.rename(plugin._values["name"])
                plugin._spec = spec
            if not any(other is plugin for other in spec._lists["plugin"]):
                spec._lists["plugin"].append(plugin)
        for kind in _FOLLOWING:
            for element in child._lists[kind]:
                if element._spec is child and _comes(kind, element, self.names):
                    self.names.add((kind, element._values["name"]))
                    self.adopt(element)
                    spec._lists[kind].append(element)


def _comes(kind: str, element: Any, names: set[tuple[str, str]]) -> bool:
    """Whether an element comes along with the attached part, of which these are the names: if all that it refers to
    does. Sensors and the like that refer to nothing come too."""
    used = [named for named in referred(element) if named != ("body", "world")]
    return all(named in names for named in used) and (bool(used) or kind not in _STRICT)


def _bring_files(spec: MjSpec, child: MjSpec, prefix: str, suffix: str) -> None:
    """Files of another spec, under new names so that none is taken for another."""
    became = {}
    for name, content in child._assets.items():
        folder, file = os.path.split(name)
        stem, ending = os.path.splitext(file)
        new = f"{prefix}{stem}{suffix}{ending}"
        became[name] = f"{folder}/{new}" if folder else new
        if became[name] not in spec._assets or spec._overrides:
            spec._assets[became[name]] = content
    for kind in (*_ASSETS, "skin"):
        for element in child._lists[kind]:
            old = element._values.get("file", "")
            folder = element._settings.texturedir if kind == "texture" else element._settings.meshdir
            for name in (old, os.path.normpath(os.path.join(folder, old))):
                if old and name in became:
                    element._values["name"] = element._values["name"] or _stem(old)
                    element._values["file"] = became[name]
                    break


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def body_to_frame(body: MjsBody) -> MjsFrame:
    """Replace a body by a frame of its parent with all that stood in it, joints aside."""
    spec, parent = body._owner(), body._parent
    if parent is None:
        raise SpecError("the world cannot become a frame")
    if body._children["joint"]:
        raise SpecError("a body with joints cannot become a frame; delete its joints first")
    frame = MjsFrame(spec)
    frame._values["pos"][:] = body._values["pos"]
    frame._values["quat"][:] = pose_quat(body)
    frame._parent, frame._frame, frame._settings = parent, body._frame, body._settings
    parent._children["frame"].append(frame)
    place = next(k for k, other in enumerate(parent._children["body"]) if other is body)
    for kind in CHILD_KINDS:
        children = body._children[kind]
        for child in children:
            child._parent = parent
            child._frame = child._frame if child._frame is not None else frame
        if kind == "body":
            parent._children[kind][place : place + 1] = children
        else:
            parent._children[kind] += children
        body._children[kind] = []
    parent._raw += [(f if f is not None else frame, node) for f, node in body._raw]
    body._deleted = True
    spec._changed()
    return frame
