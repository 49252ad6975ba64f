"""What the integrators promise: order, conservation, stability under stiff damping, clean bookkeeping."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, computed, implementations, scene
from limb_models import DRIVEN, IN_SYRUP, SPINNING
from smooth_models import EVERYTHING
from smooth_reference import WithExtra, load, step

PENDULUM = """<mujoco><option timestep="{timestep}" integrator="{integrator}">
  <flag constraint="disable" energy="enable" {flags}/></option><worldbody>
  <body><joint name="j" axis="0 1 0" damping="{damping}"/><geom type="capsule" size=".05 .3" pos=".2 0 -.3"/>
    <body pos=".3 0 -.5"><joint axis="1 1 0"/><geom size=".1" pos="0 .1 -.2"/></body></body></worldbody>
  </mujoco>"""


def pendulum(
    integrator: str, timestep: float, damping: float = 0.0, flags: str = ""
) -> tuple[Any, WithExtra]:
    model = load(PENDULUM.format(integrator=integrator, timestep=timestep, damping=damping, flags=flags))
    data = WithExtra(model, mujoco.MjData(model))
    data.qvel[:] = 1.0, -2.0
    return model, data


def end_of(integrator: str, timestep: float, duration: float = 0.32) -> Any:
    model, data = pendulum(integrator, timestep)
    for _ in range(round(duration / timestep)):
        step(model, data)
    return np.concatenate([data.qpos, data.qvel])


@pytest.mark.parametrize(("integrator", "order"), [("Euler", 1), ("RK4", 4)])
def test_error_falls_with_the_order_of_the_method(integrator: str, order: int) -> None:
    coarse, middle, fine = (end_of(integrator, timestep) for timestep in (0.02, 0.01, 0.005))
    ratio = np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine)
    assert np.log2(ratio) == pytest.approx(order, abs=0.3)


def test_rk4_conserves_energy_of_an_undamped_pendulum() -> None:
    model, data = pendulum("RK4", 0.005)
    step(model, data)
    before = data.energy.sum()
    for _ in range(200):
        step(model, data)
    assert data.energy.sum() == pytest.approx(before, rel=1e-6)


def test_implicit_damping_is_stable_where_explicit_is_not() -> None:
    speeds = {}
    for flags in ("", 'eulerdamp="disable"'):
        model, data = pendulum("Euler", 0.01, damping=2000.0, flags=flags)
        for _ in range(5):
            step(model, data)
        speeds[flags] = abs(data.qvel[0])
    assert speeds[""] < 0.1
    assert speeds['eulerdamp="disable"'] > 10.0


def test_rk4_leaves_warmstart_alone_until_the_last_evaluation() -> None:
    model, data = pendulum("RK4", 0.005)
    step(model, data)
    np.testing.assert_array_equal(data.qacc_warmstart, data.qacc)
    assert data.time == 0.005


STEPPED = {
    "euler": {"joints": EVERYTHING},
    "rk4": {"joints": EVERYTHING.replace("<option ", '<option integrator="RK4" ')},
    "implicitfast": {"syrup": IN_SYRUP["implicitfast"], **DRIVEN},
    "implicit": {"syrup": IN_SYRUP["implicit"], "spinning": SPINNING["implicit"]},
}
"""Models by integrator."""


@pytest.mark.parametrize(
    ("name", "text", "how"),
    [
        pytest.param(name, text, *case.values, id=f"{kind}-{case.id}", marks=case.marks)
        for name, models in STEPPED.items()
        for kind, text in models.items()
        for case in implementations("integrate", name)
    ],
)
def test_every_implementation_steps_as_mujoco(name: str, text: str, how: How) -> None:
    assert_mujocos(text, "integrate", how)


@pytest.mark.parametrize("models", [IN_SYRUP, SPINNING], ids=["syrup", "spinning"])
def test_integrators_are_tried_where_coriolis_forces_matter(models: dict[str, str]) -> None:
    found = [
        computed(scene(models[name]), "integrate", How(f"{name}@numpy"))[1].qvel
        for name in ("implicitfast", "implicit")
    ]
    assert np.abs(found[0] - found[1]).max() > 1e-5
