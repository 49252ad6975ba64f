"""Momenta of subtrees, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import SENSORS


@pytest.mark.parametrize("how", implementations("subtree_velocity"))
def test_momenta_are_mujocos(how: How) -> None:
    assert_mujocos(SENSORS, "subtree_velocity", how)
