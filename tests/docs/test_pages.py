"""The documentation holds: its code runs and prints what it shows, its commands exist, its links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from pathlib import Path

import click
import pages
import pytest

from dovetail import registry
from dovetail.backends.native.backend import NativeBackend
from dovetail.cli import main
from dovetail.planning import auto, planner

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_RUNNABLE = [p for p in pages.handwritten() if any(b.language == "python" for b in pages.blocks(p))]


OF_AUTO = (
    "README.md",
    "docs/howto/backend-and-precision.md",
    "docs/howto/reinforcement-learning.md",
    "docs/howto/write-an-environment.md",
    "docs/index.md",
    "docs/tutorial/batch.md",
    "docs/tutorial/swap-a-stage.md",
)
"""Pages that show what runs where nobody names a backend; elsewhere that is the reference, as in all tests."""


def _has(*modules: str) -> bool:
    return any(importlib.util.find_spec(m) for m in modules)


def _needs(page: Path) -> str:
    """What the page's code needs and is not installed."""
    code = "\n".join(b.code for b in pages.blocks(page) if b.language in ("python", "toml"))
    if "taichi" in code and not _has("taichi", "quadrants"):
        return "taichi"
    if ("native" in code or pages.title(page) in OF_AUTO) and NativeBackend().missing():
        return "a C compiler"
    if re.search(r"\bconform\(|\bmujoco\b", code) and not _has("mujoco"):
        return "mujoco"
    if re.search(r"^(import|from) (gymnasium|dovetail\.envs)\b", code, re.MULTILINE) and not _has(
        "gymnasium"
    ):
        return "gymnasium"
    if "dovetail.distributed" in code and not _has("ray"):
        return "ray"
    return ""


@pytest.mark.slow_cases("docs/howto/many-machines.md")
@pytest.mark.parametrize("page", _RUNNABLE, ids=pages.title)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if _needs(page):
        pytest.skip(f"needs {_needs(page)}")
    for variable in list(os.environ):
        if variable.startswith("DOVETAIL_") and variable not in (
            "DOVETAIL_CACHE_DIR",
            "DOVETAIL_MODEL_CACHE",
        ):
            monkeypatch.delenv(variable)
    if pages.title(page) in OF_AUTO:
        monkeypatch.setattr(planner, "preferred", auto.preferred)
    if "mj.install()" in page.read_text():  # which comes before anything that imports mujoco
        for name in [name for name in sys.modules if name.split(".")[0] == "mujoco"]:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_cached", None)  # plugins that a page installs end with the page
    with pages.importable(tmp_path):
        pages.run(page, tmp_path)


def _commands() -> list[tuple[str, str]]:
    """Every line of a bash block that calls dovetail, with the place it stands at."""
    found = []
    for page in pages.handwritten():
        for block in pages.blocks(page):
            if block.language != "bash":
                continue
            for number, line in enumerate(block.code.splitlines(), start=block.line):
                call = re.search(r"(?:^|[\s/])dovetail (?P<rest>[a-z-].*)$", line)
                if call and not line.startswith("#"):
                    found.append((f"{pages.title(page)}:{number}", call["rest"]))
    return found


@pytest.mark.parametrize(("place", "line"), _commands(), ids=lambda value: value if ":" in value else "")
def test_commands_parse(place: str, line: str) -> None:
    words = shlex.split(line.partition(" | ")[0].partition(" > ")[0], comments=True)
    context = click.Context(main, info_name="dovetail")
    name, command, rest = main.resolve_command(context, words)
    assert command is not None, place
    command.make_context(name, rest, parent=context, resilient_parsing=False)


@pytest.mark.parametrize("page", pages.handwritten(), ids=pages.title)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [m["target"].partition("#")[0] for m in _LINK.finditer(text)]
    broken = [t for t in targets if t and "://" not in t and not (page.parent / t).exists()]
    assert broken == []
