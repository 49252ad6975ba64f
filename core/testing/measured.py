"""What a check measured on one model: an error, and how large it may be."""

from __future__ import annotations

import attrs


@attrs.frozen
class Measured:
    """One number of a check."""

    model: str
    quantity: str
    """A field, an invariant in words, or `bits`."""
    error: float = 0.0
    """By the definition of `dovetail.compare.errors`; of bits, 0 where all are the same."""
    tolerance: float = 0.0

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance

    def __str__(self) -> str:
        return f"{self.quantity} on model {self.model!r}: {self.error:.1e}, at most {self.tolerance:.1e}"


def worst(found: list[Measured]) -> Measured | None:
    """The one nearest to its tolerance, or furthest beyond it."""
    return max(found, key=lambda one: one.error / one.tolerance if one.tolerance else one.error, default=None)
