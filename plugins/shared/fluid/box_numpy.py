"""Drag on a body that is taken as a box with the same mass and inertia, in the frame of that box.

Viscosity drags it like a sphere of the box's mean diameter (Stokes); density resists each axis with the square
of the speed. Compare mj_inertiaBoxFluidModel.
"""

from __future__ import annotations

from math import pi

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL


def equivalent_box(inertia: Array, mass: Array) -> Array:
    """Side lengths (n, 3) of boxes with the given principal inertias (n, 3) and masses."""
    spread = inertia.sum(axis=1, keepdims=True) - 2.0 * inertia
    return np.sqrt(6.0 * np.maximum(MINVAL, spread) / mass[:, None])


def forces(
    turning: Array, moving: Array, size: Array, density: float, viscosity: float
) -> tuple[Array, Array]:
    """Torques and forces (n, 3) on boxes with these angular and linear velocities."""
    torque, force = np.zeros_like(turning), np.zeros_like(moving)
    if viscosity > 0.0:
        diameter = size.mean(axis=1, keepdims=True)
        torque -= pi * viscosity * diameter**3 * turning
        force -= 3.0 * pi * viscosity * diameter * moving
    if density > 0.0:
        other, third = np.roll(size, -1, axis=1), np.roll(size, -2, axis=1)
        torque -= density * size * (other**4 + third**4) / 64.0 * np.abs(turning) * turning
        force -= 0.5 * density * other * third * np.abs(moving) * moving
    return torque, force
