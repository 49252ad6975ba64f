"""What the paths of tendons are made of, as far as it does not depend on the state: for lane kernels.

A spatial tendon is a list of pieces from site to site, each with perhaps a geom between them. Its Jacobian can
have entries for every dof that moves a piece's end or a geom that a piece may touch; a row is stored with all
of them, zero or not, so that its layout is a constant of the model. Compare `paths_numpy`, which stores what the
state asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import WrapType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import dofs_above, is_sparse
from dovetail.recorded_model import by_value

NONE = -1
"""No geom, side site or pulley."""


class PieceIds(NamedTuple):
    """From one site to the next: ids, and where the pulley before them is in wrap_prm."""

    tendon: int
    first: int
    last: int
    geom: int
    side: int
    pulley: int


class Coefficient(NamedTuple):
    """A joint of a fixed tendon, and where its coefficient is in wrap_prm."""

    tendon: int
    joint: int
    place: int


def spans(model: ModelLike) -> Iterator[tuple[int, range]]:
    """Each tendon with the places of its path in wrap_type, wrap_objid and wrap_prm."""
    for tendon, (first, count) in enumerate(
        zip(model.tendon_adr.tolist(), model.tendon_num.tolist(), strict=True)
    ):
        yield tendon, range(first, first + count)


def coefficients(model: ModelLike) -> list[Coefficient]:
    """The joints of all fixed tendons, in order."""
    return [
        Coefficient(tendon, int(model.wrap_objid[place]), place)
        for tendon, span in spans(model)
        if model.wrap_type[span.start] == JOINT
        for place in span
    ]


def pieces(model: ModelLike) -> list[PieceIds]:
    """The pieces of all spatial tendons, in order."""
    return [
        piece
        for tendon, span in spans(model)
        if model.wrap_type[span.start] != JOINT
        for piece in _pieces_of(model, tendon, span)
    ]


def _pieces_of(model: ModelLike, tendon: int, span: range) -> Iterator[PieceIds]:
    kind, objid = model.wrap_type, model.wrap_objid
    place, end, pulley = span.start, span.stop - 1, NONE
    while place < end:
        if kind[place] == PULLEY:
            pulley = place
        if kind[place] == PULLEY or kind[place + 1] == PULLEY:
            place += 1
            continue
        goal = place + 1 if kind[place + 1] == SITE else place + 2
        geom, side = NONE, NONE
        if goal > place + 1:
            by_value(model, "wrap_prm")
            geom, side = int(objid[place + 1]), round(float(model.wrap_prm[place + 1]))
        yield PieceIds(tendon, int(objid[place]), int(objid[goal]), geom, side, pulley)
        place = goal


def moving_bodies(model: ModelLike, piece: PieceIds) -> set[int]:
    """The bodies whose motion can change a piece's length."""
    first, last = int(model.site_bodyid[piece.first]), int(model.site_bodyid[piece.last])
    if piece.geom == NONE:
        return {first, last} if first != last else set()
    on = int(model.geom_bodyid[piece.geom])
    return set() if first == last == on else {first, last, on}


def row_dofs(model: ModelLike) -> list[list[int]]:
    """The dofs that each tendon's Jacobian has entries for, ascending."""
    dofs: list[set[int]] = [set() for _ in range(model.ntendon)]
    for tendon, joint, _ in coefficients(model):
        dofs[tendon].add(int(model.jnt_dofadr[joint]))
    for piece in pieces(model):
        for body in moving_bodies(model, piece):
            dofs[piece.tendon].update(dofs_above(model, body).tolist())
    return [sorted(row) for row in dofs]


def row_places(model: ModelLike) -> list[list[int]]:
    """Where the entries of each row are in ten_J, counted through: by full rows, or one after another."""
    rows = row_dofs(model)
    if not is_sparse(model):
        return [[tendon * int(model.nv) + dof for dof in row] for tendon, row in enumerate(rows)]
    ends = np.cumsum([0, *map(len, rows)]).tolist()
    return [list(range(start, end)) for start, end in pairwise(ends)]


def row_arms(model: ModelLike) -> list[list[tuple[int, int]]]:
    """(dof, place in ten_J) of the entries of each row."""
    return [list(zip(*row, strict=True)) for row in zip(row_dofs(model), row_places(model), strict=True)]


def jacobian_structure(model: ModelLike) -> Mapping[str, Array]:
    """ten_J_rownnz, ten_J_rowadr and ten_J_colind; all zero for a dense Jacobian, as in MuJoCo 3.4."""
    count = np.zeros(model.ntendon, np.int32)
    address = np.zeros(model.ntendon, np.int32)
    columns = np.zeros(model.ntendon * model.nv, np.int32)
    if is_sparse(model):
        rows = row_dofs(model)
        count[:] = [len(row) for row in rows]
        address[:] = np.cumsum(count) - count
        columns[: count.sum()] = [dof for row in rows for dof in row]
    return {
        "ten_J_rownnz": count,
        "ten_J_rowadr": address,
        "ten_J_colind": columns.reshape(model.ntendon, model.nv),
    }


JOINT, PULLEY, SITE, CYLINDER = map(int, (WrapType.JOINT, WrapType.PULLEY, WrapType.SITE, WrapType.CYLINDER))
