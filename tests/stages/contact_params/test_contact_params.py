"""Contact parameters: the rule of each setting, one claim a test, and the numbers MuJoCo 3.4 gives."""

from __future__ import annotations

import numpy as np
import pytest
from two_spheres import close, parameters

import dovetail


def test_friction_of_a_pair_replaces_the_geoms() -> None:
    contact = '<pair geom1="a" geom2="b" friction="0.9 0.9 0.02 0.003 0.003"/>'
    found = parameters('friction="5 5 5"', 'friction="0.1"', contact=contact)
    close(found["friction"], [0.9, 0.9, 0.02, 0.003, 0.003])


@pytest.mark.parametrize(("dist", "exclude"), [(0.0019, 0), (0.002, 1), (0.003, 1), (-1.0, 0)])
def test_a_contact_in_the_gap_is_excluded(dist: float, exclude: int) -> None:
    sides = 'margin="0.005" gap="0.003"', 'margin="0.005" gap="0.002"'
    assert parameters(*sides, dist=dist)["exclude"] == exclude


def test_exact_touch_without_margin_is_excluded() -> None:
    assert parameters(dist=0.0)["exclude"] == 1


def test_margin_and_gap_of_a_pair_replace_the_geoms() -> None:
    contact = '<pair geom1="a" geom2="b" margin="0.01" gap="0.005"/>'
    found = parameters('margin="0.001"', 'margin="0.5" gap="0.1"', contact=contact)
    close(found["includemargin"], 0.005)


# ---- pairs and override -----------------------------------------------------------------------------------


def test_a_pair_that_says_nothing_has_defaults_and_nothing_of_its_geoms() -> None:
    settings = 'condim="6" friction="9 9 9" solref="0.5 0.5" solimp="0.1 0.2 0.3" margin="0.3" gap="0.1"'
    found = parameters(settings, settings, contact='<pair geom1="a" geom2="b"/>')
    assert found["dim"] == 3
    close(found["friction"], [1, 1, 0.005, 0.0001, 0.0001])
    close(found["solref"], [0.02, 1])
    close(found["solreffriction"], [0, 0])
    close(found["solimp"], [0.9, 0.95, 0.001, 0.5, 2])
    close(found["includemargin"], 0)


def test_a_pair_has_solreffriction_of_its_own() -> None:
    contact = '<pair geom1="a" geom2="b" solreffriction="0.05 0.8"/>'
    close(parameters(contact=contact)["solreffriction"], [0.05, 0.8])


@pytest.mark.parametrize(
    "contact", ["", '<pair geom1="a" geom2="b" friction="0.9" margin="0.3" gap="0.0005"/>']
)
def test_override_replaces_all_but_dimension_and_gap(contact: str) -> None:
    option = 'o_margin="0.02" o_solref="0.1 0.5" o_solimp="0.5 0.6 0.01 0.4 3" o_friction="0.4 0.3 0 0.1 0.2"'
    found = parameters(
        'gap="0.0005" condim="4"', 'margin="0.7"', contact=contact, option=option, flags='override="enable"'
    )
    close(found["includemargin"], 0.0195)
    close(found["solref"], [0.1, 0.5])
    close(found["solreffriction"], [0.1, 0.5])
    close(found["solimp"], [0.5, 0.6, 0.01, 0.4, 3])
    close(found["friction"], [0.4, 0.3, 1e-5, 0.1, 0.2])
    assert found["dim"] == (3 if contact else 4)


@pytest.mark.parametrize(("gap", "exclude"), [(0.0, 3), (1.0, 1)])
def test_an_explicit_pair_of_things_that_cannot_move_makes_no_rows(gap: float, exclude: int) -> None:
    """MuJoCo 3.4 stops with an error here when Jacobians are dense, and does this when they are sparse."""
    model = dovetail.loads(f"""<mujoco><worldbody><geom name="a" size="0.1"/><body mocap="true" pos="0.15 0 0">
      <geom name="b" size="0.1"/></body><body pos="0 0 9"><freejoint/><geom size="0.1"/></body></worldbody>
      <contact><pair geom1="a" geom2="b" gap="{gap}"/></contact></mujoco>""")
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert (data.ncon, data.nefc, data.contact.exclude[0]) == (1, 0, exclude)


# ---- the whole fixture ------------------------------------------------------------------------------------

FIXTURE = """
<mujoco>
  <default><geom condim="3"/></default>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 0.1" friction="0.8 0.01 0.001" solref="0.02 1.0"
      solimp="0.9 0.95 0.001 0.5 2.0" margin="0.003" gap="0.001" solmix="1.0"/>
    <body pos="0 0 0.1"><freejoint/>
      <geom name="box" type="box" size="0.1 0.1 0.1" friction="0.3 0.005 0.0001" solref="0.04 0.8"
        solimp="0.8 0.9 0.002 0.6 3.0" margin="0.002" gap="0.0005" solmix="2.0"/></body>
    <body pos="0.5 0 0.1"><freejoint/>
      <geom name="priority_box" type="box" size="0.1 0.1 0.1" friction="0.5 0.008 0.0003" priority="1"
        solref="0.03 0.9" solimp="0.85 0.92 0.0015 0.55 2.5" margin="0.001" gap="0.0" solmix="1.0"/></body>
  </worldbody>
</mujoco>"""


def test_fixture_of_a_ground_and_two_boxes() -> None:
    model = dovetail.loads(FIXTURE)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert data.contact.geom[: data.ncon].tolist() == [[0, 1]] * 4 + [[0, 2]] * 4
    np.testing.assert_allclose(data.contact.includemargin[: data.ncon], 0.002, rtol=1e-14)
    plain, strong = 0, 4
    close(data.contact.friction[plain], [0.8, 0.8, 0.01, 0.001, 0.001])
    np.testing.assert_allclose(data.contact.solref[plain], [0.1 / 3, 2.6 / 3], rtol=1e-14)
    solimp = [2.5 / 3, 2.75 / 3, 0.005 / 3, 1.7 / 3, 8.0 / 3]
    np.testing.assert_allclose(data.contact.solimp[plain], solimp, rtol=1e-14)
    close(data.contact.friction[strong], [0.5, 0.5, 0.008, 0.0003, 0.0003])
    close(data.contact.solref[strong], [0.03, 0.9])
    close(data.contact.solimp[strong], [0.85, 0.92, 0.0015, 0.55, 2.5])


# ---- what margins do to forces ----------------------------------------------------------------------------

BALL = """
<mujoco><option {option}/><worldbody><geom type="plane" size="1 1 1" margin="{margin}" gap="{gap}"/>
  <body><freejoint/><geom size="0.05" mass="1" margin="{margin}" gap="{gap}"/></body></worldbody></mujoco>"""


def ball_at(dist: float, margin: float, gap: float = 0.0, option: str = "", **stages: str) -> dovetail.Data:
    """A resting ball of 1 kg, its surface `dist` above the ground, evaluated."""
    model = dovetail.loads(BALL.format(margin=margin, gap=gap, option=option))
    simulation = dovetail.Simulation(model, stages=stages)
    simulation.data.qpos[2] = 0.05 + dist
    simulation.forward()
    return simulation.data


@pytest.mark.parametrize(
    ("dist", "force"),
    [(-0.002, 21.8195), (-0.00075, 18.6945), (0.0005, 15.5695), (0.00175, 12.4445), (0.003, 0.0)],
)
def test_force_at_five_distances(dist: float, force: float) -> None:
    """MuJoCo 3.4's numbers; at 0.003 the contact is there and excluded."""
    data = ball_at(dist, 0.004, 0.001)
    assert data.ncon == 1
    np.testing.assert_allclose(data.contact.includemargin[0], 0.003, rtol=1e-14)
    np.testing.assert_allclose(data.qfrc_constraint[2], force, rtol=0, atol=1e-6)


def test_margin_makes_a_contact_before_the_surfaces_touch() -> None:
    data = ball_at(0.001, 0.002)
    np.testing.assert_allclose(data.contact.includemargin[: data.ncon], [0.002])
    np.testing.assert_allclose(data.qfrc_constraint[2], 11.8195, atol=1e-6)


def test_without_margin_there_is_no_contact() -> None:
    assert ball_at(0.001, 0.0).ncon == 0


@pytest.mark.parametrize(("dist", "ncon", "rows"), [(0.006, 0, 0), (0.003, 1, 0), (0.001, 1, 4)])
def test_gap_is_a_buffer_between_no_contact_and_force(dist: float, ncon: int, rows: int) -> None:
    data = ball_at(dist, 0.005, 0.003)
    assert (data.ncon, data.nefc) == (ncon, rows)


def test_gap_wide_excludes_at_two_millimetres_and_pushes_at_half() -> None:
    assert ball_at(0.002, 0.004, 0.003).nefc == 0
    np.testing.assert_allclose(ball_at(0.0005, 0.004, 0.003).qfrc_constraint[2], 10.2593, atol=1e-4)


def test_summed_margins_and_gaps_can_be_chosen() -> None:
    data = ball_at(0.003, 0.002, combine_margin="sum")
    np.testing.assert_allclose(data.contact.includemargin[: data.ncon], [0.004])
    assert ball_at(0.003, 0.002).ncon == 0


def test_force_grows_as_the_ball_descends() -> None:
    force = [
        ball_at(dist, 0.005).qfrc_constraint[2] for dist in (0.0051, 0.004, 0.0025, 0.001, -0.0005, -0.002)
    ]
    assert force[0] == 0
    assert np.all(np.diff(force) > 0)


@pytest.mark.parametrize(("cone", "margins"), [("elliptic", [0.008, 0, 0]), ("pyramidal", [0.008] * 4)])
def test_rows_have_the_includemargin_by_cone(cone: str, margins: list[float]) -> None:
    data = ball_at(0.001, 0.01, 0.002, option=f'cone="{cone}"')
    np.testing.assert_allclose(data.efc_margin[: data.nefc], margins)
