"""What the user wants, and where each request was written: call, environment, file.

A configuration file is `dovetail.toml`, or the table `[tool.dovetail]` of `pyproject.toml`, in the working directory
or the nearest one above it that has one, or the file that DOVETAIL_CONFIG names:

    backend = "native"
    precision = "f64"
    semantics = "mujoco-3.4"
    threads = 2
    keep = ["sensordata"]
    plugins = ["acme-winds"]
    locked = "dovetail.lock"

    [stages]
    integrate = "rk4@numpy"
    "passive_force:spring" = "@numpy"
"""

from __future__ import annotations

import functools
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import attrs

from dovetail import files, limits
from dovetail.arguments import texts_by_name
from dovetail.contracts.choices import ON_NAN
from dovetail.deprecation import find, todays
from dovetail.errors import ConfigError, FileError, listing, nearest
from dovetail.once import Once

BY_CALL = "call argument"
"""The origin of what a call says itself."""

PREFIX = "DOVETAIL_"
STAGE_VARIABLE = "DOVETAIL_STAGE_"
PLUGINS_VARIABLE = "DOVETAIL_PLUGINS"
"""Names, with commas between them."""
SETTINGS = {
    "backend": str,
    "precision": str,
    "threads": int,
    "lanes": int,
    "runtime": str,
    "arch": str,
    "on_nan": str,
    "strict": bool,
    "semantics": str,
}
"""Settings besides stages, keep and plugins, with their types; each also has a variable, as DOVETAIL_BACKEND."""

LISTS = ("keep", "plugins")
"""Settings that are one word or several."""

LOCKED, LOCKED_VARIABLE = "locked", "DOVETAIL_LOCKED"
"""The setting that names a stage lock: a path, in a configuration file one from where the file is; in the environment
`0` for none."""

_ELSEWHERE = (
    "LOCKED "
    "CONFIG PLUGINS DISABLED_PLUGINS CACHE_DIR MODEL_CACHE TAICHI_RUNTIME TAICHI_ARCH PROGRESS "
    "DEVICE_CHECK DEVICE_MEMORY "
    "CERTIFY_KEY CC NATIVE_CPU NATIVE_POISON NATIVE_SANITIZE NATIVE_SECONDS"
)
VARIABLES = frozenset(PREFIX + name for name in [*map(str.upper, SETTINGS), *_ELSEWHERE.split()])
"""Every variable that dovetail reads, but for those of stages."""

_REQUEST = re.compile(r"(?P<name>[a-z][a-z0-9_]*)?(?:@(?P<backend>[a-z][a-z0-9_]*))?$")


class ConfigWarning(UserWarning):
    """Something in the environment looks as if it were for dovetail, but nothing reads it."""


@attrs.frozen
class Request:
    """A request for one slot: an algorithm, a backend, or both; and where it was written."""

    name: str | None
    backend: str | None
    origin: str

    @classmethod
    def parse(cls, slot: str, text: object, origin: str) -> Request:
        match = _REQUEST.match(text) if isinstance(text, str) and text else None
        if match is None:
            raise ConfigError(
                f"{origin}: {slot} = {text!r} is not understood; write 'name', 'name@backend' or '@backend'"
            )
        return cls(match["name"], match["backend"], origin)


@attrs.frozen
class Setting:
    """A value and where it was written."""

    value: Any
    origin: str


@attrs.frozen
class Config:
    """Requests by slot, most important first, and settings with their origins."""

    requests: Mapping[str, tuple[Request, ...]] = attrs.field(factory=dict)
    settings: Mapping[str, Setting] = attrs.field(factory=dict)

    def setting(self, name: str, default: Any) -> Setting:
        return self.settings.get(name, Setting(default, "default"))

    def unlocked(self) -> Config:
        """The same without a stage lock: for plans that are no run of the user's."""
        return attrs.evolve(self, settings={k: v for k, v in self.settings.items() if k != LOCKED})

    @classmethod
    def merge(cls, sources: Iterable[Config]) -> Config:
        """Combine configurations, the first one strongest."""
        requests: dict[str, tuple[Request, ...]] = {}
        settings: dict[str, Setting] = {}
        for source in sources:
            for slot, found in source.requests.items():
                requests[slot] = requests.get(slot, ()) + found
            for name, setting in source.settings.items():
                settings.setdefault(name, setting)
        return cls(requests, settings)

    @classmethod
    def of_call(cls, stages: Mapping[str, object] | None = None, **settings: Any) -> Config:
        """What a call's arguments say; None means not said."""
        chosen = {} if stages is None else texts_by_name("stages", stages)
        requests = {slot: (Request.parse(slot, text, BY_CALL),) for slot, text in chosen.items()}
        return cls(requests, {k: _checked(k, v, BY_CALL) for k, v in settings.items() if v is not None})

    @classmethod
    def of_environment(cls, environ: Mapping[str, str] | None = None) -> Config:
        """What the variables say; one that nothing reads gets a warning."""
        environ = _with_todays_names(os.environ if environ is None else environ)
        requests = {}
        for variable, text in environ.items():
            if variable.startswith(STAGE_VARIABLE) and text:
                slot = variable.removeprefix(STAGE_VARIABLE).lower().replace("__", ":")
                requests[slot] = (Request.parse(slot, text, f"environment {variable}"),)
            elif variable.startswith(PREFIX) and text and variable not in VARIABLES:
                _warn_of_variable(variable)
        settings = {
            name: _checked(name, environ[PREFIX + name.upper()], f"environment {PREFIX}{name.upper()}")
            for name in SETTINGS
            if environ.get(PREFIX + name.upper())
        }
        if environ.get(LOCKED_VARIABLE):
            path = environ[LOCKED_VARIABLE]
            settings[LOCKED] = Setting("" if path == "0" else path, f"environment {LOCKED_VARIABLE}")
        if environ.get(PLUGINS_VARIABLE):
            names = [name.strip() for name in environ[PLUGINS_VARIABLE].split(",") if name.strip()]
            settings["plugins"] = _checked("plugins", names, f"environment {PLUGINS_VARIABLE}")
        return cls(requests, settings)

    @classmethod
    def of_file(cls, path: str | Path) -> Config:
        """What a file says; of a pyproject.toml only the table `[tool.dovetail]`, which need not be there."""
        path = files.checked_path(path)
        table, text = read_table(path)
        section = SECTION if path.name == PYPROJECT else ()
        own = _own_table(table, path) if section else table
        return _from_table(own or {}, Lines.of(path, text), section)

    @classmethod
    def discover(cls, directory: str | Path | None = None) -> Config:
        """The environment, then the nearest configuration file, merged in that order."""
        start = files.checked_path("." if directory is None else directory)
        return cls.merge([_of_insisting(), cls.of_environment(), *map(cls.of_file, _files(start))])


_insisted: ContextVar[str | None] = ContextVar("insisted", default=None)


@contextmanager
def insisting_on(lock: str | None) -> Iterator[None]:
    """Meanwhile every plan that configuration has a say in keeps to a stage lock; None changes nothing."""
    token = _insisted.set(lock)
    try:
        yield
    finally:
        _insisted.reset(token)


def _of_insisting() -> Config:
    return Config.of_call(locked=_insisted.get())


def _with_todays_names(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables, those that are called otherwise now by their new names, which win where both are set."""
    old = [name for name in environ if name.startswith(PREFIX) and find("variable", name)]
    if not old:
        return environ
    renamed = {todays("variable", name): environ[name] for name in old}
    return {**renamed, **{name: text for name, text in environ.items() if name not in old}}


_told = Once()


def _warn_of_variable(variable: str) -> None:
    """Say once that a variable is none of ours."""
    name = variable.removeprefix(PREFIX)
    known = [other.removeprefix(PREFIX) for other in VARIABLES] + [f"STAGE_{name.partition('_')[2] or name}"]
    hint = nearest(name, known).replace("'", f"'{PREFIX}", 1)
    with _told.new(variable) as new:
        if new:
            text = f"environment {variable}: dovetail reads no such variable{hint}"
            warnings.warn(text, ConfigWarning, stacklevel=4)


# ---- files


OWN_FILE, PYPROJECT = "dovetail.toml", "pyproject.toml"
SECTION = ("tool", "dovetail")
_BOUNDARIES = (".git", ".hg")
"""What the topmost directory of a repository has; nothing above it is looked at."""


def _files(directory: Path) -> list[Path]:
    """The file that DOVETAIL_CONFIG names, or those of the nearest directory that has any, the stronger one first."""
    named = os.environ.get("DOVETAIL_CONFIG")
    if named:
        return [Path(named)]
    return next((found for place in _upwards(directory) if (found := _configured(place))), [])


def _upwards(directory: Path) -> Iterator[Path]:
    """A directory and those above it, up to a repository's topmost, the home directory or the root."""
    home = os.path.expanduser("~")
    yield directory
    for place in _above(directory):
        yield place
        if str(place) == home or _is_boundary(place):
            return


def _above(directory: Path) -> Iterator[Path]:
    """The directories above, if the one to start from is not the last already."""
    real = Path(os.path.abspath(directory))
    if not _is_boundary(real) and str(real) != os.path.expanduser("~"):
        yield from real.parents


def _is_boundary(place: Path) -> bool:
    return any(os.path.exists(place / name) for name in _BOUNDARIES)


def _configured(place: Path) -> list[Path]:
    """The configuration files of one directory."""
    own, project = place / OWN_FILE, place / PYPROJECT
    found = [own] if os.path.isfile(own) else []
    return [*found, project] if os.path.isfile(project) and _is_ours(project) else found


def _is_ours(project: Path) -> bool:
    """Whether a pyproject.toml has something for dovetail; one that does not mention it is not even understood."""
    return b"dovetail" in _content(project) and _own_table(read_table(project)[0], project) is not None


def _content(path: Path) -> bytes:
    try:
        return files.read_bytes(path, limits.CONFIG_BYTES)
    except FileError as error:
        raise ConfigError(f"{path}: cannot be read: {error.reason}") from error


def read_table(path: Path) -> tuple[dict[str, Any], str]:
    """The table and the text of a file."""
    try:
        text = _content(path).decode("utf-8")
        return _parsed(text), text
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: cannot be read: it is not UTF-8 text ({error}); save it as UTF-8"
        ) from error
    except RecursionError:
        raise ConfigError(f"{path}: cannot be read: arrays or tables are nested too deeply") from None
    except ValueError as error:  # TOML's errors, and integers of thousands of digits
        raise ConfigError(f"{path}: cannot be read: {error}") from error


@functools.lru_cache(maxsize=4)
def _parsed(text: str) -> dict[str, Any]:
    """A file is looked at for every plan, and seldom changes. The parser takes the square of dots in a line."""
    import tomllib

    if any(line.count(".") > limits.CONFIG_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {limits.LIMITS['CONFIG_DOTS']}")
    return tomllib.loads(text)


def _own_table(table: Mapping[str, Any], path: Path) -> dict[str, Any] | None:
    """`[tool.dovetail]` of a pyproject.toml; None if it has none. What else is in it is not ours to judge."""
    tools = table.get("tool")
    own = tools.get("dovetail") if isinstance(tools, dict) else None
    if own is not None and not isinstance(own, dict):
        raise ConfigError(f"{path}: tool.dovetail = {own!r} should be a table, [tool.dovetail]")
    return own


@attrs.frozen
class Lines:
    """Where keys stand in a TOML file (the parser does not tell): lines by the parts of their names."""

    path: Path
    numbers: Mapping[tuple[str, ...], int]

    @classmethod
    def of(cls, path: Path, text: str) -> Lines:
        section: tuple[str, ...] = ()
        numbers: dict[tuple[str, ...], int] = {}
        for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
            if line.startswith("["):
                section = _parts(line[1:].partition("]")[0])
            elif "=" in line:
                numbers.setdefault(section + _parts(line.partition("=")[0]), number)
        return cls(path, numbers)

    def where(self, *key: str) -> str:
        """`file:line` of a key, or of the inline table it stands in, or the file alone."""
        for end in range(len(key), 0, -1):
            if key[:end] in self.numbers:
                return f"{self.path}:{self.numbers[key[:end]]}"
        return str(self.path)


_QUOTED = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."']*))\s*(?:\.|$)""")


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, quotes taken off."""
    found = (match[1] or match[2] or match[3] or "" for match in _QUOTED.finditer(name))
    return tuple(part.strip() for part in found if part.strip())


def _from_table(table: Mapping[str, Any], lines: Lines, section: tuple[str, ...]) -> Config:
    requests, settings = {}, {}
    for written, value in table.items():
        key = todays("setting", written, lines.where(*section, written))
        if key != "stages":
            settings[key] = _checked(key, value, lines.where(*section, written))
            if key == LOCKED:
                settings[key] = attrs.evolve(settings[key], value=str(lines.path.parent / value))
            continue
        if not isinstance(value, dict):
            inner = ".".join([*section, key])
            origin = lines.where(*section, written)
            raise ConfigError(f"{origin}: stages = {value!r} should be a table, as in [{inner}]")
        for slot, text in value.items():
            requests[slot] = (Request.parse(slot, text, lines.where(*section, written, slot)),)
    return Config(requests, settings)


WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
"""How variables say yes and no."""


def _yes_or_no(name: str, value: Any, origin: str) -> bool:
    if isinstance(value, bool):
        return value
    found = WORDS.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ConfigError(f"{origin}: {name} = {value!r} should be true or false")
    return found


def _checked(name: str, value: Any, origin: str) -> Setting:
    """A setting with the right type, or an error that says where the wrong one stands."""
    if name in LISTS:
        several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
        words = tuple(value) if several else (value,)
        if not all(isinstance(word, str) for word in words):
            right = (
                "'state', 'all' or a list of field names" if name == "keep" else "a list of plugins' names"
            )
            raise ConfigError(f"{origin}: {name} = {value!r} should be {right}")
        return Setting(words, origin)
    if name == LOCKED:
        return _checked_lock(value, origin)
    if name not in SETTINGS:
        known = [*SETTINGS, *LISTS, LOCKED, "stages"]
        raise ConfigError(
            f"{origin}: unknown setting {name!r}{nearest(name, known) or '.'} Known: {listing(known)}"
        )
    kind = SETTINGS[name]
    if kind is bool:
        return Setting(_yes_or_no(name, value, origin), origin)
    try:
        converted = kind(value)
        if isinstance(value, bool) or (not isinstance(value, str) and converted != value):
            raise ValueError(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{origin}: {name} = {value!r} should be {kind.__name__}") from None
    if name == "precision" and converted not in ("f64", "f32"):
        raise ConfigError(f"{origin}: precision = {value!r} should be 'f64' or 'f32'")
    if name == "on_nan" and converted not in ON_NAN:
        raise ConfigError(f"{origin}: on_nan = {value!r} should be one of {', '.join(ON_NAN)}")
    if name in ("threads", "lanes") and converted < 1:
        raise ConfigError(f"{origin}: {name} = {value!r} should be at least 1")
    return Setting(converted, origin)


def _checked_lock(value: Any, origin: str) -> Setting:
    """A stage lock, or the path of a file that has one; False for none, whatever others say."""
    from dovetail.lock import StageLock

    if value is False or isinstance(value, StageLock):
        return Setting(value, origin)
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ConfigError(f"{origin}: locked = {value!r} should be the path of a lock, as 'dovetail.lock'")
    return Setting(str(value), origin)
