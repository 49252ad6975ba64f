"""Many trees: elimination in an order that keeps the factor sparse, memory that grows with the bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.backends.lanes.kernel import Kernel, LaneLayout
from dovetail.bench.cases import heap
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.plugins.solve_constraints.sparse_hessian_lanes import MANY_TREES, SparseHessian

COUNT = MANY_TREES + 8


def simulation(text: str, lanes: int, backend: str = "native", nworld: int = 4) -> Any:
    model = dovetail.loads(text)
    sim = dovetail.Simulation(
        model, nworld=nworld, backend=backend, precision="f64", keep="state", lanes=lanes
    )
    sim.data.qvel[...] = 0.3 * np.random.default_rng(2).normal(size=(nworld, model.nv))
    return sim


def chains_in_a_heap(count: int) -> str:
    """Bodies of two links, whose blocks are partly filled, some tied together by a tendon or a connect."""
    bodies = "".join(
        f'<body name="b{n}" pos="{0.16 * (n % 4)} {0.15 * (n // 4 % 3)} {0.1 + 0.14 * (n // 12)}"><freejoint/>'
        '<geom size=".06"/>'
        f'<body pos=".09 0 0"><joint name="j{n}" axis="0 1 0" limited="true" range="-5 5" damping=".01"/>'
        '<geom size=".05"/></body></body>'
        for n in range(count)
    )
    tendons = "".join(
        f'<fixed frictionloss=".02"><joint joint="j{n}" coef="1"/><joint joint="j{n + 7}" coef="-2"/></fixed>'
        for n in range(0, count - 7, 9)
    )
    return (
        '<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="9 9 1"/>'
        f"{bodies}</worldbody><tendon>{tendons}</tendon>"
        '<equality><connect body1="b0" body2="b20" anchor="0 0 0" solref=".1 1"/></equality></mujoco>'
    )


@pytest.mark.by_default("chains")
@pytest.mark.parametrize("text", [heap(COUNT).source, chains_in_a_heap(COUNT)], ids=["heap", "chains"])
def test_many_trees_move_as_in_mujoco(text: str) -> None:
    """Each world as MuJoCo's after a fall; and the same bits whatever the number of lanes."""
    mujoco = pytest.importorskip("mujoco")
    one, many = simulation(text, 1), simulation(text, 4)
    for sim in (one, many):
        sim.step(60)
    assert np.array_equal(one.data.qpos, many.data.qpos)
    assert np.array_equal(one.data.qvel, many.data.qvel)
    theirs = mujoco.MjModel.from_xml_string(text)
    expected = []
    for world in range(4):
        data = mujoco.MjData(theirs)
        for name in ("qpos", "qvel", "qacc_warmstart"):
            getattr(data, name)[:] = getattr(one.data, name)[world]
        mujoco.mj_step(theirs, data)
        assert data.ncon > COUNT / 2
        expected.append(data.qvel.copy())
    one.step(1)
    assert np.abs(one.data.qvel - expected).max() < 1e-11


def test_tiles_of_many_trees_have_one_world() -> None:
    few, many = (dovetail.loads(str(heap(n).source)) for n in (MANY_TREES - 1, MANY_TREES))
    lanes = [dovetail.Simulation(m, nworld=8, backend="native").plan.lanes for m in (few, many)]
    assert lanes[0] > 1
    assert lanes[1] == 1


def test_a_heap_that_outgrows_its_room_gets_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = str(heap(COUNT).source)
    expected = simulation(text, 1)
    expected.step(40)
    assert "room" not in caplog.text
    monkeypatch.setattr(SparseHessian, "room", property(lambda H: H.k.room(H.most, H.nblock)))
    found = simulation(text, 1)
    found.step(40)
    assert "times the room" in caplog.text
    assert np.array_equal(expected.data.qpos, found.data.qpos)


def test_memory_grows_with_the_number_of_bodies_not_its_square() -> None:
    few, many = (numbers_of(n) for n in (100, 200))
    assert many < 2.1 * few


def numbers_of(count: int) -> int:
    """Numbers in all memory that the Hessian and the order of its elimination ask for."""
    model = dovetail.loads(str(heap(count).source))
    layout = LaneLayout(model={}, data={}, sizes={"nbody_row": 6 * count, **model.sizes}, frozen_model=model)
    k = Kernel(layout, lanes=1)
    H = SparseHessian(k, BodyRows(k), True, DofRows(k))
    order = H._elimination
    for owner in (H, order):
        for name, attribute in vars(type(owner)).items():
            if isinstance(attribute, property):
                getattr(owner, name)
    return int(sum(np.prod(shape) for shape in k.private.values()))


def test_few_blocks_are_filled_in(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A large ball, the last body, with small ones all around it. In the order of the bodies it would be eliminated
    first, which would tie all others together. By minimum degree the small ones go first: each has four blocks beside
    those of the large ball, and one within."""
    count = MANY_TREES + 8
    bodies = ""
    for n in range(count):
        height, angle = 1 - 2 * (n + 0.5) / count, 2.4 * n
        flat = 1.0995 * np.sqrt(1 - height**2)
        place = f"{flat * np.cos(angle):.6f} {flat * np.sin(angle):.6f} {1.0995 * height:.6f}"
        bodies += f'<body pos="{place}"><freejoint/><geom size=".1"/></body>'
    bodies += '<body><freejoint/><geom size="1"/></body>'
    monkeypatch.setattr(SparseHessian, "room", property(lambda H: H.k.room(H.most, 5 * count + 1)))
    text = f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"
    sim = dovetail.Simulation(dovetail.loads(text), nworld=1, backend="native", lanes=1, keep="all")
    sim.step(1)
    assert sim.data.ncon[0] == count
    assert "room" not in caplog.text
