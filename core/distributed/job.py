"""From what somebody asks for to what blocks are given, with everything checked before a worker starts."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from dovetail.arguments import texts_by_name, whole, words
from dovetail.config import Config
from dovetail.contracts.derive import OF_MODEL
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS
from dovetail.distributed.blocks import Block, blocks, usual_size
from dovetail.distributed.worker import Inputs, Job, Policy, Summary
from dovetail.errors import ArgumentError, UnknownFieldError, listing, nearest, shown
from dovetail.planning.loading_selection import for_running
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

NOT_HERE = ("self", "model", "nworld", "per_world", "wrap", "threads")
"""Keywords of `Simulation` that a rollout sets itself, or that make no sense on workers."""


@attrs.frozen(eq=False)
class Asked:
    """A job, its blocks, and what each of them is given."""

    job: Job
    blocks: list[Block]
    inputs: Callable[[Block], Inputs]
    nworld: int
    plan: Plan
    """As workers have it."""


def asked(
    model: Any,
    controls: Any,
    *,
    nworld: int | None,
    nstep: int,
    start: Mapping[str, Any] | None,
    keyframe: int | str | None,
    noise: float,
    seed: int,
    values: Mapping[str, Any] | None,
    record: Any,
    every: int,
    block: int | None,
    threads: int,
    summary: Summary | None,
    options: Mapping[str, Any],
) -> Asked:
    """Everything checked: the error says what was asked, and what there is."""
    _check_options(options)
    policy: Policy | None = controls if callable(controls) else None
    table = None if controls is None or policy else _array("controls", controls)
    own = {n: _array(f"values[{n!r}]", v) for n, v in texts_by_name("values", values or {}).items()}
    count = _count(nworld, table, own)
    size = usual_size(count) if block is None else whole("block", block, 1, "WORLDS")
    parts = blocks(count, size)
    recorded = _recorded(record)
    kept = tuple(dict.fromkeys((*words("keep", options.get("keep") or "state"), *recorded)))
    config = options.get("config") or Config.discover()
    running = {**options, "keep": kept, "config": config, "threads": threads}
    probe = Simulation(model, nworld=parts[0].count, per_world=tuple(own), **running)
    running["stages"] = for_running(options.get("stages")) or None
    running["backend"] = options.get("backend") or _usual_backend(probe)
    if table is not None:
        table = _controls(table, count, nstep, probe.model.nu)
    first = {n: _array(f"start[{n!r}]", v) for n, v in texts_by_name("start", start or {}).items()}
    _check_start(probe, first, count)
    _check_values(probe, own, count)
    if keyframe is not None:
        probe.reset(keyframe)
    job = Job(
        model=probe.model,
        options=running,
        implementations=probe.plan.implementations,
        record=recorded,
        every=whole("every", every, 1),
        policy=policy,
        keyframe=keyframe,
        noise=_sigma(noise),
        seed=whole("seed", seed, 0),
        values=tuple(own),
        summary=summary,
        sizes=tuple(dict.fromkeys(part.count for part in parts)),
    )

    def inputs(part: Block) -> Inputs:
        mine = None if table is None else table if len(table) == 1 else table[part.rows]
        starts = {n: _rows(v, probe.data.field(n).ndim, part) for n, v in first.items()}
        return Inputs(mine, starts, {n: v[part.rows] for n, v in own.items()})

    return Asked(job, parts, inputs, count, probe.plan)


def _check_options(options: Mapping[str, Any]) -> None:
    known = [name for name in inspect.signature(Simulation).parameters if name not in NOT_HERE]
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{name!r} is neither an argument of this call nor an option of Simulation"
                f"{nearest(name, known) or '.'} Options: {listing(known)}"
            )


def _count(nworld: int | None, controls: Array | None, values: Mapping[str, Array]) -> int:
    """How many worlds: said, or seen from what each of them is given."""
    if nworld is not None:
        return whole("nworld", nworld, 1, "WORLDS")
    if controls is not None and controls.ndim == 3 and len(controls):
        return len(controls)
    for value in values.values():
        if value.ndim and len(value):
            return len(value)
    raise ArgumentError("say how many worlds: nworld=, or controls or values with one row for each")


def _array(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{name} is no array: {problem}") from None
    if array.dtype.kind not in "biuf":
        raise ArgumentError(f"{name} = {shown(value)} should be numbers")
    return array


def _controls(table: Array, nworld: int, nstep: int, nu: int) -> Array:
    """(worlds or 1, steps, nu)."""
    if table.shape == (nstep, nu):
        return table[None]
    if table.shape == (nworld, nstep, nu):
        return table
    raise ArgumentError(
        f"controls has shape {table.shape}; it should be (nstep, nu) = {(nstep, nu)} for the same in all worlds, or "
        f"(nworld, nstep, nu) = {(nworld, nstep, nu)}"
    )


def _recorded(record: Any) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(words("record", record)))
    for name in names:
        spec = DATA_SPECS.get(name)
        if spec is None and ":" not in name:
            raise UnknownFieldError(
                f"record: Data has no field {name!r}{nearest(name, DATA_SPECS) or '.'} "
                "`dovetail fields --owner data` lists them"
            )
        if spec is not None and spec.grows:
            raise ArgumentError(
                f"record: {name} has another length in every step; record what has a fixed one, as ncon or sensordata"
            )
    return names


def _check_start(probe: Simulation, start: Mapping[str, Array], nworld: int) -> None:
    known = [name for name in probe.data.state if not name.startswith(OF_MODEL)]
    for name, value in start.items():
        if name not in known:
            raise UnknownFieldError(
                f"start: {name!r} is no field of the state{nearest(name, known) or '.'} There are: {listing(known)}"
            )
        one = probe.data.field(name).shape[1:]
        if value.shape not in (one, (nworld, *one)):
            raise ArgumentError(
                f"start: {name} has shape {value.shape}, should be {one}, or {(nworld, *one)} with one row for each "
                "world"
            )


def _check_values(probe: Simulation, values: Mapping[str, Array], nworld: int) -> None:
    for name, value in values.items():
        shape = (nworld, *probe.per_world[name].shape[1:])
        if value.shape != shape:
            raise ArgumentError(
                f"values: {name} has shape {value.shape}, should be {shape}: one row for each world"
            )


def _rows(value: Array, ndim: int, part: Block) -> Array:
    return value[part.rows] if value.ndim == ndim else value


def _sigma(noise: object) -> float:
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise < math.inf:
        raise ArgumentError(f"noise = {shown(noise)} should be a finite number, at least 0")
    return float(noise)


def _usual_backend(probe: Simulation) -> str:
    """What most stages run on here, so that it is that everywhere."""
    ran = [text.partition("@")[2].partition("/")[0] for text in probe.plan.implementations.values()]
    return Counter(ran).most_common(1)[0][0] if ran else "numpy"
