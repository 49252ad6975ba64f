"""Scripts written for `import mujoco`, on dovetail: `import dovetail.mj as mujoco`.

Names, arguments and results are those of MuJoCo 3.4.0's Python. `install()` puts this package in the place of
`mujoco` for libraries that import that. What is not here raises an AttributeError that says what to use instead.

Nothing is imported before it is used:

- `structs`: MjModel, MjData and their parts; `enums`, `constants`, `errors`;
- `functions`: `mj_*`, `mju_*`, `mjd_*`; `callbacks`: `set_mjcb_*`, `get_mjcb_*`;
- `scenes`: `mjv_*`, `renderer`: Renderer; `spec`: MjSpec and its elements; `rollout`, `minimize`, as in MuJoCo;
- `installing`: `install`, `uninstall`; `missing`: what to use instead of what is not here.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import TYPE_CHECKING, Any

from dovetail.mj.installing import install as install
from dovetail.mj.installing import installed as installed
from dovetail.mj.installing import uninstall as uninstall

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData as MjData
    from dovetail.mj.structs import MjModel as MjModel
    from dovetail.mj.structs import MjOption as MjOption

__version__ = "3.4.0"

HOMES = (
    ("mjt", "enums"),
    ("mj_", "functions"),
    ("mju_", "functions"),
    ("mjd_", "functions"),
    ("mjv_", "scenes"),
    ("mjr_", "functions"),
    ("set_mj", "callbacks"),
    ("get_mj", "callbacks"),
    ("MjSpec", "spec"),
    ("Mjs", "spec"),
    ("MjStruct", "spec"),
    ("MjByteVec", "spec"),
    ("MjCharVec", "spec"),
    ("MjDoubleVec", "spec"),
    ("MjFloatVec", "spec"),
    ("MjIntVec", "spec"),
    ("MjStringVec", "spec"),
    ("from_zip", "spec"),
    ("to_zip", "spec"),
    ("Mj", "structs"),
    ("mj", "constants"),
    ("FatalError", "errors"),
    ("UnexpectedError", "errors"),
    ("Renderer", "renderer"),
)
"""Modules by how the names in them begin; the first that fits is asked."""

INNER = {
    "_structs": "structs",
    "_enums": "enums",
    "_constants": "constants",
    "_errors": "errors",
    "_functions": "functions",
    "_callbacks": "callbacks",
    "_specs": "spec",
}
"""Modules inside of MuJoCo's package that some scripts name."""


def _first_use(name: str) -> Any:
    """Find a name, and keep it."""
    if name in INNER:
        found: Any = importlib.import_module(f"{__name__}.{INNER[name]}")
    elif name.startswith("__"):
        raise AttributeError(name)
    else:
        found = _found(name)
    globals()[name] = found
    return found


def _found(name: str) -> Any:
    home = next((module for begin, module in HOMES if name.startswith(begin)), None)
    if home is not None and _exists(home):
        module = importlib.import_module(f"{__name__}.{home}")
        found = _in(module, name)
        if found is not None:
            return found
    if home is None and _exists(name):
        return importlib.import_module(f"{__name__}.{name}")
    from dovetail.mj.missing import error_for

    raise error_for(name)


def _exists(module: str) -> bool:
    return module.isidentifier() and importlib.util.find_spec(f"{__name__}.{module}") is not None


def _in(module: Any, name: str) -> Any:
    """A name of a module, or of the modules in a package that list it."""
    if name in vars(module):
        return vars(module)[name]
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
        part = importlib.import_module(f"{module.__name__}.{inner.name}")
        if name in getattr(part, "__all__", ()):
            return getattr(part, name)
    return None


if not TYPE_CHECKING:  # checkers know the names from above
    __getattr__ = _first_use


def __dir__() -> list[str]:
    names = {"__version__", "install", "installed", "uninstall"}
    for home in sorted({home for _, home in HOMES}):
        if not _exists(home):
            continue
        module = importlib.import_module(f"{__name__}.{home}")
        names.update(getattr(module, "__all__", ()))
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
            part = importlib.import_module(f"{module.__name__}.{inner.name}")
            names.update(n for n in getattr(part, "__all__", ()) if _is_public(n))
    return sorted(names)


def _is_public(name: str) -> bool:
    """Whether a name belongs to MuJoCo's, not to those by which modules help each other."""
    return any(name.startswith(begin) for begin, _ in HOMES)
