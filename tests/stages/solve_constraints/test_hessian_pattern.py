"""Which blocks of the solver's Hessian have entries: lists of the tree, and memory that outgrows its room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.backends.lanes.kernel import Kernel, LaneLayout
from dovetail.plugins.shared.rows.rows_lanes import BodyRows
from dovetail.plugins.solve_constraints import hessian_lanes
from dovetail.plugins.solve_constraints.hessian_lanes import (
    BlockLists,
    Hessian,
    ancestors_of,
    blocks_of,
    descendants_of,
)


def row_of_spheres(n: int, gap: float = 0.25) -> str:
    bodies = "".join(
        f'<body pos="{gap * i} 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>'
        for i in range(n)
    )
    return f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>'


def pairs(lists: BlockLists) -> list[tuple[int, int]]:
    return [
        (n, int(other))
        for n, (start, end) in enumerate(zip(lists.start, lists.start[1:], strict=False))
        for other in lists.blocks[start:end]
    ]


def test_the_lists_of_a_tree_are_its_chains() -> None:
    """Every pair of a dof and its ancestor in another block, in both directions, ascending."""
    model = dovetail.load("humanoid")
    blocks = blocks_of(model)
    expected = set()
    for dof in range(model.nv):
        above = int(model.dof_parentid[dof])
        while above >= 0:
            expected.add((int(blocks.of[dof]), int(blocks.of[above])))
            above = int(model.dof_parentid[above])
    expected = {(block, other) for block, other in expected if block != other}
    ancestors = ancestors_of(model, blocks)
    assert pairs(ancestors) == sorted(expected)
    assert pairs(descendants_of(ancestors)) == sorted((other, block) for block, other in expected)


def test_memory_grows_with_the_number_of_bodies_not_its_square() -> None:
    few, many = (rows_of_blocks(n) for n in (200, 400))
    assert many == 2 * few


def rows_of_blocks(nbody: int) -> int:
    k = Kernel(LaneLayout({}, {}, sizes={}, frozen_model=dovetail.loads(row_of_spheres(nbody))))
    return Hessian(k, BodyRows(k), fills=True).blocks_field.shape[0]


@pytest.mark.slow
def test_a_pattern_that_outgrows_its_room_is_solved_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one world of two tiles a row of spheres is pushed together."""
    roomy = run()
    monkeypatch.setattr(hessian_lanes, "USUAL_ROOM", 0)
    monkeypatch.setattr(hessian_lanes, "USUAL_WIDTH", 1)
    messages: list[str] = []
    monkeypatch.setattr(
        "dovetail.backends.lanes.runner.logger.warning", lambda text, *_: messages.append(text)
    )
    tight = run()
    assert len(messages) == 1
    for name, values in roomy.items():
        assert np.array_equal(values, tight[name]), name


def run() -> dict[str, Any]:
    sim = dovetail.Simulation(dovetail.loads(row_of_spheres(6)), nworld=16, backend=LANES)
    qpos = np.array(sim.data.qpos)
    qpos[:, 2::7] = 0.0999
    qpos[11, 0::7] *= 0.79
    sim.data.qpos = qpos
    sim.step(12)
    return {name: np.array(sim.data.field(name)) for name in ("qpos", "qvel", "qacc_warmstart")}
