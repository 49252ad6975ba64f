"""Drag on a body that is taken as a box with the same mass and inertia, in the frame of that box, in lanes.

Viscosity drags it like a sphere of the box's mean diameter (Stokes); density resists each axis with the square of
the speed. Compare mj_inertiaBoxFluidModel.
"""

from __future__ import annotations

from math import pi
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, vector


def equivalent_box(k: Kernel, inertia: Vector, mass: Any) -> Vector:
    """Side lengths of the box with the given principal inertia and mass."""
    total = inertia[0] + inertia[1] + inertia[2]
    return vector(*(k.sqrt(6.0 * k.max(MINVAL, total - 2.0 * i) / mass) for i in inertia))


def forces(k: Kernel, turning: Vector, moving: Vector, size: Vector) -> tuple[Vector, Vector]:
    """Torque and force on a box with this angular and linear velocity."""
    density, viscosity = (k.max(value, 0.0) for value in (k.model.opt.density, k.model.opt.viscosity))
    diameter = (size[0] + size[1] + size[2]) / 3.0
    torque, force = [], []
    for axis in range(3):
        own, other, third = (size[(axis + n) % 3] for n in range(3))
        spin, speed = turning[axis], moving[axis]
        resistance = density * own * (_fourth(other) + _fourth(third)) / 64.0
        torque.append(
            -(pi * viscosity * (diameter * diameter * diameter)) * spin - resistance * k.abs(spin) * spin
        )
        area = 0.5 * density * other * third
        force.append(-(3.0 * pi * viscosity * diameter) * speed - area * k.abs(speed) * speed)
    return vector(*torque), vector(*force)


def _fourth(x: Any) -> Any:
    return (x * x) * (x * x)
