"""Potential and kinetic energy of a state. Compare mj_energyPos and mj_energyVel. In lanes: energy_lanes.py."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.springs_numpy import spring_displacement, stretch


def potential_energy(model: ModelLike, data: DataLike) -> float:
    """Energy of gravity and of all springs."""
    springs = spring_energy(model, data) + tendon_energy(model, data) + flex_energy(model, data)
    return gravitational_energy(model, data) + springs


def gravitational_energy(model: ModelLike, data: DataLike) -> float:
    """−Σ m·g·x over the bodies' centres of mass."""
    if model.opt.disableflags & DisableBit.GRAVITY:
        return 0.0
    return -float(model.body_mass[1:] @ (data.xipos[1:] @ model.opt.gravity))


def spring_energy(model: ModelLike, data: DataLike) -> float:
    """½·k·d² over the joints with springs."""
    if model.opt.disableflags & DisableBit.SPRING or not model.jnt_stiffness.any():
        return 0.0
    stiffness = model.jnt_stiffness[model.dof_jntid]
    return 0.5 * float(stiffness @ np.square(spring_displacement(model, data.qpos)))


def tendon_energy(model: ModelLike, data: DataLike) -> float:
    """½·k·d² over the tendons with springs."""
    if model.opt.disableflags & DisableBit.SPRING or not model.ntendon:
        return 0.0
    return 0.5 * float(model.tendon_stiffness @ np.square(stretch(model, data.ten_length)))


def flex_energy(model: ModelLike, data: DataLike) -> float:
    """½·k·d² over the edges of flexes that are lines; those of sheets and solids have no springs."""
    if model.opt.disableflags & DisableBit.SPRING or not model.nflex:
        return 0.0
    elastic = (model.flex_dim == 1) & (model.flex_rigid == 0)
    stiffness = np.repeat(np.where(elastic, model.flex_edgestiffness, 0.0), model.flex_edgenum)
    stretched = (model.flexedge_length0 - data.flexedge_length) * (model.flexedge_rigid == 0)
    return 0.5 * float(stiffness @ np.square(stretched))


def kinetic_energy(model: ModelLike, data: DataLike) -> float:
    """½·vᵀ·M·v from the lower triangle of M, so entries off the diagonal count twice."""
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    column = model.M_colind
    weight = np.where(row == column, 0.5, 1.0)
    return float((weight * data.M * data.qvel[row]) @ data.qvel[column])
