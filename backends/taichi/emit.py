"""From traced stages to Taichi source: each stage is printed as one `ti.func`.

Printing inlines a symbol used once, unless something it read changes in between; everything else becomes a named
temporary. Only operations tried by tests/backends/taichi/test_lane_operations.py are printed: the runtimes abort
the process on others (unary minus, `abs`, `sin`, `cast` on vectors).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from dovetail.backends.lanes.blocks import (
    MEMORY_LOADS,
    PURE_MEMORY,
    TABLE,
    Block,
    Branch,
    Break,
    Loop,
    SetVariable,
    Store,
    Trace,
    walk,
)
from dovetail.backends.lanes.live import Live, arguments
from dovetail.backends.lanes.values import COND, INT, NUM, REAL, Value

INLINE_LIMIT = 24
"""Most operations in one printed expression, to keep it readable; 8 to 80 compile and run alike (measured)."""

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "bitand": "&",
    "lshift": "<<",
    "rshift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
}

_CALL = ("min", "max", "sqrt", "floor", "exp")

_ORDERED = {"min": "least", "max": "most"}
"""Functions of the module's text (see `ordered`) for real numbers: the runtimes' own drop NaN."""

OPERATIONS = frozenset({*_INFIX, *_CALL, "select", "real", "integer", "any", "not", "lane", "lanes"})
"""Everything a stage can compute with; each is tried in a process of its own by the tests."""

_ARGUMENT = {"slot": "b", "integer_slot": "c", "real_slot": "r", "evaluation": "e"}
"""Arguments of a stage function: the first row of the slot's scratch tile, the first of its integers and of its
uniform reals, the evaluation."""

Address = Callable[[str, str, int], str]
"""Source of a place: of a memory, a printed base and a literal."""

_BUFFER = {"float64": "MR", "float32": "MF", "int32": "MI", "uint8": "MB"}
"""Kernel argument of each Model buffer."""

_CAST = {"uint8": "ti.i32", "float32": "fp"}
"""Types that a Model buffer's numbers are not computed with, and which is taken instead."""


@attrs.frozen
class Printed:
    """A printed expression: its source, how many operations, and what it reads that may change."""

    code: str
    size: int = 0
    reads: frozenset[Any] = frozenset()


class StagePrinter:
    """Prints one traced stage. `address` gives the source of a Data cell: the only place that knows the layout."""

    cast = _CAST

    def __init__(self, live: Live, address: Address, indent: int = 1) -> None:
        self.live = live
        self.address = address
        self.lines: list[str] = []
        self.indent = indent
        self.uses: dict[int, list[Block]] = defaultdict(list)
        self.texts: dict[int, Printed] = {}
        self.held: dict[int, Value] = {}
        self.declared: set[int] = set()

    def print(self, trace: Trace) -> list[str]:
        for item in walk(trace.root):
            if id(item) in self.live.items:
                for a in arguments(item):
                    if isinstance(a, Value):
                        self.uses[id(a)].append(item.block)
        self._block(trace.root)
        return self.lines

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def _block(self, block: Block) -> None:
        for item in block.items:
            if id(item) not in self.live.items:
                continue
            if isinstance(item, Value):
                self._value(item)
            elif isinstance(item, Store):
                self._store(item)
            elif isinstance(item, SetVariable):
                self._set(item)
            elif isinstance(item, Loop):
                self._loop(item)
            elif isinstance(item, Break):
                self._break(item)
            else:
                self._branch(item)
        self._release(lambda _text: True)

    # symbols

    def _value(self, value: Value) -> None:
        if value.op == "index":
            return
        text = self._format(value)
        if value.op in _ARGUMENT:
            self.texts[id(value)] = text
            return
        if self.uses[id(value)] == [value.block] and text.size < INLINE_LIMIT:
            self.texts[id(value)] = text
            self.held[id(value)] = value
        else:
            self._name(value, text)

    def _name(self, value: Value, text: Printed) -> None:
        self._line(f"t{value.serial} = {text.code}")
        self.texts[id(value)] = Printed(f"t{value.serial}")

    def _release(self, due: Callable[[Printed], bool]) -> None:
        """Turn held expressions into temporaries before what they read changes."""
        for key, value in list(self.held.items()):
            if due(self.texts[key]):
                del self.held[key]
                self._name(value, self.texts[key])

    def _argument(self, x: Any) -> Printed:
        if not isinstance(x, Value):
            return Printed(repr(x))
        self.held.pop(id(x), None)
        return self.texts[id(x)]

    def _format(self, value: Value) -> Printed:
        op = value.op
        if op == PURE_MEMORY:
            return self._model(value)
        if op == TABLE:
            return self._table(value)
        if op in MEMORY_LOADS:
            name, base, literal = value.args
            inner = self._argument(base)
            return Printed(self.address(name, inner.code, literal), inner.size + 1, inner.reads | {name})
        if op in _ARGUMENT:
            return Printed(_ARGUMENT[op])
        if op == "read":
            return Printed(f"v{value.args[0]}", 1, frozenset({("variable", value.args[0])}))
        parts = [self._argument(a) for a in value.args]
        code = self._code(op, value, [p.code for p in parts])
        reads = frozenset().union(*(p.reads for p in parts))
        return Printed(code, 1 + sum(p.size for p in parts), reads)

    def _code(self, op: str, value: Value, args: list[str]) -> str:
        """The source of an operation on printed arguments."""
        return _code(op, value, args)

    def _model(self, value: Value) -> Printed:
        dtype, base, literal = value.args
        inner = self._argument(base) if base is not None else Printed("")
        index = " + ".join(filter(None, (inner.code, str(literal) if literal or not inner.code else "")))
        code = f"{_BUFFER[dtype]}[{index}]"
        if dtype in self.cast:
            code = f"ti.cast({code}, {self.cast[dtype]})"
        return Printed(code, inner.size + 1, inner.reads)

    def _table(self, value: Value) -> Printed:
        name, base, literal = value.args
        inner = self._argument(base) if base is not None else Printed("")
        return Printed(self.address(name, inner.code, literal), inner.size + 1, inner.reads)

    # effects

    def _store(self, item: Store) -> None:
        base, literal = item.index
        inner = self._argument(base)
        value = self._argument(item.value)
        self._release(lambda text: item.memory in text.reads)
        self._line(f"{self.address(item.memory, inner.code, literal)} = {value.code}")

    def _set(self, item: SetVariable) -> None:
        code = self._argument(item.value).code
        if item.kind == NUM:
            code = _lanes(item.value, code)
        elif item.kind == REAL and not isinstance(item.value, Value):
            code = f"ti.cast({code}, fp)"
        self._release(lambda text: ("variable", item.variable) in text.reads)
        self._line(f"v{item.variable} = {code}")

    def _loop(self, item: Loop) -> None:
        assert item.index is not None
        start, stop = self._argument(item.start).code, self._bound(item)
        self._release(lambda _text: True)
        name = f"i{item.index.serial}"
        self.texts[id(item.index)] = Printed(name)
        if item.reverse:
            self._line(f"last{item.index.serial} = {stop} - 1 + {start}")
            self._line(f"for r{item.index.serial} in range({start}, {stop}):")
            self._nested(item.body, f"{name} = last{item.index.serial} - r{item.index.serial}")
        else:
            self._line(f"for {name} in range({start}, {stop}):")
            self._nested(item.body)

    def _bound(self, item: Loop) -> str:
        """The source of a loop's end."""
        return self._argument(item.stop).code

    def _branch(self, item: Branch) -> None:
        condition = self._argument(item.condition).code
        self._release(lambda _text: True)
        self._line(f"if {condition}:")
        self._nested(item.body)
        if item.otherwise is not None and any(id(i) in self.live.items for i in item.otherwise.items):
            self._line("else:")
            self._nested(item.otherwise)

    def _break(self, item: Break) -> None:
        condition = self._argument(item.condition).code
        self._release(lambda _text: True)
        self._line(f"if {condition}:")
        self._line("    break")

    def _nested(self, body: Block, first: str = "") -> None:
        self.indent += 1
        before = len(self.lines)
        if first:
            self._line(first)
        self._block(body)
        if len(self.lines) == before:
            self._line("pass")
        self.indent -= 1


_CONVERSIONS = {"real": "fp", "integer": "ti.i32"}


def _code(op: str, value: Value, args: list[str]) -> str:
    if op == "ne" and any(_is_real(a) for a in value.args):
        return _differ(value, args)
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op in _ORDERED and value.kind != INT:
        spread = zip(value.args, args, strict=True)
        sides = [_lanes(a, code) if value.kind == NUM else code for a, code in spread]
        return f"{_ORDERED[op]}({', '.join(sides)})"
    if op in _CALL:
        return f"ti.{op}({', '.join(args)})"
    if op == "select":
        sides = [
            _lanes(a, code) if value.kind == NUM else code
            for a, code in zip(value.args[1:], args[1:], strict=True)
        ]
        return f"ti.select({args[0]}, {', '.join(sides)})"
    if op in _CONVERSIONS:
        return f"ti.cast({args[0]}, {_CONVERSIONS[op]})"
    if op == "lane":
        return args[0] if len(args) == 1 else f"{args[0]}[{args[1]}]"
    if op == "lanes":
        return args[0] if len(args) == 1 else f"VT([{', '.join(args)}])"
    if op == "any":
        return f"any_lane(ti.select({args[0]}, WT(1), WT(0)))"
    if op == "not":
        return (
            f"({args[0]} == 0)" if value.kind == COND else f"(ti.select({args[0]}, VT(1.0), VT(0.0)) < 0.5)"
        )
    raise AssertionError(f"no source for the operation {op!r}")


def _is_real(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, Value) and x.kind in (NUM, REAL))


def _differ(value: Value, args: list[str]) -> str:
    """`!=` of real numbers. To the runtimes' own, NaN differs from nothing."""
    same = f"({args[0]} == {args[1]})"
    if value.kind == COND:
        return f"({same} == 0)"
    return f"(ti.select({same}, VT(0.0), VT(1.0)) > 0.5)"


def _lanes(x: Any, code: str) -> str:
    """A number as lanes, spread out if it is uniform."""
    return code if isinstance(x, Value) and x.kind == NUM else f"VT({code})"


def any_lane(lanes: int) -> list[str]:
    """Source of the reduction behind `k.any`: ones joined pairwise.

    As integers that is 40 % quicker than as real numbers (on quadrants); truth values
    themselves come out of a vector wrong."""
    kind = f"ti.types.vector({lanes}, ti.i32)" if lanes > 1 else "ti.i32"
    terms = [f"x[{n}]" for n in range(lanes)] if lanes > 1 else ["x"]
    while len(terms) > 1:
        pairs = [f"({a} | {b})" for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return [f"WT = {kind}", "@ti.func", "def any_lane(x):", f"    return {terms[0]} != 0"]


def ordered() -> list[str]:
    """Source of the lesser and the larger of two numbers: the second where one of them is NaN, as with the other
    printers (see `Kernel.min`)."""
    names = (("least", "<"), ("most", ">"))
    return [
        line
        for name, sign in names
        for line in ("@ti.func", f"def {name}(x, y):", f"    return ti.select(x {sign} y, x, y)")
    ]


STAGE_ARGUMENTS = ("b", "c", "r", "e")
"""Integers every stage function gets, before the buffers."""


def stage_source(
    name: str,
    trace: Trace,
    live: Live,
    address: Address,
    buffers: Iterable[str],
    printer: type[StagePrinter] = StagePrinter,
    numbers: Iterable[str] = STAGE_ARGUMENTS,
) -> list[str]:
    """A stage as a `ti.func` over the slot's bases `b`, `c` and `r`, the evaluation `e` and the buffers."""
    body = printer(live, address).print(trace)
    integers = [f"{a}: ti.i32" for a in numbers]
    arguments = ", ".join([*integers, *(f"{a}: ti.template()" for a in buffers)])
    return ["@ti.func", f"def {name}({arguments}):", *(body or ["    pass"])]
