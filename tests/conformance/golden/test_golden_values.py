"""dovetail gives the values that MuJoCo 3.4.0 gave when golden/generate.py ran; MuJoCo itself is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.errors import Worst, meaningful, relative_error
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, Model

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.npz"))
STEPS = 50
STATES = 3
AFTER_STEPS = 1e-8
"""Tolerance of the state after the steps: rounding has had time to grow."""


def read(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    return read(request.param)


@pytest.fixture(scope="module")
def model(golden: dict[str, Any]) -> Model:
    return dovetail.loads(str(golden["mjcf"]))


def section(golden: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(f"{prefix}/"): v for name, v in golden.items() if name.startswith(f"{prefix}/")}


def test_values_are_of_the_right_version(golden: dict[str, Any]) -> None:
    assert str(golden["mujoco"]) == "3.4.0"


def test_compiled_models_have_the_stored_values(golden: dict[str, Any], model: Model) -> None:
    worst = Worst(model)
    for name, value in section(golden, "model").items():
        worst.add("compile", MODEL_SPECS[name], np.asarray(model.field(name)), value)
    assert [str(row) for row in worst.sorted_rows() if not row.ok] == []


@pytest.mark.parametrize("index", range(STATES))
def test_a_forward_evaluation_gives_the_stored_values(
    golden: dict[str, Any], model: Model, index: int
) -> None:
    data = dovetail.make_data(model)
    for name, values in section(golden, "state").items():
        data.field(name)[...] = values[index]
    dovetail.forward(model, data)
    worst = Worst(model)
    expected = {name: values[index] for name, values in section(golden, "forward").items()}
    for name, value in expected.items():
        spec, ours = DATA_SPECS[name], np.asarray(data.field(name))
        get = expected.__getitem__
        worst.add(
            spec.writer or "",
            spec,
            meaningful(spec, ours, get),
            meaningful(spec, value.reshape(ours.shape), get),
        )
    assert [str(row) for row in worst.sorted_rows() if not row.ok] == []


@pytest.mark.slow_cases("loose")
def test_steps_give_the_stored_values(golden: dict[str, Any], model: Model) -> None:
    check_steps(golden, dovetail.Simulation(model, nworld=STATES))


@pytest.mark.parametrize("name", ["chain", "loose"])
def test_steps_in_lanes_give_the_stored_values(name: str) -> None:
    """On two models only: the trajectory tests run more."""
    values = read(HERE / f"{name}.npz")
    model = dovetail.loads(str(values["mjcf"]))
    check_steps(values, dovetail.Simulation(model, nworld=STATES, backend=LANES))


def check_steps(golden: dict[str, Any], sim: dovetail.Simulation) -> None:
    for name, values in section(golden, "state").items():
        sim.data.field(name)[...] = values
    sim.step(STEPS)
    for name, values in section(golden, "after").items():
        for world, expected in zip(sim.data.worlds(), values, strict=True):
            assert relative_error(world.field(name), expected) <= AFTER_STEPS, name
