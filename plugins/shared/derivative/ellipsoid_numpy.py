"""Derivatives of the forces of a medium on ellipsoids, in their own frames, with respect to their velocity.

The forces are those of shared/fluid/ellipsoid_numpy.py. MINVAL guards each division where MuJoCo's derivative has
it: for geoms of a few centimetres some denominators are below it at ordinary speeds, and the result is then that
of 3.4.0 rather than the exact derivative. Compare mjd_ellipsoidFluid.
"""

from __future__ import annotations

from math import pi

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.fluid.ellipsoid_numpy import Silhouette, spin_moments
from dovetail.plugins.shared.vectors_numpy import dot_rows

IDENTITY = np.eye(3)


def slopes(
    turning: Array, moving: Array, size: Array, coefficient: Array, density: float, viscosity: float
) -> Array:
    """Derivatives (n, 6, 6) of torques and forces on ellipsoids with these angular and linear velocities."""
    _, blunt, slender, angular, kutta, magnus = coefficient.T[:6]
    silhouette = Silhouette(moving, size)
    diameter = 2.0 / 3.0 * size.sum(axis=1)
    total = added_mass(turning, moving, density * coefficient[:, 6:9], density * coefficient[:, 9:12])
    moment = spin_moments(size, angular, slender)
    total[:, :3, :3] += spin_drag(turning, moment, density, viscosity * pi * diameter**3)
    total[:, 3:, 3:] += drag(silhouette, size, density, viscosity * 3.0 * pi * diameter, blunt, slender)
    total[:, 3:, 3:] += lift(silhouette, size, density * kutta)
    strength = (density * magnus * 4.0 / 3.0 * pi * size.prod(axis=1))[:, None]
    total[:, 3:, :3] -= cross_matrix(strength * moving)
    total[:, 3:, 3:] += cross_matrix(strength * turning)
    return total


def cross_matrix(v: Array) -> Array:
    """Matrices (n, 3, 3) that take u to v × u."""
    x, y, z = v.T
    zero = np.zeros_like(x)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)


def outer(a: Array, b: Array) -> Array:
    """Products (n, 3, 3) of rows."""
    return a[:, :, None] * b[:, None, :]


def scaled(factor: Array, matrices: Array) -> Array:
    """Matrices (n, 3, 3), or one for all, times numbers (n)."""
    return factor[:, None, None] * matrices


def added_mass(turning: Array, moving: Array, mass: Array, inertia: Array) -> Array:
    """Of torque L×ω + p×v and force p×ω with the momenta p = mass∘v and L = inertia∘ω."""
    matrix = np.zeros((len(turning), 6, 6))
    along, about = cross_matrix(mass * moving), cross_matrix(inertia * turning)
    matrix[:, :3, :3] = about - cross_matrix(turning) * inertia[:, None, :]
    matrix[:, :3, 3:] = along - cross_matrix(moving) * mass[:, None, :]
    matrix[:, 3:, :3] = along
    matrix[:, 3:, 3:] = -cross_matrix(turning) * mass[:, None, :]
    return matrix


def spin_drag(turning: Array, moment: Array, density: float, linear: Array) -> Array:
    """Of the torque −(linear + density·‖moment∘ω‖)·ω."""
    resisted = moment * turning
    share = density / np.maximum(MINVAL, np.linalg.norm(resisted, axis=1, keepdims=True))
    slope = share * moment * resisted
    return -scaled(linear + dot_rows(turning, slope), IDENTITY) - outer(turning, slope)


def drag(
    silhouette: Silhouette, size: Array, density: float, linear: Array, blunt: Array, slender: Array
) -> Array:
    """Of the force −(linear + density·‖v‖·(blunt·area + slender·(largest − area)))·v."""
    moving, speed = silhouette.moving, silhouette.speed
    quadratic = density * (blunt * silhouette.area + slender * (silhouette.largest - silhouette.area))
    by_speed = scaled(
        quadratic / np.maximum(MINVAL, speed), outer(moving, moving) + scaled(speed**2, IDENTITY)
    )
    by_area = outer(moving, (density * speed * (blunt - slender))[:, None] * area_slope(silhouette, size))
    return -by_speed - by_area - scaled(linear, IDENTITY)


def area_slope(silhouette: Silhouette, size: Array) -> Array:
    """Of the area π·√(steepness/spread) that the ellipsoid shows along its velocity."""
    scale = pi / np.maximum(MINVAL, np.sqrt(silhouette.spread**3 * silhouette.steepness))
    uneven = faces(size) * silhouette.spread[:, None] - silhouette.steepness[:, None]
    return scale[:, None] * silhouette.normal * uneven


def lift(silhouette: Silhouette, size: Array, strength: Array) -> Array:
    """Of the force strength·π·√(spread/steepness)/‖v‖·(n × v) × v, n the normal; (n × v) × v = −away∘v."""
    face, spread, steepness = faces(size), silhouette.spread, silhouette.steepness
    square = dot_rows(silhouette.moving, silhouette.moving)
    away = face * square[:, None] - spread[:, None]
    # Minus the relative slope of the factor before the vector, times spread/v.
    fading = face**2 * (spread / np.maximum(MINVAL, steepness))[:, None] - face
    fading += (spread / np.maximum(MINVAL, square))[:, None]
    turned = 2.0 * scaled(spread, face[:, None, :] - face[:, :, None]) + outer(away, fading)
    matrix = turned * outer(silhouette.moving, silhouette.moving) - scaled(
        spread, away[:, :, None] * IDENTITY
    )
    scale = pi * strength / np.maximum(MINVAL, np.sqrt(steepness * spread * square))
    return scaled(scale, matrix)


def faces(size: Array) -> Array:
    """Squared products of the two other half axes (n, 3)."""
    return np.square(np.roll(size, -1, axis=1) * np.roll(size, -2, axis=1))
