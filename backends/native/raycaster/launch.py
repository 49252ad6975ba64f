"""Casting rays in C: the sources put together, compiled once, and called with a struct of pointers and numbers.

Lanes are pixels: a packet of as many rays as a register has single-precision numbers goes through the same code,
and a pixel's colour depends on no other lane, so pictures have the same bits for any number of threads and worlds.
"""

from __future__ import annotations

import ctypes
import functools
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.backends.native import compilers, libraries, processor, threads
from dovetail.backends.native.prelude import SELFTEST, prelude
from dovetail.contracts.fields import Array
from dovetail.errors import CapacityError
from dovetail.planning.auto import processors
from dovetail.rendering.drawing import Drawing
from dovetail.rendering.prepare import Prepared, prepare

FILES = ("shapes.c", "meeting.c", "shading.c", "picture.c")

_WHOLE, _REAL = "const int32_t *", "const float *"

ARRAYS: dict[str, str] = {
    **dict.fromkeys(("first", "kind", "rect", "transparent", "finite", "clear_order", "clear_first"), _WHOLE),
    **dict.fromkeys(("surface", "two_sided", "texture", "texture_use", "object", "segmented"), _WHOLE),
    **dict.fromkeys(("size", "inverse", "offset", "centre", "radius", "near"), _REAL),
    **dict.fromkeys(("rgba", "gloss", "texture_scale"), _REAL),
    **dict.fromkeys(("first_node", "first_triangle", "levels"), _WHOLE),
    **dict.fromkeys(("density", "nodes", "triangles", "normals", "texcoords"), _REAL),
    **dict.fromkeys(("first_level", "texture_levels"), _WHOLE),
    "texels": "const uint32_t *",
    **dict.fromkeys(("light_first", "directional", "castshadow"), _WHOLE),
    **dict.fromkeys(("light_pos", "light_dir", "ambient", "diffuse", "specular"), _REAL),
    **dict.fromkeys(("attenuation", "cutoff", "exponent"), _REAL),
    "orthographic": _WHOLE,
    **dict.fromkeys(("axes", "window", "view_near", "view_far"), _REAL),
    "room": "int32_t *",
    "base": "uint8_t *",
    "out": "uint8_t *",
    "depth": "float *",
    "objects": "int32_t *",
}
"""What the struct points to, and as what."""

NUMBERS = (
    *("nworld", "height", "width", "mode", "samples", "skybox", "most", "most_lights"),
    *("nslot", "parallel", "pass", "next"),
)

AT = {name: index for index, name in enumerate((*ARRAYS, *NUMBERS))}

DTYPES: dict[str, Any] = {
    _WHOLE: np.int32,
    _REAL: np.float32,
    "const uint32_t *": np.uint32,
    "int32_t *": np.int32,
    "uint8_t *": np.uint8,
    "float *": np.float32,
}

MOST_LIGHTS = 128
"""Lights of a world that fit into the lists of a tile."""

COLOUR, HITS = 0, 1

OPTIMISED = {"-O1": "-O2"}
"""Other than kernels of stages this is written by hand, and small functions want to be put together: a picture takes
2.2 instead of 2.9 ms, the compiler 1.6 instead of 1.0 s."""


def source() -> str:
    """All of the C, for as many lanes as a register has."""
    fields = "".join(f"  {kind}{name};\n" for name, kind in ARRAYS.items())
    fields += "".join(f"  int64_t {name};\n" for name in NUMBERS)
    folder = resources.files(__package__)
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
    return "\n".join(
        [
            prelude(processor.register_bytes() // 4, "f32"),
            SELFTEST,
            texts["shapes.c"],
            f"#define MOST_LIGHTS {MOST_LIGHTS}",
            "typedef struct {\n" + fields + "} arguments;",
            *(texts[name] for name in FILES[1:]),
        ]
    )


@functools.lru_cache(maxsize=4)
def _function(compiler: compilers.Compiler, flags: tuple[str, ...]) -> Any:
    loaded = libraries.load(libraries.library([source()], compiler, flags))
    function = loaded.dovetail_picture
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function


class NativeCaster:
    """Casts rays with compiled code."""

    name = "native"

    def __init__(self, compiler: compilers.Compiler, threads_: int | None) -> None:
        flags = compilers.flags(compiler)
        self._call = _function(compiler, tuple(OPTIMISED.get(flag, flag) for flag in flags))
        self._threads = processors() if threads_ is None else threads_
        self._parallel = threads.pool_address(compiler, flags) if self._threads > 1 else 0

    def colours(self, drawing: Drawing, height: int, width: int) -> Array:
        """(nworld, height, width, 3) bytes."""
        shape = (drawing.nworld, height, width, 3)
        base = np.empty(shape, np.uint8)
        out = np.empty(shape, np.uint8) if drawing.samples > 1 else base
        self._run(drawing, height, width, COLOUR, {"base": base, "out": out})
        return out

    def hits(self, drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
        """Depth (nworld, height, width) and objects (nworld, height, width, 2)."""
        depth = np.empty((drawing.nworld, height, width), np.float32)
        objects = np.empty((drawing.nworld, height, width, 2), np.int32)
        self._run(drawing, height, width, HITS, {"depth": depth, "objects": objects})
        return depth, objects

    def _run(self, drawing: Drawing, height: int, width: int, mode: int, out: dict[str, Array]) -> None:
        prepared = prepare(drawing, height, width)
        elements, lights = drawing.elements, drawing.lights
        most = max(1, int(np.diff(elements.first).max(initial=0)))
        most_lights = int(np.diff(lights.first).max(initial=0))
        if most_lights > MOST_LIGHTS:
            raise CapacityError(
                f'{most_lights} lights are on; rays in C take {MOST_LIGHTS} at most, and backend="numpy" any number'
            )
        tiles = drawing.nworld * -(-height // 16) * -(-width // 16)
        slots = max(1, min(self._threads, tiles))
        room = np.empty(slots * (4 + most_lights) * most, np.int32)
        arguments = np.zeros(len(AT), np.int64)
        held = {
            name: _as(name, array)
            for name, array in (_arrays(drawing, prepared) | out | {"room": room}).items()
        }
        for name, array in held.items():
            arguments[AT[name]] = array.ctypes.data
        numbers = {
            "nworld": drawing.nworld,
            "height": height,
            "width": width,
            "mode": mode,
            "samples": drawing.samples,
            "skybox": drawing.background.skybox,
            "most": most,
            "most_lights": most_lights,
            "nslot": slots,
            "parallel": self._parallel if slots > 1 else 0,
        }
        for name, number in numbers.items():
            arguments[AT[name]] = number
        self._call(arguments.ctypes.data)


def _as(name: str, array: Array) -> NDArray[Any]:
    """An array as the struct points to it."""
    return np.ascontiguousarray(array, DTYPES[ARRAYS[name]])


def _arrays(drawing: Drawing, prepared: Prepared) -> dict[str, Array]:
    elements, forest, lights, views = prepared.elements, drawing.forest, drawing.lights, drawing.views
    of_elements = ("first", "kind", "size", "surface", "two_sided", "rgba", "gloss", "texture", "texture_use")
    of_prepared = (
        "inverse",
        "offset",
        "centre",
        "radius",
        "near",
        "rect",
        "transparent",
        "clear_order",
        "clear_first",
    )
    of_forest = (
        "first_node",
        "first_triangle",
        "levels",
        "density",
        "nodes",
        "triangles",
        "normals",
        "texcoords",
    )
    of_lights = (
        "directional",
        "castshadow",
        "ambient",
        "diffuse",
        "specular",
        "attenuation",
        "cutoff",
        "exponent",
    )
    return {
        **{name: getattr(elements, name) for name in (*of_elements, "texture_scale", "object", "segmented")},
        **{name: getattr(prepared, name) for name in (*of_prepared, "light_pos")},
        **{name: getattr(forest, name) for name in of_forest},
        **{name: getattr(lights, name) for name in of_lights},
        "finite": np.isfinite(prepared.near) & (elements.rgba[:, 3] > 0),
        "first_level": drawing.textures.first_level,
        "texture_levels": drawing.textures.levels,
        "texels": drawing.textures.texels,
        "light_first": lights.first,
        "light_dir": lights.dir,
        "axes": views.axes,
        "window": views.window,
        "orthographic": views.orthographic,
        "view_near": views.near,
        "view_far": views.far,
    }
