"""Copies of specs, which share nothing with the original."""

from __future__ import annotations

from typing import Any

from dovetail.mj.spec.defaults import MjsDefault
from dovetail.mj.spec.settings import MjsCompiler
from dovetail.mj.spec.spec import MjSpec
from dovetail.mj.spec.tree import CHILD_KINDS

Copies = dict[int, Any]
"""What became of each element and class, by its identity."""


def copy_spec(spec: MjSpec) -> tuple[MjSpec, Copies]:
    """A copy of a spec, and what its parts became."""
    new = MjSpec()
    became: Copies = {id(spec.compiler): new.compiler}
    new._take(spec)
    for name in ("_compiler", "_option", "_visual", "_stat"):
        getattr(new, name)._take(getattr(spec, name))
    new._assets, new._plugins_used = dict(spec._assets), list(spec._plugins_used)
    new._copies, new._overrides = spec._copies, spec._overrides
    _copy_classes(spec.default, new.default, new, became)
    _copy_tree(spec, new, became)
    for kind, listed in spec._lists.items():
        for old in listed:
            new._lists[kind].append(_copied(old, new, became))
    elements = [e for kind in (*CHILD_KINDS, *spec._lists) for e in spec._of_kind(kind)]
    serials = {element._serial: became[id(element)]._serial for element in elements}
    for key, parts in spec._pending:
        kept = {
            part: {serials[owner]: numbers for owner, numbers in known.items() if owner in serials}
            for part, known in parts.items()
        }
        new._pending.append((became.get(id(key)) or _copied(key, new, became), kept))
    _join_plugins(new, became)
    new._changed()
    return new, became


def _copy_classes(old: MjsDefault, new: MjsDefault, spec: MjSpec, became: Copies) -> None:
    became[id(old)] = new
    for kind, prototype in new._prototypes.items():
        prototype._take(old._prototypes[kind])
        prototype._settings = _settings(old._prototypes[kind], became)
    for child in old._children:
        below = MjsDefault(spec, child.name, new)
        new._children.append(below)
        _copy_classes(child, below, spec, became)


def _settings(old: Any, became: Copies) -> Any:
    """The copy of an element's compiler settings; those of attached specs are copied once."""
    settings = old._settings
    if settings is not None and id(settings) not in became:
        became[id(settings)] = MjsCompiler()
        became[id(settings)]._take(settings)
    return became.get(id(settings))


def _copied(old: Any, spec: MjSpec, became: Copies) -> Any:
    new = type(old)(spec)
    new._take(old)
    new._class = became.get(id(old._class))
    new._settings = _settings(old, became)
    new._place, new._id = old._place, old._id
    for extra in ("_origin", "_config"):
        if extra in vars(old):
            value = vars(old)[extra]
            object.__setattr__(new, extra, dict(value) if isinstance(value, dict) else value)
    became[id(old)] = new
    return new


def _copy_tree(spec: MjSpec, new: MjSpec, became: Copies) -> None:
    world = new.worldbody
    became[id(spec.worldbody)] = world
    world._take(spec.worldbody)
    stack = [(spec.worldbody, world)]
    while stack:
        old, body = stack.pop()
        for kind in CHILD_KINDS:
            for child in old._children[kind]:
                copy = _copied(child, new, became)
                copy._parent = body
                body._children[kind].append(copy)
                if kind == "body":
                    stack.append((child, copy))
        for kind in CHILD_KINDS:
            for child, copy in zip(old._children[kind], body._children[kind], strict=True):
                copy._frame = became[id(child._frame)] if child._frame is not None else None
        body._raw = [(became.get(id(frame)), node) for frame, node in old._raw]


def _join_plugins(spec: MjSpec, became: Copies) -> None:
    """Elements that use an instance of the spec use the copy of that instance."""
    instances = {plugin._values["name"]: plugin for plugin in spec._lists["plugin"] if plugin._values["name"]}
    for kind in ("body", "geom", "mesh", "actuator", "sensor"):
        for element in spec._of_kind(kind):
            used = element._values["plugin"]
            if used._values["active"] and used._values["name"] in instances:
                element._values["plugin"] = instances[used._values["name"]]
