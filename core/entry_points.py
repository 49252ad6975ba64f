"""What installed packages say in their entry points, found without waiting where nobody says anything.

`importlib.metadata` takes longer to import than all plugins of dovetail take to register, and most installations have
no package that adds to it. So where nobody has imported it yet, the lists of entry points are first searched for the
group's name as a text; only if one mentions it, or may do so out of sight, the standard library is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_METADATA = (".dist-info", ".egg-info")
"""How the names of folders end that describe an installed package."""
_LIST = "entry_points.txt"


def entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group, as `importlib.metadata.entry_points` gives them."""
    if "importlib.metadata" not in sys.modules and not _may_be_mentioned(group.encode()):
        return ()
    from importlib import metadata

    return metadata.entry_points(group=group)


def _may_be_mentioned(group: bytes) -> bool:
    """Whether a package may name the group; False only if everything could be looked at."""
    finders = [finder for finder in sys.meta_path if getattr(finder, "find_distributions", None)]
    return finders != [PathFinder] or any(_mentioned_in(folder or os.curdir, group) for folder in sys.path)


def _mentioned_in(folder: str, group: bytes) -> bool:
    """Whether a package in one folder of `sys.path` may name the group; archives and eggs are not opened."""
    if folder.lower().endswith(".egg"):
        return True
    try:
        names = os.listdir(folder)
        found = [os.path.join(folder, name, _LIST) for name in names if name.lower().endswith(_METADATA)]
        return any(group in _content(path) for path in found)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _content(path: str) -> bytes:
    """A list of entry points; a package need not have one, and old ones are described by a file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
