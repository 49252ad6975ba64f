"""Coriolis, centrifugal and gravity forces, by every implementation; tendons with inertia add to them."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import ARMATURE
from smooth_models import EVERYTHING


@pytest.mark.parametrize("how", implementations("bias_force"))
@pytest.mark.parametrize("text", [EVERYTHING, *ARMATURE.values()], ids=["joints", *ARMATURE])
def test_forces_are_mujocos(text: str, how: How) -> None:
    assert_mujocos(text, "bias_force", how)
