"""Lane kernels: writing a stage for many worlds as plain Python that reads like its NumPy sibling.

A stage builder is a function of a `Kernel`, run once when a plan is compiled::

    def damper(k: Kernel) -> None:
        m, d = k.model, k.data
        with k.loop(0, m.nv) as i:
            force = -m.dof_damping[i] * d.qvel[i]
            d.qfrc_damper[i] = force
            d.qfrc_passive[i] += force

`k.model` and `k.data` have MuJoCo's names. Indexing a field with fewer indices than it has axes gives the rest as
a NumPy object array (`d.xpos[i]` is a vector of three), and assigning to it stores. Conditions on the Model steer
`k.when`; conditions that differ between worlds steer `k.select`. Nothing outside this interface is emitted, so a
stage cannot reach the vector operations that abort some runtimes.

What runs when is visible. A Python `for` unrolls while the stage is built. A loop or branch of the kernel is a `with`
block (`k.loop`, `k.when`, `k.otherwise`, `k.worlds`, or a context manager made of them), or a `for` over a *walk*: a
generator made by `@walk` whose name begins with `each_` (`for r in rows.each_row("limits"):`), which unrolls, loops
or branches as the model needs. Both are left at their end only: a `break`, `return` or exception in them is a
LaneError, since it would happen while the stage is built and not in the kernel; `k.leave_when` ends a loop early.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes import values
from dovetail.backends.lanes.blocks import (
    Block,
    Branch,
    Break,
    Loop,
    SetVariable,
    Trace,
)
from dovetail.backends.lanes.groups import FieldGroup
from dovetail.backends.lanes.lifetimes import Lasts, Lifetime, declared
from dovetail.backends.lanes.memory import (
    KERNEL,
    PRIVATE,
    FieldPlace,
    IntegerField,
    LaneField,
    ModelField,
    PerWorldField,
    RealField,
    SplitField,
    Table,
    elementwise,
)
from dovetail.backends.lanes.scopes import Scope
from dovetail.backends.lanes.values import (
    COND,
    INT,
    MASK,
    NUM,
    REAL,
    Cond,
    Int,
    LaneError,
    Mask,
    Num,
    Real,
    Value,
    binary,
    kind_of,
    make,
)
from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS, KERNEL_SIZES, KernelField
from dovetail.deprecation import todays

__all__ = [
    "FORGOTTEN",
    "INTEGERS",
    "LACKING",
    "PRIVATE",
    "PROGRAM",
    "REALS",
    "Cond",
    "FieldPlace",
    "Int",
    "IntegerField",
    "Kernel",
    "LaneError",
    "LaneField",
    "LaneLayout",
    "Mask",
    "ModelField",
    "Num",
    "Real",
    "RealField",
    "SplitField",
    "Table",
    "Value",
    "Variable",
    "elementwise",
]

PROGRAM = "program"
"""Instead of a stage's name, for scratch memory of the program itself."""

INTEGERS = "#"
"""Ends the name of scratch memory that holds uniform integers."""

REALS = "~"
"""Ends the name of scratch memory that holds uniform reals."""

FORGOTTEN = f"!{INTEGERS}"
"""Ends the name of uniform integers that are zero whenever a launch begins with a tile."""

LACKING = f"{PROGRAM}{PRIVATE}lacking{INTEGERS}"
"""Memory that says how many times more room the lists of a tile need, or 0."""


@attrs.frozen
class LaneLayout:
    """Everything a stage can address: Model buffers, Data fields, sizes, and what the model is known to contain."""

    model: Mapping[str, tuple[str, FieldPlace]]
    data: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    features: Mapping[str, Container[str]] = attrs.field(factory=dict)
    """Members by group, as {"joint": {"hinge", "free"}}; a group left out may have any."""
    frozen_model: Any = None
    """The Model that the plan is for, as it was when the plan was made."""
    growth: int = 1
    """How many times the usual room lists have (see `Kernel.room`)."""
    lean: bool = False
    """Whether room costs memory even if it is not used, as on a device."""
    per_world: Container[str] = ()
    """Model fields that are lanes: every world has values of its own, in the Data field `model:<field>`."""
    kernel_fields: Mapping[str, KernelField] = BUILTIN_KERNEL_FIELDS
    """What stages may leave for each other, by name."""
    facts: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    """What the records of the plan's parts say about themselves, by slot."""
    given_tables: Mapping[str, np.ndarray] = attrs.field(factory=dict)
    """Kernel fields that are tables and that no stage of the program works out."""
    memo: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    """What stages worked out from the structure, so that it is done once for a program."""


@attrs.define(eq=False)
class Kernel:
    """The stage being built: its fields, its control flow, its functions."""

    layout: LaneLayout
    stage: str = "stage"
    stored_later: Callable[[str], bool] = lambda _name: True
    precision: str = "f64"
    lanes: int = 8
    """Worlds of a tile."""
    trace: Trace = attrs.field(factory=Trace)
    reads: set[str] = attrs.field(factory=set)
    writes: set[str] = attrs.field(factory=set)
    read_first: set[str] = attrs.field(factory=set)
    """What was read before the stage had written any of it."""
    private: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    """Shapes of scratch memory, by its full name."""
    lifetimes: dict[str, Lifetime] = attrs.field(factory=dict)
    """How long scratch memory holds what is in it, where the stage has said so (see `lifetimes`)."""
    tables: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Constant integers, by name; shared by all stages of a program."""
    table_fields: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Kernel fields that are tables, as far as stages of the program have worked them out; shared by all of them."""
    per_world: set[str] = attrs.field(factory=set)
    """Model fields with values per world that the stage reads."""
    buffers: set[str] = attrs.field(factory=set)
    """Optional buffers that the stage needs (see `fuse.OPTIONAL_BUFFERS`)."""
    _variables: int = 0
    _world_loops: int = 0
    _loops: list[Loop] = attrs.field(factory=list)

    @property
    def model(self) -> ModelFields:
        return ModelFields(self)

    @property
    def data(self) -> DataFields:
        return DataFields(self)

    @property
    def frozen_model(self) -> Any:
        """The Model itself, for working out tables while the stage is built: sizes, ids and types only, which the
        plan depends on. Values that users may edit (sizes of geoms, masses, gains) are read through `k.model`."""
        return self.layout.frozen_model

    @property
    def structure(self) -> Any:
        """The old name of `frozen_model`."""
        todays("name", "k.structure", self.stage)
        return self.frozen_model

    def varies(self, name: str) -> bool:
        """Whether every world has its own values of a Model field, so that `k.model.<name>` are lanes."""
        return name in self.layout.per_world

    def needed(self, name: str) -> bool:
        """Whether a Data field is kept, or a Data or kernel field read by another stage (unread results are dropped
        in any case)."""
        return self.stored_later(name)

    def leaves(self, name: str, why: str) -> None:
        """Places of a Data field that this stage never writes hold for ever what they hold after a reset."""
        self.lifetimes[name] = Lifetime(Lasts.ALWAYS, why)

    def has(self, feature: str) -> bool:
        """Whether the model may use a feature (`joint.ball`, `dyn.filter`): if not, a stage can leave code out."""
        group, _, member = feature.partition(".")
        known = self.layout.features.get(group)
        return known is None or member in known

    def scratch(self, name: str, *shape: int, kept: str = "", memo: str = "") -> LaneField:
        """Memory of this stage's own, per world. A forward evaluation finds anything in it, unless the stage says why
        it needs what was there: `kept` from step to step of one launch on one tile, `memo` in any (`lifetimes`)."""
        return LaneField(self, self._memory(self.stage, name, shape, kept, memo), shape)

    def integers(self, name: str, *shape: int, kept: str = "", memo: str = "") -> IntegerField:
        """Uniform integers of this stage's own, one set for the whole tile: lists of what is active in any world."""
        return IntegerField(self, self._memory(self.stage, name + INTEGERS, shape, kept, memo), shape)

    def forgotten_integers(
        self, name: str, *shape: int, kept: str = "they say what the stage has filled"
    ) -> IntegerField:
        """Uniform integers of this stage's own that are zero whenever a launch begins with a tile: they say which of
        its other kept memory the stage has filled for these worlds and this Model."""
        return IntegerField(self, self._memory(self.stage, name + FORGOTTEN, shape, kept), shape)

    def kernel_field(self, name: str) -> LaneField | IntegerField:
        """What stages of a kernel leave for each other under a declared name (`contracts.kernel_fields`)."""
        if name not in self.layout.kernel_fields:
            name = todays("kernel field", name, self.stage)
        field = self._declared(name)
        if field.kind == "table":
            raise LaneError(
                f"{self.stage}: {name} is worked out while the kernel is built: use k.table_field"
            )
        shape = self._shape_of(field)
        if field.kind == "integers":
            return IntegerField(self, self._memory(KERNEL, name + INTEGERS, shape), shape)
        return LaneField(self, self._memory(KERNEL, name, shape), shape)

    def group(self, name: str) -> FieldGroup:
        """The kernel fields of a group as attributes: `k.group("row_counts").active`."""
        return FieldGroup(self, name)

    def set_table_field(self, name: str, numbers: Any) -> None:
        """Give a kernel field that is a table its numbers, for stages after this one."""
        shape = self._shape_of(self._declared(name, "table"))
        array = np.asarray(numbers, dtype=np.int32)
        array = array if array.size else np.zeros(shape, np.int32)  # as other fields it is never empty
        if array.shape != shape:
            raise LaneError(
                f"{self.stage}: {name} has shape {shape}, but gets numbers of shape {array.shape}"
            )
        self.table_fields[name] = array
        self.record_write(name)

    def table_field(self, name: str) -> np.ndarray:
        """The numbers of a kernel field that is a table."""
        self._declared(name, "table")
        known = self.table_fields.get(name, self.layout.given_tables.get(name))
        if known is None:
            raise LaneError(
                f"{self.stage}: reads {name}, which no earlier stage of the program has worked out "
                f"({self.layout.kernel_fields[name].writer} would)"
            )
        self.record_read(name)
        return known

    def kernel_size(self, name: str) -> int:
        """A length of kernel fields: a size of the Model, or worked out as `KERNEL_SIZES` says. Asking for it reads
        nothing at run time, so what it is worked out from is not noted."""
        if name in self.layout.sizes:
            return self.layout.sizes[name]
        if name not in KERNEL_SIZES:
            known = [*KERNEL_SIZES, *self.layout.sizes]
            raise LaneError(f"{self.stage}: there is no size {name!r}{_near(name, known)}")
        memo, key = self.layout.memo, f"kernel_size/{name}"
        if key not in memo:
            noted = set(self.reads), set(self.read_first)
            module, _, function = KERNEL_SIZES[name].number.partition(":")
            memo[key] = int(getattr(import_module(module), function)(self))
            self.reads, self.read_first = noted
        size: int = memo[key]
        return size

    def _shape_of(self, field: KernelField) -> tuple[int, ...]:
        """The shape of a kernel field; a length that is 0 in this model becomes 1, as memory cannot be empty."""
        lengths = (n if isinstance(n, int) else self.kernel_size(n) for n in field.shape)
        return tuple(max(1, length) for length in lengths)

    def _declared(self, name: str, kind: str = "") -> KernelField:
        """The declaration of a kernel field, which must be of a kind if one is given."""
        known = self.layout.kernel_fields
        if name not in known:
            raise LaneError(
                f"{self.stage}: there is no kernel field {name!r}{_near(name, known)}; "
                "a plugin's own stands in its record's kernel_fields="
            )
        if kind and known[name].kind != kind:
            raise LaneError(f"{self.stage}: {name} is no {kind} but {known[name].kind}: use k.kernel_field")
        return known[name]

    def record_read(self, name: str) -> None:
        """The stage reads a declared field."""
        self.reads.add(name)
        if name not in self.writes:
            self.read_first.add(name)

    def record_write(self, name: str) -> None:
        """The stage writes a declared field."""
        self.writes.add(name)

    def program_memory(self, name: str, *shape: int, kept: str = "") -> LaneField:
        """Memory per world of the program itself, not of its stages: for what looks at them."""
        return LaneField(self, self._memory(PROGRAM, name, shape, kept), shape)

    def program_integers(self, name: str, *shape: int, kept: str = "") -> IntegerField:
        """Uniform integers of the program itself."""
        return IntegerField(self, self._memory(PROGRAM, name + INTEGERS, shape, kept), shape)

    def room(self, most: int, usual: int, lean: int | None = None) -> int:
        """Entries to keep memory for in a list that can have `most` of them: all, or `usual` if that is fewer.

        `lean` is taken instead of `usual` where room costs memory even if it is not used. Whoever fills a list with
        less room than `most` leaves out what does not fit, and says so by `k.lacks`.
        """
        if lean is not None and self.layout.lean:
            usual = lean
        return min(most, usual * self.layout.growth)

    def lacks(self, needed: Any, room: int) -> None:
        """Say that the tile needs more entries than the `room` there is: its results are dropped, and it is run again
        from where it was, with more room."""
        lacking = self.program_integers(
            "lacking", 1, kept="a tile that lacked room in one step takes no more"
        )
        lacking[0] = self.max(lacking[0], (needed + room - 1) // room)

    def reals(self, name: str, *shape: int, kept: str = "", memo: str = "") -> RealField:
        """Uniform reals of this stage's own, one set for the tile: memory for work on one world at a time."""
        return RealField(self, self._memory(self.stage, name + REALS, shape, kept, memo), shape)

    def split(self, name: str, *shape: int, kept: str = "", memo: str = "") -> SplitField:
        """Memory of this stage's own, per world, in which one world's numbers can be reached alone: what passes
        between lanes and the body of `k.worlds`."""
        return SplitField(self.reals(name, *shape, self.lanes, kept=kept, memo=memo))

    def _memory(self, owner: str, name: str, shape: tuple[int, ...], kept: str = "", memo: str = "") -> str:
        full = f"{owner}{PRIVATE}{name}"
        if kept or memo:
            self.lifetimes[full] = declared(kept, memo)
        known = self.private.setdefault(full, shape)
        if known != shape:
            raise LaneError(
                f"{self.stage}: scratch {name!r} asked for with shape {shape}, before with {known}"
            )
        return full

    def table(self, name: str, numbers: Any) -> Table:
        """Constant integers that the plan worked out from the model's structure, as an array to index."""
        array = np.ascontiguousarray(numbers, dtype=np.int32)
        known = self.tables.setdefault(name, array)
        if not np.array_equal(known, array):
            raise LaneError(f"{self.stage}: table {name!r} has other numbers than before")
        return Table(self, name, array.shape)

    def disabled(self, bit: int) -> Any:
        """Whether `opt.disableflags` switches a feature off: read at run time, so that flags may change."""
        return (self.model.opt.disableflags & int(bit)) != 0

    @property
    def evaluation(self) -> Int:
        """Which forward evaluation of the step this is: 0 for Euler, 0 to 3 for Runge-Kutta."""
        return self._root_symbol("evaluation")

    def _root_symbol(self, op: str) -> Any:
        return self.trace.node(op, INT, ())

    # control flow

    def loop(self, start: Any, stop: Any, *, reverse: bool = False) -> Scope[Int]:
        """Repeat for `start <= i < stop`, downwards if `reverse`."""
        return Scope(self, lambda: self._begin_loop(start, stop, reverse))

    def _begin_loop(self, start: Any, stop: Any, reverse: bool) -> tuple[Int, Callable[[], None]]:
        """The loop's index, and what ends it."""
        for bound in (start, stop):
            if kind_of(bound) != INT:
                raise LaneError(f"{self.stage}: a loop bound must be an Int, not {kind_of(bound)}")
        outer = self.trace.block
        body = Block(self.trace, outer)
        item = Loop(None, start, stop, reverse, body, outer)
        self.trace.effect(item)
        self.trace.enter(body, repeats=True)
        index = self.trace.node("index", INT, (), share=False)
        item.index = index
        assert isinstance(index, Int)
        self._loops.append(item)

        def end() -> None:
            self.trace.leave(body)
            self._loops.pop()

        return index, end

    def leave_when(self, condition: Any) -> None:
        """End the innermost loop here if the uniform condition holds."""
        if not self._loops:
            raise LaneError(f"{self.stage}: k.leave_when outside of a loop")
        if kind_of(condition) != COND:
            raise LaneError(f"{self.stage}: k.leave_when needs a uniform condition, not {kind_of(condition)}")
        self.trace.effect(Break(condition, self._loops[-1], self.trace.block))

    def when(self, condition: Any) -> Scope[None]:
        """What follows runs if the uniform condition holds."""
        return Scope(self, lambda: self._begin_branch(condition))

    def _begin_branch(self, condition: Any) -> tuple[None, Callable[[], None]]:
        """Begin a branch; what ends it."""
        kind = kind_of(condition)
        if kind == MASK:
            raise LaneError(
                f"{self.stage}: k.when got a Mask, which differs between the worlds of a tile; "
                "compute both sides and use k.select(mask, a, b), or k.when(k.any(mask))"
            )
        if kind != COND:
            raise LaneError(f"{self.stage}: k.when needs a condition, not {kind}; compare it with something")
        outer = self.trace.block
        body = Block(self.trace, outer)
        self.trace.effect(Branch(condition, body, None, outer))
        self.trace.enter(body, repeats=False)
        return None, lambda: self.trace.leave(body)

    def otherwise(self) -> Scope[None]:
        """The other side of the `k.when` just ended."""
        return Scope(self, self._begin_otherwise)

    def _begin_otherwise(self) -> tuple[None, Callable[[], None]]:
        """Begin the other side of a branch; what ends it."""
        outer = self.trace.block
        last = outer.items[-1] if outer.items else None
        if not isinstance(last, Branch) or last.otherwise is not None:
            raise LaneError(f"{self.stage}: k.otherwise() must follow a k.when block directly")
        body = last.otherwise = Block(self.trace, outer)
        self.trace.enter(body, repeats=False)
        return None, lambda: self.trace.leave(body)

    def worlds(self, mask: Any = None) -> Scope[Int]:
        """What follows runs for one world of the tile after the other, or for those where the mask holds.

        Inside, `k.split(...).of(world)` reads and writes the world's own numbers; they are uniform there, so `k.when`
        may branch on them.
        """
        return Scope(self, lambda: self._begin_worlds(mask))

    def _begin_worlds(self, mask: Any) -> tuple[Int, Callable[[], None]]:
        """The world's number, and what ends its turn."""
        if mask is None:
            return self._begin_loop(0, self.lanes, False)
        if kind_of(mask) != MASK:
            raise LaneError(f"{self.stage}: k.worlds takes a Mask, not {kind_of(mask)}")
        wanted = self.split(f"worlds/{self._world_loops}", 1)
        self._world_loops += 1
        wanted[0] = self.select(mask, 1.0, 0.0)
        world, end_loop = self._begin_loop(0, self.lanes, False)
        _, end_branch = self._begin_branch(wanted.of(world)[0] > 0.5)

        def end() -> None:
            end_branch()
            end_loop()

        return world, end

    def finish(self) -> None:
        """The stage is written: every block that it began must have ended."""
        self.trace.check_sound()
        if self.trace.block is not self.trace.root:
            raise LaneError(f"{self.stage}: a run-time loop or branch has not ended")

    def local(self, value: Any) -> Variable:
        """A variable holding a number or an array of them, to carry a result through loops and branches."""
        return Variable(self, value)

    def uniform(self, value: Any) -> Variable:
        """A variable like `k.local`, for uniform numbers only: `k.uniform(0.0)` is a Real, not lanes."""
        return Variable(self, value, uniform=True)

    # functions

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`; element by element on arrays."""
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            a, b = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
            return elementwise(lambda x, y: self.select(condition, x, y), a, b)
        return select(condition, a, b)

    def any(self, mask: Any) -> Any:
        """Whether the condition holds in any world of the tile: uniform, so that it may steer `k.when`."""
        if kind_of(mask) != MASK:
            return mask
        return make("any", COND, (mask,))

    def sqrt(self, x: Any) -> Any:
        return unary("sqrt", x)

    def floor(self, x: Any) -> Any:
        return unary("floor", x)

    def integer(self, x: Any) -> Any:
        """A uniform number without its fraction, as an Int."""
        if kind_of(x) != REAL:
            raise LaneError(f"{self.stage}: k.integer takes a Real, not {kind_of(x)}")
        return make("integer", INT, (x,)) if isinstance(x, Value) else int(x)

    def exp(self, x: Any) -> Any:
        """Exponential of a uniform number (the runtimes have none on lanes)."""
        if kind_of(x) == NUM:
            raise LaneError(f"{self.stage}: k.exp takes a Real; on lanes the runtimes abort")
        return unary("exp", x)

    def min(self, a: Any, b: Any) -> Any:
        """`a` where a < b, else `b`: `b` where one of them is NaN, so NaN passes as the second number only."""
        return binary("min", a, b)

    def max(self, a: Any, b: Any) -> Any:
        """`a` where a > b, else `b`: `b` where one of them is NaN, so NaN passes as the second number only."""
        return binary("max", a, b)

    def abs(self, x: Any) -> Any:
        """The size of a number; that of NaN is NaN."""
        return self.max(x, -x)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        """`low` where x < low, else `high` where x > high, else `x`, as mju_clip: NaN stays NaN, and a limit that is
        NaN limits nothing."""
        return self.select(x < low, low, self.min(high, x))


def select(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`."""
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    kind, a, b = values.promote("select", a, b)
    if condition.op == "not":
        return select(condition.args[0], b, a)
    if condition.kind == MASK:
        kind = NUM
    return make("select", kind, (condition, a, b))


def unary(op: str, x: Any) -> Any:
    if not isinstance(x, Value):
        return float({"sqrt": np.sqrt, "floor": np.floor, "exp": np.exp}[op](x))
    x = values.convert(x, REAL if x.kind == INT else x.kind)
    return make(op, x.kind, (x,))


class ModelFields:
    """The Model by MuJoCo's names: sizes are Python ints, fields load from the packed buffers."""

    def __init__(self, kernel: Kernel, prefix: str = "") -> None:
        self._kernel = kernel
        self._prefix = prefix

    @property
    def extra(self) -> ExtraFields:
        """Fields that plugins added, by their full names: `m.extra["acme:stiffness"]`."""
        return ExtraFields(self)

    def __getattr__(self, name: str) -> Any:
        layout = self._kernel.layout
        full = self._prefix + name
        if full in layout.per_world:
            own = PerWorldField(self._kernel, full)
            return own if own.shape else own.load(())
        if full in layout.model:
            record = getattr(layout.frozen_model, "record_read", None)
            if record is not None:
                record(full)
            dtype, place = layout.model[full]
            field = ModelField(self._kernel, full, dtype, place)
            return field if place.shape else field.load(())
        if full in layout.sizes:
            return layout.sizes[full]
        if any(known.startswith(full + ".") for known in layout.model):
            return ModelFields(self._kernel, full + ".")
        raise AttributeError(
            f"{self._kernel.stage}: the Model has no field or size {full!r} among the "
            f"{len(layout.model)} packed for this plan{_near(full, [*layout.model, *layout.sizes])}"
        )


class DataFields:
    """Data by MuJoCo's names; only fields the stage's record declares may be touched."""

    def __init__(self, kernel: Kernel) -> None:
        object.__setattr__(self, "_kernel", kernel)

    @property
    def extra(self) -> ExtraFields:
        """Fields that implementations added, by their full names: `d.extra["rk4:qpos0"]`."""
        return ExtraFields(self)

    def __getattr__(self, name: str) -> Any:
        kernel: Kernel = self._kernel
        shapes = kernel.layout.data
        if name not in shapes:
            raise AttributeError(
                f"{kernel.stage}: Data has no real field {name!r}{_near(name, list(shapes))}"
            )
        field = LaneField(kernel, name, shapes[name])
        return field if shapes[name] else field.load(())

    def __setattr__(self, name: str, value: Any) -> None:
        kernel: Kernel = self._kernel
        field = LaneField(kernel, name, kernel.layout.data[name])
        if field.shape:
            field[:] = value
        else:
            field.store((), value)


class ExtraFields:
    """Namespaced fields, which cannot be attributes."""

    def __init__(self, owner: ModelFields | DataFields) -> None:
        self._owner = owner

    def __getitem__(self, name: str) -> Any:
        return getattr(self._owner, name)


def _near(name: str, known: Iterable[str]) -> str:
    """The names most like one that is not known."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 3)
    return f"; near: {', '.join(close)}" if close else ""


class Variable:
    """A mutable number or array of numbers; `value` reads it, `set` and the in-place operators change it."""

    def __init__(self, kernel: Kernel, value: Any, *, uniform: bool = False) -> None:
        self._kernel = kernel
        start = np.asarray(value, dtype=object)
        self._shape = start.shape
        self._first = kernel._variables
        kernel._variables += max(start.size, 1)
        self._kinds = [_variable_kind(x, uniform) for x in start.ravel()]
        self.set(value)

    @property
    def value(self) -> Any:
        reads = [
            self._kernel.trace.node("read", kind, (self._first + n,), depends=("variable", self._first + n))
            for n, kind in enumerate(self._kinds)
        ]
        if not self._shape:
            return reads[0]
        out = np.empty(len(reads), dtype=object)
        out[:] = reads
        return out.reshape(self._shape)

    def set(self, value: Any) -> None:
        """Assign; arrays element by element, all at once."""
        given = np.broadcast_to(np.asarray(value, dtype=object), self._shape).ravel()
        trace = self._kernel.trace
        for n, (x, kind) in enumerate(zip(given, self._kinds, strict=True)):
            if (kind == INT and kind_of(x) != INT) or (kind == REAL and kind_of(x) == NUM):
                raise LaneError(f"{self._kernel.stage}: a variable made as {kind} cannot hold a {kind_of(x)}")
            if isinstance(x, Value):
                trace.check_scope(x)
            item = SetVariable(self._first + n, values.convert(x, kind), kind, trace.block)
            trace.effect(item, changes=("variable", self._first + n))

    def __iadd__(self, other: Any) -> Variable:
        self.set(self.value + other)
        return self

    def __isub__(self, other: Any) -> Variable:
        self.set(self.value - other)
        return self

    def __imul__(self, other: Any) -> Variable:
        self.set(self.value * other)
        return self


def _variable_kind(x: Any, uniform: bool) -> str:
    """A float literal starts a lane variable: what it gathers nearly always differs between worlds."""
    kind = kind_of(x)
    if kind not in (INT, REAL, NUM):
        raise LaneError(f"a variable holds numbers, not {kind}; use k.select(condition, 1, 0)")
    if uniform and kind == NUM:
        raise LaneError("k.uniform got lanes; k.local holds numbers that differ between worlds")
    return NUM if kind == REAL and not isinstance(x, Value) and not uniform else kind
