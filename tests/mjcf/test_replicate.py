"""`<replicate>`: the same copies, names, poses and referring elements as MuJoCo makes, and its limits."""

from __future__ import annotations

import time

import comparing
import pytest
from compiling import compile_text

from dovetail.errors import MJCFError

BODY = (
    '<body name="b{0}" pos="0 1 0"><joint name="j{0}" ref=".{0}" range="-{0} {0}"/>'
    '<geom name="g{0}" size=".1"/><site name="s{0}"/></body>'
)


def model(tree: str, rest: str = "", before: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{tree}</worldbody>{rest}</mujoco>"


def replicate(count: int, inside: str, extra: str = 'sep="-" offset="1 0 0"') -> str:
    return f'<replicate count="{count}" {extra}>{inside}</replicate>'


ONE = BODY.format(1)


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11, 100, 101])
def test_suffixes_are_padded(same_as_mujoco, count):
    same_as_mujoco(model(replicate(count, '<geom name="g" size=".1"/><site name="s"/>')))


@pytest.mark.parametrize(
    "settings",
    ["", '<compiler angle="radian"/>', '<compiler eulerseq="zyx"/>', '<compiler eulerseq="XZY"/>'],
)
@pytest.mark.parametrize(
    "extra", ['offset=".3 .2 .1"', 'euler="10 20 30"', 'offset="1 0 0" euler=".1 .2 30"']
)
def test_copies_turn_and_move_on(same_as_mujoco, settings, extra):
    same_as_mujoco(model(replicate(7, ONE + '<geom size=".1" pos="0 .3 0"/>', extra), before=settings))


@pytest.mark.parametrize(
    "tree",
    [
        replicate(2, ONE + replicate(2, BODY.format(2))),
        replicate(2, replicate(3, ONE, 'euler="0 0 30"')) + BODY.format(2),
        f'<body name="a">{replicate(3, "<geom size=&quot;.1&quot;/>")}</body>'.replace("&quot;", '"'),
        '<body name="a"><geom name="before" size=".1"/><replicate count="2"><geom name="g" size=".3"/></replicate>'
        '<body name="c1"/><replicate count="2" sep="_"><body name="x"/></replicate><body name="c2"/></body>',
        f'<frame pos="0 0 1" euler="0 90 0">{replicate(3, ONE)}</frame>',
        replicate(2, f'<frame name="f" pos="0 0 1">{ONE}</frame>'),
        '<body name="b"><replicate count="2"><joint name="j" axis="1 0 0"/></replicate><geom size=".1"/></body>',
        replicate(2, '<camera name="c" mode="targetbody" target="b1"/><light name="l" target="b1"/>' + ONE),
        f'<body pos="1 2 3">{replicate(2, ONE)}</body>{replicate(2, BODY.format(2))}',
    ],
)
def test_tree(same_as_mujoco, tree):
    same_as_mujoco(model(tree))


def test_default_classes_reach_the_copies(same_as_mujoco):
    defaults = '<default><geom size=".2"/><default class="q"><geom size=".3"/></default></default>'
    inside = '<geom/><geom class="main"/>'
    same_as_mujoco(
        model(
            replicate(2, inside, 'childclass="q"')
            + f'<body childclass="q">{replicate(2, inside, "")}</body>',
            before=defaults,
        )
    )


def test_materials_are_shared(same_as_mujoco):
    same_as_mujoco(
        model(replicate(2, '<geom size=".1" material="m"/>'), "<asset><material name='m'/></asset>")
    )


def test_inertial_of_a_replicate_is_lost(same_as_mujoco):
    inertial = '<inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/>'
    same_as_mujoco(model(f'<body><geom size=".1"/>{replicate(2, inertial)}</body>'))


def test_actuators_are_copied_with_their_joints(same_as_mujoco):
    rest = (
        '<actuator><motor name="m" joint="jx"/><motor joint="j1"/><position name="p" joint="j2"/></actuator>'
    )
    x = '<body name="x"><joint name="jx"/><geom size=".1"/></body>'
    compiled = same_as_mujoco(model(replicate(2, ONE + BODY.format(2)) + x, rest))
    assert compiled.names["actuator"] == ("m", "", "p-0", "", "p-1")


KEY = '<keyframe><key name="k" qpos="{0}" qvel="{1}" time="3"/><key name="k2"/></keyframe>'


@pytest.mark.parametrize(
    ("tree", "qpos"),
    [
        (replicate(2, ONE), "5"),
        (replicate(3, ONE), "5"),
        (BODY.format(0).replace('range="-0 0"', "") + replicate(3, ONE), "7 5"),
        (replicate(2, ONE) + BODY.format(2), "5"),
        (replicate(2, ONE) + replicate(2, BODY.format(2)), "7"),
        (BODY.format(3) + replicate(2, '<geom size=".1"/>') + BODY.format(2), "7"),
    ],
)
def test_keyframes_are_copied(same_as_mujoco, tree, qpos):
    same_as_mujoco(model(tree, KEY.format(qpos, qpos)))


def test_key_of_the_wrong_length_is_refused():
    with pytest.raises(MJCFError, match="qpos has 3 numbers; its model needs 1"):
        compile_text(model(replicate(2, ONE), KEY.format("1 2 3", "")))


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (model("\n<replicate/>"), "2: <replicate>: required attribute 'count'"),
        (
            model(replicate(2, ONE) + '\n<geom name="g1-0" size="1"/>'),
            r"2: <geom name=.g1-0.>: geom name 'g1-0' is used twice \(first at .*:1\)",
        ),
        (model(replicate(2, '<camera target="x"/>') + '<body name="x"/>'), "unknown body 'x-0'"),
        (
            model(replicate(2, ONE), '<actuator>\n<motor joint="j"/></actuator>'),
            '2: <motor joint="j">: unknown joint',
        ),
    ],
)
def test_refused(xml, message):
    with pytest.raises(MJCFError, match=message):
        compile_text(xml)


def test_explosion_is_refused_at_once():
    tree = '<geom size=".1"/>'
    for _ in range(12):
        tree = f'\n<replicate count="1000" sep="-">{tree}</replicate>'
    start = time.process_time()
    with pytest.raises(MJCFError, match=r"12: <replicate count=.*would make 1,001,000 elements"):
        compile_text(model(tree))
    assert time.process_time() - start < 1


def test_hundred_thousand_copies_of_nothing_is_refused_before_it_is_made():
    with pytest.raises(MJCFError, match="would make 1,000,000,000 elements"):
        compile_text(model('<replicate count="1000000000"><geom size="1"/></replicate>'))


TWO = (
    replicate(2, ONE + BODY.format(2))
    + '<body name="x"><geom name="gx" size=".1"/><joint name="jx"/><site name="sx"/></body>'
)


@pytest.mark.parametrize(
    "rest",
    [
        '<contact><pair geom1="g1" geom2="g2"/><pair name="own" geom1="gx" geom2="gx"/></contact>',
        '<contact><exclude body1="b1" body2="b2"/><exclude name="e" body1="b1" body2="world"/></contact>',
        '<equality><joint joint1="jx"/><joint joint1="j1"/><joint name="n" joint1="j2"/></equality>',
        '<tendon><fixed name="t"><joint joint="j1" coef="1"/></fixed>'
        '<fixed name="u"><joint joint="jx" coef="1"/></fixed></tendon>'
        '<equality><tendon tendon1="t"/></equality><actuator><motor tendon="t"/></actuator>'
        '<sensor><tendonpos tendon="t"/><tendonpos tendon="u"/></sensor>',
        '<tendon><spatial name="t"><site site="s1"/><geom geom="g2" sidesite="s1"/>'
        '<site site="s2"/></spatial></tendon>',
        '<actuator><motor site="s1" refsite="s2"/><motor name="m" joint="jx"/><motor name="n" joint="j2"/></actuator>'
        '<sensor><actuatorfrc name="q" actuator="n"/><actuatorfrc actuator="m"/></sensor>',
        '<sensor><framepos objtype="site" objname="s1"/><clock name="c"/>'
        '<framepos objtype="site" objname="sx"/></sensor>',
        '<sensor><clock/><e_potential name="e"/>'
        '<framepos objtype="geom" objname="g1" reftype="body" refname="b2"/></sensor>',
    ],
)
def test_elements_of_other_sections_are_copied(rest):
    """Everything but what dynamics adds (compared elsewhere): which elements there are, and what they refer to."""
    mujoco = pytest.importorskip("mujoco")
    xml = model(TWO, rest)
    found = comparing.differences(compile_text(xml), mujoco.MjModel.from_xml_string(xml))
    assert [line for line in found if not line.startswith(("tendon_length", "eq_data"))] == []


@pytest.mark.parametrize(
    "rest",
    [
        '<contact><pair geom1="g1" geom2="gx"/></contact>',
        '<contact><exclude body1="b1" body2="x"/></contact>',
        '<equality><weld body1="b1" body2="x"/></equality>',
        '<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="jx" coef="2"/></fixed></tendon>',
        '<tendon><spatial name="t"><site site="s1"/><site site="sx"/></spatial></tendon>',
        '<actuator><motor site="s1" refsite="sx"/></actuator>',
        '<sensor><framepos objtype="site" objname="s1" reftype="body" refname="x"/></sensor>',
        '<custom><tuple name="tu"><element objtype="body" objname="b1"/></tuple></custom>',
    ],
)
def test_elements_that_also_refer_outside_are_refused_as_in_mujoco(rest):
    with pytest.raises(MJCFError, match=r"unknown (body|geom|joint|site)"):
        compile_text(model(TWO, rest))
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match=r"not found|unknown|unrecognized"):
        mujoco.MjModel.from_xml_string(model(TWO, rest))


X = '<body name="x"><geom name="gx" size=".1"/></body>'
EXCLUDE = '<exclude name="e" body1="b1" body2="x"/>'
PAIR = '<pair name="p" geom1="gx" geom2="g1" condim="1"/>'


@pytest.mark.parametrize("contacts", [EXCLUDE, PAIR, EXCLUDE + PAIR + '<exclude body1="x" body2="world"/>'])
@pytest.mark.parametrize(
    "tree",
    [
        X + replicate(3, ONE),
        X + replicate(0, ONE),
        f"<frame>{X}</frame><body>{replicate(2, ONE)}</body>",
        f'<body name="x"><geom name="gx" size=".1"/>{replicate(2, ONE)}</body>',
        X + "</worldbody><worldbody>" + replicate(2, ONE),
        X + replicate(2, BODY.format(2) + replicate(2, ONE, 'sep="_"')),
        replicate(2, f'<body name="y">{X}{replicate(2, ONE, "")}</body>'),
    ],
)
def test_contacts_with_what_stands_before_are_copied(same_as_mujoco, tree, contacts):
    same_as_mujoco(model(tree, f"<contact>{contacts}</contact>"))


def test_contacts_with_an_earlier_copy_are_copied(same_as_mujoco):
    tree = replicate(2, ONE) + replicate(2, BODY.format(2), 'sep="_"')
    rest = '<contact><exclude body1="b1-0" body2="b2"/><pair name="p" geom1="g2" geom2="g1-1"/></contact>'
    assert same_as_mujoco(model(tree, rest)).names["pair"] == ("p_0", "p_1")


@pytest.mark.parametrize("contacts", [EXCLUDE, PAIR])
@pytest.mark.parametrize(
    "tree",
    [
        replicate(2, ONE) + X,
        replicate(2, ONE) + replicate(2, X),
        replicate(2, replicate(2, ONE) + X),
        X.replace("x", "absent") + replicate(2, ONE),
    ],
)
def test_contacts_with_what_comes_later_are_refused_as_in_mujoco(tree, contacts):
    with pytest.raises(MJCFError, match=r"2: <(exclude|pair) .*unknown (body|geom)"):
        compile_text(model(tree, f"<contact>\n{contacts}</contact>"))
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match="not found"):
        mujoco.MjModel.from_xml_string(model(tree, f"<contact>{contacts}</contact>"))


def test_sensors_of_no_object_double_with_every_copy():
    xml = model(replicate(40, '<geom size=".1"/>'), "<sensor>\n<clock/></sensor>")
    with pytest.raises(
        MJCFError, match=r"doubles the sensors that belong to no object, such as <clock> at <string>:2"
    ):
        compile_text(xml)
