"""Distances of geoms: plain geometry, order of the geoms, the cut, and MuJoCo's values for every pair of types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.shared.geometry.distance_numpy import geom_distance

TOLERANCE = 1e-8
"""Metres, of the distance and of the segment's ends."""

CUBE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
ROUND = " ".join(
    f"{a:.6f} {b:.6f} {c:.6f}"
    for a, b, c in (lambda p: 0.2 * p / np.linalg.norm(p, axis=1, keepdims=True))(
        np.random.default_rng(0).normal(size=(40, 3))
    )
)
SHAPES = {
    "plane": 'type="plane" size="1 1 1"',
    "hfield": 'type="hfield" hfield="field"',
    "sphere": 'type="sphere" size=".12"',
    "capsule": 'type="capsule" size=".08 .15"',
    "ellipsoid": 'type="ellipsoid" size=".1 .16 .22"',
    "cylinder": 'type="cylinder" size=".12 .15"',
    "box": 'type="box" size=".1 .14 .18"',
    "cube": 'type="mesh" mesh="cube"',
    "round": 'type="mesh" mesh="round"',
}
FIXED = ("plane", "hfield")
KINDS = list(SHAPES)


def document(first: str, second: str, nativeccd: str = "enable") -> str:
    """Two geoms of the given kinds."""
    kinds = first, second
    geoms = [f"<geom {SHAPES[kind]}/>" for kind in kinds]
    bodies = [
        geom if kind in FIXED else f"<body><freejoint/>{geom}</body>"
        for kind, geom in zip(kinds, geoms, strict=True)
    ]
    return f"""<mujoco><option><flag nativeccd="{nativeccd}"/></option>
    <asset><mesh name="cube" vertex="{CUBE}"/><mesh name="round" vertex="{ROUND}"/>
    <hfield name="field" nrow="5" ncol="6" size=".5 .4 .2 .1"/></asset>
    <worldbody>{"".join(bodies)}</worldbody></mujoco>"""


def rotation(rng: np.random.Generator) -> Any:
    """A random rotation matrix."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn * np.linalg.det(turn)


def own_scene(first: str, second: str) -> tuple[Any, Any]:
    model = dovetail.loads(document(first, second))
    data = dovetail.make_data(model)
    data.geom_xpos[:] = 0.0
    data.geom_xmat[:] = np.eye(3).ravel()
    return model, data


@pytest.mark.parametrize(("first", "second"), [("sphere", "box"), ("box", "sphere"), ("cube", "sphere")])
def test_the_segment_runs_from_the_first_geom_to_the_second(first: str, second: str) -> None:
    model, data = own_scene(first, second)
    half = {"sphere": 0.12, "box": 0.1, "cube": 0.1}
    data.geom_xpos[1] = [0.5, 0.01, 0.02]
    dist, fromto = geom_distance(model, data, 0, 1, 1.0)
    assert dist == pytest.approx(0.5 - half[first] - half[second], abs=1e-6)
    assert fromto[0] == pytest.approx(half[first], abs=1e-6)
    assert fromto[3] == pytest.approx(0.5 - half[second], abs=1e-6)


@pytest.mark.parametrize(
    "pair", [("sphere", "sphere"), ("box", "box"), ("capsule", "cylinder"), ("cube", "round")]
)
def test_penetration_is_negative_and_the_segment_turns_round(pair: tuple[str, str]) -> None:
    model, data = own_scene(*pair)
    data.geom_xpos[1] = [0.15, 0.03, 0.01]
    dist, fromto = geom_distance(model, data, 0, 1, 1.0)
    assert dist < 0.0
    assert np.linalg.norm(fromto[3:] - fromto[:3]) == pytest.approx(-dist, abs=1e-6)


def test_beyond_the_largest_distance_there_is_no_segment() -> None:
    for pair in (("sphere", "box"), ("box", "cube"), ("capsule", "ellipsoid"), ("plane", "round")):
        model, data = own_scene(*pair)
        data.geom_xpos[1] = [0.0, 0.0, 3.0]
        dist, fromto = geom_distance(model, data, 0, 1, 0.5)
        assert dist == 0.5
        np.testing.assert_array_equal(fromto, np.zeros(6))


def test_types_that_do_not_collide_are_at_the_largest_distance() -> None:
    model, data = own_scene("plane", "plane")
    dist, fromto = geom_distance(model, data, 0, 1, 0.7)
    assert dist == 0.7
    assert not fromto.any()


def test_an_unknown_geom_is_an_error_that_says_how_many_there_are() -> None:
    model, data = own_scene("sphere", "box")
    with pytest.raises(IndexError, match="no geom 2; the model has 2"):
        geom_distance(model, data, 0, 2, 1.0)
    with pytest.raises(IndexError, match="no geom -1"):
        geom_distance(model, data, -1, 0, 1.0)


def poses(first: str, second: str, data: Any) -> Iterator[float]:
    """Set random poses of both geoms, some of them aligned; the largest distances to ask for."""
    rng = np.random.default_rng([KINDS.index(first), KINDS.index(second)])
    data.model.hfield_data[:] = rng.uniform(size=data.model.hfield_data.size)
    for i in range(20):
        data.geom_xpos[:] = rng.normal(size=(2, 3)) * (0.1, 0.3)[i % 2]
        data.geom_xmat[:] = rotation(rng).ravel(), rotation(rng).ravel()
        if i % 4 == 3:
            data.geom_xpos[:] = np.round(data.geom_xpos, 1)
            data.geom_xmat[:] = np.eye(3).ravel(), np.eye(3)[[1, 2, 0]].ravel()
        yield float(rng.choice([10.0, 1.0, 0.1, 0.0]))


@pytest.mark.covering(2)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_distances_equal_mujocos(first: str, second: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(document(first, second)))
    expected = np.zeros(6)
    for distmax in poses(first, second, data):
        wanted = mujoco.mj_geomDistance(data.model, data, 0, 1, distmax, expected)
        dist, fromto = geom_distance(data.model, data, 0, 1, distmax)
        assert dist == pytest.approx(wanted, abs=TOLERANCE)
        np.testing.assert_allclose(fromto, expected, atol=TOLERANCE)


@pytest.mark.covering
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_distances_by_portal_refinement_equal_mujocos(first: str, second: str) -> None:
    """With nativeccd off, where MuJoCo's own answer is steady: aligned faces and wide margins are not."""
    mujoco = pytest.importorskip("mujoco")
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(document(first, second, "disable")))

    def theirs(distmax: float) -> Any:
        fromto = np.zeros(6)
        return np.append(fromto, mujoco.mj_geomDistance(data.model, data, 0, 1, distmax, fromto))

    def is_steady(wanted: Any, distmax: float) -> bool:
        rng, pose = np.random.default_rng(0), (data.geom_xpos.copy(), data.geom_xmat.copy())
        moved = 0.0
        for _ in range(10):
            for field, value in zip((data.geom_xpos, data.geom_xmat), pose, strict=True):
                field[:] = value + 1e-15 * rng.normal(size=value.shape)
            moved = max(moved, float(np.abs(theirs(distmax) - wanted).max()))
        data.geom_xpos[:], data.geom_xmat[:] = pose
        return moved < 1e-3 * TOLERANCE

    steady = 0
    for distmax in poses(first, second, data):
        wanted = theirs(distmax)
        dist, fromto = geom_distance(data.model, data, 0, 1, distmax)
        if np.abs(np.append(fromto, dist) - wanted).max() < TOLERANCE or is_steady(wanted, distmax):
            steady += 1
            np.testing.assert_allclose(np.append(fromto, dist), wanted, atol=TOLERANCE)
    assert steady > 15
