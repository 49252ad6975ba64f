"""The language stages are written in: what it folds, shares, drops and refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lane_small import BUFFERS, MODEL, SHAPES, N, apply, compile_small, run, stage, stages_text

from dovetail.backends.lanes import scopes
from dovetail.backends.lanes.fuse import clear_stage
from dovetail.backends.lanes.kernel import Kernel, LaneError, LaneLayout
from dovetail.backends.lanes.scopes import walk

X = np.random.default_rng(1).normal(size=(19, N))
LEFT = r"left a run-time loop or branch by break, return or an exception; use k\.leave_when\(condition\)"


@pytest.fixture
def k() -> Kernel:
    return Kernel(LaneLayout(MODEL, SHAPES, {"n": N}), "test")


def test_numbers_fold_before_anything_is_emitted(k: Kernel) -> None:
    x = k.data.x[0]
    assert x + 0 is x
    assert 1.0 * x is x
    assert x / 1 is x
    assert x * 0 == 0.0
    assert k.model.n == N


def test_neighbouring_addresses_share_one_symbol(k: Kernel) -> None:
    i = k.model.integer[0]
    assert (i + 2) + 3 - (i + 1) == 4
    rows = [value.args[1] for value in k.data.z[i]]
    assert rows[0] is rows[1] is rows[2]


def test_the_same_load_is_one_symbol_until_the_field_changes(k: Kernel) -> None:
    before = k.data.y[0]
    assert k.data.y[0] is before
    k.data.y[1] = 0.0
    assert k.data.y[0] is not before


def test_slices_take_a_symbolic_start_and_a_literal_length(k: Kernel) -> None:
    i = k.model.integer[0]
    assert k.data.x[i : i + 3].shape == (3,)
    with pytest.raises(LaneError, match="literal length"):
        k.data.x[i : k.model.integer[1]]


def test_a_mask_cannot_steer_a_branch(k: Kernel) -> None:
    with pytest.raises(LaneError, match=r"differs between the worlds.*k\.select"), k.when(k.data.x[0] > 0.0):
        pass


def test_python_if_on_a_symbol_is_refused(k: Kernel) -> None:
    with pytest.raises(LaneError, match=r"no truth value.*k\.when"):
        bool(k.model.integer[0] > 0)


def test_uniform_and_per_world_conditions_do_not_mix(k: Kernel) -> None:
    with pytest.raises(LaneError, match="do not mix"):
        (k.data.x[0] > 0.0) & (k.model.real[0] > 0.0)


def test_a_value_cannot_leave_the_loop_that_computed_it(k: Kernel) -> None:
    with k.loop(0, N) as i:
        inside = k.data.x[i] + 1.0
    with pytest.raises(LaneError, match=r"has ended.*k\.local"):
        k.data.y[0] = inside


def test_a_caught_exception_spoils_the_stage(k: Kernel) -> None:
    with pytest.raises(ZeroDivisionError), k.loop(0, N):
        raise ZeroDivisionError
    with pytest.raises(LaneError, match=LEFT):
        k.data.y[0] = 0.0
    with pytest.raises(LaneError, match=LEFT):
        k.finish()


def test_an_exception_that_is_not_caught_is_not_hidden() -> None:
    def broken(k: Kernel) -> None:
        with k.loop(0, N), k.when(k.model.integer[0] > 0):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        compile_small(stage(broken))


def leaves_by_return(k: Kernel) -> None:
    with k.loop(0, N) as i:
        k.data.y[i] = 1.0
        return


def leaves_by_break(k: Kernel) -> None:
    for _ in range(2):
        with k.when(k.model.integer[0] > 0):
            k.data.y[0] = 1.0
            break


def leaves_by_continue(k: Kernel) -> None:
    for n in range(2):
        with k.worlds(k.data.x[n] > 0.0):
            if n:
                continue
            k.data.y[0] = 1.0


@walk
def each_place(k: Kernel, unrolled: bool) -> Iterator[Any]:
    if unrolled:
        yield from range(N)
        return
    with k.loop(0, N) as i:
        yield i


def breaks_a_walk(k: Kernel) -> None:
    for i in each_place(k, False):
        k.data.y[i] = 1.0
        break
    k.data.y[0] = 2.0


def breaks_an_unrolled_walk(k: Kernel) -> None:
    for i in each_place(k, True):
        k.data.y[i] = 1.0
        break
    k.data.y[0] = 2.0


def returns_from_a_walk(k: Kernel) -> None:
    for i in each_place(k, False):
        k.data.y[i] = 1.0
        return


def keeps_a_walk_unfinished(k: Kernel) -> None:
    places = each_place(k, False)
    k.data.y[next(places)] = 1.0
    k.layout.memo["places"] = places


EARLY_EXITS = [
    leaves_by_return,
    leaves_by_break,
    leaves_by_continue,
    breaks_a_walk,
    breaks_an_unrolled_walk,
    returns_from_a_walk,
]


@pytest.mark.parametrize("builder", EARLY_EXITS)
def test_a_block_is_left_at_its_end_only(builder: Any) -> None:
    with pytest.raises(LaneError, match=LEFT):
        compile_small(stage(builder))


@pytest.mark.parametrize("builder", [breaks_a_walk, breaks_an_unrolled_walk, returns_from_a_walk])
def test_a_walk_notices_who_leaves_it_without_looking_at_the_source(
    builder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "check_source", lambda code, stage: None)
    with pytest.raises(LaneError, match=LEFT):
        compile_small(stage(builder))


def test_a_walk_that_is_not_finished_is_noticed_at_the_end() -> None:
    with pytest.raises(LaneError, match="has not ended"):
        compile_small(stage(keeps_a_walk_unfinished))


def test_python_loops_inside_a_block_may_be_left() -> None:
    def build(k: Kernel) -> None:
        with k.loop(0, N) as i:
            for n in range(3):
                if n == 1:
                    break
                k.data.y[i] = k.data.x[i]

    np.testing.assert_array_equal(apply(build, X)["y"], X)


def test_the_name_of_a_walk_says_what_it_is() -> None:
    def places(k: Kernel) -> Iterator[Any]:
        yield k

    with pytest.raises(LaneError, match="begins with 'each_'"):
        walk(places)


def test_otherwise_needs_a_branch_before_it(k: Kernel) -> None:
    with pytest.raises(LaneError, match="directly"), k.otherwise():
        pass


def test_unknown_fields_are_named_with_near_ones(k: Kernel) -> None:
    with pytest.raises(AttributeError, match="near: integer"):
        _ = k.model.integers
    with pytest.raises(AttributeError, match="near: time"):
        _ = k.data.times


def test_expanding_a_whole_field_is_refused(k: Kernel) -> None:
    big = Kernel(LaneLayout(MODEL, {"big": (100, 9)}), "test")
    with pytest.raises(LaneError, match="loop over its leading axes"):
        _ = big.data.big[:]


def test_exponential_of_lanes_is_refused(k: Kernel) -> None:
    with pytest.raises(LaneError, match="takes a Real"):
        k.exp(k.data.x[0])


def test_a_stage_touches_only_what_it_declares() -> None:
    def writes_z(k: Kernel) -> None:
        k.data.z[0] = k.data.x[:3]

    with pytest.raises(LaneError, match=r"writes z and reads x without declaring it"):
        compile_small(stage(writes_z, reads="", writes="y"))


def test_a_field_written_only_later_must_be_loaded() -> None:
    def use(k: Kernel) -> None:
        k.data.y[0] = k.data.z[0, 0]

    def fill(k: Kernel) -> None:
        k.data.z[0] = 1.0

    with pytest.raises(LaneError, match=r"reads z, which the program writes only after that"):
        compile_small(stage(use, reads="z", writes="y"), stage(fill, reads="", writes="z"))


def test_results_nobody_needs_are_not_computed() -> None:
    def both(k: Kernel) -> None:
        k.data.y[0] = k.data.x[0]
        with k.loop(0, N) as i:
            k.data.z[i] = k.sqrt(k.data.x[i])

    program = compile_small(stage(both), store=("y",))
    assert "SQRT" not in stages_text(program)
    assert "for (" not in stages_text(program)
    assert program.live == {"x", "y"}


def test_what_a_later_stage_reads_is_computed() -> None:
    def first(k: Kernel) -> None:
        k.data.z[0] = k.sqrt(k.data.x[0])

    def second(k: Kernel) -> None:
        k.data.y[0] = k.data.z[0, 1]

    program = compile_small(
        stage(first, writes="z"), stage(second, reads="z", writes="y", stage="second"), store=("y",)
    )
    assert "SQRT" in stages_text(program)


def test_tracing_twice_gives_the_same_source() -> None:
    def shuffle(k: Kernel) -> None:
        with k.loop(0, N, reverse=True) as i:
            k.data.y[i] = k.data.x[k.model.integer[i]] * k.model.real[i]

    assert compile_small(stage(shuffle)).source == compile_small(stage(shuffle)).source


def test_a_variable_set_from_itself_uses_its_old_elements() -> None:
    def rotate(k: Kernel) -> None:
        v = k.local(k.data.x[:])
        with k.loop(0, 3):
            v.set(np.roll(v.value, 1))
        k.data.y[:] = v.value

    np.testing.assert_array_equal(apply(rotate, X)["y"], np.roll(X, 3, axis=1))


def test_a_value_read_before_a_store_keeps_its_old_number() -> None:
    def swap(k: Kernel) -> None:
        y = k.data.y
        y[:] = k.data.x[:]
        first, last = y[0], y[3] * 2.0
        y[0] = last
        y[3] = first

    y = apply(swap, X)["y"]
    np.testing.assert_array_equal(y[:, [0, 3]], np.stack([2 * X[:, 3], X[:, 0]], axis=1))


def test_fields_carry_over_steps_and_scratch_over_a_launch() -> None:
    def count(k: Kernel) -> None:
        k.data.time = k.data.time + k.model.opt.timestep

    np.testing.assert_allclose(apply(count, X, nstep=7)["time"], 7 * BUFFERS["float64"][N])


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_lanes_change_no_bit(lanes: int, threads: int) -> None:
    def mix(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.data.y[i] = k.sqrt(k.abs(k.data.x[i])) / 3.0 + k.model.real[i] * k.data.x[0]

    expected = np.sqrt(np.abs(X)) / 3.0 + BUFFERS["float64"][:N] * X[:, :1]
    np.testing.assert_array_equal(apply(mix, X, lanes=lanes, threads=threads)["y"], expected)


def test_lanes_that_would_crash_are_refused() -> None:
    with pytest.raises(ValueError, match="a tile has one of"):
        compile_small(stage(lambda k: None), lanes=3)


def test_a_wrong_buffer_is_refused() -> None:
    program = compile_small(clear_stage("y"))
    with pytest.raises(ValueError, match="8 lanes of float64"):
        program.run(np.zeros((1, 21, 4)), BUFFERS, 1)


def test_a_kernel_explains_itself() -> None:
    program = compile_small(clear_stage("y"), precision="f32", lanes=4)
    header = [line.strip("#/* ") for line in program.source.splitlines()[:60]]
    assert "4 lanes of f32" in " ".join(header[:2])
    assert "s00_clear_y_zero: clear y zero" in header
    assert "S: scratch: numbers per world of each slot" in header


def test_a_stage_must_not_find_what_it_has_left_in_another_tile() -> None:
    def running_sum(k: Kernel) -> None:
        k.data.y[0] = k.data.y[0] + k.data.x[0]

    with pytest.raises(
        LaneError, match=r"reads y, which the program writes only after that, and which is not in `load`"
    ):
        compile_small(stage(running_sum, reads="x y"))
    program = compile_small(stage(running_sum, reads="x y"), load=("x", "y"))
    assert (run(program, np.ones((24, N)), 3)["y"][:, 0] == 3.0).all()


def test_forgotten_integers_are_zero_when_a_launch_begins_with_a_tile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They count the steps of a launch in every tile; other integers go on counting, unless they are poisoned."""
    monkeypatch.setenv("DOVETAIL_NATIVE_POISON", "0")

    def counting(k: Kernel) -> None:
        forgotten, kept = k.forgotten_integers("steps", 2), k.integers("steps", 1)
        forgotten[1] = forgotten[1] + 1
        kept[0] = kept[0] + 1
        k.data.y[0] = forgotten[0] + forgotten[1] * 1.0
        k.data.y[1] = kept[0] * 1.0

    program = compile_small(stage(counting), lanes=4)
    x = np.zeros((12, N))
    first, second = (run(program, x, nstep)["y"] for nstep in (3, 2))
    assert (first[:, 0] == 3).all()
    assert (second[:, 0] == 2).all()
    assert first[-1, 1] > 3
