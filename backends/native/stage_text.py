"""From traced stages to C: each stage becomes one function over the memory of a slot.

Every symbol that somebody needs is one `const` temporary, in the order in which the stage was written; what to keep
in registers, and what to compute anew, the compiler knows best. Reals are never contracted or reordered, so that a
kernel gives the bits that every other printer's gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

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
from dovetail.backends.lanes.fuse import FusedKernel, FusedStage, kind_of_memory
from dovetail.backends.lanes.values import COND, INT, MASK, NUM, REAL, Value

TYPES = {INT: "I", REAL: "fp", NUM: "V", COND: "int", MASK: "M"}
"""The C type of each kind of symbol."""

PARAMETERS = (
    "V *__restrict__ S, int *__restrict__ SI, fp *__restrict__ R, const int *__restrict__ TI, "
    "const fp *__restrict__ MR, const int *__restrict__ MI, const unsigned char *__restrict__ MB, "
    "const float *__restrict__ MF, const I e"
)
"""What every stage function gets (see `kernel_text.LEGEND`)."""

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "bitand": "&",
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

_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")

_INTEGER_CALLS = {"floordiv": "floordiv", "mod": "floormod", "lshift": "shifted"}
"""Operations on integers that C has otherwise, or not for all numbers."""

_CALLS = ("min", "max", "sqrt", "floor", "exp")
"""Functions of the prelude: with V before the name on lanes, with S on one number."""

OPERATIONS = frozenset(
    {*_INFIX, *_INTEGER_CALLS, *_CALLS, "select", "real", "integer", "any", "not", "lane", "lanes"}
)
"""Everything a stage can compute with; each is tried by the tests."""

_SLOTS = ("slot", "integer_slot", "real_slot")
"""Where a slot's memory begins: at 0, since the pointers themselves are the slot's."""

_BUFFER = {"float64": "MR", "float32": "MF", "int32": "MI", "uint8": "MB"}
_SCRATCH = {"numbers": "S", "integers": "SI", "reals": "R"}
_STORED = {"numbers": NUM, "integers": INT, "reals": REAL}
"""What scratch memory of each kind holds."""


def stage_body(fused: FusedKernel, stage: FusedStage) -> str:
    """The body of a stage's function; empty if nobody needs anything of it."""
    return "\n".join(_StagePrinter(fused).print(stage.trace))


class _StagePrinter:
    """Prints one traced stage."""

    def __init__(self, fused: FusedKernel) -> None:
        self.fused = fused
        self.live = fused.live.items
        self.single = fused.precision == "f32"
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.indent = 1

    def print(self, trace: Trace) -> list[str]:
        variables = {
            item.variable: item.kind
            for item in walk(trace.root)
            if isinstance(item, SetVariable) and id(item) in self.live
        }
        self._block(trace.root)
        return [*(f"  {TYPES[kind]} v{number};" for number, kind in variables.items()), *self.lines]

    def _line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def _block(self, block: Block) -> None:
        print_item: dict[type, Callable[[Any], None]] = {
            Store: self._store,
            SetVariable: self._set,
            Loop: self._loop,
            Branch: self._branch,
            Break: self._break,
        }
        for item in block.items:
            if id(item) in self.live:
                print_item.get(type(item), self._value)(item)

    def _nested(self, block: Block) -> None:
        self.indent += 1
        self._block(block)
        self.indent -= 1

    # ---- effects

    def _store(self, item: Store) -> None:
        kind = _STORED[kind_of_memory(item.memory)]
        self._line(f"{self._cell(item.memory, *item.index)} = {self._as(item.value, kind)};")

    def _set(self, item: SetVariable) -> None:
        self._line(f"v{item.variable} = {self._as(item.value, item.kind)};")

    def _loop(self, item: Loop) -> None:
        assert item.index is not None
        name = self.names[id(item.index)] = f"i{item.index.serial}"
        start, stop = self._as(item.start, INT), self._as(item.stop, INT)
        if item.reverse:
            self._line(f"for (I {name} = {stop} - 1; {name} >= {start}; {name}--) {{")
        else:
            self._line(f"for (I {name} = {start}; {name} < {stop}; {name}++) {{")
        self._nested(item.body)
        self._line("}")

    def _branch(self, item: Branch) -> None:
        self._line(f"if ({self._as(item.condition, COND)}) {{")
        self._nested(item.body)
        if item.otherwise is not None and any(id(i) in self.live for i in item.otherwise.items):
            self._line("} else {")
            self._nested(item.otherwise)
        self._line("}")

    def _break(self, item: Break) -> None:
        self._line(f"if ({self._as(item.condition, COND)}) break;")

    # ---- operands

    def _as(self, x: Any, kind: str) -> str:
        """An operand as a kind: literals are printed, uniform numbers spread over the lanes."""
        if not isinstance(x, Value):
            return self._literal(x, kind)
        name = self.names[id(x)]
        if kind == NUM and x.kind != NUM:
            return f"SPL({name})" if x.kind == REAL else f"SPL((fp){name})"
        return f"(fp){name}" if kind == REAL and x.kind == INT else name

    def _literal(self, x: Any, kind: str) -> str:
        if kind in (COND, INT):
            return f"({int(x)})" if x < 0 else str(int(x))
        text = self._real(float(np.float32(x)) if self.single else float(x))
        return f"SPL({text})" if kind == NUM else text

    def _real(self, x: float) -> str:
        """A number to the last bit."""
        if math.isnan(x):
            return '((fp)__builtin_nan(""))'
        if math.isinf(x):
            return f"((fp){'-' if x < 0 else ''}__builtin_inf())"
        suffix = "f" if self.single else ""
        text = f"{x:.1f}{suffix}" if x == int(x) and abs(x) < 1e6 else f"{x.hex()}{suffix}"
        return f"({text})" if math.copysign(1.0, x) < 0 else text

    def _cell(self, memory: str, base: Any, literal: int) -> str:
        """A place in scratch memory, or in a table."""
        fused = self.fused
        if memory in fused.tables:
            return self._at("TI", base, fused.tables[memory] + literal)
        return self._at(_SCRATCH[kind_of_memory(memory)], base, fused.places[memory].offset + literal)

    def _at(self, buffer: str, base: Any, row: int) -> str:
        name = "0" if base is None else self._as(base, INT)
        if name == "0":
            return f"{buffer}[{row}]"
        return f"{buffer}[{name} + {row}]" if row else f"{buffer}[{name}]"

    # ---- symbols

    def _value(self, value: Value) -> None:
        if value.op == "index":
            return  # the loop has named it
        if value.op in _SLOTS:
            self.names[id(value)] = "0"
        elif value.op == "evaluation":
            self.names[id(value)] = "e"
        elif self._only_moves_a_slot(value):
            self.names[id(value)] = self._as(value.args[1], INT)
        else:
            self._line(f"const {TYPES[value.kind]} t{value.serial} = {self._code(value)};")
            self.names[id(value)] = f"t{value.serial}"

    def _only_moves_a_slot(self, value: Value) -> bool:
        """Whether it adds to a place where a slot begins, which is 0."""
        first = value.args[0] if value.args else None
        return value.op == "add" and isinstance(first, Value) and first.op in _SLOTS

    def _code(self, value: Value) -> str:
        op, args, kind = value.op, value.args, value.kind
        if op == PURE_MEMORY:
            return self._at(_BUFFER[args[0]], args[1], args[2])
        if op in MEMORY_LOADS or op == TABLE:
            return self._cell(*args)
        if op == "read":
            return f"v{args[0]}"
        if op in _COMPARISONS:
            inner = self._compared(value)
            return f"{self._as(args[0], inner)} {_INFIX[op]} {self._as(args[1], inner)}"
        if op in _INFIX:
            return f"{self._as(args[0], kind)} {_INFIX[op]} {self._as(args[1], kind)}"
        if op in _INTEGER_CALLS:
            return f"{_INTEGER_CALLS[op]}({self._as(args[0], INT)}, {self._as(args[1], INT)})"
        if op in _CALLS:
            name = f"{'V' if kind == NUM else 'S'}{op.upper()}"
            return f"{name}({', '.join(self._as(a, kind) for a in args)})"
        return self._other(op, args, kind)

    def _compared(self, value: Value) -> str:
        """The kind as which two operands are compared."""
        if value.kind == MASK:
            return NUM
        real = any(a.kind == REAL if isinstance(a, Value) else isinstance(a, float) for a in value.args)
        return REAL if real else INT

    def _other(self, op: str, args: tuple[Any, ...], kind: str) -> str:
        if op == "select":
            condition, a, b = (
                self._as(args[0], args[0].kind),
                self._as(args[1], kind),
                self._as(args[2], kind),
            )
            return f"SEL({condition}, {a}, {b})" if args[0].kind == MASK else f"{condition} ? {a} : {b}"
        if op == "real":
            return f"(fp){self._as(args[0], INT)}"
        if op == "integer":
            return f"whole({self._as(args[0], REAL)})"
        if op == "any":
            return f"ANY({self._as(args[0], MASK)})"
        if op == "not":
            return f"NOT({self._as(args[0], MASK)})" if kind == MASK else f"!{self._as(args[0], COND)}"
        if op == "lane":
            return self._as(args[0], NUM) + ("" if len(args) == 1 else f"[{args[1]}]")
        if op == "lanes":
            parts = [self._as(a, REAL) for a in args]
            return parts[0] if len(parts) == 1 else f"(V){{{', '.join(parts)}}}"
        raise AssertionError(f"no C for the operation {op!r}")
