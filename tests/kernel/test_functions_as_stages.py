"""A function given in the call takes a stage's place, checked like any plugin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.errors import DovetailError, PluginError


def test_a_function_adds_a_row_to_a_table(pendulum: Model) -> None:
    def wind(model: Model, data: Any) -> None:
        data.qfrc_passive[:] += 0.5

    sim = dovetail.Simulation(pendulum, stages={"passive_force:wind": wind})
    still = dovetail.Simulation(pendulum)
    sim.forward()
    still.forward()
    assert np.allclose(sim.data.qfrc_passive, still.data.qfrc_passive + 0.5)
    assert "wind@numpy" in sim.plan.explain()
    assert "from the call" in sim.plan.explain()


def test_a_function_replaces_a_stage_and_the_default_stays_for_others(pendulum: Model) -> None:
    def energy(model: Model, data: Any) -> None:
        data.energy[:] = 1.0, 2.0

    pendulum.opt.enableflags |= 2
    sim = dovetail.Simulation(pendulum, stages={"energy": energy})
    sim.forward()
    assert data_energy(sim) == [1.0, 2.0]
    other = dovetail.Simulation(pendulum)
    other.forward()
    assert data_energy(other) != [1.0, 2.0]


def data_energy(sim: dovetail.Simulation) -> list[float]:
    return [float(x) for x in sim.data.energy]


def test_a_lambda_has_a_name_too(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum, stages={"passive_force:wind": lambda model, data: None})
    assert "@numpy" in sim.plan.choices["passive_force:wind"].record.label


def test_a_function_with_other_arguments_is_refused(pendulum: Model) -> None:
    def wind(model: Model, world: Any) -> None:
        del model, world

    with pytest.raises(PluginError, match=r"\(model, data\)"):
        dovetail.Simulation(pendulum, stages={"passive_force:wind": wind})


def test_a_stage_that_does_not_exist_is_refused(pendulum: Model) -> None:
    with pytest.raises(DovetailError, match="passive_force"):
        dovetail.Simulation(pendulum, stages={"passive_farce:wind": lambda model, data: None})
