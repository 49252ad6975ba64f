"""Records the public interface: names with their signatures, commands, stages, fields.

    python docs/generate_api.py            write docs/reference/api.txt
    python docs/generate_api.py --check    change nothing; exit 1 and show the difference if it is out of date

The record is committed. A test compares it with the code, so that nobody changes the interface by accident, and the
difference of the file is what a reviewer reads. One line is one promise.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "reference" / "api.txt"
ACCEPT = "python docs/generate_api.py"
PACKAGES = ("dovetail", "dovetail.plugin", "dovetail.testing", "dovetail.viewer")
"""Whose `__all__` is public."""
MODULES = (
    "dovetail.compare.ab",
    "dovetail.compare.conform",
    "dovetail.compare.diff",
    "dovetail.compare.shadow",
    "dovetail.deprecation",
    "dovetail.errors",
    "dovetail.lock",
)
"""Whose own functions and classes are public, but for names that begin with an underscore."""
MOST_PARAMETERS = 3
"""Of a signature in one line."""
HEAD = (
    "# The public interface, one promise a line. Written by docs/generate_api.py; do not edit.",
    "# A line that goes or changes breaks somebody's code: deprecate it first (docs/contributing.md).",
)


def lines() -> list[str]:
    """The record as the code gives it now."""
    sections = {
        "names": _names(),
        "commands": _commands(),
        "settings": _settings(),
        "stages": _stages(),
        "Model fields": _fields("Model"),
        "Data fields": _fields("Data"),
    }
    found = list(HEAD)
    for title, section in sections.items():
        found += ["", f"## {title}", *section]
    return found


# ---- names


def _names() -> Iterator[str]:
    """Every public name; what has two is described under the first."""
    described: dict[int, str] = {}
    for name, value in _public():
        first = described.setdefault(id(value), name)
        if first != name and (inspect.isclass(value) or inspect.isroutine(value)):
            yield f"{name} = {first}"
        else:
            yield from _described(name, value)


def _public() -> Iterator[tuple[str, Any]]:
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__):
            yield f"{package}.{name}", getattr(module, name)
    for package in MODULES:
        module = importlib.import_module(package)
        for name, value in sorted(vars(module).items()):
            own = getattr(value, "__module__", "") == package and callable(value)
            if own and not name.startswith("_"):
                yield f"{package}.{name}", value


def _described(name: str, value: Any) -> Iterator[str]:
    """A function with its signature; a class with that of its making, and its own public members."""
    if not inspect.isclass(value):
        yield from _signed(name, value) if inspect.isroutine(value) else [f"{name}: {type(value).__name__}"]
        return
    yield f"{name}: {_kind(value)}"
    if _is_made(value):
        yield from _signed(name, value)
    if issubclass(value, Enum):
        yield from (f"{name}.{key} = {member.value!r}" for key, member in value.__members__.items())
        return
    for key, member in sorted(vars(value).items()):
        if not key.startswith("_"):
            yield from _member(f"{name}.{key}", member)


def _is_made(kind: type) -> bool:
    """Whether a class says itself how it is made; of others Python does, in words of its version."""
    own = inspect.isfunction(kind.__init__) or hasattr(kind, "_fields")
    return own and not getattr(kind, "_is_protocol", False) and not issubclass(kind, Enum)


def _kind(kind: type) -> str:
    names = [base.__name__ for base in kind.__bases__ if base is not object]
    return f"class of {', '.join(names)}" if names else "class"


def _member(name: str, member: Any) -> Iterator[str]:
    inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if inspect.isfunction(inner):
        yield from _signed(name, inner)
    elif isinstance(inner, property) or type(inner).__name__ == "cached_property":
        yield f"{name}: property"
    else:
        yield f"{name}: attribute"


def _signed(name: str, value: Any) -> Iterator[str]:
    """A name with its signature, of many parameters one in a line."""
    signature = inspect.signature(value)
    parameters = [_parameter(p) for p in signature.parameters.values()]
    returned = signature.return_annotation
    result = "" if returned is signature.empty else f" -> {_annotation(returned)}"
    if len(parameters) <= MOST_PARAMETERS:
        yield f"{name}({', '.join(parameters)}){result}"
        return
    yield f"{name}(…){result}"
    yield from (f"{name}({parameter})" for parameter in parameters)


def _parameter(parameter: inspect.Parameter) -> str:
    marks = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**", parameter.KEYWORD_ONLY: "keyword "}
    text = marks.get(parameter.kind, "") + parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    return text if parameter.default is parameter.empty else f"{text} = {_default(parameter.default)}"


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(value: Any) -> str:
    """Plain values as they are; of others that there is one."""
    plain = isinstance(value, bool | int | float | str | tuple) or value is None
    return repr(value) if plain else "…"


# ---- the command line


def _commands() -> Iterator[str]:
    from dovetail.cli import COMMANDS

    for name in sorted(COMMANDS):
        command = getattr(importlib.import_module(f"dovetail.cli.{name}"), name)
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        yield " ".join(["dovetail", name, *(p.human_readable_name for p in arguments)])
        options = [p for p in command.params if p.param_type_name == "option"]
        for option in sorted(options, key=lambda p: p.opts):
            yield f"dovetail {name} {_option(option)}"


def _option(option: Any) -> str:
    names = " / ".join([*option.opts, *option.secondary_opts])
    kind = "flag" if option.is_flag else option.type.name
    choices = getattr(option.type, "choices", ())
    repeated = ", repeatable" if option.multiple else ""
    return f"{names}: {kind}{' ' + '|'.join(choices) if choices else ''}{repeated}"


def _settings() -> Iterator[str]:
    from dovetail import config

    for name in sorted([*config.SETTINGS, *config.LISTS, config.LOCKED]):
        yield f"setting {name}"
    yield from sorted(f"variable {name}" for name in config.VARIABLES)


# ---- stages and fields


def _stages() -> Iterator[str]:
    from dovetail.pipeline import STAGES

    for name, stage in sorted(STAGES.items()):
        yield f"{name}({', '.join(stage.arguments)}): {stage.kind}, {stage.phase}"
        for what in ("reads", "writes", "accumulates", "parts"):
            words = getattr(stage, what)
            if words:
                yield f"{name} {what} {' '.join(words)}"


def _fields(owner: str) -> Iterator[str]:
    from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS

    for name, spec in sorted({"Model": MODEL_SPECS, "Data": DATA_SPECS}[owner].items()):
        shape = ", ".join(map(str, spec.shape))
        yield f"{owner}.{name}: {spec.dtype}({shape}){', state' if spec.state else ''}"


# ---- comparing


def difference(recorded: Iterable[str], now: Iterable[str]) -> list[str]:
    """Lines that went (-) and came (+)."""
    compared = difflib.unified_diff(list(recorded), list(now), "recorded", "now", lineterm="", n=0)
    return [line for line in compared if not line.startswith(("@@", "---", "+++"))]


def recorded() -> list[str]:
    return RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []


def complaint(changes: list[str]) -> str:
    """What to say of an interface that is not the recorded one."""
    return (
        "the public interface is not the one that is recorded:\n"
        + "\n".join(changes)
        + "\nIf a line that went (-) was not meant to, put it back. What is superseded works for one minor version: "
        f"see docs/contributing.md.\nTo accept the change: {ACCEPT}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Record the public interface.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if it is out of date")
    now = lines()
    if parser.parse_args().check:
        changes = difference(recorded(), now)
        if changes:
            print(complaint(changes))
        return 1 if changes else 0
    RECORD.write_text("\n".join(now) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
