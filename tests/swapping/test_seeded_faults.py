"""Lane stages with a fault in them: each is a typed error that names stage and field, when the plan is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from lane_backend import LANES, lanes_missing
from swap_models import model
from swap_ways import IN_LANES, KEEP, TOLERANCE, errors, motion, planned, reference_motion, with_record

from dovetail.config import Config
from dovetail.errors import DovetailError, PluginError
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.plugin import Implementation, kernel_field

pytestmark = pytest.mark.skipif(bool(lanes_missing()), reason=f"the lane backend needs {lanes_missing()}")

SLOT = "passive_force:faulty"


def pushes(k: Any) -> None:
    """Nothing wrong."""
    with k.loop(0, k.model.nv) as dof:
        k.data.qfrc_passive[dof] += 0.1


def reads_contacts(k: Any) -> None:
    k.data.qfrc_passive[0] += k.kernel_field("contact_list.dist")[0]


def reads_number_of_contacts(k: Any) -> None:
    k.data.qfrc_passive[0] += k.kernel_field("contact_list.ncon")[0]


def reads_forces(k: Any) -> None:
    k.data.qfrc_passive[0] += k.kernel_field("body_rows.force")[0, 0]


def reads_its_own(k: Any) -> None:
    k.data.qfrc_passive[0] += k.kernel_field("acme:hoard")[0]


def misspells(k: Any) -> None:
    k.data.qfrc_passive[0] += k.kernel_field("contact_list.dits")[0]


def writes_springs(k: Any) -> None:
    pushes(k)
    k.kernel_field("body_rows.spring")[0, 0] = 1.0


def reads_bodies(k: Any) -> None:
    k.data.qfrc_passive[0] += k.data.xpos[1][2]


def writes_velocities(k: Any) -> None:
    pushes(k)
    k.data.qvel[0] = 0.0


HOARD = kernel_field("acme:hoard", "nv", doc="What nobody puts anything into.", writer="passive_force")


def record(builder: Callable[[Any], None], reads: str = "", **more: Any) -> Implementation:
    """A row in lanes; it declares what it adds to and what is said."""
    said = {"reads": f"qfrc_passive {reads}", "writes": "qfrc_passive", **more}
    return Implementation(
        stage="passive_force",
        key="faulty",
        name="acme",
        backend=LANES,
        target=f"{__name__}:{builder.__name__}",
        function=builder,
        provider="acme",
        **said,
    )


def plan_with(made: Implementation, name: str = "ball") -> Plan:
    config = Config.of_call({made.slot: made.label}, keep=KEEP, **IN_LANES)
    return compile_plan(model(name), config, nworld=2, registry=with_record(made))


@attrs.frozen
class Fault:
    """A record that must not become part of a plan."""

    made: Implementation
    field: str
    """What the error must name beside the stage."""


FAULTS = {
    "reads what is written after it": Fault(record(reads_forces, "body_rows.force"), "body_rows.force"),
    "reads a field of its own that nothing writes": Fault(
        record(reads_its_own, "acme:hoard", kernel_fields=(HOARD,)), "acme:hoard"
    ),
    "writes a kernel field it did not declare": Fault(record(writes_springs), "body_rows.spring"),
    "writes a Data field it did not declare": Fault(record(writes_velocities), "qvel"),
    "misspells a kernel field": Fault(record(misspells), "contact_list.dits"),
    "reads a kernel field it did not declare": Fault(record(reads_contacts), "contact_list.dist"),
    "reads a Data field it did not declare": Fault(record(reads_bodies), "xpos"),
}


def test_the_same_row_without_a_fault_is_planned() -> None:
    assert plan_with(record(pushes)).choices[SLOT].record.label == f"acme@{LANES}"


def test_a_row_that_declares_what_it_reads_is_planned() -> None:
    """The list of contacts is there when passive forces are computed."""
    plan = plan_with(record(reads_contacts, "contact_list.dist"))
    assert plan.choices[SLOT].record.label == f"acme@{LANES}"


def test_the_list_of_a_model_without_contacts_is_empty() -> None:
    """What stages would write that the model does without reads as nothing, as Data does."""
    plan = plan_with(record(reads_number_of_contacts, "contact_list.ncon"), "free_fall")
    far = errors({"qvel": motion(plan)["qvel"]}, {"qvel": reference_motion("free_fall", 2)["qvel"]})
    assert far["qvel"] <= TOLERANCE


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_an_error_when_the_plan_is_made(fault: str) -> None:
    seeded = FAULTS[fault]
    with pytest.raises(DovetailError) as caught:
        plan_with(seeded.made)
    message = str(caught.value)
    assert SLOT in message
    assert seeded.field in message


def test_a_misspelt_field_is_told_the_right_one() -> None:
    with pytest.raises(DovetailError, match=r"contact_list\.dist\b"):
        plan_with(record(misspells))


def test_a_misspelt_declaration_is_refused_with_the_plugin() -> None:
    with pytest.raises(PluginError, match=r"contact_list\.dits.*contact_list\.dist\b"):
        with_record(record(reads_contacts, "contact_list.dits"))


def write_no_forces(k: Any) -> None:
    """A solver that forgets the forces."""
    with k.loop(0, k.model.nv) as dof:
        k.data.qacc[dof] = k.data.qacc_smooth[dof]
        k.data.qfrc_constraint[dof] = 0.0


def test_a_solver_that_leaves_out_forces_is_not_followed_by_a_sensor_that_reads_them() -> None:
    """Declared as it is, the sensors fall back or the plan is refused; they must not read what is not there."""
    made = Implementation(
        stage="solve_constraints",
        name="acme_forgetful",
        backend=LANES,
        target=f"{__name__}:write_no_forces",
        function=write_no_forces,
        provider="acme",
        reads="qacc_smooth",
        writes="qacc qfrc_constraint",
    )
    config = Config.of_call({"solve_constraints": made.label}, keep=("sensordata",), **IN_LANES)
    plan, why = planned(lambda: compile_plan(model("tendons"), config, nworld=2, registry=with_record(made)))
    if plan is None:
        assert "force" in why
        return
    readers = [slot for slot in plan.slots if {"body_rows.force", "dof_rows.force", "efc_force"} & slot.reads]
    assert not readers, plan.explain()
