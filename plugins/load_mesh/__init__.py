"""Mesh file formats: decoding bytes into vertices, faces and what else the file has.

One row per format: `stl_numpy.py`, `msh_numpy.py`, `obj_numpy.py`. OBJ has more files because it is text: whole
tables of numbers at once (`obj_tables_numpy.py`), else word by word (`obj_words_numpy.py`), polygons cut into
triangles (`ear_clipping_numpy.py`). Begin with `stl_numpy.py`. Tests: `tests/stages/load_mesh`,
`tests/mjcf/test_mesh_files.py`, `test_polygons.py`.
"""

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
