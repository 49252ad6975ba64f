"""Velocities of actuators and tendons, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import DRIVEN


@pytest.mark.parametrize("how", implementations("transmission_velocity"))
@pytest.mark.parametrize("layout", DRIVEN)
def test_velocities_are_mujocos(layout: str, how: How) -> None:
    assert_mujocos(DRIVEN[layout], "transmission_velocity", how)
