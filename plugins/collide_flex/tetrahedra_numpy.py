"""Contacts that keep tetrahedra of flexes from turning inside out: each face with the vertex opposite.

A vertex that comes nearer to the plane of the face than two radii, or passes it, is pushed back. All pairs at once.
World frame. Compare planeVertex in mj_collideFlexInternal.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.collide_flex.contact_rows_numpy import contacts, crosses, dots, units
from dovetail.plugins.shared.flex.elements_numpy import corner_places

FACES = np.array([[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]])
"""The face opposite each corner, turning so that its normal points outwards."""


def vertex_tetrahedron(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the element, the second one of its vertices."""
    flex, elem = pairs.flex[:, 0], pairs.elem[:, 0]
    start = model.flex_elemdataadr[flex] + 4 * elem
    corner = model.flex_elem[start[:, None] + np.arange(4)]
    opposite = np.argmax(corner == pairs.vert[:, 1][:, None], axis=1)
    place = corner_places(model, data, flex, elem)
    rows = np.arange(len(flex))
    face = place[rows[:, None], FACES[opposite]]
    vertex = place[rows, opposite]
    normal, _ = units(crosses(face[:, 1] - face[:, 0], face[:, 2] - face[:, 0]))
    height = dots(vertex - face[:, 0], normal)
    radius = model.flex_radius[flex]
    near = np.flatnonzero(height > -2.0 * radius)
    dist = (-height - 2.0 * radius)[near]
    pos = (vertex - 0.5 * height[:, None] * normal)[near]
    return contacts(near, dist, pos, -normal[near])
