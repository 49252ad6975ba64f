"""Subtree centres of mass, and inertias and motion axes about them, in lanes.

All spatial quantities of one kinematic tree share a reference point, `subtree_com` of the body attached to the
world; axes are the world's. Compare mj_comPos, mju_inertCom and mju_dofCom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import JointType
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector


def com_position(k: Kernel) -> None:
    """Write subtree_com, cinert and cdof."""
    subtree_centres(k)
    inertias(k)
    if k.model.nv:
        motion_axes(k)


def subtree_centres(k: Kernel) -> None:
    """Centre of mass of every body with its descendants; its own where the subtree has no mass."""
    m, d = k.model, k.data
    d.subtree_com[0] = 0.0
    with k.loop(1, m.nbody) as body:
        d.subtree_com[body] = m.body_mass[body] * d.xipos[body]
    with k.loop(0, m.nbody, reverse=True) as body:
        moment = d.subtree_com[body]
        with k.when(body > 0):
            d.subtree_com[m.body_parentid[body]] += moment
        mass = m.body_subtreemass[body]
        scaled = moment * (1.0 / k.max(MINVAL, mass))
        d.subtree_com[body] = k.select(mass < MINVAL, d.xipos[body], scaled)


def inertias(k: Kernel) -> None:
    """Every body's spatial inertia about its tree's centre of mass; the world has none."""
    m, d = k.model, k.data
    d.cinert[0] = 0.0
    with k.loop(1, m.nbody) as body:
        offset = d.xipos[body] - d.subtree_com[m.body_rootid[body]]
        rotation = d.ximat[body].reshape(3, 3)
        d.cinert[body] = spatial_inertia(rotation, m.body_inertia[body], m.body_mass[body], offset)


def spatial_inertia(rotation: Any, inertia: Any, mass: Any, offset: Any) -> Vector:
    """MuJoCo's ten numbers for a body whose principal axes are `rotation` and whose centre is at `offset`."""
    scaled = rotation * inertia
    own = {(r, c): scaled[r] @ rotation[c] for r, c in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))}
    x, y, z = offset
    hx, hy, hz = mass * offset
    return vector(
        own[0, 0] + (hy * y + hz * z),
        own[1, 1] + (hx * x + hz * z),
        own[2, 2] + (hx * x + hy * y),
        own[0, 1] - hx * y,
        own[0, 2] - hx * z,
        own[1, 2] - hy * z,
        hx,
        hy,
        hz,
        mass,
    )


def motion_axes(k: Kernel) -> None:
    """Velocity of the tree's reference point and rotation, per unit of every degree of freedom's velocity."""
    m, d = k.model, k.data
    with k.loop(0, m.njnt) as joint:
        kind, dof, body = m.jnt_type[joint], m.jnt_dofadr[joint], m.jnt_bodyid[joint]
        lever = d.subtree_com[m.body_rootid[body]] - d.xanchor[joint]
        if k.has("joint.free"):
            with k.when(kind == JointType.FREE):
                for axis in range(3):
                    d.cdof[dof + axis] = np.eye(6)[3 + axis]
                body_axes(k, dof + 3, body, lever)
        if k.has("joint.ball"):
            with k.when(kind == JointType.BALL):
                body_axes(k, dof, body, lever)
        if k.has("joint.slide"):
            with k.when(kind == JointType.SLIDE):
                d.cdof[dof] = vector(np.zeros(3), d.xaxis[joint])
        if k.has("joint.hinge"):
            with k.when(kind == JointType.HINGE):
                d.cdof[dof] = vector(d.xaxis[joint], cross(d.xaxis[joint], lever))


def body_axes(k: Kernel, dof: Any, body: Any, lever: Any) -> None:
    """Three rotations about the body's own axes."""
    with k.loop(0, 3) as axis:
        column = k.data.xmat[body, axis], k.data.xmat[body, axis + 3], k.data.xmat[body, axis + 6]
        k.data.cdof[dof + axis] = vector(*column, cross(column, lever))
