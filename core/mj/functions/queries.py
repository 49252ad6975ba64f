"""Rays, distances, contact forces, motions of objects, positions, names, and derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.errors import DovetailError
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.engine import engine_of
from dovetail.plugins.queries import finite_difference, positions
from dovetail.plugins.shared.geometry import ray_numpy
from dovetail.plugins.shared.motion_numpy import object_acceleration, object_velocity
from dovetail.plugins.shared.quaternions_numpy import quat_matrix, quat_multiply, quat_normalize
from dovetail.plugins.shared.rows.contact_forces_numpy import contact_force
from dovetail.plugins.shared.tree_numpy import BALL, FREE

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel

MINVAL = 1e-15

# ---- rays and distances -------------------------------------------------------------------------------------------


@function(
    "m: m, d: d, pnt: v3, vec: v3, geomgroup: bv6?, flg_static: int, bodyexclude: int, geomid: iw1?", "float"
)
def mj_ray(
    m: MjModel,
    d: MjData,
    pnt: Array,
    vec: Array,
    geomgroup: Array | None,
    flg_static: int,
    bodyexclude: int,
    geomid: Array | None,
) -> float:
    """How far along a ray the nearest geom is, in units of vec, and which one; −1 if there is none."""
    _check_direction("mj_ray", vec)
    data = engine_of(m, d).data
    distance, geom = ray_numpy.ray(data.model, data, pnt, vec, geomgroup, bool(flg_static), bodyexclude)
    if geomid is not None:
        geomid[0] = geom
    return float(distance)


def _check_direction(name: str, vec: Array) -> None:
    if float(np.sqrt((vec * vec).sum(axis=-1)).min(initial=1.0)) < MINVAL:
        raise FatalError(f"{name}: vector length is too small")


@function(
    "m: m, d: d, pnt: v3, vec: v, geomgroup: bv6?, flg_static: int, bodyexclude: int, geomid: iw, dist: w, "
    "nray: int, cutoff: float"
)
def mj_multiRay(
    m: MjModel,
    d: MjData,
    pnt: Array,
    vec: Array,
    geomgroup: Array | None,
    flg_static: int,
    bodyexclude: int,
    geomid: Array,
    dist: Array,
    nray: int,
    cutoff: float,
) -> None:
    """The same for many rays from one point."""
    need(len(dist) == nray and len(geomid) == nray, "dist and geomid should be of size nray")
    need(len(vec) == 3 * nray, "vec should be of size 3*nray")
    vectors = vec.reshape(nray, 3)
    _check_direction("mj_multiRay", vectors)
    data = engine_of(m, d).data
    dist[:], geomid[:] = ray_numpy.multi_ray(
        data.model, data, pnt, vectors, geomgroup, bool(flg_static), bodyexclude, cutoff
    )


def _surface(name: str, m: MjModel, geomid: int, kind: GeomType) -> None:
    if not 0 <= geomid < m._model.ngeom or m._model.geom_type[geomid] != kind:
        raise FatalError(f"{name}: geom with {kind.name.lower()} type expected")


@function("m: m, d: d, geomid: int, pnt: v3, vec: v3", "float")
def mj_rayMesh(m: MjModel, d: MjData, geomid: int, pnt: Array, vec: Array) -> float:
    """How far along a ray a mesh is."""
    _surface("mj_rayMesh", m, geomid, GeomType.MESH)
    data = engine_of(m, d).data
    return float(ray_numpy.ray_mesh(data.model, data, geomid, pnt, vec))


@function("m: m, d: d, geomid: int, pnt: v3, vec: v3", "float")
def mj_rayHfield(m: MjModel, d: MjData, geomid: int, pnt: Array, vec: Array) -> float:
    """How far along a ray a height field is."""
    _surface("mj_rayHfield", m, geomid, GeomType.HFIELD)
    data = engine_of(m, d).data
    return float(ray_numpy.ray_hfield(data.model, data, geomid, pnt, vec))


@function("pos: v3, mat: v9, size: v3, pnt: v3, vec: v3, geomtype: int", "float")
def mju_rayGeom(pos: Array, mat: Array, size: Array, pnt: Array, vec: Array, geomtype: int) -> float:
    """How far along a ray a shape at a pose is."""
    try:
        return float(ray_numpy.ray_geom(pos, mat, size, pnt, vec, geomtype))
    except (KeyError, ValueError) as problem:
        raise FatalError(f"mju_rayGeom: unexpected geom type {geomtype}") from problem


@function("m: m, d: d, geom1: int, geom2: int, distmax: float, fromto: W?", "float")
def mj_geomDistance(
    m: MjModel, d: MjData, geom1: int, geom2: int, distmax: float, fromto: Array | None
) -> float:
    """The smallest signed distance of two geoms, and the segment between the nearest points."""
    from dovetail.plugins.shared.geometry.distance_numpy import geom_distance

    need(fromto is None or fromto.size == 6, "fromto should be of size 6")
    data = engine_of(m, d).data
    distance, segment = geom_distance(data.model, data, geom1, geom2, distmax)
    if fromto is not None:
        fromto.reshape(-1)[:] = segment
    return float(distance)


@function("m: m, d: d, id: int, result: w6")
def mj_contactForce(m: MjModel, d: MjData, id: int, result: Array) -> None:
    """Force and torque of a contact in its frame, the normal first; zero if there is no such contact."""
    data = engine_of(m, d).data
    result[:] = 0.0
    if 0 <= id < data.ncon:
        result[:] = contact_force(data.model, data, id)


# ---- motions ------------------------------------------------------------------------------------------------------

_MOVING = (ObjType.BODY, ObjType.XBODY, ObjType.GEOM, ObjType.SITE, ObjType.CAMERA)


def _moving(name: str, objtype: int) -> ObjType:
    if objtype not in _MOVING:
        raise FatalError(f"{name}: invalid object type {objtype}")
    return ObjType(objtype)


@function("m: m, d: d, objtype: int, objid: int, res: w6, flg_local: int")
def mj_objectVelocity(m: MjModel, d: MjData, objtype: int, objid: int, res: Array, flg_local: int) -> None:
    """Angular and linear velocity of a body, geom, site or camera, in world axes or its own."""
    data = engine_of(m, d).data
    kind = _moving("mj_objectVelocity", objtype)
    res[:] = object_velocity(data.model, data, kind, objid, bool(flg_local))


@function("m: m, d: d, objtype: int, objid: int, res: w6, flg_local: int")
def mj_objectAcceleration(
    m: MjModel, d: MjData, objtype: int, objid: int, res: Array, flg_local: int
) -> None:
    """Angular and linear acceleration of a body, geom, site or camera, from d.cacc (mj_rnePostConstraint)."""
    data = engine_of(m, d).data
    kind = _moving("mj_objectAcceleration", objtype)
    res[:] = object_acceleration(data.model, data, kind, objid, bool(flg_local))


@function("d: d, xpos: w3, xmat: w9, pos: v3, quat: v4, body: int, sameframe: int")
def mj_local2Global(
    d: MjData, xpos: Array, xmat: Array, pos: Array, quat: Array, body: int, sameframe: int
) -> None:
    """The pose in the world of something that is given in a body's frame; `sameframe` says if it is the body's own or
    that of its inertia (mjtSameFrame)."""
    data = d._data
    at_inertia, whole = sameframe in (2, 4), sameframe in (1, 2)
    frame, point = (data.ximat, data.xipos) if at_inertia else (data.xmat, data.xpos)
    if whole:
        xpos[:] = point[body]
    else:
        xpos[:] = data.xpos[body] + data.xmat[body].reshape(3, 3) @ pos
    if sameframe:
        xmat[:] = frame[body]
    else:
        turned = quat_multiply(data.xquat[body].tolist(), quat.tolist())
        xmat[:] = quat_matrix(turned)


# ---- positions ----------------------------------------------------------------------------------------------------


@function("m: m, qpos: w, qvel: v, dt: float")
def mj_integratePos(m: MjModel, qpos: Array, qvel: Array, dt: float) -> None:
    """Move positions at constant velocities for a time."""
    need(len(qpos) == m._model.nq, "qpos should be of size nq")
    need(len(qvel) == m._model.nv, "qvel should be of size nv")
    qpos[:] = positions.integrate_pos(m._model, qpos, qvel, dt)


@function("m: m, qvel: w, dt: float, qpos1: v, qpos2: v")
def mj_differentiatePos(m: MjModel, qvel: Array, dt: float, qpos1: Array, qpos2: Array) -> None:
    """The constant velocities that take qpos1 to qpos2 in a time."""
    need(len(qvel) == m._model.nv, "qvel should be of size nv")
    need(len(qpos1) == m._model.nq, "qpos1 should be of size nq")
    need(len(qpos2) == m._model.nq, "qpos2 should be of size nq")
    qvel[:] = positions.differentiate_pos(m._model, qpos1, qpos2, dt)


@function("m: m, qpos: w")
def mj_normalizeQuat(m: MjModel, qpos: Array) -> None:
    """Make all quaternions in qpos one long."""
    model = m._model
    need(len(qpos) == model.nq, "qpos should be of size nq")
    for kind, start in zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True):
        if kind in (FREE, BALL):
            first = start + (3 if kind == FREE else 0)
            qpos[first : first + 4] = quat_normalize(qpos[first : first + 4].tolist())


# ---- derivatives --------------------------------------------------------------------------------------------------


@function("m: m, d: d, eps: float, flg_centered: int, A: W?, B: W?, C: W?, D: W?")
def mjd_transitionFD(
    m: MjModel,
    d: MjData,
    eps: float,
    flg_centered: int,
    A: Array | None,
    B: Array | None,
    C: Array | None,
    D: Array | None,
) -> None:
    """Derivatives of a step by state and controls, by finite differences: of the state A, B and of sensors C, D."""
    model = m._model
    nx = 2 * model.nv + model.na
    for name, matrix, shape, words in (
        ("A", A, (nx, nx), "(2*nv+na, 2*nv+na)"),
        ("B", B, (nx, model.nu), "(2*nv+na, nu)"),
        ("C", C, (model.nsensordata, nx), "(nsensordata, 2*nv+na)"),
        ("D", D, (model.nsensordata, model.nu), "(nsensordata, nu)"),
    ):
        need(matrix is None or matrix.shape == shape, f"{name} should be of shape {words}")
    data = engine_of(m, d).data
    found = _refusing(
        lambda: finite_difference.transition_fd(model, data, eps, bool(flg_centered)), "mjd_transitionFD"
    )
    for matrix, values in zip((A, B, C, D), found, strict=True):
        if matrix is not None:
            matrix[:] = values


def _refusing(run: Any, name: str) -> Any:
    try:
        return run()
    except ValueError as problem:
        if isinstance(problem, DovetailError):
            raise
        raise FatalError(f"{name}: {problem}") from None


@function(
    "m: m, d: d, eps: float, flg_actuation: int, DfDq: W?, DfDv: W?, DfDa: W?, DsDq: W?, DsDv: W?, DsDa: W?, "
    "DmDq: W?"
)
def mjd_inverseFD(
    m: MjModel,
    d: MjData,
    eps: float,
    flg_actuation: int,
    DfDq: Array | None,
    DfDv: Array | None,
    DfDa: Array | None,
    DsDq: Array | None,
    DsDv: Array | None,
    DsDa: Array | None,
    DmDq: Array | None,
) -> None:
    """Derivatives of inverse dynamics (f), sensors (s), mass matrix (m) by positions, velocities, accelerations."""
    model = m._model
    asked = {
        "DfDq": DfDq,
        "DfDv": DfDv,
        "DfDa": DfDa,
        "DsDq": DsDq,
        "DsDv": DsDv,
        "DsDa": DsDa,
        "DmDq": DmDq,
    }
    columns = {"f": (model.nv, "nv"), "s": (int(model.nsensordata), "nsensordata"), "m": (model.nM, "nM")}
    for name, matrix in asked.items():
        count, word = columns[name[1]]
        need(matrix is None or matrix.shape == (model.nv, count), f"{name} should be of shape (nv, {word})")
    data = engine_of(m, d).data
    found = _refusing(
        lambda: finite_difference.inverse_fd(model, data, eps, bool(flg_actuation)), "mjd_inverseFD"
    )
    for name, matrix in asked.items():
        if matrix is not None:
            matrix[:] = getattr(found, name)


__all__ = [name for name in globals() if name.startswith(("mj_", "mju_", "mjd_"))]
