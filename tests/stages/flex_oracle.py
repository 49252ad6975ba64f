"""Collision of flexes by our stages on MuJoCo's own vertices and boxes, beside MuJoCo's contacts."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import mujoco
import numpy as np
from fresh_stack import call

from dovetail.compare.oracle import model_from_mujoco
from dovetail.contracts.derive import make_data
from dovetail.contracts.types import Data, Model
from dovetail.plugins.broadphase import all_pairs_numpy, sweep_numpy
from dovetail.plugins.contact_range.inner_gap_numpy import contact_range
from dovetail.plugins.narrowphase.convex_numpy import narrowphase

PLACES = ("geom_xpos", "geom_xmat", "flexvert_xpos", "flexelem_aabb", "bvh_aabb_dyn", "xpos", "xmat")
"""What the collision stages read."""

IDS = ("geom", "flex", "elem", "vert")
BROADPHASES = {"sweep": sweep_numpy.broadphase, "all_pairs": all_pairs_numpy.broadphase}


def _records(table: str) -> list[Any]:
    module = import_module(f"dovetail.plugins.{table}")
    return [record for record in module.dovetail_implementations() if record.backend == "numpy"]


def parts(**changed: Any) -> dict[str, Any]:
    """What the narrowphase calls."""
    pairs = {record.key: record.load() for record in _records("collide_pair")}
    flexes = {record.key: record.load() for record in _records("collide_flex")}
    return {
        "collide_pair": pairs,
        "collide_flex": {**flexes, **changed},
        "combine_margin": np.maximum,
        "contact_range": contact_range,
    }


class Scene:
    """A model in MuJoCo and here."""

    def __init__(self, xml: str) -> None:
        self.theirs = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.theirs)
        self.model: Model = model_from_mujoco(self.theirs)

    def throw(self, seed: int, spread: float = 0.02) -> None:
        """A random state near the model's own."""
        rng = np.random.default_rng(seed)
        self.data.qpos[:] = self.theirs.qpos0
        mujoco.mj_integratePos(self.theirs, self.data.qpos, spread * rng.normal(size=self.theirs.nv), 1.0)
        self.settle()

    def settle(self) -> None:
        mujoco.mj_kinematics(self.theirs, self.data)
        mujoco.mj_comPos(self.theirs, self.data)
        mujoco.mj_flex(self.theirs, self.data)
        call(mujoco.mj_collision, self.theirs, self.data)

    def ours(self, broadphase: str = "sweep", **changed: Any) -> Data:
        """Our contacts where MuJoCo's vertices are."""
        data = make_data(self.model)
        for name in PLACES:
            field = data.field(name)
            field[...] = np.asarray(getattr(self.data, name)).reshape(field.shape)
        BROADPHASES[broadphase](self.model, data)
        narrowphase(self.model, data, parts(**changed))
        return data


def ids(contact: Any, count: int) -> list[list[int]]:
    """Who touches whom, a row a contact."""
    columns = [np.asarray(getattr(contact, name))[:count].reshape(count, 2) for name in IDS]
    return np.concatenate(columns, axis=1).tolist()


def difference(scene: Scene, data: Data) -> Mapping[str, float]:
    """How far distance, place and frame are from MuJoCo's; the lists must be the same."""
    count = int(scene.data.ncon)
    theirs = scene.data.contact
    assert ids(data.contact, int(data.ncon)) == ids(theirs, count)
    return {
        name: float(
            np.abs(
                np.asarray(getattr(data.contact, name))[:count].reshape(-1)
                - np.asarray(getattr(theirs, name))[:count].reshape(-1)
            ).max(initial=0.0)
        )
        for name in ("dist", "pos", "frame")
    }
