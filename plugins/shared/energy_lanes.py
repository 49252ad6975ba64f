"""Potential and kinetic energy of a state, in lanes, with the names of energy_numpy.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.springs_lanes import on_springs, stretch
from dovetail.plugins.shared.vectors_lanes import dot


def potential_energy(k: Kernel) -> Any:
    """Energy of gravity and of all springs."""
    return gravitational_energy(k) + spring_energy(k) + tendon_energy(k) + flex_energy(k)


def gravitational_energy(k: Kernel) -> Any:
    """−Σ m·g·x over the bodies' centres of mass."""
    m, d = k.model, k.data
    total = k.local(0.0)
    with k.when(~k.disabled(DisableBit.GRAVITY)), k.loop(1, m.nbody) as body:
        total -= m.body_mass[body] * dot(m.opt.gravity[:], d.xipos[body])
    return total.value


def spring_energy(k: Kernel) -> Any:
    """½·k·d² over the joints with springs."""
    total = k.local(0.0)

    def add(stiffness: Any, dof: Any, displacement: Any) -> None:
        nonlocal total
        total += 0.5 * stiffness * displacement * displacement

    with k.when(~k.disabled(DisableBit.SPRING)):
        on_springs(k, add)
    return total.value


def tendon_energy(k: Kernel) -> Any:
    """½·k·d² over the tendons with springs."""
    m = k.model
    if not m.ntendon:
        return 0.0
    total = k.local(0.0)
    with k.when(~k.disabled(DisableBit.SPRING)), k.loop(0, m.ntendon) as tendon:
        stretched = stretch(k, tendon)
        total += 0.5 * m.tendon_stiffness[tendon] * (stretched * stretched)
    return total.value


def flex_energy(k: Kernel) -> Any:
    """½·k·d² over the edges of flexes that are lines; those of sheets and solids have no springs."""
    m, d, model = k.model, k.data, k.frozen_model
    own = np.repeat(np.arange(model.nflex), model.flex_edgenum)
    lines = (model.flex_dim == 1) & (model.flex_rigid == 0)
    edges = np.flatnonzero(lines[own] & (model.flexedge_rigid == 0))
    if not len(edges):
        return 0.0
    total = k.local(0.0)
    edge_of, flex_of = k.table("energy/edges", edges), k.table("energy/flexes", own[edges])
    with k.when(~k.disabled(DisableBit.SPRING)), k.loop(0, len(edges)) as n:
        stretched = m.flexedge_length0[edge_of[n]] - d.flexedge_length[edge_of[n]]
        total += 0.5 * m.flex_edgestiffness[flex_of[n]] * (stretched * stretched)
    return total.value


def kinetic_energy(k: Kernel) -> Any:
    """½·vᵀ·M·v from the lower triangle of M, so entries off the diagonal count twice."""
    m, d = k.model, k.data
    total = k.local(0.0)
    with k.loop(0, m.nv) as row:
        first = m.M_rowadr[row]
        diagonal = first + m.M_rownnz[row] - 1
        momentum = k.local(0.5 * d.M[diagonal] * d.qvel[row])
        with k.loop(first, diagonal) as at:
            momentum += d.M[at] * d.qvel[m.M_colind[at]]
        total += momentum.value * d.qvel[row]
    return total.value
