"""Forces of a medium on ellipsoids, in their own frames: added mass, lift and drag.

Each ellipsoid has the coefficients of geom_fluid: share, blunt drag, slender drag, angular drag, Kutta lift, Magnus
lift, virtual mass (3) and virtual inertia (3). Added mass is the momentum of the medium that moves along, as far
as it does not depend on acceleration; Magnus lift comes from turning, Kutta lift from moving at an angle to
the axes; drag is Stokes' plus quadratic. Compare mj_addedMassForces and mj_viscousForces, and the chapter on
fluid forces in MuJoCo's documentation.
"""

from __future__ import annotations

from math import pi

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows


def semi_axes(kind: Array, size: Array) -> Array:
    """Half-sizes (n, 3) of geoms as ellipsoids."""
    round_, capsule = size[:, 0], kind == GeomType.CAPSULE
    axes = np.array(size)
    turned = np.isin(kind, (GeomType.SPHERE, GeomType.CAPSULE, GeomType.CYLINDER))
    axes[turned, 1] = round_[turned]
    axes[turned, 2] = size[turned, 1]
    axes[kind == GeomType.SPHERE, 2] = round_[kind == GeomType.SPHERE]
    axes[capsule, 2] += round_[capsule]
    return axes


def forces(
    turning: Array, moving: Array, size: Array, coefficient: Array, density: float, viscosity: float
) -> tuple[Array, Array]:
    """Torques and forces (n, 3) on ellipsoids with these angular and linear velocities."""
    _, blunt, slender, angular, kutta, magnus = coefficient.T[:6]
    torque, force = added_mass(turning, moving, density, coefficient[:, 6:9], coefficient[:, 9:12])
    silhouette = Silhouette(moving, size)
    volume = 4.0 / 3.0 * pi * size.prod(axis=1)
    force += (magnus * density * volume)[:, None] * cross_rows(turning, moving)
    force += (kutta * density)[:, None] * silhouette.lift()
    diameter = 2.0 / 3.0 * size.sum(axis=1)
    area = blunt * silhouette.area + slender * (silhouette.largest - silhouette.area)
    drag = viscosity * 3.0 * pi * diameter + density * silhouette.speed * area
    spin = np.linalg.norm(turning * spin_moments(size, angular, slender), axis=1)
    spin_drag = viscosity * pi * diameter**3 + density * spin
    return torque - spin_drag[:, None] * turning, force - drag[:, None] * moving


def added_mass(
    turning: Array, moving: Array, density: float, mass: Array, inertia: Array
) -> tuple[Array, Array]:
    """What the momentum of the medium that is carried along does when the body turns: p×ω and L×ω + p×v."""
    momentum, angular_momentum = density * mass * moving, density * inertia * turning
    return cross_rows(momentum, moving) + cross_rows(angular_momentum, turning), cross_rows(momentum, turning)


class Silhouette:
    """The ellipsoid seen along its velocity: speed, area of its projection, and how that deflects the medium."""

    def __init__(self, moving: Array, size: Array) -> None:
        faces = np.roll(size, -1, axis=1) * np.roll(size, -2, axis=1)
        self.moving = moving
        self.speed = np.linalg.norm(moving, axis=1)
        self.normal = np.square(faces) * moving
        self.steepness = dot_rows(self.normal, self.normal)
        self.spread = dot_rows(self.normal, moving)
        self.area = pi * np.sqrt(self.steepness / np.maximum(MINVAL, self.spread))
        self.largest = pi * np.sort(size, axis=1)[:, 1:].prod(axis=1)

    def lift(self) -> Array:
        """Area × cosine of the angle of attack × (normal × velocity) × velocity."""
        cosine = self.spread / np.maximum(MINVAL, self.speed * self.steepness)
        circulation = (cosine * self.area)[:, None] * cross_rows(self.normal, self.moving)
        return cross_rows(circulation, self.moving)


def spin_moments(size: Array, angular: Array, slender: Array) -> Array:
    """Moments that resist turning about each axis: the widest body of revolution's, and the rest to the largest."""
    unit = 8.0 / 15.0 * pi
    widest = np.maximum(np.roll(size, -1, axis=1), np.roll(size, -2, axis=1))
    own = unit * size * widest**4
    ordered = np.sort(size, axis=1)
    largest = unit * ordered[:, 1:2] * ordered[:, 2:] ** 4
    return angular[:, None] * own + slender[:, None] * (largest - own)
