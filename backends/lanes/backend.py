"""What all backends that speak the lane language share: how they look to the plan.

Importing this must be cheap, since every registry does; what works comes with `compile`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dovetail.contracts.sizes import CAPACITIES
from dovetail.errors import PluginError
from dovetail.signatures import signature

if TYPE_CHECKING:
    from dovetail.backend import Segment
    from dovetail.backends.lanes.fuse import Sources, Target
    from dovetail.backends.lanes.program import LaneProgram
    from dovetail.backends.lanes.runner import LaneRunner
    from dovetail.implementation import Implementation
    from dovetail.pipeline import Stage

LANES = {"f64": 8, "f32": 16}
"""Worlds per tile: one AVX-512 register, or two AVX2 ones. Measured best for humanoid-sized models."""


class LaneBackend:
    """Fuses `stage(k)` builders into one kernel over tiles of worlds. Who makes a backend of it names it, says what
    is missing, and compiles programs."""

    name: str
    title: str
    """Its name in a sentence."""
    language = "lanes"
    in_place = False
    takes_whole_steps = True
    lands = False
    """Whether its kernels write what lands (`landings`) to its places in Data themselves."""

    def preference(self, nworld: int | None) -> int:
        raise NotImplementedError

    def lanes(self, nworld: int | None, precision: str) -> int:
        return 1 if nworld is None else LANES[precision]

    def keeps(self, nworld: int | None) -> str:
        return "all" if nworld is None else "state"

    def check(self, record: Implementation, stage: Stage, target: Callable[..., Any]) -> None:
        """A builder takes the kernel `k` in place of model and data, then the stage's other arguments."""
        arguments = list(signature(target).parameters)
        others = tuple(a for a in stage.arguments if a not in ("model", "data"))
        if arguments[:1] != ["k"] or len(arguments) > 1 + len(others):
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: {record.target}({', '.join(arguments)}) "
                f"does not fit the stage; a {self.title} builder's arguments are ({', '.join(('k', *others))})"
            )

    def compile_program(self, sources: Sources, target: Target) -> LaneProgram:
        """Fuse, print and compile stages."""
        raise NotImplementedError

    def compile(self, segment: Segment) -> LaneRunner:
        from dovetail.backends.lanes.runner import LaneRunner

        return LaneRunner(segment, self, self.compile_program)

    def inspect(self, segment: Segment) -> None:
        """Trace all slots as if to compile them: one that touches what its record does not declare is an error."""
        from dovetail.backends.lanes.fuse import fuse
        from dovetail.backends.lanes.segments import any_places, sources_of, target_of
        from dovetail.backends.lanes.transfers import fetchers

        sizes = {**segment.model.sizes, **dict.fromkeys(CAPACITIES, 1)}
        sources = sources_of(segment, any_places(segment, sizes), sizes, (), fetchers(segment))
        fuse(sources, target_of(segment, self.name))
