"""Projected Gauss-Seidel in lanes beside mujoco's, contacts being the same: every kind of row, sweep by sweep."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_constrained import _stage, constrained_stages, make_worlds, set_from
from lane_program import group
from lane_solvers import (
    FIELDS,
    NWORLD,
    STAGES,
    check_lanes,
    check_neighbours,
    errors,
    model,
    options,
    solved,
    states,
)

import dovetail
from dovetail.backends.lanes.kernel import Kernel, LaneLayout
from dovetail.compare.oracle import model_from_mujoco
from dovetail.config import Config
from dovetail.planning.planner import compile_plan
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import CHUNK, fixed_order, moved_dofs_of

TOLERANCE = {"f64": 1e-10, "f32": 1e-4}
"""Largest error relative to the largest number of a world's field. Measured: 2e-13 and 2e-5. Sweeps stop short of the
minimum, so this holds only if every one of them does what mujoco's does."""

PYRAMIDS, CONES = "yard pyramidal 3 4", "yard elliptic 3 3"
OTHERS = [
    "yard pyramidal 3 3",
    "yard elliptic 4 6",
    "zoo pyramidal",
    "zoo elliptic",
    "half_cheetah pyramidal",
    "ant elliptic",
    "humanoid pyramidal",
]

LEFT = " ".join(group("contact_list", "body_rows"))
"""What the solver has left for a later stage."""


def test_the_states_have_every_kind_of_row() -> None:
    for name, kinds in ((PYRAMIDS, {0, 1, 3, 5, 6}), (CONES, {0, 1, 3, 5, 7})):
        assert {int(kind) for data in states(name, "pgs") for kind in data.efc_type} == kinds
        assert max(data.solver_niter[0] for data in states(name, "pgs")) > 20


@pytest.mark.parametrize(
    "name", [PYRAMIDS, CONES, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_accelerations_are_mujocos(name: str) -> None:
    found = solved(name, "pgs")
    assert sum(data.ncon for data in states(name, "pgs")) > 3
    for field, error in errors(found, states(name, "pgs")).items():
        assert error.max() <= TOLERANCE["f64"], (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_every_sweep_is_mujocos(name: str, iterations: int) -> None:
    """Without sweeps, what remains is the choice between last step's forces and none."""
    with options(name, "pgs", iterations=iterations):
        for field, error in errors(solved(name, "pgs"), states(name, "pgs")).items():
            assert error.max() <= TOLERANCE["f64"], (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_a_cold_start_is_mujocos(name: str) -> None:
    flags = int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
    warm = solved(name, "pgs")["qacc"].copy()
    with options(name, "pgs", iterations=2, disableflags=flags):
        found = solved(name, "pgs")
        assert np.abs(found["qacc"] - warm).max() > 1e-3
        for field, error in errors(found, states(name, "pgs")).items():
            assert error.max() <= TOLERANCE["f64"], (field, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_single_precision_stays_close(name: str) -> None:
    found = solved(name, "pgs", "f32")
    for field, error in errors(found, states(name, "pgs")).items():
        assert error.max() <= TOLERANCE["f32"], (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_a_world_does_not_depend_on_its_neighbours(name: str) -> None:
    check_neighbours(name, "pgs")


@pytest.mark.slow
def test_lanes_do_not_matter() -> None:
    check_lanes(CONES, "pgs")


def test_a_broken_world_breaks_no_other() -> None:
    found = solved(PYRAMIDS, "pgs")
    whole = {field: found[field].copy() for field in FIELDS}
    qvel = found["qvel"].copy()
    qvel[2] = np.nan
    found["qvel"] = qvel
    found.run()
    others = np.arange(NWORLD) != 2
    for field, value in whole.items():
        np.testing.assert_array_equal(found[field][others], value[others])


@pytest.mark.slow
@pytest.mark.parametrize("name", [PYRAMIDS, CONES, "yard elliptic 4 6"])
@pytest.mark.parametrize("solver", ["pgs", "newton"])
def test_friction_without_slip_is_mujocos(name: str, solver: str) -> None:
    """Newton's tolerance is tight because mujoco finds its own minimum, to which the pass then adds."""
    tight = {"tolerance": 1e-14} if solver == "newton" else {}
    with options(name, f"{solver}+noslip", **tight):
        found, datas = solved(name, f"{solver}+noslip"), states(name, f"{solver}+noslip")
        slipping = np.array([data.qacc for data in states(name, "pgs")])
        assert np.abs(found["qacc"] - slipping).max() > 1e-3
        for field, error in errors(found, datas).items():
            assert error.max() <= (1e-8 if tight else TOLERANCE["f64"]), (field, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_forces_are_left_for_later_stages(name: str) -> None:
    m = model(name, "pgs")

    def show(k: Kernel) -> None:
        body_rows, target = BodyRows(k), k.data.extra["test:force"]
        with k.loop(0, body_rows.contacts.count) as c:
            target[c] = body_rows.force[body_rows.nequality + c]

    room = BodyRows(kernel_of(m)).contacts.room
    shapes = {"test:force": (room, 6)}
    stages = [*constrained_stages(STAGES["pgs"]), _stage("show", show, f"test:force {LEFT}", "test:force")]
    found = make_worlds(m, 1, stages=stages, keep=["test:force"], added=shapes, lanes=1)
    for data in states(name, "pgs")[:4]:
        set_from(found, [data])
        found.run()
        wanted = np.zeros((data.ncon, 6))
        for c in range(data.ncon):
            mujoco.mj_contactForce(m, data, c, wanted[c])
        assert data.ncon
        assert np.abs(wanted[:, 0]).max() > 0
        np.testing.assert_allclose(found["test:force"][0, : data.ncon], wanted, rtol=0, atol=1e-9)


# ---- plan time: no kernel is compiled


OPTIONS = ['solver="PGS"', 'solver="CG"', 'solver="PGS" noslip_iterations="3"', 'noslip_iterations="3"']


@pytest.mark.parametrize("option", OPTIONS)
def test_plans_run_in_lanes_as_a_whole(option: str) -> None:
    text = f"""
    <mujoco><option {option}/><worldbody><geom type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    plan = compile_plan(dovetail.loads(text), Config.of_call(None, backend="taichi"), nworld=8)
    assert {line.slot for line in plan.lines()} >= {"solve_constraints", "integrate"}
    assert not [line.fallback for line in plan.lines() if line.fallback]


def kernel_of(mj_model: Any) -> Kernel:
    """A kernel for what is worked out at plan time: it has no fields but the structure."""
    return Kernel(LaneLayout({}, {}, frozen_model=model_from_mujoco(mj_model)))


def test_items_stand_in_the_order_of_mujocos_rows() -> None:
    m = model("zoo pyramidal", "pgs")
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
    m = copy.deepcopy(model("zoo pyramidal", "pgs"))
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
