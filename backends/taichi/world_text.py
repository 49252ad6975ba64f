"""From traced stages to Taichi source for a device, where a thread has one world.

The trace is the one that lanes are printed from, for tiles of one world: what was a condition on any world of a tile
is a condition on the world, so that its branches are true branches. What differs from the print for processors are
addresses: the memory of `SIDE` worlds lies side by side, row by row, so that neighbouring threads touch neighbouring
numbers.
"""

from __future__ import annotations

from dovetail.backends.lanes.blocks import Loop
from dovetail.backends.lanes.fuse import FusedKernel, kind_of_memory
from dovetail.backends.lanes.values import Value
from dovetail.backends.taichi.emit import STAGE_ARGUMENTS, Address, StagePrinter, ordered

SIDE = 32
"""Worlds whose memory lies side by side: a warp of NVIDIA's devices, half or all of a wave of AMD's."""

SCRATCH = {"numbers": "S", "integers": "SI", "reals": "R"}
"""Buffer of each kind of scratch memory."""

UNROLLED = 3
"""Turns of a loop that may be unrolled."""

WORLD_ARGUMENTS = (*STAGE_ARGUMENTS, "z")
"""Integers every stage function gets, before the buffers; `z` is 0."""

_SLOTS = ("slot", "integer_slot", "real_slot")

_ORDERED = {"min": "<", "max": ">"}
"""Of the two that are compared the first is taken, else the second: so NaN passes as it does on processors."""

_NAME_LENGTH = 12
"""Letters of an argument that may stand in a source twice."""

_LN2 = (0.693359375, -2.121944400546905827679e-4)
"""ln 2 in two parts, the first so short that its multiples are exact in single precision, too."""

PRELUDE = f"""
{chr(10).join(ordered())}
@ti.func
def exponential(x):
    y = ti.select(x < 750.0, x, fp(750.0))
    y = ti.select(y > -750.0, y, fp(-750.0))
    n = ti.floor(y * {1.4426950408889634!r} + 0.5)
    r = (y - n * {_LN2[0]!r}) - n * {_LN2[1]!r}
    term = fp(1.0)
    total = fp(1.0)
    for j in range(1, 15):
        term = term * r / ti.cast(j, fp)
        total = total + term
    whole = ti.cast(n, ti.i32)
    factor = ti.select(whole < 0, fp(0.5), fp(2.0))
    for j in range(ti.max(whole, 0 - whole)):
        total = total * factor
    return ti.select(x == x, total, x)
"""
"""Functions that devices lack, or have otherwise: SPIR-V has no exponential of double precision."""


class WorldPrinter(StagePrinter):
    """Prints one traced stage for a thread that has one world."""

    cast = {"float32": "fp"}  # noqa: RUF012  bytes of the Model come as integers

    def _code(self, op: str, value: Value, args: list[str]) -> str:
        if op == "add" and isinstance(value.args[0], Value) and value.args[0].op in _SLOTS:
            return f"({args[0]} + {args[1]} * {SIDE})"
        if op in _ORDERED:
            return self._ordered(op, args)
        if op == "exp":
            return f"exponential({args[0]})"
        if op == "any":
            return args[0]
        if op == "not":
            return f"({args[0]} == 0)"
        if op == "ne":
            return f"(({args[0]} == {args[1]}) == 0)"
        return super()._code(op, value, args)

    def _bound(self, item: Loop) -> str:
        """Drivers unroll loops whose length they know, and then take many times as long to compile them: all but the
        shortest end at a number that they do not know."""
        stop = super()._bound(item)
        known = isinstance(item.start, int) and isinstance(item.stop, int)
        return f"{stop} + z" if known and item.stop - item.start > UNROLLED else stop

    def _ordered(self, op: str, args: list[str]) -> str:
        if max(map(len, args)) > _NAME_LENGTH:
            return f"{'least' if op == 'min' else 'most'}({args[0]}, {args[1]})"
        return f"ti.select({args[0]} {_ORDERED[op]} {args[1]}, {args[0]}, {args[1]})"


def world_address(fused: FusedKernel) -> Address:
    """Where a memory's number of a world lies; the first row of the world is in the base."""

    def address(name: str, base: str, literal: int) -> str:
        if name in fused.tables:
            buffer, place = "TI", fused.tables[name] + literal
        else:
            buffer = SCRATCH[kind_of_memory(name)]
            place = (fused.places[name].offset + literal) * SIDE
        index = " + ".join(filter(None, (base, str(place) if place or not base else "")))
        return f"{buffer}[{index}]"

    return address
