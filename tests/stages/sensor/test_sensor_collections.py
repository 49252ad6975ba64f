"""Sensors and body forces of the models that come with Gymnasium and dm_control, against MuJoCo.

Without constraints the whole pipeline is ours; with them the sensors observe MuJoCo's own contacts and forces.
Of the packages only the XML files are used: they need not be importable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from sensor_reference import (  # noqa: E402
    OBSERVERS,
    TOLERANCE,
    assert_readings,
    filled,
    forward,
    reference,
    run_record,
)
from smooth_reference import worst_error  # noqa: E402

import dovetail  # noqa: E402
from dovetail.compare.oracle import model_from_mujoco  # noqa: E402
from dovetail.contracts.enums import DisableBit, SensorType  # noqa: E402
from dovetail.contracts.types import DATA_SPECS  # noqa: E402


def files(package: str, *below: str) -> dict[str, Path]:
    """The XML files in a folder of an installed package, which is not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    folder = Path(*places, *below) if places else None
    return {f"{package}/{path.stem}": path for path in sorted(folder.glob("*.xml"))} if folder else {}


FILES = files("gymnasium", "envs", "mujoco", "assets") | files("dm_control", "suite")
WITH_SENSORS = [name for name, path in FILES.items() if "<sensor>" in path.read_text()]
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "time")
HAS_RAYS = find_spec("dovetail.plugins.shared.geometry.ray_numpy") is not None


@cache
def load(name: str) -> tuple[Any, dovetail.Model]:
    """MuJoCo's model, and ours with the same numbers."""
    mj_model = mujoco.MjModel.from_xml_path(str(FILES[name]))
    np.nan_to_num(mj_model.mesh_polynormal, copy=False)  # faces without area have none
    return mj_model, model_from_mujoco(mj_model)


def near_start(mj_model: Any, seed: int, spread: float = 0.1) -> tuple[Any, Any]:
    """MuJoCo's results near the initial pose, where contacts are."""
    rng = np.random.default_rng(seed)
    qpos = mj_model.key_qpos[0].copy() if mj_model.nkey else mj_model.qpos0.copy()
    mujoco.mj_integratePos(mj_model, qpos, rng.normal(size=mj_model.nv), spread)
    return forward(mj_model, seed, qpos=qpos)


@contextmanager
def unconstrained(*models: Any) -> Iterator[None]:
    """Models with the disable flag `constraint`, for a while."""
    before = [model.opt.disableflags for model in models]
    for model in models:
        model.opt.disableflags |= int(DisableBit.CONSTRAINT)
    yield
    for model, flags in zip(models, before, strict=True):
        model.opt.disableflags = flags


def without_rays(mj_model: Any) -> None:
    """Skip where a rangefinder would need rays that nobody wrote."""
    if not HAS_RAYS and SensorType.RANGEFINDER in mj_model.sensor_type:
        pytest.skip("there is no ray query")


@pytest.mark.skipif(find_spec("dm_control") is None, reason="dm_control is not installed")
def test_no_model_with_sensors_is_left_out() -> None:
    assert len(WITH_SENSORS) == 12


@pytest.mark.parametrize("name", WITH_SENSORS)
def test_readings_with_constraints_are_mujocos(name: str) -> None:
    mj_model, model = load(name)
    without_rays(mj_model)
    for seed in range(3):
        assert_readings(*near_start(mj_model, seed), model)


@pytest.mark.parametrize("name", WITH_SENSORS)
def test_readings_without_constraints_from_our_own_pipeline(name: str) -> None:
    mj_model, model = load(name)
    without_rays(mj_model)
    with unconstrained(mj_model, model):
        _, mj_data = near_start(mj_model, 0)
        data = dovetail.make_data(model)
        for field in STATE:
            data.field(field)[...] = getattr(mj_data, field)
        dovetail.forward(model, data)
    assert mj_data.sensordata.any() or set(mj_model.sensor_type) == {SensorType.TOUCH}
    assert worst_error(data.sensordata, mj_data.sensordata) < TOLERANCE["acc"]


@pytest.mark.parametrize("name", FILES)
def test_body_forces_and_momenta(name: str) -> None:
    mj_model, model = load(name)
    for seed in range(2):
        _, mj_data = near_start(mj_model, seed)
        mujoco.mj_rnePostConstraint(mj_model, mj_data)
        mujoco.mj_subtreeVel(mj_model, mj_data)
        data = filled(model, mj_data)
        for stage in OBSERVERS:
            run_record(reference(stage), model, data)
            for field in (spec.name for spec in DATA_SPECS.values() if spec.writer == stage):
                assert worst_error(data.field(field), getattr(mj_data, field)) < TOLERANCE["vel"], field
