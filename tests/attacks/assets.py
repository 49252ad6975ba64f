"""Asset files that lie about their size, or are damaged: images, height fields, meshes, skins."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from .case import Build, Table

CASES = Table("asset")


def asset(element: str, content: Any, **files: bytes) -> Build:
    """Load a model with one asset file, `{file}` in its element."""

    def build(folder: Path) -> Any:
        import dovetail

        name = element.partition("file='")[2].partition("'")[0]
        data = content() if callable(content) else content
        xml = f"<mujoco><asset>{element}</asset></mujoco>"
        return lambda: dovetail.loads(xml, assets={name: data})

    return build


def add(name: str, element: str, content: Any, fragment: str = "", error: str = "MJCFError") -> None:
    CASES.add(name, error, fragment, asset(element, content))


# PNG


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, data: bytes, *extra: bytes, depth: int = 8, colour: int = 2) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + b"".join(extra)
        + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )


PICTURE = "<texture name='t' type='2d' file='a.png'/>"
ZEROS = zlib.compress(bytes(100), 9)

add("PNG of 100000 × 100000 pixels", PICTURE, png(100_000, 100_000, ZEROS), "pixels")
add("PNG of 2^31 × 2^31 pixels", PICTURE, png(2**31 - 1, 2**31 - 1, ZEROS), "pixels")
add("PNG with no pixels", PICTURE, png(0, 5, ZEROS), "pixels")
add("PNG of 8000 × 8000 pixels with 100 bytes", PICTURE, png(8000, 8000, ZEROS), "truncated")
add(
    "PNG whose data unpacks to 100 MB",
    PICTURE,
    lambda: png(8, 8, zlib.compress(bytes(100_000_000), 1)),
    "",
    "",
)
add(
    "PNG with a comment that unpacks to 100 MB",
    PICTURE,
    lambda: png(
        2, 2, zlib.compress(bytes(14)), chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(100_000_000), 1))
    ),
    "decoded",
)
add(
    "PNG with a profile that unpacks to 100 MB",
    PICTURE,
    lambda: png(
        2, 2, zlib.compress(bytes(14)), chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(100_000_000), 1))
    ),
    "decoded",
)
add("PNG with a wrong checksum", PICTURE, png(2, 2, ZEROS)[:-20] + b"x" * 20, "")
add("PNG that is cut", PICTURE, png(2, 2, ZEROS)[:40], "truncated")
add("PNG with a chunk of 2^32 bytes", PICTURE, png(2, 2, ZEROS)[:33] + b"\xff\xff\xff\xffIDAT", "truncated")
add("PNG with an unknown depth", PICTURE, png(2, 2, ZEROS, depth=7), "")
add("PNG with an unknown colour type", PICTURE, png(2, 2, ZEROS, colour=99), "")
add("PNG with data that is not packed", PICTURE, png(2, 2, b"\0" * 100), "")
add(
    "PNG with 200,000 empty chunks",
    PICTURE,
    lambda: png(2, 2, zlib.compress(bytes(14)), chunk(b"abCd", b"") * 200_000),
    "",
    "",
)
add("PNG that is a JPEG", PICTURE, b"\xff\xd8\xff\xe0" + bytes(100), "no PNG")
add(
    "PNG that is an animation of 2^31 pictures",
    PICTURE,
    png(2, 2, ZEROS, chunk(b"acTL", struct.pack(">II", 2**31, 0))),
    "",
    "",
)
add("PNG without content", PICTURE, b"", "")
add(
    "texture in MuJoCo's own format that lies",
    "<texture name='t' type='2d' file='a.tex'/>",
    struct.pack("<2i", 2**31 - 1, 2**31 - 1),
    "pixels",
)
add(
    "texture in MuJoCo's own format, negative",
    "<texture name='t' type='2d' file='a.tex'/>",
    struct.pack("<2i", -5, 5),
    "",
)
add(
    "cube texture of one long row",
    "<texture name='t' type='cube' file='a.png'/>",
    lambda: png(16_000_000, 1, zlib.compress(bytes(48_000_001), 1)),
    "",
)

# height fields

FIELD = "<hfield name='h' size='1 1 1 1' file='a.hf'/>"
add("height field that announces 2^62 samples", FIELD, struct.pack("<2i", 2**31 - 1, 2**31 - 1), "")
add("height field with negative counts", FIELD, struct.pack("<2i", -1, -1), "")
add("height field without samples", FIELD, struct.pack("<2i", 8000, 8000), "")
add("height field of NaN", FIELD, struct.pack("<2i4f", 2, 2, *[float("nan")] * 4), "")
add("height field of infinity", FIELD, struct.pack("<2i4f", 2, 2, *[float("inf")] * 4), "")
add("height field of three bytes", FIELD, b"abc", "")
add(
    "height field from a PNG of 10^10 pixels",
    "<hfield name='h' size='1 1 1 1' file='a.png'/>",
    png(100_000, 100_000, ZEROS),
    "pixels",
)

# meshes: the readers' own rules

STL, OBJ, MSH = (f"<mesh name='m' file='a.{kind}'/>" for kind in ("stl", "obj", "msh"))
add("STL that announces 2^32 faces", STL, bytes(80) + struct.pack("<I", 2**32 - 1), "")
add("STL of no faces", STL, bytes(84), "")
add(
    "STL of NaN",
    STL,
    bytes(80) + struct.pack("<I", 1) + struct.pack("<12f", *[float("nan")] * 12) + b"\0\0",
    "",
)
add("STL of three bytes", STL, b"abc", "")
add("STL in text", STL, b"solid a\nfacet normal 0 0 1\nouter loop\n" * 10000, "")
add("MSH that announces 2^31 of everything", MSH, struct.pack("<4i", *[2**31 - 1] * 4), "")
add("MSH with negative counts", MSH, struct.pack("<4i", -1, -1, -1, -1), "")
add("MSH of three bytes", MSH, b"abc", "")
CORNERS = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
add("OBJ with a face of 100,000 corners", OBJ, lambda: CORNERS + b"f " + b"1 2 3 4 " * 25_000, "")
add("OBJ with an index of a million digits", OBJ, lambda: CORNERS + b"f 1 2 " + b"9" * 1_000_000, "")
add("OBJ with a number of a million digits", OBJ, lambda: b"v 1 2 " + b"9" * 1_000_000 + b"x\n" + CORNERS, "")
add("OBJ with 8 MB of slashes", OBJ, lambda: CORNERS + b"f " + b"/" * 8_000_000, "")
add("OBJ with 8 MB of blanks", OBJ, lambda: b"v" + b" " * 8_000_000 + b"1", "")
add("OBJ of one line of 8 MB", OBJ, lambda: b"#" + b"x" * 8_000_000, "")
add("OBJ with 200,000 continued lines", OBJ, lambda: b"v 1 2 \\\n" * 200_000, "")
add("OBJ of NaN", OBJ, b"v nan nan nan\n" + CORNERS + b"f 1 2 3\nf 2 3 4\n", "")
add("OBJ that refers beyond its end", OBJ, CORNERS + b"f 1 2 99999999\n", "")
add("OBJ of 2 MB of zeros", OBJ, bytes(2_000_000), "")
add(
    "mesh with four equal vertices",
    "<mesh name='m' file='a.obj'/>",
    b"v 1 1 1\n" * 4 + b"f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
    "",
)
add(
    "skin that announces 2^31 of everything",
    "<skin name='s' file='a.skn'/>",
    struct.pack("<4i", *[2**31 - 1] * 4),
    "",
)
add("skin with negative counts", "<skin name='s' file='a.skn'/>", struct.pack("<4i", -1, -1, -1, -1), "")
add("skin without content", "<skin name='s' file='a.skn'/>", b"", "")


def flex(content: Any) -> Build:
    def build(folder: Path) -> Any:
        import dovetail

        xml = "<mujoco><worldbody><flexcomp name='f' type='gmsh' file='a.msh' dim='2'/></worldbody></mujoco>"
        data = content() if callable(content) else content
        return lambda: dovetail.loads(xml, assets={"a.msh": data})

    return build


MANY = (
    b"$Nodes\n1 1000000000000000000 1 1000000000000000000\n2 1 0 1000000000000000000\n$EndNodes\n"
    b"$Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n"
)
HEAD = b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
CASES.add(
    "gmsh that announces 10^18 nodes",
    "MJCFError",
    "",
    flex(HEAD + MANY),
)
CASES.add("gmsh without anything", "MJCFError", "", flex(b""))
CASES.add("gmsh with an unknown version", "MJCFError", "", flex(b"$MeshFormat\n99 0 8\n$EndMeshFormat\n"))
CASES.add("gmsh of 5 MB of dollars", "MJCFError", "", flex(lambda: HEAD + b"$" * 5_000_000))
CASES.add(
    "gmsh in binary that is cut",
    "MJCFError",
    "",
    flex(
        b"$MeshFormat\n4.1 1 8\n\x01\x00\x00\x00\n$EndMeshFormat\n$Nodes\n" + b"\xff" * 32 + b"\n$EndNodes\n"
    ),
)
