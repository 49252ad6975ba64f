"""Derivatives of the forces of a medium on an ellipsoid, in its own frame, with respect to its velocity, in lanes.

The forces are those of passive_force/ellipsoid_fluid_lanes.py. MINVAL guards each division where MuJoCo's derivative
has it; the formulas are those of ellipsoid_numpy.py. Compare mjd_ellipsoidFluid.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.fluid.ellipsoid_lanes import ordered, spin_moments
from dovetail.plugins.shared.vectors_lanes import Vector, dot, norm

IDENTITY = np.eye(3).astype(object)


class Silhouette(NamedTuple):
    """The ellipsoid seen along its velocity."""

    moving: Vector
    speed: Any
    faces: Vector
    """Squared products of the two other half axes."""
    normal: Vector
    steepness: Any
    spread: Any
    area: Any
    """Of its projection."""


def silhouette_of(k: Kernel, moving: Vector, size: Vector) -> Silhouette:
    x, y, z = size
    sides = np.array([y * z, z * x, x * y], dtype=object)
    faces = sides * sides
    normal = faces * moving
    steepness, spread = (k.local(dot(normal, other)).value for other in (normal, moving))
    area = k.local(pi * k.sqrt(steepness / k.max(MINVAL, spread))).value
    return Silhouette(moving, k.local(norm(k, moving)).value, faces, normal, steepness, spread, area)


def slopes(k: Kernel, turning: Vector, moving: Vector, size: Vector, coefficient: Vector) -> np.ndarray:
    """Derivative (6, 6) of torque and force on an ellipsoid with this angular and linear velocity."""
    density, viscosity = k.model.opt.density, k.model.opt.viscosity
    _, blunt, slender, angular, kutta, magnus = coefficient[:6]
    silhouette = silhouette_of(k, moving, size)
    diameter = 2.0 / 3.0 * (size[0] + size[1] + size[2])
    total = added_mass(turning, moving, density * coefficient[6:9], density * coefficient[9:12])
    moment = spin_moments(k, size, angular, slender)
    total[:3, :3] += spin_drag(k, turning, moment, viscosity * pi * (diameter * diameter * diameter))
    total[3:, 3:] += drag(k, silhouette, size, viscosity * 3.0 * pi * diameter, blunt, slender)
    total[3:, 3:] += lift(k, silhouette, density * kutta)
    strength = density * magnus * (4.0 / 3.0 * pi) * size[0] * size[1] * size[2]
    total[3:, :3] -= cross_matrix(strength * moving)
    total[3:, 3:] += cross_matrix(strength * turning)
    return total


def cross_matrix(v: Vector) -> np.ndarray:
    """The matrix that takes u to v × u."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=object)


def outer(a: Vector, b: Vector) -> np.ndarray:
    return np.array([[x * y for y in b] for x in a], dtype=object)


def added_mass(turning: Vector, moving: Vector, mass: Vector, inertia: Vector) -> np.ndarray:
    """Of torque L×ω + p×v and force p×ω with the momenta p = mass∘v and L = inertia∘ω."""
    along, about = cross_matrix(mass * moving), cross_matrix(inertia * turning)
    spin, motion = cross_matrix(turning), cross_matrix(moving)
    upper = np.hstack([about - spin * inertia, along - motion * mass])
    return np.vstack([upper, np.hstack([along, -(spin * mass)])])


def spin_drag(k: Kernel, turning: Vector, moment: Vector, linear: Any) -> np.ndarray:
    """Of the torque −(linear + density·‖moment∘ω‖)·ω."""
    resisted = moment * turning
    slope = (k.model.opt.density / k.max(MINVAL, norm(k, resisted))) * (moment * resisted)
    return -((linear + dot(turning, slope)) * IDENTITY) - outer(turning, slope)


def drag(
    k: Kernel, silhouette: Silhouette, size: Vector, linear: Any, blunt: Any, slender: Any
) -> np.ndarray:
    """Of the force −(linear + density·‖v‖·(blunt·area + slender·(largest − area)))·v."""
    density, moving, speed = k.model.opt.density, silhouette.moving, silhouette.speed
    _, middle, largest = ordered(k, size)
    seen = blunt * silhouette.area + slender * (pi * middle * largest - silhouette.area)
    quadratic = density * seen / k.max(MINVAL, speed)
    by_speed = quadratic * (outer(moving, moving) + (speed * speed) * IDENTITY)
    by_area = outer(moving, (density * speed * (blunt - slender)) * area_slope(k, silhouette))
    return -by_speed - by_area - linear * IDENTITY


def area_slope(k: Kernel, silhouette: Silhouette) -> Vector:
    """Of the area π·√(steepness/spread) that the ellipsoid shows along its velocity."""
    spread, steepness = silhouette.spread, silhouette.steepness
    scale = pi / k.max(MINVAL, k.sqrt(spread * spread * spread * steepness))
    found: Vector = scale * silhouette.normal * (silhouette.faces * spread - steepness)
    return found


def lift(k: Kernel, silhouette: Silhouette, strength: Any) -> np.ndarray:
    """Of the force strength·π·√(spread/steepness)/‖v‖·(n × v) × v, n the normal; (n × v) × v = −away∘v."""
    face, spread, steepness, moving = (
        silhouette.faces,
        silhouette.spread,
        silhouette.steepness,
        silhouette.moving,
    )
    square = dot(moving, moving)
    away = face * square - spread
    # Minus the relative slope of the factor before the vector, times spread/v.
    fading = face * face * (spread / k.max(MINVAL, steepness)) - face + spread / k.max(MINVAL, square)
    apart = np.array([[b - a for b in face] for a in face], dtype=object)
    turned = 2.0 * spread * apart + outer(away, fading)
    matrix = turned * outer(moving, moving) - spread * (away * IDENTITY)
    found: np.ndarray = (pi * strength / k.max(MINVAL, k.sqrt(steepness * spread * square))) * matrix
    return found
