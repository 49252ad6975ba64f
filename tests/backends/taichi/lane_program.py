"""Lane programs without a plan: stages, places and settings given one by one."""

from __future__ import annotations

from typing import Any

import attrs

from dovetail.backends.lanes.fuse import LaneStage, Sources, Target
from dovetail.backends.lanes.kernel import LaneLayout
from dovetail.backends.taichi.program import Program, compile_program
from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS
from dovetail.registry import default_registry

LAYOUT = {"model_places": "model", "data_shapes": "data"}
"""Settings that a layout has under another name."""


def compile_lanes(**settings: Any) -> Program:
    """A program of `stages`; the other settings are those of layouts, sources and targets. Kernel fields that no
    stage writes are empty."""
    given = {LAYOUT.get(name, name): value for name, value in settings.items()}
    known = {field.name for field in attrs.fields(LaneLayout)} - {"growth"}
    layout = LaneLayout(**{name: given.pop(name) for name in list(given) if name in known})
    given["options"] = {name: given.pop(name) for name in ("runtime", "arch") if name in given}
    target = {field.name for field in attrs.fields(Target)}
    chosen = Target(backend="taichi", **{name: given.pop(name) for name in list(given) if name in target})
    written = frozenset[str]().union(*(stage.writes for stage in given["stages"]))
    empty = frozenset(layout.kernel_fields) - written
    return compile_program(Sources(layout=layout, empty=empty, **given), chosen)


def with_kernel_fields(stage: LaneStage) -> LaneStage:
    """The stage with the kernel fields that the record of its builder declares."""
    records = [r for r in default_registry().implementations if (r.stage, r.key) == (stage.stage, stage.key)]
    own = next((r for r in records if r.backend == "taichi" and r.load() is stage.builder), None)
    if own is None:
        return stage
    return attrs.evolve(
        stage,
        reads=stage.reads.union(n for n in own.reads or () if n in BUILTIN_KERNEL_FIELDS),
        writes=stage.writes.union(n for n in own.writes or () if n in BUILTIN_KERNEL_FIELDS),
    )


def group(*names: str) -> frozenset[str]:
    """All kernel fields of some groups."""
    return frozenset(n for n in BUILTIN_KERNEL_FIELDS if n.partition(".")[0] in names)
