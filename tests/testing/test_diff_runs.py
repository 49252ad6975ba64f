"""Two runs compared: a fault is found in its stage, chaos is no error, and nothing compared is no agreement."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from lane_backend import LANES

from dovetail.backend import REFERENCE
from dovetail.compare import diff_runs
from dovetail.compare.free_run import judged
from dovetail.compare.run_specs import RunSpec
from dovetail.compare.timeline import relative, ulps_between
from dovetail.errors import FileFormatError, SelectionError, ValidationError
from dovetail.registry import default_registry
from dovetail.testing.samples import compiled, sample

Spoil = Callable[[Any], None]


@attrs.frozen
class Fault:
    """A stage that is right but for one thing."""

    slot: str
    model: str
    field: str
    kind: str
    spoil: Spoil | None = None
    """What goes wrong after the stage; None: the field stays as it was (stale)."""


def times(field: str, factor: float) -> Spoil:
    def spoil(data: Any) -> None:
        data.field(field)[...] *= factor

    return spoil


def single(field: str) -> Spoil:
    def spoil(data: Any) -> None:
        data.field(field)[...] = np.asarray(data.field(field)).astype(np.float32)

    return spoil


def without(field: str, *where: Any) -> Spoil:
    def spoil(data: Any) -> None:
        data.field(field)[where] = 0.0

    return spoil


def swapped(field: str, *order: int) -> Spoil:
    def spoil(data: Any) -> None:
        data.field(field)[...] = np.array(data.field(field))[..., list(order)]

    return spoil


def shifted(field: str) -> Spoil:
    def spoil(data: Any) -> None:
        data.field(field)[...] += 1

    return spoil


SLIDING = """
<mujoco model="sliding">
  <option {options}/>
  <worldbody>
    <geom type="plane" size="5 5 .1" friction=".9"/>
    <body name="box" pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" friction=".4"/></body>
  </worldbody>
</mujoco>
"""
OWN = {"sliding": SLIDING.format(options='noslip_iterations="2"')}


def model_of(fault: Fault) -> Any:
    return compiled(OWN[fault.model]) if fault.model in OWN else sample(fault.model)


def start_of(fault: Fault) -> str:
    return "rest" if fault.model in OWN else "random"


TRANSPOSED = (0, 3, 6, 1, 4, 7, 2, 5, 8)

FAULTS = [
    Fault("kinematics", "loose", "xmat", "swapped frame", swapped("xmat", *TRANSPOSED)),
    Fault("com_position", "chain", "cinert", "missing term", without("cinert", slice(None), slice(3, 6))),
    Fault("camera_light", "loose", "cam_xpos", "sign", times("cam_xpos", -1.0)),
    Fault("tendon", "touching", "ten_length", "factor", times("ten_length", 1.001)),
    Fault("mass_matrix", "chain", "M", "f32", single("M")),
    Fault("factor_mass", "chain", "qLDiagInv", "sign", times("qLDiagInv", -1.0)),
    Fault("broadphase", "touching", "candidate_geom", "swapped", swapped("candidate_geom", 1, 0)),
    Fault("narrowphase", "touching", "contact.frame", "sign", times("contact.frame", -1.0)),
    Fault("contact_params", "touching", "contact.friction", "factor", times("contact.friction", 0.5)),
    Fault("constraint_rows:equality", "touching", "efc_pos", "sign", times("efc_pos", -1.0)),
    Fault("constraint_rows:contact", "touching", "efc_D", "factor", times("efc_D", 1.001)),
    Fault("islands", "touching", "dof_island", "off by one", shifted("dof_island")),
    Fault("transmission", "chain", "actuator_length", "factor", times("actuator_length", 0.5)),
    Fault("transmission_velocity", "chain", "actuator_velocity", "stale"),
    Fault("com_velocity", "chain", "cvel", "swapped frame", swapped("cvel", 3, 4, 5, 0, 1, 2)),
    Fault("passive_force:spring", "chain", "qfrc_spring", "sign", times("qfrc_spring", -1.0)),
    Fault("constraint_reference", "touching", "efc_aref", "missing term", without("efc_aref", 0)),
    Fault("bias_force", "chain", "qfrc_bias", "missing term", without("qfrc_bias", 0)),
    Fault("actuation", "chain", "actuator_force", "f32", single("actuator_force")),
    Fault("smooth_acceleration", "chain", "qacc_smooth", "stale"),
    Fault("solve_constraints", "touching", "qfrc_constraint", "sign", times("qfrc_constraint", -1.0)),
    Fault("noslip", "sliding", "efc_force", "factor", times("efc_force", 1.5)),
    Fault("energy", "chain", "energy", "missing term", without("energy", 1)),
    Fault("integrate", "chain", "qvel", "f32", single("qvel")),
]


def test_there_are_24_faults_in_24_stages() -> None:
    assert len({fault.slot for fault in FAULTS}) == 24


def faulty(fault: Fault, every: int = 1) -> Callable[..., None]:
    """The default implementation of a stage on the reference with a fault, in every so many calls."""
    records = [r for r in default_registry().of(fault.slot) if r.backend == REFERENCE]
    if fault.slot == "solve_constraints":
        records = [r for r in records if r.name == "newton"]
    right = next((r for r in records if r.default), records[0]).load()
    calls = count()

    def broken(model: Any, data: Any, *rest: Any) -> None:
        stale = np.array(data.field(fault.field)) if fault.spoil is None else None
        right(model, data, *rest)
        if next(calls) % every != every - 1:
            return
        if fault.spoil is not None:
            fault.spoil(data)
        else:
            data.field(fault.field)[...] = stale

    names = list(inspect.signature(right).parameters)
    broken.__signature__ = inspect.signature(right)  # type: ignore[attr-defined]
    assert names[:2] == ["model", "data"]
    return broken


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.slot)
def test_a_fault_is_found_in_its_stage(fault: Fault) -> None:
    report = diff_runs(model_of(fault), {}, {fault.slot: faulty(fault)}, steps=2, start=start_of(fault))
    assert report.first is not None
    assert (report.first.stage, report.first.field) == (fault.slot, fault.field)
    assert {d.stage for d in report.divergences} == {fault.slot}, "echoes"
    assert report.exit_code == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.slot)
def test_a_fault_in_one_world_of_a_batch_is_found_there(fault: Fault) -> None:
    wrong = {fault.slot: faulty(fault, every=2)}
    report = diff_runs(model_of(fault), {}, wrong, steps=2, nworld=2, start=start_of(fault))
    assert report.first is not None
    assert (report.first.stage, report.first.field) == (fault.slot, fault.field)
    assert report.first.world == 1


# ---- no fault, no finding


@pytest.mark.parametrize("name", ["chain", "loose", "touching", "sticky", "slippery"])
def test_an_unchanged_pair_agrees_bit_for_bit(name: str) -> None:
    report = diff_runs(sample(name), "numpy", {"backend": "numpy"}, steps=2, start="random", mode="both")
    assert report.verdict == "agree", report.table()
    assert report.exit_code == 0
    assert "bit for bit" in report.headline()
    assert all(row.error == 0.0 for row in report.rows)
    assert report.free is not None
    assert report.free.verdict == "same"


def test_lanes_agree_with_the_reference_stage_by_stage() -> None:
    report = diff_runs(sample("chain"), "numpy", LANES, steps=2, nworld=3, start="random")
    assert report.verdict == "agree", report.table()
    assert any(stage.b.endswith(f"@{LANES}") for stage in report.stages)
    assert any(stage.stage == "whole step" for stage in report.stages)


def test_a_kernel_may_drive_and_its_faulty_successor_is_found() -> None:
    fault = next(f for f in FAULTS if f.slot == "bias_force")
    report = diff_runs(sample("chain"), LANES, {fault.slot: faulty(fault)}, steps=2, start="random")
    assert report.first is not None
    assert (report.first.stage, report.first.field) == (fault.slot, fault.field)


# ---- chaos and error

DOUBLE = """
<mujoco model="double">
  <option timestep=".01" integrator="RK4"/>
  <worldbody>
    <body><joint name="upper" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/>
      <body pos="0 0 -.5"><joint name="lower" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></body>
  </worldbody>
  <keyframe><key name="up" qpos="3 .1"/></keyframe>
</mujoco>
"""


def test_a_nudge_of_one_ulp_is_chaos_and_no_error() -> None:
    report = diff_runs(compiled(DOUBLE), LANES, f"{LANES},nudge", steps=1500, start="up", mode="free")
    assert report.free is not None
    assert report.free.verdict == "chaos"
    assert max(report.free.errors["qpos"]) > 1e-7, "it should have grown"
    assert report.verdict == "agree"
    assert "chaos" in report.table()


def test_a_relative_fault_of_a_billionth_is_an_error_and_no_chaos() -> None:
    fault = Fault("bias_force", "", "qfrc_bias", "factor", times("qfrc_bias", 1.0 + 1e-9))
    report = diff_runs(compiled(DOUBLE), {}, {fault.slot: faulty(fault)}, steps=60, start="up", mode="free")
    assert report.free is not None
    assert report.free.verdict == "error"
    assert report.exit_code == 1
    assert "ERROR from step" in report.table()


def test_what_exceeds_the_growth_of_a_nudge_is_an_error_from_there() -> None:
    growth = {"qpos": [1e-16, 1e-14, 1e-12, 1e-10]}
    assert judged({"qpos": [1e-16, 1e-13, 1e-11, 5e-9]}, growth)[-1] in ("same", "chaos")
    assert judged({"qpos": [1e-16, 1e-13, 1e-5, 1e-3]}, growth)[2:] == ("error", "error")


# ---- nothing compared

FLYING = SLIDING.format(options="").replace('pos="0 0 .099"', 'pos="0 0 50"')


def test_two_friction_rules_without_a_contact_are_not_compared() -> None:
    report = diff_runs(compiled(FLYING), {}, "combine_friction=geometric_mean", steps=3, start="rest")
    assert report.verdict == "nothing compared"
    assert report.exit_code == 3
    assert not report.ok
    assert "combine_friction in contact_params: no contact occurred" in " ".join(report.table().split())


def test_two_friction_rules_differ_where_there_is_contact() -> None:
    model = compiled(SLIDING.format(options=""))
    report = diff_runs(model, {}, "combine_friction=geometric_mean", steps=3, start="rest")
    assert report.first is not None
    assert (report.first.stage, report.first.field) == ("contact_params", "contact.friction")
    assert (report.first.a, report.first.b) == (0.9, pytest.approx(0.6))


# ---- solvers, integrators, precisions, models, saved runs


def test_solvers_that_stop_elsewhere_are_told_from_wrong_ones() -> None:
    model = compiled(SLIDING.format(options='cone="pyramidal" tolerance="1e-8"'))
    report = diff_runs(model, {}, "solve_constraints=cg", steps=10, start="rest")
    solver = next(stage for stage in report.stages if stage.stage == "solve_constraints")
    assert solver.verdict in ("solver", "ok"), report.table()
    assert report.verdict == "agree"


def test_integrators_are_compared_by_the_state_after_the_step() -> None:
    report = diff_runs(sample("chain"), {}, "integrate=rk4", steps=2, start="random")
    assert report.first is not None
    assert report.first.stage == "integrate"
    assert {d.stage for d in report.divergences} == {"integrate"}
    assert any("state after the step" in note for note in report.notes)


def test_single_precision_agrees_with_double_within_its_tolerance() -> None:
    report = diff_runs(sample("undriven"), LANES, f"{LANES},f32", steps=2, nworld=2)
    assert report.verdict == "agree", report.table()
    assert max(stage.error for stage in report.stages) > 1e-9
    tight = diff_runs(sample("undriven"), LANES, f"{LANES},f32", steps=2, nworld=2, tolerance=1e-12)
    assert tight.verdict == "differ"


def test_another_model_is_compared_field_by_field_and_run(tmp_path: Path) -> None:
    text = SLIDING.format(options="")
    other = text.replace('friction=".4"', 'friction=".95"')
    report = diff_runs(text, {}, {"model": other}, steps=2, start="rest")
    assert report.first is not None
    assert (report.first.stage, report.first.field) == ("compile", "geom_friction")
    assert "contact_params" in {d.stage for d in report.divergences}
    smaller = diff_runs(text, {}, {"model": text.replace("<freejoint/>", '<joint type="slide"/>')}, steps=2)
    assert smaller.exit_code == 1
    assert any("other sizes" in note for note in smaller.notes)


def test_a_saved_run_stands_for_its_revision(tmp_path: Path) -> None:
    file = tmp_path / "before.npz"
    model = sample("touching")
    diff_runs(model, {}, {}, steps=3, start="random", save=file)
    assert diff_runs(model, str(file), {}, steps=3).verdict == "agree"
    fault = next(f for f in FAULTS if f.slot == "contact_params")
    for a, b in ((str(file), {fault.slot: faulty(fault)}), ({fault.slot: faulty(fault)}, str(file))):
        report = diff_runs(model, a, b, steps=3)
        assert report.first is not None
        assert (report.first.stage, report.first.field) == (fault.slot, fault.field)
        assert {d.stage for d in report.divergences} == {fault.slot}
    with pytest.raises(ValidationError, match="a run of another model, 'touching'"):
        diff_runs(sample("chain"), str(file), {}, steps=3)


def test_a_file_that_is_no_saved_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.npz").write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="not a file saved by dovetail"):
        diff_runs(sample("chain"), str(tmp_path / "no.npz"), {})


# ---- against MuJoCo


def test_mujoco_is_a_side_and_a_fault_is_found_beside_it() -> None:
    pytest.importorskip("mujoco")
    assert diff_runs(SLIDING.format(options=""), {}, "mujoco", steps=5, mode="both").verdict == "agree"
    fault = next(f for f in FAULTS if f.slot == "contact_params")
    for a, b in (({fault.slot: faulty(fault)}, "mujoco"), ("mujoco", {fault.slot: faulty(fault)})):
        report = diff_runs(SLIDING.format(options=""), a, b, steps=2, start="rest")
        assert report.first is not None
        assert (report.first.stage, report.first.field) == (fault.slot, fault.field)
        right, wrong = (report.first.b, report.first.a) if b == "mujoco" else (report.first.a, report.first.b)
        assert wrong == pytest.approx(0.5 * right)


# ---- what is asked


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mujco", "did you mean 'mujoco'?"),
        ("rk4", "write integrate=rk4"),
        ("integrat=rk4", "did you mean 'integrate'?"),
        ("precision=f16", "should be f64 or f32"),
        ("nudge=0", "at least 1"),
        ("mujoco,f32", "MuJoCo stands alone"),
    ],
)
def test_what_is_not_understood_is_answered_with_the_nearest(text: str, words: str) -> None:
    with pytest.raises(SelectionError, match=words.replace("?", r"\?")):
        RunSpec.of(text, "b")


def test_specs_are_text_or_mappings() -> None:
    spec = RunSpec.of("integrate=rk4@numpy, native ,f32", "a")
    assert (dict(spec.stages), spec.backend, spec.precision) == ({"integrate": "rk4@numpy"}, "native", "f32")
    same = RunSpec.of({"integrate": "rk4@numpy", "backend": "native", "precision": "f32"}, "a")
    assert attrs.evolve(spec, text="") == attrs.evolve(same, text="")


def test_two_runs_of_mujoco_are_not_ours_to_compare() -> None:
    with pytest.raises(SelectionError, match="one of them must be a plan"):
        diff_runs("pendulum", "mujoco", "mujoco")


def test_errors_are_counted_in_units_of_the_last_place() -> None:
    assert ulps_between(1.0, 1.0 + 2**-52) == 1.0
    assert ulps_between(0.0, 0.0) == 0.0
    assert ulps_between(1.0, np.inf) == np.inf
    assert relative(2.0, 1.0) == 0.5


# ---- reports


def test_reports_fit_and_can_be_read_by_programs() -> None:
    fault = next(f for f in FAULTS if f.slot == "narrowphase")
    report = diff_runs(
        sample("touching"), {}, {fault.slot: faulty(fault)}, steps=2, nworld=2, start="random", mode="both"
    )
    assert max(map(len, report.table().splitlines())) <= 80
    found = json.loads(json.dumps(report.to_dict(), default=str))
    assert found["first"]["stage"] == "narrowphase"
    assert set(found["first"]) >= {"step", "field", "object", "index", "world", "a", "b", "relative", "ulps"}
    page = report.html()
    assert page.startswith("<!doctype html>")
    assert "viewport" in page
    assert "@media print" in page
    for foreign in ("<script", "<link", "http://", "https://", "@import", "url("):
        assert foreign not in page
    for part in ("narrowphase", "contact.frame", "Energy", "Contacts", "Cost against error", "<svg"):
        assert part in page


def test_the_report_escapes_names_of_models() -> None:
    text = DOUBLE.replace('model="double"', 'model="&lt;b&gt;"')
    assert "&lt;b&gt;" in diff_runs(text, {}, {}, steps=1).html()
