"""Forces of a medium on an ellipsoid, in its own frame: added mass, lift and drag, in lanes.

An ellipsoid has the coefficients of geom_fluid: share, blunt drag, slender drag, angular drag, Kutta lift, Magnus
lift, virtual mass (3) and virtual inertia (3). Compare mj_addedMassForces and mj_viscousForces, and the chapter on
fluid forces in MuJoCo's documentation.
"""

from __future__ import annotations

from math import pi
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, vector


def semi_axes(k: Kernel, kind: Any, size: Vector) -> Vector:
    """Half-sizes of a geom as an ellipsoid."""
    sphere, capsule = kind == GeomType.SPHERE, kind == GeomType.CAPSULE
    long = capsule | (kind == GeomType.CYLINDER)
    along = k.select(long, size[1] + k.select(capsule, size[0], 0.0), size[2])
    return vector(size[0], k.select(sphere | long, size[0], size[1]), k.select(sphere, size[0], along))


def forces(
    k: Kernel, turning: Vector, moving: Vector, size: Vector, coefficient: Vector
) -> tuple[Vector, Vector]:
    """Torque and force on an ellipsoid with this angular and linear velocity."""
    density, viscosity = k.model.opt.density, k.model.opt.viscosity
    _, blunt, slender, angular, kutta, magnus = coefficient[:6]
    torque, force = added_mass(turning, moving, density, coefficient[6:9], coefficient[9:12])
    volume = 4.0 / 3.0 * pi * size[0] * size[1] * size[2]
    force = force + (magnus * density * volume) * cross(turning, moving)
    speed = norm(k, moving)
    area, lift = silhouette(k, moving, size, speed)
    force = force + (kutta * density) * lift
    diameter = 2.0 / 3.0 * (size[0] + size[1] + size[2])
    _, middle, largest = ordered(k, size)
    seen = blunt * area + slender * (pi * middle * largest - area)
    drag = viscosity * 3.0 * pi * diameter + density * speed * seen
    spin = norm(k, turning * spin_moments(k, size, angular, slender))
    spin_drag = viscosity * pi * (diameter * diameter * diameter) + density * spin
    return torque - spin_drag * turning, force - drag * moving


def added_mass(
    turning: Vector, moving: Vector, density: Any, mass: Vector, inertia: Vector
) -> tuple[Vector, Vector]:
    """What the momentum of the medium that is carried along does when the body turns: p×ω and L×ω + p×v."""
    momentum, angular_momentum = density * mass * moving, density * inertia * turning
    return cross(momentum, moving) + cross(angular_momentum, turning), cross(momentum, turning)


def silhouette(k: Kernel, moving: Vector, size: Vector, speed: Any) -> tuple[Any, Vector]:
    """The ellipsoid seen along its velocity: area of its projection, and how that deflects the medium: area × cosine
    of the angle of attack × (normal × velocity) × velocity."""
    x, y, z = size
    faces = vector(y * z, z * x, x * y)
    normal = faces * faces * moving
    steepness, spread = dot(normal, normal), dot(normal, moving)
    area = pi * k.sqrt(steepness / k.max(MINVAL, spread))
    cosine = spread / k.max(MINVAL, speed * steepness)
    return area, cross(cosine * area * cross(normal, moving), moving)


def spin_moments(k: Kernel, size: Vector, angular: Any, slender: Any) -> Vector:
    """Moments that resist turning about each axis: the widest body of revolution's, and the rest to the largest."""
    unit = 8.0 / 15.0 * pi
    _, middle, largest = ordered(k, size)
    most = unit * middle * _fourth(largest)
    moments = []
    for axis in range(3):
        own, other, third = (size[(axis + n) % 3] for n in range(3))
        moment = unit * own * _fourth(k.max(other, third))
        moments.append(angular * moment + slender * (most - moment))
    return vector(*moments)


def ordered(k: Kernel, size: Vector) -> tuple[Any, Any, Any]:
    """The three half-sizes, ascending."""
    low, high = k.min(size[0], size[1]), k.max(size[0], size[1])
    return k.min(low, size[2]), k.max(low, k.min(high, size[2])), k.max(high, size[2])


def _fourth(x: Any) -> Any:
    return (x * x) * (x * x)
