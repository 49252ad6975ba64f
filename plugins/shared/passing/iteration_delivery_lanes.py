"""How many iterations the solver made, from a lane kernel into `data.solver_niter`.

Sweeps of the no-slip pass add to those of all rows, which are one problem then. The numbers are put together when the
kernel ends, so that of many steps only the last one's are. Compare saveStats in engine_solver.c.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.kernel_fields import COUNTED_ISLANDS
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.solver.iterations_lanes import BY_ISLAND, NOSLIP

if TYPE_CHECKING:
    from dovetail.backends.lanes.fuse import LaneStage
    from dovetail.backends.lanes.kernel import Kernel
    from dovetail.backends.lanes.landings import Landings

FIELD = "solver_niter"

TOTAL = "landing/iterations"


def delivery(model: ModelLike, wanted: Collection[str]) -> IterationDelivery:
    """What brings the counts into Data; nothing else can be wanted."""
    return IterationDelivery()


@attrs.frozen
class IterationDelivery:
    """The counts that a kernel has, put together."""

    def landings(self, there: Collection[str]) -> Landings:
        """The sums, of kernel fields that are there."""
        from dovetail.backends.lanes.exports import Export
        from dovetail.backends.lanes.kernel import PROGRAM
        from dovetail.backends.lanes.landings import Landing, Landings

        total = Export(TOTAL, owner=PROGRAM)
        return Landings((Landing(FIELD, total, width=COUNTED_ISLANDS),))

    def stage(self, there: Collection[str]) -> LaneStage | None:
        """What adds them up at the end of a kernel."""
        from dovetail.backends.lanes.fuse import LaneStage

        counts = frozenset({BY_ISLAND, NOSLIP}.intersection(there))
        return LaneStage(
            stage="landing",
            name="iterations",
            builder=lambda k: write_total(k, counts),
            reads=counts,
            writes=frozenset(),
            role="end",
        )


def write_total(k: Kernel, counts: Collection[str]) -> None:
    """Write the sum of the counts; shorter ones begin with the first island, too."""
    total = k.program_memory(TOTAL, COUNTED_ISLANDS)
    with k.loop(0, COUNTED_ISLANDS) as island:
        total[island] = 0.0
    for name in sorted(counts):
        made = k.kernel_field(name)
        with k.loop(0, made.shape[0]) as island:
            total[island] += made[island]
