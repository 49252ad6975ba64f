"""mj_jac* and its relatives, products with the mass matrix and with the Jacobian of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.engine import engine_of
from dovetail.plugins.queries import jacobian as queries
from dovetail.plugins.shared.ldl_numpy import solve
from dovetail.plugins.shared.symmetric_numpy import multiply_symmetric

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel


def _check(m: MjModel, **jacobians: Array | None) -> None:
    for name, jac in jacobians.items():
        need(jac is None or jac.shape == (3, m._model.nv), f"{name} should be of shape (3, nv)")


def _store(jacp: Array | None, jacr: Array | None, found: tuple[Array, Array]) -> None:
    if jacp is not None:
        jacp[:] = found[0]
    if jacr is not None:
        jacr[:] = found[1]


def _valid(what: str, number: int, count: int) -> int:
    from dovetail.mj.errors import FatalError

    if not 0 <= number < count:
        raise FatalError(f"there is no {what} {number}: the model has {count}, numbered from 0")
    return number


@function("m: m, d: d, jacp: W?, jacr: W?, point: v3, body: int")
def mj_jac(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, point: Array, body: int) -> None:
    """Jacobians of a point that is fixed in a body: of its velocity, and of the body's angular velocity."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    _store(jacp, jacr, queries.jac_point(data.model, data, point, body))


@function("m: m, d: d, jacp: W?, jacr: W?, body: int")
def mj_jacBody(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, body: int) -> None:
    """Jacobians of a body's frame."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    _store(jacp, jacr, queries.jac_body(data.model, data, body))


@function("m: m, d: d, jacp: W?, jacr: W?, body: int")
def mj_jacBodyCom(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, body: int) -> None:
    """Jacobians of a body's centre of mass."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    _store(jacp, jacr, queries.jac_body_com(data.model, data, body))


@function("m: m, d: d, jacp: W?, body: int")
def mj_jacSubtreeCom(m: MjModel, d: MjData, jacp: Array | None, body: int) -> None:
    """Jacobian of the centre of mass of a body with all it carries."""
    _check(m, jacp=jacp)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    if jacp is not None:
        jacp[:] = queries.jac_subtree_com(data.model, data, body)


@function("m: m, d: d, jacp: W?, jacr: W?, geom: int")
def mj_jacGeom(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, geom: int) -> None:
    """Jacobians of a geom."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("geom", geom, data.model.ngeom)
    _store(jacp, jacr, queries.jac_geom(data.model, data, geom))


@function("m: m, d: d, jacp: W?, jacr: W?, site: int")
def mj_jacSite(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, site: int) -> None:
    """Jacobians of a site."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("site", site, data.model.nsite)
    _store(jacp, jacr, queries.jac_site(data.model, data, site))


@function("m: m, d: d, jacPoint: W?, jacAxis: W?, point: v3, axis: v3, body: int")
def mj_jacPointAxis(
    m: MjModel,
    d: MjData,
    jacPoint: Array | None,
    jacAxis: Array | None,
    point: Array,
    axis: Array,
    body: int,
) -> None:
    """Jacobians of a point, and of a direction that turns with the body."""
    _check(m, jacPoint=jacPoint, jacAxis=jacAxis)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    jacp, jacr = queries.jac_point(data.model, data, point, body)
    _store(jacPoint, jacAxis, (jacp, np.cross(jacr.T, axis).T))


@function("m: m, d: d, jacp: W?, jacr: W?, point: v3, body: int")
def mj_jacDot(m: MjModel, d: MjData, jacp: Array | None, jacr: Array | None, point: Array, body: int) -> None:
    """How Jacobians of a point change with time."""
    _check(m, jacp=jacp, jacr=jacr)
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    _store(jacp, jacr, queries.jac_dot(data.model, data, point, body))


@function("m: m, d: d, mat: W, body: int")
def mj_angmomMat(m: MjModel, d: MjData, mat: Array, body: int) -> None:
    """The matrix from joint velocities to the angular momentum of a subtree about its centre of mass."""
    need(mat.shape == (3, m._model.nv), "mat should be of shape (3, nv)")
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    mat[:] = queries.angmom_matrix(data.model, data, body)


@function("m: m, d: d, force: v3, torque: v3, point: v3, body: int, qfrc_target: w")
def mj_applyFT(
    m: MjModel, d: MjData, force: Array, torque: Array, point: Array, body: int, qfrc_target: Array
) -> None:
    """Add the joint forces of a force and a torque that act on a point of a body."""
    need(len(qfrc_target) == m._model.nv, "qfrc_target should be of size nv")
    data = engine_of(m, d).data
    _valid("body", body, data.model.nbody)
    qfrc_target += queries.apply_ft(data.model, data, force, torque, point, body)


# ---- the mass matrix ----------------------------------------------------------------------------------------------


def _legacy_rows(model: Any) -> tuple[Array, Array]:
    """Row and column of every entry of qM: of each dof, itself, then its ancestors."""
    parent = model.dof_parentid.tolist()
    rows, columns = [], []
    for dof in range(model.nv):
        ancestor = dof
        while ancestor >= 0:
            rows.append(dof)
            columns.append(ancestor)
            ancestor = parent[ancestor]
    return np.array(rows, int), np.array(columns, int)


@function("m: m, dst: W, M: v")
def mj_fullM(m: MjModel, dst: Array, M: Array) -> None:
    """A mass matrix that is stored as d.qM is, dense."""
    model = m._model
    need(dst.shape == (model.nv, model.nv), "dst should be of shape (nv, nv)")
    need(len(M) == model.nM, "M should be of size nM")
    rows, columns = _legacy_rows(model)
    dst[:] = 0.0
    dst[rows, columns] = dst[columns, rows] = M


@function("m: m, d: d, res: w, vec: v")
def mj_mulM(m: MjModel, d: MjData, res: Array, vec: Array) -> None:
    """res = M·vec."""
    _check_vectors(m, res, vec)
    data = engine_of(m, d).data
    res[:] = multiply_symmetric(data.model, data.M, vec)


def _check_vectors(m: MjModel, res: Array, vec: Array) -> None:
    need(len(res) == m._model.nv, "res should be of size nv")
    need(len(vec) == m._model.nv, "vec should be of size nv")


def _unit_lower(data: Any) -> Array:
    """L of M = Lᵀ·D·L, dense, with ones on the diagonal."""
    model = data.model
    lower = np.eye(model.nv)
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    beside = row != model.M_colind
    lower[row[beside], model.M_colind[beside]] = data.qLD[beside]
    return lower


@function("m: m, d: d, res: w, vec: v")
def mj_mulM2(m: MjModel, d: MjData, res: Array, vec: Array) -> None:
    """The root of M times a vector: res = D^½·L·vec, with M = Lᵀ·D·L."""
    _check_vectors(m, res, vec)
    data = engine_of(m, d).data
    res[:] = (_unit_lower(data) @ vec) / np.sqrt(data.qLDiagInv)


def _check_solve(m: MjModel, x: Array, y: Array) -> tuple[Array, Array]:
    """Right sides by row; a vector is one of them."""
    nv = m._model.nv
    if x.shape[1] == 1 and nv != 1:
        x = x.reshape(1, -1)
    if y.shape[1] == 1 and nv != 1:
        y = y.reshape(1, -1)
    need(x.shape[0] == y.shape[0], "the first dimension of x and y should be of the same size")
    need(x.shape[1] == nv, "the last dimension of x should be of size nv")
    need(y.shape[1] == nv, "the last dimension of y should be of size nv")
    return x, y


@function("m: m, d: d, x: W, y: M")
def mj_solveM(m: MjModel, d: MjData, x: Array, y: Array) -> None:
    """x = M⁻¹·y, row by row."""
    x, y = _check_solve(m, x, y)
    data = engine_of(m, d).data
    for row, right in zip(x, np.array(y), strict=True):
        row[:] = solve(data.model, data.qLD, data.qLDiagInv, right)


@function("m: m, d: d, x: W, y: M, sqrtInvD: M")
def mj_solveM2(m: MjModel, d: MjData, x: Array, y: Array, sqrtInvD: Array) -> None:
    """x = D^−½·L⁻ᵀ·y, row by row, with M = Lᵀ·D·L and the roots of D⁻¹ given."""
    x, y = _check_solve(m, x, y)
    need(sqrtInvD.size == m._model.nv, "the size of sqrtInvD should be nv")
    data = engine_of(m, d).data
    x[:] = np.linalg.solve(_unit_lower(data).T, np.array(y).T).T * sqrtInvD.reshape(-1)


@function("m: m, d: d, dst: w, rownnz: iw, rowadr: iw, colind: iw")
def mj_addM(m: MjModel, d: MjData, dst: Array, rownnz: Array, rowadr: Array, colind: Array) -> None:
    """Add the mass matrix to a sparse matrix that has its entries."""
    data = engine_of(m, d).data
    model = data.model
    need(len(dst) == model.nM, "dst should be of size nM")
    need(len(rownnz) == model.nv, "rownnz should be of size nv")
    need(len(rowadr) == model.nv, "rowadr should be of size nv")
    need(len(colind) == model.nM, "colind should be of size nM")
    for row in range(model.nv):
        mine = slice(model.M_rowadr[row], model.M_rowadr[row] + model.M_rownnz[row])
        theirs = colind[rowadr[row] : rowadr[row] + rownnz[row]].tolist()
        for column, value in zip(model.M_colind[mine].tolist(), data.M[mine].tolist(), strict=True):
            if column in theirs:
                dst[rowadr[row] + theirs.index(column)] += value


# ---- the Jacobian of constraints ----------------------------------------------------------------------------------


@function("m: m, d: d, res: w, vec: v")
def mj_mulJacVec(m: MjModel, d: MjData, res: Array, vec: Array) -> None:
    """res = J·vec."""
    from dovetail.plugins.queries.dense import dense_jacobian

    data = engine_of(m, d).data
    jacobian = dense_jacobian(data.model, data)
    need(len(res) == len(jacobian), "res should be of length nefc")
    need(len(vec) == data.model.nv, "vec should be of length nv")
    res[:] = jacobian @ vec


@function("m: m, d: d, res: w, vec: v")
def mj_mulJacTVec(m: MjModel, d: MjData, res: Array, vec: Array) -> None:
    """res = Jᵀ·vec."""
    from dovetail.plugins.queries.dense import dense_jacobian

    data = engine_of(m, d).data
    jacobian = dense_jacobian(data.model, data)
    need(len(res) == data.model.nv, "res should be of length nv")
    need(len(vec) == len(jacobian), "vec should be of length nefc")
    res[:] = jacobian.T @ vec


__all__ = [name for name in globals() if name.startswith("mj_")]
