"""Leaves that only slide are worked on together, and no bit depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.shared import tree_numpy
from dovetail.plugins.shared.tree_numpy import add_from_parents, add_to_parents, walked_and_sliding
from dovetail.plugins.shared.vectors_numpy import row_sums

POSES = ("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos")
INERTIAS = ("subtree_com", "cinert", "cdof", "crb", "M", "qLD", "qLDiagInv")
MOTION = ("cvel", "cdof_dot", "qfrc_bias", "qacc_smooth", "qacc")
AXES = ("1 0 0", "0 1 0", "0 0 1", "0.3 -2 1", "-1e-3 0 1")


def numbers(rng: np.random.Generator, count: int, scale: float = 1.0) -> str:
    return " ".join(map(str, rng.normal(0.0, scale, count)))


def vertex(rng: np.random.Generator) -> str:
    """A body with up to three slides: along axes of the world or others, with or without an offset, turned or not."""
    turned = f'quat="{numbers(rng, 4)}"' if rng.random() < 0.5 else ""
    slides = "".join(
        f'<joint type="slide" axis="{rng.choice(AXES)}" pos="{numbers(rng, 3, 0.1)}" ref="{rng.normal()}"/>'
        for _ in range(rng.integers(0, 4))
    )
    return f'<body pos="{numbers(rng, 3)}" {turned}>{slides}<geom size="0.01" pos="{numbers(rng, 3, 0.01)}"/></body>'


def model_of(seed: int) -> Any:
    """Such bodies on the world, a mocap body, and a free and a hinged body, with bodies between them that turn."""
    rng = np.random.default_rng(seed)
    several = ["".join(vertex(rng) for _ in range(12)) for _ in range(6)]
    return dovetail.loads(f"""
<mujoco>
  <default><joint armature="0.1"/></default>
  <option><flag contact="disable"/></option>
  <worldbody>
    {several[0]}
    <body mocap="true" pos="1 2 3" quat="1 0.5 0 0"><geom size="0.1"/>{several[1]}</body>
    <body mocap="true" pos="2 2 3"><geom size="0.1"/></body>
    <body pos="0 0 1"><freejoint/><geom size="0.1" pos="0.1 0 0"/>{several[2]}
      <body><joint type="hinge" axis="1 2 3"/><geom size="0.1"/>{several[3]}
        <body><joint type="ball"/><geom size="0.1"/></body>
        {several[4]}
      </body>
    </body>
    {several[5]}
    <body pos="1 0 1"><joint type="slide"/><joint type="hinge"/><geom size="0.1" pos="0.1 0 0"/></body>
  </worldbody>
</mujoco>""")


def evaluated(model: Any, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    data = dovetail.make_data(model)
    data.qpos[:] = model.qpos0 + rng.normal(0.0, 1.0, model.nq)
    data.qvel[:] = rng.normal(0.0, 1.0, model.nv)
    data.mocap_pos[:] = rng.normal(0.0, 1.0, (model.nmocap, 3))
    data.mocap_quat[:] = rng.normal(0.0, 1.0, (model.nmocap, 4))
    dovetail.forward(model, data)
    return {name: np.array(data.field(name)) for name in (*POSES, *INERTIAS, *MOTION)}


@pytest.mark.parametrize("seed", range(4))
def test_together_or_one_by_one_every_bit_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(seed)
    assert len(walked_and_sliding(model)[1]) > 60
    together = evaluated(model, seed)
    monkeypatch.setattr(tree_numpy, "MANY", model.nbody + 1)
    assert not len(walked_and_sliding(model)[1])
    one_by_one = evaluated(model, seed)
    differing = [name for name in together if not np.array_equal(together[name], one_by_one[name])]
    assert not differing


def test_only_leaves_that_nothing_turns_are_taken_together() -> None:
    model = model_of(0)
    walked, sliding = walked_and_sliding(model)
    assert sorted([*walked, *sliding]) == list(range(model.nbody))
    assert not set(sliding) & set(model.body_parentid)
    turning = model.jnt_bodyid[model.jnt_type != tree_numpy.SLIDE]
    assert not set(sliding) & set(turning)


@pytest.mark.parametrize("seed", range(4))
def test_sums_along_a_tree_are_rounded_as_a_loop_rounds_them(seed: int) -> None:
    """Numbers of very different sizes, so that the order of a sum shows."""
    rng = np.random.default_rng(seed)
    parents = np.sort(np.append(np.minimum(rng.integers(0, 400, 300), np.arange(300)), np.zeros(100, int)))
    parents = np.minimum(parents, np.maximum(np.arange(400) - 1, 0))
    rows = rng.normal(size=(400, 6)) * 10.0 ** rng.integers(-12, 12, (400, 1))
    up, down = rows.copy(), rows.copy()
    for body in range(399, 0, -1):
        up[parents[body]] += up[body]
    for body in range(1, 400):
        down[body] += down[parents[body]]
    summed, passed_on = rows.copy(), rows.copy()
    add_to_parents(summed, parents)
    add_from_parents(passed_on, parents)
    np.testing.assert_array_equal(summed, up)
    np.testing.assert_array_equal(passed_on, down)


def test_a_cloth_of_slides_is_quick_because_nothing_loops_over_its_bodies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The walk meets only the bodies that are not leaves, however many of those there are."""
    from dovetail.plugins.kinematics import tree_numpy as kinematics

    model = model_of(1)
    met = []
    walk = kinematics.walk
    monkeypatch.setattr(kinematics, "walk", lambda *given: (met.append(len(given[2])), walk(*given)))
    dovetail.forward(model, dovetail.make_data(model))
    assert met == [6]


def test_sums_of_no_rows_are_numbers_with_fractions() -> None:
    nothing = row_sums(np.zeros(0, int), np.zeros((0, 6)), 2)
    assert nothing.shape == (2, 6)
    assert nothing.dtype == float
