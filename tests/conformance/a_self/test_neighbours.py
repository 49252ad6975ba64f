"""What a world is given does not depend on the worlds beside it: all fields, bit for bit, and right beside MuJoCo.

Worlds of a tile go together until the last of them has converged, tree by tree. What is read from the solver
afterwards (forces at contacts, sensors, forces inside bodies) must be that of each world's own last step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

NWORLD = 11
"""A full tile and a part of one."""

BEHIND_THE_SOLVER = ("qacc", "qfrc_constraint", "efc_force", "sensordata", "cfrc_ext", "cfrc_int", "cacc")


def boxes(count: int, options: str) -> str:
    """Boxes on each other, each a tree with sensors of all that the solver's forces reach."""
    places = range(count)
    bodies = "".join(
        f"""<body pos="{0.02 * n} 0 {0.1 + 0.196 * n}"><freejoint/><geom type="box" size=".1 .1 .1"/>
          <site name="s{n}" type="box" size=".11 .11 .11"/></body>"""
        for n in places
    )
    sensors = "".join(f'<touch site="s{n}"/><force site="s{n}"/><torque site="s{n}"/>' for n in places)
    return f"""<mujoco><option {options}/><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody>
      <sensor>{sensors}</sensor></mujoco>"""


def starts(model: Any) -> list[Any]:
    """Worlds in which boxes touch in different ways; in some of them none does."""
    rng, found = np.random.default_rng(5), []
    for world in range(NWORLD):
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(0, 0.02 if world % 3 else 0, model.nv), 1.0)
        data.qvel[:] = rng.normal(0, 0.1, model.nv)
        data.qpos[2::7] += 1.0 if world % 4 == 3 else 0.0
        found.append(data)
    return found


def check(count: int, options: str, steps: int) -> None:
    xml = boxes(count, options)
    theirs, ours = mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml)
    worlds = starts(theirs)
    one = dovetail.Simulation(ours, backend="native")
    batch = dovetail.Simulation(ours, nworld=NWORLD, backend="native", keep="all")
    for _ in range(steps):
        for field in ("qpos", "qvel", "qacc_warmstart"):
            setattr(batch.data, field, np.array([getattr(data, field) for data in worlds]))
        batch.step()
        for world, data in enumerate(worlds):
            for field in ("qpos", "qvel", "qacc_warmstart"):
                getattr(one.data, field)[:] = getattr(data, field)
            one.step()
            near = mujoco.MjData(theirs)
            for field in ("qpos", "qvel", "qacc_warmstart"):
                getattr(near, field)[:] = getattr(data, field)
            near.qvel[:] += 1e-14 * np.random.default_rng(1).standard_normal(theirs.nv)
            mujoco.mj_step(theirs, near)
            mujoco.mj_step(theirs, data)
            for field in BEHIND_THE_SOLVER:
                want = getattr(data, field)
                alone, beside = getattr(one.data, field), getattr(batch.data, field)[world]
                if field == "efc_force":
                    alone, beside = alone[: data.nefc], beside[: data.nefc]
                np.testing.assert_array_equal(beside, alone, err_msg=f"{field} of world {world}")
                moved = np.abs(getattr(near, field) - want).max(initial=0) if near.nefc == data.nefc else 0
                allowed = 1e-9 * (1 + np.abs(want).max(initial=0)) + 1000 * moved
                np.testing.assert_allclose(beside, want, rtol=0, atol=allowed, err_msg=field)


@pytest.mark.by_default("2-")
@pytest.mark.parametrize(("count", "options"), [(2, ""), (4, 'cone="elliptic"')])
def test_forces_are_those_of_the_world(count: int, options: str) -> None:
    check(count, options, steps=12)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 5, 8])
@pytest.mark.parametrize(
    "options",
    ["", 'cone="elliptic"', 'solver="CG"', 'solver="PGS"', 'noslip_iterations="3"', 'iterations="2"'],
)
def test_forces_of_more_boxes(count: int, options: str) -> None:
    check(count, options, steps=40)
