"""Lists in lane kernels: constant tables, uniform integers, memory that stages share, leaving a loop."""

from __future__ import annotations

import numpy as np
import pytest
from lane_small import MODEL, SHAPES, N, compile_small, run, stage

from dovetail.backends.lanes.kernel import Kernel, LaneError, Layout

X = np.random.default_rng(3).normal(size=(19, N))


@pytest.fixture
def k() -> Kernel:
    return Kernel(Layout(MODEL, SHAPES, {"n": N}), "test")


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
        rows = k.shared_integers("rows", N)
        with k.loop(0, N) as i, k.when(k.any(k.data.x[i] > 1.0)):
            rows[count.value] = i
            count += 1
        k.shared_integers("count", 1)[0] = count.value

    def use(k: Kernel) -> None:
        rows = k.shared_integers("rows", N)
        with k.loop(0, N) as i:
            k.data.y[i] = 0.0
        with k.loop(0, k.shared_integers("count", 1)[0]) as at:
            row = rows[at]
            k.data.y[row] = k.select(k.data.x[row] > 1.0, k.data.x[row], 0.0)

    program = compile_small(stage(find, writes=""), stage(use))
    assert np.array_equal(run(program, X)["y"], np.where(X > 1.0, X, 0.0))


def test_shared_memory_passes_numbers_between_stages() -> None:
    def first(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.shared("twice", N)[i] = 2.0 * k.data.x[i]

    def second(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.data.y[i] = k.shared("twice", N)[i]

    assert np.array_equal(run(compile_small(stage(first, writes=""), stage(second)), X)["y"], 2.0 * X)


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


def test_shared_memory_has_one_shape(k: Kernel) -> None:
    k.shared("a", 3)
    with pytest.raises(LaneError, match="before with"):
        k.shared("a", 4)


def test_a_table_has_one_content(k: Kernel) -> None:
    k.table("t", [1, 2])
    with pytest.raises(LaneError, match="other numbers"):
        k.table("t", [1, 3])
