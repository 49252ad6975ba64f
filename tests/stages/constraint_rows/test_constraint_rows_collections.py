"""Constraint rows are MuJoCo's in the models of gymnasium and dm_control, in contact after random control."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from constraint_rows_reference import compare  # noqa: E402

FOLDERS = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite"}
NAMES = {
    "gymnasium": (
        *("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_pendulum", "pusher_v5"),
        *("reacher", "walker2d_v5"),
    ),
    "dm_control": (
        *("ball_in_cup", "cheetah", "dog", "finger", "hopper", "humanoid", "humanoid_CMU", "manipulator"),
        *("quadruped", "stacker", "walker"),
    ),
}
CASES = [(package, name) for package, names in NAMES.items() for name in names]


def load(package: str, name: str) -> Any:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    model = mujoco.MjModel.from_xml_path(str(Path(spec.origin).parent / FOLDERS[package] / f"{name}.xml"))
    # normals of degenerate mesh polygons, which our Model refuses
    model.mesh_polynormal[:] = np.nan_to_num(model.mesh_polynormal, posinf=0.0, neginf=0.0)
    return model


@pytest.mark.slow_cases("dm_control-dog")
@pytest.mark.parametrize(("package", "name"), CASES, ids=[f"{p}-{n}" for p, n in CASES])
def test_rows_agree_during_a_run(package: str, name: str) -> None:
    model = load(package, name)
    random = np.random.default_rng(len(name))
    data, rows = mujoco.MjData(model), 0
    for cone, jacobian in ((0, 0), (1, 1), (0, 1)):
        model.opt.cone, model.opt.jacobian, model.opt.impratio = cone, jacobian, 1.0 + 2.0 * cone
        for _ in range(40):
            data.ctrl[:] = random.uniform(-1, 1, model.nu)
            mujoco.mj_step(model, data)
        compare(model, data)
        rows += data.nefc
    assert rows or name in ("ball_in_cup", "finger", "stacker", "reacher")
