"""Which bodies feel the medium as boxes and which geoms as ellipsoids, and how they move through it."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import cross_rows


def boxes_and_ellipsoids(model: ModelLike) -> tuple[Array, Array]:
    """Bodies taken as boxes, and geoms taken as ellipsoids; bodies without mass feel nothing."""
    heavy = np.array(model.body_mass >= MINVAL)
    heavy[0] = False
    shaped = np.zeros(model.nbody, dtype=bool)
    shaped[model.geom_bodyid[model.geom_fluid[:, 0] > 0.0]] = True
    immersed = (model.geom_fluid[:, 0] != 0.0) & (heavy & shaped)[model.geom_bodyid]
    return np.flatnonzero(heavy & ~shaped), np.flatnonzero(immersed)


def velocity_in_medium(
    model: ModelLike, data: DataLike, body: Array, point: Array, axes: Array
) -> tuple[Array, Array]:
    """Angular velocity of bodies, and velocity of points of theirs relative to the wind, in local axes."""
    angular, linear = data.cvel[body, :3], data.cvel[body, 3:]
    lever = point - data.subtree_com[model.body_rootid[body]]
    relative = linear + cross_rows(angular, lever) - model.opt.wind
    return in_local(axes, angular), in_local(axes, relative)


def in_local(axes: Array, vectors: Array) -> Array:
    return np.einsum("nji,nj->ni", axes, vectors)


def in_world(axes: Array, vectors: Array) -> Array:
    return np.einsum("nij,nj->ni", axes, vectors)
