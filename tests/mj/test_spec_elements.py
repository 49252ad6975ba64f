"""Every kind of element, added to a spec: the drop-in compiles the model that MuJoCo's MjSpec does."""

from __future__ import annotations

import mujoco
import pytest
from mj.spec_cases import ARM, CASES, TOLERANCES
from mj.spec_pair import model_differences, run, same

import dovetail.mj


@pytest.mark.parametrize("name", CASES)
def test_a_spec_compiles_to_the_model_that_mujoco_makes(name: str) -> None:
    same(CASES[name], TOLERANCES.get(name, 1e-10))


@pytest.mark.parametrize("name", [name for name in CASES if name != "textures and materials"])
def test_the_text_of_a_spec_compiles_to_the_same_model_in_both(name: str) -> None:
    spec = run(CASES[name], dovetail.mj)["spec"]
    model, text = spec.compile(), spec.to_xml()
    assert model_differences(mujoco.MjModel.from_xml_string(text), model, TOLERANCES.get(name, 1e-10)) == []
    again = dovetail.mj.MjSpec.from_string(text)
    assert model_differences(model, again.compile(), 1e-12) == []
    assert again.to_xml() == text


def test_the_bytes_of_an_image_have_no_place_in_a_text() -> None:
    spec = run(CASES["textures and materials"], dovetail.mj)["spec"]
    with pytest.raises(dovetail.mj.spec.problems.SpecError, match="save it as a file"):
        spec.to_xml()


def test_numbers_of_an_equality_that_mjcf_cannot_say_are_compiled() -> None:
    _, ours = same(
        ARM + "spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1='joint', data=np.arange(11.0))"
    )
    assert ours["model"].eq_data[0].tolist() == [*range(11)]
