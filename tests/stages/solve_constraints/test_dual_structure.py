"""What dual solvers in lanes work out before anything runs: the order of rows, and which dofs a contact moves."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from lane_backend import LANES
from row_zoo import zoo_text

import dovetail
from dovetail.backends.lanes.kernel import Kernel, LaneLayout
from dovetail.compare.oracle import model_from_mujoco
from dovetail.config import Config
from dovetail.planning.planner import compile_plan
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import CHUNK, fixed_order, moved_dofs_of


def zoo() -> Any:
    return mujoco.MjModel.from_xml_string(zoo_text(solver="PGS"))


OPTIONS = ['solver="PGS"', 'solver="CG"', 'solver="PGS" noslip_iterations="3"', 'noslip_iterations="3"']


@pytest.mark.parametrize("option", OPTIONS)
def test_plans_run_in_lanes_as_a_whole(option: str) -> None:
    text = f"""
    <mujoco><option {option}/><worldbody><geom type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    plan = compile_plan(dovetail.loads(text), Config.of_call(None, backend=LANES), nworld=8)
    assert {line.slot for line in plan.lines()} >= {"solve_constraints", "integrate"}
    assert not [line.fallback for line in plan.lines() if line.fallback]


def kernel_of(mj_model: Any) -> Kernel:
    """A kernel for what is worked out at plan time: it has no fields but the structure."""
    return Kernel(LaneLayout({}, {}, frozen_model=model_from_mujoco(mj_model)))


def test_items_stand_in_the_order_of_mujocos_rows() -> None:
    m = zoo()
    k = kernel_of(m)
    body_rows, rows = BodyRows(k), DofRows(k)
    owners = np.concatenate([table.ids for table in rows.tables.values()])
    found = [
        int(owners[place]) if place < rows.count else int(body_rows.equalities.ids[place - rows.count])
        for place in fixed_order(body_rows, rows)
    ]
    limits = np.flatnonzero(m.jnt_limited).tolist()
    both = [2 if m.jnt_type[joint] != mujoco.mjtJoint.mjJNT_BALL else 1 for joint in limits]
    wanted = [
        *range(m.neq),
        *np.flatnonzero(m.dof_frictionloss),
        *np.flatnonzero(m.tendon_frictionloss),
        *np.repeat(limits, both),
        *np.repeat(np.flatnonzero(m.tendon_limited), 2),
    ]
    assert found == wanted


def test_moved_dofs_are_the_ancestors_of_what_a_contact_moves() -> None:
    m = zoo()
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    k = kernel_of(m)
    body_rows, rows = BodyRows(k), DofRows(k)
    moved, pairs = moved_dofs_of(body_rows, rows), body_rows.contacts.pairs
    assert (moved.first % CHUNK == 0).all()
    data = mujoco.MjData(m)
    mujoco.mj_step(m, data, 30)
    assert data.ncon > 3
    J = data.efc_J.reshape(data.nefc, m.nv)
    index = {
        frozenset((int(a), int(b))): n for n, (a, b) in enumerate(zip(pairs.geom1, pairs.geom2, strict=True))
    }
    for contact in data.contact:
        dof_set = moved.of_pair[index[frozenset(contact.geom.tolist())]]
        dofs = moved.dofs[moved.first[dof_set] :][: moved.length[dof_set]]
        assert set(np.flatnonzero(J[contact.efc_address])) <= set(dofs)
        assert set(m.dof_parentid[dofs]) <= {*dofs, -1}
        assert (np.diff(dofs) < 0).all()
