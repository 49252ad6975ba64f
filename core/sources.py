"""What results depend on, as a hash: the source of a function and of the library it stands on.

For a target `module:function` that is the text of its module and of every module that this one imports, at its top or
inside functions, directly or not, as far as they are of the same package; of dovetail, as far as they are stages, the
library, the MJCF compiler and the contracts (`FOLLOWED`). Files are read, not imported. Imports for type checkers
alone do not count. Text is text: an edited comment changes the hash, since nothing short of a run tells which edits
leave the numbers alone.

Nothing of this is done unless somebody asks, and once per file in a process.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

FOLLOWED = ("dovetail.plugins", "dovetail.mjcf", "dovetail.contracts")
"""Packages of dovetail whose modules are followed; the rest of it decides what runs, and computes nothing."""
DIGITS = 16
"""Of a hash: 64 bits tell any two sources of one slot apart."""
UNKNOWN = "unknown"
"""In place of a hash, where a source cannot be read."""

_TYPES_ONLY = re.compile(
    r"^(?P<indent>[ \t]*)if TYPE_CHECKING:[^\n]*\n(?:(?P=indent)[ \t]+[^\n]*\n|[ \t]*\n)+", re.M
)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.M,
)
_NAME = re.compile(r"(\w+)(?:\s+as\s+\w+)?")


def digest(parts: Iterable[bytes]) -> str:
    """A hash of several texts in their order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()[:DIGITS]


# ---- modules


@functools.cache
def of_module(module: str, followed: tuple[str, ...] = ()) -> str:
    """The hash of a module and of all that it imports from its package, or from `followed` packages of its own."""
    names = closure(module, followed)
    texts = [(name, _text(name)) for name in names]
    if not names or any(text is None for _, text in texts):
        return UNKNOWN
    return digest(part for name, text in texts for part in (name.encode(), text or b""))


def closure(module: str, followed: tuple[str, ...] = ()) -> list[str]:
    """A module and those that it imports from the same package, by name."""
    packages = (*(followed or FOLLOWED), *_own_package(module))
    found: dict[str, None] = {}
    waiting = [module] if _file(module) else []
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            named = [other for other in _imports(name) if other.startswith(_inside(packages))]
            waiting += [other for other in named if _file(other)]
    return sorted(found)


def _own_package(module: str) -> tuple[str, ...]:
    top = module.partition(".")[0]
    return () if top == "dovetail" else (top,)


@functools.cache
def _inside(packages: tuple[str, ...]) -> tuple[str, ...]:
    """How the names of modules in some packages begin; a module without a package is its own."""
    return tuple(f"{name}." for name in packages) + tuple(p for p in packages if "." not in p)


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """What a module names in its import statements, whosesoever it is: modules, and names in them."""
    text = (_text(module) or b"").decode("utf-8", "replace")
    found: dict[str, None] = {}
    for match in _IMPORT.finditer(_TYPES_ONLY.sub("", text)):
        if match["modules"]:
            named = [part.split()[0] for part in match["modules"].split(",") if part.split()]
        else:
            source = _absolute(match["source"], module)
            named = [source, *(f"{source}.{name}" for name in _NAME.findall(match["names"]))]
        found |= dict.fromkeys(named)
    return tuple(found)


def _absolute(source: str, module: str) -> str:
    """The module that a relative import names."""
    dots = len(source) - len(source.lstrip("."))
    if not dots:
        return source
    package = module.split(".") if _is_package(module) else module.split(".")[:-1]
    return ".".join([*package[: len(package) - dots + 1], *filter(None, [source.lstrip(".")])])


def _is_package(module: str) -> bool:
    file = _file(module)
    return file is not None and file.name == "__init__.py"


@functools.cache
def _file(module: str) -> Path | None:
    """Where the source of a module is, found without running it; None if there is no such module, or no source."""
    parent, _, name = module.rpartition(".")
    try:
        if not parent:
            spec = importlib.util.find_spec(module)
            return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
        for folder in _folders(parent):
            for file in (folder / name / "__init__.py", folder / f"{name}.py"):
                if file.is_file():
                    return file
    except (ImportError, ValueError, OSError):
        return None
    return None


@functools.cache
def _folders(package: str) -> tuple[Path, ...]:
    """Where the modules of a package are, as Python finds them where that imports nothing; else beside each other."""
    parent, _, name = package.rpartition(".")
    if not parent or parent in sys.modules:
        spec = importlib.util.find_spec(package)
        return tuple(map(Path, spec.submodule_search_locations or ())) if spec else ()
    return tuple(folder / name for folder in _folders(parent) if (folder / name).is_dir())


@functools.cache
def _text(module: str) -> bytes | None:
    """The source of a module; line ends are the same everywhere."""
    file = _file(module)
    try:
        return file.read_bytes().replace(b"\r\n", b"\n") if file is not None else None
    except OSError:
        return None


def forget() -> None:
    """Read files again when next asked: for who edits them while a process runs."""
    for kept in (of_module, _imports, _file, _folders, _text):
        kept.cache_clear()


# ---- functions


def of_function(function: Callable[..., Any]) -> str:
    """The hash of a function given in a call: its source, or its bytecode where there is none, its defaults, and the
    values it takes from around it."""
    return digest(_parts(function))


def _parts(function: Any) -> Iterator[bytes]:
    while hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
        yield _value((function.args, sorted(function.keywords.items())))
        function = function.func
    function = inspect.unwrap(function)
    if inspect.ismethod(function):
        yield _value(vars(function.__self__) if hasattr(function.__self__, "__dict__") else function.__self__)
        function = function.__func__
    if not inspect.isfunction(function):
        yield _value(getattr(function, "__dict__", {}))
        yield _class_source(type(function))
        return
    yield _source(function, function.__code__)
    yield _value((function.__defaults__, sorted((function.__kwdefaults__ or {}).items())))
    for cell in function.__closure__ or ():
        yield _cell(cell)


def _source(function: Any, code: CodeType) -> bytes:
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        return _bytecode(code)


def _class_source(kind: type) -> bytes:
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):
        call = vars(kind).get("__call__")
        return _bytecode(call.__code__) if inspect.isfunction(call) else kind.__qualname__.encode()


def _bytecode(code: CodeType) -> bytes:
    inner = [_bytecode(c) if isinstance(c, CodeType) else repr(c).encode() for c in code.co_consts]
    return digest([code.co_code, " ".join(code.co_names).encode(), *inner]).encode()


def _cell(cell: Any) -> bytes:
    try:
        return _value(cell.cell_contents)
    except ValueError:
        return b"empty"


def _value(value: Any) -> bytes:
    """Numbers, texts and arrays by their values, containers by theirs; of anything else its kind."""
    if isinstance(value, np.ndarray):
        return digest(
            [str((value.shape, value.dtype)).encode(), np.ascontiguousarray(value).tobytes()]
        ).encode()
    if isinstance(value, dict):
        return digest(_value(part) for item in value.items() for part in item).encode()
    if isinstance(value, list | tuple):
        return digest(map(_value, value)).encode()
    if inspect.isfunction(value):
        return _source(value, value.__code__)
    plain = isinstance(value, bool | int | float | complex | str | bytes | np.generic) or value is None
    return repr(value).encode() if plain else type(value).__qualname__.encode()
