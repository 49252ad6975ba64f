"""What happens on a worker: a batch is put into a state, stepped to the next checkpoint, and its state given back.

Nothing is remembered from one task to the next but the compiled Simulation. Errors are returned as text, since an
exception of somebody's own may not be known where it arrives.
"""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from dovetail.arguments import controls_misfit
from dovetail.bad_states import StateWarning
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.distributed.blocks import Block
from dovetail.distributed.pool import FORGOT
from dovetail.errors import ArgumentError, DovetailError
from dovetail.planning.costs import Clock, watch
from dovetail.simulation import Simulation

Policy = Callable[[Data, int, Array], Any]
"""Controls of the worlds of a block: a function of their Data, the number of the step, and the numbers of the
worlds."""
Summary = Callable[[dict[str, Array]], Mapping[str, Any]]
"""Reduces the records of some worlds, (worlds, samples, …) by name, to arrays with one row per world."""


@attrs.frozen(eq=False)
class Job:
    """What is the same for all blocks."""

    model: Model
    options: Mapping[str, Any]
    """Of `Simulation`."""
    implementations: Mapping[str, str]
    """What shall run for every slot, so that it is the same everywhere."""
    record: tuple[str, ...]
    every: int
    policy: Policy | None
    keyframe: int | str | None
    noise: float
    seed: int
    values: tuple[str, ...]
    summary: Summary | None
    sizes: tuple[int, ...]
    """Of the blocks."""

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """What somebody wrote for it."""
        own = [self.policy, self.summary, *(self.options.get("stages") or {}).values()]
        return [function for function in own if callable(function)]


@attrs.frozen(eq=False)
class Inputs:
    """What one block is given: rows of its worlds, or what is the same for all."""

    controls: Array | None
    """(worlds or 1, steps, nu)."""
    start: Mapping[str, Array]
    values: Mapping[str, Array]

    @property
    def nbytes(self) -> int:
        arrays = (*self.start.values(), *self.values.values())
        return sum(array.nbytes for array in arrays) + (0 if self.controls is None else self.controls.nbytes)


class Step:
    """How far a task has come, for messages."""

    number = 0


class RolloutWorker:
    """One batch at a time."""

    def __init__(self) -> None:
        self._simulations: dict[int, Simulation] = {}
        self._clocks: dict[int, Clock | None] = {}
        self.job: Job | None = None

    def ready(self, job: Sequence[Any]) -> dict[str, Any]:
        """Get ready to work: the job is fetched, and its stages are found. Its reference comes in a list, so that Ray
        leaves the fetching, and problems with it, to us."""
        import ray

        try:
            known: Job = ray.get(job[0])
            self.job = known
            self._simulation(known, known.sizes[0])
        except Exception as problem:
            return {"error": told(problem)}
        return {"error": None, "process": os.getpid()}

    def advance(
        self,
        block: Block,
        inputs: Inputs,
        state: Mapping[str, Array] | None,
        first: int,
        last: int,
        fields: int,
    ) -> tuple[Any, ...]:
        """Steps `first` to `last` (exclusive) of a block, from a state or from its start: a report with the state
        reached, and an array (worlds, samples, …) for each recorded field."""
        if self.job is None:
            return {"error": FORGOT}, *(None for _ in range(fields))
        step, began, used = Step(), time.perf_counter(), time.process_time()
        step.number = first
        try:
            with _collected() as heard:
                sim = self._simulation(self.job, block.count)
                if state is None:
                    begin(sim, self.job, block, inputs)
                else:
                    put(sim, state)
                records = self._steps(self.job, sim, block, inputs, step, last)
                reached = take(sim)
        except Exception as problem:
            return {"error": f"step {step.number}: {told(problem)}"}, *(None for _ in range(fields))
        report = {
            "error": None,
            "state": reached,
            "warnings": heard,
            "seconds": time.perf_counter() - began,
            "processor": time.process_time() - used,
            "spent": self._spent(block.count),
        }
        return report, *records

    def _spent(self, count: int) -> dict[str, float]:
        """Seconds by the choice that took them since this was last asked, where choices can cost much."""
        clock = self._clocks[count]
        if clock is None:
            return {}
        spent = dict(clock.seconds)
        clock.reset()
        return spent

    def _steps(
        self, job: Job, sim: Simulation, block: Block, inputs: Inputs, step: Step, last: int
    ) -> list[Array]:
        samples = last // job.every - step.number // job.every
        records = [_room(sim, name, samples) for name in job.record]
        worlds, taken = block.worlds, 0
        alone = job.policy is not None or inputs.controls is not None
        while step.number < last:
            if job.policy is not None:
                sim.data.ctrl = controls_of(job.policy, sim, step.number, worlds)
            elif inputs.controls is not None:
                sim.data.ctrl = inputs.controls[:, step.number]
            until = job.every - step.number % job.every
            count = 1 if alone else min(until, last - step.number)
            sim.step(count)
            step.number += count
            if step.number % job.every == 0:
                for name, values in zip(job.record, records, strict=True):
                    values[:, taken] = sim.data.field(name)
                taken += 1
        return records

    def summarise(self, block: Block, *arrays: Array) -> dict[str, Any]:
        """The summary of a block from its records: all fields of the first chunk, then of the next."""
        if self.job is None:
            return {"error": FORGOT}
        names, summary = self.job.record, self.job.summary
        assert summary is not None
        try:
            with _collected() as heard:
                records = {n: np.concatenate(arrays[i :: len(names)], axis=1) for i, n in enumerate(names)}
                result = {str(name): np.asarray(v) for name, v in summary(records).items()}
                for name, value in result.items():
                    if value.shape[:1] != (block.count,):
                        raise ValueError(
                            f"{name!r} has shape {value.shape}; a summary has one row for each of the "
                            f"{block.count} worlds"
                        )
        except Exception as problem:
            return {"error": told(problem)}
        return {"error": None, "summary": result, "warnings": heard}

    def _simulation(self, job: Job, count: int) -> Simulation:
        sim = self._simulations.get(count)
        if sim is None:
            sim = Simulation(job.model, nworld=count, **job.options, per_world=job.values)
            check_same(job.implementations, sim.plan.implementations)
            self._simulations[count] = sim
            self._clocks[count] = watch(sim.plan)
        return sim


def controls_of(policy: Policy, sim: Simulation, step: int, worlds: Array) -> Any:
    """What a policy says. NaN goes on, and is a bad control as everywhere."""
    controls = policy(sim.data, step, worlds)
    problem = controls_misfit(controls, len(worlds), sim.model.nu)
    if problem:
        name = getattr(policy, "__qualname__", None) or type(policy).__qualname__
        raise ArgumentError(
            f"the policy {name} returned {problem} at step {step}; it should return numbers of shape "
            f"{(len(worlds), sim.model.nu)}: a world a row, an actuator a column"
        )
    return controls


def check_same(wanted: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Whether a worker would run what the others run."""
    other = [slot for slot in wanted if wanted[slot] != here.get(slot)]
    if other:
        slot = other[0]
        raise DovetailError(
            f"{slot} would run as {here.get(slot, 'nothing')} on this machine, and as {wanted[slot]} where the "
            "rollout was asked for: install the same versions on all machines, or name a backend that all have"
        )


def begin(sim: Simulation, job: Job, block: Block, inputs: Inputs) -> None:
    """Where the worlds of a block start. What is random follows from the seed and the number of the world."""
    for name, value in inputs.values.items():
        sim.per_world[name][...] = value
    if inputs.values:
        sim.set_constants()
    sim.reset(job.keyframe)
    for name, value in inputs.start.items():
        sim.data.field(name)[...] = value
    if job.noise > 0:
        nv = sim.model.nv
        draws = [np.random.default_rng([job.seed, int(w)]).standard_normal(nv) for w in block.worlds]
        sim.data.qvel = np.asarray(sim.data.qvel) + job.noise * np.array(draws)


def take(sim: Simulation) -> dict[str, Array]:
    """The state, with the values that worlds have for themselves: all that the next step depends on."""
    return {name: np.array(sim.data.field(name)) for name in sim.data.state}


def put(sim: Simulation, state: Mapping[str, Array]) -> None:
    """Go on from a state."""
    sim.reset()
    for name, value in state.items():
        sim.data.field(name)[...] = value


def _room(sim: Simulation, name: str, samples: int) -> Array:
    """For the samples of a field, (worlds, samples, …)."""
    field = sim.data.field(name)
    return np.empty((field.shape[0], samples, *field.shape[1:]), field.dtype)


def told(problem: Exception) -> str:
    """An error as text, with the line of the user's own code where it happened."""
    text = f"{type(problem).__name__}: {problem}"
    frames = traceback.extract_tb(problem.__traceback__)
    if isinstance(problem, DovetailError) or not frames:
        return text
    return f"{text} (in {frames[-1].name}, {os.path.basename(frames[-1].filename)}:{frames[-1].lineno})"


@contextmanager
def _collected() -> Iterator[list[tuple[type[Warning], str]]]:
    """Warnings, each once, to be given where they are seen."""
    found: list[tuple[type[Warning], str]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield found
        finally:
            meant = [w for w in caught if issubclass(w.category, UserWarning | RuntimeWarning)]
            kinds = {(_kind(w.category), str(w.message)) for w in meant}
            found.extend(sorted(kinds, key=lambda entry: entry[1]))


def _kind(category: type[Warning]) -> type[Warning]:
    """A category that is known everywhere."""
    return StateWarning if issubclass(category, StateWarning) else UserWarning
