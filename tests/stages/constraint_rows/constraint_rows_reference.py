"""Constraint rows of dovetail beside MuJoCo's, from the same positions, tendons and contacts."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import dovetail
from dovetail.compare.oracle import model_from_mujoco, read
from dovetail.plugins.constraint_reference.spring_damper_numpy import constraint_reference
from dovetail.plugins.constraint_rows.contact_numpy import NO_DOFS, contact
from dovetail.plugins.constraint_rows.equality_numpy import equality
from dovetail.plugins.constraint_rows.frictionloss_numpy import frictionloss
from dovetail.plugins.constraint_rows.limit_numpy import limit
from dovetail.plugins.queries.dense import dense_jacobian

INPUTS = (
    *("qpos", "qvel", "xpos", "xquat", "xmat", "site_xpos", "subtree_com", "cdof", "eq_active"),
    *("ten_length", "ten_J", "ten_J_rownnz", "ten_J_rowadr", "ten_J_colind", "flexvert_xpos"),
    *("flexedge_length", "flexedge_J", "flexedge_J_rownnz", "flexedge_J_rowadr", "flexedge_J_colind"),
)
CONTACT_INPUTS = (
    *("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction", "solimp"),
    *("dim", "geom", "flex", "elem", "vert", "exclude"),
)
COUNTS = ("ne", "nf", "nl", "nefc")
EXACT = ("efc_type", "efc_id")
CLOSE = (
    *("efc_pos", "efc_margin", "efc_frictionloss", "efc_diagApprox", "efc_KBIP", "efc_D", "efc_R"),
    *("efc_vel", "efc_aref"),
)
TOLERANCE = 1e-10
"""Relative to each number, or absolute where that is below 1."""


def make_rows(model: Any, data: Any) -> None:
    """The four sources, after the zeroing that the plan does, and the reference."""
    for count in (*COUNTS, "nJ"):
        setattr(data, count, 0)
    for source in (equality, frictionloss, limit, contact):
        source(model, data)
    constraint_reference(model, data)


def ours(mj_model: Any, mj_data: Any) -> tuple[Any, Any]:
    """A Model with MuJoCo's numbers, and a Data with MuJoCo's positions and contacts."""
    model = model_from_mujoco(mj_model)
    data = dovetail.make_data(model)
    take_over(mj_data, data)
    return model, data


def take_over(mj_data: Any, data: Any) -> None:
    """Copy what the row sources read."""
    for name in INPUTS:
        field = data.field(name)
        # of flex edges' Jacobians MuJoCo's arrays are longer than their entries
        field[...] = np.asarray(read(mj_data, name)).reshape(-1)[: field.size].reshape(field.shape)
    count = mj_data.ncon
    data.reserve(ncon_max=count)
    data.ncon = count
    for name in CONTACT_INPUTS:
        field = data.field(f"contact.{name}")
        field[:count] = np.asarray(getattr(mj_data.contact, name)).reshape(field[:count].shape)
    # which contacts have no dofs is for the rows to find out
    exclude = data.contact.exclude[:count]
    exclude[exclude == NO_DOFS] = 0


def mujoco_jacobian(mj_model: Any, mj_data: Any) -> NDArray[Any]:
    """MuJoCo's efc_J as (nefc, nv)."""
    dense = np.zeros((mj_data.nefc, mj_model.nv))
    if dense.size and mujoco.mj_isSparse(mj_model):
        structure = mj_data.efc_J_rownnz, mj_data.efc_J_rowadr, mj_data.efc_J_colind
        mujoco.mju_sparse2dense(dense, mj_data.efc_J, *structure)
    elif dense.size:
        dense[:] = mj_data.efc_J.reshape(-1, mj_model.nv)[: mj_data.nefc]
    return dense


def assert_same(ours: Any, theirs: Any, name: str) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


def assert_rows_agree(mj_model: Any, mj_data: Any, model: Any, data: Any) -> None:
    """Compare everything that mj_makeConstraint and mj_referenceConstraint write."""
    for name in COUNTS:
        assert getattr(data, name) == getattr(mj_data, name), name
    nefc, ncon = mj_data.nefc, mj_data.ncon
    for name in EXACT:
        np.testing.assert_array_equal(getattr(data, name)[:nefc], getattr(mj_data, name), err_msg=name)
    if (
        not mj_model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    ):  # else MuJoCo's are not initialised
        np.testing.assert_array_equal(data.tendon_efcadr, mj_data.tendon_efcadr)
    for name in ("efc_address", "exclude"):
        theirs = getattr(mj_data.contact, name)
        np.testing.assert_array_equal(getattr(data.contact, name)[:ncon], theirs, err_msg=name)
    for name in CLOSE:
        rows = getattr(data, name)[:nefc]
        assert_same(rows, getattr(mj_data, name).reshape(rows.shape), name)
    assert_same(data.contact.mu[:ncon], mj_data.contact.mu, "contact.mu")
    assert_same(dense_jacobian(model, data), mujoco_jacobian(mj_model, mj_data), "efc_J")
    if mujoco.mj_isSparse(mj_model):
        assert_structure_agrees(mj_data, data)


def assert_structure_agrees(mj_data: Any, data: Any) -> None:
    assert data.nJ == mj_data.nJ
    for name, count in (
        ("rownnz", data.nefc),
        ("rowadr", data.nefc),
        ("rowsuper", data.nefc),
        ("colind", data.nJ),
    ):
        field = f"efc_J_{name}"
        np.testing.assert_array_equal(getattr(data, field)[:count], getattr(mj_data, field), err_msg=field)


def compare(mj_model: Any, mj_data: Any) -> tuple[Any, Any]:
    """Rows at MuJoCo's present state, compared; returns our Model and Data."""
    mujoco.mj_forward(mj_model, mj_data)
    model, data = ours(mj_model, mj_data)
    make_rows(model, data)
    assert_rows_agree(mj_model, mj_data, model, data)
    return model, data
