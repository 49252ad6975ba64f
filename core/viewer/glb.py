"""Surfaces with a material as binary glTF: what a browser needs to draw a texture, a shine or a glow.

Only what the viewer uses is written: one mesh, one material, at most one image. See the glTF 2.0 specification.
"""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array

FLOAT, UINT = 5126, 5125
"""glTF's codes of component types."""
VERTICES, INDICES = 34962, 34963
"""glTF's codes of buffer targets."""
REPEAT, LINEAR, MIPMAPS = 10497, 9729, 9987
"""glTF's codes of samplers."""


@attrs.frozen(kw_only=True, eq=False)
class Paint:
    """A material: colour as (r, g, b, a) of a screen, an image (h, w, c) or none, and how it takes light."""

    rgba: Any = (0.5, 0.5, 0.5, 1.0)
    image: Array | None = None
    metallic: float = 0.0
    roughness: float = 0.6
    emission: float = 0.0
    unlit: bool = False
    double_sided: bool = False


def glb(vertices: Array, faces: Array, normals: Array, texcoords: Array | None, paint: Paint) -> bytes:
    """One surface as the bytes of a .glb file."""
    file = _File()
    attributes = {
        "POSITION": file.array(vertices, FLOAT, "VEC3", VERTICES, bounds=True),
        "NORMAL": file.array(normals, FLOAT, "VEC3", VERTICES),
    }
    if texcoords is not None:
        attributes["TEXCOORD_0"] = file.array(texcoords, FLOAT, "VEC2", VERTICES)
    primitive = {
        "attributes": attributes,
        "indices": file.array(np.asarray(faces).reshape(-1), UINT, "SCALAR", INDICES),
        "material": 0,
    }
    document = {
        "asset": {"version": "2.0", "generator": "dovetail"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [_material(paint)],
    }
    if paint.image is not None:
        document["images"] = [{"mimeType": "image/png", "bufferView": file.view(png(paint.image))}]
        document["samplers"] = [{"magFilter": LINEAR, "minFilter": MIPMAPS, "wrapS": REPEAT, "wrapT": REPEAT}]
        document["textures"] = [{"source": 0, "sampler": 0}]
    if paint.unlit:
        document["extensionsUsed"] = ["KHR_materials_unlit"]
    return file.packed(document)


def linear(rgb: Any) -> Array:
    """Colours of a screen (sRGB) as light: factors of glTF and colours of batches are linear."""
    value = np.clip(np.asarray(rgb, float), 0.0, 1.0)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def png(image: Array) -> bytes:
    """Pixels (h, w), (h, w, 1), (h, w, 3) or (h, w, 4) as a PNG file."""
    from PIL import Image

    pixels = np.ascontiguousarray(image)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _material(paint: Paint) -> dict[str, Any]:
    rgba = np.clip(np.asarray(paint.rgba, float), 0.0, 1.0)
    factor = [*linear(rgba[:3]).tolist(), float(rgba[3])]
    physical: dict[str, Any] = {
        "baseColorFactor": factor,
        "metallicFactor": float(np.clip(paint.metallic, 0, 1)),
        "roughnessFactor": float(np.clip(paint.roughness, 0, 1)),
    }
    made: dict[str, Any] = {"pbrMetallicRoughness": physical, "doubleSided": paint.double_sided}
    if paint.image is not None:
        physical["baseColorTexture"] = {"index": 0}
    if paint.emission > 0:
        made["emissiveFactor"] = [min(1.0, paint.emission) * part for part in factor[:3]]
        if paint.image is not None:
            made["emissiveTexture"] = {"index": 0}
    if rgba[3] < 1:
        made["alphaMode"] = "BLEND"
    if paint.unlit:
        made["extensions"] = {"KHR_materials_unlit": {}}
    return made


class _File:
    """The binary part of a file and the lists that describe it."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, content: bytes, target: int | None = None) -> int:
        while len(self.bytes) % 4:
            self.bytes.append(0)
        made = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(content)}
        self.views.append(made if target is None else {**made, "target": target})
        self.bytes += content
        return len(self.views) - 1

    def array(self, value: Array, component: int, kind: str, target: int, *, bounds: bool = False) -> int:
        numbers = np.ascontiguousarray(value, np.float32 if component == FLOAT else np.uint32)
        described: dict[str, Any] = {
            "bufferView": self.view(numbers.tobytes(), target),
            "componentType": component,
            "count": len(numbers),
            "type": kind,
        }
        if bounds and len(numbers):
            described["min"] = [float(x) for x in numbers.min(axis=0)]
            described["max"] = [float(x) for x in numbers.max(axis=0)]
        self.accessors.append(described)
        return len(self.accessors) - 1

    def packed(self, document: dict[str, Any]) -> bytes:
        while len(self.bytes) % 4:
            self.bytes.append(0)
        whole = {
            **document,
            "buffers": [{"byteLength": len(self.bytes)}],
            "bufferViews": self.views,
            "accessors": self.accessors,
        }
        text = json.dumps(whole).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(self.bytes)
        return b"".join(
            (
                struct.pack("<III", 0x46546C67, 2, length),
                struct.pack("<II", len(text), 0x4E4F534A),
                text,
                struct.pack("<II", len(self.bytes), 0x004E4942),
                bytes(self.bytes),
            )
        )
