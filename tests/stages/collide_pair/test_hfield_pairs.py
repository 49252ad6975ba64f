"""Contacts with height fields: geometry on flat and sloping ground, and number, order and values as in MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.collide_pair.hfield_numpy import height_field
from dovetail.plugins.shared.contacts.pair_types import HFIELD_PAIRS

TOLERANCE = 1e-9
"""Metres and, for normals, plain numbers."""

CUBE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.12, 0.12) for z in (-0.08, 0.08))
DRUM = " ".join(
    f"{0.12 * np.cos(t):.6f} {0.12 * np.sin(t):.6f} {z}"
    for t in np.arange(12) * np.pi / 6
    for z in (-0.1, 0.1)
)
SHAPES = {
    "sphere": 'type="sphere" size=".12"',
    "capsule": 'type="capsule" size=".08 .15"',
    "ellipsoid": 'type="ellipsoid" size=".1 .16 .22"',
    "cylinder": 'type="cylinder" size=".12 .15"',
    "box": 'type="box" size=".1 .14 .18"',
    "cube": 'type="mesh" mesh="cube"',
    "drum": 'type="mesh" mesh="drum"',
}
ROWS, COLUMNS = 9, 11


def document(shape: str, margin: float = 0.0, rows: int = ROWS, columns: int = COLUMNS) -> str:
    """A height field one metre long, 0.8 wide and 0.2 high, and one geom."""
    return f"""<mujoco><asset><mesh name="cube" vertex="{CUBE}"/><mesh name="drum" vertex="{DRUM}"/>
    <hfield name="field" nrow="{rows}" ncol="{columns}" size=".5 .4 .2 .1"/></asset>
    <worldbody><geom name="ground" type="hfield" hfield="field"/>
    <body><freejoint/><geom name="thing" {SHAPES[shape]}/></body></worldbody>
    <contact><pair geom1="ground" geom2="thing" margin="{margin}"/></contact></mujoco>"""


def rotation(rng: np.random.Generator) -> Any:
    """A random rotation matrix."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn * np.linalg.det(turn)


def terrain(kind: int, rng: np.random.Generator, rows: int = ROWS, columns: int = COLUMNS) -> Any:
    """Elevations: level, random, rolling, or steps."""
    level = np.full((rows, columns), 0.5)
    rolling = np.clip(
        np.add.outer(np.sin(np.arange(rows) / 2), np.cos(np.arange(columns) / 3)) * 0.2 + 0.5, 0, 1
    )
    steps = np.broadcast_to(np.arange(columns) // 3 / 4, (rows, columns))
    return (level, rng.uniform(size=(rows, columns)), rolling, steps)[kind].ravel()


def own_scene(shape: str) -> tuple[Any, Any]:
    model = dovetail.loads(document(shape))
    data = dovetail.make_data(model)
    data.geom_xpos[:] = 0.0
    data.geom_xmat[:] = np.eye(3).ravel()
    return model, data


def test_rows_exist_for_all_convex_types() -> None:
    types = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
    assert tuple(f"hfield-{name}" for name in types) == HFIELD_PAIRS


@pytest.mark.parametrize("depth", [1e-6, 0.01, 0.05])
def test_a_ball_in_level_ground_is_as_deep_as_its_lowest_point(depth: float) -> None:
    model, data = own_scene("sphere")
    model.hfield_data[:] = 0.5
    data.geom_xpos[1] = [0.02, 0.03, 0.1 + 0.12 - depth]
    contacts = height_field(model, data, 0, 1, 0.0)
    deepest = np.argmin(contacts.dist)
    assert contacts.dist[deepest] == pytest.approx(-depth, abs=1e-9)
    np.testing.assert_allclose(contacts.normal[deepest], [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(contacts.pos[deepest], [0.02, 0.03, 0.1 - depth / 2], atol=1e-6)


def test_beside_above_and_below_the_field_there_is_nothing() -> None:
    model, data = own_scene("box")
    model.hfield_data[:] = 1.0
    for place in ([0.9, 0, 0], [-0.9, 0, 0], [0, 0.8, 0], [0, -0.8, 0], [0, 0, 0.6], [0, 0, -0.5]):
        data.geom_xpos[1] = place
        assert not len(height_field(model, data, 0, 1, 0.01).dist)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_pose_that_is_no_pose_has_no_contacts(value: float) -> None:
    for shape in SHAPES:
        for field in ("geom_xpos", "geom_xmat"):
            for geom in range(2):
                if (shape, field, geom) == ("sphere", "geom_xmat", 1):
                    continue  # a ball is the same however it is turned
                model, data = own_scene(shape)
                getattr(data, field)[geom, 0] = value
                assert not len(height_field(model, data, 0, 1, 0.0).dist)


@pytest.mark.covering
@pytest.mark.parametrize("margin", [0.0, 0.03])
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts_equal_mujocos(shape: str, margin: float) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(document(shape, margin))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    touching = 0
    for i in range(104):
        model.hfield_data[:] = terrain(i % 4, rng)
        aligned = i % 8 >= 6
        ground, thing = (np.eye(3), np.eye(3)[[1, 2, 0]]) if aligned else (rotation(rng), rotation(rng))
        offset = rng.uniform([-0.55, -0.45, -0.1], [0.55, 0.45, 0.35])
        data.geom_xmat[:] = ground.ravel(), thing.ravel()
        data.geom_xpos[0] = rng.normal(size=3) * (not aligned)
        data.geom_xpos[1] = data.geom_xpos[0] + ground @ (np.round(offset, 1) if aligned else offset)
        mujoco.mj_collision(model, data)
        found = height_field(model, data, 0, 1, margin)
        assert len(found.dist) == data.ncon
        touching += data.ncon > 0
        np.testing.assert_allclose(found.dist, data.contact.dist, atol=TOLERANCE)
        np.testing.assert_allclose(found.pos, data.contact.pos, atol=TOLERANCE)
        np.testing.assert_allclose(found.normal, data.contact.frame[:, :3], atol=TOLERANCE)
    assert touching > 60


def test_a_geom_over_many_cells_has_the_first_fifty_contacts() -> None:
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(2)
    model = mujoco.MjModel.from_xml_string(document("box", rows=30, columns=40))
    data = mujoco.MjData(model)
    model.hfield_data[:] = terrain(1, rng, 30, 40)
    data.geom_xpos[1] = [0.05, 0.02, 0.2]
    data.geom_xmat[:] = np.eye(3).ravel(), rotation(rng).ravel()
    mujoco.mj_collision(model, data)
    found = height_field(model, data, 0, 1, 0.0)
    assert len(found.dist) == data.ncon == 50
    np.testing.assert_allclose(found.dist, data.contact.dist, atol=TOLERANCE)
    np.testing.assert_allclose(found.pos, data.contact.pos, atol=TOLERANCE)
