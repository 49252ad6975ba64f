"""Joint-space inertia by the composite-rigid-body algorithm, in lanes.

`crb` is the inertia of each body with everything it carries, about its tree's centre of mass; then
M[i, j] = cdofⱼ · crb(body of i) · cdofᵢ for every ancestor j of i. `M` holds the lower triangle by rows, `qM` the
same numbers in MuJoCo's older order. The diagonal of a simple dof is `dof_M0`. A tendon with armature adds
armature·JᵀJ, as far as that falls on stored entries. Compare mj_crb, mj_tendonArmature and mj_makeM.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.mass_pairs_lanes import each_pair
from dovetail.plugins.shared.spatial_lanes import inertia_times
from dovetail.plugins.shared.tendons.layout import row_arms
from dovetail.plugins.shared.tendons.rows_lanes import entry
from dovetail.plugins.shared.vectors_lanes import dot


def mass_matrix(k: Kernel) -> None:
    """Write crb, M and qM."""
    composite_inertias(k)
    if k.model.nv:
        mass_entries(k)
        if k.has("tendon.armature"):
            tendon_inertia(k)


def composite_inertias(k: Kernel) -> None:
    """Inertia of every body together with its descendants; the world's stays zero."""
    m, d = k.model, k.data
    d.crb[0] = 0.0
    with k.loop(1, m.nbody) as body:
        d.crb[body] = d.cinert[body]
    with k.loop(1, m.nbody, reverse=True) as body:
        parent = m.body_parentid[body]
        with k.when(parent > 0):
            d.crb[parent] += d.crb[body]


def mass_entries(k: Kernel) -> None:
    """Stored entries of M, row by row: momentum of a unit velocity, along each ancestor's axis."""
    m, d = k.model, k.data
    k.leaves("qM", "a simple dof has no entries beside the diagonal, though there are places for them")
    with k.loop(0, m.nv) as dof:
        first = m.M_rowadr[dof]
        diagonal = first + m.M_rownnz[dof] - 1
        momentum = inertia_times(d.crb[m.dof_bodyid[dof]], d.cdof[dof])
        with k.loop(first, diagonal) as at:
            entry = dot(d.cdof[m.M_colind[at]], momentum)
            d.M[at] = entry
            d.qM[m.mapM2M[at]] = entry
        simple = m.dof_simplenum[dof] > 0
        entry = k.select(simple, m.dof_M0[dof], dot(d.cdof[dof], momentum) + m.dof_armature[dof])
        d.M[diagonal] = entry
        d.qM[m.mapM2M[diagonal]] = entry


def tendon_inertia(k: Kernel) -> None:
    """Add to the stored entries of M what tendons with armature have of inertia."""
    m, d = k.model, k.data
    armed = k.frozen_model.tendon_armature != 0.0
    rows = [row if has else [] for row, has in zip(row_arms(k.frozen_model), armed, strict=True)]
    with (
        k.loop(0, m.ntendon) as tendon,
        k.when(m.tendon_armature[tendon] != 0.0),
        each_pair(k, "tendon_armature", rows, tendon) as (one, other, at),
    ):
        inertia = m.tendon_armature[tendon] * entry(k, one) * entry(k, other)
        d.M[at] += inertia
        d.qM[m.mapM2M[at]] += inertia
