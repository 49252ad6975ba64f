"""Shapes of flexible objects: the points and elements behind each type of `<flexcomp>`.

One row per type: `grid_numpy.py`, `box_numpy.py`, `mesh_numpy.py`, `gmsh_numpy.py` (a file format),
`direct_numpy.py` (nothing to do). Begin with `grid_numpy.py`. Tests: `tests/stages/flex_build`,
`tests/mjcf/test_flex.py`, `test_flexcomp_files.py`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_TYPES = {
    "grid": ("grid", "grid", "Rows of points along one, two or three axes"),
    "circle": ("grid", "grid", "A closed chain of points on a circle"),
    "square": ("grid", "square", "A flat grid of points"),
    "disc": ("grid", "square", "A flat grid of points, pulled to a disc"),
    "box": ("box", "box", "Points on the surface of a box, solid or hollow"),
    "cylinder": ("box", "box", "A box pulled to a cylinder"),
    "ellipsoid": ("box", "box", "A box pulled to an ellipsoid"),
    "mesh": ("mesh", "mesh", "The triangles of a mesh file, or tetrahedra between them and an origin"),
    "gmsh": ("gmsh", "gmsh", "The elements of a Gmsh file, format 2.2 or 4.1, text or binary"),
    "direct": ("direct", "direct", "Points and elements as the model file lists them"),
}


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="flex_build",
            key=kind,
            name=file,
            backend="numpy",
            target=f"dovetail.plugins.flex_build.{file}_numpy:{function}",
            default=True,
            summary=summary,
        )
        for kind, (file, function, summary) in _TYPES.items()
    ]
