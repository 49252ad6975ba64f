"""Tendon lengths, their Jacobians, and the points of the paths in the world frame.

A fixed tendon is a weighted sum of joint positions. A spatial one runs straight from site to site, around
wrapping geoms where it must; after a pulley, lengths are divided by its divisor. The Jacobian sums over straight
pieces between different bodies the piece's direction times the difference of its ends' velocities.

`ten_J` is laid out as MuJoCo 3.4 does: full rows (and ten_J_rownnz, …, all zero) for a dense Jacobian, and
one compressed row after another for a sparse one, which has entries for all dofs that move either end of a
piece. Compare mj_tendon.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import (
    Row,
    is_sparse,
    point_jacobian,
    write_dense,
    write_sparse,
)
from dovetail.plugins.shared.tendons.layout import CYLINDER, JOINT, PULLEY, SITE
from dovetail.plugins.shared.tendons.wrapping_numpy import direction_of, wrap

ON_SITE, ON_PULLEY = -1, -2
"""What wrap_obj says of a path point that lies on no geom."""


def tendon(model: ModelLike, data: DataLike) -> None:
    """Write ten_length, ten_J with its structure, and the paths."""
    if not model.ntendon:
        return
    rows: list[Row] = []
    paths = PathPoints(model)
    for index in range(model.ntendon):
        first = int(model.tendon_adr[index])
        span = range(first, first + int(model.tendon_num[index]))
        data.ten_wrapadr[index] = paths.count
        if model.wrap_type[first] == JOINT:
            length, row = fixed(model, data, span)
        else:
            length, row = spatial(model, data, span, paths)
        data.ten_length[index] = length
        data.ten_wrapnum[index] = paths.count - data.ten_wrapadr[index]
        rows.append(row)
    data.wrap_obj[:] = paths.obj.reshape(-1, 2)
    data.wrap_xpos[:] = paths.xpos.reshape(-1, 6)
    (write_sparse if is_sparse(model) else write_dense)(model, data, rows)


class PathPoints:
    """The path points of all tendons, one after the other."""

    def __init__(self, model: ModelLike) -> None:
        self.obj = np.zeros(2 * model.nwrap, np.int32)
        self.xpos = np.zeros((2 * model.nwrap, 3))
        self.count = 0

    def add(self, obj: int, point: Array | float = 0.0) -> None:
        self.obj[self.count] = obj
        self.xpos[self.count] = point
        self.count += 1


def fixed(model: ModelLike, data: DataLike, span: range) -> tuple[float, Row]:
    """A weighted sum of joint positions."""
    length, row, sparse = 0.0, Row(), is_sparse(model)
    for place in span:
        joint, coefficient = model.wrap_objid[place], float(model.wrap_prm[place])
        length += coefficient * float(data.qpos[model.jnt_qposadr[joint]])
        dof = int(model.jnt_dofadr[joint])
        # a joint named twice counts twice in a sparse Jacobian, but once, its last coefficient, in a dense one
        row[dof] = coefficient + (row.get(dof, 0.0) if sparse else 0.0)
    return length, row


def spatial(model: ModelLike, data: DataLike, span: range, paths: PathPoints) -> tuple[float, Row]:
    """A path through sites, around geoms and over pulleys."""
    length, row, divisor = 0.0, Row(), 1.0
    place, end = span.start, span.stop - 1
    while place < end:
        kind, next_kind = model.wrap_type[place], model.wrap_type[place + 1]
        if kind == PULLEY:
            divisor = float(model.wrap_prm[place])
            paths.add(ON_PULLEY)
        if kind == PULLEY or next_kind == PULLEY:
            place += 1
            continue
        goal = place + 1 if next_kind == SITE else place + 2
        piece = piece_between(model, data, place, goal)
        for obj, point in zip(piece.objects[:-1], piece.points[:-1], strict=True):
            paths.add(obj, point)
        with np.errstate(divide="ignore", invalid="ignore"):  # MuJoCo lets a pulley divide by zero
            length += float(np.divide(piece.length, divisor))
            add_piece(model, data, piece, np.divide(1.0, divisor), row)
        place = goal
        if place == end or model.wrap_type[place + 1] == PULLEY:
            paths.add(ON_SITE, piece.points[-1])
    return length, row


class Piece:
    """From one site to the next: two points, or four if the way is around a geom."""

    def __init__(self, points: list[Array], bodies: list[int], objects: list[int], on_surface: float) -> None:
        self.points, self.bodies, self.objects = points, bodies, objects
        steps = [distance(a, b) for a, b in zip(points[:-1:2], points[1::2], strict=True)]
        self.length = steps[0] if len(steps) == 1 else on_surface + steps[0] + steps[1]


def distance(a: Array, b: Array) -> float:
    """Between two points, summed in MuJoCo's order."""
    x, y, z = (a - b).tolist()
    return sqrt(x * x + y * y + z * z)


def piece_between(model: ModelLike, data: DataLike, place: int, goal: int) -> Piece:
    """The piece of a path between the sites at two places of wrap_objid, with perhaps a geom between them."""
    first, last = int(model.wrap_objid[place]), int(model.wrap_objid[goal])
    start, end = np.array(data.site_xpos[first]), np.array(data.site_xpos[last])
    bodies = [int(model.site_bodyid[first]), int(model.site_bodyid[last])]
    detour = around_geom(model, data, place + 1, start, end) if goal > place + 1 else None
    if detour is None:
        return Piece([start, end], bodies, [ON_SITE, ON_SITE], 0.0)
    length, reach, leave = detour
    geom = int(model.wrap_objid[place + 1])
    on = int(model.geom_bodyid[geom])
    return Piece(
        [start, reach, leave, end], [bodies[0], on, on, bodies[1]], [ON_SITE, geom, geom, ON_SITE], length
    )


def around_geom(model: ModelLike, data: DataLike, place: int, start: Array, end: Array) -> Any:
    """The detour around the geom at a place of wrap_objid, if the straight way needs one."""
    geom, side = int(model.wrap_objid[place]), round(float(model.wrap_prm[place]))
    return wrap(
        start,
        end,
        np.array(data.geom_xpos[geom]),
        np.array(data.geom_xmat[geom]).reshape(3, 3),
        float(model.geom_size[geom, 0]),
        bool(model.wrap_type[place] == CYLINDER),
        np.array(data.site_xpos[side]) if side >= 0 else None,
    )


def add_piece(model: ModelLike, data: DataLike, piece: Piece, scale: float, row: Row) -> None:
    """Add to a Jacobian row how fast each straight part between different bodies grows."""
    for k in range(len(piece.points) - 1):
        if piece.bodies[k] == piece.bodies[k + 1]:
            continue
        x, y, z = direction_of(piece.points[k + 1] - piece.points[k])
        change: Row = {}
        for sign, end in ((-1.0, k), (1.0, k + 1)):
            dofs, speeds = point_jacobian(model, data, piece.bodies[end], piece.points[end])
            # Each product is rounded, so that what cancels in MuJoCo cancels here; NumPy 2.5's `@` rounds less often.
            along = sign * (speeds[:, 0] * x + speeds[:, 1] * y + speeds[:, 2] * z)
            for dof, speed in zip(dofs.tolist(), along.tolist(), strict=True):
                change[dof] = change.get(dof, 0.0) + speed
        for dof, speed in change.items():
            row[dof] = row.get(dof, 0.0) + speed * scale
