"""Constraint rows in lanes beside mujoco's: Jacobians, weights and reference accelerations, row by row."""

from __future__ import annotations

from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_constrained import (
    ROWS,
    Worlds,
    _stage,
    constrained_stages,
    make_worlds,
    set_from,
    states_in_contact,
)
from lane_program import group
from lane_small import N, apply
from lane_zoo import zoo

from dovetail.backends.lanes.functions import power
from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS
from dovetail.plugins.shared.rows.rows_lanes import BodyRows, DofRows
from dovetail.plugins.shared.vectors_lanes import dot

TOLERANCE = 1e-9
"""Relative to the largest number; measured 1e-12."""
MODELS = {
    "pyramidal": {"cone": "pyramidal", "condim": 3, "solimp": ".7 .95 .03 .4 3.5", "impratio": 3},
    "elliptic": {"cone": "elliptic", "condim": 6, "solimp": ".9 .9 .01", "impratio": 2},
}
"""The power of the impedance's curve is no whole number in the first; the curve is flat in the second."""
LEFT = " ".join(group("contact_list", "body_rows", "dof_rows", "row_counts"))
"""What the stages have left for the one that shows it."""


@cache
def model(name: str) -> Any:
    return zoo(**MODELS[name])


@cache
def shown(name: str) -> Worlds:
    """A program whose last stage copies the rows into Data: one world per tile, so that its bonds are the world's."""
    m = model(name)
    sizes = {"dof": 64, "bond": 256}

    def show(k: Kernel) -> None:
        rows, body_rows, d = DofRows(k), BodyRows(k), k.data.extra
        d["test:nefc"][0] = k.kernel_field("row_counts.active")[0]
        with k.loop(0, rows.count) as r:
            d["test:dof_D"][r] = rows.D[r]
            d["test:dof_offset"][r] = rows.offset[r]
            with k.loop(0, k.model.nv) as dof:
                d["test:dof_J"][r, dof] = 0.0
            with k.loop(0, rows.column("nnz", r)) as n:
                d["test:dof_J"][r, rows.dof(r, n)] = rows.coefficient[r, n]
        d["test:nbond"][0] = 1.0 * body_rows.count
        with k.loop(0, body_rows.count) as bond:
            for n in range(2):
                d["test:bond_D"][bond, n] = body_rows.D[bond, n]
            with k.loop(0, body_rows.dim[bond]) as row:
                d["test:bond_offset"][bond, row] = body_rows.offset[bond, row]
                with k.loop(0, k.model.nv) as dof:
                    d["test:bond_J"][bond, row, dof] = 0.0
                for end, wrench in (
                    (body_rows.near, body_rows.near_wrench),
                    (body_rows.far, body_rows.far_wrench),
                ):
                    with k.when(end[bond] > 0), k.loop(0, k.model.nv) as dof:
                        chain = k.table("test/chain", _moves(k.frozen_model))
                        with k.when(chain[end[bond], dof] > 0):
                            entry = dot(wrench[bond, row], k.data.cdof[dof])
                            d["test:bond_J"][bond, row, dof] += entry

    shapes = {
        "test:nefc": (1,),
        "test:nbond": (1,),
        "test:dof_D": (sizes["dof"],),
        "test:dof_offset": (sizes["dof"],),
        "test:dof_J": (sizes["dof"], m.nv),
        "test:bond_D": (sizes["bond"], 2),
        "test:bond_offset": (sizes["bond"], 6),
        "test:bond_J": (sizes["bond"], 6, m.nv),
    }
    names = " ".join(shapes)
    before = [s for s in constrained_stages() if s.stage != "solve_constraints"]
    stages = [*before, _stage("show", show, f"cdof {names} {LEFT}", names)]
    return make_worlds(m, 1, stages=stages, keep=list(shapes), added=shapes, lanes=1)


def _moves(m: Any) -> np.ndarray:
    """Which dofs move which body (nbody, nv)."""
    found = np.zeros((m.nbody, m.nv), int)
    for body in range(1, m.nbody):
        found[body] = found[m.body_parentid[body]]
        first = int(m.body_dofadr[body])
        found[body, first : first + int(m.body_dofnum[body])] = 1
    return found


@cache
def states(name: str) -> list[Any]:
    found = states_in_contact(model(name), 5, warmup=10)
    for data in found[::2]:
        data.eq_active[6] = 1
        mujoco.mj_forward(model(name), data)
    return found


def run(name: str, data: Any) -> Worlds:
    found = shown(name)
    set_from(found, [data])
    found.run()
    return found


def dense_jacobian(m: Any, data: Any) -> np.ndarray:
    J = np.zeros((data.nefc, m.nv))
    if mujoco.mj_isSparse(m):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = data.efc_J.reshape(J.shape)
    return J


def lane_rows(found: Worlds, m: Any, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J, D and aref of all rows as mujoco has them, from the lanes' base rows."""
    J, D, offset = (found[f"test:dof_{n}"][0] for n in ("J", "D", "offset"))
    have = D > 0
    rows = [(j, d, -o) for j, d, o in zip(J[have], D[have], offset[have], strict=False)]
    for bond in range(int(found["test:nbond"][0, 0])):
        D, J, offset = (found[f"test:bond_{n}"][0, bond] for n in ("D", "J", "offset"))
        if D[0] > 0:
            rows += bond_rows(m, data, bond, J, D, offset)
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def bond_rows(m: Any, data: Any, bond: int, J: np.ndarray, D: np.ndarray, offset: np.ndarray) -> list[Any]:
    equality = [n for n in range(m.neq) if m.eq_type[n] in (0, 1)]
    if bond < len(equality):
        return [(J[r], D[r // 3], -offset[r]) for r in range(6 if m.eq_type[equality[bond]] == 1 else 3)]
    c = bond - len(equality)
    dim, friction = int(data.contact.dim[c]), data.contact.friction[c]
    if dim == 1:
        return [(J[0], D[0], -offset[0])]
    if m.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL:
        return [(J[0] + s * J[r], D[0], -offset[0] - s * offset[r]) for r in range(1, dim) for s in (1, -1)]
    # the tangents are multiplied by friction; their common weight is D/m
    tangents = [(J[r] / f, D[0] / D[1] * f * f, -offset[r] / f) for r, f in enumerate(friction[: dim - 1], 1)]
    return [(J[0], D[0], -offset[0]), *tangents]


def in_order(J: np.ndarray, D: np.ndarray, aref: np.ndarray) -> np.ndarray:
    """Rows as one matrix in an order of their own: mujoco's differs where a model mixes sources."""
    table = np.column_stack([J, D, aref])
    return table[np.lexsort(np.round(table, 6).T)]


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_mujocos(name: str) -> None:
    m = model(name)
    for data in states(name):
        found = run(name, data)
        assert found["test:nefc"][0, 0] == data.nefc
        J, D, aref = lane_rows(found, m, data)
        wanted = in_order(dense_jacobian(m, data), data.efc_D, data.efc_aref)
        got = in_order(J, D, aref)
        assert got.shape == wanted.shape
        scale = np.abs(wanted).max(axis=0) + 1.0
        assert (np.abs(got - wanted) / scale).max() < TOLERANCE


def test_the_row_stages_write_no_data() -> None:
    assert not any(stage.writes - set(BUILTIN_KERNEL_FIELDS) for stage in ROWS)


@pytest.mark.parametrize(("precision", "tolerance"), [("f64", 1e-13), ("f32", 1e-4)])
def test_powers(precision: str, tolerance: float) -> None:
    rng = np.random.default_rng(4)
    x = 10.0 ** rng.uniform(-30, 0, (300, N))
    x[0], x[1] = 0.0, 1.0

    def stage(k: Kernel) -> None:
        for i, exponent in enumerate((0.5, 1.0, 2.7, 0.01)):
            k.data.y[i] = power(k, k.data.x[i], exponent)

    found = apply(stage, x, precision=precision)["y"][:, :4]
    given = x[:, :4].astype(np.float32 if precision == "f32" else np.float64).astype(float)
    wanted = given ** np.array([0.5, 1.0, 2.7, 0.01])
    tiny = 1e-37 if precision == "f32" else 0.0
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tiny)
