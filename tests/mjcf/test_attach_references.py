"""What elements of an attached model refer to: assets that default classes name, other elements, other models."""

from __future__ import annotations

import both
import pytest
from compiling import compile_text

from dovetail.errors import MJCFError
from dovetail.mjcf.compose.key_copies import LeftOutWarning

ASSETS = """<texture name="tex" type="2d" builtin="flat" width="2" height="2"/>
<texture name="tex2" type="2d" builtin="flat" width="4" height="4"/><material name="m1" texture="tex"/>
<material name="m2"/><mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
<hfield name="hf" nrow="2" ncol="2" size="1 1 1 1"/>"""
BODY = '<body name="b"><geom size=".1"/><site name="s"/></body>'
WHOLE = '<attach model="m" prefix="p-"/>'
ATTACHES = {
    "whole": WHOLE,
    "body": '<attach model="m" body="b" prefix="p-"/>',
    "twice": WHOLE + WHOLE.replace("p-", "q-"),
    "empty prefix": WHOLE.replace("p-", ""),
    "in a replicate": '<replicate count="2"><attach model="m" body="b" prefix="p-"/></replicate>',
}
RED = '<material name="m1" rgba="1 0 0 1"/>'


def part(default: str, tree: str, assets: str = "", rest: str = "") -> str:
    return (
        f"<mujoco><default>{default}</default><asset>{ASSETS}{assets}</asset>"
        f"<worldbody>{tree}</worldbody>{rest}</mujoco>"
    )


def scene(tree: str, default: str = "", rest: str = "", assets: str = "") -> str:
    return (
        f'<mujoco><default>{default}</default><asset><model name="m" file="m.xml"/>{assets}</asset>'
        f"<worldbody>{tree}</worldbody>{rest}</mujoco>"
    )


def in_class(text: str) -> str:
    return f'<default class="c">{text}</default>'


PLAIN = '<body name="b"><geom/></body>'
TWO_SITES = '<body name="b"><geom size=".1"/><site name="s"/><site name="s2"/></body>'
TENDON = '<tendon><spatial name="t" {}><site site="s"/><site site="s2"/></spatial></tendon>'
DEFAULTS = {
    "material of geoms in main": ('<geom material="m1"/>', BODY),
    "material by class": (
        in_class('<geom material="m1"/>'),
        '<body name="b"><geom size=".1" class="c"/></body>',
    ),
    "material by childclass": (
        in_class('<geom material="m1"/>'),
        '<body name="b" childclass="c"><geom size=".1"/></body>',
    ),
    "material by childclass of a parent": (
        in_class('<geom material="m1"/>'),
        '<body name="o" childclass="c"><body name="b"><geom size=".1"/></body></body>',
    ),
    "own material": ('<geom material="m1"/>', '<body name="b"><geom size=".1" material="m2"/></body>'),
    "no material": ('<geom material="m1"/>', '<body name="b"><geom size=".1" material=""/></body>'),
    "mesh": ('<geom type="mesh" mesh="me"/>', PLAIN),
    "hfield": ('<geom type="hfield" hfield="hf"/>', PLAIN),
    "texture of materials": ('<material texture="tex2"/>', BODY, '<material name="mx"/>'),
    "texture by class": (in_class('<material texture="tex2"/>'), BODY, '<material name="mx" class="c"/>'),
    "layers": ('<material><layer role="rgb" texture="tex"/></material>', BODY, '<material name="mx"/>'),
    "material of sites": ('<site material="m1"/>', BODY),
    "material of tendons": ('<tendon material="m1"/>', TWO_SITES, "", TENDON.format("")),
    "material of one tendon": ("", TWO_SITES, "", TENDON.format('material="m1"')),
    "material of one site": ("", '<body name="b"><site name="s" material="m1"/><geom size=".1"/></body>'),
    "material of a mesh": (
        "",
        '<body name="b"><geom type="mesh" mesh="mf"/></body>',
        '<mesh name="mf" material="m1" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>',
    ),
    "texture of a light": ("", '<body name="b"><light name="l" texture="tex"/><geom size=".1"/></body>'),
}
WORKS_WITH_PREFIX = [name for name in DEFAULTS if name not in ("material of sites", "material of tendons")][
    :11
]


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("how", ATTACHES)
def test_assets_that_a_class_names(name, how):
    assets = {"m.xml": part(*DEFAULTS[name])}
    for own in ("", RED):
        assert both.disagreement(scene(ATTACHES[how], assets=own), assets) == []


@pytest.mark.parametrize("name", WORKS_WITH_PREFIX)
def test_scenes_of_that_kind_load(name):
    compile_text(scene(ATTACHES["twice"]), assets={"m.xml": part(*DEFAULTS[name])})


@pytest.mark.parametrize("name", ["material by class", "material of sites", "texture of materials"])
def test_assets_that_a_class_names_in_models_of_models(name):
    middle = f'<mujoco><asset><model name="m" file="m.xml"/></asset><worldbody>{WHOLE}</worldbody></mujoco>'
    assets = {"m.xml": part(*DEFAULTS[name]), "d.xml": middle}
    for own in ("", RED, RED.replace("m1", "p-m1")):
        top = (
            f'<mujoco><asset>{own}<model name="d" file="d.xml"/></asset><worldbody>{{}}</worldbody></mujoco>'
        )
        assert both.disagreement(top.format('<attach model="d" prefix="t_"/>'), assets) == []


COLOURS = in_class('<geom rgba="1 0 0 1" material="m1"/><joint damping="3"/><motor ctrlrange="-3 3"/>')
CLASSES = part('<geom rgba="0 0 1 1"/>' + COLOURS, '<body name="b" childclass="c"><geom size=".1"/></body>')
X = '<body name="x"><joint name="jx"/><geom size=".1"/></body>'
GREEN = '<default class="{}"><geom rgba="0 1 0 1"/></default>'


@pytest.mark.parametrize(
    "xml",
    [
        scene(WHOLE + '<geom class="p-c" size=".1"/><geom class="p-main" size=".1"/>', assets=RED),
        scene('<geom class="p-c" size=".1"/>' + WHOLE, assets=RED),
        scene(f'<body childclass="p-c">{WHOLE}<geom size=".1"/></body>', assets=RED),
        scene(f'{WHOLE}<body childclass="p-c"><geom size=".1"/></body>', assets=RED),
        scene(f'{WHOLE}<replicate count="2" childclass="p-c"><geom size=".1"/></replicate>', assets=RED),
        scene(f'{WHOLE}</worldbody><worldbody><geom class="p-c" size=".1"/>', assets=RED),
        scene(WHOLE + X, rest='<actuator><motor joint="jx" class="p-c"/></actuator>'),
        scene(WHOLE + '<geom class="p-c" size=".1"/>', GREEN.format("p-c")),
        scene(WHOLE.replace("p-", "") + X + '<geom class="c" size=".1"/>', GREEN.format("c")),
        scene(WHOLE.replace("p-", "") + X + '<geom class="main" size=".1"/><geom size=".1"/>'),
        scene('<geom size=".1"/>' + WHOLE.replace("p-", "") + f'<body childclass="c">{X}</body>'),
    ],
)
def test_classes_are_known_from_the_attachment_on(xml):
    assert both.disagreement(xml, {"m.xml": CLASSES}) == []


TREE = """<body name="b"><geom name="g" size=".1"/><joint name="j"/><site name="s"/><site name="s2"/>
<camera name="c"/><body name="bb"><joint name="jj"/><geom name="gg" size=".1"/><site name="ss"/></body></body>
<body name="o"><geom name="go" size=".1"/><joint name="jo"/><site name="so"/><site name="so2"/></body>"""
OWN = '<body name="o"><geom name="go" size=".1"/><joint name="jo"/><site name="so"/></body>'
ELEMENTS = [
    "tendon|<spatial name='t'><site site='s'/><geom geom='g'/><site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><geom geom='g' sidesite='s'/><site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><site site='so'/></spatial>",
    "tendon|<spatial name='t'><site site='so'/><site site='so2'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><site site='s2'/><pulley divisor='2'/><site site='s'/><site site='so'/>"
    "</spatial>",
    "tendon|<spatial name='t'/>",
    "tendon|<fixed name='t'><joint joint='j' coef='1'/><joint joint='jo' coef='2'/></fixed>",
    "sensor|<framepos name='f' objtype='site' objname='s' reftype='site' refname='so'/>",
    "sensor|<framepos name='f' objtype='site' objname='so' reftype='site' refname='s'/>",
    "sensor|<framepos name='f' objtype='site' objname='s' reftype='body' refname='world'/><subtreecom body='world'/>",
    "sensor|<clock name='c'/><user name='u' dim='1'/><contact name='k'/><contact geom2='g'/>",
    "equality|<weld name='w' body1='b' body2='world'/><weld body1='world' body2='b'/><weld body1='b'/>",
    "equality|<connect body1='b' body2='bb' anchor='0 0 0'/><connect body1='b' body2='o' anchor='0 0 0'/>",
    "equality|<connect body1='b' body2='b' anchor='0 0 0'/><joint joint1='j' joint2='jj'/><joint joint1='jo'/>",
    "contact|<pair geom1='g' geom2='gg'/><pair geom1='g' geom2='go'/><exclude body1='b' body2='world'/>"
    "<exclude name='f' body1='b' body2='o'/>",
    "actuator|<motor joint='j'/><motor site='s' refsite='so'/><motor cranksite='s' slidersite='ss' cranklength='1'/>"
    "<motor name='nothing'/><motor cranksite='s' slidersite='ss'/>",
    "custom|<tuple name='w'><element objtype='body' objname='b'/></tuple><tuple name='e'/>",
    "custom|<tuple name='w'><element objtype='body' objname='b'/><element objtype='body' objname='o'/></tuple>",
    "custom|<tuple name='w'><element objtype='body' objname='world'/></tuple>",
    "custom|<tuple name='w'><element objtype='numeric' objname='n'/></tuple><numeric name='n' data='1'/>"
    "<tuple name='v'><element objtype='tuple' objname='w'/></tuple>",
]


@pytest.mark.parametrize("written", ELEMENTS)
def test_elements_find_what_they_refer_to(written):
    """Under the prefix, or else, for some, under the name as it is, among all that the main model has before."""
    section, _, elements = written.partition("|")
    sub = f"<mujoco><worldbody>{TREE}</worldbody><{section}>{elements}</{section}></mujoco>"
    body = ATTACHES["body"]
    for tree in (WHOLE, body, OWN + body, body + OWN, body.replace("p-", "")):
        assert both.disagreement(scene(tree), {"m.xml": sub}) == []


def test_chains_of_elements_come_along():
    sub = f"""<mujoco><worldbody>{TREE}</worldbody>
<tendon><spatial name="t"><site site="s"/><site site="so"/></spatial></tendon>
<actuator><motor name="a" tendon="t"/></actuator><equality><tendon name="e" tendon1="t"/></equality>
<sensor><tendonpos name="p" tendon="t"/><actuatorpos name="q" actuator="a"/></sensor></mujoco>"""
    for tree in (WHOLE, ATTACHES["body"], OWN + ATTACHES["body"]):
        assert both.disagreement(scene(tree), {"m.xml": sub}) == []


ONCE = ATTACHES["body"]
NAMED = '<body name="p-b" pos="9 9 9"><geom size=".3"/></body>'


@pytest.mark.parametrize(
    "tree",
    [
        ONCE + ONCE,
        ONCE + f'<frame pos="5 0 0" euler="0 0 90">{ONCE}</frame>',
        f'<frame pos="5 0 0" euler="0 0 90">{ONCE}</frame>' + ONCE,
        f'<frame pos="5 0 0">{ONCE}</frame><frame pos="0 7 0"><frame euler="9 0 0">{ONCE}</frame></frame>',
        f'{ONCE}<body name="q">{ONCE}</body>',
        f'<body name="q">{ONCE}{ONCE}</body>',
        ONCE + ONCE.replace('"b"', '"bb"'),
        NAMED + ONCE,
        f'{NAMED}<frame pos="1 1 1" euler="0 0 90">{ONCE}</frame>',
        NAMED.replace("p-b", "p-absent") + ONCE.replace('"b"', '"absent"'),
        '<attach model="m" body="world" prefix=""/>',
        '<attach model="m" body="world" prefix="p"/>' * 2,
        f'{ONCE}<replicate count="2">{ONCE}</replicate>',
    ],
)
def test_a_body_that_is_there_already_moves(tree):
    assert both.disagreement(scene(tree), {"m.xml": f"<mujoco><worldbody>{TREE}</worldbody></mujoco>"}) == []


def test_a_body_that_is_elsewhere_is_an_error():
    with pytest.raises(MJCFError, match=r"2: <attach .*there is a body 'p-b' already, in another body"):
        compile_text(
            scene(f"{ONCE}<body>\n{ONCE}</body>"),
            assets={"m.xml": f"<mujoco><worldbody>{TREE}</worldbody></mujoco>"},
        )


@pytest.mark.parametrize(
    ("sub", "tree"),
    [
        (f"<mujoco><worldbody>{BODY}{BODY.replace('b', 'd')}</worldbody></mujoco>", WHOLE + X),
        ('<mujoco><sensor><clock name="a"/><clock name="a"/></sensor></mujoco>', ""),
        ('<mujoco><worldbody><body name="a"/><body name="a"/></worldbody></mujoco>', ""),
        ('<mujoco><asset><material name="m1"/></asset></mujoco>', WHOLE + WHOLE),
        (f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", '<body name="p-b"/>' + WHOLE),
        (f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", WHOLE + '<body name="p-b"/>'),
    ],
)
def test_names_that_collide(sub, tree):
    assert both.disagreement(scene(tree), {"m.xml": sub}) == []


HINGE = '<joint name="{0}j" ref=".7"/>'
KEYED = f"""<mujoco><worldbody><body name="s">{HINGE.format("s")}<geom size=".1"/></body></worldbody>
<keyframe><key name="k" qpos="5"/></keyframe></mujoco>"""
COPIED = KEYED.replace("<worldbody>", '<worldbody><replicate count="2" sep="=">')
COPIED = COPIED.replace("</worldbody>", "</replicate></worldbody>")
MIDDLE = f'<mujoco><asset><model name="m" file="m.xml"/></asset><worldbody>{WHOLE}</worldbody></mujoco>'
Q = f'<body name="q">{HINGE.format("q")}<geom size=".1"/></body>'


@pytest.mark.parametrize("sub", [KEYED, COPIED])
@pytest.mark.parametrize(
    "key", ["", '<key name="K"/>', '<key name="K" qpos="3"/>', '<key name="K" qpos="3 4"/>']
)
@pytest.mark.parametrize(
    "tree",
    [
        Q + WHOLE,
        Q + WHOLE + WHOLE.replace("p-", "q-"),
        f'<replicate count="2" sep="-">{WHOLE}</replicate>',
        f'{Q}{WHOLE}<replicate count="2" sep="-">{Q.replace("q", "r")}</replicate>',
        f'{Q}<replicate count="2" sep="-">{WHOLE}</replicate>',
    ],
)
def test_keys_of_all_models(sub, key, tree):
    rest = f"<keyframe>{key}</keyframe>"
    assert both.disagreement(scene(tree, rest=rest), {"m.xml": sub}) == []


_DRIVEN = """<mujoco><worldbody><body name="b"><joint name="j" type="slide"/><geom size=".1"/></body></worldbody>
<actuator><motor name="a" joint="j"/><general name="g" joint="j" dyntype="integrator"/></actuator>
<keyframe><key name="k" qpos="1" qvel="2" ctrl="3 4" act="5"/></keyframe></mujoco>"""
_ATTACHED = '<attach model="s" body="b" prefix="{}_"/>'
_COPIES = '<replicate count="{}" offset="0 1 0"><geom size=".1"/></replicate>'


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_later_replicate_makes_keys_forget_controls(count):
    """MuJoCo drops ctrl and act of keys that wait, whatever is copied; keys attached afterwards keep theirs."""
    copies = _COPIES.format(count)
    xml = (
        '<mujoco><asset><model name="s" file="s.xml"/></asset>'
        f"<worldbody>{_ATTACHED.format('p')}{copies}{_ATTACHED.format('q')}</worldbody></mujoco>"
    )
    model = both.accepted(xml, {"s.xml": _DRIVEN})
    assert model.key_ctrl.tolist() == [[0, 0, 0, 0], [0, 0, 3, 4]]
    assert both.disagreement(xml, {"s.xml": _DRIVEN}) == []
    with pytest.warns(LeftOutWarning, match="s.xml:3: <key name=.k.>: ctrl and act .* at <string>:1"):
        compile_text(xml, assets={"s.xml": _DRIVEN})


def test_keys_of_models_of_models_come_once():
    for sub in (KEYED, COPIED):
        tree = '<attach model="d" prefix="x"/><attach model="d" prefix="y"/>'
        top = f'<mujoco><asset><model name="d" file="d.xml"/></asset><worldbody>{tree}</worldbody></mujoco>'
        assert both.disagreement(top, {"m.xml": sub, "d.xml": MIDDLE}) == []


PID = '<extension><plugin plugin="mujoco.pid">{}</plugin></extension>'
INSTANCES = PID.format(
    "".join(f'<instance name="i{k}"><config key="kp" value="{k}"/></instance>' for k in "12")
)
USES = '<plugin name="a{0}{1}" joint="{1}" plugin="mujoco.pid" instance="i{0}"/>'


@pytest.mark.parametrize(
    "users",
    [
        "",
        USES.format(1, "j"),
        USES.format(1, "j") + USES.format(2, "j"),
        USES.format(2, "jo") + USES.format(1, "j"),
    ],
)
@pytest.mark.parametrize("how", ["whole", "body", "twice", "empty prefix"])
def test_instances_of_plugins_come_with_their_users(users, how):
    sub = f"<mujoco>{INSTANCES}<worldbody>{TREE}</worldbody><actuator>{users}</actuator></mujoco>"
    assert both.disagreement(scene(ATTACHES[how]), {"m.xml": sub}) == []
