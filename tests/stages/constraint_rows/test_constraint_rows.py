"""Which constraint rows there are, what they measure, and what bad input does."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.queries.dense import dense_jacobian

mujoco = pytest.importorskip("mujoco")

from constraint_rows_reference import (  # noqa: E402
    assert_rows_agree,
    assert_same,
    compare,
    make_rows,
    mujoco_jacobian,
    ours,
    take_over,
)

FRICTIONLESS, PYRAMIDAL, ELLIPTIC = 5, 6, 7


def load(xml: str, **options: float) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(xml)
    for name, value in options.items():
        setattr(model.opt, name, value)
    return model, mujoco.MjData(model)


# ---- contacts and cones -----------------------------------------------------------------------------------


def spheres(*geoms: str, option: str = "") -> str:
    """Spheres in a row, each 1 mm deep in a plane."""
    bodies = "".join(
        f'<body pos="{i} 0 .099"><freejoint/><geom name="s{i}" size=".1" {geom}/></body>'
        for i, geom in enumerate(geoms)
    )
    return f"""<mujoco><option {option}/><worldbody>
    <geom name="floor" type="plane" size="20 20 1" condim="1"/>{bodies}</worldbody></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_frictionless_contacts_have_one_row_each(cone: str) -> None:
    """Acceptance test 16 of the condim item: all condim 1, so nefc = ncon."""
    model, data = load(spheres(*['condim="1"'] * 5, option=f'cone="{cone}"'))
    _, rows = compare(model, data)
    assert rows.nefc == rows.ncon == 5
    assert set(rows.efc_type[:5].tolist()) == {FRICTIONLESS}


@pytest.mark.parametrize(
    ("cone", "counts", "kind"),
    [("pyramidal", [1, 4, 6, 10], PYRAMIDAL), ("elliptic", [1, 3, 4, 6], ELLIPTIC)],
)
def test_contacts_of_different_condim_stand_side_by_side(cone: str, counts: list[int], kind: int) -> None:
    """Acceptance test 5 of the condim item."""
    model, data = load(spheres(*(f'condim="{d}"' for d in (1, 3, 4, 6)), option=f'cone="{cone}"'))
    _, rows = compare(model, data)
    assert rows.nefc == sum(counts)
    np.testing.assert_array_equal(rows.contact.efc_address[:4], np.cumsum([0, *counts[:-1]]))
    expected = np.repeat([FRICTIONLESS, kind, kind, kind], counts)
    np.testing.assert_array_equal(rows.efc_type[: rows.nefc], expected)


def test_no_contact_no_rows() -> None:
    """Acceptance test 18 of the condim item."""
    model, data = load(spheres("").replace(".099", ".2"))
    model_here, rows = compare(model, data)
    assert rows.ncon == rows.nefc == rows.nJ == 0
    assert dense_jacobian(model_here, rows).shape == (0, 6)


@pytest.mark.parametrize(
    ("cone", "pos", "margin"),
    [
        ("elliptic", [-0.001, 0, 0], [0.008, 0, 0]),
        ("pyramidal", [-0.001] * 4, [0.008] * 4),
    ],
)
def test_margin_of_friction_rows_depends_on_the_cone(
    cone: str, pos: list[float], margin: list[float]
) -> None:
    """Acceptance test 5 of the margin item: friction rows of an elliptic cone have none."""
    model, data = load(spheres('condim="3" margin=".01" gap=".002"', option=f'cone="{cone}"'))
    _, rows = compare(model, data)
    np.testing.assert_allclose(rows.efc_pos[: rows.nefc], pos, atol=1e-12)
    np.testing.assert_allclose(rows.efc_margin[: rows.nefc], margin, atol=1e-12)


@pytest.mark.parametrize(("height", "count"), [(0.1015, 0), (0.1005, 4)])
def test_a_contact_in_its_gap_has_no_rows(height: float, count: int) -> None:
    """margin .003 − gap .002: the contact is there below .003, and pushes below .001."""
    xml = spheres('margin=".003" gap=".002" condim="3"').replace(".099", str(height))
    model, data = load(xml)
    _, rows = compare(model, data)
    assert (rows.ncon, rows.nefc) == (1, count)
    assert rows.contact.efc_address[0] == (0 if count else -1)


def test_impratio_softens_friction_and_not_the_normal() -> None:
    one, ten = (
        compare(*load(spheres('condim="3" friction="2"', option='cone="elliptic"'), impratio=ratio))[1]
        for ratio in (1.0, 10.0)
    )
    np.testing.assert_allclose(ten.efc_R[:3], one.efc_R[:3] * [1, 0.1, 0.1], rtol=1e-12)
    np.testing.assert_allclose(ten.contact.mu[0], 2.0 / np.sqrt(10.0), rtol=1e-12)


STATIC = """<mujoco><worldbody><geom name="a" size=".1"/><geom name="b" size=".1" pos=".1 0 0"/>
<body name="still" pos="5 0 0"><geom name="c" size=".1"/></body>
<body pos="0 0 1"><freejoint/><geom name="d" size=".1"/><geom name="e" size=".1" pos=".1 0 0"/></body></worldbody>
<contact><pair geom1="a" geom2="b" margin="10"/><pair geom1="a" geom2="c" margin="10"/>
<pair geom1="d" geom2="e" margin="10"/></contact></mujoco>"""


def test_a_contact_that_no_dof_can_change_has_no_rows() -> None:
    model, data = load(STATIC, jacobian=1)
    _, rows = compare(model, data)
    assert sorted(rows.contact.exclude[:3].tolist()) == [0, 3, 3]
    assert rows.nefc == 4  # the pair on one moving body has rows, all zero


def test_static_contacts_are_left_out_of_a_dense_jacobian_too() -> None:
    """MuJoCo stops with an error there."""
    mj_model, mj_data = load(STATIC, jacobian=1)
    mujoco.mj_forward(mj_model, mj_data)
    mj_model.opt.jacobian = 0
    model, data = ours(mj_model, mj_data)
    make_rows(model, data)
    assert sorted(data.contact.exclude[:3].tolist()) == [0, 3, 3]
    assert data.nefc == 4


# ---- equality ---------------------------------------------------------------------------------------------

WELDED = """<mujoco><worldbody><body name="still" pos="0 0 3"><geom size=".1"/></body>
<body name="a"><freejoint/><geom size=".1"/><body name="b" pos=".5 0 0"><geom size=".1"/></body></body></worldbody>
<equality><connect name="fixed" body1="a" body2="b" anchor=".25 0 0"/><weld body1="still"/>
<connect body1="a" anchor="0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize(("jacobian", "kept"), [(0, [2] * 3), (1, [0] * 3 + [2] * 3)])
def test_constraints_that_nothing_can_change_are_left_out(jacobian: int, kept: list[int]) -> None:
    """A dense Jacobian is asked whether it is zero, a sparse one whether it has dofs."""
    _, rows = compare(*load(WELDED, jacobian=jacobian))
    assert rows.efc_id[: rows.nefc].tolist() == kept


def test_inactive_constraints_have_no_rows() -> None:
    model, data = load(WELDED)
    data.eq_active[2] = 0
    _, rows = compare(model, data)
    assert rows.ne == 0
    data.eq_active[2] = 1
    _, rows = compare(model, data)
    assert rows.ne == 3


def test_an_unknown_type_of_constraint_is_named() -> None:
    mj_model, mj_data = load(WELDED)
    mujoco.mj_forward(mj_model, mj_data)
    model, data = ours(mj_model, mj_data)
    model.eq_type[0] = 5
    with pytest.raises(ValueError, match=r'equality "fixed".*eq_type 5.*connect, weld, joint, tendon, flex'):
        make_rows(model, data)


FLEX = """<mujoco><option cone="elliptic" timestep="0.001" jacobian="{jacobian}"/>
<worldbody><geom type="plane" size="5 5 .1" condim="1"/><geom size=".04" pos="0 0 .04" condim="1"/>
<body name="holder" pos="0 0 .15"><freejoint/><geom size=".03" contype="0" conaffinity="0"/>
<flexcomp name="flex" type="grid" count="{count}" spacing=".1 .1 .1" dim="{dim}" radius=".01" mass="1" pos="{pos}">
<edge equality="true"/><contact condim="{condim}" selfcollide="{selfcollide}"/><pin id="0"/></flexcomp></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("dim", "jacobian", "condim", "selfcollide"),
    [(2, "sparse", 3, "auto"), (2, "dense", 6, "none"), (3, "sparse", 3, "none"), (3, "dense", 4, "none")],
)
def test_rows_of_flexes_are_mujocos(dim: int, jacobian: str, condim: int, selfcollide: str) -> None:
    """Edges that keep their length; contacts of elements with a sphere and of vertices with a plane."""
    count, pos = {2: ("4 4 1", "0 0 0"), 3: ("3 3 3", ".08 0 0")}[dim]
    xml = FLEX.format(
        count=count, pos=pos, dim=dim, jacobian=jacobian, condim=condim, selfcollide=selfcollide
    )
    model, data = load(xml)
    elements = vertices = 0
    for _ in range(12):
        for _ in range(25):
            mujoco.mj_step(model, data)
        compare(model, data)
        elements += int(np.count_nonzero(data.contact.elem >= 0))
        vertices += int(np.count_nonzero(data.contact.vert >= 0))
    assert elements
    assert vertices


INTERPOLATED = """<mujoco><option jacobian="{jacobian}" cone="{cone}" timestep="0.001"/>
<worldbody><geom type="plane" size="5 5 .1" condim="{condim}"/><geom size=".1" pos=".1 0 .1"/>
<body name="parent" pos="0 0 .3"><freejoint/><geom size=".02" contype="0" conaffinity="0"/>
<flexcomp name="soft" type="grid" count="{count}" spacing=".1 .1 .1" dim="3" radius=".01" mass="1" dof="{dof}">
<elasticity young="1e4" poisson=".2" damping=".01"/><contact condim="{condim}" selfcollide="none"/>{pin}</flexcomp>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("jacobian", ["sparse", "dense"])
@pytest.mark.parametrize(
    ("dof", "count", "pin", "condim", "cone"),
    [
        ("trilinear", "4 4 3", "", 3, "elliptic"),
        ("trilinear", "4 4 3", '<pin id="0"/>', 1, "pyramidal"),
        ("quadratic", "5 5 5", "", 3, "pyramidal"),
    ],
)
def test_rows_of_interpolated_flexes_are_mujocos(
    dof: str, count: str, pin: str, condim: int, cone: str, jacobian: str
) -> None:
    """Nodes move contacts of vertices with a plane and of elements with a sphere, some of them with a parent."""
    xml = INTERPOLATED.format(dof=dof, count=count, pin=pin, condim=condim, cone=cone, jacobian=jacobian)
    model, data = load(xml)
    rng = np.random.default_rng(0)
    elements = vertices = 0
    for _ in range(4):
        data.qpos[:] = model.qpos0
        data.qpos[2] = {"trilinear": 0.1, "quadratic": 0.2}[dof]
        data.qpos[7:] += 0.01 * rng.normal(size=model.nq - 7)
        data.qvel[:] = 0.1 * rng.normal(size=model.nv)
        compare(model, data)
        elements += int(np.count_nonzero(data.contact.elem >= 0))
        vertices += int(np.count_nonzero(data.contact.vert >= 0))
    assert elements
    assert vertices


# ---- bad input --------------------------------------------------------------------------------------------

MIXED = {
    "equality": (
        '<equality><weld name="glue" body1="a" body2="b" solref="-100 1"/></equality>',
        'equality "glue"',
    ),
    "joint": ("", 'limit of joint "slide"'),
    "dof": ("", 'friction loss of joint "slide"'),
    "tendon": (
        '<tendon><fixed name="cord" limited="true" range="5 6" solreflimit="-100 1"><joint joint="slide" coef="1"/>'
        "</fixed></tendon>",
        'limit of tendon "cord"',
    ),
    "tendon friction": (
        '<tendon><fixed name="cord" frictionloss="1" solreffriction="-100 1"><joint joint="slide" coef="1"/>'
        "</fixed></tendon>",
        'friction loss of tendon "cord"',
    ),
    "contact": (
        '<contact><pair geom1="ga" geom2="gb" margin="9" solref="-100 1"/></contact>',
        'contact 0 between geom "ga" and geom "gb"',
    ),
    "contact friction": (
        '<contact><pair geom1="ga" geom2="gb" margin="9" solreffriction="-100 1"/></contact>',
        'geom "gb": solreffriction -100 1',
    ),
}
JOINTS = {
    "joint": 'limited="true" range="1 2" solreflimit="-100 1"',
    "dof": 'frictionloss="1" solreffriction="-100 1"',
}


@pytest.mark.parametrize("case", MIXED)
def test_mixed_solref_is_replaced_with_a_warning_that_names_the_object(case: str) -> None:
    xml, name = MIXED[case]
    mj_model, mj_data = load(
        f"""<mujoco><option cone="elliptic"/><worldbody>
        <body name="a"><joint name="slide" type="slide" {JOINTS.get(case, "")}/><geom name="ga" size=".1"/></body>
        <body name="b" pos="1 0 0"><joint/><geom name="gb" size=".1"/></body></worldbody>{xml}</mujoco>"""
    )
    mujoco.mj_forward(mj_model, mj_data)
    model, data = ours(mj_model, mj_data)
    with pytest.warns(RuntimeWarning, match=name) as caught:
        make_rows(model, data)
    assert len(caught) == 1
    assert_rows_agree(mj_model, mj_data, model, data)


@pytest.mark.parametrize("refsafe", [True, False])
@pytest.mark.parametrize(
    "solref", ["-1e15 -1e15", "1e-300 1", "0 0", "1e300 1e300", ".02 1e-200", "-1e300 -1e300", "1e-9 1e-9"]
)
def test_rows_of_extreme_stiffness_are_mujocos(solref: str, refsafe: bool) -> None:
    xml = spheres(f'solref="{solref}" condim="3"').replace('condim="1"', f'condim="1" solref="{solref}"')
    model, data = load(xml)
    if not refsafe:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(model, data)


@pytest.mark.parametrize(
    ("bounds", "count"),
    [((-np.inf, np.inf), 0), ((-np.inf, -0.5), 1), ((np.inf, -np.inf), 2), ((np.nan, 0.3), 0), ((1, -1), 2)],
)
def test_limits_without_end_make_no_row_there(bounds: tuple[float, float], count: int) -> None:
    mj_model, mj_data = load(
        """<mujoco><worldbody><body><joint type="slide" limited="true" range="0 1"/><geom size=".1"/></body>
        </worldbody></mujoco>"""
    )
    model, data = ours(mj_model, mj_data)
    mj_model.jnt_range[0] = model.jnt_range[0] = bounds
    mujoco.mj_forward(mj_model, mj_data)
    make_rows(model, data)
    assert data.nl == count
    assert_rows_agree(mj_model, mj_data, model, data)


# ---- size -------------------------------------------------------------------------------------------------


def test_rows_outgrow_the_room_a_data_starts_with() -> None:
    mj_model, mj_data = load(spheres(*['condim="6"'] * 20))
    mujoco.mj_forward(mj_model, mj_data)
    model, _ = ours(mj_model, mj_data)
    small = dovetail.make_data(model, capacity={"ncon_max": 20, "nefc_max": 1, "nJ_max": 1})
    take_over(mj_data, small)
    make_rows(model, small)
    assert small.nefc == 200
    assert_rows_agree(mj_model, mj_data, model, small)


def test_memory_grows_with_the_dofs_that_rows_touch() -> None:
    """500 free spheres on a plane: 3000 dofs and 2000 rows of 6, where a dense Jacobian would take 48 MB."""
    mj_model, mj_data = load(spheres(*['condim="3"'] * 500).replace("20 20 1", "0 0 1"), jacobian=1)
    mujoco.mj_forward(mj_model, mj_data)
    model, data = ours(mj_model, mj_data)
    make_rows(model, data)
    tracemalloc.start()
    make_rows(model, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (model.nv, data.nefc, data.nJ) == (3000, 2000, 12000)
    assert peak < 10e6
    assert_same(dense_jacobian(model, data), mujoco_jacobian(mj_model, mj_data), "efc_J")
