"""`backend="auto"`, which is what runs where nobody says: the fastest backend that works on this machine.

Backends say how much they are preferred for one world or for a batch; the one preferred most that is not missing
anything is taken. The reference is taken where no other will do, and where something is to stand between stages
(`wrap=`), since kernels would come apart. What was passed over is told once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection

import attrs

from dovetail.backend import REFERENCE, Backend, Preferable
from dovetail.once import Once
from dovetail.registry import Registry

logger = logging.getLogger(__name__)

AUTO = "auto"


@attrs.frozen
class Preferred:
    """The backend that is taken, and why."""

    backend: str
    reason: str


def preferred(
    registry: Registry, nworld: int | None, *, wrapped: bool = False, settings: Collection[str] = ()
) -> Preferred:
    """What `auto` means for so many worlds here, where some settings of backends (`runtime`, `arch`) are given: only
    who understands them is meant."""
    meant = [backend.name for backend in registry.backends.values() if _understands(backend, settings)]
    if settings and meant:
        return Preferred(meant[0], f"{' and '.join(sorted(settings))} are settings of it")
    if wrapped:
        return Preferred(REFERENCE, "something stands between stages, so that kernels would come apart")
    ranked = sorted(registry.backends.values(), key=lambda backend: -_preference(backend, nworld))
    passed_over: list[str] = []
    for backend in ranked:
        if _preference(backend, nworld) <= 0:
            break
        lacking = backend.missing()
        if not lacking:
            _tell(backend.name, passed_over)
            return Preferred(backend.name, "; ".join(passed_over) or "the fastest that is here")
        passed_over.append(f'{backend.name} needs {lacking} (pip install "{backend.install}")')
    _tell(REFERENCE, passed_over)
    return Preferred(REFERENCE, "; ".join(passed_over) or "no other backend is installed")


def _preference(backend: Backend, nworld: int | None) -> int:
    return backend.preference(nworld) if isinstance(backend, Preferable) else 0


def _understands(backend: Backend, settings: Collection[str]) -> bool:
    return set(settings) <= set(getattr(backend, "settings", ()))


def default_threads(nworld: int | None) -> int:
    """Threads where nobody says how many: all processors that this process may use, for a batch."""
    return 1 if nworld is None else processors()


def processors() -> int:
    """Processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


_told = Once()


def _tell(backend: str, passed_over: list[str]) -> None:
    """Say once that something faster could not be had."""
    if not passed_over:
        return
    text = f"running on {backend}: {'; '.join(passed_over)}"
    with _told.new(text) as new:
        if new:
            logger.warning("%s", text)
