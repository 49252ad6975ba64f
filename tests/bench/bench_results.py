"""A result as the benchmarks give it, for tests of what is done with one."""

from __future__ import annotations

from dovetail.bench import BenchResult, BenchRow
from dovetail.bench.results import machine

ROW = BenchRow(
    nworld=8,
    precision="f64",
    threads=1,
    lanes=8,
    runtime="",
    steps=50,
    microseconds=1.5,
    world_steps_per_second=1e6 / 1.5,
    compile_seconds=2.0,
    bytes_per_world=300.0,
    scaling=1.0,
    ratio=4.0,
    ratio_range=(3.5, 4.5),
)
RESULT = BenchResult(
    model="arm",
    nv=9,
    backend="numpy",
    repeat=9,
    rolled_in=100,
    contacts=1.0,
    constraint_rows=4.0,
    solver_iterations=2.0,
    rows=(ROW,),
    notes=(),
    machine=machine(),
)
