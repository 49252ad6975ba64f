"""Forces without constraints and what they accelerate, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from smooth_models import EVERYTHING


@pytest.mark.parametrize("how", implementations("smooth_acceleration"))
def test_forces_and_accelerations_are_mujocos(how: How) -> None:
    assert_mujocos(EVERYTHING, "smooth_acceleration", how)
