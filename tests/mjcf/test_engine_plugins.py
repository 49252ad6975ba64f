"""`<extension>` and `<plugin>`: instances of MuJoCo's engine plugins are stored as MuJoCo stores them."""

from __future__ import annotations

import pytest
from compiling import compile_text

import dovetail
from dovetail.errors import MJCFError

CABLE = '<plugin plugin="mujoco.elasticity.cable"/>'
SHARED = (
    '<plugin plugin="mujoco.elasticity.cable"><instance name="x"><config key="bend" value="1"/></instance>'
    '<instance name="y"><config key="vmax" value="ä"/><config key="twist" value="1e6"/></instance></plugin>'
)
BODY = '<body name="b"><geom size=".1"/>{}</body>'


def model(extension: str, tree: str) -> str:
    return f"<mujoco><extension>{extension}</extension><worldbody>{tree}</worldbody></mujoco>"


@pytest.mark.parametrize(
    ("extension", "tree"),
    [
        (CABLE, BODY.format("")),
        (CABLE, BODY.format(CABLE)),
        (SHARED, BODY.format('<plugin instance="x"/>') + '<body><plugin instance="y"/></body>'),
        (SHARED, BODY.format('<plugin instance="x"/>') + '<body><plugin instance="x"/></body>'),
        (
            SHARED,
            BODY.format('<plugin instance="x" plugin="mujoco.elasticity.cable"/>') + f"<body>{CABLE}</body>",
        ),
        (
            '<plugin plugin="mujoco.sdf.torus"><instance name="t"/></plugin>',
            '<geom size="1"><plugin instance="t"/></geom>',
        ),
        (
            '<plugin plugin="mujoco.sdf.gear"><instance name="t"><config key="teeth" value="9"/></instance></plugin>',
            "",
        ),
    ],
)
def test_instances(same_as_mujoco, extension, tree):
    same_as_mujoco(model(extension, tree))


@pytest.mark.parametrize(
    ("extension", "tree", "message"),
    [
        ('<plugin plugin="mujoco.pdi"/>', "", "no engine plugin 'mujoco.pdi'; did you mean 'mujoco.pid'"),
        ("<plugin/>", "", "required attribute 'plugin' is missing"),
        ('<plugin plugin="mujoco.pid"><instance/></plugin>', "", "required attribute 'name' is missing"),
        (SHARED.replace('"y"', '"x"'), "", "plugin name 'x' is used twice"),
        (SHARED.replace("twist", "vmax"), "", "key 'vmax' is given twice"),
        (SHARED.replace("twist", "twits"), "", "has no attribute 'twits'; did you mean 'twist'"),
        (SHARED, '\n<body><plugin instance="z"/></body>', "2: .*unknown plugin 'z'"),
        ("", f"<body>{CABLE}</body>", "is not declared"),
        (CABLE, "<body><plugin/></body>", "neither plugin nor instance"),
        (
            '<plugin plugin="mujoco.pid"/>',
            '<body><plugin plugin="mujoco.pid"/></body>',
            "offers no passive forces",
        ),
        (SHARED, '<body><plugin instance="x" plugin="mujoco.pid"/></body>', "is of mujoco.elasticity.cable"),
    ],
)
def test_refused(extension, tree, message):
    with pytest.raises(MJCFError, match=message):
        compile_text(model(extension, tree))


def test_attached_models_bring_the_instances_that_something_uses():
    sub = model(SHARED, BODY.format('<plugin instance="x"/>'))
    main = (
        '<mujoco><asset><model name="m" file="m.xml"/></asset>'
        '<worldbody><attach model="m" prefix="p"/></worldbody></mujoco>'
    )
    compiled = compile_text(main, assets={"m.xml": sub})
    assert compiled.names["plugin"] == ("px",)
    assert compiled.values["body_plugin"].tolist() == [-1, 0]


def test_running_a_model_with_a_body_plugin_needs_a_stage_for_it():
    tree = '<body name="b"><joint/><geom size=".1"/><plugin plugin="mujoco.elasticity.cable"/></body>'
    extension = '<plugin plugin="mujoco.elasticity.cable"/>'
    plan = dovetail.compile_plan(dovetail.loads(model(extension, tree)))
    assert plan.choices["passive_force:plugin"].record.name == "cable"


def test_a_cable_does_not_declare_its_plugin_itself():
    cable = (
        '<composite type="cable" count="5 1 1" curve="s" size="1"><geom type="capsule" size=".01"/>'
        '<plugin plugin="mujoco.elasticity.cable"/></composite>'
    )
    with pytest.raises(
        MJCFError, match=r"plugin 'mujoco\.elasticity\.cable' is not declared; add <extension>"
    ):
        compile_text(f"<mujoco><worldbody>{cable}</worldbody></mujoco>")
    declared = '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>'
    compile_text(f"<mujoco><worldbody>{cable}</worldbody>{declared}</mujoco>")


@pytest.mark.parametrize(
    ("key", "value", "good"),
    [
        ("gamma", ".5 .5", False),
        ("gamma", "0 0", True),
        ("gamma", "1.1", False),
        ("gamma", "nan", True),
        ("nchannel", "1 2", True),
        ("nchannel", ".5\t.5", False),
        ("nchannel", " 3", True),
        ("nchannel", "7", False),
        ("size", "7  7", False),
        ("size", "7 7 ", True),
        ("size", "7,7", False),
        ("fov", "181 90", False),
        ("fov", "180 90", True),
        ("fov", "", False),
    ],
)
def test_touch_grid_parameters(key, value, good):
    mujoco = pytest.importorskip("mujoco")
    config = {"size": "7 7", "fov": "45 45", "gamma": "0", "nchannel": "3", key: value}
    rows = "".join(f'<config key="{name}" value="{text}"/>' for name, text in config.items())
    xml = (
        '<mujoco><extension><plugin plugin="mujoco.sensor.touch_grid"/></extension><worldbody><site name="s"/>'
        '</worldbody><sensor><plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="s">'
        f"{rows}</plugin></sensor></mujoco>"
    )
    for load, refusal in ((compile_text, MJCFError), (mujoco.MjModel.from_xml_string, ValueError)):
        try:
            load(xml)
        except refusal:
            assert not good
        else:
            assert good
