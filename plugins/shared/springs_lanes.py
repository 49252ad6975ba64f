"""How far joints and tendons are from where their springs are at rest, in lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import JointType
from dovetail.plugins.shared.quaternions_lanes import quat_difference, quat_normalize


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


def stretch(k: Kernel, tendon: Int) -> Any:
    """How far a tendon is outside its spring's dead band: positive above, negative below."""
    length = k.data.ten_length[tendon]
    low, high = k.model.tendon_lengthspring[tendon]
    return k.select(length > high, length - high, k.select(length < low, length - low, 0.0))
