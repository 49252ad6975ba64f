"""What a plan says of itself: `explain()`, `lines()` and the segments a step is cut into."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dovetail
from dovetail import Model
from dovetail.config import Config
from dovetail.planning.planner import compile_plan
from dovetail.planning.wrappers import Profiler
from dovetail.registry import Registry

EXPLAINED = """\
plan for 'pendulum': one world, f64, 1 thread, 1 segment a step
   1  kinematics              tree@numpy            (default)
   1  com_position            tree@numpy            (default)
   1  mass_matrix             crb@numpy             (default)
   1  factor_mass             ldl@numpy             (default)
   1  transmission            moment_arms@numpy     (default)
   1  transmission_velocity   moment_product@numpy  (default)
   1  com_velocity            tree@numpy            (default)
   1  passive_force:spring    joint@numpy           (default)
   1  passive_force:damper    joint@numpy           (default)
   1  bias_force              rne@numpy             (default)
   1  actuation               gain_bias@numpy       (default)
   1  actuator_dynamics:none  none@numpy            (default)
   1  actuator_gain:fixed     fixed@numpy           (default)
   1  actuator_bias:none      none@numpy            (default)
   1  smooth_acceleration     mass_solve@numpy      (default)
   1  solve_constraints       unconstrained@numpy   (the model has no constraints)
   1  integrate               rk4@numpy             (call argument)
"""


def test_a_plan_explains_itself_line_by_line(pendulum: Model, registry: Registry) -> None:
    plan = compile_plan(pendulum, Config.of_call({"integrate": "rk4"}), registry=registry)
    *runs, skipped, auto = plan.explain().splitlines(keepends=True)
    assert "".join(runs) == EXPLAINED
    assert auto.startswith("   -  backend auto: numpy, ")
    assert skipped.startswith("   -  not needed by this model: camera_light, ")


def test_the_headline_counts_worlds_threads_and_segments(pendulum: Model, registry: Registry) -> None:
    plan = compile_plan(
        pendulum, Config.of_call(threads=2, lanes=4, precision="f32"), nworld=9, registry=registry
    )
    assert plan.headline() == "plan for 'pendulum': 9 worlds, 4 per tile, f32, 2 threads, 1 segment a step"


def test_providers_wrappers_and_fallbacks_are_told(
    pendulum: Model, registry: Registry, record: Callable[..., object], toy_backend: object
) -> None:
    record("bias_force", name="rne", backend="toy", provider="dovetail-toy")
    plan = compile_plan(
        pendulum, Config.of_call(backend="toy"), registry=registry, wrappers=[Profiler(stages="bias_force")]
    )
    text = plan.explain()
    assert "(backend by call argument; wrapped by profiler; from dovetail-toy)" in text
    assert "(default; fell back: toy wished by call argument: tree has no toy implementation)" in text


def test_lines_carry_the_same_facts_for_programs(pendulum: Model, registry: Registry) -> None:
    lines = {line.slot: line for line in compile_plan(pendulum, Config(), registry=registry).lines()}
    assert lines["integrate"].implementation == "euler@numpy"
    assert lines["integrate"].origin == "model option integrator=euler"
    assert lines["actuator_gain:fixed"].segment == lines["actuation"].segment == 1


def test_segments_are_runs_of_one_backend(
    pendulum: Model, registry: Registry, record: Callable[..., object], toy_backend: object
) -> None:
    record("bias_force", name="rne", backend="toy")
    plan = compile_plan(pendulum, Config.of_call({"bias_force": "@toy"}), registry=registry)
    assert [{slot.record.backend for slot in group} for group in plan.segments()] == [
        {"numpy"},
        {"toy"},
        {"numpy"},
    ]
    data = plan.make_data()
    plan.step(data, 2)
    assert data.time == pytest.approx(0.004)


def test_a_simulation_shows_model_and_worlds(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum, nworld=3)
    assert repr(sim).startswith("<dovetail.Simulation of <dovetail.Model 'pendulum': nq=1")
    assert "3 worlds, f64" in repr(sim)
