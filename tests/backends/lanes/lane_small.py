"""Small programs over a Model of four numbers of each kind and a Data of a few fields, for testing the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from lane_program import compile_lanes

from dovetail.backends.lanes.fuse import LaneStage
from dovetail.backends.lanes.kernel import FieldPlace, Kernel
from dovetail.backends.lanes.program import FLOAT, LaneProgram
from dovetail.backends.native.stage_text import stage_body
from dovetail.contracts.arena import aligned_zeros

N = 4
MODEL = {
    "real": ("float64", FieldPlace(0, (N,))),
    "opt.timestep": ("float64", FieldPlace(N, ())),
    "integer": ("int32", FieldPlace(0, (N,))),
    "flag": ("uint8", FieldPlace(0, (N,))),
}
BUFFERS = {
    "float64": np.array([0.5, -1.5, 2.0, 3.0, 0.01]),
    "int32": np.array([3, 1, 2, 0], np.int32),
    "uint8": np.array([1, 0, 1, 0], np.uint8),
}
SHAPES = {"x": (N,), "y": (N,), "z": (N, 3), "time": ()}
PLACES = {
    "x": FieldPlace(0, (N,)),
    "y": FieldPlace(N, (N,)),
    "z": FieldPlace(2 * N, (N, 3)),
    "time": FieldPlace(5 * N, ()),
}
ROWS = 5 * N + 1


def stage(
    builder: Callable[..., None], *, reads: str = "x", writes: str = "y z time", **more: Any
) -> LaneStage:
    return LaneStage(
        stage=more.pop("stage", "test"),
        name="small",
        builder=builder,
        reads=frozenset(reads.split()),
        writes=frozenset(writes.split()),
        **more,
    )


def compile_small(
    *stages: LaneStage,
    load: tuple[str, ...] = ("x", "time"),
    store: tuple[str, ...] = ("y", "z", "time"),
    **more: Any,
) -> LaneProgram:
    settings = {"lanes": 8, "precision": "f64"} | more
    return compile_lanes(
        stages=list(stages),
        model_places=MODEL,
        data_places=PLACES,
        data_shapes=SHAPES,
        initial={},
        load=list(load),
        store=list(store),
        sizes={"n": N},
        **settings,
    )


def stages_text(program: LaneProgram) -> str:
    """What a printer makes of the stages, without what stands around them."""
    return "\n".join(stage_body(program.fused, each) for each in program.fused.stages)


def apply(
    builder: Callable[[Kernel], None], x: np.ndarray, nstep: int = 1, **settings: Any
) -> dict[str, np.ndarray]:
    """Run a stage on x (worlds, N); what it left in y, z and time."""
    return run(compile_small(stage(builder), **settings), x, nstep)


def run(program: LaneProgram, x: np.ndarray, nstep: int = 1) -> dict[str, np.ndarray]:
    """Run a program on x (worlds, N); what it left in each field."""
    lanes = program.lanes
    tiles = -(-len(x) // lanes)
    buffer = aligned_zeros((tiles, ROWS, lanes), FLOAT[program.precision])
    worlds = np.zeros((tiles * lanes, N))
    worlds[: len(x)] = x
    buffer[:, :N] = worlds.reshape(tiles, lanes, N).transpose(0, 2, 1)
    program.run(buffer, BUFFERS, nstep)
    flat = buffer.transpose(0, 2, 1).reshape(-1, ROWS)[: len(x)]
    return {n: flat[:, p.offset : p.offset + p.count].reshape(len(x), *p.shape) for n, p in PLACES.items()}
