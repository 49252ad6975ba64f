"""The plugins that come with dovetail; they have no path that others lack."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from dovetail import pipeline

BACKENDS = ("numpy", "native", "taichi")
"""The reference comes first, as in every list of what is installed."""
RULES = ("model_rules", "semantics")
"""What states features, before the stages, whose records name them; and what states bundles of choices."""


def stages() -> list[str]:
    """Stages that have a folder among the plugins, in the order in which they run: it is that of lists and of the
    reference pages. No result depends on it, since the rows of a table come from one folder."""
    plugins = importlib.import_module("dovetail.plugins")
    folders = {module.name for module in pkgutil.iter_modules(plugins.__path__) if module.ispkg}
    return [name for name in pipeline.in_order() if name in folders]


def plugins() -> Iterator[tuple[str, object]]:
    """Name and module of each built-in plugin, in the order they register."""
    for backend in BACKENDS:
        yield f"backends.{backend}", importlib.import_module(f"dovetail.backends.{backend}.plugin")
    for name in (*RULES, *stages()):
        yield name, importlib.import_module(f"dovetail.plugins.{name}")
