"""Every disable and enable flag of MuJoCo 3.4, on scenes in which it matters.

Both engines run free for ten steps from the same state. At each step qacc, the state, the forces and what sensors
read agree to 1e-8; and each flag is seen to change what it is about, so that no agreement is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scenes

import dovetail
from dovetail.contracts.enums import DisableBit, EnableBit

mujoco = pytest.importorskip("mujoco")

STEPS = 10
TOLERANCE = 1e-8
COMPARED = (
    *("qacc", "qpos", "qvel", "act", "qacc_smooth", "qfrc_passive", "qfrc_actuator", "qfrc_constraint"),
    *("qfrc_smooth", "sensordata"),
)
"""And `energy` with its flag; without it MuJoCo leaves there what a sensor of energy happened to compute."""
DISABLED, ENABLED = [bit.keyword for bit in DisableBit], [bit.keyword for bit in EnableBit]
AWAKE = [word for word in (*DISABLED, *ENABLED) if word != "sleep"]
FLAGS = [*AWAKE, "sleep"]


def options(*words: str) -> dict[str, int]:
    """The two options that hold the flags, with those named disabled or enabled."""
    off = sum(int(DisableBit.from_keyword(word)) for word in words if word in DISABLED)
    return {
        "disableflags": off,
        "enableflags": sum(int(EnableBit.from_keyword(word)) for word in words if word in ENABLED),
    }


@cache
def run(name: str, *flags: str, option: str = "") -> scenes.SideBySide:
    """Both engines after some steps, compared at each; not to be changed, since tests share it."""
    xml = scenes.text(name, option)
    if (
        "sleep" in flags
    ):  # MuJoCo 3.4 has no sleep with equalities of tendons, nor contacts of what cannot wake.
        xml = xml.replace('<tendon tendon1="gear" polycoef=".1 0 0 0 0" solref="-50 -3"/>', "")
        xml = xml.replace('<pair geom1="floor" geom2="step"/>', "")
    both = scenes.SideBySide(xml, **options(*flags))
    both.start(speed=0.05)
    for step in range(STEPS):
        both.step()
        assert both.data.ncon == both.oracle.ncon
        assert both.data.nefc == both.oracle.nefc
        compared = (*COMPARED, "energy") if "energy" in flags else COMPARED
        errors = {field: both.error(field) for field in compared}
        assert max(errors.values()) < TOLERANCE, (step, errors)
    return both


@pytest.mark.covering
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("name", scenes.SCENES)
def test_ten_steps_are_mujocos_under_every_flag(name: str, flag: str) -> None:
    run(name, flag)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_ten_steps_without_any_flag(name: str) -> None:
    run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", scenes.SCENES)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("flag", FLAGS)
def test_ten_steps_of_either_cone(name: str, cone: str, flag: str) -> None:
    run(name, flag, option=f'cone="{cone}" tolerance="1e-12"')


@pytest.mark.slow
@pytest.mark.parametrize("flags", list(combinations(AWAKE, 2)), ids="-".join)
def test_ten_steps_with_two_flags(flags: tuple[str, str]) -> None:
    run("heap", *flags)


# ---- each flag does something -------------------------------------------------------------------------------


def field(name: str) -> Callable[[scenes.SideBySide], Any]:
    return lambda both: np.array(both.data.field(name))


def contact_order(both: scenes.SideBySide) -> Any:
    return np.array(both.data.contact.geom[: both.data.ncon])


def count(name: str) -> Callable[[scenes.SideBySide], Any]:
    return lambda both: np.array([getattr(both.data, name)])


CHANGES: dict[str, tuple[str, Callable[[scenes.SideBySide], Any]]] = {
    "constraint": ("heap", count("nefc")),
    "equality": ("workshop", count("ne")),
    "frictionloss": ("workshop", count("nf")),
    "limit": ("workshop", count("nl")),
    "contact": ("heap", count("ncon")),
    "spring": ("workshop", field("qfrc_spring")),
    "damper": ("workshop", field("qfrc_damper")),
    "gravity": ("heap", field("qfrc_bias")),
    "clampctrl": ("workshop", field("actuator_force")),
    "warmstart": ("walker", field("solver_niter")),
    "filterparent": ("walker", count("ncon")),
    "actuation": ("walker", field("actuator_force")),
    "refsafe": ("workshop", field("qacc")),
    "sensor": ("workshop", field("sensordata")),
    "midphase": ("workshop", contact_order),
    "eulerdamp": ("workshop", field("qvel")),
    "nativeccd": ("heap", field("qacc")),
    "island": ("heap", count("nisland")),
    "override": ("heap", field("qacc")),
    "energy": ("heap", field("energy")),
    "fwdinv": ("workshop", field("qfrc_inverse")),
    "multiccd": ("heap", count("ncon")),
}
"""By flag: a scene and what the flag must change there. Of the rest, autoreset and invdiscrete have tests below."""


@pytest.mark.parametrize("flag", CHANGES)
def test_the_flag_changes_what_it_is_about(flag: str) -> None:
    name, value = CHANGES[flag]
    plain, flagged = value(run(name)), value(run(name, flag))
    assert plain.shape != flagged.shape or np.abs(plain - flagged).max() > 1e-7


@pytest.mark.parametrize("automatic", [True, False])
def test_autoreset_of_a_bad_state(automatic: bool) -> None:
    """A velocity beyond MuJoCo's bound resets the state, or is left alone."""
    both = scenes.SideBySide(scenes.text("walker"), **options(*([] if automatic else ["autoreset"])))
    both.start()
    both.step()
    both.oracle.qvel[7] = 2e10
    both.take()
    mujoco.mj_step(both.oracle_model, both.oracle)
    with pytest.warns(RuntimeWarning) as said:
        dovetail.step(both.model, both.data)
    assert 'qvel[7] (joint "k1") is 2' in str(said[0].message)
    assert both.error("qpos") < TOLERANCE
    assert (both.data.time < 2 * both.model.opt.timestep) == automatic


@pytest.mark.parametrize("name", ["workshop", "walker"])
def test_fwdinv_with_a_discrete_inverse(name: str) -> None:
    """Forward dynamics compared with an inverse that takes qacc for the change of velocity: not a small difference,
    and MuJoCo's."""
    both = run(name, "fwdinv", "invdiscrete")
    np.testing.assert_allclose(both.data.solver_fwdinv, both.oracle.solver_fwdinv, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        run(name, "fwdinv").data.solver_fwdinv, run(name, "fwdinv").oracle.solver_fwdinv, rtol=1e-6, atol=1e-9
    )
    assert both.data.solver_fwdinv[1] > 1e3 * run(name, "fwdinv").data.solver_fwdinv[1]
