"""Which stage of a kernel is wrong, where the kernel cannot be cut and only the forces at its end show it.

Rows of constraints, their reference accelerations and the solver hand each other what exists only in the kernel. So
both sides run the block again on inputs that leave one of them out. A solver without iterations gives the force at
the acceleration it starts from: if that is right, so are the rows, and the solver is not. Without velocity the
reference acceleration is what the rows' own numbers say. Without contacts, equalities or limits there are no rows of
that kind. Nothing is compiled for this: options and inputs are read when a kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import attrs
import numpy as np

from dovetail.compare.errors import relative_error
from dovetail.compare.run_sides import Block, transfer
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model

SOLVER, NOSLIP, ROWS, REFERENCE_ACCELERATION = (
    "solve_constraints",
    "noslip",
    "constraint_rows",
    "constraint_reference",
)
SEEN = ("qacc", "qfrc_constraint", "efc_force")
"""What shows that rows or solver differ."""
WIDE = 1e9
"""A range beyond which nothing goes."""
RIGHT = 1e-8
"""The largest error of a part that is right."""

Edits = Mapping[str, Any]


@attrs.frozen(eq=False)
class Inside:
    """A block of both sides, and what it was given."""

    model: Model
    first: Block
    second: Block
    given: Data
    """What A had computed before the block."""
    copies: tuple[Data, Data]
    evaluation: int
    clears: Sequence[str] = ()
    """Sums to clear before the block."""

    def stage(self, labels: Sequence[str]) -> tuple[str, str]:
        """The stage to blame for forces of constraints, among the labels of the block, and why."""
        if NOSLIP in labels and self._agrees({"opt.noslip_iterations": 0}):
            return NOSLIP, "without its sweeps both agree"
        if SOLVER in labels and self._agrees({"opt.iterations": 0, "opt.noslip_iterations": 0}):
            return SOLVER, "without iterations both give the same forces, so the rows are right"
        rows = [label for label in labels if label.partition(":")[0] == ROWS]
        if not rows:
            return SOLVER, ""
        return self._of_rows(rows, REFERENCE_ACCELERATION in labels)

    def _of_rows(self, rows: Sequence[str], reference: bool) -> tuple[str, str]:
        """A kind of rows: the one without which both agree; or their reference acceleration."""
        still: dict[str, Any] = {"opt.iterations": 0, "opt.noslip_iterations": 0}
        if reference and self._agrees({**still, "qvel": 0.0}):
            return REFERENCE_ACCELERATION, "without velocities both agree"
        there = [row for row in rows if self._count(row)]
        if len(there) == 1:
            return there[0], "no other kind of rows is there"
        for row in there:
            without = _WITHOUT.get(row.partition(":")[2])
            if without is not None and self._agrees({**still, **without}):
                return row, "without its rows both agree"
        return " or ".join(there) or ROWS, "forces differ before the solver's first iteration"

    def _count(self, row: str) -> int:
        """How many rows of a kind A has."""
        data = self.copies[0]
        kinds = {"equality": "ne", "frictionloss": "nf", "limit": "nl"}
        counts = {key: int(np.sum(data.field(name))) for key, name in kinds.items()}
        counts["contact"] = int(np.sum(data.field("nefc"))) - sum(counts.values())
        return counts.get(row.partition(":")[2], 1)

    def _agrees(self, edits: Edits) -> bool:
        """Whether both sides give the same forces on edited inputs. Where nothing acts, they tell nothing."""
        with self._edited(edits) as (a, b):
            self.first.run(a, self.evaluation)
            self.second.run(b, self.evaluation)
            return all(
                relative_error(_read(b, name), _read(a, name)) <= RIGHT
                for name in SEEN
                if name in a and name in b and name in self.first.leaves and name in self.second.leaves
            )

    @contextmanager
    def _edited(self, edits: Edits) -> Iterator[tuple[Data, Data]]:
        """The inputs, with other values; options of the Model are put back."""
        kept = {name: _field(self.model, name) for name in edits if _is_of_model(name)}
        try:
            for name, value in edits.items():
                if _is_of_model(name):
                    _set(self.model, name, value)
            for data in self.copies:
                transfer(data, self.given)
                for name in self.clears:
                    data.field(name)[...] = 0
                for name, value in edits.items():
                    if not _is_of_model(name) and name in data:
                        data.field(name)[...] = value
            yield self.copies
        finally:
            for name, value in kept.items():
                _set(self.model, name, value)


_WITHOUT: Mapping[str, Edits] = {
    "contact": {"ncon": 0},
    "equality": {"eq_active": 0},
    "limit": {"jnt_range": (-WIDE, WIDE), "tendon_range": (-WIDE, WIDE)},
    "frictionloss": {"dof_frictionloss": 1e-9, "tendon_frictionloss": 1e-9},
}
"""Inputs that leave out a kind of rows, or what it does."""


def _is_of_model(name: str) -> bool:
    return name.startswith(("opt.", "jnt_", "tendon_", "dof_"))


def _field(model: Model, name: str) -> Any:
    value = np.array(model.field(name))
    return value if np.ndim(value) else value.item()


def _set(model: Model, name: str, value: Any) -> None:
    owner, _, field = name.rpartition(".")
    if owner:
        setattr(getattr(model, owner), field, value)
        return
    view = model.field(field)
    if np.size(view):
        chosen = view > 0 if name.endswith("frictionloss") else slice(None)
        view[chosen] = value[chosen] if np.shape(value) == np.shape(view) else value


def _read(data: Data, name: str) -> Array:
    value = np.asarray(data.field(name), np.float64)
    return value.reshape(data.nworld or 1, -1).reshape(-1)


def blamed(find: Callable[[], tuple[str, str]]) -> tuple[str, str] | None:
    """What `find` finds out; None if the edited inputs cannot be run."""
    with suppress(ArithmeticError, ValueError, IndexError):
        return find()
    return None
