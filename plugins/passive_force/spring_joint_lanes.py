"""Joint springs: a force towards qpos_spring, in joint coordinates, in lanes.

Hinges and slides pull with −k·(q − q_spring). A ball's displacement is the rotation vector from the spring
orientation, in the body's frame; a free joint is three slides in the world frame and a ball. Compare the joint
part of mj_springdamper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import DisableBit, JointType
from dovetail.plugins.shared.quaternions_lanes import quat_difference, quat_normalize


def spring(k: Kernel) -> None:
    """Write qfrc_spring and add it to qfrc_passive."""
    m, d = k.model, k.data
    with k.loop(0, m.nv) as dof:
        d.qfrc_spring[dof] = 0.0

    def pull(stiffness: Any, dof: Any, displacement: Any) -> None:
        force = -stiffness * displacement
        d.qfrc_spring[dof] = force
        d.qfrc_passive[dof] += force

    with k.when(~k.disabled(DisableBit.SPRING)):
        on_springs(k, pull)


def on_springs(k: Kernel, use: Callable[[Any, Any, Any], None]) -> None:
    """Call `use(stiffness, dof, displacement)` for each dof of the joints with springs."""
    m = k.model
    with k.loop(0, m.njnt) as joint:
        stiffness = m.jnt_stiffness[joint]
        with k.when(k.any(stiffness != 0.0)):
            for kind, displacements in _DISPLACEMENTS.items():
                if k.has(f"joint.{kind.keyword}"):
                    with k.when(m.jnt_type[joint] == kind):
                        for n, displacement in enumerate(displacements(k, m.jnt_qposadr[joint])):
                            use(stiffness, m.jnt_dofadr[joint] + n, displacement)


def single_displacement(k: Kernel, at: Int) -> list[Any]:
    return [k.data.qpos[at] - k.model.qpos_spring[at]]


def ball_displacement(k: Kernel, at: Any) -> list[Any]:
    orientation = quat_normalize(k, k.data.qpos[at : at + 4])
    return list(quat_difference(k, orientation, k.model.qpos_spring[at : at + 4]))


def free_displacement(k: Kernel, at: Any) -> list[Any]:
    translation = k.data.qpos[at : at + 3] - k.model.qpos_spring[at : at + 3]
    return [*translation, *ball_displacement(k, at + 3)]


_DISPLACEMENTS: dict[JointType, Callable[[Kernel, Any], list[Any]]] = {
    JointType.FREE: free_displacement,
    JointType.BALL: ball_displacement,
    JointType.SLIDE: single_displacement,
    JointType.HINGE: single_displacement,
}
