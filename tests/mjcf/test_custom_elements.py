"""The `mjcf_element` stage: third parties read elements of their own, directly under `<mujoco>`, and fill Model
fields of their own from them."""

from __future__ import annotations

import attrs
import pytest

import dovetail
from dovetail.config import Config
from dovetail.errors import MJCFError, PluginError
from dovetail.mjcf.elements.custom import NumericItem
from dovetail.planning.planner import compile_plan
from dovetail.plugin import Implementation, model_field
from dovetail.registry import default_registry

XML = '<mujoco><robot kind="arm" anything="goes"><wheel/></robot><worldbody/></mujoco>'


def read_robot(context, node):
    """Keep the number of wheels as a custom number."""
    if node.raw["kind"] != "arm":
        raise node.error("is no arm", "kind")
    context.add_named("numeric", NumericItem(data=(float(len(node.children)),)), "wheels")


def registry_with(key: str):
    registry = attrs.evolve(default_registry(), implementations=list(default_registry().implementations))
    registry.add(
        Implementation(
            stage="mjcf_element", name="robot", backend="numpy", key=key, target=f"{__name__}:read_robot"
        )
    )
    return registry


def test_row_reads_its_element():
    model = dovetail.loads(XML, registry=registry_with("robot"))
    assert model.object_names["numeric"] == ("wheels",)
    assert model.numeric_data.tolist() == [1]


def test_error_of_a_row_has_its_place():
    with pytest.raises(MJCFError, match='<string>:1: <robot kind="leg">: is no arm'):
        dovetail.loads(XML.replace("arm", "leg"), registry=registry_with("robot"))


def test_without_the_row_the_element_is_unknown():
    with pytest.raises(MJCFError, match="<robot>: unknown element in <mujoco>"):
        dovetail.loads(XML)


def test_sections_of_mjcf_are_not_to_be_taken():
    with pytest.raises(PluginError, match="mjcf_element:asset is one of MJCF's own"):
        dovetail.loads(XML, registry=registry_with("asset"))


# Model fields of one's own

COVERED = """<mujoco>
  <cover kind="3"><pad body="arm" stiffness="1 2 3"/></cover>
  <worldbody>
    <body name="base"><geom size=".1"/><body name="arm"><joint/><geom size=".1"/></body></body>
  </worldbody>
</mujoco>"""

STIFFNESS = model_field("acme:stiffness", "nbody", 3, unit="N/m", doc="Stiffness of the cover.", init=0.5)
KIND = model_field("acme:kind", dtype="int32", doc="Make of the cover.")
SHADE = model_field("acme:shade", "ngeom", dtype="float32", doc="Colour of the cover.")


def read_cover(context, node):
    """Take the stiffness of each pad's body, the make, and a shade that needs all geoms to be numbered."""
    context.set_field("acme:kind", int(node.raw.get("kind", 0)), node)
    context.set_field("acme:shade", lambda context: [g.bodyid for g in context.geoms], node)
    for pad in node.children:
        stiffness = [float(text) for text in pad.raw["stiffness"].split()]
        context.set_row("acme:stiffness", "body", pad.raw["body"], stiffness, pad, "body")


def read_wrongly(context, node):
    context.set_field("acme:shad", 1.0, node)


def stiff(model, data):
    """Uses the field as a stage would."""
    data.qfrc_passive[:] += model.extra["acme:stiffness"][-1, 0]


def covered(text=COVERED, reader="read_cover"):
    registry = default_registry().copy()
    said = {"backend": "numpy", "model_fields": (STIFFNESS, KIND, SHADE), "name": "cover"}
    registry.add(Implementation(stage="mjcf_element", key="cover", target=f"{__name__}:{reader}", **said))
    registry.add(Implementation(stage="passive_force", key="cover", target=f"{__name__}:stiff", **said))
    return dovetail.loads(text, registry=registry), registry


def test_a_reader_fills_fields_of_its_own():
    model, _ = covered()
    assert model.extra["acme:stiffness"].tolist() == [[0.5] * 3, [0.5] * 3, [1, 2, 3]]
    assert model.extra["acme:kind"] == 3
    assert model.extra["acme:shade"].tolist() == [1, 2]


def test_a_model_without_the_element_has_the_initial_values():
    model, _ = covered("<mujoco/>")
    assert model.extra["acme:stiffness"].tolist() == [[0.5] * 3]
    assert model.extra["acme:kind"] == 0


def test_a_stage_reads_the_field():
    model, registry = covered()
    plan = compile_plan(model, Config(), registry=registry)
    data = plan.make_data()
    plan.forward(data)
    assert data.qfrc_passive.tolist() == [1]
    model.extra["acme:stiffness"][-1, 0] = 7
    plan.forward(data)
    assert data.qfrc_passive.tolist() == [7]


def test_rows_follow_objects_that_are_numbered_anew():
    fused = COVERED.replace("<mujoco>", '<mujoco><compiler fusestatic="true"/>')
    model, _ = covered(fused)
    assert model.object_names["body"] == ("world", "arm")
    assert model.extra["acme:stiffness"].tolist() == [[0.5] * 3, [1, 2, 3]]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            ('body="arm"', 'body="am"'),
            r'<string>:2: <pad body="am">: unknown body \'am\'; did you mean \'arm\'',
        ),
        (("1 2 3", "1 2"), r"<string>:2: <pad>: acme:stiffness has shape \(2,\), should be \(3,\)"),
        (("1 2 3", "1 2 nan"), r"<string>:2: <pad>: acme:stiffness\[2\] is nan"),
    ],
)
def test_wrong_values_are_told_with_their_place(wrong, text):
    with pytest.raises(MJCFError, match=text):
        covered(COVERED.replace(*wrong))


def test_a_field_that_no_record_declares_is_told_with_its_place():
    with pytest.raises(
        MJCFError, match="<cover>: there is no Model field 'acme:shad'; did you mean 'acme:shade'"
    ):
        covered(reader="read_wrongly")
