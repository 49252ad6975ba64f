"""What the tasks of Gymnasium have in common."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs.task import Task
from dovetail.envs.worlds import Worlds
from dovetail.errors import FileError
from dovetail.loading import load


def model_file(name: str) -> Path:
    """The file of a model: of the gymnasium package, unless the name says where it is."""
    if name.startswith(("~", ".", "/")):
        path = Path(name).expanduser()
    else:
        found = find_spec("gymnasium")
        root = Path((found.origin if found else None) or ".").parent
        path = root / "envs" / "mujoco" / "assets" / name
    if not path.exists():
        raise FileError(path, f"does not exist; xml_file = {name!r} names it")
    return path


class GymnasiumTask(Task):
    """A task whose model is a file of Gymnasium's."""

    def __init__(
        self, xml_file: str, frame_skip: int, default_camera_config: Mapping[str, Any] | None
    ) -> None:
        self.model = model_file(xml_file)
        self.frame_skip = frame_skip
        self.default_camera_config = default_camera_config

    def load(self) -> Model:
        """The model, with what follows from it."""
        model = load(self.model)
        self.dt = float(model.opt.timestep) * self.frame_skip
        self.init_qpos, self.init_qvel = np.array(model.qpos0), np.zeros(model.nv)
        self.nq, self.nv = int(model.nq), int(model.nv)
        return model

    def start_near(self, w: Worlds, scale: float, *, normal: bool = False) -> None:
        """Start close to the model's own pose; world by world positions are drawn first, then velocities."""
        nq, uniform = self.nq, self.nq if normal else self.nq + self.nv
        drawn = np.empty((len(w), nq + self.nv))
        for row, generator in zip(drawn, w.generators, strict=True):
            row[:uniform] = generator.uniform(-scale, scale, uniform)
            if normal:
                row[nq:] = scale * generator.standard_normal(self.nv)
        w.qpos, w.qvel = self.init_qpos + drawn[:, :nq], self.init_qvel + drawn[:, nq:]


def squares(values: Array) -> Array:
    """The sum of squares of each world's numbers."""
    return np.square(values).reshape(len(values), -1).sum(axis=1)


def flat(values: Array, skip: int = 0) -> Array:
    """Each world's numbers in one row, without the first bodies or dofs."""
    return values[:, skip:].reshape(len(values), -1)


def norm(vectors: Array) -> Array:
    """Lengths of vectors."""
    return np.sqrt(np.square(vectors).sum(axis=-1))
