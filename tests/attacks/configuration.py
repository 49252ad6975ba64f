"""Configuration files and variables that are not for dovetail, mean nothing, or mean harm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .case import Build, Table

CASES = Table("configuration")


def file(name: str, content: str | bytes) -> Build:
    """Find the configuration of a folder with this file."""

    def build(folder: Path) -> Any:
        from dovetail import Config

        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return lambda: Config.discover(folder)

    return build


def variable(name: str, value: str) -> Build:
    def build(folder: Path) -> Any:
        import dovetail

        model = dovetail.loads("<mujoco/>")
        os.environ[name] = value
        return lambda: dovetail.Simulation(model).step()

    return build


OWN, PROJECT = "dovetail.toml", "pyproject.toml"
for name, content in {
    "a stranger's tool = 5": "tool = 5",
    "a stranger's tool, a list": "tool = ['dovetail']",
    "a stranger's nonsense": "tool = [[[",
    "a stranger's deep arrays": "x = " + "[" * 100_000,
}.items():
    CASES.add(name, "", "", file(PROJECT, content))
CASES.add("tool.dovetail = 5", "ConfigError", "table", file(PROJECT, "[tool]\ndovetail = 5"))
for name, content in {
    "deep arrays": "keep = " + "[" * 100_000,
    "deep tables": "a = " + "{a=" * 50_000,
    "deep keys": "a" + ".a" * 100_000 + " = 1",
    "half a line": "backend =",
    "no text": bytes(range(128, 256)),
    "NUL bytes": "\0" * 100,
    "an integer of a million digits": "threads = " + "9" * 1_000_000,
    "an unknown setting": "bakend = 'numpy'",
    "100,000 unknown settings": "\n".join(f"x{i} = 1" for i in range(100_000)),
    "a long unknown setting": f"{'x' * 1_000_000} = 1",
    "10 MB": "#" * 10_000_000,
    "backend of another type": "backend = 5",
    "precision nobody has": "precision = 'f16'",
    "threads of text": "threads = 'many'",
    "no threads": "threads = 0",
    "threads of 2.5": "threads = 2.5",
    "threads of nan": "threads = nan",
    "lanes of true": "lanes = true",
    "lanes of minus one": "lanes = -1",
    "keep of numbers": "keep = [1, 2]",
    "keep of a table": "keep = {a = 1}",
    "plugins of numbers": "plugins = 5",
    "stages of text": "stages = 'x'",
    "a stage of numbers": "[stages]\nintegrate = 5",
    "a stage of nonsense": "[stages]\nintegrate = '@@@'",
    "a stage of a million letters": f"[stages]\nintegrate = '{'a' * 1_000_000} '",
    "a date": "backend = 2020-01-01",
}.items():
    CASES.add(name, "ConfigError", "", file(OWN, content))
CASES.add(
    "DOVETAIL_CONFIG of nothing", "ConfigError", "no such file", variable("DOVETAIL_CONFIG", "/nothing.toml")
)
CASES.add("DOVETAIL_CONFIG of a device", "ConfigError", "device", variable("DOVETAIL_CONFIG", "/dev/zero"))
CASES.add("DOVETAIL_CONFIG of a directory", "ConfigError", "directory", variable("DOVETAIL_CONFIG", "/"))
CASES.add("DOVETAIL_THREADS of text", "ConfigError", "", variable("DOVETAIL_THREADS", "many"))
CASES.add("DOVETAIL_THREADS of 10^9", "CapacityError", "threads", variable("DOVETAIL_THREADS", "1000000000"))
CASES.add("DOVETAIL_LANES of 10^9", "CapacityError", "lanes", variable("DOVETAIL_LANES", "1000000000"))
CASES.add("DOVETAIL_THREADS of 10,000 digits", "ConfigError", "", variable("DOVETAIL_THREADS", "9" * 10_000))
CASES.add("DOVETAIL_PRECISION of nonsense", "ConfigError", "", variable("DOVETAIL_PRECISION", "f16"))
CASES.add(
    "DOVETAIL_BACKEND of nonsense",
    "UnknownImplementationError",
    "",
    variable("DOVETAIL_BACKEND", "../../etc"),
)
CASES.add("DOVETAIL_PLUGINS of nonsense", "SelectionError", "", variable("DOVETAIL_PLUGINS", "nothing"))
CASES.add("DOVETAIL_STAGE_NOTHING", "UnknownStageError", "", variable("DOVETAIL_STAGE_NOTHING", "a"))
CASES.add("DOVETAIL_ON_NAN of nonsense", "ConfigError", "", variable("DOVETAIL_ON_NAN", "hope"))
