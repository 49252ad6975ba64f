"""A/B comparison, diff and shadow: they find what differs, name it, and leave the run alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.ab import compare
from dovetail.compare.diff import diff
from dovetail.compare.errors import Worst, compare_data
from dovetail.compare.shadow import DeviationError, DeviationWarning, Shadow
from dovetail.compare.states import randomize
from dovetail.contracts.types import DATA_SPECS
from dovetail.errors import SelectionError, UnknownImplementationError, UnknownStageError, ValidationError
from dovetail.implementation import Implementation
from dovetail.plugins.mass_matrix import crb_numpy
from dovetail.registry import Registry, build_registry
from dovetail.testing.samples import sample

OFF = 1e-6
"""How far the wrong implementation is off, relative."""


def slightly_wrong(model: Any, data: Any) -> None:
    """The reference, then one entry a little too large."""
    crb_numpy.mass_matrix(model, data)
    data.M[0] *= 1.0 + OFF


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The built-in records and one that is slightly wrong, `mass_matrix wrong@numpy`."""
    module = ModuleType("wrong_stages")
    module.mass_matrix = slightly_wrong  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wrong_stages", module)
    registry = build_registry(third_party=False)
    registry.add(
        Implementation(
            stage="mass_matrix",
            name="wrong",
            backend="numpy",
            target="wrong_stages:mass_matrix",
            reads="cinert cdof",
            writes="crb qM M",
            summary="Wrong by a millionth",
        )
    )
    monkeypatch.setattr("dovetail.registry._cached", ("", registry))
    monkeypatch.delenv("DOVETAIL_DISABLED_PLUGINS", raising=False)
    return registry


# ---- compare


def test_an_implementation_agrees_with_itself() -> None:
    report = compare(sample("chain"), "mass_matrix", "crb@numpy", "crb@numpy", steps=3)
    assert report.ok
    assert report.worst() == 0.0
    assert {row.field for row in report.rows} == {"M", "crb", "qM"}


def test_difference_is_found_measured_and_named(registry: Registry) -> None:
    report = compare(sample("chain"), "mass_matrix", "crb@numpy", "wrong@numpy", steps=3, registry=registry)
    assert not report.ok
    (row,) = report.failures
    assert row.field == "M"
    assert 0.0 < row.error <= OFF * (1 + 1e-9)
    assert "FAIL" in report.table()
    assert "differ in 1 field(s)" in report.headline()


def test_times_of_both_are_reported_in_pairs() -> None:
    report = compare(sample("chain"), "kinematics", "tree@numpy", "tree@numpy", steps=4, repeat=2)
    assert report.comparisons == 8
    assert report.microseconds_a > 0.0
    assert report.microseconds_b > 0.0
    assert 0.1 < report.speedup < 10.0


def test_report_is_json() -> None:
    report = compare(sample("chain"), "bias_force", "rne@numpy", "rne@numpy", steps=1)
    text = json.loads(json.dumps(report.to_dict()))
    assert text["ok"] is True
    assert text["rows"][0]["field"] == "qfrc_bias"


@pytest.mark.parametrize(("precision", "limit"), [("f64", 1e-9), ("f32", 1e-3)])
@pytest.mark.parametrize("stage", ["mass_matrix", "passive_force:spring", "integrate"])
def test_numpy_and_taichi_agree_in_either_precision(stage: str, precision: str, limit: float) -> None:
    name = {"mass_matrix": "crb", "passive_force:spring": "joint", "integrate": "euler"}[stage]
    report = compare(
        sample("chain"), stage, f"{name}@numpy", f"{name}@{LANES}", steps=3, nworld=3, precision=precision
    )
    assert report.ok, report.table()
    assert report.worst() <= limit


CROSSED = """
<mujoco model="crossed">
  <option><flag constraint="disable"/></option>
  <worldbody><body><joint name="a" axis="0 0 1"/><geom size=".1" pos=".3 0 0"/>
    <body pos=".3 0 0"><joint name="b" axis="0 0 1"/><geom size=".1" pos=".3 0 0"/>
      <site name="end" pos=".3 0 0"/></body>
  </body></worldbody>
  <actuator><motor site="end" gear="0 0 1 0 0 0"/><motor joint="b"/></actuator>
</mujoco>
"""
"""The first actuator pushes along the joints' axes: its moments are zero, and the reference does not store them."""


def test_sparse_matrices_of_two_backends_are_compared_as_matrices() -> None:
    report = compare(
        dovetail.loads(CROSSED),
        "transmission",
        "moment_arms@numpy",
        f"moment_arms@{LANES}",
        steps=2,
        nworld=3,
    )
    assert report.ok, report.table()
    assert {row.field for row in report.rows} == {"actuator_length", "actuator_moment"}


def test_a_wrong_entry_of_a_sparse_matrix_is_found() -> None:
    model = dovetail.loads(CROSSED)
    plans = [dovetail.compile_plan(model, nworld=2) for _ in range(2)]
    first, second = (plan.make_data() for plan in plans)
    for plan, data in zip(plans, (first, second), strict=True):
        plan.forward(data)
    second.world(1).actuator_moment[0] += 0.25
    worst = Worst(model)
    compare_data(worst, "transmission", [DATA_SPECS["actuator_moment"]], first, second, reference=False)
    (row,) = worst.sorted_rows()
    assert not row.ok
    assert row.where.startswith("[1][1]")


@pytest.mark.slow
def test_a_chain_is_compared_as_a_whole() -> None:
    for slot, name in (("solve_constraints", "newton"), ("sensor:touch", "touch")):
        report = compare(sample("resting"), slot, f"{name}@numpy", f"{name}@{LANES}", steps=2, nworld=3)
        assert report.ok, report.table()
        assert {"qacc", "qfrc_constraint", "cfrc_ext", "sensordata"} <= {row.field for row in report.rows}


def test_rows_of_a_part_table_are_compared_inside_their_dispatcher() -> None:
    report = compare(
        sample("chain"), "actuator_gain:affine", "affine@numpy", f"affine@{LANES}", steps=2, nworld=2
    )
    assert "actuator_force" in {row.field for row in report.rows}
    assert report.ok, report.table()


def test_integrators_with_other_evaluation_counts_cannot_be_compared_call_by_call() -> None:
    with pytest.raises(SelectionError, match=r"1 evaluation\(s\) per step and rk4@numpy 4"):
        compare(sample("chain"), "integrate", "euler@numpy", "rk4@numpy", steps=1)


def test_unknown_names_are_errors_that_help() -> None:
    with pytest.raises(UnknownStageError, match="did you mean 'mass_matrix'"):
        compare(sample("chain"), "mass_matrx", "a@numpy", "b@numpy")
    with pytest.raises(UnknownImplementationError, match=r"did you mean 'crb@numpy'"):
        compare(sample("chain"), "mass_matrix", "crb@nump", "crb@numpy")


def test_stage_the_model_does_without_is_an_error_that_says_so() -> None:
    with pytest.raises(SelectionError, match="actuation does not run for model 'undriven'"):
        compare(sample("undriven"), "actuation", "gain_bias@numpy", "gain_bias@numpy")


# ---- diff


def test_diff_of_a_copy_is_empty() -> None:
    sim = dovetail.Simulation(sample("loose"))
    sim.step(3)
    report = diff(sim.data, sim.data.copy())
    assert report.identical
    assert report.ok


def test_diff_lists_what_differs_worst_first() -> None:
    sim = dovetail.Simulation(sample("loose"))
    sim.step(3)
    other = sim.data.copy()
    other.qpos[0] += 1e-3
    other.xpos[1, 2] += 1e-12
    report = diff(sim.data, other)
    assert [row.field for row in report.rows if row.error > 0.0] == ["qpos", "xpos"]
    assert [row.field for row in report.failures] == ["qpos"]
    assert '(joint "free")' in report.table()


def test_diff_reports_fields_only_one_has() -> None:
    model = sample("chain")
    report = diff(dovetail.make_data(model, keep="state"), dovetail.make_data(model, keep=("xpos",)))
    assert report.only_second == ("xpos",)


def test_diff_of_what_does_not_fit_is_refused() -> None:
    model = sample("chain")
    with pytest.raises(ValidationError, match="nworld is None and 2"):
        diff(dovetail.make_data(model), dovetail.make_data(model, 2))


# ---- shadow


def run_with(shadow: Shadow, steps: int = 4, **options: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(sample("chain"), nworld=2, wrap=[shadow], **options)
    randomize(sim.data, np.random.default_rng(1))
    sim.step(steps)
    return sim


def test_shadow_that_agrees_changes_nothing() -> None:
    shadow = Shadow("mass_matrix", "crb@numpy", on_deviation="raise")
    with_shadow = run_with(shadow)
    plain = dovetail.Simulation(sample("chain"), nworld=2)
    randomize(plain.data, np.random.default_rng(1))
    plain.step(4)
    assert shadow.ok
    assert shadow.comparisons == 4
    assert with_shadow.data.qpos.tobytes() == plain.data.qpos.tobytes()


@pytest.mark.usefixtures("registry")
def test_shadow_records_deviations() -> None:
    shadow = Shadow("mass_matrix", "wrong@numpy")
    run_with(shadow)
    assert [row.field for row in shadow.failures] == ["M"]
    assert "mass_matrix beside wrong@numpy: 4 comparisons" in shadow.table()
    assert json.loads(json.dumps(shadow.to_dict()))["ok"] is False


@pytest.mark.usefixtures("registry")
def test_shadow_raises_or_warns_if_asked() -> None:
    with pytest.raises(DeviationError, match=r"mass_matrix deviates from wrong@numpy: mass_matrix M\[0\]"):
        run_with(Shadow("mass_matrix", "wrong@numpy", on_deviation="raise"))
    with pytest.warns(DeviationWarning, match="mass_matrix deviates"):
        run_with(Shadow("mass_matrix", "wrong@numpy", on_deviation="warn"), steps=1)


@pytest.mark.usefixtures("registry")
def test_shadow_tolerance_can_be_set() -> None:
    shadow = Shadow("mass_matrix", "wrong@numpy", tolerance=10 * OFF)
    run_with(shadow)
    assert shadow.ok


def test_reference_shadows_a_taichi_stage() -> None:
    for stage, implementation in (("bias_force", "rne@numpy"), ("integrate", "euler@numpy")):
        shadow = Shadow(stage, implementation, on_deviation="raise")
        sim = run_with(shadow, backend=LANES, keep=("site_xpos",))
        assert shadow.comparisons == 4
        assert len(sim.plan.segments()) <= 3


def test_shadow_of_runge_kutta_follows_its_evaluations() -> None:
    shadow = Shadow("integrate", "rk4@numpy", on_deviation="raise")
    run_with(shadow, stages={"integrate": "rk4"})
    assert shadow.comparisons == 16


def test_shadow_with_another_number_of_evaluations_is_refused() -> None:
    with pytest.raises(SelectionError, match="cannot run side by side"):
        run_with(Shadow("integrate", "rk4@numpy"))


# ---- fixtures of the pytest plugin


def test_fixtures_check_and_return_reports(
    dovetail_model: Callable[..., Any], compare_stage: Callable[..., Any]
) -> None:
    model = dovetail_model("pendulum")
    report = compare_stage(model, "kinematics", "tree@numpy", "tree@numpy", steps=2)
    assert report.ok


@pytest.mark.usefixtures("registry")
def test_fixture_fails_with_the_table(compare_stage: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match="crb@numpy and wrong@numpy differ in 1 field"):
        compare_stage(sample("chain"), "mass_matrix", "crb@numpy", "wrong@numpy", steps=2)
