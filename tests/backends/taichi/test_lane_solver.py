"""Newton's method in lanes beside mujoco's, contacts being the same: every kind of row, both cones."""

from __future__ import annotations

from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_constrained import Worlds, answers, make_worlds, set_from, states_in_contact
from lane_zoo import real, zoo

NWORLD = 13
FIELDS = ("qacc", "qfrc_constraint")
TOLERANCE = {"f64": 1e-8, "f32": 1e-4}
"""Largest error relative to the largest number of a world's field. Measured: 5e-11 and 6e-6."""
TIGHT = 1e-14
"""Solver tolerance for comparisons: mujoco solves islands one by one, so that at a looser one both stop at
different places, each right within the tolerance."""


@cache
def model(name: str) -> Any:
    kind, _, cone = name.partition(" ")
    m = zoo(cone, 4 if cone == "elliptic" else 3) if kind == "zoo" else real(kind, cone)
    m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.tolerance = TIGHT
    return m


@cache
def states(name: str) -> list[Any]:
    warmup = {"zoo": 10, "ant": 150}.get(name.partition(" ")[0], 40)
    found = states_in_contact(model(name), NWORLD, warmup=warmup)
    if model(name).neq:
        for data in found[::2]:  # worlds differ in what is switched on
            data.eq_active[6] = 1
            mujoco.mj_forward(model(name), data)
    return found


@cache
def worlds(name: str, precision: str = "f64", lanes: int | None = None) -> Worlds:
    return make_worlds(model(name), NWORLD, precision=precision, lanes=lanes)


def errors(found: Worlds, datas: list[Any]) -> dict[str, np.ndarray]:
    """Per world, relative to its largest number."""
    return {
        name: np.abs(found[name] - wanted).max(axis=1) / np.maximum(1.0, np.abs(wanted).max(axis=1))
        for name, wanted in answers(datas, *FIELDS).items()
    }


def test_the_states_have_every_kind_of_row() -> None:
    kinds = {int(kind) for data in states("zoo pyramidal") for kind in data.efc_type}
    assert kinds == {0, 1, 2, 3, 4, 5, 6}
    assert {int(kind) for data in states("zoo elliptic") for kind in data.efc_type} >= {5, 7}
    assert {int(dim) for data in states("zoo elliptic") for dim in data.contact.dim} >= {1, 4, 6}


ROBOTS = ["ant elliptic", "humanoid pyramidal", "humanoid elliptic"]


@pytest.mark.parametrize(
    "name",
    [
        "zoo pyramidal",
        "zoo elliptic",
        "half_cheetah pyramidal",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ROBOTS),
    ],
)
def test_accelerations_are_mujocos(name: str) -> None:
    found = worlds(name)
    set_from(found, states(name))
    found.run()
    assert sum(data.ncon for data in states(name)) > NWORLD / 2
    for field, error in errors(found, states(name)).items():
        assert error.max() <= TOLERANCE["f64"], (field, error)


def test_single_precision_stays_close() -> None:
    found = worlds("half_cheetah pyramidal", "f32")
    set_from(found, states("half_cheetah pyramidal"))
    found.run()
    for field, error in errors(found, states("half_cheetah pyramidal")).items():
        assert error.max() <= TOLERANCE["f32"], (field, error)


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    """Other worlds change which rows the tile has, where the Hessian has entries and how long it iterates."""
    name, mine = "zoo elliptic", 3
    found = worlds(name)
    set_from(found, states(name))
    found.run()
    together = {field: found[field][mine].copy() for field in FIELDS}
    for others in (states(name)[mine], states(name)[0], mujoco.MjData(model(name))):
        mujoco.mj_forward(model(name), others)
        set_from(found, [states(name)[mine] if n == mine else others for n in range(NWORLD)])
        found.run()
        for field, value in together.items():
            np.testing.assert_array_equal(found[field][mine], value)


def test_a_broken_world_breaks_no_other() -> None:
    name = "half_cheetah pyramidal"
    found = worlds(name)
    set_from(found, states(name))
    found.run()
    whole = {field: found[field].copy() for field in FIELDS}
    qvel = found["qvel"].copy()
    qvel[2] = np.nan
    found["qvel"] = qvel
    found.run()
    others = np.arange(NWORLD) != 2
    for field, value in whole.items():
        np.testing.assert_array_equal(found[field][others], value[others])


def test_lanes_do_not_matter() -> None:
    name = "half_cheetah pyramidal"
    results = []
    for lanes in (None, 1):
        found = worlds(name, lanes=lanes)
        set_from(found, states(name))
        found.run()
        results.append({field: found[field].copy() for field in FIELDS})
    for field in FIELDS:
        np.testing.assert_array_equal(results[0][field], results[1][field])


def test_worlds_without_rows_have_the_smooth_acceleration() -> None:
    name = "half_cheetah pyramidal"
    found = worlds(name)
    flying = mujoco.MjData(model(name))
    flying.qpos[1] = 3.0
    mujoco.mj_forward(model(name), flying)
    assert flying.nefc == 0
    set_from(found, [flying, *states(name)[1:]])
    found.run()
    np.testing.assert_array_equal(found["qacc"][0], found["qacc_smooth"][0])
    assert not found["qfrc_constraint"][0].any()


def test_iterations_and_flags_are_read_at_run_time() -> None:
    name = "half_cheetah pyramidal"
    found, option = worlds(name), worlds(name).model.opt
    set_from(found, states(name))
    found.run()
    solved = found["qacc"].copy()
    iterations, flags = int(option.iterations), int(option.disableflags)
    try:
        option.iterations = 0
        found.run()
        assert np.abs(found["qacc"] - solved).max() > 1e-3
        option.iterations = iterations
        option.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        found.run()
        np.testing.assert_allclose(found["qacc"], solved, rtol=0, atol=1e-9 * np.abs(solved).max())
    finally:
        option.iterations, option.disableflags = iterations, flags
