"""Sensors that feel contacts, against MuJoCo: touch, contact, tactile, and the engine plugin touch_grid."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cache
from itertools import product
from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from sensor_reference import assert_readings, filled, forward, observe, row_of, run_record  # noqa: E402

import dovetail  # noqa: E402
from dovetail.compare.oracle import model_from_mujoco  # noqa: E402
from dovetail.contracts.enums import GeomType, SensorType  # noqa: E402
from dovetail.errors import ArgumentError  # noqa: E402
from dovetail.plugins.sensor.zones_numpy import INSIDE, MEETS  # noqa: E402


def pile(
    sensors: str, cone: str = "pyramidal", condim: int = 3, extra: str = "", attributes: str = ""
) -> str:
    """Boxes, capsules and balls on a floor, some welded together, with sites of all shapes."""
    shapes = {
        "sphere": ".12",
        "capsule": ".06 .1",
        "ellipsoid": ".1 .2 .1",
        "cylinder": ".1 .05",
        "box": ".1 .1 .02",
    }
    sites = "".join(
        f'<site name="{name}" type="{kind}" size="{size}" pos="0 {0.1 * i - 0.2} -.1" euler="{10 * i} 20 0"/>'
        for i, (kind, size) in enumerate(shapes.items())
        for name in [kind]
    )
    return f"""<mujoco>{extra}<option cone="{cone}"/><default><geom condim="{condim}" friction=".9 .1 .05"
        {attributes}/></default>
    <worldbody>
      <geom name="floor" type="plane" size="5 5 .1"/><site name="region" type="box" size=".3 .3 .1" pos=".1 .1 0"/>
      <body name="a" pos="0 0 .14"><freejoint/><geom name="ga" type="box" size=".1 .2 .15"/>{sites}
        <body name="stuck" pos=".15 0 0"><geom name="gs" size=".1"/><site name="on_stuck" size=".15"/></body>
        <body name="b" pos="-.25 0 -.05"><joint axis="0 1 0"/><geom name="gb" type="capsule" size=".06 .1"/>
          <site name="on_b" size=".2" type="box" euler="0 40 0"/></body></body>
      <body name="c" pos="0 .1 .42" euler="0 0 30"><freejoint/><geom name="gc" type="box" size=".1 .2 .15"/>
        <site name="on_c" size=".3 .2" type="cylinder"/></body>
      <body name="d" pos=".5 .5 .09"><freejoint/><geom name="gd" size=".1"/></body>
    </worldbody><sensor>{sensors}</sensor></mujoco>"""


def states(xml: str | Any, count: int, spread: float = 0.02) -> Iterator[tuple[Any, Any]]:
    """MuJoCo's results at random states near the initial pose, of a text or its model."""
    mj_model = mujoco.MjModel.from_xml_string(xml) if isinstance(xml, str) else xml
    for seed in range(count):
        rng = np.random.default_rng(seed)
        qpos = mj_model.qpos0.copy()
        mujoco.mj_integratePos(mj_model, qpos, rng.normal(size=mj_model.nv), spread)
        yield forward(mj_model, seed, qpos=qpos)


CONES = list(product(["pyramidal", "elliptic"], [1, 3, 4, 6]))


# ---- touch ------------------------------------------------------------------------------------------------

SITES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "on_stuck", "on_b", "on_c", "region")
TOUCH = "".join(f'<touch site="{site}"/><touch site="{site}" cutoff="3"/>' for site in SITES)


@pytest.mark.parametrize(("cone", "condim"), CONES)
def test_touch_sensors_read_mujocos_forces(cone: str, condim: int) -> None:
    felt, silent = 0, 0
    for mj_model, mj_data in states(pile(TOUCH, cone, condim), 6):
        assert_readings(mj_model, mj_data)
        felt += np.count_nonzero(mj_data.sensordata)
        silent += np.count_nonzero(mj_data.sensordata == 0)
    assert felt > 20
    assert silent > 10


def test_rays_meet_no_zone_of_a_distance_field() -> None:
    """MuJoCo aborts the program there."""
    point, size = np.zeros((3, 3)), np.ones((3, 3))
    assert not MEETS[GeomType.SDF](point, np.eye(3), size).any()


@pytest.mark.parametrize("shape", [shape.name.lower() for shape in MEETS if shape != GeomType.SDF])
def test_rays_meet_volumes_as_in_mujoco(shape: str) -> None:
    rng = np.random.default_rng(0)
    kind = GeomType[shape.upper()]
    size = np.array([0.5, 0.7, 0.4])
    point, direction = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    direction[:60, :2] = 0.0
    direction[60:120, 2] = 0.0
    point[:40, :2] *= 0.2
    with np.errstate(all="raise"):
        ours = MEETS[kind](point, direction, np.tile(size, (400, 1)))
    theirs = [
        mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, p, v, int(kind)) >= 0
        for p, v in zip(point, direction, strict=True)
    ]
    assert ours.tolist() == theirs
    assert 50 < sum(theirs) < 350
    assert (ours | ~INSIDE[kind](point, size)).all()


# ---- contact ----------------------------------------------------------------------------------------------

EVERYTHING = 'data="found force torque dist pos normal tangent"'
SIDES = (
    "",
    'geom1="floor"',
    'geom2="floor"',
    'geom1="ga" geom2="floor"',
    'geom1="floor" geom2="ga"',
    'body1="a"',
    'body2="a"',
    'body1="a" body2="c"',
    'body1="c" geom2="ga"',
    'subtree1="a"',
    'subtree2="a"',
    'subtree1="a" subtree2="a"',
    'subtree1="world" body2="world"',
    'body1="world" subtree2="world"',
    'site="region"',
    'site="region" body2="a"',
    'site="region" subtree2="a"',
    'body1="d" body2="a"',
)


def contact_sensors(reduce: str, data: str = EVERYTHING) -> str:
    return "".join(
        f'<contact {data} num="{num}" reduce="{reduce}" {side} cutoff="{cutoff}"/>'
        for side in SIDES
        for num, cutoff in ((1, 0), (20, 0), (3, 0.1))
    )


@pytest.mark.parametrize("reduce", ["none", "mindist", "maxforce", "netforce"])
@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("elliptic", 6)])
def test_contacts_of_all_sides(reduce: str, cone: str, condim: int) -> None:
    for mj_model, mj_data in states(pile(contact_sensors(reduce), cone, condim), 4):
        assert mj_data.ncon > 4
        assert_readings(mj_model, mj_data)


@pytest.mark.parametrize(
    "data",
    ["found", "force", "torque dist", "pos tangent", "found normal", "dist pos", "found force dist normal"],
)
def test_every_choice_of_fields_of_contacts_is_mujocos(data: str) -> None:
    for reduce in ("none", "maxforce", "netforce"):
        for mj_model, mj_data in states(pile(contact_sensors(reduce, f'data="{data}"'), "elliptic", 4), 2):
            assert_readings(mj_model, mj_data)


def test_contacts_in_the_gap_are_found_without_force() -> None:
    xml = pile(contact_sensors("mindist") + TOUCH, attributes='margin=".1" gap=".1"')
    for mj_model, mj_data in states(xml, 3):
        assert (mj_data.contact.efc_address < 0).any()
        assert_readings(mj_model, mj_data)


def test_contacts_of_flexes_are_sensed_as_in_mujoco() -> None:
    sides = (
        "",
        'geom1="floor"',
        'geom2="floor"',
        'subtree1="b"',
        'subtree2="world"',
        'body1="cloth_3"',
        'site="z"',
    )
    sensors = "".join(f'<contact {EVERYTHING} num="4" reduce="mindist" {side}/>' for side in sides)
    xml = f"""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/><site name="z" size=".5"/>
    <body name="b" pos="0 0 .1"><freejoint/><geom size=".12"/><site name="s" size=".3"/>
    <flexcomp type="grid" count="4 4 1" spacing=".1 .1 .1" name="cloth" dim="2" radius=".02" mass="1" pos=".5 0 -.1">
    <contact selfcollide="none"/></flexcomp></body></worldbody><sensor>{sensors}<touch site="s"/></sensor></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    np.nan_to_num(mj_model.flex_vert0, copy=False)  # a flat grid has no depth to divide by
    _, mj_data = forward(mj_model, 0, qpos=mj_model.qpos0)
    assert (mj_data.contact.geom < 0).any()
    assert_readings(mj_model, mj_data)


# ---- tactile ----------------------------------------------------------------------------------------------

PRESSING = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".08 .1"',
    "box": 'type="box" size=".08 .1 .12"',
    "ellipsoid": 'type="ellipsoid" size=".08 .1 .12"',
    "cylinder": 'type="cylinder" size=".08 .1"',
    "mesh without octree": 'type="mesh" mesh="lump"',
    "mesh with octree": 'type="mesh" mesh="lump"',
}
OCTREE = '<body pos="9 9 9"><freejoint/><geom type="sdf" mesh="lump" contype="0" conaffinity="0"/></body>'


def skin(geom: str, more: str = "") -> str:
    return f"""<mujoco><asset><mesh name="plate" builtin="plate" params="6 7" scale=".15 .15 .15"/>
      <mesh name="lump" builtin="sphere" params="1" scale=".1 .08 .09"/></asset><worldbody>
      <geom type="plane" size="5 5 .1" pos="0 0 -.04"/>
      <body><freejoint/><geom name="pad" type="box" size=".2 .2 .05"/>
        <body pos="-.2 0 0"><geom size=".05"/></body></body>
      <body pos="0 0 .07"><freejoint/><geom {geom} euler="20 30 0"/></body>
      <body pos=".05 .05 .1"><freejoint/><geom size=".1"/></body>{more}
      </worldbody><sensor><tactile mesh="plate" geom="pad"/></sensor></mujoco>"""


def tactile_states(xml: str, count: int) -> Iterator[tuple[Any, Any]]:
    for mj_model, mj_data in states(xml, count, 0.01):
        np.nan_to_num(mj_model.mesh_polynormal, copy=False)  # a plate has no volume to divide by
        yield mj_model, mj_data


@pytest.mark.parametrize("shape", PRESSING)
def test_tactile_readings_are_mujocos(shape: str) -> None:
    pressed = 0
    for mj_model, mj_data in tactile_states(skin(PRESSING[shape], OCTREE if "with " in shape else ""), 4):
        assert_readings(mj_model, mj_data)
        pressed += np.count_nonzero(mj_data.sensordata)
    assert pressed > 100


def test_tactile_readings_without_contacts_are_mujocos() -> None:
    xml = skin('size=".05" contype="0" conaffinity="0"').replace('pos=".05 .05 .1"', 'pos="0 0 3"')
    for mj_model, mj_data in tactile_states(xml.replace('pos="0 0 -.04"', 'pos="0 0 -4"'), 1):
        assert not mj_data.ncon
        assert_readings(mj_model, mj_data)


def test_tactile_of_a_model_compiled_here() -> None:
    xml = skin(PRESSING["sphere"])
    model = dovetail.loads(xml)
    for mj_model, mj_data in tactile_states(xml, 2):
        assert_readings(mj_model, mj_data, model)


SHAPES = {
    "torus": {"radius1": ".1", "radius2": ".05"},
    "bowl": {"height": ".02", "radius": ".1", "thickness": ".02"},
    "gear": {"alpha": "0", "diameter": ".2", "teeth": "12", "thickness": ".1", "innerdiameter": "-1"},
    "bolt": {"radius": ".1"},
    "nut": {"radius": ".1"},
}
"""Configurations of the engine plugins whose shapes press; the first is tried in every run of the suite."""


def shaped_skin(shape: str) -> str:
    """A shape of an engine plugin presses, near a ball."""
    entries = "".join(f'<config key="{key}" value="{value}"/>' for key, value in SHAPES[shape].items())
    instance = f'<instance name="i">{entries}</instance>'
    extension = f'<extension><plugin plugin="mujoco.sdf.{shape}">{instance}</plugin></extension>'
    solid = '<mesh name="solid"><plugin instance="i"/></mesh></asset>'
    xml = skin('type="sdf" mesh="solid"').replace("</asset>", solid)
    pressing = '<geom type="sdf" mesh="solid" euler="20 30 0"'
    return xml.replace("<asset>", f"{extension}<asset>").replace(
        f"{pressing}/>", f'{pressing}><plugin instance="i"/></geom>'
    )


@cache
def shaped(shape: str) -> Any:
    """MuJoCo's model, which takes seconds to make."""
    mj_model = mujoco.MjModel.from_xml_string(shaped_skin(shape))
    np.nan_to_num(mj_model.mesh_polynormal, copy=False)  # a plate has no volume to divide by
    return mj_model


@pytest.mark.parametrize(
    "shape", ["torus", *(pytest.param(s, marks=pytest.mark.slow) for s in [*SHAPES][1:])]
)
def test_tactile_readings_of_signed_distance_fields_are_mujocos(shape: str) -> None:
    pressed = 0
    for mj_model, mj_data in states(shaped(shape), 3, 0.01):
        assert_readings(mj_model, mj_data)
        pressed += np.count_nonzero(mj_data.sensordata)
    assert pressed > 30


def test_the_shape_of_a_plugin_is_felt_where_its_mesh_was_made() -> None:
    """As a mesh whose frame somebody edits."""
    mj_model = copy(shaped("torus"))
    solid = mj_model.mesh("solid").id
    mj_model.mesh_pos[solid], mj_model.mesh_quat[solid] = [0.02, 0.01, -0.03], [0.8, 0.6, 0, 0]
    _, mj_data = forward(mj_model, 0, qpos=mj_model.qpos0)
    assert mj_data.sensordata.any()
    assert_readings(mj_model, mj_data)


def test_an_octree_is_felt_alike_as_a_mesh_and_as_a_signed_distance_field() -> None:
    """MuJoCo stops with an error at a field without plugin; as a mesh it reads the same octree."""
    for mj_model, mj_data in tactile_states(skin(PRESSING["mesh with octree"], OCTREE), 2):
        model = model_from_mujoco(mj_model)
        model.geom_type[model.geom_type == int(GeomType.MESH)] = int(GeomType.SDF)
        data = filled(model, mj_data)
        run_record(row_of(SensorType.TACTILE), model, data)
        assert mj_data.sensordata.any()
        np.testing.assert_allclose(data.sensordata, mj_data.sensordata, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_steps_feel_signed_distance_fields_as_mujoco_does(backend: str) -> None:
    """From MuJoCo's state at each step, because such contacts jump when a pose moves by its last digit."""
    mj_model = shaped("torus")
    mj_data = mujoco.MjData(mj_model)
    sim = dovetail.Simulation(model_from_mujoco(mj_model), backend=backend)
    felt = 0
    for _ in range(6):
        for field in ("qpos", "qvel", "qacc_warmstart"):
            getattr(sim.data, field)[...] = getattr(mj_data, field)
        mujoco.mj_step(mj_model, mj_data)
        sim.step()
        felt += np.count_nonzero(mj_data.sensordata)
        np.testing.assert_allclose(sim.data.sensordata, mj_data.sensordata, rtol=1e-10, atol=1e-10)
    assert felt > 100


def test_a_shape_without_distance_field_is_named() -> None:
    xml = skin(PRESSING["sphere"])
    for mj_model, mj_data in tactile_states(xml, 1):
        model = model_from_mujoco(mj_model)
        model.geom_type[model.ngeom - 2 :] = int(GeomType.HFIELD)
        data = filled(model, mj_data)
        with pytest.raises(ArgumentError, match="hfield, which has no distance field; known: plane, sphere"):
            run_record(row_of(SensorType.TACTILE), model, data)


# ---- touch_grid -------------------------------------------------------------------------------------------

GRID = "mujoco.sensor.touch_grid"


def grid(site: str, attributes: str = "", **config: str) -> str:
    entries = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    return f'<plugin plugin="{GRID}" objtype="site" objname="{site}" {attributes}>{entries}</plugin>'


GRIDS = (
    grid("box", size="7 5", fov="90 60")
    + grid("sphere", size="3 4", fov="180 90", nchannel="6", gamma=".4")
    + grid("on_stuck", 'cutoff="5"', size="3 5", fov="180 90", nchannel="3", gamma="1")
    + grid("region", size="2.9 3", fov="120 80", nchannel="2")
    + grid("on_c", size="9 9", fov="180 90", nchannel="1")
)
EXTENSION = f'<extension><plugin plugin="{GRID}"/></extension>'


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("pyramidal", 6), ("elliptic", 6)])
def test_readings_of_touch_grids_are_mujocos(cone: str, condim: int) -> None:
    felt = 0
    for mj_model, mj_data in states(pile(GRIDS, cone, condim, EXTENSION), 6):
        assert_readings(mj_model, mj_data)
        felt += np.count_nonzero(mj_data.sensordata)
    assert felt > 100


def test_touch_grid_of_a_model_compiled_here() -> None:
    xml = pile(GRIDS, extra=EXTENSION)
    for mj_model, mj_data in states(xml, 2):
        assert_readings(mj_model, mj_data, dovetail.loads(xml))


def test_sensors_that_share_an_instance_leave_all_but_the_first_unfilled() -> None:
    config = '<config key="size" value="5 5"/><config key="fov" value="180 90"/>'
    instance = (
        f'<extension><plugin plugin="{GRID}"><instance name="i">{config}</instance></plugin></extension>'
    )
    shared = "".join(f'<plugin instance="i" objtype="site" objname="{site}"/>' for site in ("box", "on_c"))
    for mj_model, mj_data in states(pile(shared, extra=instance), 2):
        model = model_from_mujoco(mj_model)
        data = filled(model, mj_data)
        data.sensordata[:] = 0.0
        run_record(row_of(SensorType.PLUGIN), model, data)
        assert mj_data.sensordata[:25].any()
        assert not mj_data.sensordata[25:].any()
        np.testing.assert_allclose(data.sensordata, mj_data.sensordata, rtol=1e-10, atol=1e-10)


def test_an_engine_plugin_that_is_no_sensor_is_named() -> None:
    for mj_model, mj_data in states(pile(GRIDS, extra=EXTENSION), 1):
        model = model_from_mujoco(mj_model)
        model.plugin[:] = 0
        with pytest.raises(ValueError, match=r"mujoco\.pid is no sensor"):
            observe(model, filled(model, mj_data))
