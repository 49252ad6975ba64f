"""Velocities of bodies and rates of motion axes, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from smooth_models import EVERYTHING


@pytest.mark.parametrize("how", implementations("com_velocity"))
def test_velocities_and_rates_of_axes_are_mujocos(how: How) -> None:
    assert_mujocos(EVERYTHING, "com_velocity", how)
