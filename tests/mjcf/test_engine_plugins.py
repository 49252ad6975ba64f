"""`<extension>` and `<plugin>`: instances of MuJoCo's engine plugins are stored as MuJoCo stores them."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf import compile_text

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


def test_attached_models_bring_their_instances():
    sub = model(SHARED, BODY.format('<plugin instance="x"/>'))
    main = (
        '<mujoco><asset><model name="m" file="m.xml"/></asset>'
        '<worldbody><attach model="m" prefix="p"/></worldbody></mujoco>'
    )
    compiled = compile_text(main, assets={"m.xml": sub})
    assert compiled.names["plugin"] == ("px", "py")
    assert compiled.values["body_plugin"].tolist() == [-1, 0]


def test_running_a_model_with_a_body_plugin_needs_a_stage_for_it():
    tree = '<body name="b"><joint/><geom size=".1"/><plugin plugin="mujoco.elasticity.cable"/></body>'
    extension = '<plugin plugin="mujoco.elasticity.cable"/>'
    plan = dovetail.compile_plan(dovetail.loads(model(extension, tree)))
    assert plan.choices["passive_force:plugin"].record.name == "cable"
