"""Taking the place of `mujoco` for programs and libraries that import it, and giving it back."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

REAL = "mujoco"
OURS = "dovetail.mj"


class _Alias(Loader):
    """Gives the drop-in's own module under MuJoCo's name, so that there is only one of each."""

    def __init__(self, ours: str) -> None:
        self._ours = ours

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put its own there


class _Finder(MetaPathFinder):
    """Finds `mujoco.rollout` and its like while the drop-in is installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(f"{REAL}."):
            return None
        from dovetail.mj import INNER

        rest = name.removeprefix(f"{REAL}.")
        ours = f"{OURS}.{INNER.get(rest, rest)}"
        if importlib.util.find_spec(ours) is None:
            from dovetail.mj.missing import error_for

            raise ModuleNotFoundError(str(error_for(rest)), name=name)
        return ModuleSpec(name, _Alias(ours))


_finder = _Finder()


class Installed:
    """What `install` gives: used with `with`, the drop-in stays for that long."""

    def __enter__(self) -> ModuleType:
        return sys.modules[OURS]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        uninstall()


def install() -> Installed:
    """Have `import mujoco` give the drop-in from now on, in this process; `uninstall()` or the end of a `with` undoes
    it. If MuJoCo itself was imported before, others hold its objects: that is refused."""
    there = sys.modules.get(REAL)
    if there is not None and there is not sys.modules[OURS]:
        from dovetail.mj.errors import InstallError

        raise InstallError(
            f"mujoco {getattr(there, '__version__', '')} is imported already, and who did it keeps it: call "
            "dovetail.mj.install() first of all, before anything that imports mujoco"
        )
    sys.modules[REAL] = sys.modules[OURS]
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    return Installed()


def uninstall() -> None:
    """Give `mujoco` its name back. Modules that imported the drop-in keep it."""
    ours = sys.modules[OURS]
    if sys.modules.get(REAL) is ours:
        for name in [name for name in sys.modules if name == REAL or name.startswith(f"{REAL}.")]:
            del sys.modules[name]
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def installed() -> bool:
    """Whether `import mujoco` gives the drop-in."""
    return sys.modules.get(REAL) is sys.modules[OURS]
