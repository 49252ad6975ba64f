"""Implicit in velocity: the forces' dependence on velocity is taken at the end of the step, to first order.

(M − h·∂f/∂v)·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated, with ∂f/∂v all of
qDeriv: damping, fluid, actuators, Coriolis and centrifugal forces. The matrix is not symmetric; it is factored
as U·L from the leaves to the root, which keeps the pattern D; many small trees of one shape are worked on together.
Compare mj_implicit.
"""

from __future__ import annotations

import warnings

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.integrate.advance_numpy import advance
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.derivative.pattern import address
from dovetail.plugins.shared.derivative.rne_numpy import bias_velocity
from dovetail.plugins.shared.derivative.velocity_numpy import force_velocity
from dovetail.plugins.shared.tree_numpy import equal_chains


def integrate(model: ModelLike, data: DataLike, evaluation: int) -> None:
    """Advance the state by one time step; the single evaluation is number 0. Writes qDeriv and qLU too."""
    if model.nv:
        data.qDeriv[:] = force_velocity(model, data) - bias_velocity(model, data)
        data.qLU[:] = factor(model, implicit_matrix(model, data))
    advance_factored(model, data)


def advance_factored(model: ModelLike, data: DataLike) -> None:
    """Advance the state with the matrix whose factors qLU holds."""
    acceleration = solve(model, data.qLU, data.qfrc_smooth + data.qfrc_constraint)
    advance(model, data, acceleration, data.act_dot)


def implicit_matrix(model: ModelLike, data: DataLike) -> Array:
    """M − h·qDeriv in the pattern D; M has no entries where D couples the dofs of a simple body."""
    mass = np.where(model.mapM2D >= 0, data.M[model.mapM2D], 0.0)
    return mass - model.opt.timestep * data.qDeriv


def factor(model: ModelLike, matrix: Array) -> Array:
    """U and L of matrix = U·L: L with its diagonal in the lower triangle, U, whose diagonal is 1, above."""
    entries = np.array(matrix)
    start, depth = model.D_rowadr.tolist(), model.D_diag.tolist()
    blocks, alone = blocks_and_dofs(model)
    for at, dofs in blocks:
        entries[at] = factored(entries[at], dofs)
    for dof in reversed(alone):
        first, count = start[dof], depth[dof]
        pivot = entries[first + count]
        if abs(pivot) < MINVAL:
            warn_singular(dof, float(pivot))
        if not count:
            continue
        ancestors = model.D_colind[first : first + count]
        above = address(model, ancestors, np.full(count, dof))
        entries[above] /= pivot
        block = address(model, ancestors[:, None], ancestors[None, :])
        entries[block] -= np.outer(entries[above], entries[first : first + count])
    return entries


def solve(model: ModelLike, factors: Array, right: Array) -> Array:
    """The solution x of U·L·x = right."""
    x = np.array(right)
    start, depth, count = model.D_rowadr.tolist(), model.D_diag.tolist(), model.D_rownnz.tolist()
    blocks, alone = blocks_and_dofs(model)
    for at, dofs in blocks:
        x[dofs] = solved(factors[at], x[dofs])
    for dof in reversed(alone):
        beyond = slice(start[dof] + depth[dof] + 1, start[dof] + count[dof])
        x[dof] -= factors[beyond] @ x[model.D_colind[beyond]]
    for dof in alone:
        before = slice(start[dof], start[dof] + depth[dof])
        x[dof] = (x[dof] - factors[before] @ x[model.D_colind[before]]) / factors[start[dof] + depth[dof]]
    return x


def blocks_and_dofs(model: ModelLike) -> tuple[list[tuple[Array, Array]], list[int]]:
    """Trees without branches that many others are like, which are full blocks and worked on together: places of their
    entries (n, k, k), and their dofs (n, k); and all other dofs, ascending."""
    whole = model.D_rownnz == model.tree_dofnum[model.dof_treeid]
    blocks = []
    alone = np.ones(model.nv, bool)
    for length, first in equal_chains(model, whole):
        dofs = first[:, None] + np.arange(length)
        blocks.append((model.D_rowadr[dofs][:, :, None] + np.arange(length), dofs))
        alone[dofs] = False
    return blocks, np.flatnonzero(alone).tolist()


def factored(block: Array, dofs: Array) -> Array:
    """U and L of full blocks (n, k, k), in place."""
    for k in range(block.shape[1] - 1, -1, -1):
        pivot = block[:, k, k]
        for place in np.flatnonzero(np.abs(pivot) < MINVAL).tolist():
            warn_singular(int(dofs[place, k]), float(pivot[place]))
        block[:, :k, k] /= pivot[:, None]
        block[:, :k, :k] -= block[:, :k, k, None] * block[:, k, None, :k]
    return block


def solved(factors: Array, x: Array) -> Array:
    """The solutions of U·L·x = right for full blocks (n, k, k), in place of the right sides (n, k)."""
    size = x.shape[1]
    for k in range(size - 1, -1, -1):
        x[:, k] -= np.einsum("ij,ij->i", factors[:, k, k + 1 :], x[:, k + 1 :])
    for k in range(size):
        x[:, k] = (x[:, k] - np.einsum("ij,ij->i", factors[:, k, :k], x[:, :k])) / factors[:, k, k]
    return x


def warn_singular(dof: int, pivot: float) -> None:
    """Say at which dof the matrix cannot be divided by; the result goes on to infinity or NaN."""
    warnings.warn(
        f"M − h·qDeriv is singular at dof {dof} (pivot {pivot:g}): its inertia is too small, or a force grows "
        "with velocity too fast for this time step",
        RuntimeWarning,
        stacklevel=3,
    )
