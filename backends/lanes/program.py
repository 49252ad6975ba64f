"""A fused kernel that somebody has compiled: its memory, and launches over tiles of worlds.

What a runtime adds is how to compile and to call the kernel (`backends.taichi.program`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Exports, Outbox
from dovetail.backends.lanes.fuse import FusedKernel, Rows
from dovetail.backends.lanes.imports import TileLists
from dovetail.contracts.arena import ALIGNMENT, aligned_zeros

if TYPE_CHECKING:
    from dovetail.contracts.arena import Place
    from dovetail.contracts.types import Data

DONE = -1
"""Stands in the place of a tile that has been run."""

LACKING, TOO_LONG, ALARM, CHANGED = 1, 2, 4, 8
"""Bits of what a launch says: some tile's lists lack room; some list is too long to be exported; what was exported
says that somebody must look at it; the Model has changed, and nothing was done."""

FLOAT: dict[str, np.dtype[Any]] = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}


@attrs.frozen(kw_only=True)
class Launch:
    """What one launch of a kernel works on."""

    data: NDArray[Any]
    converted: NDArray[Any]
    ntile: int
    model: Mapping[str, NDArray[Any]]
    nstep: int
    evaluation: int
    taken: NDArray[Any]
    outbox: Outbox
    inbox: Outbox
    target: Data | None = None
    """Where what a kernel lands itself goes."""


Watched = Sequence[tuple[NDArray[Any], bytes]]
"""Memory of the Model, and the bytes that it must hold."""


Noted = Sequence[tuple[NDArray[Any], NDArray[Any]]]
"""Memory of the Model, and for each a copy that is to hold what the last steps used of it."""


@attrs.frozen(kw_only=True)
class ReadyRequest:
    """What a launch that is kept ready works on, besides the buffers of the last one."""

    data: Data
    model: Mapping[str, NDArray[Any]]
    watched: Watched
    """If it holds something else, nothing is to be done."""
    converted: Sequence[Place]
    """Places in Data of what the kernel takes as numbers, though it is none."""
    before: NDArray[Any] | None
    """Gets the loaded fields as they were before the last step, in the form of Data's numbers."""
    noted: Noted
    """Gets what the steps use of the Model."""


class ReadyLaunch(Protocol):
    """A launch that is kept ready."""

    def __call__(self, nstep: int) -> int:
        """Take steps of all tiles; says what there is to do, as `LaneProgram.call` does, or CHANGED."""
        ...

    @property
    def converted(self) -> NDArray[Any]:
        """What was taken over of fields that are no reals, (ntile, rows, W)."""
        ...

    @property
    def taken(self) -> NDArray[Any]:
        """What has become of each tile (see `DONE`), from the second entry on."""
        ...


class Outcome(NamedTuple):
    """What a launch leaves to do."""

    lacking: NDArray[Any] | None
    """By tile, how many times more room its lists would have needed, or 0; None if all had enough."""
    alarmed: bool
    """Whether somebody must look at what was exported."""


@attrs.frozen
class Memory:
    """What a kernel works in besides Data and Model."""

    scratch: NDArray[Any]
    """Numbers per world of all slots."""
    integers: NDArray[Any]
    """Uniform integers of all slots."""
    reals: NDArray[Any]
    """Uniform reals of all slots."""
    table: NDArray[Any]
    """Constant integers of all stages, and how often each group of a repeatable program runs."""

    @classmethod
    def of(cls, fused: FusedKernel, threads: int, rows: Rows | None = None) -> Memory:
        """Memory with a slot for each thread, of so many rows of integers and reals as the kernel's text says."""
        rows = fused.rows if rows is None else rows
        return cls(
            scratch=scratch_memory(fused, threads),
            integers=np.zeros(threads * rows.integers + 1, np.int32),
            reals=np.zeros(threads * rows.reals + 1, FLOAT[fused.precision]),
            table=fused.table.copy(),
        )


def scratch_memory(fused: FusedKernel, threads: int) -> NDArray[Any]:
    """Numbers of all slots, each of which starts from the same content."""
    rows = fused.rows.numbers
    scratch = aligned_zeros((threads * rows, fused.lanes), FLOAT[fused.precision])
    used = np.flatnonzero(
        fused.first
    )  # memory that is never touched, as of lists that stay short, costs nothing
    for thread in range(threads):
        scratch[thread * rows + used] = fused.first[used, None]
    return scratch


@attrs.define(eq=False, kw_only=True)
class LaneProgram:
    """A fused kernel and its memory. Who makes a program of it says how the kernel is called."""

    fused: FusedKernel
    threads: int
    memory: Memory
    _mirror: NDArray[Any] | None = attrs.field(default=None, init=False)

    def call(self, launch: Launch) -> int:
        """Run the kernel on the tiles that are left; says what there is to do (`LACKING` and so on)."""
        raise NotImplementedError

    @property
    def lanes(self) -> int:
        return self.fused.lanes

    @property
    def precision(self) -> str:
        return self.fused.precision

    @property
    def rows(self) -> int:
        """Scratch rows per slot."""
        return self.fused.rows.numbers

    @property
    def live(self) -> frozenset[str]:
        """Data fields the kernel touches after unneeded results were dropped."""
        return self.fused.fields

    @property
    def exports(self) -> Exports:
        return self.fused.exports

    @property
    def repeats(self) -> Mapping[str, int]:
        """Groups of stages of a repeatable program: where in `table` stands how often each runs."""
        return self.fused.repeats

    def run(
        self,
        data_buffer: NDArray[Any],
        model_buffers: Mapping[str, NDArray[Any]],
        nstep: int,
        evaluation: int = 0,
        converted: NDArray[Any] | None = None,
        only: NDArray[Any] | None = None,
        outbox: Outbox | None = None,
        inbox: Outbox | None = None,
        target: Data | None = None,
    ) -> Outcome:
        """Run on every tile of `data_buffer` (ntile, size, W): `nstep` steps, or one part of a step.

        Tiles whose lists would have needed more room are as they were, to be run by a program of larger `growth`,
        which takes the outcome's `lacking` as `only`.

        A program that is only part of a step has one evaluation, and `evaluation` says which. `converted`
        (ntile, size, W) holds the numbers of the fields that the program was told to find there. What it exports is
        put into `outbox`, which is enlarged as needed; what it imports it finds in `inbox`.
        """
        self._check(data_buffer)
        converted = data_buffer[:, :0] if converted is None else converted
        rows = self.fused.converted_rows
        if converted.shape != (data_buffer.shape[0], rows, self.lanes):
            raise ValueError(f"converted fields have {converted.shape[1]} rows, not {rows}")
        if rows:
            self._check(converted)
        taken = np.zeros(1 + data_buffer.shape[0], np.int32)
        if only is not None:
            taken[1:] = np.where(only > 0, 0, DONE)
        outbox = self.outbox() if outbox is None else outbox
        outbox.prepare(data_buffer.shape[0])
        launch = Launch(
            data=data_buffer,
            converted=converted,
            ntile=data_buffer.shape[0],
            model=model_buffers,
            nstep=nstep,
            evaluation=evaluation,
            taken=taken,
            outbox=outbox,
            inbox=self.inbox() if inbox is None else inbox,
            target=target,
        )
        return self._finished(launch)

    def _finished(self, launch: Launch, found: int = TOO_LONG) -> Outcome:
        """Launch until no list is too long; `found` is what the last launch said."""
        alarmed = False
        while found & TOO_LONG:
            launch.taken[0] = 0
            found = self.call(launch)
            alarmed |= bool(found & ALARM)
            if found & TOO_LONG:
                self._make_room(launch)
        return Outcome(np.maximum(launch.taken[1:], 0) if found & LACKING else None, alarmed)

    def _make_room(self, launch: Launch) -> None:
        """After a launch that found lists too long to leave the kernel."""
        if launch.outbox.too_small:
            launch.outbox.enlarge()
        if self.fused.landed.count is not None:
            assert launch.target is not None
            self.fused.landings.reserve(launch.target, int(launch.outbox.lengths.max()))

    def kept_ready(self, request: ReadyRequest) -> ReadyLaunch | None:
        """The last launch, of whole steps, as a call that needs nothing but their number; None if the runtime has no
        such."""
        return None

    def outbox(self) -> Outbox:
        """Room for what the program exports."""
        return Outbox(self.exports, self.lanes, FLOAT[self.precision], self.fused.table_fields)

    def room(self, lists: TileLists) -> int:
        """Rows that the kernel has for lists it imports."""
        listed = [*self.fused.imports.numbers.lists, *self.fused.imports.integers.lists]
        places = [self.fused.places[part.export.memory] for part in listed]
        return min((place.shape[0] for place in places), default=max(1, lists.longest))

    def inbox(self) -> Outbox:
        """Room for what the program imports."""
        return Outbox(self.fused.imports, self.lanes, FLOAT[self.precision])

    def _check(self, buffer: NDArray[Any]) -> None:
        """An array of another kind would be read out of bounds, or crash the process."""
        if (
            buffer.shape[2] != self.lanes
            or buffer.dtype != FLOAT[self.precision]
            or not buffer.flags.c_contiguous
        ):
            raise ValueError(
                f"the program was built for C-contiguous tiles of {self.lanes} lanes of {FLOAT[self.precision]}, "
                f"not {buffer.shape} of {buffer.dtype}"
            )
        if buffer.ctypes.data % ALIGNMENT:
            raise ValueError(f"the Data buffer must start at a multiple of {ALIGNMENT} bytes")

    def _reals(self, reals: NDArray[Any]) -> NDArray[Any]:
        """The Model's reals in the kernel's precision, cast anew so that edits are seen."""
        if self.precision == "f64":
            return reals
        if self._mirror is None or self._mirror.shape != reals.shape:
            self._mirror = np.empty(reals.shape, np.float32)
        self._mirror[:] = reals
        return self._mirror
