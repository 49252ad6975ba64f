"""The words that public calls take, so that an editor offers them and a type checker reports others.

A name that plugins may add to (`Backend`) stays open: its known words are offered, every other is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

Precision: TypeAlias = Literal["f64", "f32"]
"""What `real` is."""
Backend: TypeAlias = Literal["auto", "numpy", "native", "taichi"] | str
"""What a stage runs on: the fastest that is here (`auto`, which is meant where nobody says), the NumPy reference, C
kernels for the processor, or Taichi's; packages may bring others."""
Runtime: TypeAlias = Literal["auto", "quadrants", "taichi"]
"""What compiles the kernels of the Taichi backend."""
Arch: TypeAlias = Literal["auto", "cpu", "gpu", "cuda", "vulkan", "metal"]
"""What those kernels run on."""
OnNan: TypeAlias = Literal["reset", "raise", "freeze"]
"""What becomes of a world whose numbers go bad."""
OnMissing: TypeAlias = Literal["error", "report", "skip"]
"""What becomes of stages that nothing implements."""
Keep: TypeAlias = Literal["all", "state", "computed"] | str | Sequence[str]
"""Which fields of Data are kept: a word, or names of fields besides the state."""
Dialect: TypeAlias = Literal["mujoco-3.4", "legacy"]
"""How a model file is to be understood."""
CompiledBy: TypeAlias = Literal["dovetail", "mujoco"]
"""Whose compiler makes the model that is compared."""

PRECISIONS: tuple[Precision, ...] = get_args(Precision)
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)
ARCHS: tuple[Arch, ...] = get_args(Arch)
ON_NAN: tuple[OnNan, ...] = get_args(OnNan)
ON_MISSING: tuple[OnMissing, ...] = get_args(OnMissing)
COMPILED_BY: tuple[CompiledBy, ...] = get_args(CompiledBy)
