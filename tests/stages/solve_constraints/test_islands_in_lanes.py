"""Lane solvers beside MuJoCo, island by island, on scenes of many bodies: stiff and soft stacks, robots, a heap.

An island's error is the largest difference of its accelerations, beside the largest acceleration that it has.
Newton's method and PGS agree to 1e-8 of that, or to 1e-10 absolutely where an island rests and it is nearly zero.
Conjugate gradients stop where rounding decides whether one more iteration is made, so that islands at rest only come
so near to it: there the largest acceleration with or without constraints is what 1e-8 is of. In one island of twenty
that does not hold; then MuJoCo itself moves as much when qpos is nudged by 1e-14 (up to 0.04 of 40 rad/s² here).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

KINDS = (
    "",
    'solref=".004 1" solimp=".99 .999 .001"',
    'solref=".1 .7" solimp=".3 .6 .02" density="50"',
    'density="8000" friction=".3 .005 .0001"',
    'condim="4" friction=".7 .02 .001"',
)
"""Of the boxes of stacks: usual, stiff, soft and light, heavy and slippery, with torsional friction."""

SHAPES = (
    'type="box" size=".08 .05 .04"',
    'type="capsule" size=".04 .08" condim="6" friction=".8 .01 .01"',
    'size=".06"',
)

WORLDS = 8


def stack(count: int, x: float, size: float, attributes: str) -> str:
    """Boxes on top of one another, a little out of line."""
    bodies = ""
    for i in range(count):
        place = (
            f"{x + 0.003 * np.sin(3 * i + x):.5f} {0.003 * np.cos(5 * i + x):.5f} {size * (2 * i + 1):.5f}"
        )
        shape = f'type="box" size="{size} {0.9 * size} {size}" {attributes}'
        bodies += f'<body pos="{place}"><freejoint/><geom {shape}/></body>'
    return bodies


def stacks() -> str:
    """Ten stacks of two to five boxes, a ball that lies and one that falls."""
    found = "".join(stack(2 + i % 4, 1.0 * i, 0.08 + 0.01 * i, kind) for i, kind in enumerate(KINDS * 2))
    for place in ("0 3 .099", "1 3 .3"):
        found += f'<body pos="{place}"><freejoint/><geom size=".1"/></body>'
    return found


def robot(name: str, x: float, y: float, stiffness: int) -> str:
    """Four legs with limits, some with dry friction."""
    loss = f'frictionloss="{0.1 * stiffness}"'
    legs = "".join(
        f'<body pos="{dx} {dy} 0"><joint axis="0 1 0" range="-40 40" limited="true" damping=".2" {loss}/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02"/>'
        '<body pos="0 0 -.2"><joint axis="0 1 0" range="-60 5" limited="true" damping=".1"/>'
        '<geom type="capsule" fromto="0 0 0 .03 0 -.2" size=".018" '
        f'solref="{0.02 / (1 + stiffness)} 1"/></body></body>'
        for dx in (0.15, -0.15)
        for dy in (0.1, -0.1)
    )
    trunk = f'<freejoint/><geom type="box" size=".2 .1 .04" density="{400 * (1 + stiffness)}"/>'
    return f'<body name="{name}" pos="{x} {y} .41">{trunk}{legs}</body>'


def robots() -> str:
    """Six robots side by side, of which one carries a box."""
    found = "".join(robot(f"r{i}", 0.9 * (i % 3), 0.8 * (i // 3), i % 4) for i in range(6))
    return found + '<body pos=".9 0 .55"><freejoint/><geom type="box" size=".05 .05 .05"/></body>'


def mixture() -> str:
    """Stacks, a heap, two robots welded together, an arm at its limits."""
    rng = np.random.default_rng(3)
    found = stacks() + robot("r0", 0, -2, 1) + robot("r1", 0, -3, 3)
    for i in range(14):
        x, y, turn = 3 + rng.uniform(-0.15, 0.15), -2 + rng.uniform(-0.15, 0.15), rng.uniform(0, 90, 3)
        pose = f'pos="{x:.4f} {y:.4f} {0.1 + 0.09 * i:.4f}" euler="{turn[0]:.2f} {turn[1]:.2f} {turn[2]:.2f}"'
        found += f"<body {pose}><freejoint/><geom {SHAPES[i % 3]}/></body>"
    link = '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>'
    return found + (
        f'<body pos="-2 0 1"><joint axis="0 1 0" range="-20 20" limited="true"/>{link}'
        f'<body pos=".3 0 0"><joint type="ball" range="0 30" limited="true"/>{link}</body></body>'
    )


SCENES = {"stacks": stacks, "robots": robots, "mixture": mixture}
WELD = {"mixture": '<equality><weld body1="r0" body2="r1"/></equality>'}


def scene(name: str, solver: str, cone: str, flags: str = "") -> str:
    return (
        f'<mujoco><option solver="{solver}" cone="{cone}" timestep=".004">{flags}</option><worldbody>'
        f'<geom type="plane" size="9 9 1"/>{SCENES[name]()}</worldbody>{WELD.get(name, "")}</mujoco>'
    )


@cache
def evaluations(text: str) -> tuple[Any, ...]:
    """MuJoCo's evaluations at states of a fall, and its accelerations when they are nudged."""
    model = mujoco.MjModel.from_xml_string(text)
    rng, data, found = np.random.default_rng(0), mujoco.MjData(model), []
    data.qvel[:] = 0.1 * rng.normal(size=model.nv)
    for _ in range(WORLDS):
        mujoco.mj_step(model, data, 25)
        state = data.qpos.copy(), data.qvel.copy(), data.qacc_warmstart.copy()
        nudged = []
        for _ in range(4):
            nudge = 1 + 1e-14 * rng.choice([-1, 1], size=model.nq)
            nudged.append(evaluated(model, state[0] * nudge, *state[1:]).qacc)
        found.append((evaluated(model, *state), np.array(nudged)))
    return tuple(found)


def evaluated(model: Any, qpos: Any, qvel: Any, warmstart: Any) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, warmstart
    mujoco.mj_forward(model, data)
    return data


def accelerations(text: str, **options: Any) -> Any:
    """Ours at the same states, all in one batch."""
    sim = dovetail.Simulation(
        dovetail.loads(text), nworld=WORLDS, backend="native", precision="f64", keep="all", **options
    )
    for name in ("qpos", "qvel", "qacc_warmstart"):
        getattr(sim.data, name)[...] = [getattr(data, name) for data, _ in evaluations(text)]
    sim.forward()
    return np.array(sim.data.qacc)


def islands(text: str, found: Any) -> list[tuple[float, float, float, float, int]]:
    """Of each island of each world: difference, largest acceleration, the same without constraints, MuJoCo's own
    difference under a nudge, and its iterations."""
    result = []
    for own, (data, nudged) in zip(found, evaluations(text), strict=True):
        for island in range(-1, data.nisland):
            dofs = data.dof_island == island
            if dofs.any():
                expected = data.qacc[dofs]
                result.append(
                    (
                        float(np.abs(own[dofs] - expected).max()),
                        float(np.abs(expected).max()),
                        float(np.abs(data.qacc_smooth[dofs]).max()),
                        float(np.abs(nudged[:, dofs] - expected).max()),
                        int(data.solver_niter[island]) if 0 <= island < len(data.solver_niter) else 0,
                    )
                )
    return result


@pytest.mark.by_default("stacks-elliptic", "robots-pyramidal", "mixture-elliptic")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", SCENES)
def test_newton_agrees_in_every_island(name: str, cone: str) -> None:
    text = scene(name, "Newton", cone)
    found = islands(text, accelerations(text))
    assert len(found) > 40
    for difference, largest, *_ in found:
        assert difference < max(1e-8 * largest, 1e-10)
    assert max(difference for difference, *_ in found) < 1e-10
    assert len({iterations for *_, iterations in found}) > (cone == "elliptic" or name != "stacks")


@pytest.mark.by_default("elliptic")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_newton_agrees_without_islands(cone: str) -> None:
    text = scene("robots", "Newton", cone, '<flag island="disable"/>')
    for (data, _), own in zip(evaluations(text), accelerations(text), strict=True):
        assert data.nisland == 0
        assert np.abs(own - data.qacc).max() < 1e-9


@pytest.mark.by_default("stacks-pyramidal", "robots-elliptic", "mixture-pyramidal")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", SCENES)
def test_conjugate_gradients_agree_where_mujoco_agrees_with_itself(name: str, cone: str) -> None:
    text = scene(name, "CG", cone)
    found = islands(text, accelerations(text))
    assert max(iterations for *_, iterations in found) > 20
    agreeing = 0
    for difference, largest, smooth, nudge, _ in found:
        assert difference < max(1e-8 * max(largest, smooth), 20 * nudge)
        agreeing += difference < 1e-8 * max(largest, smooth)
    assert agreeing > 0.9 * len(found)


@pytest.mark.by_default("stacks-elliptic", "robots-pyramidal")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", ["stacks", "robots"])
def test_projected_gauss_seidel_agrees_in_every_island(name: str, cone: str) -> None:
    text = scene(name, "PGS", cone)
    for difference, largest, *_ in islands(text, accelerations(text)):
        assert difference < max(1e-8 * largest, 1e-10)


@pytest.mark.by_default("Newton")
@pytest.mark.parametrize("solver", ["Newton", "CG"])
def test_a_world_does_not_depend_on_the_islands_of_others(solver: str) -> None:
    """Worlds of a tile fall into different islands; alone each gives the same bits."""
    text = scene("robots", solver, "elliptic")
    assert np.array_equal(accelerations(text, lanes=1), accelerations(text, lanes=8))
