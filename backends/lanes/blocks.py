"""What tracing a stage records: blocks of symbols and effects, in program order.

A symbol is shared when the same operation on the same arguments is asked for again in the same block or in one
around it. Loads from Data are shared only while nothing in between can have changed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

from dovetail.backends.lanes.values import CLASSES, LaneError, Value

Item: TypeAlias = "Value | Store | SetVariable | Loop | Branch | Break"


class Block:
    """A straight run of symbols and effects: a stage's body, a loop's, or a branch's."""

    def __init__(self, trace: Trace, parent: Block | None) -> None:
        self.trace = trace
        self.parent = parent
        self.items: list[Item] = []
        self.known: dict[tuple[Any, ...], Value] = {}

    def encloses(self, other: Block | None) -> bool:
        while other is not None and other is not self:
            other = other.parent
        return other is self


@attrs.define(eq=False)
class Store:
    """`memory[index] = value`, memory being a Data field or private scratch."""

    memory: str
    index: tuple[Value, int]
    """(symbol, literal) row of the slot's scratch tile."""
    value: Any
    block: Block


@attrs.define(eq=False)
class SetVariable:
    """The variable takes a value; the first one declares it."""

    variable: int
    value: Any
    kind: str
    block: Block


@attrs.define(eq=False)
class Loop:
    index: Value | None
    start: Any
    stop: Any
    reverse: bool
    body: Block
    block: Block


@attrs.define(eq=False)
class Branch:
    condition: Any
    body: Block
    otherwise: Block | None
    block: Block


@attrs.define(eq=False)
class Break:
    """Leave the innermost loop if the condition holds."""

    condition: Any
    loop: Loop
    block: Block


PURE_MEMORY = "model"
TABLE = "table"
"""A constant of the plan, in the table of integers."""
INTEGER_LOAD = "load_integer"
"""A uniform integer of the slot's scratch."""
REAL_LOAD = "load_real"
"""A uniform real of the slot's scratch."""
MEMORY_LOADS = frozenset({"load", INTEGER_LOAD, REAL_LOAD})
"""Loads of memory that stages write."""


@attrs.define(eq=False)
class Trace:
    """One stage being recorded."""

    root: Block = attrs.field(init=False)
    block: Block = attrs.field(init=False)
    serial: int = 0
    epoch: int = 0
    changes: dict[Any, int] = attrs.field(factory=dict)
    spoiled: str = ""
    """Why nothing more can be recorded."""

    def __attrs_post_init__(self) -> None:
        self.root = Block(self, None)
        self.block = self.root

    def node(
        self, op: str, kind: str, args: tuple[Any, ...], *, depends: Any = None, share: bool = True
    ) -> Value:
        """The symbol for `op(args)` here; `depends` names the memory or variable it reads."""
        self.check_sound()
        for a in args:
            if isinstance(a, Value):
                self.check_scope(a)
        key = (op, kind, *map(_key, args))
        if depends is not None:
            key = (*key, self.epoch, self.changes.get(depends, 0))
        found = self._find(key) if share else None
        if found is None:
            found = CLASSES[kind](op, args, self.block, self.serial)
            self.serial += 1
            self.block.items.append(found)
            self.block.known[key] = found
        return found

    def effect(self, item: Item, changes: Any = None) -> None:
        """Record an effect; later loads of what it changes are new symbols."""
        self.check_sound()
        self.block.items.append(item)
        if changes is not None:
            self.changes[changes] = self.changes.get(changes, 0) + 1

    def enter(self, body: Block, *, repeats: bool) -> None:
        if repeats:
            self.epoch += 1  # a later turn of the loop may have changed anything loaded so far
        self.block = body

    def leave(self, body: Block) -> None:
        self.check_sound()
        if self.block is not body or body.parent is None:
            raise LaneError("k.loop / k.when blocks must end in the reverse of the order they began")
        self.epoch += 1
        self.block = body.parent

    def spoil(self, reason: str) -> None:
        """The stage left a block from its middle: whatever it would write now would stand in the wrong place."""
        self.spoiled = self.spoiled or reason

    def check_sound(self) -> None:
        if self.spoiled:
            raise LaneError(self.spoiled)

    def _find(self, key: tuple[Any, ...]) -> Value | None:
        block: Block | None = self.block
        while block is not None:
            if key in block.known:
                return block.known[key]
            block = block.parent
        return None

    def check_scope(self, value: Value) -> None:
        if value.block.trace is not self:
            raise LaneError(f"{value!r} belongs to another stage: pass numbers between stages through Data")
        if not value.block.encloses(self.block):
            raise LaneError(
                f"{value!r} was computed inside a loop or branch that has ended: carry it out with `x = k.local(...)`"
            )


def _key(x: Any) -> Any:
    return ("#", x.serial) if isinstance(x, Value) else (type(x).__name__, repr(x))


def walk(block: Block) -> Iterator[Item]:
    """Every item of a block and of the blocks in it, in program order."""
    for item in block.items:
        yield item
        if isinstance(item, Loop):
            yield from walk(item.body)
        elif isinstance(item, Branch):
            yield from walk(item.body)
            if item.otherwise is not None:
                yield from walk(item.otherwise)
