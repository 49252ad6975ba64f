"""Parameter sweeps: one world for each point, reduced where it was computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.distributed.rolling import Run, _prepared
from dovetail.distributed.worker import Policy, Summary
from dovetail.errors import ArgumentError, shown


def last_sample(records: dict[str, Array]) -> dict[str, Array]:
    """The summary where nobody says: each field at the end."""
    return {name: values[:, -1] for name, values in records.items()}


def sweep(
    model: Model | str | Path,
    values: Mapping[str, Any],
    *,
    nstep: int,
    controls: Any | Policy | None = None,
    summary: Summary = last_sample,
    workers: int | None = None,
    start: Mapping[str, Any] | None = None,
    keyframe: int | str | None = None,
    noise: float = 0.0,
    seed: int = 0,
    record: str | Iterable[str] = ("qpos", "qvel"),
    every: int = 1,
    checkpoint: int | None = None,
    block: int | None = None,
    threads: int = 1,
    address: str | None = None,
    **options: Any,
) -> Sweep:
    """Step one world for each row of `values`, arrays (points, …) by Model field, and reduce what it did.

    `summary(records)` gets the recorded fields of some points, (points, samples, …) by name, and returns arrays with
    one row for each; only these come back. What derives from the values is recomputed as by `set_constants`. All else
    is as for `rollout`.
    """
    if not values:
        raise ArgumentError(
            "values is empty: a sweep has one row for each point, as {'dof_damping': (points, nv)}"
        )
    if not callable(summary):
        raise ArgumentError(f"summary = {shown(summary)} should be a function of the records")
    run = _prepared(
        model, controls, nstep, None, workers, start, keyframe, noise, seed, values, record, every,
        checkpoint, block, threads, address, summary, options,
    )  # fmt: skip
    run.compute()
    return Sweep(run, values)


class Sweep:
    """What a sweep found: `sweep["name"]` is an array with one row for each point."""

    def __init__(self, run: Run, values: Mapping[str, Any]) -> None:
        self.values = {name: np.asarray(value) for name, value in values.items()}
        self.results: dict[str, Array] = _joined([run.summaries[b.number] for b in run.asked.blocks])
        self.npoint: int = run.asked.nworld
        self.nstep: int = run.nstep
        self.workers: int = run.served
        self.restarts: int = run.restarts
        self.repeated_steps: int = run.repeated
        self.seconds: float = run.seconds
        self.startup_seconds: float = run.startup
        self.busy_seconds: float = run.busy
        self.processor_seconds: float = run.processor

    def __getitem__(self, name: str) -> Array:
        if name not in self.results:
            raise ArgumentError(f"the summary has no {name!r}; it has {', '.join(self.results) or 'nothing'}")
        return self.results[name]

    def __repr__(self) -> str:
        return f"<dovetail sweep: {self.npoint} points, {self.nstep} steps, {', '.join(self.results)}>"


def _joined(parts: list[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
