"""Bodies that touch exactly are found where MuJoCo finds them, whose sweep sorts boxes in single precision."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_backend import LANES
from numpy.typing import NDArray

import dovetail
from dovetail.compare.oracle import model_from_mujoco

Array = NDArray[Any]

DIRECTIONS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, -0.28, 0.96], [-1, 0, 0]])
SECOND = '<body><freejoint/><geom size=".15"/></body>'
OTHERS = {
    "alone": SECOND,
    "with a third": SECOND + '<body><freejoint/><geom size=".1"/></body>',
    "in a body of two": '<body><freejoint/><geom size=".15"/><geom size=".05" pos=".4 .3 .5"/></body>',
    "with a margin": '<body><freejoint/><geom size=".12" margin=".03"/></body>',
    "and a capsule": '<body><freejoint/><geom type="capsule" size=".15 .2"/></body>',
    "over a plane": SECOND + '<geom type="plane" size="5 5 .1" pos="0 0 -9"/>',
}


def model(other: str) -> Any:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><freejoint/><geom size='.1'/></body>{OTHERS[other]}</worldbody></mujoco>"
    )


def places(mj_model: Any, count: int) -> Iterator[Array]:
    """The first two balls at a distance at which they touch, and nearly so; a third one far off."""
    rng = np.random.default_rng(count)
    for _, direction, off in product(range(count), DIRECTIONS, (0.0, 3e-9, -3e-9, -1e-7)):
        qpos = mj_model.qpos0.copy()
        qpos[:3] = rng.integers(-20, 20, 3) * 0.05
        qpos[7:10] = qpos[:3] + (0.25 + off) * direction
        qpos[14:17] = [3.0, -7.0, 5.0][: len(qpos[14:17])]
        yield qpos


def forward(mj_model: Any, qpos: Array) -> Any:
    data = mujoco.MjData(mj_model)
    data.qpos[:] = qpos
    mujoco.mj_forward(mj_model, data)
    return data


def compare(other: str, backend: str, count: int) -> tuple[int, int]:
    """Check how many contacts there are at many places; in how many there is one, and in how many none."""
    mj_model = model(other)
    simulation = dovetail.Simulation(model_from_mujoco(mj_model), backend=backend)
    found = [0, 0]
    for qpos in places(mj_model, count):
        theirs = forward(mj_model, qpos)
        simulation.data.qpos[...] = qpos
        simulation.forward()
        assert (simulation.data.ncon, simulation.data.nefc) == (theirs.ncon, theirs.nefc), qpos
        found[int(theirs.ncon == 0)] += 1
    return found[0], found[1]


@pytest.mark.by_default("alone", "with a margin", "over a plane")
@pytest.mark.parametrize("other", OTHERS)
def test_bodies_that_barely_touch_have_the_contacts_of_mujoco(other: str) -> None:
    touching, missed = compare(other, "numpy", 4)
    assert touching > 10
    assert missed > 10 or other in ("with a third", "with a margin", "in a body of two")


@pytest.mark.parametrize(
    "other", ["alone", *(pytest.param(o, marks=pytest.mark.slow) for o in [*OTHERS][1:])]
)
def test_bodies_that_barely_touch_have_the_contacts_of_mujoco_in_kernels(other: str) -> None:
    touching, _ = compare(other, LANES, 20)
    assert touching > 10


def test_worlds_of_a_batch_have_their_own_contacts() -> None:
    mj_model = model("alone")
    wanted = list(places(mj_model, 3))
    simulation = dovetail.Simulation(
        model_from_mujoco(mj_model), backend=LANES, nworld=len(wanted), keep=["ncon"]
    )
    simulation.data.qpos = np.array(wanted)
    simulation.forward()
    theirs = [forward(mj_model, qpos).ncon for qpos in wanted]
    assert 0 < np.mean(theirs) < 1
    np.testing.assert_array_equal(simulation.data.ncon, theirs)
