"""Potential and kinetic energy against MuJoCo, flag by flag, and what power does to them."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

import numpy as np
import pytest
from beside_mujoco import Pair, difference, mujoco
from implementations import How, assert_mujocos, implementations
from lane_backend import LANES
from limb_models import ARMATURE
from smooth_models import EVERYTHING

import dovetail
from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.plugins.energy.mechanical_numpy import energy

XML = """<mujoco><option gravity="1 2 -9" {option}><flag constraint="disable" {flags} energy="enable"/></option><worldbody>
<body pos="0 0 1" gravcomp="{gravcomp}"><joint type="free" stiffness="20"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/><site name="p" pos=".1 .1 .1"/>
<body pos=".3 0 .1" gravcomp="{gravcomp}"><joint name="ball" type="ball" stiffness="3"/><geom type="capsule" size=".05 .2" pos="0 0 .2"/>
<body pos="0 .1 .4" gravcomp="{gravcomp}"><joint name="h" axis="1 2 0" stiffness="2" springref="40"/><joint name="s" type="slide" axis="0 1 1" stiffness="7"/><geom type="cylinder" size=".07 .15"/><site name="q" pos="0 0 .2"/></body></body></body></worldbody>
<tendon><spatial stiffness="12" springlength="{band}" armature=".2"><site site="p"/><site site="q"/></spatial><fixed stiffness="2"><joint joint="h" coef="2"/><joint joint="s" coef="-1"/></fixed></tendon></mujoco>"""


def tree(option: str = "", flags: str = "", gravcomp: str = "0", band: str = ".3 .6") -> str:
    return XML.format(option=option, flags=flags, gravcomp=gravcomp, band=band)


@pytest.mark.parametrize("gravcomp", ["0", "1"])
@pytest.mark.parametrize(
    "flags", ["", *(f'{flag}="disable"' for flag in ("gravity", "spring", "damper", "actuation"))]
)
def test_energies_are_mujocos_flag_by_flag(flags: str, gravcomp: str) -> None:
    Pair(tree(flags=flags, gravcomp=gravcomp)).compare("energy")


@pytest.mark.parametrize("band", [".2", ".3 .6", "0 100", "50 60"])
def test_dead_band_of_tendons(band: str) -> None:
    Pair(tree(band=band)).compare("energy", "qfrc_spring")


def test_flag_energy_off_leaves_zero() -> None:
    model = dovetail.loads(tree().replace('energy="enable"', ""))
    data = dovetail.make_data(model)
    dovetail.step(model, data, 2)
    assert not data.energy.any()


SENSED = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody>
<sensor>{sensors}</sensor></mujoco>"""


@pytest.mark.covering(2)
@pytest.mark.parametrize("flags", [0, int(DisableBit.SENSOR)])
@pytest.mark.parametrize("sensors", ["", "<e_kinetic/>", "<e_potential/><e_kinetic/>"])
@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_sensors_leave_their_energies_and_nothing_remains_of_the_flag(
    sensors: str, flags: int, backend: str
) -> None:
    theirs = mujoco.MjModel.from_xml_string(SENSED.format(sensors=sensors))
    data = mujoco.MjData(theirs)
    sim = dovetail.Simulation(dovetail.loads(SENSED.format(sensors=sensors)), backend=backend)
    for enabled in (0, int(EnableBit.ENERGY), 0, 0):
        for model in (theirs, sim.model):
            model.opt.enableflags, model.opt.disableflags = enabled, flags
        sim.step(3)
        mujoco.mj_step(theirs, data, 3)
        assert sim.data.energy == pytest.approx(data.energy, rel=1e-12)


def test_without_the_flag_a_sensor_of_potential_energy_leaves_no_kinetic_energy() -> None:
    """Where MuJoCo keeps that of the last step with the flag."""
    sim = dovetail.Simulation(dovetail.loads(SENSED.format(sensors="<e_potential/>")))
    sim.model.opt.enableflags = int(EnableBit.ENERGY)
    sim.step(3)
    assert sim.data.energy[1] > 0.0
    sim.model.opt.enableflags = 0
    sim.step()
    assert sim.data.energy[0] > 0.0
    assert sim.data.energy[1] == 0.0


FLEX = """<mujoco><option><flag energy="enable" contact="disable"/></option><worldbody><body name="b" pos="0 0 1">
<flexcomp name="f" type="grid" dim="{dim}" count="{count}" spacing=".1 .1 .1" mass="1" radius=".01"><edge {edge}/><pin id="0"/></flexcomp></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("dim", "count", "edge"), [(1, "6 1 1", 'stiffness="30"'), (1, "6 1 1", ""), (2, "3 3 1", 'damping="3"')]
)
def test_springs_of_flex_edges(dim: int, count: str, edge: str) -> None:
    model = mujoco.MjModel.from_xml_string(FLEX.format(dim=dim, count=count, edge=edge))
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(0).normal(0.0, 0.05, model.nq)
    mujoco.mj_forward(model, data)
    expected = data.energy.copy()
    data.energy[:] = np.nan
    energy(model, data)
    assert difference(data.energy, expected) < 1e-12


def test_springs_and_gravity_conserve_energy() -> None:
    model = dovetail.loads(tree('integrator="RK4" timestep="5e-4"'))
    data = dovetail.make_data(model)
    data.qvel = np.random.default_rng(1).normal(size=model.nv)
    dovetail.forward(model, data)
    before = np.array(data.energy)
    dovetail.step(model, data, 200)
    dovetail.forward(model, data)
    assert abs(data.energy[0] - before[0]) > 1.0
    assert data.energy.sum() == pytest.approx(before.sum(), abs=1e-6)


def test_full_compensation_takes_gravity_out_of_the_motion() -> None:
    """Potential energy still counts gravity, so the sum changes by the work of the compensation alone."""
    states = []
    for xml in (tree(gravcomp="1"), tree(flags='gravity="disable"')):
        model = dovetail.loads(xml)
        data = dovetail.make_data(model)
        data.qvel = np.random.default_rng(1).normal(size=model.nv)
        dovetail.step(model, data, 100)
        states.append(np.hstack([data.qpos, data.qvel]))
    np.testing.assert_allclose(*states, atol=1e-9)


@pytest.mark.parametrize("how", implementations("energy"))
@pytest.mark.parametrize("text", [EVERYTHING, *ARMATURE.values()], ids=["joints", *ARMATURE])
def test_every_implementation_has_mujocos_energies(text: str, how: How) -> None:
    assert_mujocos(text, "energy", how)
