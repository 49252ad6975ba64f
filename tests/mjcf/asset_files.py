"""Files of meshes, images and skins, made in memory."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_CUBE_FACES = "012 132 465 567 041 145 236 376 024 264 153 357"
CUBE_FACES = np.array([[int(corner) for corner in face] for face in _CUBE_FACES.split()])
LOPSIDED = 0.1 * (CUBE * [1, 2, 3] + [0.5, 0.1, 0.3] + np.eye(8)[:, 7:] * [0.5, 0.3, 0.2])
"""A brick with one corner pulled out: no two moments of inertia are equal."""


def numbers(array: Any) -> str:
    """An array as an attribute."""
    return " ".join(repr(x.item()) for x in np.ravel(array))


def stl(vertices: Any, faces: Any, count: int | None = None) -> bytes:
    corners = np.asarray(vertices, "<f4")[np.asarray(faces)].reshape(len(faces), 9)
    records = np.zeros((len(faces), 50), np.uint8)
    records[:, 12:48] = corners.view(np.uint8).reshape(len(faces), 36)
    return bytes(80) + struct.pack("<I", len(faces) if count is None else count) + records.tobytes()


def msh(vertices: Any, faces: Any, normals: Any = (), texcoords: Any = ()) -> bytes:
    parts = [(vertices, "<f4"), (normals, "<f4"), (texcoords, "<f4"), (faces, "<i4")]
    header = struct.pack("<4i", *(len(part) for part, _ in parts))
    return header + b"".join(np.asarray(part, dtype).tobytes() for part, dtype in parts)


def obj(vertices: Any, polygons: list[str], extra: str = "") -> bytes:
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in vertices]
    return "\n".join([*lines, extra, *(f"f {polygon}" for polygon in polygons), ""]).encode()


def torus(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A wavy torus of 2n² faces."""
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    u, v = np.meshgrid(angle, angle, indexing="ij")
    away = 1 + 0.3 * np.cos(v) + 0.05 * np.cos(7 * u)
    points = np.stack([away * np.cos(u), away * np.sin(u), 0.3 * np.sin(v) + 0.02 * np.sin(5 * u)], axis=-1)
    a = np.arange(n * n).reshape(n, n)
    b, d = np.roll(a, -1, 0), np.roll(a, -1, 1)
    c = np.roll(b, -1, 1)
    faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    return points.reshape(-1, 3), faces


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, color: int, rows: list[bytes], extra: bytes = b"") -> bytes:
    """A PNG file from raw rows; `color` is PNG's colour type."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + header + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def picture(pixels: np.ndarray) -> bytes:
    """A PNG file of rows × columns × 3 or 4 bytes, compressed with filters as usual programs do."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def skn(vertices: Any, texcoords: Any, faces: Any, bones: list[tuple[str, Any, Any, Any, Any]]) -> bytes:
    header = struct.pack("<4i", len(vertices), len(texcoords), len(faces), len(bones))
    content = header + b"".join(np.asarray(a, "<f4").tobytes() for a in (vertices, texcoords))
    content += np.asarray(faces, "<i4").tobytes()
    for body, pos, quat, vertid, weight in bones:
        content += body.encode().ljust(40, b"\0") + np.array([*pos, *quat], "<f4").tobytes()
        content += struct.pack("<i", len(vertid)) + np.asarray(vertid, "<i4").tobytes()
        content += np.asarray(weight, "<f4").tobytes()
    return content
