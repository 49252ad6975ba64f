"""What is installed: what results depend on besides their inputs. Who keeps results between runs makes this part of
their key.

The package's own files count by size and time, so that an edit is noticed in a checkout as well as a new version is.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

PARTS = ("dovetail", "dovetail.backends", "dovetail.mjcf", "dovetail.plugins")
"""Folders of a checkout that make up the package."""
LIBRARIES = {"scipy": "scipy", "lxml": "lxml", "PIL": "pillow"}
"""What loading calls, by name of the import and of the distribution; NumPy is at hand."""
SETTLED = 2.0
"""Seconds for which a file must have stayed as it is: it may have been imported before it was changed."""

_began = time.time()


@functools.cache
def state() -> str | None:
    """A hash of dovetail's own files, of the libraries it calls, of Python and of the processor. None if it cannot be
    said: files are changed while they are in use, or are not there as files."""
    sources = [source for part in PARTS for source in _sources(part)]
    newest = max((changed for _, _, changed in sources), default=0)
    if not sources or newest > (_began - SETTLED) * 1e9:
        return None
    described = [sorted(set(sources)), sys.version, sys.byteorder, np.__version__, _processor()]
    described += [_library(module, distribution) for module, distribution in LIBRARIES.items()]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()


def _sources(package: str) -> list[tuple[str, int, int]]:
    """Path, size and time of every source file of a package."""
    spec = importlib.util.find_spec(package)
    folders = (spec and spec.submodule_search_locations) or ()
    return [source for folder in folders for source in _sources_in(folder)]


def _sources_in(folder: str) -> Iterator[tuple[str, int, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".py"):
            status = entry.stat()
            yield entry.path, status.st_size, status.st_mtime_ns
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield from _sources_in(entry.path)


def _library(module: str, distribution: str) -> list[Any]:
    """Where a library is, since when, and the names of what describes it there, which end in its version."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return [module]
    beside = os.path.dirname(os.path.dirname(spec.origin))
    described = [name for name in os.listdir(beside) if name.lower().startswith(f"{distribution}-")]
    return [spec.origin, os.stat(spec.origin).st_mtime_ns, sorted(described)]


def _processor() -> list[Any]:
    """What decides which of its routines NumPy takes; others may give other last bits."""
    core = getattr(np, "_core", None) or np.core
    features = getattr(core._multiarray_umath, "__cpu_features__", {})
    return [sys.platform, sorted(name for name, there in features.items() if there)]
