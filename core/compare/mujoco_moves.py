"""MuJoCo's step from a state, and how far that moves when the state is nudged by rounding.

Some states amplify rounding: a solver that stops after two iterations, spheres deep inside a box. MuJoCo built with
another compiler gives other numbers there. So where an error is beyond its tolerance, MuJoCo takes the same step
from states nudged by 1e-14, and the error counts if it is beyond a thousand of MuJoCo's own moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from dovetail.compare.errors import FieldError, Worst, relative_error
from dovetail.compare.mujoco_fields import ITERATIONS, MujocoFields
from dovetail.compare.oracle import read, require_mujoco
from dovetail.compare.timeline import MOVES
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, STATE

State = Mapping[str, Array]
"""All that a step depends on, of one world."""

NUDGES = 6
NUDGE = {"f64": 1e-14, "f32": 1e-7}
"""About rounding, by precision; a third of the nudges are ten times larger, a third ten times smaller."""
IDLE = 1e-15
"""An iteration of the solver that gains less, in its own scale, gains nothing."""
STATISTICS_OF_ISLAND = 200
"""How many iterations `solver` has room for on each island (mjNSOLVER)."""
BAD = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC")
"""Warnings after which MuJoCo resets the state."""


def put_state(model: Any, oracle: Any, state: State) -> None:
    """Put an MjData into a state; all else is as in a new one."""
    require_mujoco().mj_resetData(model, oracle)
    for name, value in state.items():
        if not hasattr(oracle, name):
            continue
        if np.ndim(getattr(oracle, name)):
            getattr(oracle, name)[...] = np.reshape(value, np.shape(getattr(oracle, name)))
        else:
            setattr(oracle, name, np.asarray(value).item())


def state_of(oracle: Any) -> dict[str, Array]:
    """The state of an MjData, by the names that Data has for it."""
    return {name: np.array(read(oracle, name)) for name in STATE if hasattr(oracle, name)}


class Oracle:
    """MuJoCo at one state: an evaluation, or a step from there."""

    def __init__(self, fields: MujocoFields, precision: str = "f64") -> None:
        self.mujoco = require_mujoco()
        self.fields, self.model, self.precision = fields, fields.theirs, precision
        self.data = self.mujoco.MjData(self.model)
        self._state: State = {}
        self._act: Callable[[Any, Any], None] = self.mujoco.mj_step
        self._moves: dict[str, float] | None = None

    def step(self, state: State) -> None:
        """Take a step from a state."""
        self._do(self.mujoco.mj_step, state)

    def forward(self, state: State) -> None:
        """Evaluate a state."""
        self._do(self.mujoco.mj_forward, state)

    def _do(self, act: Callable[[Any, Any], None], state: State) -> None:
        self._act, self._state, self._moves = act, state, None
        put_state(self.model, self.data, state)
        act(self.model, self.data)

    @property
    def began_anew(self) -> bool:
        """Whether MuJoCo found the state bad."""
        kinds = (getattr(self.mujoco.mjtWarning, name) for name in BAD)
        return any(int(self.data.warning[kind].number) for kind in kinds)

    def move(self, field: str) -> float:
        """How far nudges of the state move a field; infinite where they change how many entries it has."""
        if self._moves is None:
            self._moves = self._nudged()
        return self._moves.get(field, 0.0)

    def _nudged(self) -> dict[str, float]:
        names = [name for name in DATA_SPECS if self.fields.has(name)]
        wanted = {name: self._value(name, self.data) for name in names}
        moves = dict.fromkeys(names, 0.0)
        taken = {self._iterations(self.data)}
        near = self.mujoco.MjData(self.model)
        for number in range(NUDGES):
            put_state(self.model, near, self._state)
            self._nudge(near, number)
            self._act(self.model, near)
            taken.add(self._iterations(near))
            self._take(moves, wanted, near)
        for most in self._sooner(taken):
            with self._iterating(most):
                put_state(self.model, near, self._state)
                self._act(self.model, near)
            self._take(moves, wanted, near)
        if self._was_idle():
            moves[ITERATIONS] = max(moves.get(ITERATIONS, 0.0), 1.0)
        return moves

    def _was_idle(self) -> bool:
        """Whether the solver's last iteration gained nothing but rounding, so that it is chance that it was made: it
        began at the minimum, where no row acts."""
        counts = self._iterations(self.data)
        last = (number * STATISTICS_OF_ISLAND + count - 1 for number, count in enumerate(counts) if count)
        gains = self.data.solver.improvement
        return any(abs(float(gains[place])) <= IDLE for place in last if place < len(gains))

    def _take(self, moves: dict[str, float], wanted: Mapping[str, Array], near: Any) -> None:
        for name, value in wanted.items():
            if not np.isfinite(value).all():
                continue  # what is lost tells nothing of rounding
            there = self._value(name, near)
            same = there.shape == value.shape
            moves[name] = max(moves[name], relative_error(there, value) if same else np.inf)

    def _value(self, name: str, data: Any) -> Array:
        return np.array(self.fields.mujocos(DATA_SPECS[name], data), dtype=np.float64)

    def _nudge(self, near: Any, number: int) -> None:
        random = np.random.default_rng(number)
        size = NUDGE[self.precision] * 10.0 ** (number % 3 - 1)
        self.mujoco.mj_integratePos(self.model, near.qpos, size * random.standard_normal(self.model.nv), 1.0)
        for name in ("qvel", "act", "qacc_warmstart"):
            value = getattr(near, name)
            value += size * np.maximum(1.0, np.abs(value)) * random.standard_normal(value.shape)

    def _iterations(self, data: Any) -> tuple[int, ...]:
        return tuple(data.solver_niter[: max(1, int(data.nisland))].tolist())

    def _sooner(self, taken: set[tuple[int, ...]]) -> Iterator[int]:
        """Where nudges change after how many iterations the solver stops, one iteration fewer than the fewest: no
        nudge is certain to find the shortest way."""
        most = {max(counts) for counts in taken}
        if len(most) > 1 and 1 <= min(most) - 1 < int(self.model.opt.iterations):
            yield min(most) - 1

    @contextmanager
    def _iterating(self, most: int) -> Iterator[None]:
        kept, self.model.opt.iterations = self.model.opt.iterations, most
        try:
            yield
        finally:
            self.model.opt.iterations = kept


@attrs.frozen(kw_only=True)
class Moved:
    """An error beyond its tolerance that MuJoCo's own moves explain."""

    slot: str
    field: str
    where: str
    error: float
    tolerance: float
    move: float
    """How far nudges move MuJoCo's own answer."""

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    def __str__(self) -> str:
        own = "by as much as you like" if np.isinf(self.move) else f"by {self.move:.0e}"
        return f"{self.slot} {self.field}{self.where}: error {self.error:.1e}; nudges move MuJoCo {own}"


@attrs.define
class Judged(Worst):
    """The worst error of each field, but for those that MuJoCo's own moves explain, which are kept apart."""

    compared: int = 0
    """Fields that were compared, each time."""
    moved: dict[tuple[str, str], Moved] = attrs.field(factory=dict)
    """By slot and field the worst that is explained."""
    explained: int = 0
    """How often one was."""
    oracle: Oracle | None = None
    """MuJoCo at the state that is compared."""
    moment: str = ""
    """Where that state comes from, in words."""

    def keep(self, row: FieldError) -> FieldError:
        if row.ok or self.oracle is None:
            return super().keep(row)
        row = attrs.evolve(row, where=f"{row.where}, {self.moment}" if self.moment else row.where)
        move = self.oracle.move(row.field)
        if row.error > MOVES * move:
            return super().keep(row)
        self.explained += 1
        key = (row.slot, row.field)
        known = self.moved.get(key)
        if known is None or row.error > known.error:
            said = {name: getattr(row, name) for name in ("slot", "field", "where", "error", "tolerance")}
            self.moved[key] = Moved(**said, move=move)
        return attrs.evolve(row, tolerance=MOVES * move)
