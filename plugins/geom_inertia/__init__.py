"""Volume (or area) and principal inertia of primitive geoms, solid or shell."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_SHELLS = {
    ("cylinder", "open_shell"): "As a shell a tube without ends",
    ("ellipsoid", "similar_shell"): "As a shell the layer between two similar ellipsoids, m/3 (b² + c²)",
    ("ellipsoid", "uniform_shell"): "As a shell evenly thick, integrated over the surface",
    ("box", "tubes"): "As a shell m/6 (b² + c²), a rule of thumb",
}
"""Other shells; solids are the same."""


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    analytic = [
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
    shells = [
        Implementation(
            stage="geom_inertia",
            key=kind,
            name=name,
            backend="numpy",
            target=f"dovetail.plugins.geom_inertia.{name}_numpy:{kind}",
            summary=summary,
        )
        for (kind, name), summary in _SHELLS.items()
    ]
    return [*analytic, *shells]
