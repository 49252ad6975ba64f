"""Where the gap of a contact lies: found and pushing distances, on both backends."""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.plugins.contact_range import inner_gap_numpy, outer_gap_numpy

RULES = {"inner_gap": inner_gap_numpy, "outer_gap": outer_gap_numpy}

BALL = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <geom type="plane" size="1 1 1" margin=".02" gap=".005"/>
  <body pos="0 0 {height}"><freejoint/><geom size=".1" margin=".02" gap=".005"/></body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize(("rule", "found", "pushes"), [("inner_gap", 3.0, 2.0), ("outer_gap", 4.0, 3.0)])
def test_distances_follow_from_margin_and_gap(rule: str, found: float, pushes: float) -> None:
    ranges = RULES[rule].contact_range(np.array([3.0]), np.array([1.0]))
    assert [float(one[0]) for one in ranges] == [found, pushes]


@pytest.mark.parametrize("backend", ["numpy", LANES])
@pytest.mark.parametrize(
    ("rule", "distance", "contacts", "rows"),
    [
        ("inner_gap", 0.012, 1, 4),
        ("inner_gap", 0.018, 1, 0),
        ("inner_gap", 0.022, 0, 0),
        ("outer_gap", 0.018, 1, 4),
        ("outer_gap", 0.022, 1, 0),
        ("outer_gap", 0.028, 0, 0),
    ],
)
def test_contacts_are_found_and_push_within_their_distances(
    backend: str, rule: str, distance: float, contacts: int, rows: int
) -> None:
    """Margin 20 mm and gap 5 mm, the larger of two that are equal."""
    model = dovetail.loads(BALL.format(height=0.1 + distance))
    sim = dovetail.Simulation(model, backend=backend, stages={"contact_range": rule})
    sim.forward()
    assert (sim.data.ncon, sim.data.nefc) == (contacts, rows)
