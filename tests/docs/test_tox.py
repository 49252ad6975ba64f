"""What tox.ini repeats from pyproject.toml agrees with it."""

from __future__ import annotations

import configparser
import re
import tomllib

import pages

PROJECT = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _deps(section: str) -> list[str]:
    """The requirements of a tox section, without factors, comments and references to other sections."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(pages.ROOT / "tox.ini", encoding="utf-8")
    lines = [line.strip() for line in parser[section]["deps"].splitlines()]
    wanted = [line for line in lines if line and not line.startswith(("#", "{"))]
    return [re.sub(r"^[a-z, ]+: ", "", line) for line in wanted]


def test_environments_without_taichi_have_the_other_test_dependencies() -> None:
    extra = [r for r in PROJECT["optional-dependencies"]["test"] if not r.startswith("dovetail-physics[")]
    assert set(extra) <= set(_deps("testenv"))


def test_minimum_installs_the_lower_bounds() -> None:
    bounds = dict(requirement.split(">=") for requirement in PROJECT["dependencies"])
    pinned = dict(requirement.split("==") for requirement in _deps("testenv:minimum"))
    assert set(pinned) == set(bounds)
    for name, bound in bounds.items():
        assert pinned[name].startswith(bound), f"{name}: {pinned[name]} is not {bound}"
