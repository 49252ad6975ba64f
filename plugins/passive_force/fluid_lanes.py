"""Forces of the surrounding medium on bodies that move through it, or that the wind blows at, in lanes.

A body with a geom that has `fluidshape` ellipsoid is a set of ellipsoids, one per such geom; any other is a box with
the inertia of the body. Velocities are taken relative to the wind, in the frame of the geom or of the body's
inertia, and so are the forces until they are applied. Compare mj_inertiaBoxFluidModel and mj_ellipsoidFluidModel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.fluid.medium_lanes import on_body, on_box, on_ellipsoid
from dovetail.plugins.shared.passive_flags_lanes import all_off
from dovetail.plugins.shared.wrenches_lanes import joint_forces


def fluid(k: Kernel) -> None:
    """Write qfrc_fluid and add it to qfrc_passive."""
    m, d = k.model, k.data
    if not m.nv:
        return
    wrenches = k.scratch("wrenches", m.nbody, 6)
    thick = (m.opt.viscosity != 0.0) | (m.opt.density != 0.0)
    with k.when(thick & ~all_off(k)):
        with k.loop(1, m.nbody) as body:
            wrenches[body] = 0.0
            heavy = m.body_mass[body] >= MINVAL
            with k.when(k.any(heavy)):
                on_body(
                    k,
                    body,
                    lambda body: on_box(k, body, wrenches),
                    lambda body, geom: on_ellipsoid(k, body, geom, wrenches),
                )
                if k.varies("body_mass"):
                    wrenches[body] = k.select(heavy, wrenches[body], 0.0)
        with joint_forces(k, wrenches) as (dof, force):
            d.qfrc_fluid[dof] = force
            d.qfrc_passive[dof] += force
    with k.otherwise(), k.loop(0, m.nv) as dof:
        d.qfrc_fluid[dof] = 0.0
