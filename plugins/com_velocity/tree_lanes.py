"""Spatial velocities of bodies, and how fast motion axes turn, in lanes.

`cvel` is each body's velocity about its tree's centre of mass, in world axes: the parent's, plus the velocities
of the joints between. `cdof_dot` is the rate of change of each `cdof`, carried by the motion of everything before
it in the chain. Compare mj_comVel.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, Variable
from dovetail.contracts.enums import JointType
from dovetail.plugins.shared.spatial_lanes import cross_motion


def com_velocity(k: Kernel) -> None:
    """Write cvel and cdof_dot."""
    m, d = k.model, k.data
    d.cvel[0] = 0.0
    with k.loop(1, m.nbody) as body:
        velocity = k.local(d.cvel[m.body_parentid[body]])
        first = m.body_jntadr[body]
        with k.loop(first, first + m.body_jntnum[body]) as joint:
            add_joint(k, m.jnt_type[joint], m.jnt_dofadr[joint], velocity)
        d.cvel[body] = velocity.value


def add_joint(k: Kernel, kind: Any, dof: Any, velocity: Variable) -> None:
    """Write cdof_dot of a joint's dofs and add their velocities."""
    if k.has("joint.free"):
        with k.when(kind == JointType.FREE):
            # Its translations are along world axes, which nothing carries; its rotations move with them.
            for axis in range(3):
                k.data.cdof_dot[dof + axis] = 0.0
                velocity += k.data.cdof[dof + axis] * k.data.qvel[dof + axis]
            rotate_together(k, dof + 3, velocity)
    if k.has("joint.ball"):
        with k.when(kind == JointType.BALL):
            rotate_together(k, dof, velocity)
    with k.when(kind >= JointType.SLIDE):
        axis = k.data.cdof[dof]
        k.data.cdof_dot[dof] = cross_motion(velocity.value, axis)
        velocity += axis * k.data.qvel[dof]


def rotate_together(k: Kernel, first: Any, velocity: Variable) -> None:
    """Three rotations about body axes, all carried by the velocity before them."""
    d = k.data
    carrier = velocity.value
    with k.loop(first, first + 3) as dof:
        d.cdof_dot[dof] = cross_motion(carrier, d.cdof[dof])
        velocity += d.cdof[dof] * d.qvel[dof]
