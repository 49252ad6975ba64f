"""Momenta of subtrees, by every implementation."""

from __future__ import annotations

import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import SENSORS


@pytest.mark.parametrize("how", implementations("subtree_velocity"))
def test_momenta_are_mujocos(how: How) -> None:
    assert_mujocos(SENSORS, "subtree_velocity", how)


EMPTY = """<mujoco><worldbody><body name="empty" pos="1 0 0"/><body name="still" pos="0 2 0"><geom size=".1"/></body>
  <body pos="0 0 9"><freejoint/><geom size=".1"/><body name="tip"/></body></worldbody>
  <sensor><subtreelinvel body="empty"/><subtreelinvel body="still"/><subtreeangmom body="tip"/></sensor></mujoco>"""


@pytest.mark.parametrize("how", implementations("subtree_velocity"))
def test_momenta_of_massless_and_static_subtrees_are_mujocos(how: How) -> None:
    assert_mujocos(EMPTY, "subtree_velocity", how)
