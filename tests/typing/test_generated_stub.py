"""The stub for type checkers says what the declarations say now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import dovetail
from dovetail.contracts import choices
from dovetail.contracts.named import NamedAccess, attributes_of
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS

GENERATOR = Path(__file__).parents[2] / "docs" / "generate_types.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_types", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_current(generate: ModuleType) -> None:
    assert generate.is_current(), "run: python docs/generate_types.py"


def test_every_field_has_its_meaning_in_the_stub(generate: ModuleType) -> None:
    stub = " ".join(generate.stub().split())
    missing = [name for name, spec in {**MODEL_SPECS, **DATA_SPECS}.items() if spec.doc not in stub]
    assert missing == []


@pytest.mark.parametrize("kind", ["body", "joint", "geom", "site", "actuator", "tendon", "sensor", "key"])
def test_what_the_stub_says_of_an_object_is_there(kind: str) -> None:
    model = dovetail.loads(SCENE)
    data = dovetail.make_data(model)
    for owner in (model, data):
        found = getattr(owner, kind)(0)
        for name, (spec, axes) in attributes_of(kind, owner.specs).items():
            assert getattr(found, name).ndim == len(spec.shape) - axes, f"{kind}.{name}"


def test_every_kind_of_object_is_in_the_stub(generate: ModuleType) -> None:
    for kind in (name for name in vars(NamedAccess) if not name.startswith("_")):
        for owner in ("Model", "Data"):
            assert f"def {kind}(self, which: int | str) -> {owner}{kind.capitalize()}" in generate.stub()


def test_words_are_those_that_calls_take() -> None:
    from dovetail.backends.taichi.runtime import ARCHS, RUNTIMES
    from dovetail.mjcf.read.dialects import DIALECTS

    assert get_args(choices.Dialect) == tuple(DIALECTS)
    assert ("auto", *RUNTIMES) == choices.RUNTIMES
    assert ("auto", *ARCHS) == choices.ARCHS


SCENE = """
<mujoco>
  <worldbody>
    <body>
      <joint name="hinge"/>
      <geom size="0.1"/>
      <site name="first"/>
      <site name="second" pos="1 0 0"/>
    </body>
  </worldbody>
  <tendon><spatial><site site="first"/><site site="second"/></spatial></tendon>
  <actuator><motor joint="hinge"/></actuator>
  <sensor><jointpos joint="hinge"/></sensor>
  <keyframe><key/></keyframe>
</mujoco>
"""
