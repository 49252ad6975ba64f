"""How a mesh's mass is integrated: by volume in three ways, or over its surface."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_MODES = {
    "legacy": "Pyramids to the surface's centre, each counted positive: overcounts what is not convex",
    "exact": "Signed pyramids: exact for closed meshes with consistent faces",
    "convex": "Signed pyramids over the faces of the convex hull",
    "shell": "Mass spread over the surface",
}


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="mesh_inertia",
            key=mode,
            name="pyramids" if mode != "shell" else "triangles",
            backend="numpy",
            target=f"dovetail.plugins.mesh_inertia.integrals_numpy:{mode}",
            default=True,
            summary=summary,
        )
        for mode, summary in _MODES.items()
    ]
