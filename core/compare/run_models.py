"""Two Models field by field: what another file, another loading stage or another compiler makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.compare.conform import compare_models, ignored
from dovetail.compare.conform_report import COMPILE
from dovetail.compare.errors import FieldError, Worst
from dovetail.compare.timeline import Divergence, Timeline
from dovetail.contracts.types import MODEL_SPECS, Model


def same_sizes(a: Model, b: Model) -> bool:
    """Whether every field has the same shape in both, so that Data of one fits the other."""
    return not different_sizes(a, b)


def different_sizes(a: Model, b: Model) -> list[str]:
    """Sizes that differ, as text, but for those of bookkeeping."""
    from dovetail.compare.conform import IGNORED_SIZES

    return [
        f"{name} is {size} and {b.sizes[name]}"
        for name, size in a.sizes.items()
        if name not in IGNORED_SIZES and size != b.sizes[name]
    ]


def model_differences(a: Model, b: Model, timeline: Timeline) -> None:
    """Every field of the Model, under the slot `compile`, A the authority; then sizes and names."""
    for text in different_sizes(a, b):
        _misfit(timeline, text.partition(" ")[0], text)
    for kind, names in a.object_names.items():
        others = b.object_names.get(kind, ())
        for index, (name, other) in enumerate(zip(names, others, strict=False)):
            if name != other:
                _misfit(timeline, f"name of {kind} {index}", f"{name!r} and {other!r}")
    for name, spec in MODEL_SPECS.items():
        if not ignored(name):
            first, second = np.asarray(a.field(name)), np.asarray(b.field(name))
            if first.shape == second.shape:
                timeline.add(COMPILE, spec, second, first)


def against_mujoco(ours: Model, theirs: Any, timeline: Timeline) -> None:
    """Every field of our Model against MuJoCo's compiler."""
    worst = Worst(ours)
    compare_models(worst, ours, theirs)
    for row in worst.sorted_rows():
        if row.ok:
            timeline.keep(row)
        else:
            _take(timeline, row)


def _take(timeline: Timeline, row: FieldError) -> None:
    timeline.keep(row)
    a, b = (row.ours, row.theirs) if timeline.flipped else (row.theirs, row.ours)
    timeline.found.append(
        Divergence(
            step=0,
            time=0.0,
            evaluation=0,
            stage=COMPILE,
            field=row.field,
            object=row.where.partition("(")[2].removesuffix(")"),
            index=(),
            world=None,
            a=a,
            b=b,
            error=row.error,
            relative=row.error,
            ulps=np.nan,
            tolerance=row.tolerance,
            note=row.note,
        )
    )


def _misfit(timeline: Timeline, what: str, text: str) -> None:
    _take(
        timeline,
        FieldError(
            slot=COMPILE,
            field=what,
            error=np.inf,
            tolerance=0.0,
            where="",
            ours=np.nan,
            theirs=np.nan,
            note=text,
        ),
    )
