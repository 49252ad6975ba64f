"""Steps as users take them: one `Simulation`, no wrapper, states one after the other, beside MuJoCo and itself.

A stage that is right by itself can be wrong in a step: a kernel remembers what an earlier step left in its memory, a
world gets what belongs to its neighbour, a number is lost between two stages. So all that can be read after a step
is compared with MuJoCo's step from the same state, whatever was stepped before; and three relations must hold bit
for bit: a state gives the same numbers again, in any order; one call of N steps is N calls; a world does not depend
on those beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from dovetail.compare.errors import FieldError, getter, has_room, meaningful, relative_error
from dovetail.compare.mujoco_fields import MujocoFields, pipeline_order, writer_of
from dovetail.compare.mujoco_moves import Judged, Oracle, State
from dovetail.compare.run_starts import spread_out
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import NotKeptError
from dovetail.simulation import Simulation

REPEATED = 12
"""How many states are stepped again, in other orders."""
ORDERS = 2
CALLS = (0, 3)
"""Of which of these states one call of several steps is compared with several calls."""
IN_A_CALL = 4
WORLDS = 9
"""Of a batch: a tile of eight and one more, so that a tile is not full."""
SPOILT = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied")
"""Fields that get a NaN."""
LOOKED_AT = ("qpos", "qvel")
"""A NaN in one of them resets the state before any stage runs."""
SEEN_OF_BAD = ("time", "qpos", "qvel", "act")
"""What is compared after a step from a state with a NaN: MuJoCo begins anew, or goes on."""
WHICH = 1e-3
"""The largest error after such a step: what counts is which of the two it was."""
STATISTICS = ("solver", "bvh_active", "efc_AR", "nA", "contact.H")
"""Fields of which only a part means something; the rest of them depends on earlier steps, as in MuJoCo."""

Kind = Literal["mujoco", "order", "calls", "neighbours", "nan"]
SENTENCES: dict[Kind, str] = {
    "mujoco": "differs from MuJoCo's step",
    "order": "depends on the steps before it: the same state gives other bits",
    "calls": f"one call of {IN_A_CALL} steps is not {IN_A_CALL} calls",
    "neighbours": "depends on the worlds beside it, or that there are any",
    "nan": "differs from MuJoCo's step where a number is NaN",
}


@attrs.frozen(eq=False)
class Moment:
    """A state, and where it comes from."""

    where: str
    state: State


@attrs.frozen(kw_only=True)
class Disagreement:
    """What steps do that they should not."""

    kind: Kind
    way: str
    """`one world` or `batch`."""
    stage: str
    """The stage that shows it by itself, else the one that writes the first field that differs."""
    field: str
    where: str
    ours: float
    theirs: float
    error: float
    tolerance: float
    how: str = ""
    """How the stage was found, and what else is known."""

    def to_dict(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "what": SENTENCES[self.kind]}

    def __str__(self) -> str:
        text = (
            f"{self.stage}: {self.field}{self.where} in {self.way} {SENTENCES[self.kind]}: {self.ours!r} instead "
            f"of {self.theirs!r} (error {self.error:.1e}, tolerance {self.tolerance:.1e})"
        )
        return text + (f"; {self.how}" if self.how else "")


Namer = Callable[[Moment], tuple[str, str] | None]
"""The stage that differs from the reference in a step from a state, and how that was found."""


@attrs.define(eq=False)
class RealSteps:
    """A model's steps under one set of options."""

    fields: MujocoFields
    make: Callable[..., Simulation]
    """A Simulation of the model as users make one, with further arguments."""
    one: Simulation
    batch: Simulation
    judged: Judged
    moments: Sequence[Moment]
    between: Sequence[Moment] = ()
    """States for batches only."""
    name_stage: Namer = lambda moment: None
    found: list[Disagreement] = attrs.field(factory=list)
    steps: int = 0
    bad: int = 0
    """Steps in which MuJoCo found a bad state and began anew; of these the state is compared."""
    _oracle: Oracle = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._oracle = Oracle(self.fields, self.judged.precision)

    def run(self, *, relations: bool = True) -> None:
        """All comparisons; `relations`: those with itself, too."""
        if not self.moments:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # bad states, and what touches by its last bit
            alone = self._one_world(relations)
            self._batch(alone, relations)
            if relations:
                self._spoilt()

    # ---- one world

    def _one_world(self, relations: bool) -> dict[int, dict[str, Array]]:
        """Every state in turn; what some of them gave."""
        sim, wanted = self.one, dict[int, dict[str, Array]]()
        again = spread_out(range(len(self.moments)), REPEATED)
        for number, moment in enumerate(self.moments):
            self._take(sim, moment)
            if relations and number in again:
                wanted[number] = readings(sim.data)
            self._beside_mujoco(sim.data, moment, "one world")
        if relations:
            self._in_other_orders(sim, wanted)
            self._in_one_call(sim, [again[n] for n in CALLS if n < len(again)])
        return wanted

    def _take(self, sim: Simulation, moment: Moment, nstep: int = 1) -> None:
        put(sim.data, moment.state)
        sim.step(nstep)
        self.steps += nstep

    def _in_other_orders(self, sim: Simulation, wanted: Mapping[int, Mapping[str, Array]]) -> None:
        random = np.random.default_rng(0)
        for _ in range(ORDERS):
            for number in random.permutation(list(wanted)):
                moment = self.moments[number]
                self._take(sim, moment)
                self._same("order", "one world", moment, readings(sim.data), wanted[number])

    def _in_one_call(self, sim: Simulation, numbers: Iterable[int]) -> None:
        for number in numbers:
            moment = self.moments[number]
            self._take(sim, moment, IN_A_CALL)
            found = readings(sim.data)
            put(sim.data, moment.state)
            for _ in range(IN_A_CALL):
                sim.step()
            self._same("calls", "one world", moment, found, readings(sim.data))

    # ---- batches

    def _batch(self, alone: Mapping[int, Mapping[str, Array]], relations: bool) -> None:
        """Every state in some world of a batch; then some of them beside others, and beside themselves."""
        sim, moments, worlds = self.batch, (*self.moments, *self.between), self.batch.nworld or 1
        known: dict[int, dict[str, Array]] = {}
        again = set(spread_out(range(len(self.moments)), REPEATED))
        for first in range(0, len(moments), worlds):
            order = [(first + n) % len(moments) for n in range(worlds)]
            self._step_worlds(sim, [moments[number] for number in order])
            for number, world in zip(order, sim.data.worlds(), strict=True):
                if number in known or first > number:
                    continue
                self._beside_mujoco(world, moments[number], "batch")
                if number in again:
                    known[number] = readings(world)
        if relations:
            filled = frozenset[str]().union(*(slot.in_data for slot in sim.plan.slots))
            for number, wanted in alone.items():
                found = {name: value for name, value in known[number].items() if name in filled}
                self._same("neighbours", "batch", self.moments[number], found, wanted)
            self._beside_others(sim, known)

    def _step_worlds(self, sim: Simulation, moments: Sequence[Moment]) -> None:
        for moment, world in zip(moments, sim.data.worlds(), strict=True):
            put(world, moment.state)
        sim.step()
        self.steps += len(moments)

    def _beside_others(self, sim: Simulation, known: Mapping[int, Mapping[str, Array]]) -> None:
        random = np.random.default_rng(1)
        count = sim.nworld or 1
        orders = [np.resize(random.permutation(list(known)), count).tolist() for _ in range(ORDERS)]
        for order in (*orders, *([number] * count for number in known)):
            self._step_worlds(sim, [self.moments[number] for number in order])
            for number, world in zip(order, sim.data.worlds(), strict=True):
                self._same("neighbours", "batch", self.moments[number], readings(world), known[number])

    # ---- bad numbers

    def _spoilt(self) -> None:
        """A NaN in each field that a user sets: what becomes of the state, and of the step after it."""
        sim, random = self.one, np.random.default_rng(2)
        clean = self.moments[0]
        self._take(sim, clean)
        wanted = readings(sim.data)
        for name in SPOILT:
            value = np.array(clean.state[name], dtype=np.float64) if name in clean.state else np.zeros(0)
            if not value.size:
                continue
            value.flat[int(random.integers(value.size))] = np.nan
            moment = Moment(f"NaN in {name}, {clean.where}", {**clean.state, name: value})
            self._oracle.step(moment.state)
            self._take(sim, moment)
            self._see_state(sim.data, moment)
            self._take(sim, clean)
            self._same("order", "one world after a bad state", clean, readings(sim.data), wanted)

    def _see_state(self, data: Data, moment: Moment) -> None:
        """Compare what MuJoCo made of a bad state. Where both are NaN they agree."""
        for name in SEEN_OF_BAD:
            spec = DATA_SPECS[name]
            pair = self.fields.pair(spec, getter(data), self._oracle.data)
            ours, theirs = (np.array(value, np.float64) for value in pair)
            lost = ~np.isfinite(ours) & ~np.isfinite(theirs)
            ours[lost] = theirs[lost] = 0.0
            row = Judged(self.judged.model, tolerance=WHICH).add(writer_of(name), spec, ours, theirs)
            if not row.ok:
                self._tell("nan", "one world", moment, row)
                return

    # ---- comparing

    def _beside_mujoco(self, data: Data, moment: Moment, way: str) -> None:
        """All that can be read after a step, with what MuJoCo's step left."""
        self._oracle.step(moment.state)
        if self._oracle.began_anew:
            self.bad += 1
            self._see_state(data, moment)
            return
        judged, failed = self.judged, list[FieldError]()
        judged.oracle, judged.moment = self._oracle, moment.where
        for name in pipeline_order(name for name, _ in data.fields()):
            if not self.fields.has(name, matrices=True):
                continue
            spec = DATA_SPECS[name]
            ours, theirs = self.fields.pair(spec, getter(data), self._oracle.data, matrices=True)
            known = judged.rows.get((writer_of(name), name))
            row = judged.add(writer_of(name), spec, ours, theirs, reference=False)
            judged.compared += 1
            if not row.ok and row is not known:
                failed.append(row)
        if failed:
            self._tell("mujoco", way, moment, failed[0])

    def _same(
        self,
        kind: Kind,
        way: str,
        moment: Moment,
        found: Mapping[str, Array],
        wanted: Mapping[str, Array],
    ) -> None:
        """The same bits in every field; else the first in the order of the stages."""
        for name in pipeline_order(wanted):
            ours, theirs = found.get(name), wanted[name]
            if ours is None or (ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()):
                continue
            self._tell(kind, way, moment, _bits_row(name, ours, theirs))
            return

    def _tell(self, kind: Kind, way: str, moment: Moment, row: FieldError) -> None:
        """Note what is wrong, once of each kind."""
        if any(one.kind == kind and one.way == way for one in self.found):
            return
        stage, how = self._named(kind, moment, row)
        where = row.where if moment.where in row.where else f"{row.where}, {moment.where}"
        self.found.append(
            Disagreement(
                kind=kind,
                way=way,
                stage=stage,
                field=row.field,
                where=where,
                ours=row.ours,
                theirs=row.theirs,
                error=row.error,
                tolerance=row.tolerance,
                how=how,
            )
        )

    def _named(self, kind: Kind, moment: Moment, row: FieldError) -> tuple[str, str]:
        """The stage to blame, and why."""
        writer = writer_of(row.field)
        begun_anew = kind == "nan" and not all(np.isfinite(moment.state[name]).all() for name in LOOKED_AT)
        if kind not in ("mujoco", "nan") or begun_anew:
            return writer, f"{row.field} is the first field that differs, in the order of the stages"
        named = self.name_stage(moment)
        if named is not None:
            return named
        memory = "; a new Simulation gives MuJoCo's number" if self._new_one_is_right(moment, row) else ""
        return writer, f"no stage shows it by itself; {row.field} is the first field that differs{memory}"

    def _new_one_is_right(self, moment: Moment, row: FieldError) -> bool:
        sim = self.make()
        put(sim.data, moment.state)
        sim.step()
        ours, theirs = self.fields.pair(DATA_SPECS[row.field], getter(sim.data), self._oracle.data)
        return ours.shape == theirs.shape and relative_error(ours, theirs) <= row.tolerance


def put(data: Data, state: State) -> None:
    """Write one world's state."""
    for name, value in state.items():
        if name in data:
            data.field(name)[...] = np.reshape(value, np.shape(data.field(name)))


def readings(data: Data) -> dict[str, Array]:
    """Every field that steps fill of one world, but for those that are filled when somebody reads them. Of those that
    grow, the entries that mean something."""
    late = data.arena.late.names
    return {
        name: _meant(data, name)
        for name, _ in data.fields()
        if name not in late and not name.startswith(STATISTICS)
    }


def _meant(data: Data, name: str) -> Array:
    """A field, but for entries that are only room; nothing, where it is not kept how many mean something."""
    value, spec = np.array(data.field(name)), data.specs[name]
    if not has_room(spec):
        return value
    try:
        return meaningful(spec, value, getter(data))
    except NotKeptError:
        return value[:0]


def _bits_row(name: str, ours: Array, theirs: Array) -> FieldError:
    """The first entry whose bits differ."""
    common: dict[str, Any] = {"slot": writer_of(name), "field": name, "tolerance": 0.0}
    if ours.shape != theirs.shape:
        note = f"shape {ours.shape} instead of {theirs.shape}"
        return FieldError(**common, error=np.inf, where="", ours=np.nan, theirs=np.nan, note=note)
    bits = (np.ascontiguousarray(v).reshape(-1) for v in (ours, theirs))
    a, b = bits
    size = a.dtype.itemsize
    differing = (a.view(np.uint8).reshape(-1, size) != b.view(np.uint8).reshape(-1, size)).any(axis=1)
    first = int(np.argmax(differing))
    index = np.unravel_index(first, ours.shape) if ours.ndim else ()
    return FieldError(
        **common,
        error=relative_error(np.asarray(ours), np.asarray(theirs)) or float(np.finfo(np.float64).eps),
        where="".join(f"[{int(i)}]" for i in index),
        ours=float(a[first]),
        theirs=float(b[first]),
    )
