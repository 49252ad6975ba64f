"""Volume (or area) and principal inertia of primitive geoms, solid or shell."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="geom_inertia",
            key=kind,
            name="analytic",
            backend="numpy",
            target=f"dovetail.plugins.geom_inertia.primitives_numpy:{kind}",
            default=True,
            summary=f"Closed formulas for a {kind}",
        )
        for kind in ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")
    ]
