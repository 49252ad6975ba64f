"""Ways to put another implementation into one slot, and what came of it.

Every way computes the same as the reference; only where and how differs. So the motion must be the reference's, or
the plan must refuse, by a typed error, when it is made.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import attrs
import numpy as np
from lane_backend import LANES
from swap_models import TOLERANCES, model, start

import dovetail
from dovetail import pipeline
from dovetail.compare.errors import relative_error
from dovetail.config import Config
from dovetail.contracts.enums import ConstraintType
from dovetail.contracts.fields import Array
from dovetail.errors import DovetailError
from dovetail.implementation import Implementation
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.plugins.shared.rows.append_numpy import append_rows
from dovetail.registry import Registry, default_registry

STEPS = 20
TOLERANCE = 1e-9
KEEP = ("sensordata", "energy")
"""Little, so that what passes between backends is what the plan thinks it must be."""

IN_LANES: Mapping[str, str] = {"backend": LANES}
Stages = Mapping[str, str | Callable[..., Any]]


# ---- what is swapped


@cache
def reference_plan(name: str, nworld: int, extra: str = "") -> Plan:
    """Everything on NumPy, perhaps with a row of `OWN_ROWS`."""
    stages = {extra: OWN_ROWS[extra]} if extra else None
    return dovetail.Simulation(model(name), nworld=nworld, backend="numpy", keep=KEEP, stages=stages).plan


def slots(name: str) -> list[str]:
    """Every stage, row and part that runs for a model."""
    return list(dict.fromkeys(line.slot for line in reference_plan(name, 2).lines()))


def reference_record(name: str, slot: str) -> Implementation:
    """What the reference plan runs in a slot."""
    return reference_plan(name, 2).choices[slot].record


# ---- ways


def plain(target: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the caller's own with the same arguments and the same answer."""

    @functools.wraps(target)
    def mine(*arguments: Any, **named: Any) -> Any:
        return target(*arguments, **named)

    return mine


def opaque(target: Callable[..., Any]) -> Callable[..., Any]:
    """The same, which looks at single numbers and remembers: nothing that could become a kernel."""
    seen: list[float] = []

    @functools.wraps(target)
    def mine(*arguments: Any, **named: Any) -> Any:
        seen.extend(float(number) for a in arguments if isinstance(a, np.ndarray) for number in a.flat)
        if any(number != number for number in seen):
            raise AssertionError("a rule was given what is no number")
        return target(*arguments, **named)

    return mine


def simulated(name: str, nworld: int, stages: Stages, **settings: str) -> Plan:
    """The plan of a Simulation, the front door."""
    settings = {**IN_LANES, **settings}
    return dovetail.Simulation(model(name), nworld=nworld, keep=KEEP, stages=stages, **settings).plan  # type: ignore[arg-type]


def numpy_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: "@numpy"})


def lanes_in_numpy(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: f"@{LANES}"}, backend="numpy")


def function_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: plain(reference_record(name, slot).load())})


def opaque_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: opaque(reference_record(name, slot).load())})


def function_in_numpy(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: opaque(reference_record(name, slot).load())}, backend="numpy")


def acme(record: Implementation) -> Implementation:
    """What a package by someone else would register for the same slot, on NumPy."""
    function = opaque(record.load())
    return attrs.evolve(record, name="acme", provider="acme", default=False, function=function)


def with_record(record: Implementation) -> Registry:
    """The installed records and one more, in a registry of one's own."""
    registry, _ = default_registry().extended({})
    registry.add(record)
    return registry


def thirdparty_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    registry = with_record(acme(reference_record(name, slot)))
    config = Config.of_call({slot: "acme@numpy"}, keep=KEEP, **IN_LANES)
    return compile_plan(model(name), config, nworld=nworld, registry=registry)


WAYS: Mapping[str, Callable[[str, str, int], Plan]] = {
    "numpy_in_lanes": numpy_in_lanes,
    "lanes_in_numpy": lanes_in_numpy,
    "function_in_lanes": function_in_lanes,
    "opaque_in_lanes": opaque_in_lanes,
    "function_in_numpy": function_in_numpy,
    "thirdparty_in_lanes": thirdparty_in_lanes,
}


# ---- rows that only a plugin has


def breeze(model: Any, data: Any) -> None:
    """A passive force of a plugin's own."""
    data.qfrc_passive[:] += 0.05 - 0.02 * data.qvel


def fence(model: Any, data: Any) -> None:
    """A constraint row of a plugin's own: a wall that the first dof is a centimetre behind."""
    inwards = np.zeros((1, model.nv))
    inwards[0, 0] = -1.0
    append_rows(model, data, ConstraintType.LIMIT_JOINT, inwards, np.array([-0.01 - data.qpos[0]]))


def push(model: Any, data: Any) -> None:
    """Something that happens before each step."""
    data.qfrc_applied[0] = 0.1 * np.sin(10.0 * data.time)


OWN_ROWS: Mapping[str, Callable[..., Any]] = {
    "passive_force:acme": breeze,
    "constraint_rows:acme": fence,
    "step_begin": push,
}


def own_row_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    return simulated(name, nworld, {slot: OWN_ROWS[slot]})


def own_record_in_lanes(name: str, slot: str, nworld: int) -> Plan:
    record = attrs.evolve(Implementation.of_function(slot, OWN_ROWS[slot]), name="acme", provider="acme")
    config = Config.of_call({slot: "acme@numpy"}, keep=KEEP, **IN_LANES)
    return compile_plan(model(name), config, nworld=nworld, registry=with_record(record))


# ---- what came of it


def motion(plan: Plan, steps: int = STEPS) -> dict[str, Array]:
    """The state after some steps, a warning counting as an error."""
    data = plan.make_data()
    start(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan.step(data, steps)
    return {name: np.array(data.field(name)) for name in ("qpos", "qvel", "act", "qacc_warmstart", *KEEP)}


@cache
def reference_motion(name: str, nworld: int, extra: str = "") -> Mapping[str, Array]:
    return motion(reference_plan(name, nworld, extra))


def outputs(slot: str) -> set[str]:
    return set(pipeline.stage(slot.partition(":")[0]).writes)


def unheard(plan: Plan, reference: Plan) -> dict[str, set[str]]:
    """Slots that the reference runs and the plan leaves out, although a running stage reads what they write."""
    missing = set(plan.idle) - set(reference.idle)
    found = {}
    for slot in missing:
        stage = slot.partition(":")[0]
        readers = [s for s in plan.slots if s.stage.name != stage]
        read = outputs(slot) & set().union(*(s.reads for s in readers))
        written_by_others = set().union(*(s.writes for s in plan.slots if s.stage.name != stage))
        if read - written_by_others:
            found[slot] = read - written_by_others
    return found


def errors(found: Mapping[str, Array], expected: Mapping[str, Array]) -> dict[str, float]:
    """Largest relative error of each field; infinite where something is no number."""
    return {name: float(relative_error(found[name], expected[name])) for name in expected}


Way = Callable[[str, str, int], Plan]


def planned(make: Callable[[], Plan]) -> tuple[Plan | None, str]:
    """The plan, or why it was refused; anything but a typed error goes on up."""
    try:
        return make(), ""
    except DovetailError as error:
        return None, f"{type(error).__name__}: {error}"


def refusal(way: Way, name: str, slot: str, nworld: int) -> tuple[Plan | None, str]:
    """The plan of a mix, or why it was refused."""
    return planned(lambda: way(name, slot, nworld))


def check(plan: Plan, name: str, nworld: int, extra: str = "") -> None:
    """The plan leaves nothing out that is read, and moves as the reference does."""
    reference = reference_plan(name, nworld, extra)
    assert not unheard(plan, reference), plan.explain()
    far = errors(motion(plan), reference_motion(name, nworld, extra))
    assert max(far.values()) <= TOLERANCES.get(name, TOLERANCE), f"{far}\n{plan.explain()}"
