"""Small islands that are solved side by side have the answers and statistics of islands solved alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.solver import dual_numpy, qcqp_numpy
from dovetail.plugins.solve_constraints import (
    many_islands_numpy,
    many_line_searches_numpy,
    newton_numpy,
    primal_numpy,
)

ROUNDING = 1e-11
ANSWERS = ("qacc", "qfrc_constraint", "iacc", "iacc_smooth", "ifrc_smooth", "ifrc_constraint")
OF_ROWS = ("efc_force", "iefc_force", "iefc_aref")
COUNTS = ("nactive", "nchange", "nupdate")
NUMBERS = ("improvement", "gradient", "lineslope")

UNIT = """
<body pos="{x} 0 .12"><freejoint/><geom type="box" size=".1 .1 .1" condim="{condim}" friction=".6 .02 .01"/></body>
<body pos="{x} 1 .05"><freejoint/><geom size=".055" condim="6" friction=".3 .02 .01"/></body>
<body pos="{x} 2 .005"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint type="slide" axis="0 0 1"/><geom size=".006" condim="{condim}"/></body>
<body pos="{x} 3 .5"><joint frictionloss=".2" axis="0 1 0" range="-5 5"/><geom type="capsule" size=".03 .1"/>
  <body pos="0 0 .2"><joint frictionloss=".1" axis="1 0 0" range="-5 5" margin="2"/><geom size=".05"/></body></body>
<body name="left{number}" pos="{x} 4 .2"><freejoint/><geom type="capsule" size=".05 .1" condim="4"/></body>
<body name="right{number}" pos="{x} 4.1 .05"><joint type="slide"/><joint type="ball"/><geom size=".055"/></body>
<body pos="{x} 9 9"><joint type="slide"/><geom size=".1"/></body>
"""
"""A few islands with every kind of row, and a body in none."""

STACK = '<body pos="-3 0 {z}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'


def scene(option: str, units: int = 5, high: int = 11) -> Any:
    """Such islands, and a stack that is too large to be solved beside them."""
    bodies = "".join(UNIT.format(x=0.7 * i, condim=(1, 3, 4, 6)[i % 4], number=i) for i in range(units))
    stack = "".join(STACK.format(z=0.099 + 0.199 * level) for level in range(high))
    tied = "".join(f'<connect body1="left{i}" body2="right{i}" anchor="0 .05 0"/>' for i in range(units))
    return dovetail.loads(f"""
<mujoco>
  <compiler autolimits="true"/>
  <option gravity="1 0.5 -9.81" {option}/>
  <worldbody><geom type="plane" size="9 9 .1"/>{bodies}{stack}</worldbody>
  <equality>{tied}</equality>
</mujoco>""")


def shaken(model: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    data = dovetail.make_data(model)
    data.qvel[:] = rng.normal(0.0, 1.0, model.nv)
    data.qacc_warmstart[:] = rng.normal(0.0, 10.0, model.nv)
    dovetail.forward(model, data)
    return data


def both(model: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The same state solved side by side and island by island."""
    together = shaken(model, seed)
    solved = []
    keep = many_islands_numpy.many_problems
    with monkeypatch.context() as context:
        context.setattr(primal_numpy, "FEW", 10**9)
        context.setattr(many_islands_numpy, "many_problems", lambda *given: solved.append(1) or keep(*given))
        alone = shaken(model, seed)
    assert not solved
    return together, alone


def assert_same(together: Any, alone: Any, rounding: float = ROUNDING) -> None:
    nefc, islands = together.nefc, min(20, together.nisland)
    for name in (*ANSWERS, *OF_ROWS):
        count = nefc if name in OF_ROWS else len(getattr(alone, name))
        ours, expected = getattr(together, name)[:count], getattr(alone, name)[:count]
        limit = rounding * max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=limit, err_msg=name)
    np.testing.assert_array_equal(together.efc_state[:nefc], alone.efc_state[:nefc])
    np.testing.assert_array_equal(together.iefc_state[:nefc], alone.iefc_state[:nefc])
    np.testing.assert_array_equal(together.solver_niter, alone.solver_niter)
    np.testing.assert_array_equal(together.solver_nnz, alone.solver_nnz)
    for name in COUNTS:
        np.testing.assert_array_equal(
            getattr(together.solver, name), getattr(alone.solver, name), err_msg=name
        )
    for island in range(islands):
        made = slice(200 * island, 200 * island + int(alone.solver_niter[island]))
        for name in NUMBERS:
            ours, expected = getattr(together.solver, name)[made], getattr(alone.solver, name)[made]
            limit = rounding * max(
                1.0, float(np.abs(expected).max(initial=0.0))
            )  # differences of large costs
            np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=limit, err_msg=f"{name} {island}")
    H = alone.contact.H[: alone.ncon]
    limit = ROUNDING * max(1.0, float(np.abs(H).max()))
    np.testing.assert_allclose(together.contact.H[: alone.ncon], H, rtol=1e-9, atol=limit)


@pytest.mark.covering(2)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("solver", ["Newton", "CG"])
def test_every_iteration_is_that_of_islands_alone(
    solver: str, iterations: int, jacobian: str, cone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    option = f'solver="{solver}" cone="{cone}" jacobian="{jacobian}" iterations="{iterations}"'
    model = scene(option, high=11 if jacobian == "sparse" else 3)
    together, alone = both(model, 0, monkeypatch)
    assert together.nisland > 20
    assert_same(together, alone)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["Newton", "CG"])
def test_answers_are_those_of_islands_alone(solver: str, cone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the tolerance stops them, each when it is its turn."""
    model = scene(f'solver="{solver}" cone="{cone}" tolerance="1e-6"')
    together, alone = both(model, 1, monkeypatch)
    assert len(set(alone.solver_niter.tolist())) > 2
    assert_same(together, alone, rounding=1e-9)


@pytest.mark.parametrize("ls_iterations", [1, 2, 3, 4])
def test_line_searches_that_are_cut_short(ls_iterations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scene(f'solver="CG" cone="elliptic" ls_iterations="{ls_iterations}" iterations="3"', high=3)
    assert_same(*both(model, 2, monkeypatch))


def test_without_a_warm_start(monkeypatch: pytest.MonkeyPatch) -> None:
    model = scene('solver="Newton" iterations="3"', high=3)
    model.opt.disableflags |= int(DisableBit.WARMSTART)
    assert_same(*both(model, 3, monkeypatch))


@pytest.mark.parametrize("solver", ["Newton", "CG"])
def test_an_island_whose_numbers_are_lost_leaves_its_neighbours_alone(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scene(f'solver="{solver}"', high=3)

    def lost(data: Any) -> tuple[Any, Any]:
        data.efc_aref[: data.nefc][data.efc_island[: data.nefc] == 4] = np.nan
        data.qacc_warmstart[:] = data.qacc_smooth
        from dovetail.plugins.solve_constraints import cg_numpy

        {"Newton": newton_numpy, "CG": cg_numpy}[solver].solve_constraints(model, data)
        return np.isnan(data.qacc), np.array(data.qacc)

    together, alone = both(model, 4, monkeypatch)
    broken, qacc = lost(together)
    with monkeypatch.context() as context:
        context.setattr(primal_numpy, "FEW", 10**9)
        broken_alone, qacc_alone = lost(alone)
    np.testing.assert_array_equal(broken, broken_alone)
    np.testing.assert_array_equal(broken, broken & (together.dof_island == 4))
    np.testing.assert_allclose(qacc, qacc_alone, rtol=1e-7, atol=1e-7)


def test_singular_blocks_are_solved_one_by_one() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(3, 3))
    H = np.stack([good @ good.T + np.eye(3), np.zeros((3, 3)), np.diag([1.0, 2.0, 0.0])])
    x = rng.normal(size=(3, 3))
    solution = newton_numpy.solve_alike(H, x)
    expected = [newton_numpy.solve_positive(block, right) for block, right in zip(H, x, strict=True)]
    np.testing.assert_array_equal(solution, expected)
    np.testing.assert_allclose(H[0] @ solution[0], x[0])


def test_a_fault_in_a_line_search_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would see that all islands went the same distance."""
    minimise = many_line_searches_numpy.minimise_along_lines

    def same_for_all(*given: Any) -> Any:
        found = minimise(*given)
        return found._replace(at=np.full_like(found.at, found.at[0]))

    monkeypatch.setattr(many_islands_numpy, "minimise_along_lines", same_for_all)
    model = scene('solver="Newton" iterations="2"', high=3)
    with pytest.raises(AssertionError):
        assert_same(*both(model, 0, monkeypatch))


def rows_on_their_cone(data: Any) -> Any:
    """Rows of elliptic contacts whose force is on the surface of the cone: rounding decides on which side."""
    cones = dual_numpy.dual_problem(data).rows.cones
    scaled = np.divide(
        data.efc_force[cones.rows], cones.scale, where=cones.real, out=np.zeros(cones.scale.shape)
    )
    normal, tangent = cones.mu * scaled[:, 0], np.linalg.norm(scaled[:, 1:], axis=1)
    return cones.rows[np.abs(normal - tangent) < 1e-9 * normal].ravel()


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_sweeps_in_waves_have_the_forces_of_sweeps_row_by_row(
    cone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scene(f'solver="PGS" cone="{cone}" iterations="7" tolerance="0"', units=12, high=2)
    monkeypatch.setattr(dual_numpy, "CROWD", 2)
    in_waves = shaken(model, 0)
    monkeypatch.setattr(dual_numpy, "CROWD", 10**9)
    waves: list[Any] = []
    keep = dual_numpy.Wave
    monkeypatch.setattr(dual_numpy, "Wave", waves)
    row_by_row = shaken(model, 0)
    assert not waves
    nefc = in_waves.nefc
    force = row_by_row.efc_force[:nefc]
    limit = ROUNDING * float(np.abs(force).max())
    np.testing.assert_allclose(in_waves.efc_force[:nefc], force, rtol=0.0, atol=limit)
    differing = np.flatnonzero(in_waves.efc_state[:nefc] != row_by_row.efc_state[:nefc])
    assert not np.setdiff1d(differing, rows_on_their_cone(in_waves)).size
    np.testing.assert_allclose(in_waves.qacc, row_by_row.qacc, rtol=0.0, atol=1e-9)
    assert in_waves.solver_niter[0] == row_by_row.solver_niter[0] == 7
    np.testing.assert_allclose(
        in_waves.solver.improvement[:7], row_by_row.solver.improvement[:7], rtol=1e-9, atol=1e-12
    )
    order = dual_numpy.visits(dual_numpy.dual_problem(in_waves).rows)
    monkeypatch.setattr(dual_numpy, "Wave", keep)
    monkeypatch.setattr(dual_numpy, "CROWD", 2)
    sorted_order = dual_numpy.in_waves(dual_numpy.dual_problem(in_waves), order)
    assert max(len(wave.visits) for wave in sorted_order) > 10
    assert sorted(visit for wave in sorted_order for visit in wave.visits) == order


@pytest.mark.parametrize("size", [2, 3, 5])
def test_many_small_problems_in_ellipsoids_have_the_answers_of_one(size: int) -> None:
    rng = np.random.default_rng(size)
    root = rng.normal(size=(60, size, size))
    A = root @ root.transpose(0, 2, 1) * 10.0 ** rng.uniform(-4, 2, (60, 1, 1))
    A[:3] = 0.0  # no curvature
    A[3, 0] = A[3, :, 0] = 0.0  # singular
    b, d, r = rng.normal(size=(60, size)), rng.uniform(0.01, 2.0, (60, size)), rng.uniform(0.01, 5.0, 60)
    many = qcqp_numpy.minimise_in_ellipsoid_rows(A, b, d, r)
    for place in range(60):
        one = qcqp_numpy.minimise_in_ellipsoid(A[place], b[place], d[place], float(r[place]))
        np.testing.assert_allclose(many[place], one, rtol=1e-9, atol=1e-12)
    on_surface = np.isclose(((many / d) ** 2).sum(axis=1), r**2)
    assert 0 < on_surface.sum() < 60
    assert not many[:4].any()
