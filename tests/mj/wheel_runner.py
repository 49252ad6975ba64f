"""Runs one of the test modules in mujoco's wheel with the drop-in in mujoco's place; prints what became of each test.

    python wheel_runner.py bindings

Nothing of the wheel is copied: its file is loaded from where it is installed. What the tests look up in the package
`mujoco` (files of models) they find in the wheel.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from importlib.machinery import PathFinder
from pathlib import Path

from unittests import outcomes


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


def main(suite: str, chosen: list[str]) -> None:
    import dovetail.mj

    folder = wheel()
    dovetail.mj.install()
    resources(folder)
    print(json.dumps(outcomes(loaded(folder, suite), chosen)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
