"""How a mesh's mass is integrated: by volume in three ways, or over its surface."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_MODES = {
    "legacy": "Pyramids to the surface's centre, each counted positive: overcounts what is not convex",
    "exact": "Signed pyramids: exact for closed meshes with consistent faces",
    "convex": "Signed pyramids over the faces of the convex hull",
    "shell": "Mass spread over the surface",
}
_SOLID = ("legacy", "exact", "convex")


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [*map(_of_mujoco, _MODES), *map(_exact_in, _SOLID)]


def _of_mujoco(mode: str) -> Implementation:
    return Implementation(
        stage="mesh_inertia",
        key=mode,
        name="pyramids" if mode != "shell" else "triangles",
        backend="numpy",
        target=f"dovetail.plugins.mesh_inertia.integrals_numpy:{mode}",
        facts={"faces": "both"} if mode == "convex" else {},
        version="2" if mode == "convex" else "1",
        default=True,
        summary=_MODES[mode],
    )


def _exact_in(mode: str) -> Implementation:
    return Implementation(
        stage="mesh_inertia",
        key=mode,
        name="signed_volume",
        backend="numpy",
        target="dovetail.plugins.mesh_inertia.signed_volume_numpy:signed_volume",
        facts={"faces": "own"},
        summary="The volume inside the mesh's own faces, exactly, whatever the mode; turned either way",
    )
