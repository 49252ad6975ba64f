"""Every operation the printers know does on lanes and on uniform numbers what NumPy does.

Run as a script (`python test_lane_operations.py quadrants f64`) it tries all of them with one runtime of Taichi: with
lanes kept as vectors these abort the whole process on operations they cannot compile, so each pair of runtime and
precision is tried in a process of its own, which says what it was doing (tests/backends/taichi).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_backend import WANTED
from lane_small import BUFFERS, apply

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.values import binary, make
from dovetail.backends.native import stage_text
from dovetail.backends.taichi import emit

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(11, 4))) + 0.1


def lanes_and_uniform(op: str, f: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """lanes∘lanes, lanes∘uniform, uniform∘lanes, lanes∘literal."""

    def build(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
        return [binary(op, x[0], x[1]), binary(op, x[0], r[2]), binary(op, r[0], x[1]), binary(op, x[3], 1.5)]

    def expect(x: Any, r: Any, i: Any) -> list[Any]:
        return [f(x[0], x[1]), f(x[0], r[2]), f(r[0], x[1]), f(x[3], 1.5)]

    return build, expect


def integers(op: str, f: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def build(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
        results = [binary(op, i[0], i[1]), binary(op, i[0], 2), binary(op, i[2], i[1]), binary(op, i[3], 1)]
        return [x[0] * n for n in results]

    def expect(x: Any, r: Any, i: Any) -> list[Any]:
        return [x[0] * f(i[0], i[1]), x[0] * f(i[0], 2), x[0] * f(i[2], i[1]), x[0] * f(i[3], 1)]

    return build, expect


def comparisons(op: str, f: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def build(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
        truths = [make(op, "Mask", (x[0], x[1])), make(op, "Mask", (x[0], 0.7))]
        truths += [make(op, "Cond", (r[0], r[1])), make(op, "Cond", (i[0], 3))]
        return [k.select(t, x[2], 0.25) for t in truths]

    def expect(x: Any, r: Any, i: Any) -> list[Any]:
        return [np.where(t, x[2], 0.25) for t in (f(x[0], x[1]), f(x[0], 0.7), f(r[0], r[1]), f(i[0], 3))]

    return build, expect


def logic(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    mask, cond = (x[0] < 0.7) & (x[1] > 0.5), (r[0] < 0.7) & (r[1] > 0.5)
    inverse = ~((x[0] < 0.7) | ~(x[1] > 0.5))
    return [
        k.select(mask, x[2], 1.0),
        k.select(cond, x[2], x[3]),
        k.select(inverse & (x[3] > 0.2), x[2], r[2]),
        k.select(~(cond | (i[0] == 3)), 1.0, x[2]),
    ]


def logic_expected(x: Any, r: Any, i: Any) -> list[Any]:
    inverse = ~((x[0] < 0.7) | ~(x[1] > 0.5)) & (x[3] > 0.2)
    mask = (x[0] < 0.7) & (x[1] > 0.5)
    return [np.where(mask, x[2], 1.0), x[3], np.where(inverse, x[2], r[2]), x[2]]


def control(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    """Variables through loops and branches, integer variables, reductions, casts, stores of uniform numbers."""
    total, count = k.local(0.0), k.local(0)
    with k.loop(0, i[0], reverse=True) as n:
        total += k.data.x[n]
        count += n
        with k.when((n == 1) & (k.model.flag[0] != 0)):
            total *= 2.0
        with k.otherwise():
            total -= r[0]
    found = k.local(0.0)
    with k.when(k.any(x[0] > 1e6)):
        found.set(1.0)
    with k.when(k.any(~((x[0] <= 0.0) | (x[1] > 1e6)))):
        found += r[1]
    return [total.value, x[0] * count.value, found.value, k.exp(r[0]) + k.integer(r[2] * 1.7)]


def control_expected(x: Any, r: Any, i: Any) -> list[Any]:
    return [
        ((x[2] - r[0]) + x[1]) * 2.0 + x[0] - r[0],
        3 * x[0],
        0 * x[0] + r[1],
        0 * x[0] + np.exp(r[0]) + 3,
    ]


def functions(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    return [k.sqrt(x[0]), k.floor(x[1] * 3.0), k.sqrt(r[0]) * x[2], k.floor(r[2]) + x[3] * i[0]]


def functions_expected(x: Any, r: Any, i: Any) -> list[Any]:
    return [np.sqrt(x[0]), np.floor(x[1] * 3.0), np.sqrt(r[0]) * x[2], np.floor(r[2]) + x[3] * i[0]]


def apart_and_together(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    """Lanes through memory that holds numbers one by one."""
    memory = k.split("memory", 4)
    memory[:] = x
    return [memory[3] * 2.0, memory[2] + x[0], k.select(memory[1] < 0.7, memory[1], r[0]), memory[0]]


def apart_and_together_expected(x: Any, r: Any, i: Any) -> list[Any]:
    return [x[3] * 2.0, x[2] + x[0], np.where(x[1] < 0.7, x[1], r[0]), x[0]]


def not_a_number(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    """NaN differs from everything and is in no order, on lanes and on uniform numbers."""
    zero, none = x[0] - x[0], r[0] - r[0]
    nan, alike = zero / zero, none / none
    wrong = [nan == nan, nan < 1.0, nan >= 1.0, alike == alike]
    right = [nan != 0.0, nan != nan, alike != 0.0, ~(nan == x[0])]
    return [k.select(w, 3.0, k.select(t, 1.0, 2.0)) for w, t in zip(wrong, right, strict=True)]


def not_a_number_expected(x: Any, r: Any, i: Any) -> list[Any]:
    return [np.ones_like(x[0])] * 4


def not_a_number_in_order(k: Kernel, x: Any, r: Any, i: Any) -> list[Any]:
    """Where a number is NaN, the lesser and the larger of two is the second; clipping keeps it."""
    zero, none = x[0] - x[0], r[0] - r[0]
    nan, alike = zero / zero, none / none
    first = [k.min(nan, x[1]), k.max(nan, r[1]), k.max(alike, r[0]), k.min(x[2], nan), k.max(r[1], alike)]
    kept = [k.clip(nan, -1.0, 1.0), k.clip(nan, r[1], x[3]), k.clip(alike, r[1], r[0]), k.abs(nan)]
    bounds = [
        k.clip(x[0], nan, 0.5),
        k.clip(x[0], 0.5, nan),
        k.clip(r[2], alike, 1.0),
        k.clip(x[0], 0.9, 0.3),
    ]
    return [_told(k, first[:3]), _told(k, [*first[3:], *kept]), _total(bounds[:2]), _total(bounds[2:])]


def _told(k: Kernel, numbers: list[Any]) -> Any:
    """A number that says of each of some others whether it is NaN, and else what it is."""
    return _total([k.select(n != n, 100.0, n) for n in numbers])


def _total(numbers: list[Any]) -> Any:
    return sum(n * 2.0**-at for at, n in enumerate(numbers))


def not_a_number_in_order_expected(x: Any, r: Any, i: Any) -> list[Any]:
    reversed_bounds = np.where(x[0] < 0.9, 0.9, 0.3)
    return [
        _total([x[1], r[1], r[0]]) + 0 * x[0],
        _total([100.0] * 6) + 0 * x[0],
        _total([np.where(x[0] > 0.5, 0.5, x[0]), np.where(x[0] < 0.5, 0.5, x[0])]),
        _total([min(r[2], 1.0), reversed_bounds]),
    ]


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": lanes_and_uniform("add", lambda a, b: a + b),
    "sub": lanes_and_uniform("sub", lambda a, b: a - b),
    "mul": lanes_and_uniform("mul", lambda a, b: a * b),
    "div": lanes_and_uniform("div", lambda a, b: a / b),
    "min": lanes_and_uniform("min", np.minimum),
    "max": lanes_and_uniform("max", np.maximum),
    "floordiv": integers("floordiv", lambda a, b: a // b),
    "mod": integers("mod", lambda a, b: a % b),
    "bitand": integers("bitand", lambda a, b: a & b),
    "lshift": integers("lshift", lambda a, b: a << b),
    "rshift": integers("rshift", lambda a, b: a >> b),
    "lt": comparisons("lt", lambda a, b: a < b),
    "le": comparisons("le", lambda a, b: a <= b),
    "gt": comparisons("gt", lambda a, b: a > b),
    "ge": comparisons("ge", lambda a, b: a >= b),
    "eq": comparisons("eq", lambda a, b: a == b),
    "ne": comparisons("ne", lambda a, b: a != b),
    "eq ne lt ge": (not_a_number, not_a_number_expected),
    "min max lt select": (not_a_number_in_order, not_a_number_in_order_expected),
    "and or not select": (logic, logic_expected),
    "any exp real integer": (control, control_expected),
    "lane lanes": (apart_and_together, apart_and_together_expected),
    "sqrt floor": (functions, functions_expected),
}


@pytest.mark.parametrize("printer", [stage_text, emit], ids=["native", "taichi"])
def test_every_operation_of_the_printers_is_tried(printer: Any) -> None:
    assert {op for names in CASES for op in names.split()} == printer.OPERATIONS


@pytest.mark.covering
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.skipif(WANTED != "native", reason="the others are tried in processes of their own")
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("name", CASES)
def test_an_operation_does_not_differ_from_numpy(name: str, lanes: int, precision: str) -> None:
    try_case(name, precision, lanes=lanes)


def try_case(name: str, precision: str, **settings: Any) -> None:
    """Compare one case with NumPy."""
    build, expect = CASES[name]

    def stage(k: Kernel) -> None:
        m = k.model
        results = build(k, k.data.x[:], m.real[:], m.integer[:])
        k.data.y[:] = np.array(results, dtype=object)

    x = X.astype(precision.replace("f", "float")).astype(float)
    found = apply(stage, x, precision=precision, **settings)["y"]
    wanted = expect(x.T, BUFFERS["float64"], BUFFERS["int32"])
    np.testing.assert_allclose(found, np.stack(wanted, axis=1), rtol=1e-14 if precision == "f64" else 2e-6)


if __name__ == "__main__":
    for case in CASES:
        print(case.replace(" ", "-"), flush=True)
        try_case(case, sys.argv[2], backend="taichi", runtime=sys.argv[1])
    print("done")
