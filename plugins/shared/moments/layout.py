"""The sparse layout of actuator moments as far as it does not depend on the state: for lane kernels.

An actuator has an entry for each dof that can move its target, zero or not, so that its row's layout is a constant
of the model. (The reference stores, as MuJoCo does, only what is not zero where the target is no joint.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import TrnType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.contacts.contacts_lanes import pairs_of
from dovetail.plugins.shared.jacobian_rows_numpy import dofs_above
from dovetail.plugins.shared.tendons.layout import jacobian_structure, row_arms

OWN, OTHER, BOTH = 0, 1, 2
"""Which end of a transmission between two sites a dof moves: the first (the crank), the second (the reference or
the slider), or both."""


class Entry(NamedTuple):
    """One number of a row: its dof, and where it comes from (a place in ten_J, an end, or nothing for joints)."""

    dof: int
    source: int


def moment_rows(model: ModelLike) -> list[list[Entry]]:
    """The entries of every actuator's row."""
    tendons = [[Entry(*pair) for pair in row] for row in row_arms(model)]
    return [_row(model, actuator, tendons) for actuator in range(model.nu)]


def _row(model: ModelLike, actuator: int, tendons: list[list[Entry]]) -> list[Entry]:
    kind = TrnType(int(model.actuator_trntype[actuator]))
    target, other = (int(i) for i in model.actuator_trnid[actuator])
    if kind in (TrnType.JOINT, TrnType.JOINTINPARENT):
        return _joint_row(model, target)
    if kind == TrnType.TENDON:
        return tendons[target]
    if kind in (TrnType.SITE, TrnType.SLIDERCRANK):
        return _site_row(model, target, other, cancels=kind == TrnType.SITE)
    if kind == TrnType.BODY:
        return _contact_row(model, target)
    raise ValueError(
        f"actuator {actuator}: a transmission of type {kind.name.lower()} has no constant layout"
    )


def _joint_row(model: ModelLike, joint: int) -> list[Entry]:
    return [Entry(dof, 0) for dof in np.flatnonzero(model.dof_jntid == joint).tolist()]


def _site_row(model: ModelLike, site: int, other: int, *, cancels: bool) -> list[Entry]:
    """Dofs that move either site; those that move both do not count if their effects cancel."""
    own, theirs = (
        set(dofs_above(model, int(model.site_bodyid[i])).tolist()) if i >= 0 else set() for i in (site, other)
    )
    ends = dict.fromkeys(own, OWN) | dict.fromkeys(theirs, OTHER) | dict.fromkeys(own & theirs, BOTH)
    return [Entry(dof, end) for dof, end in sorted(ends.items()) if not (cancels and end == BOTH)]


def _contact_row(model: ModelLike, body: int) -> list[Entry]:
    """Dofs that move a body, or another that it may touch."""
    pairs = pairs_of(model)
    touching = (pairs.body1 == body) | (pairs.body2 == body)
    bodies = {body, *pairs.body1[touching].tolist(), *pairs.body2[touching].tolist()}
    dofs = {dof for n in bodies for dof in dofs_above(model, n).tolist()}
    return [Entry(dof, OWN) for dof in sorted(dofs)]


def moment_structure(model: ModelLike) -> Mapping[str, Array]:
    """Row lengths, row addresses and columns of actuator_moment."""
    rows = moment_rows(model)
    count = np.array([len(row) for row in rows], np.int32)
    columns = np.zeros(model.nJmom, np.int32)
    columns[: count.sum()] = [entry.dof for row in rows for entry in row]
    return {
        "moment_rownnz": count,
        "moment_rowadr": (np.cumsum(count) - count).astype(np.int32),
        "moment_colind": columns,
    }


def row_structure(model: ModelLike) -> Mapping[str, Array]:
    """The layouts of actuator_moment and ten_J, for stages that use them."""
    return {**moment_structure(model), **jacobian_structure(model)}
