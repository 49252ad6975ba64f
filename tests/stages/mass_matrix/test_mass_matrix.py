"""The mass matrix in both of MuJoCo's layouts, by every implementation; tendons may add to it."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import ARMATURE
from smooth_models import EVERYTHING


@pytest.mark.parametrize("how", implementations("mass_matrix"))
@pytest.mark.parametrize("text", [EVERYTHING, *ARMATURE.values()], ids=["joints", *ARMATURE])
def test_the_matrix_is_mujocos(text: str, how: How) -> None:
    assert_mujocos(text, "mass_matrix", how)
