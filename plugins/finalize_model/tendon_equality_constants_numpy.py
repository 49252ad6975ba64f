"""Constants of tendons and equality constraints in the reference configuration.

Tendon lengths at qpos0 and qpos_spring, inverse weights of tendons, and the parts of eq_data that follow from
where bodies are. Compare set0 in engine_setconst.c.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from dovetail.contracts.enums import EqType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import jacobian_row
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate, quat_multiply

UNSET = -1.0
"""Both spring lengths of a tendon that rests at its length in qpos_spring."""


def add_tendon_fields(model: ModelLike, data: SimpleNamespace) -> None:
    """Give a stand-in for Data what the tendon stage writes."""
    ntendon, nv, nwrap = int(model.ntendon), int(model.nv), int(model.nwrap)
    for name in ("ten_wrapadr", "ten_wrapnum", "ten_J_rownnz", "ten_J_rowadr"):
        setattr(data, name, np.zeros(ntendon, np.int32))
    data.ten_J_colind = np.zeros((ntendon, nv), np.int32)
    data.ten_J = np.zeros((ntendon, nv))
    data.ten_length = np.zeros(ntendon)
    data.wrap_obj = np.zeros((nwrap, 2), np.int32)
    data.wrap_xpos = np.zeros((nwrap, 6))


def tendon_inverse_weights(model: ModelLike, data: DataLike, solve: Callable[[Array], Array]) -> Array:
    """J·M⁻¹·Jᵀ of every tendon."""
    weights = np.zeros(model.ntendon)
    for tendon in range(model.ntendon):
        dofs, entries = jacobian_row(model, data, tendon)
        force = np.zeros(model.nv)
        force[dofs] = entries
        weights[tendon] = force @ solve(force)
    return weights


def spring_lengths(model: ModelLike, length: Array) -> Array:
    """tendon_lengthspring, with the length at qpos_spring where none was given."""
    unset = np.all(model.tendon_lengthspring == UNSET, axis=1)
    return np.where(unset[:, None], length[:, None], model.tendon_lengthspring)


def equality_data(model: ModelLike, data: DataLike) -> Array:
    """eq_data with what connects and welds between bodies take from their poses at qpos0."""
    filled = np.array(model.eq_data)
    for equality in np.flatnonzero(model.eq_objtype == ObjType.BODY):
        body1, body2 = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        if model.eq_type[equality] == EqType.CONNECT:
            anchor = filled[equality, :3]
            filled[equality, 3:6] = into_frame(data, body2, out_of_frame(data, body1, anchor))
        elif model.eq_type[equality] == EqType.WELD and not filled[equality, 6:10].any():
            anchor = filled[equality, :3]
            filled[equality, 3:6] = into_frame(data, body1, out_of_frame(data, body2, anchor))
            filled[equality, 6:10] = quat_multiply(
                quat_conjugate(data.xquat[body1].tolist()), data.xquat[body2].tolist()
            )
    return filled


def out_of_frame(data: DataLike, body: int, point: Array) -> Array:
    """A point of a body in the world."""
    return data.xpos[body] + data.xmat[body].reshape(3, 3) @ point


def into_frame(data: DataLike, body: int, point: Array) -> Array:
    """A point of the world in a body's frame."""
    return (point - data.xpos[body]) @ data.xmat[body].reshape(3, 3)
