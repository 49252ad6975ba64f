"""Every function of a model and its data alone, beside MuJoCo's: from one state both leave the same numbers."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.mj

mujoco = pytest.importorskip("mujoco")

HUMANOID = Path(dovetail.__file__).parent / "models" / "humanoid.xml"
ALONE = re.compile(r"\w+\(m: mujoco._structs.MjModel, d: mujoco._structs.MjData\) -> None")
NAMES = sorted(name for name in dir(mujoco) if ALONE.match(getattr(mujoco, name).__doc__ or ""))
DIFFERENT = {
    "mj_collision": ("efc_force", "efc_aref"),  # MuJoCo throws rows away with the contacts they came from
    "mj_setConst": ("qpos", "xpos", "cdof", "qM", "qLD"),  # MuJoCo leaves the data in its reference pose
}
REFUSED_BY_MUJOCO = ("mj_implicit",)  # of a model with another integrator
FIELDS = (
    *("time", "qpos", "qvel", "qacc", "xpos", "cdof", "qM", "qLD", "cvel", "cacc", "cfrc_int", "cfrc_ext"),
    *(
        "qfrc_bias",
        "qfrc_passive",
        "qfrc_actuator",
        "qfrc_inverse",
        "qfrc_constraint",
        "efc_force",
        "efc_aref",
    ),
    *("actuator_moment", "actuator_velocity", "subtree_linvel", "energy"),
)


@functools.cache
def state() -> Any:
    """A humanoid that moves and stands on the floor."""
    model = mujoco.MjModel.from_xml_path(str(HUMANOID))
    data = mujoco.MjData(model)
    data.qvel[:] = 0.3 * np.random.default_rng(0).normal(size=model.nv)
    data.ctrl[:] = 0.1
    mujoco.mj_step(model, data, 40)
    assert data.ncon > 0
    return data


def moving(module: Any) -> tuple[Any, Any]:
    """It, evaluated."""
    model = module.MjModel.from_xml_path(str(HUMANOID))
    data = module.MjData(model)
    for name in ("time", "qpos", "qvel", "ctrl", "qacc_warmstart"):
        setattr(data, name, getattr(state(), name))
    module.mj_forward(model, data)
    return model, data


def values(module: Any, name: str) -> dict[str, Any]:
    model, data = moving(module)
    getattr(module, name)(model, data)
    return {field: np.array(getattr(data, field)) for field in FIELDS}


def test_there_are_many() -> None:
    assert len(NAMES) > 40


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED_BY_MUJOCO])
def test_it_leaves_mujocos_numbers(name: str) -> None:
    ours, theirs = values(dovetail.mj, name), values(mujoco, name)
    for field in FIELDS:
        if field not in DIFFERENT.get(name, ()):
            np.testing.assert_allclose(ours[field], theirs[field], rtol=1e-6, atol=1e-7, err_msg=field)


@pytest.mark.parametrize("name", REFUSED_BY_MUJOCO)
@pytest.mark.parametrize("module", [dovetail.mj, mujoco], ids=["ours", "MuJoCo's"])
def test_it_is_refused(module: Any, name: str) -> None:
    with pytest.raises(module.FatalError, match="integrator must be implicit"):
        getattr(module, name)(*moving(module))
