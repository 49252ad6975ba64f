"""Boxes side by side in single precision: that edges are parallel only up to rounding loses no contact."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

import dovetail
from dovetail.contracts.types import Model

LANES = os.environ.get("TEST_LANES", "native")
"""The lane backend that is tested."""

NWORLD = 512
HALF, DEPTH = 0.1, 1e-4

POSES = {
    "flush": (0.0, 0.0, 0.0),
    "shifted": (0.0, 0.05, 0.0),
    "hardly_turned": (1e-3, 0.05, 0.0),
    "turned": (0.7, 0.05, 0.0),
    "hardly_tilted": (0.7, 0.05, 1e-5),
}
"""How far the second box is turned about the axis that both share and shifted along the side, at most, and tilted."""


@cache
def model() -> Model:
    box = f'<body><freejoint/><geom type="box" size="{HALF} {HALF} 0.05"/></body>'
    return dovetail.loads(f'<mujoco><option gravity="0 0 0"/><worldbody>{2 * box}</worldbody></mujoco>')


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Of quaternions (n, 4)."""
    a, u, b, v = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    return np.hstack([a * b - (u * v).sum(1, keepdims=True), a * v + b * u + np.cross(u, v)])


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) turned by quaternions."""
    t = 2.0 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * t + np.cross(q[:, 1:], t)


def beside(turn: float, shift: float, tilt: float) -> np.ndarray:
    """qpos of worlds, anywhere and however oriented, in which a face or an edge of one box is DEPTH deep in the
    other."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=(NWORLD, 4))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    angle, about = rng.uniform(-turn, turn, NWORLD), rng.uniform(0.0, 2.0 * np.pi, NWORLD)
    none = np.zeros(NWORLD)
    yaw = np.stack([np.cos(angle / 2), none, none, np.sin(angle / 2)], 1)
    lean = np.stack([1.0 + none, tilt / 2 * np.cos(about), tilt / 2 * np.sin(about), none], 1)
    reach = HALF * (1.0 + np.abs(np.cos(angle)) + np.abs(np.sin(angle))) - DEPTH
    offset = np.stack([reach, rng.uniform(-shift, shift, NWORLD), none], 1)
    place = rng.uniform(-1.0, 1.0, (NWORLD, 3))
    second = product(product(first, yaw), lean / np.linalg.norm(lean, axis=1, keepdims=True))
    return np.hstack([place, first, place + turned(first, offset), second])


def counts(qpos: np.ndarray, precision: str) -> np.ndarray:
    """Contacts by world."""
    sim = dovetail.Simulation(model(), nworld=NWORLD, backend=LANES, precision=precision, keep=("ncon",))
    sim.data.qpos = qpos
    sim.step()
    return np.array(sim.data.ncon).reshape(-1)


@pytest.mark.parametrize("pose", POSES)
def test_no_contact_is_lost(pose: str) -> None:
    qpos = beside(*POSES[pose])
    double, single = counts(qpos, "f64"), counts(qpos, "f32")
    assert ((single > 0) == (double > 0)).all()
    touching = double > 0
    assert (single[touching] >= 2).all(), "an edge touches at two points at least, a face at four"


@pytest.mark.parametrize("pose", ["flush", "shifted"])
def test_a_face_touches_at_its_four_corners(pose: str) -> None:
    """Those that lie on an outline are found, and hardly ever twice."""
    single = counts(beside(*POSES[pose]), "f32")
    assert (single >= 4).all()
    assert (single == 4).mean() > 0.95
