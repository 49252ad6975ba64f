"""Walking the rows of the flex edges' Jacobian in lanes, from tables of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.scopes import walk
from dovetail.plugins.shared.flex.tables import Edges, edges_of, flex_of

_MAY_VARY = ("body_quat", "jnt_axis")
"""With values per world of these, no body is known to slide along the world's axes."""


def lane_edges(k: Kernel) -> Edges:
    """The edges of the kernel's model, worked out once for a program."""
    memo = k.layout.memo
    if "flex/edges" not in memo:
        straight = not any(k.varies(name) for name in _MAY_VARY)
        memo["flex/edges"] = edges_of(k.frozen_model, straight=straight)
    edges: Edges = memo["flex/edges"]
    return edges


def flex_of_edge(k: Kernel, edge: Any) -> Any:
    """The flex that an edge belongs to."""
    model = k.frozen_model
    if model.nflex == 1:
        return 0
    return k.table("flex/of_edge", flex_of(model, model.flex_edgenum))[edge]


@walk
def each_row(k: Kernel) -> Iterator[tuple[Any, Any]]:
    """`for edge, entries in each_row(k):` runs its body for the straight edges and for the others; `entries()` is a
    walk over the dofs of the row and the places of their numbers in flexedge_J."""
    edges = lane_edges(k)
    if len(edges.straight.edge):
        of = k.table("flex/straight", edges.straight.edge)
        with k.loop(0, len(edges.straight.edge)) as n:
            yield of[n], _StraightRow(k, n)
    if len(edges.other.edge):
        of = k.table("flex/edges", edges.other.edge)
        with k.loop(0, len(edges.other.edge)) as n:
            yield of[n], _OtherRow(k, n)


class _StraightRow:
    """The six entries of a straight edge."""

    def __init__(self, k: Kernel, n: Any) -> None:
        self.k, self.n = k, n

    @walk
    def each_entry(self) -> Iterator[tuple[Any, Any]]:
        edges = lane_edges(self.k).straight
        dof = self.k.table("flex/straight_dof", edges.dof)
        place = self.k.table("flex/straight_place", edges.place)
        for side in (0, 1):
            for axis in range(3):
                yield dof[self.n, side] + axis, place[self.n, side] + axis


class _OtherRow:
    """The entries of any other edge."""

    def __init__(self, k: Kernel, n: Any) -> None:
        self.k, self.n = k, n

    @walk
    def each_entry(self) -> Iterator[tuple[Any, Any]]:
        edges = lane_edges(self.k).other
        if len(edges.dof):
            first = self.k.table("flex/entries", edges.first)
            with self.k.loop(first[self.n], first[self.n + 1]) as entry:
                yield (
                    self.k.table("flex/dof", edges.dof)[entry],
                    self.k.table("flex/place", edges.place)[entry],
                )
