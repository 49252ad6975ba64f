"""What rows of `collide_flex` share: contacts of many pairs as arrays, and vectors by row, summed as x, y, z."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_FLEX_CONTACTS, FlexContacts
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import Vector


def contacts(pair: Array, dist: Array, pos: Array, normal: Array) -> FlexContacts:
    """Contacts without a wished tangent."""
    return FlexContacts(pair, dist, pos, normal, np.zeros((len(pair), 3)))


def listed(pair: list[int], dist: list[float], pos: list[Vector], normal: list[Vector]) -> FlexContacts:
    """The same from lists."""
    if not pair:
        return NO_FLEX_CONTACTS
    return contacts(np.array(pair), np.array(dist), np.array(pos), np.array(normal))


def dots(a: Array, b: Array) -> Array:
    """Scalar products of rows, rounded as those of single vectors are."""
    products = a * b
    return products[..., 0] + products[..., 1] + products[..., 2]


def crosses(a: Array, b: Array) -> Array:
    """Vector products of rows."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def units(rows: Array) -> tuple[Array, Array]:
    """Unit vectors along rows, the x-axis where there is no direction; and the lengths."""
    length = np.sqrt(dots(rows, rows))
    scale = 1.0 / np.maximum(length, MINVAL)
    return np.where((length < MINVAL)[..., None], [1.0, 0.0, 0.0], rows * scale[..., None]), length
