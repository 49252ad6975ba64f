"""Sensors of every type: what they measure, how many numbers they write, and which are refused."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

import pytest
from finished import assert_refused, assert_same

import dovetail
from dovetail.contracts.enums import SensorType
from dovetail.errors import MJCFError
from dovetail.mjcf.elements.sensor import TABLE

WORLD = """<mujoco><worldbody><site name="w" pos="1 0 1"/><camera name="cam" resolution="10 20" sensorsize=".1 .1" focal=".1 .1"/><camera name="cam0"/>
<body name="a" pos=".1 .2 .3" euler="10 20 30"><joint name="jx" axis="1 0 0" range="0 1"/>
  <joint name="js" type="slide"/><geom size=".1" name="g"/><geom size=".1" name="ga2"/>
  <site name="s1" pos=".1 0 .3" euler="0 20 0"/>
</body>
<body name="b" pos="0 1 0" euler="40 0 0"><joint name="jy" type="ball"/><geom size=".1" name="gb"/>
  <site name="s2" pos=".3 .2 0"/></body>
<body name="bl" pos="0 1 0" euler="40 0 0"><joint name="jyl" type="ball" range="0 30"/>
  <geom size=".1" name="gbl"/></body>
<body name="st" pos="3 1 0" euler="40 0 0"><geom size=".1"/></body>
  <body name="nog" pos="3 1 0" euler="40 0 0"/>
<body name="f" pos="5 0 0" euler="40 0 7"><freejoint name="fj"/><geom size=".1" pos=".1 .2 .3"/></body>
</worldbody><tendon><spatial name="t"><site site="s1"/><site site="s2"/></spatial>
  <fixed name="fx" range="0 1"><joint joint="jx" coef="2"/></fixed></tendon><actuator>
  <motor name="m" joint="jx"/></actuator><sensor>
%s
</sensor></mujoco>"""

GOOD = """
<touch site="s1"/>
<accelerometer site="s1"/>
<velocimeter site="s1"/>
<gyro site="s1"/>
<force site="s1"/>
<torque site="s1"/>
<magnetometer site="s1"/>
<rangefinder site="s1"/>
<camprojection site="s1" camera="cam"/>
<camprojection site="s1" camera="cam0"/>
<jointpos joint="jx"/>
<jointpos joint="js"/>
<jointvel joint="jx"/>
<jointvel joint="js"/>
<jointactuatorfrc joint="jx"/>
<jointactuatorfrc joint="js"/>
<ballquat joint="jy"/>
<ballquat joint="jyl"/>
<ballangvel joint="jy"/>
<ballangvel joint="jyl"/>
<jointlimitpos joint="jx"/>
<jointlimitpos joint="jyl"/>
<jointlimitvel joint="jx"/>
<jointlimitvel joint="jyl"/>
<jointlimitfrc joint="jx"/>
<jointlimitfrc joint="jyl"/>
<tendonpos tendon="t"/>
<tendonpos tendon="fx"/>
<tendonvel tendon="t"/>
<tendonvel tendon="fx"/>
<tendonactuatorfrc tendon="t"/>
<tendonactuatorfrc tendon="fx"/>
<tendonlimitpos tendon="fx"/>
<tendonlimitvel tendon="fx"/>
<tendonlimitfrc tendon="fx"/>
<actuatorpos actuator="m"/>
<actuatorvel actuator="m"/>
<actuatorfrc actuator="m"/>
<framepos objtype="body" objname="a"/>
<framequat objtype="body" objname="a"/>
<framexaxis objtype="body" objname="a"/>
<frameyaxis objtype="body" objname="a"/>
<framezaxis objtype="body" objname="a"/>
<framelinvel objtype="body" objname="a"/>
<frameangvel objtype="body" objname="a"/>
<framelinacc objtype="body" objname="a"/>
<frameangacc objtype="body" objname="a"/>
<framepos objtype="xbody" objname="a"/>
<framepos objtype="geom" objname="g"/>
<framepos objtype="site" objname="s1"/>
<framepos objtype="camera" objname="cam"/>
<framepos objtype="body" objname="a" reftype="site" refname="s1"/>
<framequat objtype="body" objname="a" reftype="body" refname="b"/>
<framepos objtype="body" objname="a" reftype="zz" refname="b"/>
<framepos objtype="body" objname="world"/>
<subtreecom body="a"/>
<subtreelinvel body="a"/>
<subtreeangmom body="a"/>
<insidesite site="s1" objtype="body" objname="b"/>
<insidesite site="s1" objtype="xbody" objname="b"/>
<insidesite site="s1" objtype="camera" objname="cam"/>
<distance geom1="g" geom2="gb"/>
<distance body1="a" body2="b"/>
<distance body1="a" geom2="gb" cutoff="1"/>
<distance geom1="g" body2="b" cutoff="2"/>
<normal geom1="g" geom2="gb"/>
<normal body1="a" body2="b"/>
<normal body1="a" geom2="gb" cutoff="1"/>
<normal geom1="g" body2="b" cutoff="2"/>
<fromto geom1="g" geom2="gb"/>
<fromto body1="a" body2="b"/>
<fromto body1="a" geom2="gb" cutoff="1"/>
<fromto geom1="g" body2="b" cutoff="2"/>
<distance body1="a" geom2="g"/>
<distance body1="a" body2="nog"/>
<distance body1="nog" body2="a"/>
<distance body1="world" body2="a"/>
<distance geom1="g" geom2="ga2"/>
<e_potential/>
<e_kinetic/>
<clock/>
<clock cutoff="1"/>
<clock user="1 2"/>
<framepos objtype="body" objname="a" cutoff="1"/>
<touch site="s1" cutoff="2" noise="3"/>
<user dim="3"/>
<user dim="0"/>
<user dim="4" datatype="quaternion"/>
<user dim="3" datatype="axis"/>
<user dim="4" datatype="positive" needstage="vel"/>
<user dim="4" objtype="body" objname="a"/>
<user dim="4" needstage="none"/>
<user dim="4" needstage="pos" cutoff="1"/>
<user dim="4" objtype="joint" objname="jx"/>
<user dim="2" objtype="tendon" objname="t"/>
<user dim="2" objtype="xx" objname="u"/>
<contact/>
<contact geom1="g"/>
<contact geom1="g" geom2="gb"/>
<contact geom2="gb"/>
<contact body1="a"/>
<contact body1="a" body2="b"/>
<contact subtree1="a"/>
<contact subtree1="a" subtree2="b"/>
<contact subtree1="a" geom2="gb"/>
<contact site="s1"/>
<contact site="s1" geom2="gb"/>
<contact body1="world"/>
<contact geom1="g" geom2="g"/>
<contact geom1="g" num="3"/>
<contact geom1="g" data="found force torque dist pos normal tangent"/>
<contact geom1="g" data=""/>
<contact geom1="g" data="force" num="5"/>
<contact geom1="g" reduce="mindist"/>
<contact geom1="g" reduce="maxforce"/>
<contact geom1="g" reduce="netforce"/>
<contact geom1="g" reduce="netforce" num="3"/>
<contact geom1="g" reduce="none"/>
<contact geom1="g" cutoff="1"/>
<contact geom1="g" data="normal tangent"/>
<contact geom1="g" data="dist pos" cutoff="3" noise=".1"/>
<contact geom1="g" reduce="netforce" data="dist"/>
<contact site="s1" data="force torque" num="2"/>
<contact site="s1" subtree2="a"/>
<contact body2="world" subtree1="a"/>
<contact geom2="g" subtree1="world"/>
""".strip().splitlines()


@pytest.mark.parametrize("sensor", GOOD)
def test_sensor(sensor: str) -> None:
    assert_same(WORLD % sensor)


def test_addresses_follow_one_another() -> None:
    assert_same(WORLD % "".join(GOOD))


BAD = {
    "<touch/>": "required attribute 'site' is missing",
    '<touch site="zz"/>': "unknown site 'zz'",
    '<touch site=""/>': "unknown site ''",
    '<camprojection site="s1"/>': "required attribute 'camera' is missing",
    '<camprojection camera="cam"/>': "required attribute 'site' is missing",
    '<camprojection site="s1" camera="zz"/>': "unknown camera 'zz'",
    '<jointpos joint="jy"/>': "needs a hinge or slide joint",
    '<jointvel joint="jy"/>': "needs a hinge or slide joint",
    '<jointactuatorfrc joint="jy"/>': "needs a hinge or slide joint",
    '<ballquat joint="jx"/>': "needs a ball joint",
    '<ballangvel joint="jx"/>': "needs a ball joint",
    '<jointlimitpos joint="js"/>': "needs a joint with a limit",
    '<jointlimitvel joint="js"/>': "needs a joint with a limit",
    '<jointlimitfrc joint="js"/>': "needs a joint with a limit",
    "<jointpos/>": "required attribute 'joint' is missing",
    '<tendonlimitpos tendon="t"/>': "needs a tendon with a limit",
    '<tendonlimitvel tendon="t"/>': "needs a tendon with a limit",
    '<tendonlimitfrc tendon="t"/>': "needs a tendon with a limit",
    '<framepos objtype="joint" objname="jx"/>': "'joint' has no pose",
    '<framepos objtype="tendon" objname="t"/>': "'tendon' has no pose",
    '<framepos objtype="light" objname="a"/>': "'light' has no pose",
    '<framepos objtype="world" objname="a"/>': "'world' has no pose",
    '<framepos objtype="blah" objname="a"/>': "'blah' has no pose",
    '<framepos objtype="body" objname="a" reftype="site"/>': "reftype needs refname",
    '<framepos objtype="body" objname="a" refname="s1"/>': "refname needs reftype",
    '<framepos objtype="body"/>': "required attribute 'objname' is missing",
    '<framepos objname="a"/>': "required attribute 'objtype' is missing",
    "<framepos/>": "required attribute 'objname' is missing",
    '<framelinacc objtype="body" objname="a" reftype="site" refname="s1"/>': "unknown attribute 'reftype'",
    "<subtreecom/>": "required attribute 'body' is missing",
    '<insidesite site="s1" objtype="joint" objname="jx"/>': "'joint' has no pose",
    '<insidesite site="s1"/>': "required attribute 'objname' is missing",
    '<insidesite objtype="body" objname="b"/>': "required attribute 'site' is missing",
    '<distance geom1="g"/>': "write either geom2 or body2",
    "<distance/>": "write either geom1 or body1",
    '<distance geom1="g" body1="a" geom2="gb"/>': "write either geom1 or body1",
    '<distance geom1="g" geom2="g"/>': "both ends are the same object",
    '<distance geom1="zz" geom2="g"/>': "unknown geom 'zz'",
    '<clock noise="-1"/>': "noise cannot be negative",
    '<clock cutoff="-1"/>': "cutoff cannot be negative",
    '<framequat objtype="body" objname="a" cutoff="1"/>': "cutoff would spoil an axis or a quaternion",
    '<framexaxis objtype="body" objname="a" cutoff="1"/>': "cutoff would spoil an axis or a quaternion",
    '<ballquat joint="jy" cutoff="1"/>': "cutoff would spoil an axis or a quaternion",
    "<user/>": "required attribute 'dim' is missing",
    '<user dim="-1"/>': "dim cannot be negative",
    '<user dim="3" datatype="quaternion"/>': 'datatype="quaternion" needs dim="4"',
    '<user dim="4" datatype="axis"/>': 'datatype="axis" needs dim="3"',
    '<user dim="4" objtype="body"/>': "objtype needs objname",
    '<user dim="4" objname="a"/>': "objname needs objtype",
    '<user dim="2" objtype="sensor" objname="u"/>': "unknown sensor 'u'",
    '<contact site="s1" geom1="g"/>': "at most one of geom1",
    '<contact geom1="g" geom2="gb" body2="b"/>': "at most one of geom2",
    '<contact geom1="zz"/>': "unknown geom 'zz'",
    '<contact geom1="g" num="0"/>': "num must be positive",
    '<contact geom1="g" data="force found"/>': "data must be in order and without repetition: found force to",
    '<contact geom1="g" reduce="zz"/>': "attribute 'reduce': 'zz' is not a keyword here",
    '<contact geom1="g" data="bogus"/>': "attribute 'data': 'bogus' is not a keyword here",
    '<contact site="zz"/>': "unknown site 'zz'",
}


@pytest.mark.parametrize("sensor", BAD)
def test_bad_sensor(sensor: str) -> None:
    assert_refused(WORLD % sensor, BAD[sensor], LINE)


LINE = WORLD[: WORLD.index("%s")].count("\n") + 1


def test_every_type_has_a_row() -> None:
    assert set(SensorType) == set(TABLE)


def test_names_must_differ() -> None:
    sensors = '<clock name="u"/><e_kinetic name="u"/>'
    assert_refused(WORLD % sensors, "sensor name 'u' is used twice", LINE)


def test_user_data_is_padded() -> None:
    assert_same(WORLD % '<clock user="1 2"/><e_kinetic user="3"/>')


def test_many_numbers_are_counted_not_allocated() -> None:
    assert dovetail.loads(WORLD % '<contact num="10000000"/>').nsensordata == 10_000_000
    with pytest.raises(MJCFError, match="too many numbers; the most is 16,777,216"):
        dovetail.loads(WORLD % '<contact num="1000000000"/>')


def test_tactile_sensor_has_three_numbers_per_vertex() -> None:
    assert_same(
        '<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><body><joint/>'
        '<geom size=".1" name="g"/></body></worldbody><sensor><tactile geom="g" mesh="m"/></sensor></mujoco>'
    )
