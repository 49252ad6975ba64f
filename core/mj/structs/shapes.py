"""Attributes of MjData that dovetail keeps in another form than MuJoCo shows them in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dovetail.contracts.assigned import assign
from dovetail.contracts.enums import EnableBit, SleepState
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.mj.structs.lasting import LateArray
from dovetail.plugins.queries.dense import dense_jacobian
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse

SORTED = ("iLDiagInv", "iM_rownnz", "iM_rowadr", "iacc", "iacc_smooth", "ifrc_smooth", "ifrc_constraint")
"""Arrays over the degrees of freedom that are in islands, of which there are nidof."""


def _full_rows(data: Data) -> bool:
    """Whether rows of the Jacobian are shown with all columns; room that nobody has filled yet has no rows."""
    if is_sparse(data.model):
        return False
    return int(np.sum(data.efc_J_rownnz[: data.nefc])) == int(data.nJ)


def _jacobian(self: Any) -> Array:
    """The constraint Jacobian, row by row: entries where Jacobians are sparse, else all columns. Those are a copy,
    because dovetail keeps entries only, and cannot be written."""
    data = self._data
    if not data.nefc:
        return np.empty(0)
    if not _full_rows(data):
        rows: Array = data.efc_J  # first: this may fill nJ
        return rows[: data.nJ]
    dense = dense_jacobian(data.model, data).reshape(-1)
    dense.flags.writeable = False
    return dense


def _entries(self: Any) -> int:
    """Entries of the constraint Jacobian."""
    data = self._data
    return int(data.nefc) * int(data.model.nv) if _full_rows(data) else int(data.nJ)


def _columns(self: Any) -> Array:
    """Degrees of freedom of the entries of the constraint Jacobian; with full rows it says nothing."""
    data = self._data
    if not data.nefc:
        return np.empty(0, np.int32)
    if not _full_rows(data):
        columns: Array = data.efc_J_colind
        return columns[: data.nJ]
    full = np.tile(np.arange(data.model.nv, dtype=np.int32), int(data.nefc))
    full.flags.writeable = False
    return full


def _cut(name: str) -> property:
    def get(self: Any) -> Array:
        rows: Array = getattr(self._data, name)
        return rows[: self._data.nidof]

    def set_(self: Any, value: Any) -> None:
        assign(name, get(self), value)

    return property(get, set_)


def _by_edge(name: str) -> property:
    """A row per flex edge, where rows are full."""

    def get(self: Any) -> Array:
        found: Array | None = self._lasting.get(name)
        if found is None:
            rows: Array = getattr(self._data, name)
            full = (self._data.model.nflexedge, self._data.model.nv)
            found = self._lasting[name] = rows.reshape(full) if rows.size == full[0] * full[1] else rows
        return found

    def set_(self: Any, value: Any) -> None:
        assign(name, get(self), value)

    return property(get, set_)


# ---- who is awake, where nobody sleeps


def _all_bodies(model: Model) -> Array:
    return np.arange(model.nbody, dtype=np.int32)


def _body_states(model: Model) -> Array:
    states = np.full(model.nbody, int(SleepState.AWAKE), np.int32)
    fixed = (np.asarray(model.body_treeid) < 0) & (np.asarray(model.body_mocapid) < 0)
    states[fixed] = int(SleepState.STATIC)
    return states


_AWAKE: dict[str, Callable[[Model], Any]] = {
    "ntree_awake": lambda model: model.ntree,
    "nbody_awake": lambda model: model.nbody,
    "nparent_awake": lambda model: model.nbody - 1,
    "nv_awake": lambda model: model.nv,
    "tree_awake": lambda model: np.ones(model.ntree, np.int32),
    "body_awake": _body_states,
    "body_awake_ind": _all_bodies,
    "parent_awake_ind": lambda model: np.roll(_all_bodies(model), -1),
    "dof_awake_ind": lambda model: np.arange(model.nv, dtype=np.int32),
}


def _wake(data: Data, name: str) -> None:
    """Where the sleep stage does not run, say that everything is awake."""
    if not data.model.opt.enableflags & EnableBit.SLEEP:
        data.field(name)[...] = _AWAKE[name](data.model)


def _awake(name: str) -> property:
    """What the sleep stage tells; where it does not run, everything is awake."""

    def get(self: Any) -> Any:
        found = self._lasting.get(name)
        if found is None:
            data: Data = self._data
            view: Any = data.field(name)
            found = self._lasting[name] = LateArray.over(view, partial(_wake, data, name))
        _wake(self._data, name)
        return found

    def set_(self: Any, value: Any) -> None:
        setattr(self._data, name, value)

    return property(get, set_)


def _number_awake(name: str) -> property:
    """How many are awake."""

    def get(self: Any) -> Any:
        _wake(self._data, name)
        return getattr(self._data, name)

    def set_(self: Any, value: Any) -> None:
        setattr(self._data, name, value)

    return property(get, set_)


SHAPES: dict[str, property] = {
    "efc_J": property(_jacobian),
    "efc_J_colind": property(_columns),
    "nJ": property(_entries),
    **{name: _cut(name) for name in SORTED},
    **{name: _by_edge(name) for name in ("flexedge_J", "flexedge_J_colind")},
    **{name: (_awake if DATA_SPECS[name].shape else _number_awake)(name) for name in _AWAKE},
}
"""Attributes by name."""
