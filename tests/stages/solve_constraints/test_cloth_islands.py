"""A cloth on a floor is an island per vertex; solved side by side they have MuJoCo's answers and iterations."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from solver_reference import SOLVERS, answer_error, copied  # noqa: E402

from dovetail.plugins.islands.components_numpy import islands  # noqa: E402
from dovetail.plugins.solve_constraints import primal_numpy  # noqa: E402

CLOTH = """
<mujoco>
  <option timestep=".001" solver="{solver}" cone="{cone}"/>
  <worldbody><geom type="plane" size="5 5 .1" euler="0 5 0"/>
    <flexcomp name="cloth" type="grid" count="9 9 1" spacing=".03 .03 .03" radius=".005" mass=".2" dim="2"
      pos="0 0 .02">
      <elasticity young="3e4" poisson=".2" thickness=".003" elastic2d="both" damping="1e-4"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["Newton", "CG"])
def test_a_cloth_on_a_floor_is_solved_as_by_mujoco(solver: str, cone: str) -> None:
    mj_model = mujoco.MjModel.from_xml_string(CLOTH.format(solver=solver, cone=cone))
    expected = mujoco.MjData(mj_model)
    rng, most = np.random.default_rng(0), 0
    for _ in range(8):
        mujoco.mj_step(mj_model, expected, 12)
        expected.qvel[:] += rng.normal(0.0, 0.02, mj_model.nv)
        mujoco.mj_forward(mj_model, expected)
        if expected.nisland <= primal_numpy.FEW:
            continue
        most = max(most, int(expected.nisland))
        model, data = copied(mj_model, expected)
        islands(model, data)
        SOLVERS[solver.lower()][1](model, data)
        assert data.nisland == expected.nisland
        assert answer_error(data, expected) < 1e-9
        np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
        np.testing.assert_array_equal(data.solver_nnz, expected.solver_nnz)
    assert most > 40
