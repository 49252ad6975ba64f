"""All forces but those of constraints, and the acceleration they give, in lanes.

qfrc_smooth = passive − bias + applied + actuator forces + what the Cartesian xfrc_applied amounts to in joint
coordinates; qacc_smooth = M⁻¹·qfrc_smooth. Compare mj_fwdAcceleration and mj_xfrcAccumulate.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.ldl_lanes import copy, solve
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import cross, dot, vector


def smooth_acceleration(k: Kernel) -> None:
    """Write qfrc_smooth and qacc_smooth."""
    m, d = k.model, k.data
    if not m.nv:
        return
    with k.loop(0, m.nv) as dof:
        d.qfrc_smooth[dof] = (
            d.qfrc_passive[dof] - d.qfrc_bias[dof] + d.qfrc_applied[dof] + d.qfrc_actuator[dof]
        )
    cartesian_forces(k)
    copy(k, d.qfrc_smooth, d.qacc_smooth)
    solve(k, d.qLD, d.qLDiagInv, d.qacc_smooth)


def cartesian_forces(k: Kernel) -> None:
    """Add the joint forces of xfrc_applied (force, torque), which acts at bodies' centres of mass in world axes."""
    m, d = k.model, k.data
    largest = k.local(0.0)
    stray = k.local(0.0)
    with k.loop(1, m.nbody) as body:
        for number in d.xfrc_applied[body]:
            largest.set(k.max(largest.value, k.abs(number)))
            stray += number - number
    used = (largest.value != 0.0) | (stray.value != 0.0)
    with k.when(k.any(used)):
        spatial = k.scratch("spatial", m.nbody, 6)
        with k.loop(1, m.nbody) as body:
            force, torque = d.xfrc_applied[body][:3], d.xfrc_applied[body][3:]
            lever = d.xipos[body] - d.subtree_com[m.body_rootid[body]]
            spatial[body] = vector(torque + cross(lever, force), force)
        add_to_parents(k, spatial)
        with k.loop(0, m.nv) as dof:
            before = d.qfrc_smooth[dof]
            # MuJoCo multiplies dense Jacobians, whose zeros do not hide NaN: every joint gets it.
            more = 0.0 if is_sparse(k.frozen_model) else stray.value
            total = before + dot(d.cdof[dof], spatial[m.dof_bodyid[dof]]) + more
            d.qfrc_smooth[dof] = k.select(used, total, before)
