"""Models that compile but that MuJoCo could not begin with: trees that cannot sleep, a graph without room."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.errors import MJCFError

ENABLED = '<flag sleep="enable"/>'
NO_ISLANDS = '<flag sleep="enable" island="disable"/>'


def body(sleep: str = "init", name: str = "a", height: float = 1.0, joint: str = "<freejoint/>") -> str:
    return f'<body name="{name}" pos="0 0 {height}" sleep="{sleep}">{joint}<geom size=".1"/></body>'


def model(content: str, flag: str = ENABLED, more: str = "") -> str:
    return f"<mujoco><option>{flag}</option>\n<worldbody>{content}</worldbody>{more}</mujoco>"


def hinge(name: str, attributes: str = "") -> str:
    return f'<joint name="{name}" {attributes}/>'


CONNECT = '<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>'
TENDON = '<tendon><fixed {}><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed></tendon>'
HINGES = body(joint=hinge("j")) + body("auto", "b", 5, hinge("k"))
BOTH = body(joint=hinge("j")) + body("init", "b", 5, hinge("k"))
SLEEP = {
    "alone": model(body()),
    "two that touch": model(body() + body("init", "b", 1.15)),
    "touching one that is awake": model(body() + body("auto", "b", 1.15)),
    "touching one that never sleeps": model(body() + body("never", "b", 1.15)),
    "tied to one that is awake": model(body() + body("auto", "b", 5), more=CONNECT),
    "tied to one that sleeps": model(body() + body("init", "b", 5), more=CONNECT),
    "not tied": model(
        body() + body("auto", "b", 5), more=CONNECT.replace("<connect", '<connect active="false"')
    ),
    "tendon with friction": model(HINGES, more=TENDON.format('frictionloss="1"')),
    "tendon within its limit": model(HINGES, more=TENDON.format('limited="true" range="-1 1"')),
    "tendon at its limit": model(HINGES, more=TENDON.format('limited="true" range="1 2"')),
    "tendon between sleepers": model(BOTH, more=TENDON.format('frictionloss="1"')),
    "sleep is off": model(body() + body("auto", "b", 1.15), ""),
    "no constraints": model(body() + body("auto", "b", 1.15), '<flag sleep="enable" constraint="disable"/>'),
    "no islands, alone": model(body(), NO_ISLANDS),
    "no islands, friction": model(body(joint=hinge("j", 'frictionloss="1"')), NO_ISLANDS),
    "no islands, two that touch": model(body() + body("init", "b", 1.15), NO_ISLANDS),
}


def tied(
    count: int, tendon: str = 'frictionloss="1"', option: str = "", joint: str = "", more: str = ""
) -> str:
    """Sliders, each a tree of its own, on one tendon."""
    bodies = "".join(
        f'<body pos="{i} 0 0"><joint type="slide" name="j{i}" {joint}/><geom size=".1"/></body>'
        for i in range(count)
    )
    path = "".join(f'<joint joint="j{i}" coef="1"/>' for i in range(count))
    return (
        f"<mujoco><option {option}/><worldbody>{bodies}{more}</worldbody>\n"
        f'<tendon><fixed name="t" {tendon}>{path}</fixed></tendon></mujoco>'
    )


STILL = '<body pos="0 0 9"><joint type="slide"/><geom size=".1"/></body>'
GRAPH = {
    "two trees": tied(2),
    "three trees": tied(3),
    "three trees at the limit": tied(3, 'limited="true" range="1 2"'),
    "three trees within the limit": tied(3, 'limited="true" range="-1 1"'),
    "six trees": tied(6),
    "room from another tree": tied(3, more=STILL),
    "too little room from another tree": tied(4, more=STILL),
    "no room from another tree, sparse": tied(3, option='jacobian="sparse"', more=STILL),
    "room from friction": tied(3, joint='frictionloss="1"'),
    "no room from friction, sparse": tied(3, option='jacobian="sparse"').replace(
        'name="j0"', 'name="j0" frictionloss="1"'
    ),
    "contacts give no room": tied(3, more='<geom type="plane" size="1 1 1" pos="0 0 -.05"/>'),
    "no islands": tied(3).replace("<option />", '<option><flag island="disable"/></option>'),
    "equality": tied(3, "").replace("</mujoco>", '<equality><tendon tendon1="t"/></equality></mujoco>'),
}


@pytest.mark.parametrize("case", [*SLEEP, *GRAPH])
def test_same_verdict_as_mujoco(case):
    mujoco = pytest.importorskip("mujoco")
    xml = {**SLEEP, **GRAPH}[case]
    try:
        mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        with pytest.raises(MJCFError, match=r"cannot sleep|has no room"):
            dovetail.loads(xml)
    else:
        dovetail.loads(xml)


def test_the_sleeper_is_named_with_its_place():
    with pytest.raises(MJCFError, match=r'<string>:2: <body name="a" sleep="init">: cannot sleep'):
        dovetail.loads(SLEEP["touching one that is awake"])


def test_the_tendon_is_named_with_its_place():
    with pytest.raises(MJCFError, match=r'<string>:2: <fixed name="t">: .* island="disable"'):
        dovetail.loads(GRAPH["three trees"])


def test_flags_are_as_before_when_it_was_tried():
    model = dovetail.loads(SLEEP["two that touch"])
    assert (model.opt.enableflags, model.opt.disableflags) == (1 << 5, 0)
