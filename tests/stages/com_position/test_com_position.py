"""Centres of mass, inertias about them and motion axes, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from smooth_models import EVERYTHING


@pytest.mark.parametrize("how", implementations("com_position"))
def test_centres_inertias_and_motion_axes_are_mujocos(how: How) -> None:
    assert_mujocos(EVERYTHING, "com_position", how)
