"""Fields of the Model edited to zero: what MuJoCo 3.4.0 makes of a division by it, and no exception of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
from edited_scene import SOON, model_field
from lane_backend import LANES, lanes_missing
from test_edited_models import new_bench, present

import dovetail
from dovetail.contracts.types import MODEL_SPECS
from dovetail.errors import ArgumentError
from dovetail.plugins.solve_constraints import newton_numpy

KERNELS = pytest.mark.skipif(bool(lanes_missing()), reason=f"there is no backend {LANES}")
WAYS = ("numpy", pytest.param(LANES, marks=[KERNELS, pytest.mark.slow]))

HINGE = """<mujoco><worldbody><body><joint name="h" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
</mujoco>"""
ON_A_PLANE = """<mujoco><worldbody>
  <body><joint type="slide" axis="0 0 1"/><geom size=".1"/></body>
  <body pos="1 0 0"><freejoint/><geom size=".1"/></body>
  <geom type="plane" size="3 3 .1" pos="0 0 -.05"/></worldbody></mujoco>"""
BOX = """<mujoco><worldbody><body><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <geom type="plane" size="3 3 .1" pos="0 0 -.095"/></worldbody></mujoco>"""

CASES = {
    "an axis of nothing": (HINGE, "jnt_axis"),
    "a hinge without inertia of its own": (HINGE, "dof_M0"),
    "a slide that does not slide": (ON_A_PLANE, "jnt_axis"),
    "islands without inertia": (ON_A_PLANE, "dof_M0"),
    "one island without inertia": (BOX, "dof_M0"),
    "a box without mass": (BOX, "body_mass"),
}


def steps_of_mujoco(xml: str, field: str, count: int) -> list[Any]:
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    getattr(model, field)[...] = 0.0
    found = []
    for _ in range(count):
        mujoco.mj_step(model, data)
        found.append((data.time, np.array(data.qpos), np.array(data.qvel)))
    return found


SOLVED = ("a slide that does not slide", "islands without inertia")
"""Cases in kernels in every run of the tests; they share one kernel."""
RUNS = [
    *(pytest.param("numpy", case, id=f"numpy, {case}") for case in CASES),
    *(
        pytest.param(
            LANES,
            case,
            id=f"{LANES}, {case}",
            marks=[KERNELS, *([] if case in SOLVED else [pytest.mark.slow])],
        )
        for case in CASES
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("backend", "case"), RUNS)
def test_a_field_of_zero_does_what_it_does_in_mujoco(backend: str, case: str) -> None:
    """The first step: with a cost that is no number, what iterations add afterwards is left open."""
    xml, field = CASES[case]
    model = dovetail.loads(xml)
    getattr(model, field)[...] = 0.0
    sim = dovetail.Simulation(model, backend=backend)
    ((time, qpos, qvel),) = steps_of_mujoco(xml, field, 1)
    sim.step()
    assert sim.data.time == time
    np.testing.assert_allclose(sim.data.qpos, qpos, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sim.data.qvel, qvel, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", WAYS)
def test_a_field_of_zero_in_one_world_leaves_the_others_alone(backend: str) -> None:
    model = dovetail.loads(ON_A_PLANE)
    sim = dovetail.Simulation(model, nworld=3, backend=backend, per_world=("dof_M0",))
    sim.per_world["dof_M0"][1] = 0.0
    sim.step()
    usual = dovetail.Simulation(model, nworld=3, backend=backend)
    usual.step()
    ((_, qpos, _),) = steps_of_mujoco(ON_A_PLANE, "dof_M0", 1)
    np.testing.assert_allclose(np.asarray(sim.data.qpos)[1], qpos, rtol=1e-9, atol=1e-12)
    for world in (0, 2):
        np.testing.assert_allclose(
            np.asarray(sim.data.qpos)[world], np.asarray(usual.data.qpos)[world], rtol=1e-12
        )


SINGULAR = ("tendon_invweight0", "dof_M0")


@pytest.mark.filterwarnings("ignore")
def test_no_number_set_to_zero_raises_an_exception() -> None:
    """In a scene with everything that moves, those fields by which solvers divide; all of a small one."""
    for scene, fields in (("machine", SINGULAR), ("rod", tuple(MODEL_SPECS))):
        bench = new_bench(scene, midphase=False)
        for name in fields:
            if present(bench, name) and MODEL_SPECS[name].dtype.startswith("float"):
                with bench.edited(name, np.zeros_like(model_field(bench.theirs, name))):
                    bench.found("numpy", names=SOON)


@pytest.mark.filterwarnings("ignore")
def test_a_rangefinder_without_a_direction_is_told() -> None:
    """MuJoCo ends the process here."""
    model = dovetail.loads(
        '<mujoco><worldbody><geom size="1"/><site name="s" pos="0 0 3" euler="20 0 0"/></worldbody>'
        '<sensor><rangefinder site="s"/></sensor></mujoco>'
    )
    model.site_quat[...] = 0.0
    sim = dovetail.Simulation(model, backend="numpy")
    with pytest.raises(ArgumentError, match="ray 0 has no direction"):
        sim.step()


@pytest.mark.parametrize("H", [[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_a_singular_hessian_has_the_same_answer_sparse_and_dense(H: list[list[float]]) -> None:
    from scipy.sparse import csc_array

    dense = newton_numpy.solve_positive(np.array(H), np.ones(2))
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(newton_numpy.solve_positive(csc_array(np.array(H)), np.ones(2)), dense)


def test_many_blocks_one_of_which_is_singular_are_solved() -> None:
    """Cholesky's method may find pivots where elimination finds none."""
    found = newton_numpy.solve_alike(np.array([np.eye(2), np.full((2, 2), 2.0)]), np.ones((2, 2)))
    np.testing.assert_allclose(found[0], [1.0, 1.0])
    assert np.isfinite(found).all()
