"""Model constants that follow from the dynamics in the reference configuration qpos0.

Masses of subtrees, diagonal of the mass matrix, inverse weights (how much a unit force accelerates a body or
a dof; the constraint solver scales with them), actuator lengths and accelerations, damping that was given as
a ratio, and the statistics of size and mass. Runs the reference stages on a light stand-in for Data. Compare
mj_setConst, which calls set0 and setStat.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.finalize_model.flex_constants_numpy import (
    edge_inverse_weights,
    edge_lengths,
    reach_along_edges,
    reach_between_nodes,
)
from dovetail.plugins.finalize_model.tendon_equality_constants_numpy import (
    add_tendon_fields,
    equality_data,
    spring_lengths,
    tendon_inverse_weights,
)
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.crb_numpy import composite_inertias, mass_entries, tendon_inertia
from dovetail.plugins.shared.ldl_numpy import factor, solve
from dovetail.plugins.shared.reference import reference
from dovetail.plugins.shared.tree_numpy import BALL, FREE, add_to_parents
from dovetail.plugins.shared.vectors_numpy import cross_rows


def finalize_model(model: ModelLike) -> dict[str, Any]:
    """Values of mjModel fields, by name; those of `stat` are named `stat.extent` and so on."""
    constants: dict[str, Any] = {"body_subtreemass": subtree_masses(model)}
    known = Overlay(model, constants)
    data = reference_data(model)
    follow_positions(known, data)
    M = reference_mass_matrix(model, data)
    constants["dof_M0"] = M[diagonal(model)]
    M += tendon_inertia(model, data)
    inverse = InverseMass(model, M)
    constants["dof_invweight0"] = dof_inverse_weights(model, inverse)
    constants["body_invweight0"] = body_inverse_weights(model, data, inverse)
    constants["tendon_length0"] = data.ten_length
    constants["tendon_invweight0"] = tendon_inverse_weights(model, data, inverse.solve)
    constants["tendon_lengthspring"] = spring_lengths(model, lengths_at_rest(known))
    constants["flexedge_length0"] = edge_lengths(model, data)
    constants["flexedge_invweight0"] = edge_inverse_weights(model, data, inverse.weights)
    constants["eq_data"] = equality_data(model, data)
    reference("transmission", "moment_arms")(known, data)
    constants["actuator_length0"] = data.actuator_length
    constants["actuator_acc0"] = actuator_accelerations(model, data, inverse)
    constants["actuator_biasprm"] = bias_with_damping(model, data, constants["dof_M0"])
    constants.update(statistics(model, data, M[diagonal(model)]))
    return constants


def follow_positions(model: ModelLike, data: DataLike) -> None:
    """Write poses, centres of mass and tendons, as the reference stages do."""
    for stage, name in (("kinematics", "tree"), ("com_position", "tree"), ("tendon", "paths")):
        reference(stage, name)(model, data)


def lengths_at_rest(model: ModelLike) -> Array:
    """Tendon lengths at qpos_spring, where springs rest."""
    data = reference_data(model)
    if model.ntendon:
        data.qpos[:] = model.qpos_spring
        follow_positions(model, data)
    length: Array = data.ten_length
    return length


class Overlay:
    """A model seen with some of its fields replaced."""

    def __init__(self, model: ModelLike, fields: dict[str, Any]) -> None:
        self._model, self._fields = model, fields

    def __getattr__(self, name: str) -> Any:
        return self._fields[name] if name in self._fields else getattr(self._model, name)


def reference_data(model: ModelLike) -> SimpleNamespace:
    """As much of Data as the position stages need, at qpos0; mocap bodies where the model has them."""
    nbody, njnt, ngeom, nsite, nv, nu = (
        int(getattr(model, size)) for size in ("nbody", "njnt", "ngeom", "nsite", "nv", "nu")
    )
    mocap = model.body_mocapid >= 0
    order = model.body_mocapid[mocap]
    shapes: dict[str, tuple[int, ...]] = {
        "xpos": (nbody, 3),
        "xquat": (nbody, 4),
        "xmat": (nbody, 9),
        "xipos": (nbody, 3),
        "ximat": (nbody, 9),
        "xanchor": (njnt, 3),
        "xaxis": (njnt, 3),
        "geom_xpos": (ngeom, 3),
        "geom_xmat": (ngeom, 9),
        "site_xpos": (nsite, 3),
        "site_xmat": (nsite, 9),
        "subtree_com": (nbody, 3),
        "cinert": (nbody, 10),
        "cdof": (nv, 6),
        "mocap_pos": (len(order), 3),
        "mocap_quat": (len(order), 4),
        "actuator_length": (nu,),
        "actuator_moment": (int(model.nJmom),),
    }
    data = SimpleNamespace(**{name: np.zeros(shape) for name, shape in shapes.items()})
    data.qpos = model.qpos0.copy()
    data.mocap_pos[order] = model.body_pos[mocap]
    data.mocap_quat[order] = model.body_quat[mocap]
    data.moment_rownnz = np.zeros(nu, dtype=np.int32)
    data.moment_rowadr = np.zeros(nu, dtype=np.int32)
    data.moment_colind = np.zeros(int(model.nJmom), dtype=np.int32)
    data.ncon = 0
    add_tendon_fields(model, data)
    return data


def subtree_masses(model: ModelLike) -> Array:
    """Mass of every body with its descendants."""
    mass = model.body_mass.copy()
    add_to_parents(mass, model.body_parentid)
    return mass


def diagonal(model: ModelLike) -> Array:
    """Where the diagonal of M is among its stored entries."""
    return model.M_rowadr + model.M_rownnz - 1


def reference_mass_matrix(model: ModelLike, data: DataLike) -> Array:
    """Stored entries of M at qpos0; simple dofs are computed like the others, their dof_M0 being wanted."""
    none_simple = Overlay(model, {"dof_simplenum": np.zeros(model.nv, dtype=np.int32)})
    return mass_entries(none_simple, composite_inertias(model, data.cinert), data.cdof)


class InverseMass:
    """The inverse of the mass matrix, applied to Jacobian rows that involve one chain of dofs."""

    def __init__(self, model: ModelLike, M: Array) -> None:
        self.model = model
        self.qLD, self.diagonal = factor(model, M)
        self.finite = bool(np.isfinite(self.diagonal).all())
        self.start, self.count = model.M_rowadr.tolist(), model.M_rownnz.tolist()

    def solve(self, x: Array) -> Array:
        """M⁻¹·x."""
        return solve(self.model, self.qLD, self.diagonal, x)

    def weights(self, chain: Array, jacobian: Array) -> Array:
        """Diagonal of J·M⁻¹·Jᵀ, J (n, len(chain)) being zero outside the chain of dofs, root first."""
        if not self.finite:
            return self.singular_weights(chain, jacobian)
        y = jacobian.T.copy()
        for i, dof in reversed([*enumerate(chain.tolist())]):
            # Lᵀ y = Jᵀ stays within the chain, which holds all ancestors; M may leave some of them out
            above = self.count[dof] - 1
            row = slice(self.start[dof], self.start[dof] + above)
            among = slice(i) if above == i else np.searchsorted(chain, self.model.M_colind[row])
            if above:
                y[among] -= self.qLD[row, None] * y[i]
        return np.einsum("ik,i,ik->k", y, self.diagonal[chain], y)

    def singular_weights(self, chain: Array, jacobian: Array) -> Array:
        """The same by whole rows, as in MuJoCo: an infinity anywhere, times zero, leaves no number."""
        rows = np.zeros((len(jacobian), self.model.nv))
        rows[:, chain] = jacobian
        with np.errstate(invalid="ignore"):
            return np.array([np.sum(row * self.solve(row)) for row in rows])


def chain_of(model: ModelLike, dof: int) -> Array:
    """A dof and its ancestors, root first."""
    chain = []
    while dof >= 0:
        chain.append(dof)
        dof = int(model.dof_parentid[dof])
    return np.array(chain[::-1], dtype=np.intp)


def dof_inverse_weights(model: ModelLike, inverse: InverseMass) -> Array:
    """Diagonal of M⁻¹, averaged over the rotations of a joint, and over the translations of a free one."""
    weight = np.empty(model.nv)
    point_mass = is_point_mass(model)
    for dof in range(model.nv):
        body = model.dof_bodyid[dof]
        if point_mass[body]:
            weight[dof] = 1.0 / model.body_mass[body]
            continue
        chain = chain_of(model, dof)
        unit = np.zeros((1, len(chain)))
        unit[0, -1] = 1.0
        weight[dof] = inverse.weights(chain, unit)[0]
    for joint in range(model.njnt):
        kind, dof = model.jnt_type[joint], model.jnt_dofadr[joint]
        for first in _AVERAGED.get(int(kind), ()):
            group = slice(dof + first, dof + first + 3)
            weight[group] = weight[group].mean()
    return weight


_AVERAGED = {FREE: (0, 3), BALL: (0,)}


def is_point_mass(model: ModelLike) -> Array:
    """Bodies that only slide along world axes; MuJoCo weighs them by mass alone, whatever their armature."""
    return model.body_simple == 2


def body_inverse_weights(model: ModelLike, data: DataLike, inverse: InverseMass) -> Array:
    """Mean inverse mass and inverse inertia at every body's centre of mass; zero where a body cannot move."""
    weight = np.zeros((model.nbody, 2))
    point_mass = is_point_mass(model)
    for body in range(1, model.nbody):
        if model.body_weldid[body] == 0:
            continue
        if point_mass[body]:
            weight[body] = 1.0 / model.body_mass[body], 0.0
            continue
        chain = chain_of(model, last_dof(model, body))
        diagonal = inverse.weights(chain, centre_jacobian(model, data, body, chain))
        weight[body] = diagonal[:3].mean(), diagonal[3:].mean()
    return weight


def last_dof(model: ModelLike, body: int) -> int:
    """The last dof of a body, or of the nearest ancestor that has any; −1 if none has."""
    while body and not model.body_dofnum[body]:
        body = int(model.body_parentid[body])
    return int(model.body_dofadr[body] + model.body_dofnum[body] - 1) if body else -1


def centre_jacobian(model: ModelLike, data: DataLike, body: int, chain: Array) -> Array:
    """Velocity (3 rows) and rotation (3 rows) of a body's centre of mass, per dof of its chain."""
    lever = data.xipos[body] - data.subtree_com[model.body_rootid[body]]
    rotation, translation = data.cdof[chain, :3], data.cdof[chain, 3:]
    return np.hstack([translation + cross_rows(rotation, lever[None]), rotation]).T


def actuator_accelerations(model: ModelLike, data: DataLike, inverse: InverseMass) -> Array:
    """Norm of the joint acceleration that a unit force of each actuator gives."""
    acceleration = np.empty(model.nu)
    for actuator in range(model.nu):
        moment = np.zeros(model.nv)
        row = moment_row(data, actuator)
        moment[data.moment_colind[row]] = data.actuator_moment[row]
        acceleration[actuator] = np.linalg.norm(inverse.solve(moment))
    return acceleration


def moment_row(data: DataLike, actuator: int) -> slice:
    """Where an actuator's moment arms are stored."""
    start = data.moment_rowadr[actuator]
    return slice(start, start + data.moment_rownnz[actuator])


def bias_with_damping(model: ModelLike, data: DataLike, dof_M0: Array) -> Array:
    """actuator_biasprm with damping ratios turned into damping.

    A position servo's positive biasprm[2] is a ratio to critical damping, 2·sqrt(kp·m), m being the inertia
    seen through the gear.
    """
    biasprm = model.actuator_biasprm.copy()
    for actuator in range(model.nu):
        kp, ratio = model.actuator_gainprm[actuator, 0], biasprm[actuator, 2]
        if kp == -biasprm[actuator, 1] and ratio > 0.0:  # whatever the types are, as in MuJoCo
            row = moment_row(data, actuator)
            squared = np.square(data.actuator_moment[row])
            moves = squared > MINVAL
            mass = float(np.sum(dof_M0[data.moment_colind[row]][moves] / squared[moves]))
            biasprm[actuator, 2] = -ratio * 2.0 * np.sqrt(kp * mass)
    return biasprm


DEFAULT_INERTIA, DEFAULT_MASS, DEFAULT_SIZE, DEFAULT_EXTENT = 1.0, 1.0, 0.2, 2.0
"""mjModel.stat of a model with nothing to measure (MuJoCo 3.4), in kg·m², kg, m, m."""

SMALLEST_SIZE = 1e-5
"""Least extent of a model and least size of a body that the statistics count, in m (MuJoCo 3.4)."""


def statistics(model: ModelLike, data: DataLike, inertia: Array) -> dict[str, Any]:
    """Means of mass, inertia and body size; centre and extent of the model in the world."""
    has_bodies = model.nbody > 1
    meansize = float(body_sizes(model, data)[1:].mean()) if has_bodies else DEFAULT_SIZE
    low, high = bounding_box(model, data)
    # MuJoCo takes a box that is flat along x as empty, however large it is along y or z.
    extent = max(SMALLEST_SIZE, float((high - low).max())) if high[0] > low[0] else DEFAULT_EXTENT
    return {
        "stat.meaninertia": float(inertia.mean()) if model.nv else DEFAULT_INERTIA,
        "stat.meanmass": float(model.body_mass[1:].mean()) if has_bodies else DEFAULT_MASS,
        "stat.meansize": meansize,
        "stat.extent": max(extent, 2.0 * meansize),
        "stat.center": 0.5 * (low + high),
    }


def bounding_box(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Corners of the box around bodies, joints, sites and bounding spheres of geoms; the origin if none."""
    radius = drawn_radii(model)[:, None]
    points = [data.xpos[1:], data.xipos[1:], data.xanchor, data.site_xpos]
    low = np.vstack([*points, data.geom_xpos - radius])
    high = np.vstack([*points, data.geom_xpos + radius])
    if not len(low):
        return np.zeros(3), np.zeros(3)
    return low.min(axis=0), high.max(axis=0)


def drawn_radii(model: ModelLike) -> Array:
    """Bounding radii; a plane counts a tenth of its larger half-size, an infinite one counts 1."""
    half_size = model.geom_size[:, :2].max(axis=1)
    plane = np.where(half_size > 0.0, 0.1 * half_size, 1.0)
    return np.where(model.geom_type == GeomType.PLANE, plane, model.geom_rbound)


def body_sizes(model: ModelLike, data: DataLike) -> Array:
    """Reach of every body from its centre of mass: to its own and its children's joints, its geoms, and along
    the flex edges that end at it."""
    size = np.zeros(model.nbody)
    own = model.jnt_bodyid
    for body in (own, model.body_parentid[own]):
        np.maximum.at(size, body, np.linalg.norm(data.xipos[body] - data.xanchor, axis=1))
    body = model.geom_bodyid
    reach = model.geom_rbound + np.linalg.norm(data.xipos[body] - data.geom_xpos, axis=1)
    np.maximum.at(size, body, np.where(model.geom_rbound > 0.0, reach, 0.0))
    reach_along_edges(model, edge_lengths(model, data), size)
    reach_between_nodes(model, data, size)
    return np.maximum(size, SMALLEST_SIZE)
