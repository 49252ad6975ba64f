"""Lane programs without a plan: stages, places and settings given one by one."""

from __future__ import annotations

from typing import Any

import attrs
from lane_backend import LANES

from dovetail.backends.lanes.fuse import Sources, Target
from dovetail.backends.lanes.kernel import LaneLayout
from dovetail.backends.lanes.program import LaneProgram
from dovetail.registry import default_registry

LAYOUT = {"model_places": "model", "data_shapes": "data"}
"""Settings that a layout has under another name."""


def compile_lanes(backend: str = LANES, **settings: Any) -> LaneProgram:
    """A program of `stages`; the other settings are those of layouts, sources and targets. Kernel fields that no
    stage writes are empty."""
    given = {LAYOUT.get(name, name): value for name, value in settings.items()}
    given["options"] = {name: given.pop(name) for name in ("runtime", "arch") if name in given}
    known = {field.name for field in attrs.fields(LaneLayout)} - {"growth"}
    layout = LaneLayout(**{name: given.pop(name) for name in list(given) if name in known})
    target = {field.name for field in attrs.fields(Target)}
    chosen = Target(backend=backend, **{name: given.pop(name) for name in list(given) if name in target})
    written = frozenset[str]().union(*(stage.writes for stage in given["stages"]))
    empty = frozenset(layout.kernel_fields) - written
    sources = Sources(layout=layout, empty=empty, **given)
    return default_registry().backend(backend).compile_program(sources, chosen)
