"""MuJoCo's constraint rows in a dovetail Data, so that islands, solvers and no-slip can be tested alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import dovetail
from dovetail.compare.oracle import model_from_mujoco
from dovetail.contracts.types import Data, Model
from dovetail.errors import ValidationError
from dovetail.plugins.islands.components_numpy import islands
from dovetail.plugins.noslip.gauss_seidel_numpy import noslip
from dovetail.plugins.solve_constraints import cg_numpy, newton_numpy, pgs_numpy

SMOOTH = ("M", "qLD", "qLDiagInv", "qacc_smooth", "qfrc_smooth", "qacc_warmstart")
ROWS = ("type", "id", "pos", "margin", "frictionloss", "diagApprox", "KBIP", "D", "R", "vel", "aref")
CONTACT = (
    *("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction", "solimp", "mu"),
    *("dim", "geom1", "geom2", "geom", "flex", "elem", "vert", "exclude", "efc_address"),
)
SOLVERS: dict[str, tuple[int, Callable[[Any, Any], None]]] = {
    "newton": (int(mujoco.mjtSolver.mjSOL_NEWTON), newton_numpy.solve_constraints),
    "cg": (int(mujoco.mjtSolver.mjSOL_CG), cg_numpy.solve_constraints),
    "pgs": (int(mujoco.mjtSolver.mjSOL_PGS), pgs_numpy.solve_constraints),
}
"""MuJoCo's number of each solver, and ours."""
CONES = {"pyramidal": 0, "elliptic": 1}
STATISTICS = ("improvement", "gradient", "lineslope", "nactive", "nchange", "neval", "nupdate")


def jacobian_rows(mj_model: Any, mj_data: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """rownnz, colind and values of efc_J, from a copy that stores it sparse."""
    if not mujoco.mj_isSparse(mj_model):
        mj_model, mj_data = copy(mj_model), copy(mj_data)
        mj_model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        mujoco.mj_forward(mj_model, mj_data)
    count = mj_data.efc_J_rownnz.copy()
    at = np.concatenate([np.arange(a, a + n) for a, n in zip(mj_data.efc_J_rowadr, count, strict=True)])
    return count, mj_data.efc_J_colind[at], mj_data.efc_J[at]


def copied(mj_model: Any, mj_data: Any, model: Model | None = None) -> tuple[Model, Data]:
    """Model and Data with MuJoCo's numbers in all fields that islands, solvers and no-slip read. A Model given is
    brought to the options of MuJoCo's."""
    model = model_from_mujoco(mj_model) if model is None else model
    take_options(model, mj_model)
    data = dovetail.make_data(model)
    ncon, nefc = int(mj_data.ncon), int(mj_data.nefc)
    for name in SMOOTH:
        getattr(data, name)[...] = getattr(mj_data, name)
    data.ncon, data.nefc = ncon, nefc
    data.ne, data.nf, data.nl = int(mj_data.ne), int(mj_data.nf), int(mj_data.nl)
    if not nefc:
        return model, data
    count, column, values = jacobian_rows(mj_model, mj_data)
    data.reserve(ncon_max=ncon, nefc_max=nefc, nJ_max=len(column))
    data.nJ = len(column)
    data.efc_J_rownnz[:nefc] = count
    data.efc_J_rowadr[:nefc] = np.cumsum(count) - count
    data.efc_J_colind[: len(column)] = column
    data.efc_J[: len(column)] = values
    for name in ROWS:
        getattr(data, f"efc_{name}")[:nefc] = getattr(mj_data, f"efc_{name}")
    for name in CONTACT:
        getattr(data.contact, name)[:ncon] = getattr(mj_data.contact, name)
    return model, data


OPTIONS = (
    *("solver", "cone", "jacobian", "iterations", "tolerance", "ls_iterations", "ls_tolerance", "impratio"),
    *("noslip_iterations", "noslip_tolerance", "disableflags", "enableflags"),
)


def take_options(model: Model, mj_model: Any) -> None:
    for name in OPTIONS:
        setattr(model.opt, name, getattr(mj_model.opt, name))


def solved(mj_model: Any, mj_data: Any, solver: str, model: Model | None = None) -> Data:
    """Islands, solver and (if the options ask for it) no-slip on MuJoCo's constraint rows."""
    model, data = copied(mj_model, mj_data, model)
    islands(model, data)
    SOLVERS[solver][1](model, data)
    if mj_model.opt.noslip_iterations:
        noslip(model, data)
    return data


def ours(mj_model: Any, path: Path) -> Model:
    """Our Model with MuJoCo's numbers, or compiled by us where some of MuJoCo's are not finite (meshes)."""
    try:
        return model_from_mujoco(mj_model)
    except ValidationError:
        return dovetail.load(path)


def visited(mj_model: Any, steps: int, every: int, seed: int = 0) -> Iterator[Any]:
    """Data after mj_forward at states along a trajectory with random controls; those without constraints left out."""
    rng = np.random.default_rng(seed)
    mj_data = mujoco.MjData(mj_model)
    for step in range(steps):
        mj_data.ctrl[:] = rng.uniform(-1.0, 1.0, mj_model.nu)
        mujoco.mj_step(mj_model, mj_data)
        if step % every == every - 1:
            here = copy(mj_data)
            mujoco.mj_forward(mj_model, here)
            if here.nefc:
                yield here


def error(actual: NDArray[Any], expected: NDArray[Any]) -> float:
    """Largest difference, relative to the largest expected value, or absolute where that is below 1."""
    if not expected.size:
        return 0.0
    return float(np.max(np.abs(actual - expected)) / max(1.0, np.max(np.abs(expected))))


def answer_error(data: Data, mj_data: Any) -> float:
    """The worst of qacc, efc_force and qfrc_constraint."""
    return max(
        error(data.qacc, mj_data.qacc),
        error(data.efc_force[: mj_data.nefc], mj_data.efc_force),
        error(data.qfrc_constraint, mj_data.qfrc_constraint),
    )


def _files(package: str, *below: str) -> dict[str, Path]:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return {}
    folder = Path(next(iter(spec.submodule_search_locations)), *below)
    return {f"{package}/{path.stem}": path for path in sorted(folder.glob("*.xml"))}


FILES = {**_files("gymnasium", "envs", "mujoco", "assets"), **_files("dm_control", "suite")}
"""Models of Gymnasium and dm_control's suite, as far as they are installed."""
