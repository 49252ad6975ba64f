"""The `mjcf_element` stage: third parties read elements of their own, directly under `<mujoco>`."""

from __future__ import annotations

import attrs
import pytest

import dovetail
from dovetail.errors import MJCFError, PluginError
from dovetail.implementation import Implementation
from dovetail.mjcf.tree import Numeric
from dovetail.registry import default_registry

XML = '<mujoco><robot kind="arm" anything="goes"><wheel/></robot><worldbody/></mujoco>'


def read_robot(context, node):
    """Keep the number of wheels as a custom number."""
    if node.raw["kind"] != "arm":
        raise node.error("is no arm", "kind")
    context.add_named("numeric", Numeric(data=(float(len(node.children)),)), "wheels")


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
