"""Every type of sensor against MuJoCo's readings at random states: objects, reference frames, cutoffs, flags."""

from __future__ import annotations

import sys
from copy import copy
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from sensor_reference import assert_readings, forward, row_of  # noqa: E402
from smooth_reference import worst_error  # noqa: E402

from dovetail.contracts.enums import SensorType  # noqa: E402
from dovetail.registry import default_registry  # noqa: E402

SCENE = """
  <option magnetic=".3 -.5 .2" cone="{cone}"><flag {flags}/></option>
  <size nuserdata="1"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <site name="sw" pos=".1 .2 .3" euler="20 10 0"/>
    <camera name="still" pos="0 -2 1" xyaxes="1 0 0 0 .5 1" resolution="640 480"/>
    <body name="fixed" pos="0 0 2"><site name="sf" euler="30 0 0"/><geom name="gf" size=".1"/></body>
    <body name="a" pos="0 0 .3">
      <freejoint/>
      <geom name="ga" type="box" size=".1 .2 .15" pos=".05 0 0" euler="10 20 30"/>
      <geom name="ga2" type="capsule" size=".05 .1" pos="-.2 0 .1" euler="0 90 30"/>
      <site name="sa" pos=".1 .1 0" euler="30 10 20" size=".3"/>
      <camera name="lens" pos=".1 0 0" euler="10 0 0" resolution="300 200" sensorsize=".02 .03" focal=".05 .04"/>
      <camera name="target" mode="targetbody" target="c" pos="0 .5 0" fovy="70"/>
      <body name="b" pos=".3 0 0">
        <joint name="ball" type="ball" limited="true" range="0 40" stiffness="3"/>
        <geom name="gb" type="capsule" size=".05 .2"/>
        <site name="sb" pos="0 0 .1" euler="0 30 0"/>
        <body name="c" pos=".3 0 0">
          <joint name="hinge" axis="0 1 0" limited="true" range="-20 20" margin=".3" stiffness="2" springref="10"/>
          <joint name="slide" type="slide" axis="1 1 0" limited="true" range="-.1 .1"/>
          <geom name="gc" size=".1"/>
          <site name="sc" pos=".1 0 .1" type="box" size=".1 .1 .1"/>
        </body>
      </body>
    </body>
    <body name="d" pos="1 0 1"><joint name="tight" limited="true" range="-.05 .05" margin="5"/><geom size=".1"
        pos=".2 .1 0"/></body>
  </worldbody>
  <tendon>
    <spatial name="string" limited="true" range="0 .4" stiffness="5" springlength=".3"><site site="sw"/><site
        site="sb"/></spatial>
    <fixed name="coupling" limited="true" range="-.3 .2" margin=".1"><joint joint="hinge" coef="2"/><joint
        joint="slide" coef="-1"/></fixed>
  </tendon>
  <actuator>
    <motor name="m1" joint="hinge" gear="3"/><motor name="m2" tendon="string" gear="2"/>
    <position name="p" tendon="string" kp="30"/><motor name="m3" tendon="coupling"/><motor name="m4" joint="slide"/>
  </actuator>
"""

FRAMES = {"body": "b", "xbody": "c", "geom": "ga", "site": "sb", "camera": "lens"}
REFERENCES = {"body": "a", "xbody": "b", "geom": "gc", "site": "sw", "camera": "target"}


def frame(tag: str, references: bool = True) -> str:
    """All kinds of object, each against the world and against all kinds of reference."""
    lines = []
    for kind, name in FRAMES.items():
        own = f'{tag} objtype="{kind}" objname="{name}"'
        lines.append(f"<{own}/>")
        for reftype, refname in REFERENCES.items() if references else ():
            lines.append(f'<{own} reftype="{reftype}" refname="{refname}"/>')
    return "".join(lines)


def at_sites(tag: str, cutoff: float) -> str:
    return "".join(
        f'<{tag} site="{s}"/><{tag} site="{s}" cutoff="{cutoff}"/>' for s in ("sa", "sb", "sc", "sf")
    )


def on(tag: str, attribute: str, *names: str, cutoff: float = 0.1) -> str:
    return "".join(f'<{tag} {attribute}="{n}"/><{tag} {attribute}="{n}" cutoff="{cutoff}"/>' for n in names)


INSIDE = {"sphere": ".5", "capsule": ".3 .3", "ellipsoid": ".6 .4 .3", "cylinder": ".4 .3", "box": ".5 .3 .4"}
VOLUMES = "".join(f'<site name="in_{k}" type="{k}" size="{s}" euler="20 30 40"/>' for k, s in INSIDE.items())

CASES: dict[str, str] = {
    "accelerometer": at_sites("accelerometer", 4),
    "velocimeter": at_sites("velocimeter", 0.5),
    "gyro": at_sites("gyro", 0.5),
    "force": at_sites("force", 30),
    "torque": at_sites("torque", 2),
    "magnetometer": at_sites("magnetometer", 0.3),
    "camprojection": "".join(
        f'<camprojection site="{s}" camera="{c}"/>'
        for s in ("sa", "sb", "sw")
        for c in ("still", "lens", "target")
    )
    + '<camprojection site="sb" camera="lens" cutoff="50"/>',
    "jointpos": on("jointpos", "joint", "hinge", "slide"),
    "jointvel": on("jointvel", "joint", "hinge", "slide"),
    "tendonpos": on("tendonpos", "tendon", "string", "coupling"),
    "tendonvel": on("tendonvel", "tendon", "string", "coupling"),
    "actuatorpos": on("actuatorpos", "actuator", "m1", "m2", "p"),
    "actuatorvel": on("actuatorvel", "actuator", "m1", "m2", "p"),
    "actuatorfrc": on("actuatorfrc", "actuator", "m1", "m2", "p"),
    "jointactfrc": on("jointactuatorfrc", "joint", "hinge", "slide"),
    "tendonactfrc": on("tendonactuatorfrc", "tendon", "string", "coupling"),
    "ballquat": '<ballquat joint="ball"/>',
    "ballangvel": on("ballangvel", "joint", "ball"),
    "jointlimitpos": on("jointlimitpos", "joint", "ball", "hinge", "slide", "tight"),
    "jointlimitvel": on("jointlimitvel", "joint", "ball", "hinge", "slide", "tight"),
    "jointlimitfrc": on("jointlimitfrc", "joint", "ball", "hinge", "slide", "tight", cutoff=5),
    "tendonlimitpos": on("tendonlimitpos", "tendon", "string", "coupling"),
    "tendonlimitvel": on("tendonlimitvel", "tendon", "string", "coupling"),
    "tendonlimitfrc": on("tendonlimitfrc", "tendon", "string", "coupling", cutoff=5),
    "framepos": frame("framepos") + '<framepos objtype="site" objname="sa" cutoff=".2"/>',
    "framequat": frame("framequat"),
    "framexaxis": frame("framexaxis"),
    "frameyaxis": frame("frameyaxis"),
    "framezaxis": frame("framezaxis"),
    "framelinvel": frame("framelinvel") + '<framelinvel objtype="site" objname="sa" cutoff=".2"/>',
    "frameangvel": frame("frameangvel") + '<frameangvel objtype="site" objname="sa" cutoff=".2"/>',
    "framelinacc": frame("framelinacc", False) + '<framelinacc objtype="geom" objname="gf"/>',
    "frameangacc": frame("frameangacc", False) + '<frameangacc objtype="geom" objname="gf" cutoff="1"/>',
    "subtreecom": on("subtreecom", "body", "world", "a", "c"),
    "subtreelinvel": on("subtreelinvel", "body", "world", "a", "c"),
    "subtreeangmom": on("subtreeangmom", "body", "world", "a", "c"),
    "insidesite": "".join(
        f'<insidesite site="in_{volume}" objtype="{kind}" objname="{name}"/>'
        for volume in INSIDE
        for kind, name in {**FRAMES, "geom": "gb"}.items()
    )
    + '<insidesite site="in_sphere" objtype="geom" objname="gb" cutoff=".5"/>',
    "e_potential": '<e_potential/><e_potential cutoff="2"/>',
    "e_kinetic": '<e_kinetic/><e_kinetic cutoff="2"/>',
    "clock": '<clock/><clock cutoff=".3"/>',
    "user": '<user dim="3"/><user dim="2" needstage="vel" cutoff="1" datatype="positive"/>'
    '<user dim="1" needstage="pos"/>',
    "rangefinder": "".join(
        f'<rangefinder site="{s}"/><rangefinder site="{s}" cutoff=".4"/>' for s in ("sa", "sb", "sf")
    ),
}
for _tag, _key in (("distance", "geomdist"), ("normal", "geomnormal"), ("fromto", "geomfromto")):
    CASES[_key] = "".join(
        f'<{_tag} {pair} cutoff="{cutoff}"/>'
        for pair in (
            'geom1="ga" geom2="gf"',
            'body1="a" body2="c"',
            'geom1="gc" body2="a"',
            'body1="a" geom2="floor"',
        )
        for cutoff in (0, 0.3, 5)
    )
ELSEWHERE = {"touch", "contact", "tactile", "plugin"}
"""Types tested in test_sensor_contacts.py."""


def model_text(sensors: str, cone: str = "pyramidal", flags: str = "") -> str:
    scene = SCENE.format(cone=cone, flags=flags).replace('<geom name="floor"', f'{VOLUMES}<geom name="floor"')
    return f"<mujoco>{scene}<sensor>{sensors}</sensor></mujoco>"


def test_every_type_has_a_row_and_a_case() -> None:
    types = {kind.name.lower() for kind in SensorType}
    assert set(default_registry().keys("sensor")) == types
    assert set(CASES) | ELSEWHERE == types


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rays and distances answered by MuJoCo, so that the rows can be compared apart from geometry."""

    def install(mj_model: Any, mj_data: Any) -> None:
        ray, distance = ModuleType("ray"), ModuleType("distance")

        def cast(model: Any, data: Any, pnt: Any, vec: Any, *, bodyexclude: int) -> tuple[float, int]:
            geom = np.zeros(1, np.int32)
            return mujoco.mj_ray(mj_model, mj_data, pnt, vec, None, 1, bodyexclude, geom), int(geom[0])

        def between(model: Any, data: Any, geom1: int, geom2: int, distmax: float) -> tuple[float, Any]:
            fromto = np.zeros(6)
            return mujoco.mj_geomDistance(mj_model, mj_data, geom1, geom2, distmax, fromto), fromto

        ray.ray, distance.geom_distance = cast, between  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "dovetail.plugins.shared.geometry.ray_numpy", ray)
        monkeypatch.setitem(sys.modules, "dovetail.plugins.shared.geometry.distance_numpy", distance)

    return install


@pytest.mark.parametrize("case", CASES)
def test_readings_of_each_type_are_mujocos(case: str, queries: Any) -> None:
    mj_model = mujoco.MjModel.from_xml_string(model_text(CASES[case]))
    assert set(mj_model.sensor_type) == {SensorType[case.upper()]}
    seen = np.zeros(mj_model.nsensordata)
    for seed in range(6):
        _, mj_data = forward(mj_model, seed)
        queries(mj_model, mj_data)
        assert_readings(mj_model, mj_data)
        seen += np.abs(mj_data.sensordata)
    if case != "user":
        assert np.count_nonzero(seen) > len(seen) / 3


GEOMETRIC = {"rangefinder": "ray", "geomdist": "distance", "geomnormal": "distance", "geomfromto": "distance"}


@pytest.mark.parametrize("case", GEOMETRIC)
def test_readings_with_our_own_geometry(case: str) -> None:
    if find_spec(f"dovetail.plugins.queries.{GEOMETRIC[case]}") is None:
        pytest.skip(f"there is no {GEOMETRIC[case]} query")
    for seed in range(6):
        assert_readings(*forward(model_text(CASES[case]), seed))


ALL = "".join(sensors for case, sensors in CASES.items() if case not in GEOMETRIC)


@pytest.mark.parametrize(
    ("cone", "flags"),
    [
        ("elliptic", 'energy="enable"'),
        ("pyramidal", 'constraint="disable"'),
        ("pyramidal", 'limit="disable" gravity="disable" spring="disable"'),
        ("elliptic", 'contact="disable" actuation="disable"'),
    ],
)
def test_readings_of_all_types_together_are_mujocos(cone: str, flags: str) -> None:
    for seed in range(3):
        found = assert_readings(*forward(model_text(ALL, cone, flags), seed))
        assert len(found) == len(CASES) - len(GEOMETRIC)


def test_rows_run_on_the_structures_of_mujoco_itself() -> None:
    mj_model, mj_data = forward(model_text(ALL), 0)
    ours = copy(mj_data)
    ours.sensordata[:] = np.nan
    for kind in np.unique(mj_model.sensor_type):
        row_of(kind).load()(mj_model, ours)
    assert worst_error(ours.sensordata, mj_data.sensordata) < 1e-10


def test_ball_quaternion_is_normalised_in_the_reading_only() -> None:
    mj_model = mujoco.MjModel.from_xml_string(model_text(CASES["ballquat"]))
    address = int(mj_model.joint("ball").qposadr[0])
    qpos = mj_model.qpos0.copy()
    qpos[address : address + 4] = [0.0, 3.0, 0.0, 4.0]
    _, mj_data = forward(mj_model, 0, qpos=qpos)
    assert_readings(mj_model, mj_data)
    np.testing.assert_allclose(mj_data.sensordata, [0, 0.6, 0, 0.8], atol=1e-15)


def test_a_site_in_the_plane_of_the_lens() -> None:
    mj_model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><camera name="c" resolution="100 50"/><site name="s" pos=".3 .2 0"/></worldbody>
        <sensor><camprojection site="s" camera="c"/></sensor></mujoco>"""
    )
    assert_readings(*forward(mj_model, 0))
