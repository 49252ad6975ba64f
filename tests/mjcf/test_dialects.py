"""Dialects: each older spelling is accepted by `legacy` alone, with a warning that names the modern one."""

from __future__ import annotations

import warnings

import pytest
from compiling import compile_text

import dovetail
from dovetail.errors import MJCFError

GEOM = "<mujoco><worldbody>\n<geom name='g' size='1' condim='{}'/></worldbody></mujoco>"
MESH = (
    "<mujoco><compiler {compiler}/><asset><mesh name='m' {mesh} vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
    "<worldbody><geom type='mesh' mesh='m' {geom}/></worldbody></mujoco>"
)


def legacy(xml: str, warning: str):
    """The legacy model, which must warn, and which the default dialect must refuse."""
    with pytest.raises(MJCFError):
        compile_text(xml)
    with pytest.warns(DeprecationWarning, match=warning):
        return compile_text(xml, dialect="legacy")


@pytest.mark.parametrize(("written", "meant"), [(2, 3), (5, 6), (7, 6), (100, 6)])
def test_condim_becomes_one_that_exists(written, meant):
    compiled = legacy(GEOM.format(written), rf'<string>:2: <geom name="g" .*condim {written} .*write {meant}')
    assert compiled.values["geom_condim"].tolist() == [meant]


def test_condims_of_classes_and_pairs_too():
    bodies = "<body><geom name='{}' size='1'/></body>"
    xml = (
        "<mujoco><default>\n<geom condim='9'/></default><worldbody>"
        + bodies.format("a")
        + bodies.format("b")
        + "</worldbody><contact>\n<pair geom1='a' geom2='b' condim='8'/></contact></mujoco>"
    )
    warned = legacy_warning(xml)
    assert ["<string>:2: " in warned[0], "<string>:3: " in warned[1]] == [True, True]
    with pytest.warns(DeprecationWarning, match="condim"):
        values = compile_text(xml, dialect="legacy").values
    assert (values["geom_condim"].tolist(), values["pair_dim"].tolist()) == ([6, 6], [6])


@pytest.mark.parametrize("written", [0, -1])
def test_other_condims_are_refused(written):
    with pytest.raises(MJCFError, match=f"condim {written} does not exist"):
        compile_text(GEOM.format(written), dialect="legacy")


def test_modern_documents_raise_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_text(GEOM.format(3), dialect="legacy")


def test_unknown_dialect():
    with pytest.raises(ValueError, match="unknown dialect 'legcy'; did you mean 'legacy'"):
        dovetail.loads(GEOM.format(3), dialect="legcy")


def test_dialect_reaches_attached_models():
    main = "<mujoco><asset><model name='m' file='m.xml'/></asset><worldbody>{}</worldbody></mujoco>"
    with pytest.warns(DeprecationWarning, match=r"m\.xml:2: "):
        compiled = compile_text(
            main.format("<attach model='m' prefix='p'/>"), assets={"m.xml": GEOM.format(2)}, dialect="legacy"
        )
    assert compiled.values["geom_condim"].tolist() == [3]


def test_exactmeshinertia_makes_exact_the_default():
    xml = MESH.format(compiler="exactmeshinertia='true'", mesh="", geom="")
    assert "inertia=.exact" in str(legacy_warning(xml))
    exact = compile_text(MESH.format(compiler="", mesh="inertia='exact'", geom=""))
    compiled = legacy(xml, "exactmeshinertia is an older spelling")
    assert compiled.values["body_mass"].tolist() == exact.values["body_mass"].tolist()
    own = MESH.format(compiler="exactmeshinertia='true'", mesh="inertia='shell'", geom="")
    shell = compile_text(MESH.format(compiler="", mesh="inertia='shell'", geom=""))
    assert legacy(own, "older").values["mesh_pos"].tolist() == shell.values["mesh_pos"].tolist()


def legacy_warning(xml: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_text(xml, dialect="legacy")
    return [str(warning.message).replace('"', ".") for warning in caught]


def test_shellinertia_on_a_mesh_geom_is_that_of_the_mesh():
    xml = MESH.format(compiler="", mesh="", geom="shellinertia='true'")
    shell = compile_text(MESH.format(compiler="", mesh="inertia='shell'", geom=""))
    compiled = legacy(xml, 'shellinertia on a mesh geom .*write <mesh inertia="shell">')
    assert compiled.values["mesh_pos"].tolist() == shell.values["mesh_pos"].tolist()


def test_inertia_of_the_mesh_wins_over_shellinertia():
    xml = MESH.format(compiler="", mesh="inertia='exact'", geom="shellinertia='true'")
    exact = compile_text(MESH.format(compiler="", mesh="inertia='exact'", geom=""))
    assert legacy(xml, "older spelling").values["mesh_pos"].tolist() == exact.values["mesh_pos"].tolist()


CLASSES = """<mujoco>
<default><geom {main}/><default class="hollow"><geom {hollow}/><default class="inner"><geom/></default></default>
<default class="solid"><geom shellinertia="false"/></default></default>
<asset><mesh name="m" {mesh} vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><body {body}><frame {frame}>
<geom type="mesh" mesh="m" {geom}/></frame></body></worldbody></mujoco>"""
NOTHING = dict.fromkeys(("main", "hollow", "mesh", "body", "frame", "geom"), "")
HOLLOW = 'shellinertia="true"'
INHERITED = {
    "main": {"main": HOLLOW},
    "class": {"hollow": HOLLOW, "geom": 'class="hollow"'},
    "class of a class": {"hollow": HOLLOW, "geom": 'class="inner"'},
    "childclass": {"hollow": HOLLOW, "body": 'childclass="hollow"'},
    "childclass of a frame": {"hollow": HOLLOW, "body": 'childclass="solid"', "frame": 'childclass="inner"'},
}
"""Where a mesh geom may get its shellinertia from."""


@pytest.mark.parametrize("place", INHERITED)
def test_shellinertia_of_a_class_is_that_of_the_mesh(place):
    shell = compile_text(CLASSES.format(**{**NOTHING, "mesh": 'inertia="shell"'}))
    xml = CLASSES.format(**{**NOTHING, **INHERITED[place]})
    compiled = legacy(xml, r'<string>:6: <geom mesh="m">: shellinertia on a mesh geom .*inertia="shell"')
    assert compiled.values["mesh_pos"].tolist() == shell.values["mesh_pos"].tolist()
    assert compiled.values["body_mass"].tolist() == shell.values["body_mass"].tolist()


NOT_INHERITED = {
    "another class": {"hollow": HOLLOW, "geom": 'class="solid"'},
    "no class": {"hollow": HOLLOW},
    "its own": {"main": HOLLOW, "geom": 'class="solid"'},
    "class beats childclass": {"hollow": HOLLOW, "body": 'childclass="hollow"', "geom": 'class="solid"'},
    "frame beats body": {"hollow": HOLLOW, "body": 'childclass="hollow"', "frame": 'childclass="solid"'},
}


@pytest.mark.parametrize("place", NOT_INHERITED)
def test_shellinertia_of_other_classes_says_nothing(place):
    solid = compile_text(CLASSES.format(**NOTHING))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_text(CLASSES.format(**{**NOTHING, **NOT_INHERITED[place]}), dialect="legacy")
    assert compiled.values["mesh_pos"].tolist() == solid.values["mesh_pos"].tolist()


def test_inertia_of_the_mesh_wins_over_a_class():
    xml = CLASSES.format(**{**NOTHING, "main": HOLLOW, "mesh": 'inertia="exact"'})
    exact = compile_text(CLASSES.format(**{**NOTHING, "mesh": 'inertia="exact"'}))
    assert legacy(xml, "shellinertia").values["mesh_pos"].tolist() == exact.values["mesh_pos"].tolist()


def test_shellinertia_of_a_class_stays_for_primitives():
    xml = CLASSES.format(**{**NOTHING, "main": HOLLOW}).replace(
        "<frame", '<geom type="sphere" size="1"/><frame'
    )
    compiled = legacy(xml, "shellinertia on a mesh geom")
    area = (3 + 3**0.5) / 2
    assert compiled.values["body_mass"][1] == pytest.approx(1000 * (4 * 3.141592653589793 + area))


LINE = (
    "<mujoco><asset>\n<mesh name='line' {} vertex='0 0 0 .01 0 0 .02 0 0 .03 0 0' face='0 1 2 1 2 3'/></asset>"
    "<worldbody><body><geom type='mesh' mesh='line' mass='3'/></body></worldbody></mujoco>"
)


@pytest.mark.parametrize("mode", ["", "inertia='shell'", "inertia='convex'", "inertia='exact'"])
def test_mesh_without_area_has_the_inertia_of_its_bounding_box(mode):
    compiled = legacy(LINE.format(mode), '<string>:2: <mesh name="line">: a mesh without area .*bounding box')
    assert compiled.values["body_mass"][1] == 3
    assert compiled.values["body_ipos"][1] == pytest.approx([0.015, 0, 0])
    rod = 3 * 0.03**2 / 12
    assert sorted(compiled.values["body_inertia"][1]) == pytest.approx([0, rod, rod], rel=1e-6, abs=1e-10)
    with pytest.warns(DeprecationWarning, match="without area"):
        model = dovetail.loads(LINE.format(mode), dialect="legacy")
    assert model.body_mass[1] == 3


def test_flat_shell_is_no_box():
    flat = FLAT.replace("<mesh name", "<mesh inertia='shell' name").replace(
        "<geom", "<geom contype='0' conaffinity='0'"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_text(flat, dialect="legacy")
    assert (
        compiled.values["body_inertia"][1].tolist() == compile_text(flat).values["body_inertia"][1].tolist()
    )


def test_mesh_in_one_point_is_refused():
    point = LINE.replace(".01", "0").replace(".02", "0").replace(".03", "0").format("")
    with (
        pytest.raises(MJCFError, match="all vertices are in one place"),
        pytest.warns(DeprecationWarning, match="without area"),
    ):
        compile_text(point, dialect="legacy")


FLAT = (
    "<mujoco><asset><mesh name='flat' vertex='0 0 0 2 0 0 2 1 0 0 1 0' face='0 1 2 0 2 3'/></asset>"
    "<worldbody><body><geom type='mesh' mesh='flat' mass='3'/></body></worldbody></mujoco>"
)


def test_flat_mesh_has_the_inertia_of_its_bounding_box():
    compiled = legacy(FLAT, 'a mesh without volume .*write inertia="shell"')
    assert compiled.values["body_mass"][1] == 3
    assert compiled.values["body_ipos"][1] == pytest.approx([1, 0.5, 0])
    assert sorted(compiled.values["body_inertia"][1]) == pytest.approx([3 / 12, 1, 15 / 12], rel=1e-6)


FLEX = (
    "<mujoco><worldbody><body name='a'/><body name='b' pos='1 0 0'/><body name='c' pos='0 1 0'/></worldbody>"
    "<deformable><flex name='f' dim='2' radius='.01' body='a b c' {attributes}>{children}</flex>"
    "</deformable></mujoco>"
)
MODERN_FLEX = FLEX.format(attributes="element='0 1 2'", children="")


def flex_fields(compiled) -> dict:
    return {name: value.tolist() for name, value in compiled.values.items() if name.startswith("flex")}


def test_flex_elements_as_a_child():
    compiled = legacy(
        FLEX.format(attributes="", children="\n<element data='0 1 2'/>"),
        r"2: <element data=.*<element data> in <flex> is an older spelling; write the attribute element",
    )
    assert flex_fields(compiled) == flex_fields(compile_text(MODERN_FLEX))


def test_flex_vertices_as_a_child():
    text = FLEX.replace("body='a b c'", "body='a'")
    points = "0 0 0 1 0 0 0 1 0"
    compiled = legacy(
        text.format(attributes="element='0 1 2'", children=f"<vertex pos='{points}'/>"),
        "<vertex pos> in <flex>",
    )
    modern = compile_text(text.format(attributes=f"element='0 1 2' vertex='{points}'", children=""))
    assert flex_fields(compiled) == flex_fields(modern)


def test_flex_pins_belong_to_the_world():
    compiled = legacy(
        FLEX.format(attributes="element='0 1 2'", children="<pin id='1'/>"),
        "<pin> in <flex> is an older spelling",
    )
    modern = compile_text(MODERN_FLEX.replace("a b c", "a world c"))
    assert flex_fields(compiled) == flex_fields(modern)


@pytest.mark.parametrize("attribute", ["friction='.5'", "selfcollide='none'", "young='1e4'", "damping='3'"])
def test_contact_and_elasticity_on_a_flex_are_ignored(attribute):
    compiled = legacy(
        FLEX.format(attributes=f"element='0 1 2' {attribute}", children=""),
        "which is ignored, is an older spelling",
    )
    assert flex_fields(compiled) == flex_fields(compile_text(MODERN_FLEX))
