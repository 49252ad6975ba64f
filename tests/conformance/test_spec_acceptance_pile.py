"""A hundred bodies dropped on a heap: contacts and accelerations are MuJoCo's, and memory grows with what touches."""

from __future__ import annotations

import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pytest
import robots

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.contracts.types import Model

SHAPES = (
    'type="box" size=".08 .06 .05"',
    'size=".06" condim="6" friction=".8 .01 .005"',
    'type="capsule" size=".05 .06" condim="4"',
    'type="box" size=".05 .05 .09" condim="1"',
)
COUNT = 100


@cache
def pile(count: int = COUNT, rise: float = 0.19) -> str:
    """Boxes, balls and capsules in layers of sixteen, a little out of line, over a floor with walls."""
    rng = np.random.default_rng(5)
    bodies = []
    for i in range(count):
        layer, place = divmod(i, 16)
        x, y = 0.2 * (place % 4 - 1.5), 0.2 * (place // 4 - 1.5)
        x, y, turn = x + 0.02 * rng.normal(), y + 0.02 * rng.normal(), rng.uniform(0, 90, 3)
        pose = f'pos="{x:.4f} {y:.4f} {0.12 + rise * layer:.4f}" euler="{turn[0]:.2f} {turn[1]:.2f} {turn[2]:.2f}"'
        bodies.append(f"<body {pose}><freejoint/><geom {SHAPES[i % len(SHAPES)]}/></body>")
    walls = "".join(
        f'<geom type="plane" pos="{x} {y} 0" zaxis="{-x} {-y} .001" size="1 1 1"/>'
        for x, y in ((0.6, 0), (-0.6, 0), (0, 0.6), (0, -0.6))
    )
    return (
        f'<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="2 2 1"/>{walls}{"".join(bodies)}'
        "</worldbody></mujoco>"
    )


@cache
def model() -> Model:
    return dovetail.loads(pile())


def fallen(steps: int) -> tuple[Any, Any]:
    """MuJoCo's model and data of the pile after some steps."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(pile())
    oracle = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, oracle, steps)
    return theirs, oracle


@pytest.mark.parametrize("cone", ["elliptic", pytest.param("pyramidal", marks=pytest.mark.slow)])
def test_a_pile_of_a_hundred_bodies_is_mujocos(cone: str) -> None:
    """At twenty states of the fall, injected: the same contacts in the same order, qacc to 1e-8."""
    mujoco = pytest.importorskip("mujoco")
    theirs, oracle = fallen(100)
    ours = model()
    before = int(ours.opt.cone)
    ours.opt.cone = theirs.opt.cone = int(cone == "elliptic")
    theirs.opt.tolerance = ours.opt.tolerance = 1e-12
    data = dovetail.make_data(ours)
    most = 0
    for _ in range(20 if cone == "pyramidal" else 5):
        mujoco.mj_step(theirs, oracle, 3)
        mujoco.mj_forward(theirs, oracle)
        robots.inject(data, oracle)
        dovetail.forward(ours, data)
        assert data.ncon == oracle.ncon
        assert np.array_equal(data.contact.geom[: data.ncon], oracle.contact.geom)
        for field in ("dist", "pos", "frame"):
            assert (
                relative_error(getattr(data.contact, field)[: data.ncon], getattr(oracle.contact, field))
                < 1e-9
            )
        assert relative_error(data.qacc, oracle.qacc) < 1e-8
        most = max(most, int(data.ncon))
    ours.opt.cone = before
    assert most > 150


def peak_memory(count: int) -> tuple[int, int, int]:
    """Bytes that a forward evaluation of a dense heap asks for beside its data, at most; its rows and islands."""
    heap = dovetail.loads(pile(count, rise=0.11))
    data = dovetail.make_data(heap)
    dovetail.forward(heap, data)
    tracemalloc.start()
    try:
        dovetail.forward(heap, data)
        return tracemalloc.get_traced_memory()[1], int(data.nefc), int(data.nisland)
    finally:
        tracemalloc.stop()


def test_memory_grows_with_the_rows_not_with_their_square() -> None:
    """Four times the bodies take less than six times the memory, where a square would be sixteen; and less than the
    nefc · nv doubles of a dense Jacobian."""
    (few, few_rows, _), (many, many_rows, islands) = peak_memory(40), peak_memory(160)
    assert many_rows > 3.5 * few_rows
    assert islands < 20  # most of it hangs together, so islands alone would not save memory
    assert many < 1.5 * few * many_rows / few_rows
    assert many < 8 * many_rows * 6 * 160
