"""Kernel fields in plans: who shares them runs in one segment, or passes them through Data, or gives way."""

from __future__ import annotations

from typing import Any

import pytest

import dovetail
from dovetail import Model, compile_plan
from dovetail.config import Config
from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS, KERNEL_SIZES, Transfer, kernel_field
from dovetail.contracts.sizes import SIZES
from dovetail.errors import PluginError, SelectionError
from dovetail.pipeline import STAGES
from dovetail.planning.plan import Plan
from dovetail.planning.wrappers import Profiler
from dovetail.registry import Registry
from dovetail.testing.samples import UNDRIVEN

SPEED = kernel_field(
    "toy:speed", "nbody", 6, doc="Velocities, for those in the kernel.", writer="com_velocity"
)


@pytest.fixture
def shared(registry: Registry, toy_backend: Any, record: Any) -> Registry:
    """com_velocity and bias_force on the toy backend share a kernel field; the first does not fill cdof_dot."""
    record(
        "com_velocity",
        name="tree",
        backend="toy",
        kernel_fields=(SPEED,),
        reads="qvel cdof",
        writes="cvel toy:speed",
    )
    record("bias_force", name="rne", backend="toy", reads="cvel toy:speed", writes="qfrc_bias")
    for key in ("spring", "damper"):
        writes = f"qfrc_{key} qfrc_passive"
        record("passive_force", key=key, name="joint", backend="toy", reads="qvel", writes=writes)
    return registry


def plan(model: Model, registry: Registry, stages: dict[str, str] | None = None, **more: Any) -> Plan:
    wrappers, nworld = more.pop("wrappers", ()), more.pop("nworld", None)
    config = Config.of_call(stages, **{"backend": "toy", **more})
    return compile_plan(model, config, registry=registry, wrappers=wrappers, nworld=nworld)


def chosen(plan: Plan, slot: str) -> str:
    return plan.choices[slot].record.label


def test_every_declaration_names_what_exists() -> None:
    for field in BUILTIN_KERNEL_FIELDS.values():
        assert field.writer in STAGES
        assert all(isinstance(n, int) or n in KERNEL_SIZES or n in SIZES for n in field.shape), field.name
        assert field.doc
    assert all(size.maker in STAGES for size in KERNEL_SIZES.values())


def test_who_shares_a_kernel_field_runs_together(pendulum: Model, shared: Registry) -> None:
    found = plan(pendulum, shared)
    assert (chosen(found, "com_velocity"), chosen(found, "bias_force")) == ("tree@toy", "rne@toy")


@pytest.mark.parametrize("keep", ["all", "cdof_dot", None])
def test_what_a_kernel_of_one_world_keeps_to_itself_is_filled_when_read(
    pendulum: Model, shared: Registry, keep: str | None
) -> None:
    found = plan(pendulum, shared, keep=keep)
    assert chosen(found, "com_velocity") == "tree@toy"
    assert found.replay is not None
    assert found.replay.late
    assert found.replay.fields == ("cdof_dot",)
    assert found.replay.plan.choices["com_velocity"].record.label == "tree@numpy"
    assert "cdof_dot" in found.keep
    assert "toy:speed" not in found.keep
    assert "when one is read the last step is repeated with the reference: cdof_dot" in found.explain()


@pytest.mark.parametrize("keep", ["computed", "state", "cvel"])
def test_of_one_world_nothing_is_filled_that_is_not_kept(
    pendulum: Model, shared: Registry, keep: str
) -> None:
    found = plan(pendulum, shared, keep=keep)
    assert found.replay is None
    assert "cdof_dot" not in found.keep


def test_a_reader_elsewhere_leaves_the_writer_where_it_is(pendulum: Model, shared: Registry) -> None:
    """Only what the reference reads in its place counts: cdof_dot, which the writer keeps to itself."""
    found = plan(pendulum, shared, {"bias_force": "@numpy"})
    assert chosen(found, "com_velocity") == "tree@numpy"
    assert "bias_force (rne@numpy) reads cdof_dot" in found.choices["com_velocity"].fallback


def test_a_writer_elsewhere_takes_the_reader_along(pendulum: Model, shared: Registry) -> None:
    found = plan(pendulum, shared, {"com_velocity": "@numpy"})
    assert chosen(found, "bias_force") == "rne@numpy"
    assert (
        "bias_force (rne@toy) reads toy:speed, a field of one kernel" in found.choices["bias_force"].fallback
    )


def test_a_stage_between_them_moves_out_of_the_way(pendulum: Model, shared: Registry) -> None:
    """passive_force stands between the two in the pipeline, and could as well come before them."""
    found = plan(pendulum, shared, {"passive_force:damper": "@numpy"})
    assert (chosen(found, "com_velocity"), chosen(found, "bias_force")) == ("tree@toy", "rne@toy")
    labels = [slot.label for slot in found.slots]
    between = labels[labels.index("com_velocity") : labels.index("bias_force")]
    assert "passive_force:damper" not in between


def test_one_that_cannot_move_out_of_the_way_is_a_conflict(
    pendulum: Model, shared: Registry, record: Any
) -> None:
    """A force on NumPy that reads what the first leaves in Data, and that the second reads."""
    record("passive_force", key="spring", name="mine", reads="cvel qfrc_passive", writes="qfrc_passive")
    record("bias_force", name="after", reads="cvel qfrc_passive", writes="qfrc_bias")
    record("bias_force", name="after", backend="toy", reads="toy:speed qfrc_passive", writes="qfrc_bias")
    wishes = {"passive_force:spring": "mine@numpy", "bias_force": "after"}
    found = plan(pendulum, shared, wishes)
    assert chosen(found, "bias_force") == "after@numpy"
    with pytest.raises(SelectionError, match=r"after@toy, asked for by call argument, cannot run.*toy:speed"):
        plan(pendulum, shared, {**wishes, "bias_force": "after@toy"})


def test_a_named_implementation_takes_others_along(pendulum: Model, shared: Registry) -> None:
    found = plan(pendulum, shared, {"bias_force": "rne@toy"}, backend="numpy")
    assert (chosen(found, "com_velocity"), chosen(found, "bias_force")) == ("tree@toy", "rne@toy")
    assert "with bias_force" in found.choices["com_velocity"].origin


def test_two_that_are_named_and_do_not_fit_are_an_error(pendulum: Model, shared: Registry) -> None:
    with pytest.raises(SelectionError, match=r"bias_force: rne@toy.*toy:speed, a field of one kernel"):
        plan(pendulum, shared, {"com_velocity": "tree@numpy", "bias_force": "rne@toy"})


def test_a_wrapper_between_sets_them_apart(pendulum: Model, shared: Registry) -> None:
    found = plan(pendulum, shared, wrappers=(Profiler(stages="bias_force"),))
    assert chosen(found, "bias_force") == "rne@numpy"
    assert chosen(found, "com_velocity") == "tree@numpy"


@pytest.mark.parametrize("keep", ["all", "cdof_dot"])
def test_of_a_batch_such_a_field_is_had_by_repeating_steps(
    pendulum: Model, shared: Registry, keep: str
) -> None:
    found = plan(pendulum, shared, keep=keep, nworld=3)
    assert chosen(found, "bias_force") == "rne@toy"
    assert found.replay is not None
    assert not found.replay.late
    assert found.replay.fields == ("cdof_dot",)
    assert found.replay.plan.choices["bias_force"].record.label == "rne@numpy"
    assert "cdof_dot" in found.keep
    assert "repeated with the reference" in found.explain()


@pytest.mark.parametrize("keep", ["computed", "state", "cvel"])
def test_nothing_is_repeated_for_what_slots_compute(pendulum: Model, shared: Registry, keep: str) -> None:
    found = plan(pendulum, shared, keep=keep, nworld=3)
    assert found.replay is None
    assert "cdof_dot" not in found.keep


def test_a_stage_that_is_left_out_reads_nothing(pendulum: Model, shared: Registry, record: Any) -> None:
    record("energy", name="mechanical", backend="toy", reads="cdof_dot", writes="energy")
    pendulum.opt.enableflags |= 2
    found = plan(pendulum, shared, keep="state")
    assert chosen(found, "bias_force") == "rne@toy"
    assert "energy" in found.idle


# ---- through Data


def test_a_kernel_field_can_be_made_of_data(pendulum: Model, shared: Registry) -> None:
    shared.transfers.append(Transfer(name="toy", into={"toy:speed": ("cvel",)}, fetch="nowhere:fetch"))
    found = plan(pendulum, shared, {"com_velocity": "@numpy"})
    assert chosen(found, "bias_force") == "rne@toy"
    assert [fields for fields in found.flow.imports if fields] == [{"toy:speed"}]
    assert "takes toy:speed from Data" in found.explain()


def test_a_data_field_can_be_made_of_kernel_fields(pendulum: Model, shared: Registry) -> None:
    shared.transfers.append(Transfer(name="toy", out={"cdof_dot": ("toy:speed",)}, deliver="nowhere:deliver"))
    found = plan(pendulum, shared, {"bias_force": "@numpy"})
    assert chosen(found, "com_velocity") == "tree@toy"
    assert [fields for fields in found.flow.exports if fields] == [{"cdof_dot"}]
    assert "cdof_dot" in found.keep


def test_what_its_writer_left_out_in_the_same_kernel_is_not_made_of_data(
    pendulum: Model, shared: Registry, record: Any
) -> None:
    """Data hold those of the step before when a kernel begins that only then writes them."""
    shared.transfers.append(Transfer(name="toy", into={"toy:speed": ("cvel",)}, fetch="nowhere:fetch"))
    record("com_velocity", name="plain", backend="toy", reads="qvel cdof", writes="cvel cdof_dot")
    found = plan(pendulum, shared, {"com_velocity": "plain@toy"})
    assert chosen(found, "bias_force") == "rne@numpy"


def test_what_a_kernel_leaves_in_data_when_it_ends_is_not_there_for_its_own_slots(
    pendulum: Model, shared: Registry, record: Any
) -> None:
    shared.transfers.append(Transfer(name="toy", out={"cdof_dot": ("toy:speed",)}, deliver="nowhere:deliver"))
    record("bias_force", name="looking", backend="toy", reads="cvel cdof_dot", writes="qfrc_bias")
    found = plan(pendulum, shared, {"bias_force": "looking@toy"})
    assert chosen(found, "com_velocity") == "tree@numpy"


def test_a_kernel_lacks_what_an_earlier_row_adds_elsewhere(
    registry: Registry, toy_backend: Any, record: Any
) -> None:
    """The later row is in the kernel of the reader, and leaves all of its part in Data as well."""
    rows = kernel_field("toy:rows", 3, doc="Rows.", writer="passive_force")
    for key in ("spring", "damper"):
        record(
            "passive_force",
            key=key,
            name="joint",
            backend="toy",
            kernel_fields=(rows,),
            reads="qvel",
            writes=f"toy:rows qfrc_{key} qfrc_passive",
        )
    record(
        "smooth_acceleration",
        name="mass_solve",
        backend="toy",
        reads="toy:rows",
        writes="qacc_smooth qfrc_smooth",
    )
    model = dovetail.loads(UNDRIVEN)
    assert chosen(plan(model, registry), "smooth_acceleration") == "mass_solve@toy"
    found = plan(model, registry, {"passive_force:spring": "@numpy"})
    assert chosen(found, "passive_force:damper") == "joint@toy"
    assert chosen(found, "smooth_acceleration") == "mass_solve@numpy"


def test_one_row_of_a_table_elsewhere_is_missed(registry: Registry, toy_backend: Any, record: Any) -> None:
    """A kernel field that rows of a table fill together is of no use if one of them runs elsewhere, and what the
    others keep to their kernel is missing in Data."""
    model = dovetail.loads(UNDRIVEN)
    rows = kernel_field("toy:rows", 3, doc="Rows.", writer="passive_force")
    for key in ("spring", "damper"):
        record(
            "passive_force",
            key=key,
            name="joint",
            backend="toy",
            kernel_fields=(rows,),
            reads="qvel",
            writes="toy:rows",
        )
    record(
        "smooth_acceleration",
        name="mass_solve",
        backend="toy",
        reads="toy:rows",
        writes="qacc_smooth qfrc_smooth",
    )
    whole = plan(model, registry)
    assert {chosen(whole, f"passive_force:{key}") for key in ("spring", "damper")} == {"joint@toy"}
    mixed = plan(model, registry, {"passive_force:damper": "@numpy"})
    assert {chosen(mixed, f"passive_force:{key}") for key in ("spring", "damper")} == {"joint@numpy"}
    assert chosen(mixed, "smooth_acceleration") == "mass_solve@numpy"


# ---- declarations of plugins


def test_a_plugin_s_kernel_field_needs_a_namespace(record: Any) -> None:
    plain = kernel_field("speed", 3, doc="…", writer="com_velocity")
    with pytest.raises(PluginError, match="should be named 'namespace:field'"):
        record("com_velocity", kernel_fields=(plain,))


def test_two_plugins_may_not_declare_one_name_otherwise(shared: Registry, record: Any) -> None:
    other = kernel_field("toy:speed", 3, doc="…", writer="com_velocity")
    with pytest.raises(PluginError, match="'toy:speed' is declared otherwise already"):
        record("com_velocity", kernel_fields=(other,))


def test_a_misspelt_field_names_the_nearest(record: Any) -> None:
    with pytest.raises(PluginError, match=r"no Data or kernel field 'contact_list.dits'; did you mean"):
        record("com_velocity", reads="contact_list.dits")


def test_a_group_is_spelt_out(registry: Registry, record: Any) -> None:
    record("solve_constraints", reads="dof_rows.* qpos", writes="qacc")
    (found,) = [r for r in registry.of("solve_constraints") if r.name == "mine"]
    assert "dof_rows.coefficient" in (found.reads or ())
    assert "qpos" in (found.reads or ())
