"""One world at a time: numbers pass between lanes and code that branches for each world.

Run as a script (`python test_lane_worlds.py quadrants`) it tries one runtime of Taichi, which aborts the process when
something cannot be compiled (tests/backends/taichi).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_backend import WANTED
from lane_small import BUFFERS, MODEL, SHAPES, N, apply

from dovetail.backends.lanes.kernel import FieldPlace, Kernel, LaneError, LaneLayout

X = np.random.default_rng(0).normal(size=(21, N))


def kernel() -> Kernel:
    return Kernel(LaneLayout(MODEL, SHAPES, {"n": N}), "test")


# ---- programs, and what they should leave in y ----------------------------------------------------------------


def branches(k: Kernel) -> None:
    """A branch that each world takes for itself, and a search that each ends where it likes."""
    x, y = k.split("x", N), k.split("y", N)
    x[:] = k.data.x[:]
    with k.worlds() as world:
        mine, out = x.of(world), y.of(world)
        total, steps = k.uniform(0.0), k.local(0)
        with k.loop(0, 50):
            k.leave_when(total.value > 3.0)
            total += k.abs(mine[0]) + 0.1
            steps += 1
        out[0] = total.value
        out[1] = steps.value
        with k.when((mine[1] < 0.0) & ~(mine[2] > 0.5)):
            out[2] = k.sqrt(-mine[1])
        with k.otherwise():
            out[2] = k.max(mine[1], mine[2]) + k.min(mine[0], 0.0)
        out[3] = k.floor(mine[3] * 3.0)
    k.data.y[:] = y[:]


def branches_expected(x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for row, (a, b, c, d) in zip(out, x, strict=True):
        while row[1] < 50 and not row[0] > 3.0:
            row[0] += abs(a) + 0.1
            row[1] += 1
        row[2] = np.sqrt(-b) if b < 0.0 and not c > 0.5 else max(b, c) + min(a, 0.0)
        row[3] = np.floor(d * 3.0)
    return out


def crossing(k: Kernel) -> None:
    """Lanes and single numbers alternate on the same memory, in a loop and in branches."""
    memory = k.split("memory", N)
    memory[:] = k.data.x[:]
    with k.loop(0, 3) as turn:
        before = memory[0]
        with k.worlds() as world:
            mine = memory.of(world)
            mine[0] = mine[0] + mine[1] * (turn + 1)
            with k.when(mine[0] > 0.0):
                mine[1] = mine[1] * 0.5
        memory[2] = memory[2] + memory[0] * memory[1]
        with k.when(turn == 1):
            memory[3] = memory[3] + before
        with k.worlds() as world:
            memory.of(world)[3] = memory.of(world)[3] + memory.of(world)[2]
    k.data.y[:] = memory[:]


def crossing_expected(x: np.ndarray) -> np.ndarray:
    m = x.copy()
    for turn in range(3):
        before = m[:, 0].copy()
        m[:, 0] = m[:, 0] + m[:, 1] * (turn + 1)
        m[:, 1] = np.where(m[:, 0] > 0.0, m[:, 1] * 0.5, m[:, 1])
        m[:, 2] = m[:, 2] + m[:, 0] * m[:, 1]
        if turn == 1:
            m[:, 3] = m[:, 3] + before
        m[:, 3] = m[:, 3] + m[:, 2]
    return m


def masked(k: Kernel) -> None:
    """Only worlds where the mask holds; a sorted list in uniform reals is fresh for each."""
    x, y = k.split("x", N), k.split("y", N)
    y[:] = -1.0
    x[:] = k.data.x[:]
    with k.worlds(k.data.x[0] > 0.2) as world:
        mine, out = x.of(world), y.of(world)
        found, order = k.reals("found", N + 3), k.integers("order", N)
        with k.loop(0, N) as n:
            found[n] = mine[n]
            order[n] = n
        with k.loop(0, N), k.loop(0, N - 1) as j, k.when(found[j] > found[j + 1]):
            low, high = k.uniform(found[j + 1]), k.uniform(found[j])
            found[j], found[j + 1] = low.value, high.value
            first, second = k.local(order[j + 1]), k.local(order[j])
            order[j], order[j + 1] = first.value, second.value
        out[0], out[1] = found[0], found[N - 1]
        out[2] = mine[order[0]]
        out[3] = order[N - 1]
    k.data.y[:] = y[:]


def masked_expected(x: np.ndarray) -> np.ndarray:
    found = np.stack([x.min(axis=1), x.max(axis=1), x.min(axis=1), x.argmax(axis=1)], axis=1)
    return np.where(x[:, :1] > 0.2, found, -1.0)


def model_numbers(k: Kernel) -> None:
    """Single precision numbers of the Model, at a place worked out in each world."""
    x = k.split("x", N)
    x[:] = k.data.x[:]
    with k.worlds() as world:
        mine = x.of(world)
        place = k.min(k.integer(k.abs(mine[0]) * 3.0), N - 1)
        factor = k.uniform(k.model.single[place])
        with k.loop(0, N) as n:
            mine[n] = factor.value * mine[n]
    k.data.y[:] = x[:]


def model_numbers_expected(x: np.ndarray) -> np.ndarray:
    place = np.minimum((np.abs(x[:, 0]) * 3.0).astype(int), N - 1)
    return BUFFERS["float32"].astype(float)[place, None] * x


MODEL["single"] = ("float32", FieldPlace(0, (N,)))
BUFFERS["float32"] = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
CASES: dict[str, tuple[Callable[[Kernel], None], Callable[[np.ndarray], np.ndarray]]] = {
    "branches": (branches, branches_expected),
    "crossing": (crossing, crossing_expected),
    "masked": (masked, masked_expected),
    "model": (model_numbers, model_numbers_expected),
}


def try_case(name: str, **settings: Any) -> None:
    build, expect = CASES[name]
    single = settings.get("precision") == "f32"
    x = X.astype(np.float32).astype(float) if single else X
    np.testing.assert_allclose(
        apply(build, x, **settings)["y"],
        expect(x),
        rtol=2e-5 if single else 1e-14,
        atol=1e-6 if single else 0,
    )


SETTINGS = ((8, "f64"), (1, "f64"), (16, "f32"))
"""Lanes and precisions to try."""


@pytest.mark.skipif(WANTED != "native", reason="the others are tried in processes of their own")
@pytest.mark.parametrize(("lanes", "precision"), SETTINGS)
@pytest.mark.parametrize("name", CASES)
def test_worlds_one_by_one_do_not_differ_from_numpy(name: str, lanes: int, precision: str) -> None:
    try_case(name, lanes=lanes, precision=precision)


# ---- the language ---------------------------------------------------------------------------------------------


def test_a_store_in_one_world_is_seen_by_loads_of_lanes() -> None:
    k = kernel()
    memory = k.split("memory", 2)
    memory[0] = 1.0
    lanes = memory[0]
    with k.worlds() as world:
        single = memory.of(world)[0]
        assert memory.of(world)[0] is single
        memory.of(world)[0] = 2.0
        assert memory.of(world)[0] is not single
        assert memory[0] is not lanes


def test_lanes_are_not_stored_in_one_world() -> None:
    k = kernel()
    with pytest.raises(LaneError, match=r"only uniform numbers .*of\(world\)"), k.worlds() as world:
        k.split("memory", 1).of(world)[0] = k.data.x[0]


def test_worlds_take_a_mask() -> None:
    k = kernel()
    with pytest.raises(LaneError, match="takes a Mask, not Cond"), k.worlds(k.model.real[0] > 0.0):
        pass


def test_a_uniform_variable_holds_no_lanes() -> None:
    k = kernel()
    with pytest.raises(LaneError, match=r"k\.uniform got lanes; k\.local"):
        k.uniform(k.data.x[0])
    with pytest.raises(LaneError, match="made as Real cannot hold a Num"):
        k.uniform(0.0).set(k.data.x[0])


def test_lanes_become_no_integers() -> None:
    k = kernel()
    with pytest.raises(LaneError, match=r"k\.integer takes a Real, not Num"):
        k.integer(k.data.x[0])


if __name__ == "__main__":
    for case in CASES:
        print(case, flush=True)
        for lanes, precision in SETTINGS:
            try_case(case, backend="taichi", runtime=sys.argv[1], lanes=lanes, precision=precision)
    print("done")
