"""The native backend as the plan sees it: a segment becomes one fused kernel, printed as C and compiled here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.backends.lanes.backend import LaneBackend
from dovetail.distribution import requirement

if TYPE_CHECKING:
    from dovetail.backends.lanes.fuse import Sources, Target
    from dovetail.backends.native.program import NativeProgram

SIZES = {"f64": 8, "f32": 4}
"""Bytes of a number."""


class NativeBackend(LaneBackend):
    """Lane kernels printed as C, for the processor."""

    name = "native"
    title = "native"
    install = requirement("native")
    lands = True

    def missing(self) -> str:
        from dovetail.backends.native.compilers import choose_compiler

        return "" if choose_compiler() is not None else "ziglang"

    def preference(self, nworld: int | None) -> int:
        return 2

    def runtime(self, options: Mapping[str, Any]) -> str:
        """The compiler that plans with these options use."""
        from dovetail.backends.native.compilers import choose_compiler

        compiler = choose_compiler()
        return "" if compiler is None else compiler.name

    def lanes(self, nworld: int | None, precision: str) -> int:
        """The least power of two that holds all worlds, but no more than a register of the processor does."""
        from dovetail.backends.native.processor import register_bytes

        most = register_bytes() // SIZES[precision]
        return min(most, 1 << ((nworld or 1) - 1).bit_length())

    def compile_program(self, sources: Sources, target: Target) -> NativeProgram:
        from dovetail.backends.native.program import compile_program

        return compile_program(sources, target)
