"""Flex edge, tendon and actuator velocities: Jacobians times joint velocities, in lanes; actuators' zero where
actuation is off.

Compare mj_fwdVelocity.
"""

from __future__ import annotations

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.flex.edges_lanes import each_row, lane_edges
from dovetail.plugins.shared.moments.rows_lanes import moment_entries
from dovetail.plugins.shared.tendons.rows_lanes import entry, row_entries


def transmission_velocity(k: Kernel) -> None:
    """Write flexedge_velocity, ten_velocity and actuator_velocity."""
    m, d = k.model, k.data
    if m.nflexedge:
        flex_edge_velocity(k)
    if m.ntendon:
        with k.loop(0, m.ntendon) as tendon:
            total = k.local(0.0)
            with row_entries(k, tendon) as (dof, place):
                total += entry(k, place) * d.qvel[dof]
            d.ten_velocity[tendon] = total.value
    if m.nu:
        on = k.select(k.disabled(DisableBit.ACTUATION), 0.0, 1.0)
        with k.loop(0, m.nu) as actuator:
            total = k.local(0.0)
            with moment_entries(k, actuator) as (at, dof, _):
                total += d.actuator_moment[at] * d.qvel[dof]
            d.actuator_velocity[actuator] = total.value * on


def flex_edge_velocity(k: Kernel) -> None:
    """Write flexedge_velocity; zero for edges without a row."""
    d, without = k.data, np.append(lane_edges(k).measured, lane_edges(k).without)
    with k.loop(0, len(without)) as n:
        d.flexedge_velocity[k.table("flex/rowless", without)[n]] = 0.0
    for edge, row in each_row(k):
        total = k.local(0.0)
        for dof, place in row.each_entry():
            total += d.flexedge_J[place] * d.qvel[dof]
        d.flexedge_velocity[edge] = total.value
