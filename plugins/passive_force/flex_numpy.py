"""Forces within flexes: springs and dampers of edges, elasticity of elements and of nodes, bending.

Edges pull with k·(rest length − length) and are damped by b·velocity, along their Jacobian. What elements, bends and
nodes do is in `flex_elements_numpy`, `flex_bending_numpy` and `flex_nodes_numpy`. All add to qfrc_spring or
qfrc_damper. As in MuJoCo 3.4 the flags spring and damper switch each its own part off, but elements, damping
included, only stop when both are off. Compare the flex parts of mj_springdamper.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.passive_force.flex_bending_numpy import bending_forces
from dovetail.plugins.passive_force.flex_elements_numpy import element_forces
from dovetail.plugins.passive_force.flex_nodes_numpy import node_forces
from dovetail.plugins.shared.flex.edge_rows import full_rows, of_edges, stored_rows
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.passive_flags_numpy import all_off


def flex(model: ModelLike, data: DataLike) -> None:
    """Add the forces within flexes to qfrc_spring, qfrc_damper and qfrc_passive."""
    if all_off(model) or not model.nv:
        return
    spring, damper = np.zeros(int(model.nv)), np.zeros(int(model.nv))
    for within in (bending_forces, node_forces, edge_forces):
        pull, drag = within(model, data)
        spring += pull
        damper += drag
    spring = element_forces(model, data) + switched(model, DisableBit.SPRING, spring)
    damper = switched(model, DisableBit.DAMPER, damper)
    data.qfrc_spring[:] += spring
    data.qfrc_damper[:] += damper
    data.qfrc_passive[:] += spring + damper


def switched(model: ModelLike, flag: DisableBit, force: Array) -> Array:
    """A force, or none where its flag is off."""
    return np.zeros_like(force) if model.opt.disableflags & flag else force


def edge_forces(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Joint forces of springs and of dampers along edges; neither rigid flexes nor rigid edges have any."""
    deforming = (model.flexedge_rigid == 0) & of_edges(model, model.flex_rigid == 0)
    stiffness = np.where(deforming, of_edges(model, model.flex_edgestiffness), 0.0)
    damping = np.where(deforming, of_edges(model, model.flex_edgedamping), 0.0)
    pull = stiffness * (model.flexedge_length0 - data.flexedge_length)
    return along_edges(model, data, pull), along_edges(model, data, -damping * data.flexedge_velocity)


def along_edges(model: ModelLike, data: DataLike, force: Array) -> Array:
    """Joint forces (nv,) of forces (nflexedge,) that would lengthen edges."""
    if not force.any():
        return np.zeros(int(model.nv))
    if not is_sparse(model):
        return force @ full_rows(model, data)
    rows = stored_rows(model, data)
    moment = np.repeat(force, rows.rownnz) * rows.values
    return np.bincount(rows.colind, moment, minlength=int(model.nv))
