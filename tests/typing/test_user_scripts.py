"""What type checkers say of a user's scripts: nothing of good ones, and of bad ones what is wrong with each line.

A line with a mistake ends in `# wrong: word`, and the checker's message must have the word. mypy sees only packages
that lie in one folder; from an editable install one is put together.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import dovetail

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
MARK = re.compile(r"# wrong: (\w+)$")

Messages = dict[tuple[str, int], str]
"""What a checker says, by script and line."""


def expected() -> dict[tuple[str, int], str]:
    """The marked words by script and line."""
    return {
        (script.name, number): match.group(1)
        for script in SCRIPTS
        for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1)
        if (match := MARK.search(line))
    }


@pytest.fixture(scope="module")
def search_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a checker finds the package, beyond the installed ones."""
    if Path(dovetail.__file__).parent != ROOT / "core":
        return ""
    tree = tmp_path_factory.mktemp("tree")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        shutil.copytree(ROOT / folder, tree.joinpath(*package.split(".")), dirs_exist_ok=True)
    return str(tree)


def run(command: list[str], **variables: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT / "tests",
        env={**os.environ, **variables},
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def gathered(said: Iterator[tuple[str, int, str]]) -> Messages:
    messages: Messages = defaultdict(str)
    for file, line, message in said:
        messages[Path(file).name, line] += message
    return dict(messages)


def mypy(search_path: str, cache: Path) -> Messages:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--output=json",
        "--config-file=",
    ]
    output = run([*command, f"--cache-dir={cache}", *map(str, SCRIPTS)], MYPYPATH=search_path)
    said = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return gathered((m["file"], m["line"], m["message"]) for m in said if m["severity"] == "error")


def pyright(search_path: str, project: Path) -> Messages:
    for script in SCRIPTS:
        shutil.copy(script, project)
    config = {"extraPaths": [search_path] if search_path else [], "typeCheckingMode": "standard"}
    (project / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    report = json.loads(run([*command, "-p", str(project)]))
    assert report["summary"]["filesAnalyzed"] == len(SCRIPTS)
    said = (d for d in report["generalDiagnostics"] if d["severity"] == "error")
    return gathered((d["file"], d["range"]["start"]["line"] + 1, d["message"]) for d in said)


def why_no_pyright() -> str:
    """Empty if pyright runs here; its program is fetched from npm when it first runs."""
    if find_spec("pyright") is None:
        return "pyright is not installed"
    tried = subprocess.run(
        [sys.executable, "-m", "pyright", "--version"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"pyright cannot start: {tried.stderr.strip()[-300:]}"


def check(messages: Messages) -> None:
    marked = expected()
    unexpected = {place: text for place, text in messages.items() if place not in marked}
    assert unexpected == {}
    unnoticed = {place: word for place, word in marked.items() if word not in messages.get(place, "")}
    assert unnoticed == {}


def test_mypy_reports_every_mistake_and_nothing_else(search_path: str, tmp_path: Path) -> None:
    check(mypy(search_path, tmp_path))


def test_pyright_reports_every_mistake_and_nothing_else(search_path: str, tmp_path: Path) -> None:
    why = why_no_pyright()
    if why:
        assert "PYRIGHT_REQUIRED" not in os.environ, why
        pytest.skip(f"{why}; `tox -e typing` needs it")
    check(pyright(search_path, tmp_path))
