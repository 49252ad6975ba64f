"""The stage table: complete, documented, and in an order in which data can flow."""

from __future__ import annotations

import inspect

import pytest

from dovetail import pipeline
from dovetail.contracts.types import DATA_SPECS, STATE
from dovetail.errors import UnknownStageError
from dovetail.pipeline import FORWARD, STAGES, STEP, Stage
from dovetail.planning.needs import ruled_slots
from dovetail.registry import build_registry

TABLES = (
    *(
        "mjcf_element",
        "load_mesh",
        "mesh_inertia",
        "geom_inertia",
        "flex_build",
        "collide_pair",
        "sdf_shape",
        "constraint_rows",
        "passive_force",
    ),
    *("actuator_dynamics", "actuator_gain", "actuator_bias", "actuator_plugin", "sensor"),
)
SINGLE = (
    *(
        "finalize_model",
        "length_range",
        "kinematics",
        "com_position",
        "camera_light",
        "flex_kinematics",
        "tendon",
        "mass_matrix",
        "factor_mass",
        "broadphase",
    ),
    *(
        "narrowphase",
        "contact_params",
        "combine_friction",
        "resolve_priority",
        "mix_solver",
        "islands",
        "transmission",
        "transmission_velocity",
    ),
    *(
        "com_velocity",
        "constraint_reference",
        "bias_force",
        "actuation",
        "smooth_acceleration",
        "solve_constraints",
        "noslip",
        "energy",
        "integrate",
    ),
    *("inverse", "derivative"),
)
BROADCAST = ("check_model", "step_begin", "step_end")


@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, k) for k, names in (("table", TABLES), ("one", SINGLE), ("all", BROADCAST)) for n in names],
)
def test_the_design_has_this_stage_and_this_kind(name: str, kind: str) -> None:
    assert STAGES[name].kind == kind


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda s: s.name)
def test_a_stage_is_documented_and_its_arguments_are_annotated(stage: Stage) -> None:
    assert len(stage.summary) > 20
    assert stage.summary.endswith(".")
    assert all(
        p.annotation is not inspect.Parameter.empty for p in inspect.signature(stage.spec).parameters.values()
    )


@pytest.mark.parametrize("stage", [s for s in STAGES.values() if s.runs], ids=lambda s: s.name)
def test_a_running_stage_takes_model_and_data(stage: Stage) -> None:
    assert stage.arguments[:2] == ("model", "data")
    assert set(stage.arguments[2:]) <= {"parts", "evaluation"}
    assert ("parts" in stage.arguments) == bool(stage.parts)


@pytest.mark.parametrize("stage", STAGES.values(), ids=lambda s: s.name)
def test_reads_and_writes_are_declared_fields(stage: Stage) -> None:
    assert {*stage.reads, *stage.writes, *stage.accumulates} <= set(DATA_SPECS)


def test_every_fields_writer_is_a_stage_that_lists_it() -> None:
    for spec in DATA_SPECS.values():
        if spec.writer is not None:
            assert spec.name in STAGES[spec.writer].writes, spec.name


def test_only_the_state_crosses_from_step_to_step() -> None:
    assert {"time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", "xfrc_applied", "mocap_pos"} <= set(
        STATE
    )
    for name in STATE:
        assert DATA_SPECS[name].writer in (None, "integrate", "sleep"), name


def test_the_order_lets_every_read_follow_its_write() -> None:
    computed = {spec.name for spec in DATA_SPECS.values() if spec.writer in STEP} - set(STATE)
    written: set[str] = set()
    early = []
    for name in STEP:
        stage = STAGES[name]
        early += [
            f"{name} reads {f}" for f in stage.reads if f in computed - written - set(stage.accumulates)
        ]
        written |= set(stage.writes)
    assert early == []


def test_a_field_is_written_by_one_stage_or_accumulated() -> None:
    shared: dict[str, list[str]] = {}
    for name in FORWARD:
        for field in STAGES[name].writes:
            shared.setdefault(field, []).append(name)
    for field, writers in shared.items():
        if len(writers) > 1:
            owners = {
                writers[0],
                *set(STEP) - set(FORWARD),
            }  # what a step ends with, the next one begins with
            assert DATA_SPECS[field].writer in owners, (field, writers)


def test_parts_and_dispatchers_name_each_other() -> None:
    for stage in STAGES.values():
        assert all(STAGES[part].part_of for part in stage.parts)
        if stage.part_of:
            assert stage.name in STAGES[stage.part_of].parts


def test_the_sequences_hold_stages_that_run_each_once() -> None:
    assert len(set(STEP)) == len(STEP)
    assert all(STAGES[name].runs for name in STEP)
    assert STEP[-1] == "integrate"


def test_needs_are_told_for_known_stages_only() -> None:
    slots = list(ruled_slots(build_registry(third_party=False)))
    assert {slot.partition(":")[0] for slot in slots} <= set(STAGES)
    assert "sensor:touch" in slots


def test_an_unknown_stage_names_the_nearest() -> None:
    with pytest.raises(UnknownStageError, match=r"there is no stage 'integrte'; did you mean 'integrate'\?"):
        pipeline.stage("integrte")
