"""Actuators and sensors that MuJoCo's engine plugins drive: sizes, numbering, rules of their configuration."""

from __future__ import annotations

import pytest
from comparing import differences
from compiling import compile_text

import dovetail
from dovetail.contracts.engine_plugins import leading_number
from dovetail.errors import MJCFError

PLUGINS = ["mujoco.pid", "mujoco.sensor.touch_grid", "mujoco.elasticity.cable", "mujoco.sdf.torus"]
GRID = {"nchannel": "2", "size": "3 4", "fov": "10 20", "gamma": "0"}
ON_SITE = 'objtype="site" objname="s"'


def config(**values: str) -> str:
    return "".join(f'<config key="{key}" value="{value}"/>' for key, value in values.items())


def pid(attributes: str = "", **values: str) -> str:
    return f'<plugin joint="j" plugin="mujoco.pid" {attributes}>{config(**values)}</plugin>'


def grid(attributes: str = ON_SITE, **values: str | None) -> str:
    given = {key: value for key, value in {**GRID, **values}.items() if value is not None}
    return f'<plugin plugin="mujoco.sensor.touch_grid" {attributes}>{config(**given)}</plugin>'


def model(actuators: str = "", sensors: str = "", instances: str = "", rest: str = "", body: str = "") -> str:
    """A pendulum; `instances` are of mujoco.pid."""
    declared = "".join(
        f'<plugin plugin="{name}">{instances if name == "mujoco.pid" else ""}</plugin>' for name in PLUGINS
    )
    return f"""<mujoco><extension>{declared}</extension>
<sensor>{sensors}</sensor>
<actuator>{actuators}</actuator>
<worldbody><body name="b"><joint name="j" limited="true" range="-1 1"/><geom name="g" size=".1"/>
<site name="s"/><camera name="c"/>{body}</body></worldbody>{rest}</mujoco>"""


def instance(**values: str) -> str:
    return f'<instance name="i">{config(**values)}</instance>'


CABLE = '<plugin plugin="mujoco.elasticity.cable"/>'
GOOD = {
    "proportional": model(pid(kp="1")),
    "no configuration": model(pid()),
    "integral": model(pid('actdim="1"', ki="1")),
    "integral and rate": model(pid('actdim="2"', ki="-1", slewmax="0")),
    "with dynamics": model(pid('dyntype="filter" actdim="3" dynprm="2"', ki=".5", slewmax="2", imax="1")),
    "dynamics alone": model(pid('dyntype="integrator" actrange="-1 1"', kp="1")),
    "user dynamics": model(pid('dyntype="user"', ki="1")),
    "texts": model(pid(kp="x", ki="zero", imax="-1", slewmax="")),
    "hexadecimal": model(pid('actdim="1"', ki="0x10")),
    "negative actdim": model(pid('actdim="-2"')),
    "shared instance": model(
        '<plugin joint="j" instance="i" actdim="1"/><motor joint="j"/><plugin joint="j" instance="i" actdim="1"/>',
        instances=instance(ki="9"),
    ),
    "instance and configuration": model(
        f'<plugin joint="j" instance="i" plugin="mujoco.pid">{config(kpp="1")}</plugin>', instances=instance()
    ),
    "ranges": model(pid('name="n" ctrlrange="-1 1" forcerange="-2 2" gear="3" group="2" user="1 2"')),
    "default class": model(
        pid('class="a"'),
        rest='<default><default class="a"><general dyntype="filter" gaintype="affine" gainprm="5 4"/>'
        "</default></default>",
    ),
    "default servo": model(pid(), rest='<default><position kp="3" kv="2" inheritrange="1"/></default>'),
    "keyframe": model(pid('actdim="1"', ki="1"), rest='<keyframe><key act="3"/></keyframe>'),
    "grid": model(sensors=grid()),
    "two grids": model(sensors=grid(nchannel="6") + "<clock/>" + grid(nchannel="", size="1e1 2.9")),
    "loose numbers": model(sensors=grid(nchannel="0", size="3x 4 ", fov="1x 90", gamma="")),
    "reference": model(sensors=grid(f'{ON_SITE} reftype="body" refname="b" cutoff="2" user="1" name="n"')),
    "unspoken reference": model(sensors=grid(f'{ON_SITE} reftype="thing"')),
    "all users": model(pid('actdim="1"', ki="1") + pid(kp="2"), grid(), body=CABLE),
    "all users and an instance": model(
        pid('actdim="1"', ki="1") + '<plugin joint="j" instance="i"/>',
        grid(),
        instances=instance(kp="9"),
        body=CABLE + '<geom size=".2"><plugin plugin="mujoco.sdf.torus"/></geom>',
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_as_mujoco(same_as_mujoco, name):
    same_as_mujoco(GOOD[name])


BAD = {
    "integral without activation": (model(pid(ki="1")), '3: .*its plugin needs 1; write actdim="1"'),
    "activation without integral": (model(pid('actdim="1"')), "its plugin needs 0"),
    "too many activations": (model(pid('actdim="100000000"')), "its plugin needs 0"),
    "dynamics need one more": (model(pid('dyntype="filter"', ki="1")), "has 1 activations, .* needs 2"),
    "second user": (
        model(
            '<plugin joint="j" instance="i" actdim="1"/><plugin joint="j" instance="i"/>',
            instances=instance(ki="1"),
        ),
        "needs 1",
    ),
    "negative rate": (model(pid(slewmax="-1")), "3: <config .*slewmax cannot be negative"),
    "negative integral": (model(pid(ki="1", imax="-1")), "imax cannot be negative"),
    "unused controller": (model(instances=instance()), "1: .*no actuator uses this instance"),
    "range without dynamics": (model(pid('actdim="1" actrange="-1 1"', ki="1")), "actrange needs"),
    "neither": (model('<plugin joint="j"/>'), "neither plugin nor instance"),
    "no target": (model('<plugin plugin="mujoco.pid"/>'), "no transmission target"),
    "no actuator": (model(f'<plugin joint="j" {CABLE[8:]}'), "offers no actuation"),
    "body": (model('<plugin body="b" plugin="mujoco.pid"/>'), "unknown attribute 'body'"),
    "key of wrong length": (model(pid(), rest='<keyframe><key act="3"/></keyframe>'), "act has 1"),
    "no sensor": (model(sensors=f'<plugin {ON_SITE} plugin="mujoco.pid"/>'), "offers no sensing"),
    "channels": (model(sensors=grid(nchannel="7")), "2: <config .*nchannel must be 1 to 6"),
    "negative channels": (model(sensors=grid(nchannel="-1")), "nchannel must be"),
    "no number": (model(sensors=grid(nchannel="x")), "'x' is not a number"),
    "one size": (model(sensors=grid(size="3")), "size must be two positive"),
    "spaced size": (model(sensors=grid(size="3  4")), "size must be two positive"),
    "zero size": (model(sensors=grid(size="0 4")), "size must be two positive"),
    "infinite size": (model(sensors=grid(size="inf 4")), "size must be two positive"),
    "huge size": (model(sensors=grid(size="99999 99999")), "too many numbers"),
    "no field of view": (model(sensors=grid(fov=None)), "fov must be"),
    "wide field of view": (model(sensors=grid(fov="180 91")), "fov must be"),
    "gamma": (model(sensors=grid(gamma="2")), "gamma must be 0 to 1"),
    "no site": (model(sensors=grid("")), "needs a site"),
    "on a body": (model(sensors=grid('objtype="body" objname="b"')), "needs a site"),
    "half an object": (model(sensors=grid('objtype="site"')), "write both"),
    "half a reference": (model(sensors=grid(f'{ON_SITE} reftype="body"')), "write both"),
    "unspoken reference": (model(sensors=grid(f'{ON_SITE} reftype="x" refname="b"')), "write both"),
    "joint as reference": (model(sensors=grid(f'{ON_SITE} reftype="joint" refname="j"')), "has no pose"),
    "noise": (model(sensors=grid(f'{ON_SITE} noise="1"')), "unknown attribute 'noise'"),
    "negative cutoff": (model(sensors=grid(f'{ON_SITE} cutoff="-1"')), "cutoff cannot be negative"),
    "cable": (
        model(body=CABLE.replace("/>", f">{config(bend='x')}</plugin>")),
        "5: <config .*'x' is not a number",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_as_by_mujoco(name):
    mujoco = pytest.importorskip("mujoco")
    xml, message = BAD[name]
    with pytest.raises(MJCFError, match=message):
        compile_text(xml)
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(xml)


def test_a_grid_without_size_is_refused():
    """MuJoCo 3.4.0 crashes on it."""
    with pytest.raises(MJCFError, match="size must be two positive"):
        compile_text(model(sensors=grid(size=None)))


VALUES = ["2", "2x", "2 3", " 2", " ", "", "nan", "inf", "-1", "0x1", ".", "1e", "+", "1e400", "1,5"]
KEYS = [
    ("mujoco.elasticity.cable", "twist"),
    ("mujoco.elasticity.cable", "vmax"),
    ("mujoco.sdf.nut", "radius"),
    ("mujoco.sdf.gear", "teeth"),
    ("mujoco.sdf.gear", "thickness"),
]


@pytest.mark.parametrize(("plugin", "key"), KEYS)
def test_spelling_of_values(plugin, key):
    mujoco = pytest.importorskip("mujoco")
    for value in VALUES:
        declared = f'<instance name="i">{config(**{key: value})}</instance>'
        xml = f'<mujoco><extension><plugin plugin="{plugin}">{declared}</plugin></extension></mujoco>'
        try:
            theirs = mujoco.MjModel.from_xml_string(xml)
        except (ValueError, RuntimeError):
            with pytest.raises(MJCFError, match="is not a number"):
                compile_text(xml)
        else:
            assert differences(compile_text(xml), theirs) == [], value


@pytest.mark.parametrize(
    ("text", "number"),
    [("", None), ("x", None), ("-1.5e2x", -150.0), ("0x1p3", 8.0), ("1e", 1.0), (" .5", 0.5)],
)
def test_number_that_a_text_begins_with(text, number):
    assert leading_number(text) == number


def test_attached_models_bring_their_controllers():
    sub = model(pid('actdim="1"', ki="1") + '<plugin joint="j" instance="i"/>', instances=instance(kp="2"))
    main = (
        '<mujoco><asset><model name="m" file="m.xml"/></asset>'
        '<worldbody><attach model="m" prefix="p"/></worldbody></mujoco>'
    )
    compiled = compile_text(main, assets={"m.xml": sub})
    assert compiled.names["plugin"] == ("pi", "")
    assert compiled.values["actuator_plugin"].tolist() == [1, 0]
    assert compiled.values["actuator_actnum"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("xml", "slot"),
    [(model(pid(kp="1")), "actuator_plugin:mujoco.pid"), (model(sensors=grid()), "sensor:plugin")],
)
def test_running_finds_who_computes_what_plugins_do(xml, slot):
    assert slot in dovetail.compile_plan(dovetail.loads(xml)).choices
