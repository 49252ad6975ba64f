"""Row velocities and reference accelerations; contact forces from row forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import ConstraintType
from dovetail.plugins.constraint_reference.spring_damper_numpy import constraint_reference, row_products
from dovetail.plugins.queries.contact_force import contact_force
from dovetail.plugins.queries.dense import dense_jacobian
from dovetail.plugins.shared.rows.append_numpy import append_rows
from dovetail.plugins.shared.rows.contact_forces_numpy import from_pyramid

XML = """<mujoco><worldbody><body><joint type="slide"/><joint axis="0 1 0"/><geom size=".1"/></body></worldbody>
</mujoco>"""


def rows(solref: tuple[float, float]) -> tuple[Any, Any]:
    """Two limit rows and an equality, impedance constantly 0.8."""
    model = dovetail.loads(XML)
    data = dovetail.make_data(model)
    data.qvel[:] = [2.0, -3.0]
    flat = {"solref": solref, "solimp": (0.8, 0.8, 0.1, 0.5, 2)}
    jacobian = np.array([[1.0, 0.5], [0.0, -1.0]])
    append_rows(model, data, ConstraintType.LIMIT_JOINT, jacobian, [-0.1, 0.2], margin=0.3, **flat)
    append_rows(model, data, ConstraintType.EQUALITY, np.array([[0.0, 2.0]]), [0.4], **flat)
    return model, data


@pytest.mark.parametrize(
    ("solref", "stiffness", "damping"),
    [((0.1, 0.5), 1 / (0.8 * 0.1 * 0.5) ** 2, 2 / (0.8 * 0.1)), ((-30, -4), 30 / 0.64, 4 / 0.8)],
)
def test_reference_is_a_spring_and_damper(
    solref: tuple[float, float], stiffness: float, damping: float
) -> None:
    model, data = rows(solref)
    constraint_reference(model, data)
    velocity = np.array([-6.0, 0.5, 3.0])
    violation = np.array([0.4, -0.4, -0.1])
    np.testing.assert_allclose(data.efc_vel[:3], velocity, rtol=1e-14)
    np.testing.assert_allclose(
        data.efc_aref[:3], -damping * velocity - stiffness * 0.8 * violation, rtol=1e-12
    )


def test_products_equal_those_of_the_dense_matrix() -> None:
    model, data = rows((0.1, 1.0))
    vector = np.array([0.7, -0.2])
    np.testing.assert_allclose(row_products(data, vector), dense_jacobian(model, data) @ vector, rtol=1e-15)


def test_no_rows_no_reference() -> None:
    model = dovetail.loads(XML)
    data = dovetail.make_data(model)
    constraint_reference(model, data)
    assert row_products(data, data.qvel).shape == (0,)


def test_opposite_edges_push_together_and_rub_apart() -> None:
    (force,) = from_pyramid(np.array([[3.0, 1.0, 0.0, 2.0]]), np.array([[0.5, 0.1]]))
    np.testing.assert_allclose(force, [6.0, 1.0, -0.2])


CONTACTS = """<mujoco><option cone="{cone}" impratio="2"/><worldbody><geom type="plane" size="9 9 1" condim="1"/>
<body pos="0 0 .099"><freejoint/><geom size=".1" condim="1"/></body>
<body pos="1 0 .099"><freejoint/><geom size=".1" condim="3" friction=".6 .1 .2"/></body>
<body pos="2 0 .099"><freejoint/><geom size=".1" condim="4" friction=".6 .1 .2"/></body>
<body pos="3 0 .099"><freejoint/><geom size=".1" condim="6" friction=".6 .1 .2"/></body>
<body pos="4 0 .1005"><freejoint/><geom size=".1" margin=".001" gap=".001"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contact_forces_are_mujocos(cone: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    from constraint_rows_reference import compare

    mj_model = mujoco.MjModel.from_xml_string(CONTACTS.format(cone=cone))
    mj_data = mujoco.MjData(mj_model)
    mj_data.qvel[:] = np.random.default_rng(0).normal(size=mj_model.nv)
    model, data = compare(mj_model, mj_data)
    data.efc_force[: data.nefc] = mj_data.efc_force
    assert data.ncon == 5
    for contact in range(data.ncon):
        expected = np.zeros(6)
        mujoco.mj_contactForce(mj_model, mj_data, contact, expected)
        np.testing.assert_allclose(contact_force(model, data, contact), expected, rtol=1e-12, atol=1e-12)
    assert np.count_nonzero(contact_force(model, data, 3)) >= 4
    assert not contact_force(model, data, 4).any()
    with pytest.raises(IndexError, match=r"no contact 5: data\.ncon is 5"):
        contact_force(model, data, 5)
