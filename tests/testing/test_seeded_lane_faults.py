"""What judges must find in kernels: faults as kernels have had them, put into lane stages on purpose, each named.

Each fault shows only in a way of its own: while the solver has few iterations, after another state, beside other
worlds, at a keyframe, where a number is NaN, or only where stages run as one kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lane_backend import LANES, lanes_missing

from dovetail.backends.lanes.kernel import Kernel
from dovetail.compare import diff_runs
from dovetail.compare.conform import ConformReport, conform
from dovetail.compare.real_steps import Disagreement
from dovetail.config import Config
from dovetail.planning import planner
from dovetail.planning.auto import Preferred
from dovetail.plugins.bias_force import rne_lanes
from dovetail.plugins.constraint_reference import spring_damper_lanes
from dovetail.plugins.constraint_rows import limit_lanes
from dovetail.plugins.kinematics import tree_lanes
from dovetail.plugins.solve_constraints.cg_lanes import ConjugateGradients

pytestmark = pytest.mark.skipif(bool(lanes_missing()), reason=lanes_missing())

SWINGING = """
<mujoco model="swinging">
  <option timestep=".005" {option}/>
  <worldbody>
    <body><joint name="upper" axis="0 1 0" range="-40 40" limited="{limited}" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" contype="0" conaffinity="0"/>
      <body pos=".5 0 0"><joint name="lower" axis="0 1 0" range="-30 30" limited="{limited}"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0" conaffinity="0"/></body></body>
  </worldbody>
  <actuator><general joint="upper" dyntype="integrator" actlimited="true" actrange="-1 1" gainprm="3"
    forcelimited="true" forcerange="-2 2"/></actuator>
  <keyframe><key name="far" qpos="9 0"/><key name="bent" qpos=".9 .8" qvel="1 -1"/></keyframe>
</mujoco>
"""
FREE = SWINGING.format(option="", limited="false")
LIMITED = SWINGING.format(option="", limited="true")
FEW = SWINGING.format(option='solver="CG" iterations="2" ls_iterations="4"', limited="true")

Spoil = Callable[[Kernel], None]


@pytest.fixture(autouse=True)
def traced_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that were kept are those of the code in its files. Where nothing is said, steps are those of lanes, so
    that few kernels are traced: stages are then the reference's."""
    monkeypatch.setenv("DOVETAIL_MODEL_CACHE", "0")
    monkeypatch.setattr(
        planner, "preferred", lambda *_, **__: Preferred(LANES, "steps of kernels are judged")
    )


def spoil(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Spoil) -> None:
    """Let a stage's builder do something wrong after all that is right."""
    right = getattr(module, name)

    def spoilt(k: Kernel) -> None:
        right(k)
        wrong(k)

    monkeypatch.setattr(module, name, spoilt)


def judged(xml: str, **asked: Any) -> ConformReport:
    return conform(xml, config=Config(), **{"steps": 4, "states": 2, **asked})


def found(report: ConformReport, kind: str) -> Disagreement:
    assert not report.ok, "the fault was not found"
    return next(one for one in report.disagreements if one.kind == kind)


@pytest.mark.parametrize(
    ("xml", "backend"),
    [
        (FREE, None),
        pytest.param(LIMITED, LANES, marks=pytest.mark.slow),
        pytest.param(FEW, LANES, marks=pytest.mark.slow),
    ],
    ids=["free", "limited", "few"],
)
def test_kernels_without_a_fault_conform(xml: str, backend: Any) -> None:
    pytest.importorskip("mujoco")
    report = judged(xml, backend=backend)
    assert report.ok, report.table()
    assert [part.name for part in report.parts] == ["own options", "converged"][: 1 + (xml is not FREE)]


# ---- conform


def test_a_fault_under_few_iterations_fails_under_own_options_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    right = ConjugateGradients.share
    monkeypatch.setattr(ConjugateGradients, "share", lambda self, *sums: 0.95 * right(self, *sums))
    report = judged(FEW, states=4)
    one = found(report, "mujoco")
    assert one.stage == "solve_constraints"
    assert [part.ok for part in report.parts] == [False, True], report.table()
    assert "(own options)" in report.headline()


def test_a_step_that_depends_on_the_step_before_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")

    def remember(k: Kernel) -> None:
        old = k.scratch("old", 1, kept="a fault put here on purpose")
        k.data.qfrc_bias[0] += k.select(k.abs(old[0]) > 0.5, 1e-14, 0.0)
        old[0] = k.data.qvel[0]

    spoil(monkeypatch, rne_lanes, "bias_force", remember)
    one = found(judged(FREE), "order")
    assert (one.stage, one.field, one.way) == ("bias_force", "qfrc_bias", "one world"), one
    assert one.error < 1e-9, "far below every tolerance"


def test_a_world_that_depends_on_its_neighbours_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")

    def look_aside(k: Kernel) -> None:
        fast = k.data.qvel[0] > 0.5
        with k.when(k.any(fast)):
            k.data.qfrc_bias[0] += k.select(fast, 0.0, 1e-13)

    spoil(monkeypatch, rne_lanes, "bias_force", look_aside)
    report = judged(FREE, states=6)
    one = found(report, "neighbours")
    assert (one.stage, one.field, one.way) == ("bias_force", "qfrc_bias", "batch"), one
    assert {each.way for each in report.disagreements} == {"batch"}


def test_a_fault_at_a_keyframe_is_found_and_the_keyframe_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")

    def far_away(k: Kernel) -> None:
        k.data.xipos[2, 0] += k.select(k.data.qpos[0] > 8.0, 1e-6, 0.0)

    spoil(monkeypatch, tree_lanes, "kinematics", far_away)
    assert judged(FREE, starts=["near", "random"]).ok, "elsewhere nothing is wrong"
    one = found(judged(FREE, starts=["near"], keyframes=["far"]), "mujoco")
    assert (one.stage, one.field) == ("kinematics", "xipos")
    assert "far, step 0" in one.where


def test_a_number_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr(Kernel, "clip", lambda k, x, low, high: k.min(k.max(x, low), high))
    report = judged(FREE)
    one = found(report, "nan")
    assert "NaN in act" in one.where
    assert one.stage == "actuation"
    assert {each.kind for each in report.disagreements} == {"nan"}
    assert not report.failures


def test_forces_are_traced_to_the_stage_of_the_kernel_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    module, name, wrong, xml = LANE_FAULTS["constraint_reference"]
    spoil(monkeypatch, module, name, wrong)
    report = judged(xml, starts=["bent"], states=0)
    assert found(report, "mujoco").stage == "constraint_reference", report.table()
    assert [part.ok for part in report.parts] == [False, False]


@pytest.mark.slow
def test_stages_of_kernels_are_compared_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the reference in their place."""
    pytest.importorskip("mujoco")
    module, name, wrong, xml = LANE_FAULTS["constraint_rows:limit"]
    spoil(monkeypatch, module, name, wrong)
    report = judged(xml, backend=LANES, starts=["bent"], states=0)
    assert "solve_constraints" in {row.slot for row in report.parts[0].stages if not row.ok}
    assert found(report, "mujoco").stage == "constraint_rows:limit"


# ---- diff

LANE_FAULTS: dict[str, tuple[Any, str, Spoil, str]] = {
    "bias_force": (
        rne_lanes,
        "bias_force",
        lambda k: k.data.qfrc_bias.__setitem__(0, k.data.qfrc_bias[0] * 1.001),
        LIMITED,
    ),
    "constraint_reference": (
        spring_damper_lanes,
        "constraint_reference",
        lambda k: _each_offset(k, lambda rows, r: rows.damping[r] * 0.01 * k.data.qvel[rows.dof(r, 0)]),
        LIMITED,
    ),
    "constraint_rows:limit": (
        limit_lanes,
        "limit",
        lambda k: _each_spring(k, 1.01),
        LIMITED,
    ),
}


def _rows(k: Kernel) -> Any:
    from dovetail.plugins.shared.rows.rows_lanes import DofRows

    return DofRows(k)


def _each_offset(k: Kernel, more: Callable[[Any, Any], Any]) -> None:
    rows = _rows(k)
    with k.loop(0, rows.count) as r:
        rows.offset[r] += more(rows, r)


def _each_spring(k: Kernel, factor: float) -> None:
    rows = _rows(k)
    with k.loop(0, rows.count) as r:
        rows.spring[r] *= factor


@pytest.mark.parametrize("slot", LANE_FAULTS)
def test_diff_names_the_lane_stage_beside_the_reference(monkeypatch: pytest.MonkeyPatch, slot: str) -> None:
    module, name, wrong, xml = LANE_FAULTS[slot]
    spoil(monkeypatch, module, name, wrong)
    report = diff_runs(xml, "numpy", LANES, steps=2, start="bent")
    assert report.first is not None
    assert report.first.stage == slot, report.table()
    assert report.first.alone


def test_diff_names_the_solver_whose_rows_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ConjugateGradients.share
    monkeypatch.setattr(ConjugateGradients, "share", lambda self, *sums: 0.5 * right(self, *sums))
    report = diff_runs(FEW, "numpy", LANES, steps=20, start=["bent", "near"])
    assert report.first is not None
    assert report.first.stage == "solve_constraints", report.table()
    assert "the rows are right" in report.first.how


def pass_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that exists only where two stages share a kernel."""

    def tell(k: Kernel) -> None:
        k.program_memory("secret", 1, kept="a fault put here on purpose")[0] = 1.0

    def listen(k: Kernel) -> None:
        told = k.program_memory("secret", 1, kept="a fault put here on purpose")
        k.data.qfrc_bias[0] += 1e-3 * told[0]

    spoil(monkeypatch, tree_lanes, "kinematics", tell)
    spoil(monkeypatch, rne_lanes, "bias_force", listen)


@pytest.mark.parametrize("mode", ["isolated", "free"])
def test_diff_says_loudly_when_only_whole_steps_differ(monkeypatch: pytest.MonkeyPatch, mode: Any) -> None:
    pass_on(monkeypatch)
    report = diff_runs(FREE, "numpy", LANES, steps=12, start="near", mode=mode)
    assert report.exit_code == 1
    if mode == "free":
        assert report.free is not None
        assert "step 0 is the first that A does not take" in report.free.cause
        assert "NO STAGE SHOWS IT BY ITSELF" in " ".join(report.table().split())
        return
    first = report.first
    assert first is not None
    assert (first.step, first.stage, first.field, first.alone) == (0, "bias_force", "qfrc_bias", False)
    assert "ONLY WHOLE STEPS DIFFER" in report.table()


def test_diff_tells_a_step_that_depends_on_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(k: Kernel) -> None:
        told = k.program_memory("secret", 1, kept="a fault put here on purpose")
        k.data.xpos[1, 0] += 0.0
        told[0] = k.data.qpos[0]

    def listen(k: Kernel) -> None:
        old = k.program_memory("old", 1, kept="a fault put here on purpose")
        told = k.program_memory("secret", 1, kept="a fault put here on purpose")
        k.data.qfrc_bias[0] += 1e-3 * old[0]
        old[0] = told[0]

    spoil(monkeypatch, tree_lanes, "kinematics", tell)
    spoil(monkeypatch, rne_lanes, "bias_force", listen)
    first = diff_runs(FREE, "numpy", LANES, steps=3, start="near").first
    assert first is not None
    assert (first.step, first.stage, first.field, first.alone) == (1, "bias_force", "qfrc_bias", False)
    assert "depends on the steps before it" in first.how


def test_mujoco_beside_a_kernel_sees_the_kernel_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    module, name, wrong, xml = LANE_FAULTS["bias_force"]
    assert diff_runs(xml, "mujoco", LANES, steps=2, start="bent").verdict == "agree"
    spoil(monkeypatch, module, name, wrong)
    report = diff_runs(xml, "mujoco", LANES, steps=2, start="bent")
    assert report.first is not None
    assert (report.first.stage, report.first.field) == ("bias_force", "qfrc_bias")


# ---- the model is left as it was


def test_tracing_a_fault_leaves_the_options_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without iterations both sides agree: options that were not put back would hide the fault from there on."""
    right = ConjugateGradients.share
    monkeypatch.setattr(ConjugateGradients, "share", lambda self, *sums: 0.5 * right(self, *sums))
    report = diff_runs(FEW, "numpy", LANES, steps=20, start="bent", mode="both")
    assert report.first is not None
    assert "without iterations" in report.first.how
    assert report.free is not None
    assert report.free.verdict == "error"
