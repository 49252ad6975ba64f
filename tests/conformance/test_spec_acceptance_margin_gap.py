"""Acceptance of contact margin and gap, criterion by criterion, with MuJoCo 3.4's rules: the larger margin and the
larger gap of two geoms count, not their sums.

    1 a margin makes contacts and forces early    stages/test_contact_params
                                                  test_margin_makes_a_contact_before_the_surfaces_touch
    2 no margin, no contact                       stages/test_contact_params test_without_margin_there_is_no_contact
    3 the gap is a buffer                         stages/test_contact_params
                                                  test_gap_is_a_buffer_between_no_contact_and_force
    4 an explicit pair has its own                here; stages/test_contact_params
                                                  test_margin_and_gap_of_a_pair_replace_the_geoms
    5 efc_margin is the includemargin             here, for every row of a scene; stages/test_contact_params
                                                  test_rows_have_the_includemargin_by_cone
    6 force grows with the violation              stages/test_contact_params test_force_grows_as_the_ball_descends;
                                                  here that it begins with a jump, as in MuJoCo
    7 the broad phase looks that much farther     here; stages/test_broadphase test_margins_widen_the_search
    8 numbers of MuJoCo at five distances         here, live; stages/test_contact_params
                                                  test_force_at_five_distances has them written down
    9 concerns the type of a field                mjContact's: tests/contracts
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import ConstraintType

BALL = """<mujoco><option cone="{cone}"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1" margin="{margin}" gap="{gap}"/>
  <body><freejoint/><geom name="ball" size=".05" mass="1" margin="{margin}" gap="{gap}"/></body></worldbody>
  <contact>{contact}</contact></mujoco>"""


def evaluated(xml: str, **state: Any) -> dovetail.Data:
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    for field, value in state.items():
        data.field(field)[:] = value
    dovetail.forward(model, data)
    return data


def ball_at(
    distance: float, margin: float, gap: float = 0.0, contact: str = "", cone: str = "pyramidal"
) -> Any:
    xml = BALL.format(margin=margin, gap=gap, contact=contact, cone=cone)
    return evaluated(xml, qpos=[0, 0, 0.05 + distance, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("distance", "ncon", "active"), [(0.011, 0, False), (0.006, 1, False), (0.004, 1, True)]
)
def test_margin_ac4_a_pair_has_its_own_margin_and_gap(distance: float, ncon: int, active: bool) -> None:
    """The geoms' margin .001 is ignored; includemargin = .01 − .005."""
    pair = '<pair geom1="floor" geom2="ball" margin=".01" gap=".005"/>'
    data = ball_at(distance, 0.001, contact=pair)
    assert data.ncon == ncon
    np.testing.assert_allclose(data.contact.includemargin[:ncon], [0.005] * ncon, rtol=1e-14)
    assert (data.nefc > 0) == active
    assert (data.qfrc_constraint[2] > 0.0) == active


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_margin_ac5_rows_have_the_includemargin_of_their_contact(cone: str) -> None:
    """Elliptic friction rows have 0, pyramid edges that of the contact."""
    bodies = "".join(
        f'<body pos="{i} 0 .0502"><freejoint/>'
        f'<geom size=".05" condim="{condim}" margin="{margin}" gap="{gap}"/></body>'
        for i, (condim, margin, gap) in enumerate(
            [(1, 0.002, 0), (3, 0.003, 0.001), (4, 0.004, 0.0005), (6, 0.001, 0)]
        )
    )
    data = evaluated(
        f'<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="9 9 1" condim="1"/>{bodies}'
        "</worldbody></mujoco>"
    )
    assert data.ncon == 4
    for contact in range(4):
        start, margin = data.contact.efc_address[contact], data.contact.includemargin[contact]
        dim = int(data.contact.dim[contact])
        rows = 1 if dim == 1 else dim if cone == "elliptic" else 2 * (dim - 1)
        expected = [margin] * rows if cone == "pyramidal" or dim == 1 else [margin] + [0.0] * (dim - 1)
        assert data.efc_margin[start : start + rows].tolist() == expected
        assert margin == pytest.approx([0.002, 0.002, 0.0035, 0.001][contact], rel=1e-12)
    assert set(data.efc_type[: data.nefc]) == {
        int(ConstraintType.CONTACT_FRICTIONLESS),
        int(ConstraintType.CONTACT_ELLIPTIC if cone == "elliptic" else ConstraintType.CONTACT_PYRAMIDAL),
    }


def test_margin_ac6_force_begins_with_a_jump() -> None:
    """At the threshold the impedance is d0 = .9 at once: .9·m·g, then growing."""
    assert ball_at(0.0051, 0.005).qfrc_constraint[2] == 0.0
    onset = ball_at(0.004999999, 0.005).qfrc_constraint[2]
    assert onset == pytest.approx(0.9 * 9.81, rel=1e-3)
    force = [ball_at(d, 0.005).qfrc_constraint[2] for d in np.linspace(0.004, -0.002, 13)]
    assert (np.diff([onset, *force]) > 0.0).all()


@pytest.mark.parametrize(("margin", "ncon"), [(0.01, 1), (0.004, 0)])
def test_margin_ac7_the_broad_phase_looks_farther(margin: float, ncon: int) -> None:
    """Two balls of radius .04 at .085: .005 apart."""
    data = evaluated(
        f"""<mujoco><worldbody><body><freejoint/><geom size=".04" margin="{margin}"/></body>
        <body pos=".085 0 0"><freejoint/><geom size=".04" margin="{margin}"/></body></worldbody></mujoco>"""
    )
    assert data.ncon == ncon
    np.testing.assert_allclose(data.contact.dist[:ncon], [0.005] * ncon, atol=1e-15)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("distance", np.linspace(-0.002, 0.003, 5))
def test_margin_ac8_is_mujocos(distance: float, cone: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = BALL.format(margin=0.004, gap=0.001, contact="", cone=cone)
    model = mujoco.MjModel.from_xml_string(xml)
    oracle = mujoco.MjData(model)
    oracle.qpos[2] = 0.05 + distance
    mujoco.mj_forward(model, oracle)
    data = ball_at(distance, 0.004, 0.001, cone=cone)
    assert (data.ncon, data.nefc) == (oracle.ncon, oracle.nefc)
    np.testing.assert_allclose(data.efc_margin[: data.nefc], oracle.efc_margin, rtol=0, atol=1e-16)
    np.testing.assert_allclose(data.qfrc_constraint, oracle.qfrc_constraint, rtol=0, atol=1e-8)
