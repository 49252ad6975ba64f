"""How the forces of the surrounding medium change with velocity, in lanes.

Each body, or each geom with `fluidshape="ellipsoid"`, meets the medium in a frame of its own: torque and force there
are functions of the angular and linear velocity there, and their derivative is a (6, 6) matrix, angular part first.
Turned to world axes about the tree's centre of mass, these matrices add up along the tree, as composite inertias do.
Compare mjd_inertiaBoxFluid and mjd_ellipsoidFluid.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.derivative import ellipsoid_lanes
from dovetail.plugins.shared.fluid.box_lanes import equivalent_box
from dovetail.plugins.shared.fluid.ellipsoid_lanes import semi_axes
from dovetail.plugins.shared.fluid.medium_lanes import on_body, velocity_in_medium
from dovetail.plugins.shared.passive_flags_lanes import all_off
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, vector


def add_fluid(k: Kernel, matrix: LaneField, scale: Any) -> None:
    """Add scale·∂qfrc_fluid/∂qvel, its symmetric part, to a matrix with M's layout."""
    m, d = k.model, k.data
    coupling = k.scratch("fluid_coupling", m.nbody, 36)
    with k.when(medium_acts(k)):
        write_couplings(k, coupling, symmetric=True)
        add_to_parents(k, coupling)
        with k.loop(0, m.nv) as row:
            pull = coupling[m.dof_bodyid[row]].reshape(6, 6) @ d.cdof[row]
            first = m.M_rowadr[row]
            with k.loop(first, first + m.M_rownnz[row]) as at:
                matrix[at] += scale * dot(pull, d.cdof[m.M_colind[at]])


def medium_acts(k: Kernel) -> Any:
    """Whether there is a medium, and flags leave its forces on."""
    m = k.model
    return ((m.opt.viscosity > 0.0) | (m.opt.density > 0.0)) & ~all_off(k)


def write_couplings(k: Kernel, coupling: LaneField, *, symmetric: bool) -> None:
    """How the medium's wrench on each body changes with the body's velocity (nbody, 36), or the symmetric part."""
    m = k.model
    with k.loop(1, m.nbody) as body:
        with k.loop(0, 36) as n:
            coupling[body, n] = 0.0
        heavy = m.body_mass[body] >= MINVAL
        with k.when(k.any(heavy)):
            on_body(
                k,
                body,
                lambda body: add_box(k, body, coupling),
                lambda body, geom: add_ellipsoid(k, body, geom, coupling, symmetric=symmetric),
            )
            if k.varies("body_mass"):
                with k.loop(0, 36) as n:
                    coupling[body, n] = k.select(heavy, coupling[body, n], 0.0)


def add_box(k: Kernel, body: Int, coupling: LaneField) -> None:
    """A body taken as a box, at its centre of mass; every component depends on its own velocity alone."""
    m, d = k.model, k.data
    axes, centre = d.ximat[body].reshape(3, 3), d.xipos[body]
    rows, slope = frame_rows(k, body, centre, axes), k.scratch("fluid_slope", 6)
    turning, moving = velocity_in_medium(k, body, centre, axes)
    slope[:] = box_slopes(k, equivalent_box(k, m.body_inertia[body], m.body_mass[body]), turning, moving)
    with k.loop(0, 6) as r:
        add_product(k, coupling, body, rows[r], slope[r] * rows[r])


def box_slopes(k: Kernel, size: Vector, turning: Vector, moving: Vector) -> Vector:
    """Of each component of torque and force by its own component of velocity."""
    density, viscosity = (k.max(value, 0.0) for value in (k.model.opt.density, k.model.opt.viscosity))
    diameter = (size[0] + size[1] + size[2]) / 3.0
    angular, linear = [], []
    for axis in range(3):
        own, other, third = (size[(axis + n) % 3] for n in range(3))
        resistance = density * own * (_fourth(other) + _fourth(third)) / 32.0
        spin_drag = pi * viscosity * (diameter * diameter * diameter)
        angular.append(-spin_drag - resistance * k.abs(turning[axis]))
        area = density * other * third
        linear.append(-(3.0 * pi * viscosity * diameter) - area * k.abs(moving[axis]))
    return vector(*angular, *linear)


def _fourth(x: Any) -> Any:
    return (x * x) * (x * x)


def add_ellipsoid(k: Kernel, body: Int, geom: Any, coupling: LaneField, *, symmetric: bool) -> None:
    """A geom taken as an ellipsoid, at its centre."""
    m, d = k.model, k.data
    axes, centre = d.geom_xmat[geom].reshape(3, 3), d.geom_xpos[geom]
    rows, local = frame_rows(k, body, centre, axes), k.scratch("fluid_local", 6, 6)
    turning, moving = velocity_in_medium(k, body, centre, axes)
    size = semi_axes(k, m.geom_type[geom], m.geom_size[geom])
    full = ellipsoid_lanes.slopes(k, turning, moving, size, m.geom_fluid[geom])
    local[:] = 0.5 * (full + full.T) if symmetric else full
    with k.loop(0, 6) as r:
        along = k.local(np.full(6, 0.0, object))
        with k.loop(0, 6) as s:
            along += local[r, s] * rows[s]
        add_product(k, coupling, body, rows[r], along.value)


def frame_rows(k: Kernel, body: Int, centre: Vector, axes: np.ndarray) -> LaneField:
    """The matrix (6, 6) from velocities in world axes about the tree's centre of mass to those of a local frame."""
    rows = k.scratch("fluid_frame", 6, 6)
    lever = centre - k.data.subtree_com[k.model.body_rootid[body]]
    for n in range(3):
        axis = axes[:, n]
        rows[n] = vector(axis, 0.0, 0.0, 0.0)
        rows[3 + n] = vector(cross(lever, axis), axis)
    return rows


def add_product(k: Kernel, coupling: LaneField, body: Int, left: Vector, right: Vector) -> None:
    """Add leftᵀ·right."""
    for i in range(6):
        for j in range(6):
            coupling[body, 6 * i + j] += left[i] * right[j]
