"""Qhull's own lists of a hull: vertices in order, the facets around each in order, and which way facets look.

MuJoCo writes the graph of a mesh in the order of these lists. Once facets of one plane were merged their order
depends on the whole history of the hull, and SciPy does not hand them out, but it keeps them in memory. They are
read from there through the operating system, every walk is bounded, and all that is read is compared with SciPy's
results: facets must have the same vertices in the same order. Whatever does not fit is an `UnknownListsError`.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.mjcf.geometry.own_memory import PAGE, WORD, Memory, own_memory

Ints = np.ndarray

_SIGNATURE = b"qhull i "
"""How the command begins that SciPy gives Qhull, which is kept in its state."""
_STATE_SIZE = 8192
_LOW = 0xFFFFFFFF
_DIMENSION = 3
_VERTEX_NEXT, _VERTEX_PREVIOUS, _VERTEX_POINT, _VERTEX_FACETS = 0, 8, 16, 24
_FACET_PREVIOUS, _FACET_NEXT, _FACET_VERTICES, _FACET_FLAGS = 48, 56, 64, 112
_TOP_ORIENTED = 12
"""The bit of a facet's flags that says its first two vertices are to be exchanged."""
_POINT_SIZE = _DIMENSION * 8


class UnknownListsError(Exception):
    """Qhull's lists were not found where the known versions keep them."""


@attrs.frozen(eq=False)
class QhullLists:
    """What MuJoCo's graph needs beyond facets."""

    vertices: Ints
    """Point of each vertex, in the order of the list."""
    start: Ints
    """Where each vertex's facets begin in `around`, and where the last one's end."""
    around: Ints
    """Facets by vertex."""
    turned: Ints
    """Facets that are anticlockwise from outside after their first two vertices are exchanged."""


@attrs.frozen
class _Chain:
    """Where elements of a linked list keep their neighbours."""

    next: int
    previous: int


_VERTICES = _Chain(_VERTEX_NEXT, _VERTEX_PREVIOUS)
_FACETS = _Chain(_FACET_NEXT, _FACET_PREVIOUS)


def read_lists(result: Any) -> QhullLists:
    """The lists of a `scipy.spatial.ConvexHull` of points in space that was made to be incremental."""
    try:
        with own_memory() as memory:
            return _checked(_read(memory, result), result)
    except (OSError, AttributeError, ValueError, IndexError, OverflowError) as problem:
        raise UnknownListsError(str(problem)) from problem


def _read(memory: Memory, result: Any) -> QhullLists:
    state = _state(memory, result._qhull)
    facets = _walk(memory, state, _FACETS, len(result.simplices))
    vertices = _walk(memory, state, _VERTICES, len(result.vertices))
    points = _points(memory, vertices, result.vertices)
    corners = _sets(memory, memory.words(facets + _FACET_VERTICES), _DIMENSION * len(facets))
    _demand(bool((corners[0] == _DIMENSION).all()), "facets are not triangles")
    raw = points[_rows(vertices, corners[1])].reshape(-1, _DIMENSION)
    _demand(np.array_equal(raw, result.simplices), "facets have other vertices")
    turned = (memory.words(facets + _FACET_FLAGS) >> _TOP_ORIENTED) & 1 == 1
    counts, around = _facets_around(memory, vertices, facets, raw, points)
    return QhullLists(points, np.concatenate([[0], np.cumsum(counts)]), around, turned)


def _demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise UnknownListsError(otherwise)


def _state(memory: Memory, holder: Any) -> Ints:
    """The words of Qhull's state: SciPy's object points to it."""
    for place in range(2, type(holder).__basicsize__ // WORD):
        content = memory.span(memory.word(id(holder) + WORD * place), _STATE_SIZE)
        if _SIGNATURE in content:
            return np.frombuffer(content, np.int64)
    raise UnknownListsError("no state of Qhull is found")


def _walk(memory: Memory, state: Ints, chain: _Chain, count: int) -> Ints:
    """Addresses of a list's elements; the state has its first element next to the mark of its end."""
    pointer = (state > PAGE) & (state % WORD == 0)
    for place in np.flatnonzero(pointer[:-1] & pointer[1:]).tolist():
        first, end = int(state[place]), int(state[place + 1])
        try:
            found = _elements(memory, first, end, chain, count)
        except OSError:
            continue
        if found is not None:
            return np.array(found, np.int64)
    raise UnknownListsError("no list of as many elements is found")


def _elements(memory: Memory, first: int, end: int, chain: _Chain, count: int) -> list[int] | None:
    """The elements from the first one up to the end, if they are a list of `count`."""
    if memory.word(first + chain.previous) or memory.word(end + chain.next):
        return None
    if memory.word(memory.word(end + chain.previous) + chain.next) != end:
        return None
    found = memory.follow(first, chain.next, count + 2)
    return found[:-1] if len(found) == count + 1 and found[-1] == end else None


def _points(memory: Memory, vertices: Ints, known: Ints) -> Ints:
    """Which point each vertex is: points lie in one array."""
    address = memory.words(vertices + _VERTEX_POINT)
    offset = address - (address.min() - _POINT_SIZE * int(known.min()))
    points = offset // _POINT_SIZE
    _demand(np.array_equal(np.sort(points), np.sort(known)), "the vertices are others")
    _demand(not (offset % _POINT_SIZE).any(), "the vertices are between points")
    return points


def _sets(memory: Memory, addresses: Ints, total: int) -> tuple[Ints, Ints]:
    """Sizes and all elements of sets: capacity, elements, and in the last place the size plus one unless full."""
    capacity = memory.words(addresses) & _LOW
    last = memory.words(addresses + WORD * (capacity + 1)) & _LOW
    size = np.where(last > 0, last - 1, capacity)
    _demand(bool((size <= capacity).all()) and int(size.sum()) == total, "sets are of other sizes")
    first = np.repeat(addresses + WORD - WORD * (np.cumsum(size) - size), size)
    return size, memory.words(first + WORD * np.arange(len(first)))


def _rows(known: Ints, addresses: Ints) -> Ints:
    """Places of addresses among known ones."""
    order = np.argsort(known)
    rows = order[np.searchsorted(known, addresses, sorter=order) % len(known)]
    _demand(np.array_equal(known[rows], addresses), "an element is in no list")
    return np.asarray(rows)


def _facets_around(
    memory: Memory, vertices: Ints, facets: Ints, raw: Ints, points: Ints
) -> tuple[Ints, Ints]:
    """How many facets meet at each vertex, and which: kept by Qhull since its first merge, else facet by facet."""
    sets = memory.words(vertices + _VERTEX_FACETS)
    if not sets.any():
        return facets_in_order(raw, points)
    counts, addresses = _sets(memory, sets, raw.size)
    return counts, _rows(facets, addresses)


def facets_in_order(raw: Ints, vertices: Ints) -> tuple[Ints, Ints]:
    """How many facets meet at each vertex, and which, in the order of facets."""
    place = np.zeros(int(vertices.max()) + 1, np.int64)
    place[vertices] = np.arange(len(vertices))
    corner = place[raw.reshape(-1)]
    return np.bincount(corner, minlength=len(vertices)), np.argsort(corner, kind="stable") // _DIMENSION


def _checked(lists: QhullLists, result: Any) -> QhullLists:
    """The lists, if each vertex has just the facets that SciPy says it has, and all facets look outward."""
    counts, around = facets_in_order(result.simplices, lists.vertices)
    _demand(np.array_equal(np.diff(lists.start), counts), "vertices have other numbers of facets")
    owner = np.repeat(np.arange(len(counts)), counts)
    _demand(
        np.array_equal(lists.around[np.lexsort((lists.around, owner))], around), "vertices have other facets"
    )
    _demand(_is_oriented(turned(result.simplices, lists.turned)), "facets look to different sides")
    return lists


def turned(raw: Ints, which: Ints) -> Ints:
    """Facets, some of them with their first two vertices exchanged."""
    return np.where(which[:, None], raw[:, [1, 0, 2]], raw)


def _is_oriented(faces: Ints) -> bool:
    """Whether every edge is run along once in either direction."""
    start, end = faces.astype(np.int64), np.roll(faces, -1, axis=1).astype(np.int64)
    size = int(faces.max()) + 1
    forward, backward = np.sort((start * size + end).reshape(-1)), np.sort((end * size + start).reshape(-1))
    return bool((np.diff(forward) > 0).all()) and np.array_equal(forward, backward)
