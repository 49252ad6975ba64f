"""Positions, velocities and forces of flexes whose vertices sit on bodies, in every implementation, are MuJoCo's."""

from __future__ import annotations

import mujoco
import pytest
from flex_bodies import IN_AIR
from implementations import How, assert_mujocos, implementations


@pytest.mark.parametrize("how", implementations("flex_kinematics"))
@pytest.mark.parametrize("name", IN_AIR)
def test_positions_are_mujocos(name: str, how: How) -> None:
    assert_mujocos(IN_AIR[name], "flex_kinematics", how, seeds=1)


@pytest.mark.parametrize("how", implementations("transmission_velocity"))
@pytest.mark.parametrize("name", ["sheet", "undamped", "on_a_limb", "rope"])
def test_edge_velocities_are_mujocos(name: str, how: How) -> None:
    assert_mujocos(IN_AIR[name], "transmission_velocity", how, seeds=1, fields=["flexedge_velocity"])


@pytest.mark.parametrize("how", implementations("passive_force:flex"))
@pytest.mark.parametrize("name", IN_AIR)
def test_forces_are_mujocos(name: str, how: How) -> None:
    assert_mujocos(IN_AIR[name], "passive_force:flex", how, seeds=1)


@pytest.mark.parametrize("how", implementations("passive_force:flex"))
@pytest.mark.parametrize(
    "flags", ['spring="disable"', 'damper="disable"', 'spring="disable" damper="disable"']
)
def test_forces_obey_flags(flags: str, how: How) -> None:
    """Elements pull unless both flags are off; bending and edges obey each its own."""
    text = IN_AIR["sheet"].replace('contact="disable"', f'contact="disable" {flags}')
    assert_mujocos(text, "passive_force:flex", how, seeds=1)


@pytest.mark.covering(2)
@pytest.mark.parametrize("how", implementations("integrate"))
@pytest.mark.parametrize("name", ["sheet", "on_a_limb"])
def test_steps_are_mujocos(name: str, how: How) -> None:
    """Dampers of edges are implicit in the implicit integrators. States are those along a run: a random one would
    explode within the step."""
    method = str(how).partition("@")[0]
    known = {"euler": "Euler", "rk4": "RK4", "implicit": "implicit", "implicitfast": "implicitfast"}
    if method not in known:
        pytest.skip("no integrator of MuJoCo's")
    text = IN_AIR[name].replace("<option ", f'<option integrator="{known[method]}" ')
    assert mujoco.MjModel.from_xml_string(text).nflex == 1
    assert_mujocos(text, "integrate", how, seeds=1, warmup=40, fields=["qpos", "qvel"], tolerance=1e-10)


@pytest.mark.parametrize("how", implementations("energy"))
def test_energy_of_ropes_is_mujocos(how: How) -> None:
    text = IN_AIR["rope"].replace('contact="disable"', 'contact="disable" energy="enable"')
    assert_mujocos(text, "energy", how, seeds=1)
