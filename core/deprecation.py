"""What has been superseded: it works for one minor version, says once what to use instead, and is listed.

Names, modules, labels of implementations, options and settings that are called otherwise now stand in `TABLE`; an
implementation that is superseded says so in its record (`deprecated=`, `replaced_by=`, `since=`). Both warn with a
DovetailDeprecationWarning, once per process, at the line of whoever uses them. `dovetail stages --deprecated` lists
them, and a test fails when one has outlived its version (`overdue`).

The command line imports this: nothing heavy here.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dovetail.once import Once

if TYPE_CHECKING:
    from dovetail.implementation import Implementation
    from dovetail.registry import Registry

F = TypeVar("F", bound=Callable[..., Any])


class DovetailDeprecationWarning(FutureWarning):
    """Something that is used here will be gone in the next minor version. (A FutureWarning, which Python shows to
    users; it hides DeprecationWarnings of other people's code.)"""


class Deprecation(NamedTuple):
    """One thing that is superseded."""

    kind: str
    """`implementation`, `module`, `name`, `keyword`, `option`, `setting`, `variable`, `kernel field`."""
    old: str
    new: str
    """What to use instead; empty if there is nothing."""
    since: str
    """The minor version that superseded it, as `0.1`: of dovetail, or of the package it comes from."""
    reason: str = ""
    package: str = "dovetail"

    @property
    def removed_in(self) -> str:
        """The first version without it."""
        major, minor = version_of(self.since)
        return f"{major}.{minor + 1}"

    def __str__(self) -> str:
        instead = f"; use {self.new}" if self.new else ""
        reason = f" ({self.reason})" if self.reason else ""
        whose = "" if self.package == "dovetail" else f" of {self.package}"
        return (
            f"{self.kind} {self.old} is deprecated since {since_of(self)}{reason}{instead}; it goes in "
            f"{self.removed_in}{whose}"
        )


def since_of(one: Deprecation) -> str:
    return one.since if one.package == "dovetail" else f"{one.package} {one.since}"


def version_of(text: str) -> tuple[int, int]:
    """Major and minor of a version."""
    major, minor, *_ = text.split(".")
    return int(major), int(minor)


def _standard(stage: str, name: str) -> Deprecation:
    return Deprecation("implementation", f"{stage} standard", name, "0.1", "it has its algorithm's name")


def _moved(old: str, new: str) -> Deprecation:
    return Deprecation("module", old, new, "0.1")


TABLE: tuple[Deprecation, ...] = (
    _standard("actuation", "gain_bias"),
    _standard("constraint_reference", "spring_damper"),
    _standard("constraint_rows", "soft"),
    _standard("energy", "mechanical"),
    _standard("inverse", "newton_euler"),
    _standard("smooth_acceleration", "mass_solve"),
    _standard("transmission", "moment_arms"),
    _standard("transmission_velocity", "moment_product"),
    _moved("dovetail.guard", "dovetail.bad_states"),
    _moved("dovetail.flow", "dovetail.planning.flow"),
    _moved("dovetail.needs", "dovetail.planning.needs"),
    _moved("dovetail.per_world", "dovetail.planning.per_world"),
    _moved("dovetail.plan", "dovetail.planning.plan"),
    _moved("dovetail.planner", "dovetail.planning.planner"),
    _moved("dovetail.replay", "dovetail.planning.replay"),
    _moved("dovetail.selection", "dovetail.planning.selection"),
    _moved("dovetail.wrappers", "dovetail.planning.wrappers"),
    _moved("dovetail.compare.slots", "dovetail.compare.isolate"),
    Deprecation("name", "k.structure", "k.frozen_model", "0.1"),
    Deprecation("kernel field", "contact_list.slot", "contact_list.index_in_pair", "0.1"),
)
"""What is called otherwise now. Entries of the same kind have different old names."""


def find(kind: str, old: str) -> Deprecation | None:
    """The entry of a thing that is called otherwise now."""
    return next((one for one in TABLE if (one.kind, one.old) == (kind, old)), None)


def todays(kind: str, name: str, where: str = "") -> str:
    """What a thing is called now, with a warning if that is something else; `where` says who wrote the old name."""
    one = find(kind, name)
    if one is None:
        return name
    tell(one, where)
    return one.new


# ---- warning


_told = Once()


def tell(one: Deprecation, where: str = "") -> None:
    """Warn, if that has not been said in this process: at the line of the first caller outside of dovetail."""
    with _told.new(one) as new:
        if new:
            text = f"{where}: {one}" if where else str(one)
            warnings.warn(text, DovetailDeprecationWarning, stacklevel=_depth())


def _depth() -> int:
    """How many frames up the code of others is; the stacklevel for who asks."""
    depth, frame = 2, sys._getframe(2)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        depth += "importlib._bootstrap" not in frame.f_code.co_filename  # `warnings` does not count these
        frame = frame.f_back
    return depth


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("dovetail", "importlib", "_frozen_importlib")


def forget() -> None:
    """Say everything again when it is next used."""
    _told.forget()


# ---- implementations


def of_record(record: Implementation) -> Deprecation | None:
    """What a record says about itself."""
    if not record.deprecated:
        return None
    old = f"{record.slot} {record.label}"
    return Deprecation(
        "implementation", old, record.replaced_by, record.since, record.deprecated, record.provider
    )


def tell_of_record(record: Implementation, origin: str) -> None:
    """Warn of an implementation that was chosen and is superseded."""
    one = of_record(record)
    if one is not None:
        tell(one, origin)


def todays_label(slot: str, name: str, where: str) -> str:
    """What an implementation of a slot is called now."""
    one = find("implementation", f"{slot.partition(':')[0]} {name}")
    if one is None:
        return name
    tell(one, where)
    return one.new


def todays_identity(slot: str, text: str, where: str) -> str:
    """`name@backend/version` of a saved file with the name that it has now."""
    name, at, rest = text.partition("@")
    return f"{todays_label(slot, name, where)}{at}{rest}"


# ---- modules, attributes and keywords


class _Alias:
    """Loads a module under the name that it had: it is the same module, which has run already."""

    def __init__(self, one: Deprecation) -> None:
        self._one = one

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        tell(self._one)
        module = importlib.import_module(self._one.new)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Importing gave it the spec of its old name; it keeps its own."""
        module.__spec__ = self._spec


def moved_module(name: str) -> importlib.machinery.ModuleSpec | None:
    """How to import a module by the name that it had; None for other names."""
    one = find("module", name)
    if one is None:
        return None
    return importlib.machinery.ModuleSpec(name, _Alias(one))  # type: ignore[arg-type]


def renamed_attribute(owner: str, name: str) -> Any:
    """What `owner.name` is called now, imported; AttributeError if it never existed."""
    one = find("name", f"{owner}.{name}")
    if one is None:
        raise AttributeError(f"module {owner!r} has no attribute {name!r}")
    tell(one)
    module, _, attribute = one.new.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def with_old_keywords(public: str) -> Callable[[F], F]:
    """Let a function take its keywords by the names that they had: `keyword` entries `public(old)`."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            for old in [name for name in named if find("keyword", f"{public}({name})")]:
                new = todays("keyword", f"{public}({old})")
                if new in named:
                    raise TypeError(f"{public} got {new} twice: also by its old name {old}")
                named[new] = named.pop(old)
            return function(*arguments, **named)

        result: Any = call
        return result

    return decorate


# ---- options of the command line


def todays_words(command: str, words: Iterable[str]) -> list[str]:
    """A command's arguments with the options that it has now; behind `--` they are no options."""
    found: list[str] = []
    options = True
    for word in words:
        options = options and word != "--"
        option, equals, value = word.partition("=")
        one = find("option", f"{command} {option}") if options and option.startswith("-") else None
        if one is None:
            found.append(word)
        else:
            tell(one)
            found.append(one.new + equals + value)
    return found


# ---- listing


def known(registry: Registry | None = None) -> list[Deprecation]:
    """All that is superseded: the table, and what the records of a registry say."""
    records = [] if registry is None else registry.implementations
    return [*TABLE, *(one for record in records if (one := of_record(record)) is not None)]


def overdue(version: str, registry: Registry | None = None) -> list[Deprecation]:
    """What should be gone in a version of dovetail."""
    now = version_of(version)
    return [one for one in known(registry) if one.package == "dovetail" and version_of(one.removed_in) <= now]
