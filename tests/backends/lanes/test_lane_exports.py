"""Kernel fields that a kernel hands out: as it is after the last step of each tile, lists in their length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_small import BUFFERS, PLACES, ROWS, N, compile_small, stage

from dovetail.backends.lanes.exports import Export, Outbox
from dovetail.backends.lanes.kernel import Kernel, LaneError
from dovetail.backends.lanes.program import LaneProgram
from dovetail.contracts.arena import aligned_zeros
from dovetail.contracts.kernel_fields import KernelField, KernelKind, kernel_field

ROOM = 30
"""Rows of the list in the kernel: more than there is room for outside at first."""


def field(name: str, *shape: str | int, kind: KernelKind = "numbers") -> KernelField:
    return kernel_field(name, *shape, kind=kind, doc="Of this test.", writer="test")


FIELDS = {
    f.name: f
    for f in (
        field("list.row", ROOM, kind="integers"),
        field("list.pair", ROOM, 2),
        field("list.count", 1, kind="integers"),
        field("total.sum", 1),
        *(field(f"{name}.numbers", "n") for name in ("a", "b")),
        *(field(f"{name}.count", 1, kind="integers") for name in ("a", "b")),
    )
}
WRITTEN = " ".join(name for name in FIELDS if name.startswith(("list", "total")))

TILES = 3
LISTED = (Export("list.row", integers=True, count="list.count"), Export("list.pair", count="list.count"))
SUM = Export("total.sum")


def fill(k: Kernel) -> None:
    """A list of ⌊x₀ of any world⌋ rows, up to ROOM, with two numbers each; and the sum of x."""
    count = k.local(k.model.n - N)  # an Int
    with k.loop(0, ROOM) as i, k.when(k.any(k.data.x[0] > i * 1.0)):
        k.group("list").row[count.value] = 7 * i
        k.group("list").pair[count.value, 0] = k.data.x[1] + i * 1.0
        k.group("list").pair[count.value, 1] = k.data.x[2] * (i * 1.0)
        count += 1
    k.group("list").count[0] = count.value
    total = k.local(0.0)
    with k.loop(0, N) as i:
        total += k.data.x[i]
    k.group("total").sum[0] = total.value
    k.data.time = k.data.time + 1.0


def launch(program: LaneProgram, x: np.ndarray, nstep: int = 1) -> tuple[Outbox, np.ndarray]:
    """Run on tiles (TILES, N, W); returns what was exported, and time."""
    buffer = aligned_zeros((TILES, ROWS, program.lanes), np.dtype(float))
    buffer[:, :N] = x
    outbox = program.outbox()
    program.run(buffer, BUFFERS, nstep, outbox=outbox)
    return outbox, np.array(buffer[:, PLACES["time"].offset])


def compile_filled(exports: tuple[Export, ...], **more: Any) -> LaneProgram:
    filled = stage(fill, reads="x time", writes=f"y z time {WRITTEN}")
    return compile_small(filled, exports=exports, store=("time",), kernel_fields=FIELDS, **more)


@pytest.fixture(scope="module")
def program() -> LaneProgram:
    return compile_filled((*LISTED, SUM))


@pytest.fixture
def numbers(program: LaneProgram) -> np.ndarray:
    """Tiles whose longest lists have 2, 0 and 25 rows."""
    x = np.random.default_rng(0).normal(size=(TILES, N, program.lanes))
    x[:, 0] = 0.0
    x[0, 0, 5] = 1.5
    x[2, 0, 3] = 25.0
    return x


def test_lists_and_numbers_come_out(program: LaneProgram, numbers: np.ndarray) -> None:
    outbox, _ = launch(program, numbers)
    assert outbox.lengths.tolist() == [2, 0, 25]
    np.testing.assert_allclose(outbox["total.sum"][:, 0], numbers.sum(axis=1), atol=1e-14)
    for tile, length in enumerate(outbox.lengths):
        assert outbox["list.row"][tile, :length, 0].tolist() == [7 * i for i in range(length)]
        for i in range(length):
            expected = [numbers[tile, 1] + i, numbers[tile, 2] * i]
            assert np.array_equal(outbox["list.pair"][tile, i], expected)


def test_a_tile_that_had_no_room_outside_takes_its_steps_once(
    program: LaneProgram, numbers: np.ndarray
) -> None:
    outbox, time = launch(program, numbers, nstep=4)
    assert outbox.room >= 25
    assert (time == 4.0).all()


def test_what_no_stage_has_is_left_out() -> None:
    program = compile_filled((SUM, Export("list.nothing")), lanes=4)
    outbox, _ = launch(program, np.ones((TILES, N, 4)))
    assert "total.sum" in outbox
    assert "list.nothing" not in outbox
    assert np.array_equal(outbox["total.sum"], np.full((TILES, 1, 4), float(N)))
    assert not any("list." in name for name in program.fused.places)  # and what nobody takes is not computed


def test_lists_of_different_lengths_are_refused() -> None:
    def two(k: Kernel) -> None:
        for name in ("a", "b"):
            k.group(name).numbers[0] = k.data.x[0]
            k.group(name).count[0] = k.model.integer[0]

    exports = [Export(f"{name}.numbers", count=f"{name}.count") for name in ("a", "b")]
    with pytest.raises(LaneError, match="exported lists must have one length"):
        compile_small(stage(two, writes=" ".join(FIELDS)), exports=exports, store=(), kernel_fields=FIELDS)
