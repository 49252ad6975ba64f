"""The values a lane kernel computes with: what they are, and how arithmetic on them folds.

A stage builder runs once, on symbols. Five kinds of symbol keep apart what is the same for every world and what
differs from world to world:

- `Int`, `Real`, `Cond`: uniform; one number (or truth value) for the whole tile: loop indices, Model values.
- `Num`, `Mask`: lanes; one number (or truth value) per world of the tile: everything in Data.

Arithmetic on symbols only makes new symbols; Python numbers stay Python numbers, so `0 * x` is `0.0`, and `x + 0`
is `x`, before anything is emitted. Small vectors and matrices are NumPy object arrays of symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from numbers import Real as RealNumber
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from dovetail.errors import PlanError

if TYPE_CHECKING:
    from dovetail.backends.lanes.blocks import Block

Literal: TypeAlias = "int | float | bool"
Operand: TypeAlias = "Value | int | float | bool"

INT, REAL, NUM, COND, MASK = "Int", "Real", "Num", "Cond", "Mask"
_RANK = {INT: 0, REAL: 1, NUM: 2}


class LaneError(PlanError, TypeError):
    """A stage builder asked for something a lane kernel cannot do."""


class Value:
    """A symbol: one operation on earlier symbols and numbers, computed at a fixed place of the kernel."""

    __slots__ = ("args", "block", "op", "serial")
    __hash__ = object.__hash__
    kind: ClassVar[str] = ""

    def __init__(self, op: str, args: tuple[Any, ...], block: Block, serial: int) -> None:
        self.op = op
        self.args = args
        self.block = block
        self.serial = serial

    def __repr__(self) -> str:
        return f"<{self.kind} {self.op} #{self.serial}>"

    def __bool__(self) -> bool:
        raise LaneError(
            f"{self!r} has no truth value while the stage is being built: use `with k.when(...)` for a condition on "
            "the Model (Cond), `k.select(mask, a, b)` for one that differs between worlds (Mask)"
        )

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("div", other, self)

    def __neg__(self) -> Any:
        return _binary("sub", 0, self)

    def __pos__(self) -> Value:
        return self

    def __lt__(self, other: Any) -> Any:
        return _compare("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return _compare("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return _compare("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return _compare("ge", self, other)

    def __eq__(self, other: Any) -> Any:
        return _compare("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return _compare("ne", self, other)


class Int(Value):
    """A uniform integer."""

    __slots__ = ()
    kind = INT

    def __floordiv__(self, other: Any) -> Any:
        return _binary("floordiv", self, other)

    def __mod__(self, other: Any) -> Any:
        return _binary("mod", self, other)

    def __and__(self, other: Any) -> Any:
        return _binary("bitand", self, other)

    def __rshift__(self, other: Any) -> Any:
        return _binary("rshift", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return _binary("lshift", other, self)


class Real(Value):
    """A uniform real number."""

    __slots__ = ()
    kind = REAL


class Num(Value):
    """One real number per world of the tile."""

    __slots__ = ()
    kind = NUM


class _Truth(Value):
    __slots__ = ()

    def __and__(self, other: Any) -> Any:
        return _logical("and", self, other)

    def __or__(self, other: Any) -> Any:
        return _logical("or", self, other)

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> Value:
        return make("not", self.kind, (self,))


class Cond(_Truth):
    """A uniform truth value: it may steer `k.when`."""

    __slots__ = ()
    kind = COND


class Mask(_Truth):
    """One truth value per world: it may steer `k.select` only."""

    __slots__ = ()
    kind = MASK


CLASSES: dict[str, type[Value]] = {INT: Int, REAL: Real, NUM: Num, COND: Cond, MASK: Mask}


def is_number(x: object) -> bool:
    return isinstance(x, RealNumber)


def kind_of(x: object) -> str:
    """The kind of a symbol, or the kind a Python number would be."""
    if isinstance(x, Value):
        return x.kind
    if isinstance(x, bool):
        return COND
    if isinstance(x, Integral):
        return INT
    if is_number(x):
        return REAL
    raise LaneError(f"a lane kernel cannot compute with {type(x).__name__}: {x!r}")


def make(op: str, kind: str, args: tuple[Any, ...]) -> Value:
    """A symbol in the block being traced (the one of any of its arguments' kernel)."""
    owner = next(a for a in args if isinstance(a, Value))
    return owner.block.trace.node(op, kind, args)


def convert(x: Operand, kind: str) -> Operand:
    """Promote an operand: literals change type, an Int beside reals is cast."""
    if not isinstance(x, Value):
        return int(x) if kind == INT else float(x)
    if x.kind == INT and kind != INT:
        return make("real", REAL, (x,))
    return x


def promote(op: str, a: Any, b: Any) -> tuple[str, Operand, Operand]:
    ka, kb = kind_of(a), kind_of(b)
    if ka not in _RANK or kb not in _RANK:
        raise LaneError(
            f"{op} of {ka} and {kb}: truth values take part in `&`, `|`, `~`, `k.when` and `k.select` only"
        )
    kind = ka if _RANK[ka] >= _RANK[kb] else kb
    return kind, convert(a, kind), convert(b, kind)


def _operable(x: object) -> bool:
    return isinstance(x, Value) or is_number(x)


def _binary(op: str, a: Any, b: Any) -> Any:
    if not (_operable(a) and _operable(b)):
        return NotImplemented  # NumPy object arrays apply it element by element
    return binary(op, a, b)


_LITERAL: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "bitand": lambda a, b: a & b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "min": lambda a, b: a if a < b else b,
    "max": lambda a, b: a if a > b else b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def binary(op: str, a: Any, b: Any) -> Any:
    """`a op b`, folded where a literal decides it."""
    kind, a, b = promote(op, a, b)
    if not isinstance(a, Value) and not isinstance(b, Value):
        return _LITERAL[op](a, b)
    if op == "div" and kind == INT:
        raise LaneError("Int / Int: write `//` for an index, or multiply by a real number")
    folded = _FOLD[op](kind, a, b) if op in _FOLD else None
    return make(op, kind, (a, b)) if folded is None else folded


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, Value) and x == number


def _fold_add(kind: str, a: Any, b: Any) -> Any:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    if kind == INT:
        return _fold_int_add(a, b)
    if (n := _negated(b)) is not None:
        return binary("sub", a, n)
    if (n := _negated(a)) is not None:
        return binary("sub", b, n)
    return None


def _fold_int_add(a: Any, b: Any) -> Any:
    """Keep an index in the form `symbol + literal`, so that neighbouring addresses share the symbol."""
    if not isinstance(a, Value):
        a, b = b, a
    base, offset = split_index(a)
    other, more = split_index(b)
    if offset == 0 and (other is None or more == 0):
        return None
    total = base if other is None else (other if base is None else binary("add", base, other))
    constant = offset + more
    return total if constant == 0 else make("add", INT, (total, constant))


def _fold_sub(kind: str, a: Any, b: Any) -> Any:
    if _is(b, 0):
        return a
    if kind == INT:
        if not isinstance(b, Value):
            return binary("add", a, -b)
        return _fold_int_sub(a, b)
    if (n := _negated(b)) is not None:
        return binary("add", a, n)
    return None


def _fold_int_sub(a: Any, b: Any) -> Any:
    base, offset = split_index(a)
    other, more = split_index(b)
    if base is other and base is not None:
        return offset - more
    return None


def _fold_mul(kind: str, a: Any, b: Any) -> Any:
    if _is(a, 0) or _is(b, 0):
        return 0 if kind == INT else 0.0
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    return None


def _fold_div(_kind: str, a: Any, b: Any) -> Any:
    if _is(a, 0):
        return 0.0
    return a if _is(b, 1) else None


_FOLD = {"add": _fold_add, "sub": _fold_sub, "mul": _fold_mul, "div": _fold_div}


def _negated(x: Any) -> Any:
    """What `x` is the negative of, if it was written as `-y`."""
    if isinstance(x, Value) and x.op == "sub" and _is(x.args[0], 0):
        return x.args[1]
    return None


def split_index(x: Any) -> tuple[Value | None, int]:
    """An index as (symbol or None, literal)."""
    if not isinstance(x, Value):
        return None, int(x)
    if x.op == "add" and isinstance(x.args[1], int):
        return x.args[0], x.args[1]
    return x, 0


def _compare(op: str, a: Any, b: Any) -> Any:
    if not (_operable(a) and _operable(b)):
        return NotImplemented
    kind, a, b = promote(op, a, b)
    return make(op, MASK if kind == NUM else COND, (a, b))


def _logical(op: str, a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, bool):
            return y if x == (op == "and") else x
    if kind_of(a) != kind_of(b):
        raise LaneError(
            f"{kind_of(a)} {op} {kind_of(b)}: a uniform condition and a per-world one do not mix; "
            "put the select inside `with k.when(cond)`"
        )
    return make(op, kind_of(a), (a, b))
