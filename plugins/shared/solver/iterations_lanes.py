"""Counting iterations in lanes, for `data.solver_niter`.

Solvers go on in all worlds of a tile while any world gains; each world counts those turns in which it went on itself.
A kernel whose counts nobody reads does not count. Compare `statistics_numpy`.
"""

from __future__ import annotations

from typing import Any

import attrs

from dovetail.backends.lanes.kernel import IntegerField, Kernel, LaneField

BY_ISLAND = "iterations.by_island"
NOSLIP = "iterations.noslip"


@attrs.frozen(eq=False)
class Iterations:
    """The counts of one stage, in the kernel field of a name. Those of all rows together stand at 0."""

    k: Kernel
    name: str = BY_ISLAND

    @property
    def wanted(self) -> bool:
        """Whether anybody reads them."""
        return self.k.needed(self.name)

    @property
    def field(self) -> LaneField:
        """Where they stand."""
        field = self.k.kernel_field(self.name)
        assert not isinstance(field, IntegerField)
        return field

    def clear(self) -> None:
        """None were made yet."""
        if self.wanted:
            with self.k.loop(0, self.field.shape[0]) as island:
                self.field[island] = 0.0

    def add(self, made: Any) -> None:
        """Another one, in worlds where `made` is 1 and not 0."""
        if self.wanted:
            self.field[0] += made

    def add_move(self, distance: Any) -> None:
        """Another one, in worlds that have gone some distance."""
        if self.wanted:
            self.add(moves(self.k, distance))


def moves(k: Kernel, distance: Any) -> Any:
    """1 where a search leads somewhere, be it to no number, else 0: then it is no iteration."""
    return k.select(distance == 0.0, 0.0, 1.0)
