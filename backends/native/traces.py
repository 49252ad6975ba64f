"""Kernels that were fused and printed in an earlier run: kept, so that the stages need not be traced again.

A kernel follows from the plan (which implementations, for which layout, for what kind of kernel), from dovetail's own
code, and from values of the Model that builders look at while they run. All but the last make the name of a file; the
values are in it, by field, and the kernel is used if the Model still has them. Only kernels of dovetail's own stages
are kept: what other code does is not known by its name. As with libraries, what is in the folder is trusted because
nobody else can write there, and a file that is not what was written is not used.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail import cache_folder, installation, limits
from dovetail.backends.lanes import kernel_cache
from dovetail.backends.lanes.fuse import FusedKernel, Sources, Target
from dovetail.backends.lanes.live import Live
from dovetail.backends.native import compilers
from dovetail.planning.dependencies import DecidingValues
from dovetail.recorded_model import RecordedModel

logger = logging.getLogger(__name__)

SWITCH = "DOVETAIL_MODEL_CACHE"
"""With 0 nothing that is made of models is kept, neither compiled models nor fused kernels."""
SUFFIX = ".trace"
BOUND = cache_folder.Bound(limits.GIGA // 4, 2000)
"""What the folder may hold of them."""

MOST_VARIANTS = 8
"""Kernels that are kept for one plan, of Models with other values."""


@attrs.frozen
class Printed:
    """A kernel and its C."""

    fused: FusedKernel
    """Without what only its printer needs."""
    sources: list[str]


@attrs.frozen
class _Entry:
    """What is kept of a kernel."""

    looked_at: tuple[str, ...]
    """Fields of the Model whose values it depends on."""
    values: tuple[bytes, ...]
    read: tuple[str, ...]
    """Fields that it reads when it runs."""
    printed: Printed


def printed(sources: Sources, target: Target, units: int, make: Callable[[], Printed]) -> Printed:
    """The kernel of these stages, from an earlier run or made now."""
    name, recorded = _name(sources, target, units), sources.recorded
    if name is None or recorded is None:
        return make()
    folder = compilers.folder()
    for number in range(MOST_VARIANTS):
        entry = _read(folder / f"{name}_{number}{SUFFIX}")
        if entry is None:
            return _kept(folder / f"{name}_{number}{SUFFIX}", recorded, make())
        if _holds(entry, recorded):
            recorded.take_over(entry.looked_at, entry.read)
            cache_folder.mark_used(folder / f"{name}_{number}{SUFFIX}")
            return entry.printed
    return make()


def _holds(entry: _Entry, recorded: RecordedModel) -> bool:
    """Whether the Model has the values that a kernel depends on."""
    try:
        return DecidingValues.of(recorded.seen, entry.looked_at).values == entry.values
    except KeyError:  # a field that this Model does not have
        return False


# ---- names


def _name(sources: Sources, target: Target, units: int) -> str | None:
    """A hash of all that decides what a kernel is, but for values of the Model; None if that cannot be said."""
    state = installation.state() if os.environ.get(SWITCH) != "0" else None
    if state is None or sources.identity is None:
        return None
    layout = sources.layout
    described = [
        state,
        sources.identity,
        [target.lanes, target.precision, target.growth, target.lands, target.backend, units],
        [stage.described for stage in sources.stages],
        sorted((name, dtype, place.offset, place.shape) for name, (dtype, place) in layout.model.items()),
        sorted(layout.data.items()),
        sorted(layout.sizes.items()),
        layout.lean,
        sorted((group, sorted(members)) for group, members in _listed(layout.features)),
        _names(layout.per_world),
        sorted((slot, sorted(map(repr, facts.items()))) for slot, facts in layout.facts.items()),
        sorted(map(repr, layout.kernel_fields.values())),
        sorted((name, place.offset, place.shape) for name, place in sources.data_places.items()),
        [list(sources.load), list(sources.store), list(sources.converted), sources.evaluations],
        [repr(sources.exports), repr(sources.landings), sources.repeatable, _names(sources.empty)],
        sorted((name, _content(numbers)) for name, numbers in sources.initial.items()),
    ]
    return hashlib.sha256(repr(described).encode()).hexdigest()[:40]


def _names(container: Any) -> list[str]:
    return sorted(container)


def _listed(features: Any) -> list[tuple[str, list[str]]]:
    return [(group, list(members)) for group, members in features.items()]


def _content(numbers: Any) -> tuple[tuple[int, ...], str]:
    """Shape and content; of what is spread out, one element."""
    array = np.asarray(numbers)
    if array.size and not any(array.strides):
        return array.shape, repr(array.reshape(-1)[0])
    return array.shape, hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


# ---- files


def _kept(path: Path, recorded: RecordedModel, made: Printed) -> Printed:
    """Keep a kernel for later runs; where that is not possible it is only not kept."""
    looked_at = tuple(sorted(recorded.looked_at))
    entry = _Entry(
        looked_at=looked_at,
        values=DecidingValues.of(recorded.seen, looked_at).values,
        read=tuple(sorted(recorded.read)),
        printed=attrs.evolve(made, fused=without_traces(made.fused)),
    )
    content = zlib.compress(pickle.dumps(entry, protocol=5), 1)
    try:
        kernel_cache.write_whole(path, hashlib.sha256(content).digest() + content)
        cache_folder.make_room(path.parent, SUFFIX, BOUND)
    except OSError as error:
        logger.info("%s is not kept: %s", path, error)
    return made


def without_traces(fused: FusedKernel) -> FusedKernel:
    """A kernel as who runs it needs it."""
    return attrs.evolve(fused, stages=(), live=Live(set(), fused.live.memories))


def _read(path: Path) -> _Entry | None:
    """What a file holds, if it is whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != digest:
        logger.warning("%s is not what was written: the stages are traced anew", path)
        return None
    entry: _Entry = pickle.loads(zlib.decompress(content))
    return entry
