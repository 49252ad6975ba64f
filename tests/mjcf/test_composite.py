"""`<composite type="cable">`: the same chain of bodies as MuJoCo makes, and its errors."""

from __future__ import annotations

import pytest
from compiling import compile_text

from dovetail.errors import MJCFError

CAPSULE = '<geom type="capsule" size=".01"/>'
DEFAULTS = (
    '<default><geom rgba="1 0 0 1" friction="3 1 1" group="2"/><joint damping="5" group="1"/>'
    '<site size=".7" rgba="0 1 0 1"/><default class="c"><geom rgba="0 0 1 1"/></default></default>'
)
PLUGIN = '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>'


def cable(attributes: str, inside: str = CAPSULE) -> str:
    return f'<composite prefix="p" type="cable" {attributes}>{inside}</composite>'


def model(tree: str, before: str = "", rest: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{tree}</worldbody>{rest}</mujoco>"


@pytest.mark.parametrize(
    "attributes",
    [
        'count="4 1 1" size="1" curve="s"',
        'count="5" size="2 .3 2" curve="s" offset="1 2 3"',
        'count="2 1 1" size="2" curve="0 s 0"',
        'count="9 1 1" size="1 .3 2" curve="cos(s) sin(s) s"',
        'count="9 1 1" size="1 .3 2" curve="cos(s) sin(s) s" quat="0 1 0 0"',
        'count="9 1 1" size="1 .3 2" curve="cos(s) sin(s) s" quat=".5 .6 .7 .8" offset="0 0 1"',
        'count="6 1 1" size="1 .3 2" curve="s 0 cos(s)" initial="free"',
        'count="6 1 1" size="1 .3 2" curve="s 0 sin(s)" initial="none"',
        'vertex="0 0 0 1 0 0 1 1 0 1 1 1"',
        'vertex="0 0 0 0 1 0 1 1 0 1 1 1" initial="ball"',
        'vertex="0 0 0 0 -1 0 1 1 0 1 1 1"',
        'vertex="0 0 0 0 1 .2 1 1 0 1 1 1"',
        'vertex="0 0 0 0 1 0"',
        'vertex="0 0 0 0 1 .5"',
        'vertex="1 2 3 1 2 4 2 2 4 5 5 5 5 5 5.5" offset="0 0 1"',
    ],
)
def test_curves(same_as_mujoco, attributes):
    same_as_mujoco(model(cable(attributes)), relative=1e-11)


@pytest.mark.parametrize(
    "inside",
    [
        '<geom type="capsule" size=".01 .02 .03" rgba="1 0 0 1" friction=".1" condim="4" density="7"/>',
        '<geom type="cylinder" size=".01" mass=".1" contype="0"/><site group="1" size=".2" rgba="1 0 1 1"/>',
        '<geom type="box" size=".01 .02 .03"/>',
        '<geom type="box" size=".01 .02 .03"/><skin texcoord="true" inflate=".1" group="3" rgba="1 1 0 1"/>',
        CAPSULE + '<joint kind="main" limited="true" range="0 30" frictionloss="2" stiffness="4" group="4"/>',
        CAPSULE + '<joint kind="main" damping="2" armature=".1" solreflimit=".1"/>',
    ],
)
@pytest.mark.parametrize("initial", ["", 'initial="free"'])
def test_contents(same_as_mujoco, inside, initial):
    tree = cable(f'count="4 1 1" size="1 .2 2" curve="s cos(s)" {initial}', inside)
    same_as_mujoco(model(tree, DEFAULTS), relative=1e-11)


@pytest.mark.parametrize(
    "tree",
    [
        '<body name="w" childclass="c"><geom size=".1"/>{}</body>',
        '<frame pos="0 0 1" euler="0 0 90" childclass="c">{}</frame>',
        '<geom size=".1"/>{}<body name="after"><geom size=".1"/></body>',
        '<replicate count="2" sep="-" offset="0 1 0">{}</replicate>',
    ],
)
def test_places(same_as_mujoco, tree):
    same_as_mujoco(model(tree.format(cable('count="4 1 1" size="1" curve="s"')), DEFAULTS), relative=1e-11)


def test_elements_of_the_model_may_refer_to_the_cable(same_as_mujoco):
    rest = (
        '<contact><exclude body1="w" body2="pB_2"/></contact><custom><text name="t" data="v"/></custom>'
        '<equality><connect name="c" body1="pB_last" anchor="0 0 0"/></equality>'
        '<sensor><framepos objtype="site" objname="pS_last"/></sensor>'
    )
    tree = cable('count="5 1 1" size="1" curve="s"') + '<body name="w"/>'
    compiled = compile_text(model(tree, rest=rest))
    assert compiled.names["text"] == ("t", "composite_p")
    assert compiled.sizes["nexclude"] == 4


def test_elasticity(same_as_mujoco):
    inside = '<plugin plugin="mujoco.elasticity.cable"><config key="twist" value="1e6"/></plugin>'
    tree = cable('count="4 1 1" size="1" curve="s"', CAPSULE + inside)
    same_as_mujoco(model(tree, PLUGIN), relative=1e-11)


@pytest.mark.parametrize(
    ("composite", "message"),
    [
        (cable('count="4 1 1" curve="s"').replace("cable", "particle"), "use <replicate>"),
        (cable('count="4 1 1" curve="s"').replace("cable", "rope"), 'use type="cable"'),
        (cable('count="4 1 1" curve="s"').replace("cable", "zz"), "the only type is cable"),
        (cable('count="4 2 1" curve="s"'), 'count="N 1 1"'),
        (cable('count="1 1 1" curve="s"'), "two or more points"),
        (cable('curve="s"'), "two or more points"),
        (cable('vertex="1 2 3 4"'), "three numbers for each"),
        (cable('vertex="0 0 0 1 1 1" count="2 1 1"'), "vertex and count both"),
        (cable('count="4 1 1" curve="s q"'), "'q' is no shape; choose from s, cos"),
        (cable('count="4 1 1" curve="s s s s"'), "one word for each"),
        (cable('count="4 1 1"'), "points are the same"),
        (cable('count="4 1 1" curve="s"', ""), "capsules, cylinders or boxes"),
        (cable('count="4 1 1" curve="s"', '<geom type="sphere" size="1"/>'), "capsules, cylinders or boxes"),
        (cable('count="4 1 1" curve="s"', CAPSULE + "<joint/>"), "required attribute 'kind'"),
        (
            cable('count="4 1 1" curve="s"', CAPSULE + '<plugin plugin="mujoco.pid"/>'),
            "can only have the plugin",
        ),
        (cable('count="4 1 1" curve="s"', CAPSULE + '<joint kind="main"/>' * 2), "write <joint> once"),
    ],
)
def test_refused(composite, message):
    with pytest.raises(MJCFError, match=message):
        compile_text(model("\n" + composite))


def test_absurd_count_is_refused():
    with pytest.raises(MJCFError, match="elements"):
        compile_text(model(cable('count="1000000000 1 1" curve="s"')))


@pytest.mark.parametrize("subgrid", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("points", [4, 5, 9])
def test_subgrid_of_the_skin(same_as_mujoco, points, subgrid):
    """The finer skin, whose weights are MuJoCo's down to those that only rounding makes differ from zero."""
    same_as_mujoco(
        f'<mujoco><worldbody><composite type="cable" prefix="c" count="{points} 1 1" curve="s cos(s) 0" '
        f'size="1 .3 2" initial="none"><geom type="box" size=".03 .05 .01"/>'
        f'<skin subgrid="{subgrid}" texcoord="true" inflate=".2"/></composite></worldbody></mujoco>',
        relative=1e-6,
    )


@pytest.mark.parametrize("kind", ["box", "capsule"])
def test_cables_that_mujoco_cannot_make(kind):
    with pytest.raises(MJCFError, match="a cable of 2 segments cannot be made"):
        compile_text(model(cable('count="3 1 1" curve="s"').replace("capsule", kind)))
