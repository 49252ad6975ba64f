"""Kernel fields that come from outside: copied into every tile before its first step.

The counterpart of `exports`. Who makes kernel fields of Data gives them as `TileLists`; they are put into buffers of
the same form as those of exports, from which the kernel fills its scratch memory when a tile begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Export, Outbox
from dovetail.contracts.kernel_fields import KERNEL_SIZES, KernelField


@attrs.frozen(kw_only=True, eq=False)
class TileLists:
    """The lists of all tiles; rows beyond a tile's length hold anything."""

    lengths: NDArray[Any]
    """(ntile)"""
    count: str
    """The kernel field that holds the length."""
    integers: Mapping[str, NDArray[Any]]
    """(ntile, longest) by kernel field."""
    numbers: Mapping[str, NDArray[Any]]
    """(ntile, longest, width, W)"""
    fixed: Mapping[str, NDArray[Any]]
    """(ntile, width, W): what is no list."""
    learnt: bool = False
    """Whether the kernel must be built again, with another `memo` and `tables` of the fetcher."""

    @property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))


class Fetcher(Protocol):
    """Makes kernel fields of Data."""

    @property
    def memo(self) -> Mapping[str, Any]:
        """What stages of the kernel work out once, and are to take from here instead."""
        ...

    @property
    def tables(self) -> Mapping[str, NDArray[Any]]:
        """Kernel fields that are tables."""
        ...

    def read(self, data: Any) -> TileLists:
        """The lists of all tiles as Data has them now."""
        ...


def imports_of(names: Iterable[str], fields: Mapping[str, KernelField]) -> list[Export]:
    """Kernel fields as entries of the buffers; lists have the length that their group's `count` says."""
    chosen = [fields[name] for name in sorted(names) if fields[name].kind != "table"]
    lists = [f for f in chosen if f.shape[0] in KERNEL_SIZES]
    counts = {f"{f.name.partition('.')[0]}.count" for f in lists}
    return [
        Export(
            field.name,
            integers=field.kind == "integers",
            count=f"{field.name.partition('.')[0]}.count" if field in lists else "",
        )
        for field in chosen
        if field.name not in counts
    ]


def fill(inbox: Outbox, lists: TileLists) -> None:
    """Put lists into the buffers of a kernel."""
    inbox.make_room(len(lists.lengths), max(1, lists.longest))
    inbox.lengths[: len(lists.lengths)] = lists.lengths
    for name, integers in lists.integers.items():
        if name in inbox:
            inbox[name][:, : integers.shape[1], 0] = integers
    for name, numbers in lists.numbers.items():
        if name in inbox:
            inbox[name][:, : numbers.shape[1]] = numbers
    for name, numbers in lists.fixed.items():
        if name in inbox:
            inbox[name][...] = np.asarray(numbers)
