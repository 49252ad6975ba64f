"""Adding constraint rows to Data: what the four built-in sources use, and `append_rows` for plugins.

Rows are kept in the order equality, friction loss, limit, contact, whatever the order in which sources add
them; solvers and sensors rely on it. `data.ne`, `nf` and `nl` count the first three groups, `nefc` all rows
and `nJ` the entries of the Jacobian. Compare mj_addConstraint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail.contracts.enums import ConstraintType, DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.rows.impedance_numpy import (
    DEFAULT_SOLIMP,
    DEFAULT_SOLREF,
    impedance,
    regularisation,
    safe_solimp,
    safe_solref,
    stiffness_damping,
)
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, from_dense, supernodes

EQUALITY, FRICTION_DOF, FRICTION_TENDON, LIMIT_JOINT, LIMIT_TENDON = map(int, tuple(ConstraintType)[:5])
"""ConstraintType as plain integers: comparing an array with a member of an enum takes five times as long."""

GROUPS = {EQUALITY: "ne", FRICTION_DOF: "nf", FRICTION_TENDON: "nf", LIMIT_JOINT: "nl", LIMIT_TENDON: "nl"}
"""Which count a row's type belongs to; contacts have none."""
COUNTS = ("ne", "nf", "nl")

NO_OBJECT = -1
"""efc_id of a row that belongs to no object of the model."""


class RowGroup(NamedTuple):
    """Rows of one group with everything that Data keeps of them; numbers stand for as many equal ones."""

    kind: int | Array
    """efc_type."""
    ids: Array
    jacobian: SparseRows
    pos: Array
    margin: float | Array
    frictionloss: float | Array
    KBIP: Array
    """Stiffness, damping, impedance, slope of the impedance (n, 4)."""
    R: Array


def begin(model: ModelLike, data: DataLike, switch: DisableBit) -> bool:
    """Whether a source may add rows: `switch` is the flag that disables it. If it is the first to ask in this
    evaluation, the tendons' rows of an earlier one are forgotten."""
    off = int(model.opt.disableflags)
    if off & DisableBit.CONSTRAINT:
        return False
    if not data.nefc:
        data.tendon_efcadr[:] = -1
    return bool(model.nv) and not off & switch


def soft_rows(
    model: ModelLike,
    kind: int,
    ids: Array,
    jacobian: SparseRows,
    *,
    pos: Array,
    margin: float | Array = 0.0,
    frictionloss: float | Array = 0.0,
    solref: Array,
    solimp: Array,
    inverse_inertia: Array,
    violation: Array | None = None,
    describe: Callable[[int], str],
) -> RowGroup:
    """Rows whose softness follows from solref (n, 2) and solimp (n, 5). `violation` is what the impedance depends
    on, where that is not the row's own pos − margin. `describe(i)` names the i-th row's object in warnings."""
    solref, solimp = safe_solref(model, solref, describe), safe_solimp(solimp)
    value, slope = impedance(solimp, pos - margin if violation is None else violation)
    stiffness, damping = stiffness_damping(solref, solimp[:, 1])
    if GROUPS[kind] == "nf":
        stiffness = np.zeros_like(stiffness)
    return RowGroup(
        kind,
        ids,
        jacobian,
        pos,
        margin,
        frictionloss,
        np.stack([stiffness, damping, value, slope], axis=1),
        regularisation(value, inverse_inertia),
    )


def acting(model: ModelLike, jacobian: SparseRows, constraint: Array) -> Array:
    """Which rows to keep: those of constraints that some dof can change. MuJoCo asks a sparse Jacobian whether it
    has entries, and a dense one whether they are all zero. `constraint` numbers the constraint of each row."""
    if is_sparse(model):
        return jacobian.rownnz > 0
    changes = np.zeros(int(constraint.max(initial=-1)) + 1, bool)
    changes[constraint[jacobian.row_of_entry[jacobian.values != 0.0]]] = True
    return changes[constraint]


def store(data: DataLike, rows: RowGroup) -> int:
    """Write rows after the last one of their group, and return the number of the first."""
    nrow, nentry = len(rows.ids), len(rows.jacobian.colind)
    first, entry = make_room(data, rows.kind, nrow, nentry)
    here = slice(first, first + nrow)
    data.efc_type[here] = rows.kind
    data.efc_id[here] = rows.ids
    data.efc_pos[here] = rows.pos
    data.efc_margin[here] = rows.margin
    data.efc_frictionloss[here] = rows.frictionloss
    data.efc_KBIP[here] = rows.KBIP
    data.efc_R[here] = rows.R
    data.efc_D[here] = 1.0 / rows.R
    data.efc_diagApprox[here] = rows.R * rows.KBIP[:, 2] / (1.0 - rows.KBIP[:, 2])
    data.efc_J_rownnz[here] = rows.jacobian.rownnz
    data.efc_J_colind[entry : entry + nentry] = rows.jacobian.colind
    data.efc_J[entry : entry + nentry] = rows.jacobian.values
    finish_structure(data)
    return first


def finish_structure(data: DataLike) -> None:
    """Row addresses and supernodes of the Jacobian, from row lengths and dofs."""
    count = data.nefc
    rownnz = data.efc_J_rownnz[:count]
    data.efc_J_rowadr[:count] = np.cumsum(rownnz) - rownnz
    data.efc_J_rowsuper[:count] = supernodes(rownnz, data.efc_J_colind)


ROW_FIELDS = (
    *("efc_type", "efc_id", "efc_pos", "efc_margin", "efc_frictionloss", "efc_KBIP"),
    *("efc_R", "efc_D", "efc_diagApprox", "efc_J_rownnz"),
)
ENTRY_FIELDS = ("efc_J_colind", "efc_J")


def make_room(data: DataLike, kind: int | Array, nrow: int, nentry: int) -> tuple[int, int]:
    """Count new rows, and move those of later groups behind them; returns the first new row and entry."""
    nefc, nJ, first = data.nefc, data.nJ, next_row(data, kind)
    entry = int(data.efc_J_rownnz[:first].sum())
    data.reserve(nefc_max=nefc + nrow, nJ_max=nJ + nentry)
    if first < nefc:
        for name in ROW_FIELDS:
            shift(getattr(data, name), first, nefc, nrow)
        for name in ENTRY_FIELDS:
            shift(getattr(data, name), entry, nJ, nentry)
        for address in (data.contact.efc_address[: data.ncon], data.tendon_efcadr):
            address[address >= first] += nrow
    data.nefc, data.nJ = nefc + nrow, nJ + nentry
    count = group_of(kind)
    if count is not None:
        setattr(data, count, getattr(data, count) + nrow)
    return first, entry


def group_of(kind: int | Array) -> str | None:
    """The name of the count that rows of a kind belong to; contacts, of several kinds together, have none."""
    return GROUPS.get(kind) if isinstance(kind, int) else None


def next_row(data: DataLike, kind: int | Array) -> int:
    """Where the next row of a kind stands: behind its group."""
    count = group_of(kind)
    if count is None:
        return int(data.nefc)
    return sum(int(getattr(data, name)) for name in COUNTS[: COUNTS.index(count) + 1])


def write_tendon_addresses(data: DataLike, kind: int, tendons: Array, kept: Array) -> None:
    """Write tendon_efcadr of tendons that have no row yet, before their rows are stored: one row each, unless not
    kept. A tendon whose row is left out has the address its row would have had, as in MuJoCo."""
    address = next_row(data, kind) + np.cumsum(kept) - kept
    new = np.flatnonzero(data.tendon_efcadr[tendons] < 0)[::-1]
    # of a tendon named twice the first row counts: it is written last
    data.tendon_efcadr[tendons[new]] = address[new]


def shift(field: Array, start: int, stop: int, by: int) -> None:
    """Move a stretch of a field towards its end."""
    field[start + by : stop + by] = field[start:stop].copy()


def append_rows(
    model: ModelLike,
    data: DataLike,
    kind: ConstraintType,
    jacobian: Array | SparseRows,
    pos: Array,
    *,
    ids: Array | int = NO_OBJECT,
    margin: Array | float = 0.0,
    frictionloss: Array | float = 0.0,
    solref: Array | Sequence[float] = DEFAULT_SOLREF,
    solimp: Array | Sequence[float] = DEFAULT_SOLIMP,
    inverse_inertia: Array | None = None,
    source: str = "append_rows",
) -> int:
    """Add constraint rows of a plugin's own; for implementations of the table stage `constraint_rows`.

    `kind` says how the solver treats the n rows: `EQUALITY` pulls `pos` to zero from both sides, `LIMIT_JOINT` or
    `LIMIT_TENDON` only pushes, while `pos` is below `margin`, and `FRICTION_DOF` or `FRICTION_TENDON` resists
    motion with a force of at most `frictionloss`. Contacts have rows through `data.contact` only. A limit's row
    belongs in only while pos < margin; it is the caller who decides.

    `jacobian`: derivative of each row's `pos` (n) with respect to the dofs, dense (n, nv) or `SparseRows` with
    ascending dofs. `solref` (2) or (n, 2) and `solimp` (5) or (n, 5) as in MJCF. `inverse_inertia`
    (n): an estimate of the diagonal of J M⁻¹ Jᵀ that scales softness; by default Σ J² dof_invweight0. `ids`: the
    equality, dof, joint or tendon that rows belong to, for sensors; by default none. `source` is named in errors.

    Rows stand after the last one of their group, so those of later groups may move. Returns the number of the
    first. A record that uses it names in `reads` what its own code reads, and leaves `writes` to the stage.
    """
    group = GROUPS.get(int(kind))
    if group is None:
        known = ", ".join(ConstraintType(k).name for k in GROUPS)
        raise ValueError(f"{source}: rows of kind {kind!r} cannot be added; possible are {known}")
    rows = checked_rows(model, jacobian, source)
    count = len(rows.rownnz)
    pos = per_row("pos", pos, (count,), source)
    if inverse_inertia is None:
        entries = rows.values * rows.values * model.dof_invweight0[rows.colind]
        inverse_inertia = np.bincount(rows.row_of_entry, entries, minlength=count)
    return store(
        data,
        soft_rows(
            model,
            int(kind),
            per_row("ids", ids, (count,), source),
            rows,
            pos=pos,
            margin=per_row("margin", margin, (count,), source),
            frictionloss=per_row("frictionloss", frictionloss, (count,), source),
            solref=per_row("solref", solref, (count, 2), source),
            solimp=per_row("solimp", solimp, (count, 5), source),
            inverse_inertia=per_row("inverse_inertia", inverse_inertia, (count,), source),
            describe=lambda row: f"{source}, row {row}",
        ),
    )


def checked_rows(model: ModelLike, jacobian: Array | SparseRows, source: str) -> SparseRows:
    """A plugin's Jacobian as sparse rows, or an error that says what does not fit."""
    if not isinstance(jacobian, SparseRows):
        matrix = np.asarray(jacobian, float)
        if matrix.ndim != 2 or matrix.shape[1] != model.nv:
            raise ValueError(f"{source}: jacobian has shape {matrix.shape}, should be (n, nv = {model.nv})")
        return from_dense(matrix)
    rows = SparseRows(*map(np.asarray, jacobian))
    total = int(rows.rownnz.sum())
    if rows.colind.shape != (total,) or rows.values.shape != (total,):
        raise ValueError(
            f"{source}: the rows have {total} entries by rownnz, but colind has shape {rows.colind.shape} "
            f"and values {rows.values.shape}"
        )
    ascending = (np.diff(rows.colind) > 0) | (np.diff(rows.row_of_entry) > 0)
    inside = (rows.colind >= 0) & (rows.colind < model.nv)
    if not (ascending.all() and inside.all()):
        raise ValueError(f"{source}: dofs of a row should ascend and lie in 0 … nv − 1 = {model.nv - 1}")
    return rows


def per_row(name: str, value: Any, shape: tuple[int, ...], source: str) -> Array:
    """A value for each row; one value serves all."""
    try:
        return np.broadcast_to(np.asarray(value), shape)
    except ValueError:
        raise ValueError(
            f"{source}: {name} has shape {np.shape(value)}, should be {shape} or one for all rows"
        ) from None
