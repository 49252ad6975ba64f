"""What tox.ini repeats from pyproject.toml and from the hooks of a commit agrees with them."""

from __future__ import annotations

import configparser
import re
import tomllib

import pages

PROJECT = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _lines(section: str, setting: str) -> list[str]:
    """A setting of a tox section, without comments and references to other sections."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(pages.ROOT / "tox.ini", encoding="utf-8")
    lines = [line.strip() for line in parser[section][setting].splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "{"))]


def _deps(section: str) -> list[str]:
    """The requirements of a tox section, without factors."""
    return [re.sub(r"^[a-z, ]+: ", "", line) for line in _lines(section, "deps")]


def _hooks() -> list[str]:
    """What the hooks of a commit run: the first words of each."""
    text = (pages.ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    return [re.sub(r" --(fix|force-exclude)$", "", entry) for entry in re.findall(r"entry: (.+)", text)]


def test_environments_without_taichi_have_the_other_test_dependencies() -> None:
    extra = [r for r in PROJECT["optional-dependencies"]["test"] if not r.startswith("dovetail-physics[")]
    assert set(extra) <= set(_deps("testenv"))


def test_minimum_installs_the_lower_bounds() -> None:
    bounds = dict(requirement.split(">=") for requirement in PROJECT["dependencies"])
    pinned = dict(requirement.split("==") for requirement in _deps("testenv:minimum"))
    assert set(pinned) == set(bounds)
    for name, bound in bounds.items():
        assert pinned[name].startswith(bound), f"{name}: {pinned[name]} is not {bound}"


def test_lint_has_the_tools_of_the_development_environment() -> None:
    assert set(_deps("testenv:lint")) <= set(PROJECT["optional-dependencies"]["dev"])


def test_what_the_hooks_of_a_commit_run_is_run_by_tox() -> None:
    commands = [line for env in ("lint", "docs", "typing") for line in _lines(f"testenv:{env}", "commands")]
    assert {"typos", "validate-pyproject", "ruff check"} <= set(_hooks())
    for hook in _hooks():
        assert any(command.startswith(hook) for command in commands), f"{hook} is not in lint, docs or typing"


def test_tox_runs_the_suite_on_each_python_that_is_promised() -> None:
    promised = re.findall(r":: Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    run = re.findall(r"^py3\{([\d,]+)\}", "\n".join(_lines("tox", "env_list")), re.M)
    assert promised == ",".join(run).split(",")
