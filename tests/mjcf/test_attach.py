"""`<attach>` and `<asset><model>`: what comes along, under which names, by whose settings."""

from __future__ import annotations

import comparing
import pytest
from compiling import compile_file, compile_text

from dovetail.errors import MJCFError

SUB = """<mujoco model="subm"><compiler angle="radian" autolimits="true" boundmass=".01"/>
<option timestep="0.01" gravity="0 0 -1"/>
<default><geom rgba="1 0 0 1"/><default class="c1"><geom size=".3"/><joint damping="2"/></default></default>
<asset><material name="mat" texture="tt"/><material name="unused"/>
<texture name="tt" type="2d" builtin="flat" width="2" height="2"/></asset>
<custom><numeric name="nn" data="1"/><text name="te" data="x"/>
<tuple name="tu"><element objtype="body" objname="b"/></tuple>
<tuple name="to"><element objtype="body" objname="other"/></tuple></custom>
<worldbody><geom name="wg" size=".05"/><light name="l"/>
<frame pos="1 2 3"><body name="b" pos="1 0 0" childclass="c1"><joint name="j" range="-1 1"/>
<geom name="g" material="mat"/><site name="s"/>
<body name="bb" euler="0 0 1"><joint name="jj"/><geom name="gg" class="main" size=".1"/></body></body></frame>
<body name="other"><joint name="jo" type="ball" range="0 1"/><geom size=".1" name="go"/>
<body name="leaf"><joint name="jl" type="slide"/><geom size=".01"/></body></body>
<body name="mo" mocap="true" pos="1 1 1"/></worldbody>
<actuator><motor name="a" joint="j"/><general name="al" joint="jl" dyntype="filter"/></actuator>
<keyframe><key name="k" qpos="1 2 1 0 0 0 3" ctrl="4 5" act="6" qvel="1 2 3 4 5 6" mpos="3 2 1"/></keyframe>
</mujoco>"""
OWN = '<body name="q"><joint name="jq" ref="3"/><geom size=".1"/>{}</body>'


def parent(tree: str, rest: str = "", before: str = "", model: str = 'name="m" file="m.xml"') -> str:
    return (
        f'<mujoco model="par">{before}<asset><model {model}/><material name="own"/></asset>'
        f"<worldbody>{tree}</worldbody>{rest}</mujoco>"
    )


@pytest.mark.parametrize(
    "tree",
    [
        '<attach model="m" body="b" prefix="p-"/>',
        '<attach model="m" prefix="p-"/>',
        '<attach model="m" body="other" prefix="p-"/>',
        '<attach model="m" body="leaf" prefix="p-"/>',
        '<attach model="m" body="b" prefix=""/>',
        OWN.format('<frame pos="0 0 1" euler="0 0 90"><attach model="m" body="b" prefix="p-"/></frame>'),
        '<attach model="m" prefix="p-"/>' + OWN.format(""),
        OWN.format("") + '<attach model="m" body="other" prefix="p-"/>',
        '<attach model="m" body="b" prefix="p-"/><attach model="m" body="b" prefix="q-"/>',
        '<attach model="m" body="b" prefix="p-"/><attach model="m" body="b" prefix="p-"/>',
        '<body name="p-b"/><attach model="m" body="b" prefix="p-"/>',
    ],
)
def test_attached(same_as_mujoco, tree):
    same_as_mujoco(parent(tree), assets={"m.xml": SUB})


@pytest.mark.parametrize(
    "tree",
    [
        '<attach model="m" body="world" prefix="x"/>',
        '<replicate count="2" offset="0 0 1"><attach model="m" body="b" prefix="p"/></replicate>',
    ],
)
def test_attached_without_custom_data_and_mocap(same_as_mujoco, tree):
    sub = SUB.replace('mocap="true"', "").replace('mpos="3 2 1"', "")
    before, _, after = sub.partition("<custom>")
    same_as_mujoco(parent(tree), assets={"m.xml": before + after.partition("</custom>")[2]})


@pytest.mark.parametrize("model", ['file="m.xml"', 'name="subm" file="m.xml" content_type="text/xml"'])
def test_name_of_the_model(same_as_mujoco, model):
    same_as_mujoco(parent('<attach model="subm" body="b" prefix="p"/>', model=model), assets={"m.xml": SUB})


def test_settings_and_defaults_of_each_document_are_its_own(same_as_mujoco):
    before = '<compiler boundmass="7" eulerseq="zyx"/><default><geom rgba="0 1 0 1"/><joint damping="9"/></default>'
    tree = '<body childclass="main"><geom size=".3"/><attach model="m" prefix="p-"/></body>'
    tree += '<body euler="10 20 30"><geom size=".01"/></body>'
    sub = SUB.replace('mocap="true"', "").replace('mpos="3 2 1"', "")
    same_as_mujoco(parent(tree, before=before), assets={"m.xml": sub})


def test_classes_are_known_under_the_prefix(same_as_mujoco):
    tree = '<attach model="m" body="b" prefix="p-"/><geom class="p-c1"/>'
    same_as_mujoco(parent(tree), assets={"m.xml": SUB})


@pytest.mark.parametrize("qpos", ["7", "7 8 9", ""])
def test_keys_of_the_parent(same_as_mujoco, qpos):
    rest = f'<actuator><motor joint="jq"/></actuator><keyframe><key name="pk" qpos="{qpos}"/></keyframe>'
    if qpos:
        same_as_mujoco(
            parent(OWN.format("") + '<attach model="m" body="b" prefix="p-"/>', rest), assets={"m.xml": SUB}
        )


def test_elements_of_the_parent_may_refer_to_what_was_attached(same_as_mujoco):
    rest = '<actuator><motor joint="p-jj"/><motor joint="jq"/></actuator>'
    same_as_mujoco(parent('<attach model="m" prefix="p-"/>' + OWN.format(""), rest), assets={"m.xml": SUB})


def test_models_may_attach_models(same_as_mujoco):
    middle = (
        '<mujoco><compiler angle="degree"/><default><geom size=".7"/></default>'
        '<asset><model name="deep" file="m.xml"/></asset>'
        '<worldbody><body name="mid" euler="0 0 30"><geom/><attach model="deep" body="b" prefix="d-"/></body>'
        "</worldbody></mujoco>"
    )
    top = '<mujoco><asset><model name="mid" file="mid.xml"/></asset><worldbody>{}</worldbody></mujoco>'
    for tree in ('<attach model="mid" prefix="t-"/>', '<attach model="mid" body="mid" prefix="t-"/>'):
        same_as_mujoco(top.format(tree), assets={"m.xml": SUB, "mid.xml": middle})


def test_includes_of_a_model_are_found_beside_it(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "m.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    (tmp_path / "sub" / "part.xml").write_text("<x><worldbody><geom name='g' size='1'/></worldbody></x>")
    tree = '<attach model="m" prefix="p-"/>'
    (tmp_path / "p.xml").write_text(parent(tree, model='name="m" file="sub/m.xml"'))
    assert compile_file(tmp_path / "p.xml").names["geom"] == ("p-g",)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ('\n<attach model="m" body="b"/>', "2: <attach>: required attribute 'prefix'"),
        ('\n<attach body="b" prefix="x"/>', "2: <attach>: required attribute 'model'"),
        ('\n<attach model="z" prefix="x"/>', "2: <attach model=\"z\">: unknown model 'z'.*; models: m"),
        ('\n<attach model="m" body="bx" prefix="x"/>', "2: .*has no body 'bx'; did you mean"),
        (
            '\n<body name="p-bb"/><attach model="m" body="b" prefix="p-"/>',
            r"m.xml:\d+: .*'p-bb' is used twice \(first at <string>:2\)",
        ),
    ],
)
def test_refused(tree, message):
    with pytest.raises(MJCFError, match=message):
        compile_text(parent(tree), assets={"m.xml": SUB})


def test_error_inside_a_model_names_its_file():
    with pytest.raises(MJCFError, match=r'm\.xml:1: <geom siz="1">: unknown attribute'):
        compile_text(
            parent('<attach model="m" prefix="p-"/>'),
            assets={"m.xml": "<mujoco><worldbody><geom siz='1'/></worldbody></mujoco>"},
        )


def test_circles_are_refused():
    circle = (
        '<mujoco><asset><model name="m" file="{}.xml"/></asset><worldbody>'
        '<attach model="m" prefix="p"/></worldbody></mujoco>'
    )
    with pytest.raises(MJCFError, match="attaches itself"):
        compile_text(circle.format("a"), assets={"a.xml": circle.format("b"), "b.xml": circle.format("a")})


def test_models_that_double_are_refused_soon():
    double = (
        '<mujoco><asset><model name="m" file="{}.xml"/></asset><worldbody>'
        '<attach model="m" prefix="a"/><attach model="m" prefix="b"/></worldbody></mujoco>'
    )
    assets = {f"{i}.xml": double.format(i - 1) for i in range(1, 30)}
    assets["0.xml"] = '<mujoco><worldbody><geom name="g" size="1"/></worldbody></mujoco>'
    with pytest.raises(MJCFError, match=r"would make .* elements"):
        compile_text(double.format(29), assets=assets)


def test_missing_file_is_an_error_at_the_model(tmp_path):
    (tmp_path / "p.xml").write_text(parent('<attach model="m" prefix="x"/>'))
    with pytest.raises(MJCFError, match=r'p\.xml:1: <model name="m" file="m\.xml">: no such file'):
        compile_file(tmp_path / "p.xml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r'main\.xml:2: <model name="m" file="m\.xml">: no such file'),
        ("<mujoco><worldb", r"m\.xml:1: malformed XML"),
        ("<mujoco>\n<world/></mujoco>", r"m\.xml:2: <world>: unknown element"),
        (
            "<mujoco>\n<worldbody><attach model='q' prefix='p'/></worldbody></mujoco>",
            r"m\.xml:2: .*unknown model 'q'",
        ),
        ("<mujoco>\n<asset><model name='q' file='q.xml'/></asset></mujoco>", r"m\.xml:2: .*no such file"),
    ],
)
@pytest.mark.parametrize("twice", [False, True])
def test_mistakes_in_a_model_that_nothing_attaches(tmp_path, content, message, twice):
    """The second of two models with one name cannot be attached; it is read all the same."""
    good = '<model name="m" file="good.xml"/>' if twice else ""
    (tmp_path / "good.xml").write_text(SUB)
    if content is not None:
        (tmp_path / "m.xml").write_text(content)
    main = tmp_path / "main.xml"
    main.write_text(f'<mujoco><asset>{good}\n<model name="m" file="m.xml"/></asset></mujoco>')
    with pytest.raises(MJCFError, match=message):
        compile_file(main)
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match="could not parse model file"):
        mujoco.MjModel.from_xml_path(str(main))


def test_models_that_nothing_attaches_need_not_compile(same_as_mujoco):
    sub = (
        '<mujoco><worldbody><body><freejoint/><geom size=".1" material="absent"/></body></worldbody></mujoco>'
    )
    same_as_mujoco('<mujoco><asset><model name="m" file="m.xml"/></asset></mujoco>', assets={"m.xml": sub})


def test_unused_models_that_double_are_refused_soon():
    double = (
        '<mujoco><asset><model name="a" file="{0}.xml"/><model name="b" file="{0}.xml"/></asset></mujoco>'
    )
    assets = {f"{i}.xml": double.format(i - 1) for i in range(1, 30)} | {"0.xml": "<mujoco/>"}
    with pytest.raises(MJCFError, match="too many models"):
        compile_text(double.format(29), assets=assets)


def test_asset_root_jails_models(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "m.xml").write_text(SUB)
    (inside / "p.xml").write_text(parent('<attach model="m" prefix="x"/>', model='name="m" file="../m.xml"'))
    assert compile_file(inside / "p.xml").sizes["nbody"] > 1
    with pytest.raises(MJCFError, match="outside asset_root"):
        compile_file(inside / "p.xml", asset_root=inside)


RICH = """<mujoco><worldbody><body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s"/>
<body name="c" pos="1 0 0"><joint name="k"/><geom name="h" size=".1"/><site name="t"/></body></body>
<body name="o"><joint name="jo"/><geom name="go" size=".1"/><site name="so"/></body></worldbody>
<contact><exclude name="e" body1="b" body2="c"/><exclude body1="b" body2="o"/><pair geom1="g" geom2="h"/></contact>
<tendon><spatial name="sp"><site site="s"/><site site="t"/></spatial>
<fixed name="f"><joint joint="j" coef="1"/><joint joint="jo" coef="1"/></fixed></tendon>
<equality><joint name="q" joint1="j" joint2="k"/><joint joint1="jo"/></equality>
<actuator><motor name="m" tendon="sp"/><motor joint="jo"/></actuator>
<sensor><clock name="cl"/><gyro name="gy" site="s"/><framepos objtype="body" objname="b" reftype="site" refname="so"/>
<actuatorfrc actuator="m"/></sensor></mujoco>"""


@pytest.mark.parametrize("body", ["", 'body="b"', 'body="o"'])
def test_elements_that_refer_to_the_attached_part_come_along(body):
    mujoco = pytest.importorskip("mujoco")
    xml, assets = parent(OWN.format(f'<attach model="m" {body} prefix="p-"/>')), {"m.xml": RICH}
    theirs = mujoco.MjModel.from_xml_string(xml, {name: text.encode() for name, text in assets.items()})
    found = comparing.differences(compile_text(xml, assets=assets), theirs)
    assert [line for line in found if not line.startswith(("tendon_length", "eq_data"))] == []
