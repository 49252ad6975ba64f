"""Which fields of MuJoCo's are compared with ours, and how the two are brought into the same shape."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from dovetail.compare.errors import SPARSE, Getter, has_room, meaningful, written_out
from dovetail.compare.oracle import read, require_mujoco
from dovetail.compare.run_sides import ORDER
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.types import DATA_SPECS

ITERATIONS = "solver_niter"
"""How many iterations the solver took: compared where both engines have the model's own options."""

UNCOMPARED = {
    "bvh_active": "a record of which boxes MuJoCo tested, for drawing",
    "contact.H": "left from an earlier iteration unless the contact slides",
    "efc_AR_*": "left from an earlier step unless a solver needs the matrix",
    "iacc": "copies, sorted by island, of fields that are compared",
    "iacc_smooth": "copies, sorted by island, of fields that are compared",
    "ifrc_*": "copies, sorted by island, of fields that are compared",
    "iefc_aref": "copies, sorted by island, of fields that are compared",
    "iefc_force": "copies, sorted by island, of fields that are compared",
    "efc_state": "stale in MuJoCo when it solves by island",
    "iefc_state": "stale in MuJoCo when it solves by island",
    "solver.*": "how the solver went, not where it arrived",
    "solver_niter": "how the solver went, not where it arrived",
    "solver_nnz": "how the solver stores its matrix",
}
"""Data fields that are not compared, and why. `solver_niter` is compared where both have the model's own options."""

BY_MATRIX = ("flexedge_J",)
"""Matrices kept by rows that are compared written out, because MuJoCo's array has more room, and entries that cancel;
where their entries stand is not compared."""

JACOBIAN = "efc_J"
"""MuJoCo stores it as `opt.jacobian` says, dovetail always by row: where they differ it is compared written out."""

OF_SPARSE_JACOBIAN = ("efc_J_*", "iefc_J*", "nJ", "efc_AR", "nA")
"""Fields that MuJoCo fills only for a Jacobian that it stores by row."""

OF_ROWS = ("nA", "efc_AR")
"""Fields that keep the values of an earlier step when a step has no rows."""

AWAKE = ("tree_awake", "body_awake*", "*_awake", "*_awake_ind")
"""Lists of what is awake, which dovetail keeps only for models that may sleep."""


def pipeline_order(names: Any) -> list[str]:
    """Fields as the stages that write them run."""
    return sorted(names, key=lambda name: ORDER.get(writer_of(name), len(ORDER)))


def writer_of(name: str) -> str:
    """The stage that writes a field."""
    spec = DATA_SPECS.get(name)
    return (spec.writer if spec else None) or "integrate"


def reader(oracle: Any) -> Getter:
    """Reads fields of an MjData."""
    return lambda name: np.asarray(read(oracle, name))


class MujocoFields:
    """What can be compared with an MjData of a model."""

    def __init__(self, theirs: Any, *, iterations: bool = False) -> None:
        self.theirs = theirs
        self.nv = int(theirs.nv)
        self.iterations = iterations
        """Whether the number of the solver's iterations is compared."""
        self._example = require_mujoco().MjData(theirs)

    @property
    def dense(self) -> bool:
        """Whether MuJoCo stores its constraint Jacobian in full."""
        return not require_mujoco().mj_isSparse(self.theirs)

    @property
    def sleeps(self) -> bool:
        """Whether the model may sleep."""
        return bool(int(self.theirs.opt.enableflags) & int(EnableBit.SLEEP))

    def has(self, name: str, *, matrices: bool = False) -> bool:
        """Whether MuJoCo has the field (it does not show which pairs it tests for contact) and gives it a meaning.
        `matrices`: matrices kept by rows are compared written out, so where their entries stand is not."""
        if name not in DATA_SPECS or (name == ITERATIONS and not self.iterations):
            return False
        written = SPARSE if matrices else BY_MATRIX
        if name in (field for matrix in written for field in SPARSE[matrix]):
            return False
        if name != ITERATIONS and _matches(name, UNCOMPARED):
            return False
        if not self.sleeps and _matches(name, AWAKE):
            return False
        if self.dense and _matches(name, OF_SPARSE_JACOBIAN):
            return False
        owner, _, field = name.rpartition(".")
        return hasattr(read(self._example, owner) if owner else self._example, field)

    def pair(
        self, spec: FieldSpec, ours: Getter, oracle: Any, *, matrices: bool = False
    ) -> tuple[Array, Array]:
        """One world's field in both, without the entries that are only room."""
        get = reader(oracle)
        if spec.name in (SPARSE if matrices else BY_MATRIX):
            return written_out(spec.name, ours, self.nv), written_out(spec.name, get, self.nv)
        if spec.name == JACOBIAN and self.dense:
            return rows_written_out(ours, self.nv), get(JACOBIAN).reshape(int(oracle.nefc), self.nv)
        own = np.asarray(ours(spec.name))
        if spec.name == ITERATIONS:
            return _by_island(own, oracle), _by_island(get(ITERATIONS), oracle)
        if spec.name in OF_ROWS and not int(oracle.nefc):
            return np.zeros(0), np.zeros(0)
        if not has_room(spec):
            return own, get(spec.name).reshape(own.shape)
        theirs = get(spec.name).reshape(-1, *own.shape[1:])
        return meaningful(spec, own, _own_counts(ours, get)), meaningful(spec, theirs, get)

    def mujocos(self, spec: FieldSpec, oracle: Any) -> Array:
        """MuJoCo's own field, without the entries that are only room."""
        get = reader(oracle)
        if spec.name in SPARSE:
            return written_out(spec.name, get, self.nv)
        if spec.name == JACOBIAN and self.dense:
            return get(JACOBIAN)
        if spec.name == ITERATIONS:
            return _by_island(get(ITERATIONS), oracle)
        value = get(spec.name)
        if not has_room(spec):
            return value
        rest = [size for size in spec.shape[1:] if isinstance(size, int)]
        return meaningful(spec, value.reshape(-1, *rest), get)


def _own_counts(ours: Getter, theirs: Getter) -> Getter:
    """What says how many entries of ours mean something: our own count, or MuJoCo's if we keep none."""

    def get(name: str) -> Array:
        try:
            return np.asarray(ours(name))
        except (AttributeError, KeyError):
            return theirs(name)

    return get


def _by_island(iterations: Array, oracle: Any) -> Array:
    return np.ravel(iterations)[: max(1, int(oracle.nisland))]


def rows_written_out(get: Getter, nv: int) -> Array:
    """The constraint Jacobian, which is kept by row, as a matrix (nefc, nv)."""
    count = int(get("nefc"))
    matrix = np.zeros((count, nv))
    lengths, starts = (np.asarray(get(f"efc_J_{name}"))[:count] for name in ("rownnz", "rowadr"))
    columns, values = np.asarray(get("efc_J_colind")), np.asarray(get("efc_J"))
    for row in range(count):
        here = slice(int(starts[row]), int(starts[row] + lengths[row]))
        np.add.at(matrix[row], columns[here], values[here])
    return matrix


def _matches(name: str, patterns: Any) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
