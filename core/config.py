"""What the user wants, and where each wish was written: call, file, environment.

A configuration file is `dovetail.toml`, or the table `[tool.dovetail]` of `pyproject.toml`, in the working
directory, or the file that DOVETAIL_CONFIG names:

    backend = "taichi"
    precision = "f64"
    threads = 2
    keep = ["sensordata"]
    plugins = ["acme-winds"]

    [stages]
    integrate = "rk4@numpy"
    "passive_force:spring" = "@taichi"
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from dovetail.errors import ConfigError, listing, nearest
from dovetail.guard import POLICIES

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
}
"""Settings besides stages, keep and plugins, with their types; each also has a variable, as DOVETAIL_BACKEND."""

LISTS = ("keep", "plugins")
"""Settings that are one word or several."""

_REQUEST = re.compile(r"(?P<name>[a-z][a-z0-9_]*)?(?:@(?P<backend>[a-z][a-z0-9_]*))?$")


@attrs.frozen
class Request:
    """A wish for one slot: an algorithm, a backend, or both; and where it was written."""

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

    @classmethod
    def merge(cls, sources: Iterable[Config]) -> Config:
        """Combine configurations, the first one strongest."""
        requests: dict[str, tuple[Request, ...]] = {}
        settings: dict[str, Setting] = {}
        for source in sources:
            for slot, wishes in source.requests.items():
                requests[slot] = requests.get(slot, ()) + wishes
            for name, setting in source.settings.items():
                settings.setdefault(name, setting)
        return cls(requests, settings)

    @classmethod
    def of_call(cls, stages: Mapping[str, object] | None = None, **settings: Any) -> Config:
        """What a call's arguments say; None means not said."""
        wishes = {
            slot: (Request.parse(slot, text, "call argument"),) for slot, text in (stages or {}).items()
        }
        return cls(wishes, {k: _checked(k, v, "call argument") for k, v in settings.items() if v is not None})

    @classmethod
    def of_environment(cls, environ: Mapping[str, str] | None = None) -> Config:
        environ = os.environ if environ is None else environ
        requests = {}
        for variable, text in environ.items():
            if variable.startswith(STAGE_VARIABLE) and text:
                slot = variable.removeprefix(STAGE_VARIABLE).lower().replace("__", ":")
                requests[slot] = (Request.parse(slot, text, f"environment {variable}"),)
        settings = {
            name: _checked(name, environ[f"DOVETAIL_{name.upper()}"], f"environment DOVETAIL_{name.upper()}")
            for name in SETTINGS
            if environ.get(f"DOVETAIL_{name.upper()}")
        }
        if environ.get(PLUGINS_VARIABLE):
            names = [name.strip() for name in environ[PLUGINS_VARIABLE].split(",") if name.strip()]
            settings["plugins"] = _checked("plugins", names, f"environment {PLUGINS_VARIABLE}")
        return cls(requests, settings)

    @classmethod
    def of_file(cls, path: str | Path) -> Config:
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            table = tomllib.loads(text)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from error
        section = ""
        if path.name == "pyproject.toml":
            section = "tool.dovetail"
            table = table.get("tool", {}).get("dovetail", {})
            if not isinstance(table, dict):
                raise ConfigError(f"{path}: tool.dovetail = {table!r} should be a table, [tool.dovetail]")
        return _from_table(table, path, text, section)

    @classmethod
    def discover(cls, directory: str | Path | None = None) -> Config:
        """The configuration files of a directory and the environment, merged in that order."""
        return cls.merge([*map(cls.of_file, _files(Path(directory or "."))), cls.of_environment()])


def _files(directory: Path) -> list[Path]:
    named = os.environ.get("DOVETAIL_CONFIG")
    if named:
        return [Path(named)]
    return [p for p in (directory / "dovetail.toml", directory / "pyproject.toml") if p.is_file()]


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")


def _where(path: Path, text: str, section: str, key: str) -> str:
    """`file:line` of a key in a section of TOML text (the parser does not tell), or the file alone."""
    pattern = re.compile(rf'\s*(?:[\w-]+\s*\.\s*)*["\']?{re.escape(key)}["\']?\s*=')
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            current = header[1]
        elif current == section and pattern.match(line):
            return f"{path}:{number}"
    return str(path)


def _from_table(table: Mapping[str, Any], path: Path, text: str, section: str) -> Config:
    requests, settings = {}, {}
    inner = f"{section}.stages" if section else "stages"
    for key, value in table.items():
        origin = _where(path, text, section, key)
        if key != "stages":
            settings[key] = _checked(key, value, origin)
            continue
        if not isinstance(value, dict):
            raise ConfigError(f"{origin}: stages = {value!r} should be a table, as in [{inner}]")
        for slot, wish in value.items():
            written = [_where(path, text, part, slot) for part in (inner, section)]
            exact = next((w for w in written if w != str(path)), origin)
            requests[slot] = (Request.parse(slot, wish, exact),)
    return Config(requests, settings)


def _checked(name: str, value: Any, origin: str) -> Setting:
    """A setting with the right type, or an error that says where the wrong one stands."""
    if name in LISTS:
        several = isinstance(value, Iterable) and not isinstance(value, str)
        words = tuple(value) if several else (value,)
        if not all(isinstance(word, str) for word in words):
            right = (
                "'state', 'all' or a list of field names" if name == "keep" else "a list of plugins' names"
            )
            raise ConfigError(f"{origin}: {name} = {value!r} should be {right}")
        return Setting(words, origin)
    if name not in SETTINGS:
        known = [*SETTINGS, *LISTS, "stages"]
        raise ConfigError(
            f"{origin}: unknown setting {name!r}{nearest(name, known) or '.'} Known: {listing(known)}"
        )
    kind = SETTINGS[name]
    try:
        converted = kind(value)
        if kind is int and not isinstance(value, str) and converted != value:
            raise ValueError(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{origin}: {name} = {value!r} should be {kind.__name__}") from None
    if name == "precision" and converted not in ("f64", "f32"):
        raise ConfigError(f"{origin}: precision = {value!r} should be 'f64' or 'f32'")
    if name == "on_nan" and converted not in POLICIES:
        raise ConfigError(f"{origin}: on_nan = {value!r} should be one of {', '.join(POLICIES)}")
    if name in ("threads", "lanes") and converted < 1:
        raise ConfigError(f"{origin}: {name} = {value!r} should be at least 1")
    return Setting(converted, origin)
