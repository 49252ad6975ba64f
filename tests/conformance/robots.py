"""The models of Gymnasium and of dm_control's suite, and trajectories of MuJoCo's through contacts.

Of dm_control only the XML files are used. Models are compiled once per process: treat them as read-only, or use
`settings` to get one with other options.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.types import STATE, Data, Model


def folder_of(package: str, *below: str) -> Path | None:
    """A folder of an installed package, which is not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(*places, *below) if places else None


def _files() -> Iterator[tuple[str, Path]]:
    for prefix, folder in (
        ("gymnasium", folder_of("gymnasium", "envs", "mujoco", "assets")),
        ("suite", folder_of("dm_control", "suite")),
    ):
        for path in sorted(folder.glob("*.xml")) if folder else ():
            yield f"{prefix}/{path.stem}", path


FILES = dict(_files())
"""Path by name, as `gymnasium/ant` and `suite/dog`."""


@cache
def ours(name: str) -> Model:
    return dovetail.load(FILES[name])


@cache
def theirs(name: str) -> Any:
    mujoco = pytest.importorskip("mujoco")
    return mujoco.MjModel.from_xml_path(str(FILES[name]))


def controls(model: Any, rng: np.random.Generator) -> Any:
    """Random controls: within their range where they have one, about ±1 elsewhere."""
    limited = np.asarray(model.actuator_ctrllimited, bool)
    low, high = np.asarray(model.actuator_ctrlrange).T
    return np.where(limited, rng.uniform(low, np.maximum(high, low)), rng.normal(0.0, 1.0, model.nu))


def trajectory(model: Any, steps: int, *, every: int = 1, seed: int = 0) -> Iterator[Any]:
    """MjData along a trajectory under random controls, each yielded before its next step is made; the caller may
    call mj_forward on it."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    for step in range(steps):
        if step % 10 == 0:
            data.ctrl[:] = controls(model, rng)
        if step % every == every - 1:
            yield data
        mujoco.mj_step(model, data)


def inject(data: Data, oracle: Any) -> None:
    """Give a Data of one world the state of an MjData."""
    for field in STATE:
        data.field(field)[...] = np.asarray(getattr(oracle, field)).reshape(data.field(field).shape)
