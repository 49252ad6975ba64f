"""Lists in lane kernels: constant tables, uniform integers, kernel fields, leaving a loop."""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import LANES
from lane_small import MODEL, SHAPES, N, compile_small, run, stage

from dovetail.backends.lanes.fuse import Sources, Target, fuse
from dovetail.backends.lanes.groups import FieldGroup
from dovetail.backends.lanes.kernel import Kernel, LaneError, LaneLayout
from dovetail.contracts.kernel_fields import KernelField, KernelKind, kernel_field

X = np.random.default_rng(3).normal(size=(19, N))


def declared(name: str, *shape: str | int, kind: KernelKind = "numbers") -> KernelField:
    return kernel_field(name, *shape, kind=kind, doc="Of this test.", writer="find")


FIELDS = {
    f.name: f
    for f in (
        declared("list.rows", "n", kind="integers"),
        declared("list.count", 1, kind="integers"),
        declared("list.order", "n", kind="table"),
        declared("own:twice", "n"),
        declared("own:wrong", "nn"),
    )
}


@pytest.fixture
def k() -> Kernel:
    return Kernel(LaneLayout(MODEL, SHAPES, {"n": N}), "test")


def test_a_table_is_read_by_index() -> None:
    order = np.array([[2, 0], [3, 1]])

    def build(k: Kernel) -> None:
        table = k.table("order", order)
        with k.loop(0, 2) as i:
            for j in range(2):
                k.data.y[2 * i + j] = k.data.x[table[i, j]]

    y = run(compile_small(stage(build)), X)["y"]
    assert np.array_equal(y, X[:, order.ravel()])


def test_a_list_of_what_is_active_in_any_world() -> None:
    """The pattern behind contacts: gather the rows that any world of the tile needs, then loop over those."""

    def find(k: Kernel) -> None:
        count = k.local(k.model.n - N)  # an Int
        rows = k.kernel_field("list.rows")
        with k.loop(0, N) as i, k.when(k.any(k.data.x[i] > 1.0)):
            rows[count.value] = i
            count += 1
        k.kernel_field("list.count")[0] = count.value

    def use(k: Kernel) -> None:
        listed = k.group("list")
        with k.loop(0, N) as i:
            k.data.y[i] = 0.0
        with k.loop(0, listed.count[0]) as at:
            row = listed.rows[at]
            k.data.y[row] = k.select(k.data.x[row] > 1.0, k.data.x[row], 0.0)

    listed = "list.rows list.count"
    program = compile_small(stage(find, writes=listed), stage(use, reads=f"x {listed}"), kernel_fields=FIELDS)
    assert np.array_equal(run(program, X)["y"], np.where(X > 1.0, X, 0.0))


def test_kernel_fields_pass_numbers_between_stages() -> None:
    def first(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.kernel_field("own:twice")[i] = 2.0 * k.data.x[i]

    def second(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.data.y[i] = k.kernel_field("own:twice")[i]

    program = compile_small(
        stage(first, writes="own:twice"), stage(second, reads="own:twice"), kernel_fields=FIELDS
    )
    assert np.array_equal(run(program, X)["y"], 2.0 * X)


def test_memory_of_one_stage_is_its_own() -> None:
    def first(k: Kernel) -> None:
        k.scratch("a", 1)[0] = k.data.x[0]
        k.data.y[0] = k.scratch("a", 1)[0]

    def second(k: Kernel) -> None:
        k.scratch("a", 1)[0] = 7.0 * k.data.x[0]
        k.data.y[1] = k.scratch("a", 1)[0]

    y = run(compile_small(stage(first), stage(second)), X)["y"]
    assert np.array_equal(y[:, :2], np.stack([X[:, 0], 7.0 * X[:, 0]], axis=1))


def test_a_loop_is_left_when_no_world_needs_it() -> None:
    """Halve until all are below 1/8; `y` counts the turns, the same for all worlds of a tile."""

    def build(k: Kernel) -> None:
        value = k.local(k.abs(k.data.x[0]))
        turns = k.local(0.0)
        with k.loop(0, 100):
            k.leave_when(~k.any(value.value > 0.125))
            value *= 0.5
            turns += 1.0
        k.data.y[0] = value.value
        k.data.y[1] = turns.value

    y = run(compile_small(stage(build), lanes=1), X)["y"]
    expected = np.maximum(0, np.ceil(np.log2(np.abs(X[:, 0]) / 0.125)))
    assert np.array_equal(y[:, 1], expected)
    assert np.array_equal(y[:, 0], np.abs(X[:, 0]) * 0.5**expected)


def test_leaving_needs_a_loop_and_a_uniform_condition(k: Kernel) -> None:
    with pytest.raises(LaneError, match="outside of a loop"):
        k.leave_when(k.model.integer[0] > 0)
    with k.loop(0, N) as i, pytest.raises(LaneError, match="uniform condition"):
        k.leave_when(k.data.x[i] > 0.0)


def test_integers_hold_integers(k: Kernel) -> None:
    with pytest.raises(LaneError, match="an Int is needed"):
        k.integers("list", N)[0] = k.data.x[0]


def test_scratch_memory_has_one_shape(k: Kernel) -> None:
    k.scratch("a", 3)
    with pytest.raises(LaneError, match="before with"):
        k.scratch("a", 4)


# ---- kernel fields


def test_undeclared_kernel_fields_are_named_with_near_ones(k: Kernel) -> None:
    with pytest.raises(
        LaneError, match=r"test: there is no kernel field 'contact_list\.dits'; near: .*list\.dist"
    ):
        k.kernel_field("contact_list.dits")
    with pytest.raises(LaneError, match=r"'body_rows\.near_wrenh'; near: body_rows\.near_wrench"):
        _ = k.group("body_rows").near_wrenh


def test_the_shape_of_a_kernel_field_is_that_of_its_declaration(k: Kernel) -> None:
    assert k.kernel_field("row_counts.by_kind").shape == (4,)
    own = Kernel(LaneLayout(MODEL, SHAPES, {"n": N}, kernel_fields=FIELDS), "test")
    assert own.kernel_field("own:twice").shape == (N,)
    with pytest.raises(LaneError, match="there is no size 'nn'; near: n"):
        own.kernel_field("own:wrong")


def test_a_length_of_zero_becomes_one() -> None:
    k = Kernel(LaneLayout(MODEL, SHAPES, {"n": 0}, kernel_fields=FIELDS), "test")
    assert k.kernel_field("own:twice").shape == (1,)


def test_accesses_of_kernel_fields_must_be_declared() -> None:
    def touch(k: Kernel) -> None:
        k.kernel_field("list.rows")[0] = k.kernel_field("list.count")[0]

    with pytest.raises(LaneError, match=r"writes list\.rows and reads list\.count without declaring it"):
        compile_small(stage(touch), kernel_fields=FIELDS)


def read_twice(k: Kernel) -> None:
    k.data.y[0] = k.kernel_field("own:twice")[0]


def write_twice(k: Kernel) -> None:
    k.kernel_field("own:twice")[0] = k.data.x[0]


def test_a_kernel_field_is_read_after_its_writer() -> None:
    writer, reader = stage(write_twice, writes="own:twice"), stage(read_twice, reads="own:twice")
    with pytest.raises(LaneError, match=rf"test \(small@{LANES}\) reads own:twice, which no earlier stage"):
        compile_small(reader, writer, kernel_fields=FIELDS)


def test_an_empty_or_imported_kernel_field_needs_no_writer() -> None:
    reader, fields = (
        stage(read_twice, reads="own:twice"),
        {"layout": LaneLayout({}, SHAPES, {"n": N}, kernel_fields=FIELDS)},
    )
    given = {"data_places": {}, "initial": {}, "load": (), "store": (), **fields}
    for there in ({"empty": {"own:twice"}}, {"imported": {"own:twice"}}):
        fuse(Sources(stages=[reader], **given, **there), Target())
    with pytest.raises(LaneError, match=r"test \(small@lanes\) reads own:twice, which no earlier stage"):
        fuse(Sources(stages=[reader], **given), Target())


def test_a_table_field_is_worked_out_before_it_is_read() -> None:
    k = Kernel(LaneLayout(MODEL, SHAPES, {"n": N}, kernel_fields=FIELDS), "test")
    with pytest.raises(LaneError, match=r"test: reads list\.order, which no earlier stage.*\(find would\)"):
        k.table_field("list.order")
    with pytest.raises(LaneError, match="shape"):
        k.set_table_field("list.order", [1])
    k.set_table_field("list.order", [3, 1, 2, 0])
    assert k.table_field("list.order").tolist() == [3, 1, 2, 0]
    assert (k.writes, k.reads, k.read_first) == ({"list.order"}, {"list.order"}, set())


def test_a_table_field_may_be_given() -> None:
    given = {"list.order": np.arange(N)}
    k = Kernel(LaneLayout(MODEL, SHAPES, {"n": N}, kernel_fields=FIELDS, given_tables=given), "test")
    assert k.table_field("list.order").tolist() == list(range(N))


def test_tables_and_memory_are_asked_for_by_their_kind() -> None:
    k = Kernel(LaneLayout(MODEL, SHAPES, {"n": N}, kernel_fields=FIELDS), "test")
    with pytest.raises(LaneError, match=r"use k\.table_field"):
        k.kernel_field("list.order")
    with pytest.raises(LaneError, match=r"use k\.kernel_field"):
        k.table_field("list.rows")


def test_an_error_in_a_property_of_a_group_is_not_taken_for_a_field() -> None:
    class Group(FieldGroup):
        @property
        def broken(self) -> int:
            return self.k.model.nowhere

    with pytest.raises(AttributeError, match="nowhere"):
        _ = Group(Kernel(LaneLayout(MODEL, SHAPES), "test"), "list").broken


def test_a_table_has_one_content(k: Kernel) -> None:
    k.table("t", [1, 2])
    with pytest.raises(LaneError, match="other numbers"):
        k.table("t", [1, 3])
