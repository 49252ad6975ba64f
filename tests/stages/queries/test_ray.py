"""Rays meet what MuJoCo's rays meet, at the same distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dovetail
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.geometry.ray_numpy import multi_ray, ray, ray_geom, ray_hfield, ray_mesh

mujoco = pytest.importorskip("mujoco")

Array = NDArray[Any]

TOLERANCE = 1e-10
"""Metres: the rays are a few metres long."""
PRIMITIVES = ["plane", "sphere", "capsule", "ellipsoid", "cylinder", "box"]


def torus(around: int = 16, across: int = 8) -> str:
    """A mesh that is not convex."""
    a, b = (axis.ravel() for axis in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    turn, tilt = 2 * np.pi * a / around, 2 * np.pi * b / across
    reach = 0.5 + 0.2 * np.cos(tilt)
    vertices = np.column_stack([reach * np.cos(turn), reach * np.sin(turn), 0.2 * np.sin(tilt)])

    def number(i: Array, j: Array) -> Array:
        return (i % around) * across + j % across

    first = np.column_stack([number(a, b), number(a + 1, b), number(a + 1, b + 1)])
    second = np.column_stack([number(a, b), number(a + 1, b + 1), number(a, b + 1)])
    numbers = " ".join(f"{value:.6f}" for value in vertices.ravel())
    faces = " ".join(map(str, np.vstack([first, second]).ravel()))
    return f'<mesh name="torus" vertex="{numbers}" face="{faces}"/>'


def hfield(nrow: int, ncol: int) -> str:
    heights = np.random.default_rng(nrow * ncol).random(nrow * ncol)
    elevation = " ".join(f"{height:.4f}" for height in heights)
    return f'<hfield name="hills" nrow="{nrow}" ncol="{ncol}" elevation="{elevation}" size="1 .7 .4 .2"/>'


SCENE = f"""
<mujoco>
  <asset>
    {torus()}
    {hfield(6, 9)}
    <material name="glass" rgba="1 1 1 0"/>
    <material name="steel" rgba="1 1 1 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="3 2 .1" pos="0 0 -1"/>
    <geom type="plane" size="0 0 .1" pos="-3 0 0" zaxis="1 0 .2" group="2"/>
    <geom type="hfield" hfield="hills" pos="1 1 -1"/>
    <body pos="0 0 .5"><freejoint/>
      <geom type="mesh" mesh="torus" quat="1 .3 .2 .1"/>
      <geom type="sphere" size=".15" pos=".2 .6 .1" group="1"/>
    </body>
    <body pos="1 -.5 0" quat="1 .5 .2 0"><freejoint/>
      <geom type="box" size=".2 .3 .1" group="3"/>
      <geom type="cylinder" size=".2 .1" pos=".3 .3 0" material="glass"/>
      <geom type="capsule" size=".1 .3" pos="-.3 .2 .1" material="steel" rgba="1 1 1 0" group="9"/>
    </body>
    <body pos="-1 .5 0" quat="1 0 .4 0"><freejoint/>
      <geom type="ellipsoid" size=".2 .3 .1" rgba="1 0 0 0"/>
      <geom type="cylinder" size=".2 .1" pos=".3 .3 0" group="5"/>
      <geom type="ellipsoid" size=".3 .2 .25" pos="-.2 .2 .1" quat="1 2 0 0" group="-1"/>
    </body>
  </worldbody>
</mujoco>
"""


def scene() -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def theirs(model: Any, data: Any, point: Array, vector: Array, **options: Any) -> tuple[float, int]:
    geom = np.zeros(1, np.int32)
    group = options.get("geomgroup")
    distance = mujoco.mj_ray(
        model,
        data,
        point,
        vector,
        None if group is None else np.array(group, np.uint8),
        options.get("flg_static", True),
        options.get("bodyexclude", -1),
        geom,
    )
    return distance, int(geom[0])


def rays(count: int, seed: int, reach: float = 2.0) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3)) * rng.choice([0.2, reach], (count, 1))
    return [(point, rng.normal(size=3) * 0.5 - point) for point in points]


@pytest.mark.parametrize("shape", PRIMITIVES)
def test_primitives_are_met_where_mujoco_meets_them(shape: str) -> None:
    rng, kind = np.random.default_rng(5), GeomType[shape.upper()]
    mat, hits = np.zeros(9), 0
    for number in range(400):
        pos, quat, size = rng.uniform(-1, 1, 3), rng.normal(size=4), rng.uniform(0.1, 0.5, 3)
        mujoco.mju_quat2Mat(mat, quat / np.linalg.norm(quat))
        if shape == "plane" and number % 3 == 0:
            size[:2] *= rng.integers(0, 2, 2)  # without limit
        point = pos + rng.normal(size=3) * rng.choice([0.1, 1.0])
        vector = (pos + rng.normal(size=3) * 0.3 - point) * 10.0 ** rng.uniform(-3, 3)
        if number % 4 == 0:  # along an axis of the shape
            vector = mat.reshape(3, 3)[:, rng.integers(3)] * rng.choice([-1, 1])
        expected = mujoco.mju_rayGeom(pos, mat, size, point, vector, int(kind))
        assert ray_geom(pos, mat, size, point, vector, kind) == pytest.approx(
            expected, rel=TOLERANCE, abs=TOLERANCE
        )
        hits += expected >= 0
    assert hits > 50


@pytest.mark.parametrize(("nrow", "ncol"), [(2, 2), (5, 5), (4, 7), (7, 4), (20, 30)])
def test_a_height_field_is_met_where_mujoco_meets_it(nrow: int, ncol: int) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset>{hfield(nrow, ncol)}</asset><worldbody>
        <body quat="1 .2 .3 .1"><geom type="hfield" hfield="hills"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hits = 0
    for point, vector in rays(300, seed=nrow):
        expected = mujoco.mj_rayHfield(model, data, 0, point, vector)
        assert ray_hfield(model, data, 0, point, vector) == pytest.approx(expected, abs=TOLERANCE)
        hits += expected >= 0
    assert hits > 100


def test_a_mesh_is_met_where_mujoco_meets_it() -> None:
    model, data = scene()
    geom = int(np.flatnonzero(model.geom_type == GeomType.MESH)[0])
    hits = 0
    for point, vector in rays(400, seed=2):
        vector = vector + data.geom_xpos[geom]
        expected = mujoco.mj_rayMesh(model, data, geom, point, vector)
        assert ray_mesh(model, data, geom, point, vector) == pytest.approx(expected, abs=TOLERANCE)
        hits += expected >= 0
    assert hits > 100


OPTIONS = [
    {},
    {"flg_static": False},
    {"bodyexclude": 0},
    {"bodyexclude": 1},
    {"geomgroup": [1, 0, 1, 0, 1, 0]},
    {"geomgroup": [0, 1, 0, 1, 0, 1]},
    {"geomgroup": [0, 0, 0, 0, 0, 0]},
    {"geomgroup": [1, 1, 1, 1, 1, 1], "flg_static": False, "bodyexclude": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_nearest_visible_geom_is_the_same(options: dict[str, Any]) -> None:
    model, data = scene()
    met = set()
    for point, vector in rays(150, seed=3):
        distance, geom = ray(model, data, point, vector, **options)
        expected_distance, expected_geom = theirs(model, data, point, vector, **options)
        assert geom == expected_geom
        assert distance == pytest.approx(expected_distance, abs=TOLERANCE)
        met.add(geom)
    assert len(met) >= (1 if options.get("geomgroup") == [0] * 6 else 3)


@pytest.mark.parametrize("cutoff", [np.inf, 2.2, 1.0])
def test_many_rays_meet_what_each_alone_meets(cutoff: float) -> None:
    """mj_multiRay may miss a hit, by its angles; where it has one it is the same."""
    model, data = scene()
    rng = np.random.default_rng(7)
    point, vectors = np.array([0.3, 0.2, 1.5]), rng.normal(size=(600, 3))
    geoms, distances = np.zeros(600, np.int32), np.zeros(600)
    limit = min(cutoff, mujoco.mjMAXVAL)
    mujoco.mj_multiRay(model, data, point, vectors.ravel(), None, 1, -1, geoms, distances, 600, limit)
    distance, geom = multi_ray(model, data, point, vectors, cutoff=cutoff)
    same = geom == geoms
    np.testing.assert_allclose(distance[same], distances[same], atol=TOLERANCE)
    assert (same | (distances < 0) | (distances > distance)).all()
    assert np.mean(same) > 0.97
    assert (geom >= 0).sum() > 30
    if cutoff == np.inf:
        alone = [ray(model, data, point, vector) for vector in vectors[:100]]
        assert alone == list(zip(distance[:100].tolist(), geom[:100].tolist(), strict=True))


def test_rays_ask_dovetails_model_and_data() -> None:
    model, data = scene()
    own = dovetail.loads(SCENE)
    own_data = dovetail.make_data(own)
    own_data.geom_xpos[:], own_data.geom_xmat[:] = data.geom_xpos, data.geom_xmat
    for point, vector in rays(60, seed=9):
        distance, geom = ray(own, own_data, point, vector)
        expected_distance, expected_geom = theirs(model, data, point, vector)
        assert geom == expected_geom
        assert distance == pytest.approx(expected_distance, abs=1e-6)  # meshes differ by single precision


def test_impossible_requests_say_what_is_wrong() -> None:
    model, data = scene()
    with pytest.raises(ValueError, match="ray 0 has no direction"):
        ray(model, data, [0, 0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="geom 0 has type plane, not mesh"):
        ray_mesh(model, data, 0, [0, 0, 0], [1, 0, 0])
    with pytest.raises(ValueError, match="type mesh is no primitive shape; ray_geom knows plane"):
        ray_geom(np.zeros(3), np.eye(3), np.ones(3), [0, 0, 0], [1, 0, 0], GeomType.MESH)


CUBE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.2, 0.2))
SDF_SCENE = """<mujoco>
  <extension><plugin plugin="mujoco.sdf.{shape}"><instance name="i"/></plugin></extension>
  <asset><mesh name="cube" vertex="{cube}"/><mesh name="shape"><plugin instance="i"/></mesh></asset>
  <worldbody>
    <body pos=".2 0 0" euler="10 20 30"><freejoint/><geom type="sdf" mesh="cube"/></body>
    <body pos="1 0 0" euler="40 20 0"><freejoint/>
      <geom type="sdf" mesh="shape" contype="0" conaffinity="0"><plugin instance="i"/></geom></body>
  </worldbody>
</mujoco>"""


@pytest.mark.by_default("torus")
@pytest.mark.parametrize("shape", ["nut", "torus"])
def test_rays_march_to_distance_fields(shape: str) -> None:
    """From outside and inside, whatever the length of the vector; grazing rays that need too many steps too."""
    xml, random = SDF_SCENE.format(shape=shape, cube=CUBE), np.random.default_rng(4)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    met = 0
    for _ in range(400):
        point = random.normal(size=3) * random.choice([0.1, 0.5, 1.5])
        aim = data.geom_xpos[random.integers(2)] + 0.3 * random.normal(size=3)
        vector = (aim - point) * random.choice([0.1, 1.0, 3.0])
        expected, geom = theirs(model, data, point, vector)
        assert ray(model, data, point, vector) == (pytest.approx(expected, abs=1e-12), geom)
        met += geom >= 0
    assert 100 < met < 350


def test_a_rangefinder_that_looks_at_a_distance_field() -> None:
    """`step` goes on, and reads what MuJoCo's reads."""
    xml = f"""<mujoco><asset><mesh name="cube" vertex="{CUBE}"/></asset><worldbody>
        <site name="eye" pos=".1 .1 2" euler="180 0 0"/>
        <body euler="10 20 30"><freejoint/><geom type="sdf" mesh="cube"/></body></worldbody>
        <sensor><rangefinder site="eye"/></sensor></mujoco>"""
    model, own = mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml)
    data, own_data = mujoco.MjData(model), dovetail.make_data(own)
    mujoco.mj_step(model, data, 2)
    dovetail.step(own, own_data, 2)
    assert data.sensordata[0] > 1
    np.testing.assert_allclose(own_data.sensordata, data.sensordata, rtol=1e-12)
