"""Groups of faces by their normals, as MuJoCo's ordered set finds them.

The set's comparison calls normals equal when they are almost parallel. That is not a consistent order, so which
group a face finds depends on the search path: the same balanced tree is therefore grown here. Most normals are far
from all others; those compare by their rank, which is found for all at once. The others compare one by one with
what is near them in rank.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.plugins.shared.constants import MINVAL

_PARALLEL = 0.99999872
"""Cosine above which two normals count as equal: 0.09 degrees."""
_REACH = 0.001601
"""Normals farther apart than this in any direction are not that parallel."""
_UNIT = 2.0
"""No component of a unit normal is larger."""
_DIRECTION = np.array([0.4871, 0.6013, 0.6334])
"""Any direction that is not special in meshes: along it few normals coincide that are not parallel."""
_OFFSETS = 64
"""How many normals ahead along the direction are compared; who has still more within reach counts as near."""

_MOST = 0.8
"""If more normals than this are near others, all are treated so."""


@attrs.frozen(eq=False)
class Ranks:
    """Normals by rank: larger components first."""

    order: np.ndarray
    """Faces by rank."""
    normals: np.ndarray
    """By rank; those of faces without area are equal."""
    near: np.ndarray
    """By rank: whether the normal of an earlier face may compare otherwise than ranks do."""
    odd: np.ndarray
    """By rank: whether another may do so without being almost parallel."""
    low: np.ndarray
    high: np.ndarray
    """By rank: outside of these, ranks decide in any case."""

    @classmethod
    def of(cls, given: np.ndarray) -> Ranks:
        flat = given[:, :1] == np.inf
        normals = np.where(flat, (np.inf, 0.0, 0.0), given)
        order, chains, odd = _sorted(normals)
        near = odd | _near_earlier(normals)[order]
        if np.any((normals[:, 0] > _UNIT) & (normals[:, 0] < np.inf)):  # parallel to half of all others
            every = np.ones(len(order), bool)
            low, high = np.zeros(len(order), np.int64), np.full(len(order), len(order))
            return cls(order, given[order], every, every, low, high)
        low = np.searchsorted(-chains, -(chains + _REACH), "left")
        high = np.searchsorted(-chains, -(chains - _REACH), "right") - 1
        return cls(order, np.where(flat, (1.0, 0.0, 0.0), normals)[order], near, odd, low, high)


def _sorted(normals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Faces sorted by their normals; for each the x of its chain, and whether a chain it is in is inconsistent.

    Chains are values of which each differs from the next by too little to be told apart.
    """
    count = len(normals)
    order = np.argsort(-normals[:, 0])
    odd, first_x = np.zeros(count, bool), np.zeros(0)
    tied, chain = np.arange(count), np.zeros(count, np.int64)
    for component in range(3):
        among = order[tied]
        if component:
            among = among[np.lexsort((-normals[among, component], chain))]
            order[tied] = among
        value = normals[among, component]
        start, chain, longer = _chains(value, chain)
        odd[tied] |= longer[chain]
        if not component:
            first_x = value[start][chain]
        again = np.bincount(chain, minlength=1)[chain] > 1
        tied, chain = tied[again], chain[again]
    return order, first_x, odd


def _chains(value: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts of the chains of descending values within others; the chain of each; which chains are inconsistent."""
    begins = np.ones(len(value), bool)
    with np.errstate(invalid="ignore"):
        begins[1:] = (within[1:] != within[:-1]) | (value[:-1] - value[1:] > MINVAL)
        start = np.flatnonzero(begins)
        last = np.append(start[1:], len(value))[: len(start)] - 1
        return start, np.cumsum(begins) - 1, value[start] - value[last] > MINVAL


def _near_earlier(normals: np.ndarray) -> np.ndarray:
    """Faces that may have an almost parallel one before them, and those without area."""
    proper = normals[:, 0] <= _UNIT
    near = ~proper
    unit = np.where(proper[:, None], normals, 0.0)
    along = unit @ _DIRECTION
    order = np.argsort(along)
    along, (x, y, z) = along[order], unit[order].T.copy()
    active = np.arange(len(order))
    for offset in range(1, _OFFSETS + 1):
        active = active[: np.searchsorted(active, len(order) - offset)]
        active = active[along[active + offset] - along[active] <= _REACH]
        if not len(active):
            return near
        if near.mean() > _MOST:
            break
        other = active + offset
        parallel = x[active] * x[other] + y[active] * y[other] + z[active] * z[other] > _PARALLEL - 1e-9
        near[np.maximum(order[active[parallel]], order[other[parallel]])] = True
    return np.ones(len(order), bool) if near.mean() > _MOST else near | _within_reach(along, order, active)


def _within_reach(along: np.ndarray, order: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Faces that lie within reach after any of the first ones along the direction, and these."""
    count = len(order) + 1
    end = np.searchsorted(along, along[first] + _REACH, "right")
    inside = np.cumsum(np.bincount(first, minlength=count) - np.bincount(end, minlength=count)) > 0
    return inside[np.argsort(order)]


class NormalTree:
    """A red-black tree of groups of faces, grown as the C++ standard library's ordered set grows.

    A node is the rank of the first face of its group. Lists have one more element, which stands for no node: −1.
    """

    def __init__(self, normals: np.ndarray) -> None:
        self._ranks = ranks = Ranks.of(normals)
        count = len(normals)
        self._x, self._y, self._z = ranks.normals.T.tolist()
        self._low, self._high = ranks.low.tolist(), ranks.high.tolist()
        self._odd = ranks.odd.tolist()
        self._left, self._right, self._up = ([-1] * (count + 1) for _ in range(3))
        self._red = [True] * count + [False]
        self._root = -1
        self._joined: dict[int, list[int]] = {}
        """Ranks of further faces of groups."""
        self._grow()

    def groups(self) -> tuple[np.ndarray, dict[int, list[int]]]:
        """First face of each group in the tree's order; and by place in that order, all faces of larger groups."""
        order = self._ranks.order
        nodes = self._in_order()
        places = np.zeros(len(order), np.int64)
        places[nodes] = np.arange(len(nodes))
        face, place = order.tolist(), places.tolist()
        larger = {place[a]: [face[b] for b in (a, *more)] for a, more in self._joined.items()}
        return order[nodes], larger

    def _grow(self) -> None:
        """Put each face into its group in turn, made if there is none."""
        rank = np.argsort(self._ranks.order)
        left, right, up, red = self._left, self._right, self._up, self._red
        for new, near in zip(rank.tolist(), self._ranks.near[rank].tolist(), strict=True):
            if near:
                self._add_near(new)
                continue
            above, node = -1, self._root
            while node >= 0:
                above = node
                node = left[node] if new < node else right[node]
            up[new] = above
            if new < above:
                left[above] = new
            else:
                right[above] = new
            if red[above] or above < 0:
                self._balance(new)

    def _add_near(self, new: int) -> None:
        """Unless a group on the way has an almost equal normal, the way leads to where a new group belongs."""
        if self._odd[new]:
            self._add_equal(new, self._root, -1)
            return
        low, high, x, y, z = self._low[new], self._high[new], self._x[new], self._y[new], self._z[new]
        left, right, all_x, all_y, all_z = self._left, self._right, self._x, self._y, self._z
        above, found, node = -1, -1, self._root
        while node >= 0:
            if low <= node <= high and all_x[node] * x + all_y[node] * y + all_z[node] * z > _PARALLEL:
                self._add_equal(new, node, found)
                return
            above = node
            if new < node:
                found, node = node, left[node]
            else:
                node = right[node]
        self._insert(new, above, new < above)

    def _add_equal(self, new: int, node: int, found: int) -> None:
        """In two steps: look up, from where the way so far has led; then insert."""
        found = self._lower_bound(new, node, found)
        if found >= 0 and not self._before(new, found):
            self._joined.setdefault(found, []).append(new)
            return
        above, node, first = -1, self._root, True
        while node >= 0:
            above = node
            first = self._before(new, node)
            node = self._left[node] if first else self._right[node]
        if above < 0 or self._is_new(new, above, first):
            self._insert(new, above, first)
        # otherwise the two steps disagree, and MuJoCo's set drops the face

    def _lower_bound(self, new: int, node: int, found: int) -> int:
        """The first group that does not stand before a normal, or −1."""
        low, certain = self._low[new], new if not self._odd[new] else len(self._odd)
        left, right, before = self._left, self._right, self._before
        while node >= 0:
            if node < low or (node < certain and before(node, new)):
                node = right[node]
            else:
                found, node = node, left[node]
        return found

    def _before(self, a: int, b: int) -> bool:
        """Whether a group with the normal of a stands before one with that of b."""
        if not self._low[a] <= b <= self._high[a]:
            return a < b
        ax, ay, az = self._x[a], self._y[a], self._z[a]
        bx, by, bz = self._x[b], self._y[b], self._z[b]
        if ax * bx + ay * by + az * bz > _PARALLEL:
            return False
        if not (self._odd[a] and self._odd[b]):
            return a < b
        for difference in (ax - bx, ay - by, az - bz):
            if abs(difference) > MINVAL:
                return difference > 0
        return False

    def _is_new(self, new: int, above: int, first: bool) -> bool:
        """Whether no group that stands just before the place of insertion counts as equal."""
        previous = self._previous(above) if first else above
        return previous < 0 or self._before(previous, new)

    def _previous(self, node: int) -> int:
        if self._left[node] >= 0:
            node = self._left[node]
            while self._right[node] >= 0:
                node = self._right[node]
            return node
        above = self._up[node]
        while above >= 0 and self._left[above] == node:
            node, above = above, self._up[above]
        return above

    def _insert(self, new: int, above: int, first: bool) -> None:
        self._up[new] = above
        if first:
            self._left[above] = new
        else:
            self._right[above] = new
        self._balance(new)

    def _balance(self, node: int) -> None:
        """Restore the colours after an insertion, by recolouring on the way up and at most two rotations."""
        up, red, left, right = self._up, self._red, self._left, self._right
        while red[up[node]]:
            parent = up[node]
            grand = up[parent]
            side, across = (left, right) if left[grand] == parent else (right, left)
            uncle = across[grand]
            if not red[uncle]:
                self._rotate(node, side, across)
                return
            red[parent] = red[uncle] = False
            red[grand] = True
            node = grand
        if up[node] < 0:
            self._root = node
            red[node] = False

    def _rotate(self, node: int, side: list[int], across: list[int]) -> None:
        """Turn a red node's red parent above its grandparent, or the node itself if it lies between the two."""
        up, left = self._up, self._left
        parent = up[node]
        grand = up[parent]
        above = up[grand]
        if across[parent] == node:
            inner = side[node]
            across[parent], side[node], up[inner], up[parent] = inner, parent, parent, node
            parent = node
        inner = across[parent]
        side[grand], across[parent], up[inner], up[grand], up[parent] = inner, grand, grand, parent, above
        self._red[parent], self._red[grand] = False, True
        if above < 0:
            self._root = parent
        elif left[above] == grand:
            left[above] = parent
        else:
            self._right[above] = parent

    def _in_order(self) -> np.ndarray:
        """All groups in the tree's order, level by level."""
        left, right = np.array(self._left), np.array(self._right)
        left[-1] = right[-1] = -1
        levels = [np.array([self._root])]
        while (levels[-1] >= 0).any():
            above = levels[-1][levels[-1] >= 0]
            levels.append(np.concatenate([left[above], right[above]]))
        size = np.zeros(len(left), np.int64)
        for level in levels[::-1]:
            size[level] = size[left[level]] + size[right[level]] + (level >= 0)
        first = np.zeros(len(left), np.int64)
        nodes = np.zeros(int(size[self._root]), np.int64)
        for level in levels[:-1]:
            level = level[level >= 0]
            place = first[level] + size[left[level]]
            nodes[place] = level
            first[left[level]], first[right[level]] = first[level], place + 1
        return nodes
