"""`<replicate>`: the same copies, names, poses and referring elements as MuJoCo makes, and its limits."""

from __future__ import annotations

import time

import pytest

from dovetail.errors import MJCFError
from dovetail.mjcf import compile_text

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
            r"1: <geom name=.g1.>: geom name 'g1-0' is used twice \(first at .*:2\)",
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
    start = time.perf_counter()
    with pytest.raises(MJCFError, match=r"12: <replicate count=.*would make 1,001,000 elements"):
        compile_text(model(tree))
    assert time.perf_counter() - start < 1


def test_hundred_thousand_copies_of_nothing_is_refused_before_it_is_made():
    with pytest.raises(MJCFError, match="would make 1,000,000,000 elements"):
        compile_text(model('<replicate count="1000000000"><geom size="1"/></replicate>'))
