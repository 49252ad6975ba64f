"""Spatial velocities of bodies, and how fast motion axes turn.

`cvel` is each body's velocity about its tree's centre of mass, in world axes: the parent's, plus the
velocities of the joints between. `cdof_dot` is the rate of change of each `cdof`, which is carried by the
motion of everything before it in the chain. Compare mj_comVel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.spatial_numpy import cross_motion
from dovetail.plugins.shared.tree_numpy import FREE, HINGE, SLIDE, slides_of, walked_and_sliding


def com_velocity(model: ModelLike, data: DataLike) -> None:
    """Write cvel and cdof_dot."""
    carrier = accumulate_velocities(model, data)
    if model.nv:
        data.cdof_dot[:] = cross_motion(carrier, data.cdof)


def accumulate_velocities(model: ModelLike, data: DataLike) -> Array:
    """Write cvel; return for each dof the velocity at which its axis is carried. Leaves that only slide come last,
    all together."""
    carrier = np.empty((model.nv, 6))
    velocity = data.cdof * data.qvel[:, None]
    walked, sliding = walked_and_sliding(model)
    walk(model, data.cvel, walked, velocity, carrier)
    if len(sliding):
        slide(model, data.cvel, sliding, velocity, carrier)
    return carrier


def walk(model: ModelLike, cvel: Array, bodies: Array, velocity: Array, carrier: Array) -> None:
    """Velocities of bodies (ascending, with all their ancestors), and what carries their dofs, body by body.
    `velocity` is what each dof adds."""
    parent_of = model.body_parentid.tolist()
    joint_of = model.body_jntadr.tolist()
    joint_count = model.body_jntnum.tolist()
    kind = model.jnt_type.tolist()
    dof_of = model.jnt_dofadr.tolist()

    cvel[0] = 0.0
    for body in bodies[1:].tolist():
        total = cvel[parent_of[body]]
        for joint in range(joint_of[body], joint_of[body] + joint_count[body]):
            dof = dof_of[joint]
            if kind[joint] == HINGE or kind[joint] == SLIDE:
                carrier[dof] = total
                total = total + velocity[dof]
                continue
            if kind[joint] == FREE:
                # Its translations are along world axes, which nothing carries; its rotations move with them.
                carrier[dof : dof + 3] = 0.0
                total = total + velocity[dof : dof + 3].sum(axis=0)
                dof += 3
            carrier[dof : dof + 3] = total
            total = total + velocity[dof : dof + 3].sum(axis=0)
        cvel[body] = total


def slide(model: ModelLike, cvel: Array, bodies: Array, velocity: Array, carrier: Array) -> None:
    """What `walk` does, as rows, for bodies with slides only whose parents' velocities are known."""
    total = cvel[model.body_parentid[bodies]]
    for place, joint in slides_of(model, bodies):
        dof = model.jnt_dofadr[joint]
        carrier[dof] = total[place]
        total[place] += velocity[dof]
    cvel[bodies] = total
