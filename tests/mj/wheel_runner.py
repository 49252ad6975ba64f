"""Runs one of the test modules in mujoco's wheel with the drop-in in mujoco's place; prints what became of each test.

    python wheel_runner.py bindings

Nothing of the wheel is copied: its file is loaded from where it is installed. What the tests look up in the package
`mujoco` (files of models) they find in the wheel.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import types
import unittest
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path


def wheel() -> Path:
    """The folder of the installed mujoco, without importing it."""
    spec = PathFinder.find_spec("mujoco")
    if spec is None or spec.origin is None:
        raise SystemExit("mujoco is not installed")
    return Path(spec.origin).parent


def resources(folder: Path) -> None:
    """Have `etils.epath.resource_path("mujoco")` lead to the wheel, without etils if it is not installed."""
    try:
        from etils import epath
    except ImportError:
        epath = types.ModuleType("etils.epath")
        package = types.ModuleType("etils")
        package.epath = epath  # type: ignore[attr-defined]
        sys.modules["etils"], sys.modules["etils.epath"] = package, epath
        epath.Path = Path
    epath.resource_path = lambda package: folder if package == "mujoco" else Path()


def loaded(folder: Path, suite: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"{suite}_test", folder / f"{suite}_test.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def each(tests: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


class Outcomes(unittest.TestResult):
    """What became of each test, by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        self.outcomes[name_of(test)] = "passed"

    def addError(self, test: unittest.TestCase, err: object) -> None:
        self.outcomes[name_of(test)] = str(self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    addFailure = addError  # noqa: N815

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.outcomes[name_of(test)] = "skipped"


def name_of(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2]


def main(suite: str, chosen: list[str]) -> None:
    import dovetail.mj

    folder = wheel()
    dovetail.mj.install()
    resources(folder)
    tests = unittest.defaultTestLoader.loadTestsFromModule(loaded(folder, suite))
    found = Outcomes()
    with contextlib.redirect_stdout(sys.stderr):
        for test in each(tests):
            if not chosen or any(name in name_of(test) for name in chosen):
                test.run(found)
    print(json.dumps(found.outcomes))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
