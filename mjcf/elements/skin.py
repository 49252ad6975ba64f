"""`<skin>`: a surface that follows several bodies, from attributes or from a .skn file (`mjCSkin::Compile`)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.mjcf.elements.columns import Columns, Pieces
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.geometry.mesh_surface import single_pairs, single_points, triples
from dovetail.mjcf.geometry.rotation import Vec, normalized
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import MINVAL

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_HEADER = 16
"""Bytes of the four counts at the beginning of a .skn file."""
_BONE = 72
"""Bytes of a bone before its vertices: name (40), position, quaternion, number of vertices."""
_NAME = 40
_DATA = {"vertex": (3, np.float32), "texcoord": (2, np.float32), "face": (3, np.int32)}


@attrs.define(eq=False, kw_only=True)
class Bone:
    """A body that moves part of a skin."""

    body: str = ""
    bodyid: int = -1
    bindpos: np.ndarray = attrs.field(factory=lambda: np.zeros(3, np.float32))
    bindquat: np.ndarray = attrs.field(factory=lambda: np.array([1, 0, 0, 0], np.float32))
    vertid: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.int32))
    vertweight: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.float32))


@attrs.define(eq=False, kw_only=True)
class SkinItem(Item):
    """A `<skin>`."""

    file: str = ""
    material: str = ""
    group: int = 0
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    inflate: float = 0.0
    vertex: np.ndarray = attrs.field(factory=single_points)
    texcoord: np.ndarray = attrs.field(factory=single_pairs)
    face: np.ndarray = attrs.field(factory=triples)
    bones: list[Bone] = attrs.field(factory=list)
    matid: int = -1


COLUMNS: Columns = {
    "skin_matid": "matid",
    "skin_group": "group",
    "skin_rgba": "rgba",
    "skin_inflate": "inflate",
}
SURFACES = Pieces(
    rows={
        "skin_vert": lambda skin: skin.vertex,
        "skin_texcoord": lambda skin: skin.texcoord,
        "skin_face": lambda skin: skin.face,
        "skin_bonebindpos": lambda skin: [bone.bindpos for bone in skin.bones],
        "skin_bonebindquat": lambda skin: [bone.bindquat for bone in skin.bones],
        "skin_bonebodyid": lambda skin: [bone.bodyid for bone in skin.bones],
    },
    begins={
        "skin_vertadr": "skin_vert",
        "skin_texcoordadr": "skin_texcoord",
        "skin_faceadr": "skin_face",
        "skin_boneadr": "skin_bonebodyid",
    },
    numbers={
        "skin_vertnum": "skin_vert",
        "skin_facenum": "skin_face",
        "skin_bonenum": "skin_bonebodyid",
    },
    absent=frozenset(["skin_texcoordadr"]),
)
BONES = Pieces(
    rows={
        "skin_bonevertid": lambda bone: bone.vertid,
        "skin_bonevertweight": lambda bone: bone.vertweight,
    },
    begins={"skin_bonevertadr": "skin_bonevertid"},
    numbers={"skin_bonevertnum": "skin_bonevertid"},
)
"""Of each bone, the vertices that it moves."""


class SkinError(ValueError):
    """A skin file that is damaged."""


def read_skin(context: Context, node: Node) -> None:
    """Read one `<skin>`, of `<asset>` or `<deformable>`."""
    skin = SkinItem(node=node)
    overlay(skin, {name: value for name, value in node.values.items() if name not in _DATA})
    context.add("skin", skin)
    for name, (width, dtype) in _DATA.items():
        if name in node.values:
            setattr(skin, name, _rows(node, name, width, dtype))
    skin.bones = [_bone(child) for child in node.children]


def _rows(node: Node, name: str, width: int, dtype: type) -> np.ndarray:
    numbers = node.values[name]
    if len(numbers) % width:
        raise node.error(f"{name} has {len(numbers)} numbers; write {width} for each", name)
    return np.array(numbers, dtype).reshape(-1, width)


def _bone(node: Node) -> Bone:
    values = node.values
    return Bone(
        body=values["body"],
        bindpos=np.array(values["bindpos"], np.float32),
        bindquat=np.array(values["bindquat"], np.float32),
        vertid=np.array(values["vertid"], np.int32),
        vertweight=np.array(values["vertweight"], np.float32),
    )


def compile_skins(context: Context) -> None:
    """Load, check and complete every skin; bodies must be numbered."""
    for skin in context.objects["skin"]:
        if skin.file:
            _load(context, skin)
        _check(skin)
        _resolve(context, skin)
        _normalise_weights(skin)


def _load(context: Context, skin: SkinItem) -> None:
    node = skin.place
    if len(skin.vertex) or len(skin.texcoord) or len(skin.face) or skin.bones:
        raise node.error("file and attributes both give the skin's data; write one", "file")
    if not skin.file.lower().endswith(".skn"):
        raise node.error("unknown kind of skin file; it must be a .skn file", "file")
    content, filename = context.read_asset(node, "file", skin.file, context.compiler_of(node).meshdir)
    try:
        _decode(skin, content)
    except SkinError as problem:
        raise node.error(f"{filename}: {problem}", "file") from None


def _decode(skin: SkinItem, content: bytes) -> None:
    """Counts of vertices, texture coordinates, faces and bones, then the data of each."""
    if len(content) < _HEADER:
        raise SkinError("is too short for a skin; it begins with four 32-bit counts")
    counts = struct.unpack("<4i", content[:_HEADER])
    if min(counts) < 0:
        raise SkinError("its header has a negative count; it is damaged")
    nvert, ntexcoord, nface, nbone = counts
    offset = _HEADER
    for (name, (width, dtype)), count in zip(_DATA.items(), (nvert, ntexcoord, nface), strict=True):
        setattr(skin, name, _array(content, offset, count * width, dtype).reshape(-1, width))
        offset += 4 * count * width
    for _ in range(nbone):
        offset = _decode_bone(skin, content, offset)
    if offset != len(content):
        raise SkinError(f"has {len(content) - offset} bytes too many; it is damaged")


def _decode_bone(skin: SkinItem, content: bytes, offset: int) -> int:
    if len(content) < offset + _BONE:
        raise SkinError(f"ends inside bone {len(skin.bones)}; it is truncated")
    name = content[offset : offset + _NAME - 1].split(b"\0")[0].decode("utf-8", errors="replace")
    pose = _array(content, offset + _NAME, 7, np.float32)
    (count,) = struct.unpack_from("<i", content, offset + _BONE - 4)
    if count < 1:
        raise SkinError(f"bone {len(skin.bones)} moves {count} vertices; it must move some")
    start = offset + _BONE
    vertid = _array(content, start, count, np.int32)
    weight = _array(content, start + 4 * count, count, np.float32)
    skin.bones.append(Bone(body=name, bindpos=pose[:3], bindquat=pose[3:], vertid=vertid, vertweight=weight))
    return start + 8 * count


def _array(content: bytes, offset: int, count: int, dtype: type) -> np.ndarray:
    if len(content) < offset + 4 * count:
        raise SkinError("ends before its data; it is truncated")
    return np.frombuffer(content, np.dtype(dtype).newbyteorder("<"), count, offset).astype(dtype)


def _check(skin: SkinItem) -> None:
    node, nvert = skin.place, len(skin.vertex)
    missing = [name for name in ("vertex", "face") if not len(getattr(skin, name))]
    missing += ["bone"] if not skin.bones else []
    if missing:
        raise node.error(f"has no {missing[0]}; a skin needs vertices, faces and bones, or file=…")
    if len(skin.texcoord) and len(skin.texcoord) != nvert:
        raise node.error(f"has {len(skin.texcoord)} texture coordinates for {nvert} vertices", "texcoord")
    if not all(np.isfinite(a).all() for a in (skin.vertex, skin.texcoord)):
        raise node.error("has a coordinate that is not finite; repair the data")
    outside = skin.face[(skin.face < 0) | (skin.face >= nvert)]
    if len(outside):
        raise node.error(f"a face uses vertex {outside[0]}, which does not exist; there are {nvert}", "face")
    for number, bone in enumerate(skin.bones):
        _check_bone(node, number, bone, nvert)


def _check_bone(node: Node, number: int, bone: Bone, nvert: int) -> None:
    if not len(bone.vertid) or len(bone.vertid) != len(bone.vertweight):
        raise node.error(
            f"bone {number} has {len(bone.vertid)} vertid and {len(bone.vertweight)} vertweight; "
            "write as many of each, at least one"
        )
    outside = bone.vertid[(bone.vertid < 0) | (bone.vertid >= nvert)]
    if len(outside):
        raise node.error(f"bone {number} moves vertex {outside[0]}, which does not exist; there are {nvert}")
    if not all(np.isfinite(a).all() for a in (bone.vertweight, bone.bindpos, bone.bindquat)):
        raise node.error(f"bone {number} has a number that is not finite; repair the data")


def _resolve(context: Context, skin: SkinItem) -> None:
    """Find bodies and material, and make the bones' quaternions unit."""
    for bone in skin.bones:
        bone.bodyid = context.find("body", bone.body, skin.place, "file" if skin.file else "name")
        quat: Vec = normalized(tuple(bone.bindquat.astype(np.float64).tolist()))
        bone.bindquat = np.array(quat, np.float32)
    if skin.material:
        skin.matid = context.find("material", skin.material, skin.place, "material")


def _normalise_weights(skin: SkinItem) -> None:
    """Scale the weights so that those of each vertex add up to one, in single precision."""
    total = np.zeros(len(skin.vertex), np.float32)
    for bone in skin.bones:
        np.add.at(total, bone.vertid, bone.vertweight)
    light = np.flatnonzero(~(total > MINVAL))
    if len(light):
        raise skin.place.error(f"vertex {light[0]} has no weight; every vertex needs a bone that moves it")
    for bone in skin.bones:
        bone.vertweight = bone.vertweight / total[bone.vertid]
