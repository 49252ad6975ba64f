"""Sums along the kinematic tree, what kinds of joints there are, and which bodies can be worked on together.

A cloth or a soft solid is hundreds of bodies without children that only slide. Walks along the tree take such leaves
as rows of arrays, with the same operations in the same order for each body, so that no bit depends on it. In lanes:
tree_lanes.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike

# As plain integers, because comparing an array with a member of an enum takes five times as long.
FREE, BALL, SLIDE, HINGE = map(int, (JointType.FREE, JointType.BALL, JointType.SLIDE, JointType.HINGE))


def single_dof(jnt_type: Array) -> Array:
    """Which joints are hinges or slides, with one coordinate and one velocity."""
    return (jnt_type == HINGE) | (jnt_type == SLIDE)


MANY = 32
"""Bodies from which it pays to look for those that can be worked on together. Measured on a humanoid."""
CHAINS = 12
"""Chains of the same length from which they are quicker together."""
STRETCH = 8
"""Leaves after one another from which adding them up in one call is quicker than one by one."""


def leaves(parents: Array) -> Array:
    """Which bodies have no children (mask); never the world."""
    leaf = np.ones(len(parents), bool)
    leaf[parents] = False
    return leaf


def walked_and_sliding(model: ModelLike) -> tuple[Array, Array]:
    """All bodies in two parts, each ascending. The second are leaves that no joint turns, with slides or no joints at
    all: a walk along the tree can take them last, all at once. There are none where bodies are too few for that to
    gain anything."""
    if model.nbody < MANY:
        return np.arange(model.nbody), np.zeros(0, np.intp)
    sliding = leaves(model.body_parentid)
    sliding[model.jnt_bodyid[model.jnt_type != SLIDE]] = False
    return np.flatnonzero(~sliding), np.flatnonzero(sliding)


def slides_of(model: ModelLike, bodies: Array) -> Iterator[tuple[Array, Array]]:
    """First joints of bodies that have one, then second ones, and so on: places in `bodies`, and the joints."""
    first, count = model.body_jntadr[bodies], model.body_jntnum[bodies]
    for turn in range(int(count.max(initial=0))):
        place = np.flatnonzero(count > turn)
        yield place, first[place] + turn


def equal_chains(model: ModelLike, whole: Array) -> list[tuple[int, Array]]:
    """Trees whose dofs are one chain, without branches, and that many others are like: length, and first dofs (n).
    `whole` says of which dofs (mask) a matrix has all entries that a chain gives them; the others' trees are left
    out."""
    if model.ntree < CHAINS:
        return []
    usable = np.bincount(model.dof_treeid[~whole], minlength=model.ntree) == 0
    length = np.where(usable, model.tree_dofnum, 0)
    count = np.bincount(length)
    lengths = [n for n in np.flatnonzero(count >= CHAINS).tolist() if n > 1]
    return [(n, model.tree_dofadr[length == n]) for n in lengths]


def add_from_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its ancestors' rows, in place; bodies come after their parents, leaves last."""
    if len(parents) < MANY:
        walked, last = range(1, len(parents)), None
    else:
        leaf = leaves(parents)
        walked, last = np.flatnonzero(~leaf)[1:].tolist(), np.flatnonzero(leaf)
    parent_of = parents.tolist()
    for body in walked:
        rows[body] += rows[parent_of[body]]
    if last is not None:
        rows[last] += rows[parents[last]]


def add_to_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its descendants' rows, in place, from the last body to the first: the order decides
    how sums are rounded. Leaves that follow one another are added in one call."""
    parent_of = parents.tolist()
    for start, stop, together in reversed(stretches(parents)):
        if together:
            backwards = slice(stop - 1, start - 1, -1)
            np.add.at(rows, parents[backwards], rows[backwards])
            continue
        for body in range(stop - 1, start - 1, -1):
            rows[parent_of[body]] += rows[body]


def stretches(parents: Array) -> list[tuple[int, int, bool]]:
    """All bodies but the world in stretches (first, end, whether all are leaves, and many)."""
    count = len(parents)
    if count < MANY:
        return [(1, count, False)]
    leaf = leaves(parents)
    ends = np.flatnonzero(leaf[2:] != leaf[1:-1]) + 2
    edges = [1, *ends.tolist(), count]
    return [(start, stop, stop - start >= STRETCH and bool(leaf[start])) for start, stop in pairwise(edges)]
