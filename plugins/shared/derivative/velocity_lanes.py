"""Derivatives of the smooth forces with respect to joint velocities, in lanes: actuation + passive − bias.

Entries are stored in the pattern D: each dof with its ancestors and descendants (D_rownnz, D_rowadr, D_colind; see
`pattern`). Compare mjd_smooth_vel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.derivative.actuator_lanes import add_actuators
from dovetail.plugins.shared.derivative.fluid_lanes import medium_acts, write_couplings
from dovetail.plugins.shared.derivative.passive_lanes import add_dampers
from dovetail.plugins.shared.derivative.pattern import address, related
from dovetail.plugins.shared.derivative.rne_lanes import subtract_couplings, write_carried_axes
from dovetail.plugins.shared.mass_pairs_lanes import Arm
from dovetail.plugins.shared.spatial_lanes import inertia_times
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import dot


def add_force_velocity(k: Kernel, matrix: LaneField, scale: Any) -> None:
    """Add scale·∂(qfrc_actuator + qfrc_passive − qfrc_bias)/∂qvel to a matrix in the pattern D."""
    add_actuators(k, matrix, scale, related_pairs)
    add_dampers(k, matrix, scale, related_pairs)
    add_motion(k, matrix, scale)


def related_pairs(model: ModelLike, row: Arm) -> list[tuple[int, int, int]]:
    """(place of a dof's number, of another's, entry of D) of all pairs of an arm's dofs that D has."""
    dofs, places = np.array(row, int).reshape(-1, 2).T
    one, other = (index.ravel() for index in np.indices((len(dofs), len(dofs))))
    inside = related(model, dofs[one], dofs[other])
    one, other = one[inside], other[inside]
    entries = address(model, dofs[one], dofs[other])
    return list(zip(places[one].tolist(), places[other].tolist(), entries.tolist(), strict=True))


def add_motion(k: Kernel, matrix: LaneField, scale: Any) -> None:
    """What follows from the motion of bodies: forces of the medium, and minus Coriolis and centrifugal forces."""
    m, d = k.model, k.data
    coupling, carried = k.scratch("coupling", m.nbody, 36), k.scratch("carried", m.nv, 6)
    write_couplings_of_medium(k, coupling)
    subtract_couplings(k, coupling)
    add_to_parents(k, coupling)
    write_carried_axes(k, carried)
    onto, back, heavy = (k.scratch(name, m.nv, 6) for name in ("onto", "back", "heavy"))
    with k.loop(0, m.nv) as dof:
        body, axis = m.dof_bodyid[dof], d.cdof[dof]
        both = coupling[body].reshape(6, 6)
        onto[dof] = both @ axis - inertia_times(d.crb[body], carried[dof])
        back[dof] = both.T @ axis
        heavy[dof] = inertia_times(d.crb[body], axis)
    with k.loop(0, m.nv) as row, k.loop(m.D_rowadr[row], m.D_rowadr[row] + m.D_rownnz[row]) as at:
        column = m.D_colind[at]
        with k.when(column >= row):
            matrix[at] += scale * dot(d.cdof[row], onto[column])
        with k.otherwise():
            matrix[at] += scale * (dot(back[row], d.cdof[column]) - dot(heavy[row], carried[column]))


def write_couplings_of_medium(k: Kernel, coupling: LaneField) -> None:
    """Zeros, or the couplings of bodies with a medium."""
    m = k.model

    def clear() -> None:
        with k.loop(1, m.nbody) as body, k.loop(0, 36) as n:
            coupling[body, n] = 0.0

    if not k.has("medium.present"):
        clear()
        return
    with k.when(medium_acts(k)):
        write_couplings(k, coupling, symmetric=False)
    with k.otherwise():
        clear()
