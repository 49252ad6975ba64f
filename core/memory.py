"""How much memory there is: what the machine has, a container's or a process's limit, whichever is least."""

from __future__ import annotations

import os
from pathlib import Path

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def most_memory() -> int | None:
    """Bytes that this process could have at most; None where the system does not tell."""
    found = [bound for bound in (_physical(), _container(), _own_limit()) if bound is not None]
    return min(found, default=None)


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _container() -> int | None:
    try:
        return int(_CONTAINER.read_text())
    except (OSError, ValueError):  # no container, or "max"
        return None


def _own_limit() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    bound = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if bound == resource.RLIM_INFINITY else bound
