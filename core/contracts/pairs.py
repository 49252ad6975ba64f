"""What passes between the narrowphase and its rows: contacts of one pair of geoms (`collide_pair`), and pairs with a
flex, many at a time, with their contacts (`collide_flex`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array


class PairContacts(NamedTuple):
    """n contacts as arrays; the narrowphase completes the frames."""

    dist: Array
    """(n,) distance between the surfaces, negative when they overlap."""
    pos: Array
    """(n, 3) point midway between the surfaces, world frame."""
    normal: Array
    """(n, 3) unit vector from the first geom to the second."""
    tangent: Array
    """(n, 3) wished direction of the first tangent; zero: any."""

    @classmethod
    def of(
        cls,
        dist: Sequence[float] | Array,
        pos: Sequence[Array] | Array,
        normal: Sequence[Array] | Array,
        tangent: Sequence[Array] | Array | None = None,
    ) -> PairContacts:
        """Contacts from sequences; one `normal` may serve all."""
        dist = np.asarray(dist, float).reshape(-1)
        normals, tangents = np.empty((len(dist), 3)), np.zeros((len(dist), 3))
        normals[:] = normal
        if tangent is not None:
            tangents[:] = tangent
        return cls(dist, np.asarray(pos, float).reshape(normals.shape), normals, tangents)


NO_CONTACTS = PairContacts(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))


class FlexPairs(NamedTuple):
    """n pairs of one kind, each with a flex on at least one side; ids as in `contact`, -1 for what a side is not."""

    geom: Array
    """(n, 2) geoms."""
    flex: Array
    """(n, 2) flexes."""
    elem: Array
    """(n, 2) elements, counted inside their flex."""
    vert: Array
    """(n, 2) vertices, counted inside their flex."""


class FlexContacts(NamedTuple):
    """n contacts as arrays; the narrowphase completes the frames and keeps the order of the pairs."""

    pair: Array
    """(n,) which of the given pairs each contact belongs to, ascending."""
    dist: Array
    """(n,) distance between the surfaces, negative when they overlap."""
    pos: Array
    """(n, 3) point midway between the surfaces, world frame."""
    normal: Array
    """(n, 3) unit vector from the first side to the second."""
    tangent: Array
    """(n, 3) wished direction of the first tangent; zero: any."""


NO_FLEX_CONTACTS = FlexContacts(np.zeros(0, int), np.zeros(0), *[np.zeros((0, 3))] * 3)
