"""Contacts of the shapes that MuJoCo's engine plugins give to geoms: those of MuJoCo 3.4.0, also in whole steps."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from pair_oracle import TETRAHEDRON
from sdf_oracle import DIFFERENCES, EXACT, INSTANCE, POSES, ROWS, compare, geom, model, plugin

import dovetail
from dovetail.errors import MissingStageError
from dovetail.plugin import SdfShape


@pytest.mark.by_default("nut-sphere-0.4", "gear-sphere-0.6", "bolt-ellipsoid-0.4")
@pytest.mark.parametrize(
    ("shape", "first", "reach"),
    [
        ("torus", "sphere", 0.4),
        ("bowl", "box", 0.6),
        ("gear", "sphere", 0.6),
        pytest.param("gear", "box", 0.6, marks=pytest.mark.slow),
        ("nut", "sphere", 0.4),
        pytest.param("nut", "cylinder", 0.4, marks=pytest.mark.slow),
        ("bolt", "ellipsoid", 0.4),
        pytest.param("bolt", "box", 0.4, marks=pytest.mark.slow),
    ],
)
def test_contacts_of_shapes_and_primitives_are_mujocos(shape, first, reach):
    pair = model(geom("first", first), geom("second", "sdf", "shape", INSTANCE), plugin(shape))
    assert compare(pair, f"{first}-sdf", reach, EXACT) > POSES


@pytest.mark.parametrize(("shape", "reach"), [("nut", 0.4)])
def test_contacts_of_shapes_and_octrees_are_mujocos(shape, reach):
    pair = model(geom("first", "sdf", "tetrahedron"), geom("second", "sdf", "shape", INSTANCE), plugin(shape))
    assert compare(pair, "sdf-sdf", reach, DIFFERENCES) > POSES


def test_contacts_of_two_shapes_are_mujocos():
    pair = model(
        geom("first", "sdf", "shape", INSTANCE), geom("second", "sdf", "shape", INSTANCE), plugin("nut")
    )
    assert compare(pair, "sdf-sdf", 0.5, DIFFERENCES) > POSES


# ---- in a plan --------------------------------------------------------------------------------------------

SCENE = f"""<mujoco>{plugin("nut")}<asset><mesh name="shape"><plugin instance="i"/></mesh>
<mesh name="tetrahedron" vertex="{TETRAHEDRON}"/></asset><worldbody><geom type="plane" size="2 2 1"/>
<body pos="0 0 .52"><freejoint/><geom type="sdf" mesh="shape"><plugin instance="i"/></geom></body>
<body pos=".02 .1 .12"><freejoint/><geom type="sdf" mesh="tetrahedron"/></body>
<body pos=".1 .5 .05"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def test_whole_steps_as_mujoco():
    ours = dovetail.loads(SCENE)
    theirs = mujoco.MjModel.from_xml_string(SCENE)
    mj_data, data = mujoco.MjData(theirs), dovetail.make_data(ours)
    for _ in range(3):
        mujoco.mj_step(theirs, mj_data)
        dovetail.step(ours, data)
        assert data.ncon == mj_data.ncon > 3
        np.testing.assert_array_equal(data.contact.geom[: data.ncon], mj_data.contact.geom)
        np.testing.assert_allclose(data.contact.dist[: data.ncon], mj_data.contact.dist, atol=1e-7)
        np.testing.assert_allclose(data.qpos, mj_data.qpos, atol=1e-6)


def test_the_plan_lists_the_shapes():
    plan = dovetail.compile_plan(dovetail.loads(SCENE))
    assert plan.choices["sdf_shape:mujoco.sdf.nut"].record.name == "nut"
    assert "sdf_shape:mujoco.sdf.nut" in [line.slot for line in plan.lines()]


def test_a_missing_shape_is_named():
    pair = model(geom("first", "sphere"), geom("second", "sdf", "shape", INSTANCE), plugin("nut"))
    data = mujoco.MjData(pair)
    mujoco.mj_kinematics(pair, data)
    with pytest.raises(MissingStageError, match=r"mujoco\.sdf\.nut"):
        ROWS["sphere-sdf"](pair, data, 0, 1, 0.0, {"sdf_shape": {}})


# ---- a shape of one's own ---------------------------------------------------------------------------------


def ball(config) -> SdfShape:
    radius = float(config["radius"] or 0.05)
    return SdfShape(lambda points: np.linalg.norm(points, axis=1) - radius, (0, 0, 0, radius, radius, radius))


def test_another_row_changes_the_shape():
    """With a small ball in the place of the nut, the tetrahedron that was in its hole touches it no more."""
    compiled = dovetail.loads(SCENE)
    before = dovetail.Simulation(compiled)
    after = dovetail.Simulation(compiled, stages={"sdf_shape:mujoco.sdf.nut": ball})
    pairs = []
    for simulation in (before, after):
        simulation.forward()
        pairs.append(simulation.data.contact.geom[: simulation.data.ncon].tolist())
    assert [1, 2] in pairs[0]
    assert [1, 2] not in pairs[1]
    gradient = ball({"radius": ""}).gradient(np.array([[0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(gradient, [[0, 0, 1]], atol=1e-7)
