"""Acceptance of flexes, criterion by criterion, as written or as MuJoCo 3.4.0 has it. Numbers are MuJoCo's, live.

    children of a flex (27B)
    1  `<contact>`                         here; friction has three numbers, selfcollide is its keyword's number
    2  `<elasticity>`                      here; the Model keeps damping, the rest is in the stiffness of the elements
    3  `<edge>`                            here; stiffness is only for dim 1, others are refused
    4  `<contact>` of a flexcomp           here
    5  `<elasticity>` of a flexcomp        here; as for 2
    6  friction of one and of three        here; all three are kept
    7  defaults                            here
    8  attributes at the flex itself       here; they are refused, as by MuJoCo, not ignored
    9  keywords of selfcollide             here; each has its number, and decides which pairs are tested
    10 existing tests                      the suite

    edges (27C)
    1  springs                             here
    2  dampers                             here
    3  nothing without them                here
    4  pinned vertices                     here
    5  softness is the equality's          here: no function derives it from the material
    6  no such field in the Model          here
    7  the two mechanisms are explained    here: docs/explanation/flexes.md
    8  forces do not touch the rows        here; and the suite

    bodies of a flex (27D)
    1  names become ids                    here
    2  vertices share dofs                 here
    3  their address is the body's         here; body_dofadr of flex_vertbodyid, there is no table of its own
    4  nodes                               here; they interpolate, beside vertices: flex_nodebodyid
    5  group                               here
    6  wrong number of bodies              here
    7  flexcomps                           here
    8  existing tests                      the suite

Direct `<flex>` has its vertices, elements and bodies as attributes; there are no children of these names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import ConstraintType, FlexSelf
from dovetail.contracts.types import MODEL_SPECS
from dovetail.errors import MJCFError

mujoco = pytest.importorskip("mujoco")

BODIES = "".join(
    f'<body name="b{i}" pos="{i % 2} {i // 2} 0"><freejoint/><geom size=".1"/></body>' for i in range(3)
)
TRIANGLE = 'name="f" dim="2" body="b0 b1 b2" element="0 1 2"'


def direct(attributes: str = TRIANGLE, content: str = "", bodies: str = BODIES) -> str:
    return (
        f"<mujoco>\n<worldbody>{bodies}</worldbody><deformable>\n"
        f"<flex {attributes}>{content}</flex></deformable></mujoco>"
    )


def generated(content: str, attributes: str = 'type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1"') -> str:
    return f'<mujoco>\n<worldbody>\n<flexcomp name="f" {attributes}>{content}</flexcomp></worldbody></mujoco>'


def loaded(xml: str) -> Any:
    """Our Model; every field of flexes is MuJoCo's."""
    model, theirs = dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml)
    for name in MODEL_SPECS:
        if name.startswith("flex") and name != "flex_vert0":
            expected = np.asarray(getattr(theirs, name))
            found = np.asarray(model.field(name)).reshape(expected.shape)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12, err_msg=name)
    return model


def refused(xml: str, line: int = 3) -> str:
    """What is said about a model that MuJoCo refuses too."""
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(MJCFError) as caught:
        dovetail.loads(xml)
    assert caught.value.line == line
    return str(caught.value)


# ---- 27B: children


def test_27b_1_contact_of_a_flex() -> None:
    """As written, but for friction, which has three numbers, and selfcollide, which keeps its keyword."""
    content = (
        '<contact priority="2" solmix="3.0" gap="0.01" friction="0.5" condim="4" margin="0.02" '
        'selfcollide="bvh"/>'
    )
    model = loaded(direct(content=content))
    assert model.flex_priority[0] == 2
    assert model.flex_solmix[0] == 3.0
    assert model.flex_gap[0] == 0.01
    assert model.flex_friction[0].tolist() == [0.5, 0.005, 0.0001]
    assert model.flex_condim[0] == 4
    assert model.flex_margin[0] == 0.02
    assert model.flex_selfcollide[0] == FlexSelf.BVH


def test_27b_2_elasticity_of_a_flex() -> None:
    """Corrected: young, poisson and thickness are not kept, their effect is: the stiffness of each element."""
    written = '<elasticity young="5e5" poisson="0.3" damping="0.01" thickness="0.002" elastic2d="stretch"/>'
    model = loaded(direct(content=written))
    assert model.flex_damping[0] == 0.01
    stiffness = np.array(model.flex_stiffness)
    assert stiffness.any()
    for other, times in (('young="1e6"', 2.0), ('thickness="0.004"', 2.0)):
        name = other.partition("=")[0]
        old = next(part for part in written.split() if part.startswith(name))
        again = loaded(direct(content=written.replace(old, other)))
        np.testing.assert_allclose(again.flex_stiffness, times * stiffness, rtol=1e-12)
    assert not np.allclose(loaded(direct(content=written.replace("0.3", "0.1"))).flex_stiffness, stiffness)


def test_27b_3_edge_of_a_flex() -> None:
    """Corrected: stiffness with dim 1 only, as MuJoCo has it."""
    content = '<edge stiffness="100" damping="0.5"/>'
    line = 'dim="1" body="b0 b1 b2" element="0 1 1 2"'
    model = loaded(direct(line, content))
    assert model.flex_edgestiffness[0] == 100.0
    assert model.flex_edgedamping[0] == 0.5
    assert "edge stiffness is only possible with dim 1" in refused(direct(content=content))
    assert loaded(direct(content='<edge damping="0.5"/>')).flex_edgedamping[0] == 0.5


def test_27b_4_contact_of_a_flexcomp() -> None:
    model = loaded(generated('<contact priority="1" gap="0.005"/>'))
    assert model.flex_priority[0] == 1
    assert model.flex_gap[0] == 0.005


def test_27b_5_elasticity_of_a_flexcomp() -> None:
    """Corrected as for 27B.2; a sheet without elastic2d has none, a solid always."""
    sheet = '<elasticity young="2e5" thickness=".01" elastic2d="{}"/>'
    assert loaded(generated(sheet.format("stretch"))).flex_stiffness.any()
    assert not loaded(generated(sheet.format("none"))).flex_stiffness.any()
    solid = 'type="grid" dim="3" count="2 2 2" spacing=".1 .1 .1"'
    one, two = (loaded(generated(f'<elasticity young="{young}"/>', solid)) for young in ("2e5", "4e5"))
    np.testing.assert_allclose(2 * one.flex_stiffness, two.flex_stiffness, rtol=1e-12)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("0.8 0.005 0.0001", [0.8, 0.005, 0.0001]),
        ("0.8 0.1 0.2", [0.8, 0.1, 0.2]),
        ("0.5", [0.5, 0.005, 0.0001]),
    ],
)
def test_27b_6_friction_of_one_and_of_three(written: str, kept: list[float]) -> None:
    """Beyond the criterion, which keeps the first number only."""
    assert loaded(direct(content=f'<contact friction="{written}"/>')).flex_friction[0].tolist() == kept


@pytest.mark.parametrize("xml", [direct(), generated("")], ids=["flex", "flexcomp"])
def test_27b_7_defaults(xml: str) -> None:
    """selfcollide is auto; young 0 shows in the stiffness."""
    model = loaded(xml)
    found = {
        name: np.asarray(model.field(f"flex_{name}")).reshape(-1).tolist()
        for name in (
            *("priority", "solmix", "gap", "friction", "condim", "margin", "solref", "solimp", "selfcollide"),
            *("damping", "edgestiffness", "edgedamping"),
        )
    }
    assert found == {
        "priority": [0],
        "solmix": [1.0],
        "gap": [0.0],
        "friction": [1.0, 0.005, 0.0001],
        "condim": [3],
        "margin": [0.0],
        "solref": [0.02, 1.0],
        "solimp": [0.9, 0.95, 0.001, 0.5, 2.0],
        "selfcollide": [4],
        "damping": [0.0],
        "edgestiffness": [0.0],
        "edgedamping": [0.0],
    }
    assert not model.flex_stiffness.any()
    assert not model.flex_bending.any()


@pytest.mark.parametrize(
    "attribute", ['young="5e5"', 'friction="0.5"', 'selfcollide="none"', 'density="100"']
)
def test_27b_8_attributes_of_children_at_the_flex_itself(attribute: str) -> None:
    """Corrected: MuJoCo does not ignore them, it refuses them; so do we, and name the attribute."""
    for xml in (direct(f"{TRIANGLE} {attribute}"), generated("").replace("name=", f"{attribute} name=")):
        assert attribute.partition("=")[0] in refused(xml)


def test_27b_9_keywords_of_selfcollide() -> None:
    """Corrected: the Model has the keyword's number, since each mode has its own order of contacts."""
    for number, keyword in enumerate(("none", "narrow", "bvh", "sap", "auto")):
        model = loaded(direct(content=f'<contact selfcollide="{keyword}"/>'))
        assert model.flex_selfcollide[0] == number == FlexSelf[keyword.upper()]
    assert loaded(direct()).flex_selfcollide[0] == FlexSelf.AUTO
    assert "selfcollide" in refused(direct(content='<contact selfcollide="true"/>'))


# ---- 27C: edges

ROPE = (
    '<mujoco><option gravity="0 0 0"><flag contact="disable"/></option><worldbody>\n'
    '<flexcomp name="f" type="grid" dim="1" count="{count} 1 1" spacing=".1 .1 .1" radius=".01">{content}'
    "</flexcomp></worldbody></mujoco>"
)


def evaluated(
    content: str, qpos: dict[int, float] | None = None, qvel: dict[int, float] | None = None, count: int = 2
) -> dovetail.Data:
    """A rope along x, evaluated with some dofs moved; its forces are MuJoCo's."""
    xml = ROPE.format(content=content, count=count)
    theirs = mujoco.MjModel.from_xml_string(xml)
    model = dovetail.loads(xml)
    oracle, data = mujoco.MjData(theirs), dovetail.make_data(model)
    for field, values in (("qpos", qpos or {}), ("qvel", qvel or {})):
        for dof, value in values.items():
            getattr(oracle, field)[dof] = getattr(data, field)[dof] = value
    mujoco.mj_forward(theirs, oracle)
    dovetail.forward(model, data)
    for name in ("qfrc_spring", "qfrc_damper", "qfrc_passive", "qacc"):
        np.testing.assert_allclose(data.field(name), getattr(oracle, name), rtol=1e-10, atol=1e-12)
    return data


def test_27c_1_springs_of_edges() -> None:
    data = evaluated('<edge stiffness="100"/>', qpos={3: 0.01})
    force = 100.0 * (0.1 - 1.1 * 0.1)
    np.testing.assert_allclose(data.qfrc_passive, [-force, 0, 0, force, 0, 0], atol=1e-12)
    np.testing.assert_allclose(data.qfrc_spring, data.qfrc_passive)


def test_27c_2_dampers_of_edges() -> None:
    data = evaluated('<edge damping="10"/>', qvel={0: -0.5, 3: 1.0, 4: 7.0})
    np.testing.assert_allclose(data.qfrc_passive, [15, 0, 0, -15, 0, 0], atol=1e-12)
    np.testing.assert_allclose(data.qfrc_damper, data.qfrc_passive)
    np.testing.assert_allclose(data.flexedge_velocity, [1.5])


@pytest.mark.parametrize("content", ["", "<edge/>", '<edge stiffness="0" damping="0"/>'])
def test_27c_3_no_force_without_stiffness_and_damping(content: str) -> None:
    data = evaluated(content, qpos={3: 0.01}, qvel={3: 1.0})
    assert not np.asarray(data.qfrc_passive).any()


def test_27c_4_pinned_vertices() -> None:
    """The edge between two pinned ones cannot change; at one pinned, the other is pulled alone."""
    data = evaluated(
        '<edge stiffness="100" damping="3"/><pin id="0 1"/>', qpos={0: 0.02}, qvel={0: 1.0}, count=3
    )
    assert data.model.flexedge_rigid.tolist() == [1, 0]
    assert data.model.nv == 3
    np.testing.assert_allclose(data.qfrc_passive, [-100 * 0.02 - 3, 0, 0], atol=1e-12)


def test_27c_5_softness_of_edge_rows_is_the_equalitys() -> None:
    """Corrected: nothing to rename; neither the material nor the contacts have a say in edge rows."""
    edge = '<edge equality="true" solref="{}" damping=".1"/><contact solref="{}"/>'

    def reference(own: str, contact: str) -> Any:
        data = evaluated(edge.format(own, contact), qpos={3: 0.01})
        assert data.efc_type[: data.nefc].tolist() == [ConstraintType.EQUALITY]
        return np.array(data.efc_aref[: data.nefc])

    assert reference("0.05 1", "0.02 1") == reference("0.05 1", "0.3 1")
    assert reference("0.05 1", "0.02 1") != reference("0.1 1", "0.02 1")


def test_27c_6_no_field_derives_softness_from_the_material() -> None:
    assert "flex_edge_solref" not in MODEL_SPECS
    for name, spec in MODEL_SPECS.items():
        if name.startswith(("flex", "eq_")) and "solref" in name:
            assert "young" not in spec.doc.lower()


def test_27c_7_the_two_mechanisms_are_explained() -> None:
    text = (ROOT / "docs" / "explanation" / "flexes.md").read_text()
    assert "**Passive springs and dampers**" in text
    assert "**Equality rows**" in text


ROOT = Path(__file__).resolve().parents[2]


def test_27c_8_forces_of_edges_do_not_touch_their_rows() -> None:
    held = '<edge equality="true" {}/>'
    plain, sprung = (
        evaluated(held.format(more), qpos={3: 0.01}, qvel={3: 0.3})
        for more in ("", 'stiffness="50" damping="2"')
    )
    for name in ("efc_J", "efc_pos", "efc_D", "efc_aref"):
        np.testing.assert_array_equal(plain.field(name)[:1], sprung.field(name)[:1])
    assert not np.asarray(plain.qfrc_passive).any()
    assert np.asarray(sprung.qfrc_passive).any()


# ---- 27D: bodies

CORNERS = "".join(
    f'<body name="c{i}" pos="{i} 0 0">{joint}<geom size=".1"/></body>'
    for i, joint in enumerate(("<freejoint/>", '<joint axis="0 1 0"/>', '<joint type="ball"/>'))
)


def shared() -> Any:
    vertices = "0 0 0 0 0 .2 0 .3 0 0 0 .4 .1 0 0"
    return loaded(
        direct(f'dim="2" body="c0 c0 c1 c2 c1" vertex="{vertices}" element="0 1 2 1 3 4"', bodies=CORNERS)
    )


def test_27d_1_names_become_ids() -> None:
    model = loaded(direct('dim="2" body="b2 b0 b1" element="0 1 2"'))
    assert model.flex_vertbodyid.tolist() == [3, 1, 2]
    assert "unknown body 'b9'" in refused(direct('dim="2" body="b2 b9 b1" element="0 1 2"'))


def test_27d_2_vertices_of_a_body_share_its_dofs() -> None:
    model = shared()
    assert model.flex_vertbodyid.tolist() == [1, 1, 2, 3, 2]
    assert model.nv == 6 + 1 + 3


def test_27d_3_address_of_shared_dofs() -> None:
    """Corrected: vertices have no dofs of their own, they move with their body."""
    model = shared()
    assert model.body_dofadr[model.flex_vertbodyid].tolist() == [0, 0, 6, 7, 6]


def test_27d_4_nodes() -> None:
    """Corrected: nodes interpolate, 8 or 27 of them, and vertices are given beside; these have no body then."""
    bodies = "".join(
        f'<body name="n{i}" pos="{i // 4} {i // 2 % 2} {i % 2}"><joint type="slide"/><geom size=".1"/></body>'
        for i in range(8)
    )
    names = " ".join(f"n{i}" for i in range(8))
    model = loaded(
        direct(
            f'dim="3" node="{names}" body="world world world world" vertex="0 0 0 1 0 0 0 1 0 0 0 1" '
            'element="0 1 2 3"',
            '<contact selfcollide="none"/>',
            bodies,
        )
    )
    assert model.flex_nodebodyid.tolist() == list(range(1, 9))
    assert model.flex_vertbodyid.tolist() == [-1] * 4
    assert model.flex_interp.tolist() == [1]
    np.testing.assert_allclose(model.flex_node0, model.body_pos[1:])


def test_27d_5_group() -> None:
    assert loaded(direct(f'{TRIANGLE} group="3"')).flex_group.tolist() == [3]
    assert loaded(direct()).flex_group.tolist() == [0]


def test_27d_6_wrong_number_of_bodies() -> None:
    """MuJoCo 3.4.0 takes it, and the bodies that are not there from beyond its list."""
    xml = direct('dim="1" body="b0 b1" vertex="0 0 0 1 0 0 2 0 0" element="0 1"')
    with pytest.raises(MJCFError, match="there are 3 vertices but 2 bodies; name one body, or 3") as caught:
        dovetail.loads(xml)
    assert caught.value.line == 3


def test_27d_7_flexcomps_have_a_body_for_each_vertex() -> None:
    model = loaded(generated(""))
    assert model.flex_vertbodyid.tolist() == list(range(1, 10))
    assert model.nv == 3 * 9
    assert model.body_dofadr[model.flex_vertbodyid].tolist() == list(range(0, 27, 3))
