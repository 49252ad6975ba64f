"""In which order to eliminate the nodes of a graph so that few new edges come: minimum degree, in one world.

Eliminating a node ties all its neighbours together. The next to go is always one that has the fewest neighbours.
What an eliminated node has tied together is not written out as edges but kept as a list of nodes, an *element*; a
node has neighbours of its own and elements it belongs to, and an element that a later one covers is dropped. So no
more memory is needed than for the edges and for one list per node. Compare George and Liu, The Evolution of the
Minimum Degree Ordering Algorithm, SIAM Review 31 (1989).
"""

from __future__ import annotations

from typing import Any

import attrs

from dovetail.backends.lanes.kernel import IntegerField, Kernel, Variable

LIVE, ELEMENT, COVERED = range(3)
"""What a node is: still there, eliminated, or eliminated and covered by a later one."""


@attrs.define(eq=False)
class EliminationOrder:
    """Call `begin`, `connect` for every edge, and `find`: then `order` has the nodes, the first to go first."""

    k: Kernel
    count: int
    """Nodes."""
    edge_room: int
    """Most edges that will be given."""
    list_room: int
    """Room for the lists of all elements; if it does not suffice, `fits` is false and the order still one."""

    def _integers(self, name: str, *shape: int) -> IntegerField:
        return self.k.integers(f"order_{name}", *shape)

    def _of_nodes(self, name: str) -> IntegerField:
        return self._integers(name, self.count)

    @property
    def order(self) -> IntegerField:
        return self._of_nodes("found")

    @property
    def _ends(self) -> IntegerField:
        return self._integers("ends", self.edge_room, 2)

    @property
    def _edges(self) -> IntegerField:
        return self._integers("edges", 1)

    @property
    def _top(self) -> IntegerField:
        """Length of all lists of elements."""
        return self._integers("top", 1)

    @property
    def fits(self) -> Any:
        return self._top[0] <= self.list_room

    @property
    def needed(self) -> Any:
        return self._top[0]

    # Each node has a range of `neighbour` and the same range of `element` for its own lists.

    @property
    def _start(self) -> IntegerField:
        return self._of_nodes("start")

    @property
    def _neighbour(self) -> IntegerField:
        return self._integers("neighbour", 2 * self.edge_room)

    @property
    def _neighbours(self) -> IntegerField:
        """How many of its own neighbours a node has."""
        return self._of_nodes("neighbours")

    @property
    def _element(self) -> IntegerField:
        return self._integers("element", 2 * self.edge_room)

    @property
    def _elements(self) -> IntegerField:
        """How many elements a node belongs to."""
        return self._of_nodes("elements")

    @property
    def _state(self) -> IntegerField:
        return self._of_nodes("state")

    @property
    def _mark(self) -> IntegerField:
        """The last tag that a node got."""
        return self._of_nodes("mark")

    @property
    def _degree(self) -> IntegerField:
        return self._of_nodes("degree")

    # Nodes of equal degree are a chain.

    @property
    def _head(self) -> IntegerField:
        return self._of_nodes("head")

    @property
    def _next(self) -> IntegerField:
        return self._of_nodes("next")

    @property
    def _last(self) -> IntegerField:
        return self._of_nodes("last")

    # Nodes of elements, one list after the other.

    @property
    def _members(self) -> IntegerField:
        return self._integers("members", self.list_room)

    @property
    def _first(self) -> IntegerField:
        """Where an element's list begins."""
        return self._of_nodes("first")

    @property
    def _length(self) -> IntegerField:
        return self._of_nodes("length")

    # ---- use

    def begin(self) -> None:
        self._edges[0] = 0

    def connect(self, one: Any, other: Any) -> None:
        """An edge; one that is given twice counts once."""
        with self.k.when(one != other):
            self._ends[self._edges[0], 0] = one
            self._ends[self._edges[0], 1] = other
            self._edges[0] += 1

    def find(self) -> None:
        k = self.k
        self._list_neighbours()
        self._drop_duplicates()
        self._top[0] = 0
        tag, least = k.local(self.count), k.local(0)
        with k.loop(0, self.count) as turn:
            with k.loop(0, self.count):
                k.leave_when(self._head[least.value] >= 0)
                least += 1
            node = k.local(self._head[least.value])
            self.order[turn] = node.value
            self._eliminate(node.value, tag, least)

    # ---- the graph

    def _list_neighbours(self) -> None:
        k, ends = self.k, self._ends
        with k.loop(0, self.count) as node:
            self._degree[node] = 0
            self._neighbours[node] = 0
            self._elements[node] = 0
            self._state[node] = LIVE
            self._mark[node] = -1
            self._head[node] = -1
        with k.loop(0, self._edges[0]) as edge:
            for side in range(2):
                self._degree[ends[edge, side]] += 1
        total = k.local(0)
        with k.loop(0, self.count) as node:
            self._start[node] = total.value
            total += self._degree[node]
        with k.loop(0, self._edges[0]) as edge:
            for side in range(2):
                node = ends[edge, side]
                self._neighbour[self._start[node] + self._neighbours[node]] = ends[edge, 1 - side]
                self._neighbours[node] += 1

    def _drop_duplicates(self) -> None:
        k = self.k
        with k.loop(0, self.count) as node:
            kept, start = k.local(0), k.local(self._start[node])
            with k.loop(start.value, start.value + self._neighbours[node]) as n:
                other = k.local(self._neighbour[n])
                with k.when(self._mark[other.value] != node):
                    self._mark[other.value] = node
                    self._neighbour[start.value + kept.value] = other.value
                    kept += 1
            self._neighbours[node] = kept.value
            self._enter(node, kept.value)

    def _enter(self, node: Any, degree: Any) -> None:
        """Put a node in the chain of its degree."""
        k = self.k
        head = k.local(self._head[degree])
        self._degree[node] = degree
        self._next[node] = head.value
        self._last[node] = -1
        with k.when(head.value >= 0):
            self._last[head.value] = node
        self._head[degree] = node

    def _leave(self, node: Any) -> None:
        """Take a node out of its chain."""
        k = self.k
        before, after = k.local(self._last[node]), k.local(self._next[node])
        with k.when(before.value >= 0):
            self._next[before.value] = after.value
        with k.otherwise():
            self._head[self._degree[node]] = after.value
        with k.when(after.value >= 0):
            self._last[after.value] = before.value

    # ---- elimination

    def _eliminate(self, node: Any, tag: Variable, least: Variable) -> None:
        """A node becomes an element of all its neighbours, which covers the elements that it belongs to."""
        k = self.k
        self._leave(node)
        self._state[node] = ELEMENT
        tag += 1
        self._mark[node] = tag.value
        first = k.local(k.min(self._top[0], self.list_room))
        length = k.local(0)
        start = k.local(self._start[node])

        def join(other: Any) -> None:
            with k.when(self._state[other] == LIVE), k.when(self._mark[other] != tag.value):
                self._mark[other] = tag.value
                with k.when(first.value + length.value < self.list_room):
                    self._members[first.value + length.value] = other
                length.set(length.value + 1)

        with k.loop(start.value, start.value + self._elements[node]) as n:
            element = k.local(self._element[n])
            with k.loop(0, self._length[element.value]) as m:
                join(self._members[self._first[element.value] + m])
            self._state[element.value] = COVERED
        with k.loop(start.value, start.value + self._neighbours[node]) as n:
            join(self._neighbour[n])
        self._top[0] += length.value
        self._first[node] = first.value
        self._length[node] = k.min(length.value, self.list_room - first.value)
        with k.loop(first.value, first.value + self._length[node]) as n:
            self._make_member(self._members[n], node, tag.value)
        with k.loop(first.value, first.value + self._length[node]) as n:
            tag += 1
            self._renew_degree(self._members[n], tag.value, least)

    def _make_member(self, node: Any, element: Any, tag: Any) -> None:
        """A node drops elements that were covered, and neighbours that are in the new element with it."""
        k = self.k
        start, kept = k.local(self._start[node]), k.local(0)
        with k.loop(start.value, start.value + self._elements[node]) as n:
            other = k.local(self._element[n])
            with k.when(self._state[other.value] == ELEMENT):
                self._element[start.value + kept.value] = other.value
                kept += 1
        own = k.local(0)
        with k.loop(start.value, start.value + self._neighbours[node]) as n:
            other = k.local(self._neighbour[n])
            with k.when(self._mark[other.value] != tag):
                self._neighbour[start.value + own.value] = other.value
                own += 1
        self._neighbours[node] = own.value
        self._element[start.value + kept.value] = element
        self._elements[node] = kept.value + 1

    def _renew_degree(self, node: Any, tag: Any, least: Variable) -> None:
        """Count the nodes that a node is tied to."""
        k = self.k
        start, found = k.local(self._start[node]), k.local(0)
        self._mark[node] = tag

        def count(other: Any) -> None:
            with k.when(self._state[other] == LIVE), k.when(self._mark[other] != tag):
                self._mark[other] = tag
                found.set(found.value + 1)

        with k.loop(start.value, start.value + self._elements[node]) as n:
            element = k.local(self._element[n])
            with k.loop(0, self._length[element.value]) as m:
                count(self._members[self._first[element.value] + m])
        with k.loop(start.value, start.value + self._neighbours[node]) as n:
            count(self._neighbour[n])
        self._leave(node)
        self._enter(node, found.value)
        least.set(k.min(least.value, found.value))
