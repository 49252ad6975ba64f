"""Dialects: each older spelling is accepted by `legacy` alone, with a warning that names the modern one."""

from __future__ import annotations

import warnings

import pytest

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf import compile_text

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


@pytest.mark.parametrize(("written", "meant"), [(2, 3), (5, 6)])
def test_condim_is_rounded_up(written, meant):
    compiled = legacy(GEOM.format(written), rf'<string>:2: <geom name="g" .*condim {written} .*write {meant}')
    assert compiled.values["geom_condim"].tolist() == [meant]


def test_other_condims_are_refused():
    with pytest.raises(MJCFError, match="condim 7 does not exist"):
        compile_text(GEOM.format(7), dialect="legacy")


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
