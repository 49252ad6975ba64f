"""Plugins add constraint rows with `append_rows`: they stand with their kind, and are as soft as MJCF's would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import ConstraintType
from dovetail.plugins.com_position.tree_numpy import com_position
from dovetail.plugins.constraint_rows.contact_numpy import contact
from dovetail.plugins.constraint_rows.equality_numpy import equality
from dovetail.plugins.constraint_rows.frictionloss_numpy import frictionloss
from dovetail.plugins.constraint_rows.limit_numpy import limit
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.queries.dense import dense_jacobian
from dovetail.plugins.shared.rows.append_numpy import append_rows
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows

XML = """<mujoco><worldbody>
<body name="a"><joint name="x" type="slide" frictionloss=".1" {x}/><geom name="ga" size=".1"/></body>
<body name="b" pos=".15 0 0"><joint name="y" axis="0 1 0" limited="true" range="1 2" {y}/>
<geom name="gb" size=".1" pos="0 0 .1"/></body></worldbody>
<equality><joint joint1="x" polycoef=".1 0 0 0 0" solref=".05 .7" solimp=".8 .9 .1 .3 3"/>{equality}</equality>
</mujoco>"""
FIELDS = (
    *("efc_type", "efc_pos", "efc_margin", "efc_frictionloss", "efc_KBIP", "efc_R", "efc_D"),
    *("efc_diagApprox", "efc_J_rownnz", "efc_J_rowadr", "efc_J_rowsuper"),
)


def data_of(model: Any) -> Any:
    """Positions at qpos0 with one contact of the two geoms."""
    data = dovetail.make_data(model)
    data.qpos[:] = [0.3, 0.4]
    kinematics(model, data)
    com_position(model, data)
    data.reserve(ncon_max=1)
    data.ncon = 1
    data.contact.geom[0], data.contact.dim[0], data.contact.dist[0] = (0, 1), 3, -0.01
    data.contact.frame[0], data.contact.pos[0] = np.eye(3).reshape(-1), (0.07, 0, 0.05)
    data.contact.friction[0], data.contact.solref[0] = (1, 1, 0.1, 0.1, 0.1), (0.02, 1)
    data.contact.solimp[0] = (0.9, 0.95, 0.001, 0.5, 2)
    return data


def built_in(model: Any, data: Any) -> None:
    for source in (equality, frictionloss, limit, contact):
        source(model, data)


def rows_of(data: Any) -> dict[str, Any]:
    found = {name: getattr(data, name)[: data.nefc] for name in FIELDS}
    return found | {name: getattr(data, name) for name in ("ne", "nf", "nl", "nefc", "nJ")}


def assert_equal_rows(ours: Any, theirs: Any) -> None:
    for (name, here), there in zip(rows_of(ours).items(), rows_of(theirs).values(), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-12, atol=1e-15, err_msg=name)


def test_appended_rows_equal_those_of_the_model() -> None:
    """A coupling, a friction loss and a limit, once in the model and once added after the built-in rows."""
    whole = dovetail.loads(
        XML.format(
            x='limited="true" range="-1 .2" margin=".01" solreflimit="-50 -3"',
            y='frictionloss=".2"',
            equality='<joint joint1="x" joint2="y" polycoef="0 2 0 0 0"/>',
        )
    )
    part = dovetail.loads(XML.format(x="", y="", equality=""))
    reference, data = data_of(whole), data_of(part)
    built_in(whole, reference)
    built_in(part, data)
    kinds = ConstraintType
    weights = part.dof_invweight0
    coupled = append_rows(
        part, data, kinds.EQUALITY, np.array([[1.0, -2.0]]), [0.3 - 0.8], inverse_inertia=[weights.sum()]
    )
    rubbed = append_rows(part, data, kinds.FRICTION_DOF, np.array([[0.0, 1.0]]), [0.0], frictionloss=0.2)
    one = SparseRows(np.array([1]), np.array([0]), np.array([-1.0]))
    limited = append_rows(part, data, kinds.LIMIT_JOINT, one, [0.2 - 0.3], margin=0.01, solref=(-50, -3))
    assert (coupled, rubbed, limited) == (1, 3, 5)
    # the model's own limit of joint x comes before that of y; the added one comes after it
    order = [0, 1, 2, 3, 5, 4, *range(6, data.nefc)]
    np.testing.assert_allclose(
        dense_jacobian(part, data)[order], dense_jacobian(whole, reference), atol=1e-12
    )
    for name in FIELDS[:8]:
        here, there = getattr(data, name)[: data.nefc], getattr(reference, name)[: reference.nefc]
        np.testing.assert_allclose(here[order], there, rtol=1e-12, atol=1e-15, err_msg=name)
    assert (data.ne, data.nf, data.nl, data.nefc) == (2, 2, 2, 10)
    assert data.contact.efc_address[0] == reference.contact.efc_address[0] == 6


@pytest.mark.parametrize("early", [True, False])
def test_the_order_of_sources_does_not_matter(early: bool) -> None:
    model = dovetail.loads(XML.format(x="", y="", equality=""))
    first, second = data_of(model), data_of(model)
    rows = np.array([[1.0, -2.0], [0.5, 0.0]])
    for data, before in ((first, True), (second, early)):
        if before:
            equality(model, data)
        append_rows(model, data, ConstraintType.EQUALITY, rows, [0.1, 0.2])
        if not before:
            equality(model, data)
        for source in (frictionloss, limit, contact):
            source(model, data)
    if early:
        assert_equal_rows(second, first)
    else:
        np.testing.assert_array_equal(second.efc_id[:3], [-1, -1, 0])
        np.testing.assert_array_equal(second.efc_id[3 : second.nefc], first.efc_id[3 : first.nefc])


def test_default_inertia_is_that_of_the_dofs() -> None:
    model = dovetail.loads(XML.format(x="", y="", equality=""))
    data = data_of(model)
    append_rows(model, data, ConstraintType.LIMIT_TENDON, np.array([[2.0, -3.0]]), [-0.01])
    expected = 4 * model.dof_invweight0[0] + 9 * model.dof_invweight0[1]
    np.testing.assert_allclose(data.efc_diagApprox[0], expected, rtol=1e-12)


def test_rows_of_several_dofs_keep_their_structure() -> None:
    model = dovetail.loads(XML.format(x="", y="", equality=""))
    data = data_of(model)
    built_in(model, data)
    before = dense_jacobian(model, data)
    append_rows(model, data, ConstraintType.FRICTION_TENDON, np.array([[0.0, 1.0], [1.0, 1.0]]), [0, 0])
    after = dense_jacobian(model, data)
    np.testing.assert_array_equal(after[2:4], [[0, 1], [1, 1]])
    np.testing.assert_array_equal(np.delete(after, [2, 3], axis=0), before)
    ends = data.efc_J_rowadr[: data.nefc] + data.efc_J_rownnz[: data.nefc]
    np.testing.assert_array_equal(data.efc_J_rowadr[1 : data.nefc], ends[:-1])
    assert ends[-1] == data.nJ


BAD = {
    "kind": (
        {"kind": ConstraintType.CONTACT_ELLIPTIC},
        "rod: rows of kind .*possible are EQUALITY, FRICTION_DOF",
    ),
    "width": ({"jacobian": np.zeros((1, 3))}, r"rod: jacobian has shape \(1, 3\), should be \(n, nv = 2\)"),
    "pos": ({"pos": [0.0, 1.0]}, r"rod: pos has shape \(2,\), should be \(1,\)"),
    "solref": ({"solref": (1, 2, 3)}, r"rod: solref has shape \(3,\), should be \(1, 2\)"),
    "sparse": (
        {"jacobian": SparseRows(np.array([2]), np.array([0]), np.array([1.0]))},
        r"rod: the rows have 2 entries by rownnz, but colind has shape \(1,\)",
    ),
    "order": (
        {"jacobian": SparseRows(np.array([2]), np.array([1, 0]), np.array([1.0, 1.0]))},
        r"rod: dofs of a row should ascend and lie in 0 … nv − 1 = 1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_say_what_does_not_fit(case: str) -> None:
    change, message = BAD[case]
    model = dovetail.loads(XML.format(x="", y="", equality=""))
    data = data_of(model)
    arguments: dict[str, Any] = {
        "kind": ConstraintType.EQUALITY,
        "jacobian": np.eye(2)[:1],
        "pos": [0.0],
    } | change
    with pytest.raises(ValueError, match=message):
        append_rows(model, data, arguments.pop("kind"), **arguments, source="rod")
    assert data.nefc == 0


def test_mixed_solref_names_the_source() -> None:
    model = dovetail.loads(XML.format(x="", y="", equality=""))
    with pytest.warns(RuntimeWarning, match="rod, row 0: solref -1 1"):
        append_rows(
            model, data_of(model), ConstraintType.EQUALITY, np.eye(2)[:1], [0.0], solref=(-1, 1), source="rod"
        )


ARM = """<mujoco><option jacobian="sparse"/><worldbody>
<body><joint name="x" axis="0 1 0" limited="true" range="-2 2"/>
<geom type="capsule" size=".1" fromto="0 0 0 .5 0 0"/></body>
<body pos="0 2 0"><joint name="y" axis="0 1 0"/><geom type="capsule" size=".1" fromto="0 0 0 .7 0 0"/></body>
</worldbody>{}</mujoco>"""


def test_a_source_of_rows_given_to_a_simulation_acts_as_one_of_the_model() -> None:
    """Joints of two trees that turn together, by a function and by an equality constraint."""

    def together(model: Any, data: Any) -> None:
        append_rows(
            model, data, ConstraintType.EQUALITY, np.array([[1.0, -1.0]]), [data.qpos[0] - data.qpos[1]]
        )

    sim = dovetail.Simulation(dovetail.loads(ARM.format("")), stages={"constraint_rows:together": together})
    native = dovetail.Simulation(
        dovetail.loads(ARM.format('<equality><joint joint1="x" joint2="y"/></equality>'))
    )
    for run in (sim, native):
        run.data.qvel[:] = [1.0, -1.0]
        run.step(100)
    np.testing.assert_allclose(sim.data.qpos, native.data.qpos, rtol=1e-9)
    assert abs(sim.data.qpos[0] - sim.data.qpos[1]) < 0.01


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_a_row_of_no_object_in_a_model_without_equality_constraints_acts_alone(jacobian: str) -> None:
    def hold(model: Any, data: Any) -> None:
        append_rows(model, data, ConstraintType.EQUALITY, np.eye(2)[:1], [data.qpos[0]])

    xml = ARM.format("").replace('jacobian="sparse"', f'jacobian="{jacobian}"')
    sim = dovetail.Simulation(dovetail.loads(xml), stages={"constraint_rows:hold": hold})
    free = dovetail.Simulation(dovetail.loads(xml))
    for run in (sim, free):
        run.step(50)
    assert abs(sim.data.qpos[0]) < 1e-3
    np.testing.assert_allclose(sim.data.qpos[1], free.data.qpos[1], rtol=1e-9)
