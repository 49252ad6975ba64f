"""A Model as its memory: a description of plain values, and the arena's buffers as they are.

For the cache of compiled models, whose files are read by the very version that wrote them. A file to keep is written
by `model_store`, which names every field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dovetail import limits
from dovetail.contracts.arena import Arena, ArenaLayout
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.types import MODEL_SPECS, Model


def described(model: Model) -> dict[str, Any]:
    """What a Model has besides its numbers, as JSON can say it."""
    return {
        "sizes": dict(model.sizes),
        "names": {kind: list(names) for kind, names in model.object_names.items()},
        "modelname": model.modelname,
        "source": model.source,
        "stages": dict(model.stages),
        "rows": dict(model.arena.layout.rows),
    }


def blocks(model: Model) -> Iterator[tuple[str, Array]]:
    """The memory of a Model as bytes, to read or to fill, by name of the buffer."""
    for name, buffer in model.arena.buffers.items():
        yield name, buffer.reshape(-1).view(np.uint8)


def unfilled(description: Mapping[str, Any], own: Iterable[FieldSpec]) -> Model:
    """A Model as described, whose numbers are all zero yet; `own`: the fields that plugins added. A ValueError if the
    fields of that time are not those of today."""
    added = tuple(own)
    specs = {**MODEL_SPECS, **{spec.name: spec for spec in added}}
    layout = ArenaLayout.of(specs.values(), description["sizes"])
    if layout.rows != description["rows"]:
        raise ValueError("the fields are not laid out as they were")
    arena = Arena.allocate(layout, max_bytes=limits.MODEL_MEMORY, subject="Model")
    names = {kind: tuple(entries) for kind, entries in description["names"].items()}
    return Model(
        arena,
        description["sizes"],
        names,
        description["modelname"],
        description["source"],
        description["stages"],
        added,
    )
