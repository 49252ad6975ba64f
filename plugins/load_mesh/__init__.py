"""Mesh file formats: decoding bytes into vertices, faces and what else the file has."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_FORMATS = {
    ".stl": ("stl", "Binary STL, with repeated vertices merged"),
    ".obj": ("obj", "Wavefront OBJ: the first group of faces, polygons cut into triangles"),
    ".msh": ("msh", "MuJoCo's own binary format"),
}


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="load_mesh",
            key=suffix,
            name=name,
            backend="numpy",
            target=f"dovetail.plugins.load_mesh.{name}_numpy:load_mesh",
            default=True,
            summary=summary,
        )
        for suffix, (name, summary) in _FORMATS.items()
    ]
