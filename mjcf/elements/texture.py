"""`<texture>`: drawn by rule, or read from image files, as flat images or as the six faces of a cube.

Built-in patterns are MuJoCo's (`mjCTexture::Builtin2D`, `BuiltinCube`), as are the ways of putting cube faces
together (`LoadCubeSingle`, `LoadCubeSeparate`): right, left, up, down, front, back, one below the other.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail import limits
from dovetail.contracts.enums import ColorSpace, TextureBuiltin, TextureType
from dovetail.mjcf.elements.columns import Columns, Pieces
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.geometry.images import MAX_PIXELS, Image, ImageError, check_size, decode_png
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

Pixels = np.ndarray
"""Rows × columns × channels, bytes."""

FACE_FILES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FACES = "RLUDFB"
"""Letters of the faces in a gridlayout, in their order in the image."""
_LAYOUT = 12
"""Most squares of a grid."""
_PNG, _KTX, _CUSTOM = "image/png", "image/ktx", "image/vnd.mujoco.texture"
_HEADER = 8
"""Bytes of width and height before the pixels of MuJoCo's own format."""
_COLOURS = 3


@attrs.define(eq=False, kw_only=True)
class TextureItem(Item):
    """A `<texture>`."""

    type: int = TextureType.CUBE
    colorspace: int = ColorSpace.AUTO
    content_type: str = ""
    gridsize: tuple[int, int] = (1, 1)
    gridlayout: str = ""
    builtin: int = TextureBuiltin.NONE
    rgb1: Vec = (0.8, 0.8, 0.8)
    rgb2: Vec = (0.5, 0.5, 0.5)
    mark: str = "none"
    markrgb: Vec = ORIGIN
    random: float = 0.01
    width: int = 0
    height: int = 0
    nchannel: int = 3
    hflip: bool = False
    vflip: bool = False
    file: str = ""
    data: Any = None
    """Pixels, rows × columns × channels."""


COLUMNS: Columns = {
    "tex_type": "type",
    "tex_colorspace": "colorspace",
    "tex_height": "height",
    "tex_width": "width",
    "tex_nchannel": "nchannel",
}
PIXELS = Pieces(rows={"tex_data": lambda texture: texture.data}, begins={"tex_adr": "tex_data"})


def read_texture(context: Context, node: Node) -> None:
    """Read one `<texture>`; pixels are made or loaded later, when all settings are known."""
    texture = TextureItem(node=node)
    overlay(texture, {name: value for name, value in node.values.items() if name not in FACE_FILES})
    context.add("texture", texture)
    layout, (rows, columns) = texture.gridlayout, texture.gridsize
    if layout and len(layout) != rows * columns:
        raise node.error(f"gridlayout has {len(layout)} letters for {rows} × {columns} squares", "gridlayout")
    if not texture.name and texture.type != TextureType.SKYBOX:
        raise node.error("a texture needs a name; add name=…, or file=…, which gives it one")


def compile_textures(context: Context) -> None:
    """Draw or load every texture."""
    for texture in context.objects["texture"]:
        _check_channels(texture)
        if texture.builtin != TextureBuiltin.NONE:
            _draw(texture)
        else:
            try:
                _load(context, texture)
            except ImageError as problem:
                raise texture.place.error(str(problem), "file") from None


def _check_channels(texture: TextureItem) -> None:
    """Built-in textures may have more channels than colours, which stay empty."""
    drawn = texture.builtin != TextureBuiltin.NONE and texture.nchannel > _COLOURS
    if texture.nchannel not in (1, 3, 4) and not drawn:
        raise texture.place.error(f"{texture.nchannel} channels are impossible; use 1, 3 or 4", "nchannel")


# files


def _load(context: Context, texture: TextureItem) -> None:
    node = texture.place
    faces = [name for name in FACE_FILES if node.values.get(name)]
    if texture.file:
        image = _image(context, texture, "file", texture.file)
        if texture.type == TextureType.TWO_D:
            texture.data = image.pixels
        else:
            texture.data = _cube_from_grid(texture, image.pixels)
        _set_colorspace(texture, image)
    elif texture.type == TextureType.TWO_D:
        raise node.error(
            "says neither builtin nor file; write builtin=… or file=…", faces[0] if faces else None
        )
    elif not faces:
        raise node.error("says neither builtin nor a file; write builtin=…, file=… or fileright=… and so on")
    else:
        texture.data = _cube_from_files(context, texture, faces)
    texture.height, texture.width = texture.data.shape[:2]


def _set_colorspace(texture: TextureItem, image: Image) -> None:
    if texture.colorspace == ColorSpace.AUTO:
        texture.colorspace = int(ColorSpace.SRGB if image.srgb else ColorSpace.LINEAR)


def _image(context: Context, texture: TextureItem, attribute: str, name: str) -> Image:
    node = texture.place
    kind = texture.content_type or (_PNG if name.lower().endswith(".png") else _CUSTOM)
    if kind not in _DECODERS:
        raise node.error(f"unknown content type; textures are {', '.join(_DECODERS)}", "content_type")
    if kind == _KTX and (texture.hflip or texture.vflip):
        raise node.error("a KTX texture cannot be flipped", "hflip" if texture.hflip else "vflip")
    content, filename = context.read_asset(node, attribute, name, context.compiler_of(node).texturedir)
    try:
        image = _DECODERS[kind](content, texture.nchannel)
    except ImageError as problem:
        raise node.error(f"{filename}: {problem}", attribute) from None
    return _flipped(texture, image)


def _decode_ktx(content: bytes, channels: int) -> Image:
    """A KTX file as it is, in one row: renderers decode it themselves."""
    check_size(len(content), 1)
    row = np.zeros(len(content) * channels, np.uint8)
    row[: len(content)] = np.frombuffer(content, np.uint8)
    return Image(row.reshape(1, len(content), channels), False)


def _decode_custom(content: bytes, channels: int) -> Image:
    """Width and height as 32-bit integers, then three bytes per pixel."""
    if channels != _COLOURS:
        raise ImageError(
            f"has 3 channels, as always in MuJoCo's own texture format, but nchannel is {channels}"
        )
    if len(content) < _HEADER:
        raise ImageError("is neither PNG nor MuJoCo's own texture format; convert it to PNG")
    width, height = struct.unpack("<2i", content[:_HEADER])
    check_size(width, height)
    if len(content) != _HEADER + _COLOURS * width * height:
        raise ImageError(
            f"should have {_HEADER + _COLOURS * width * height} bytes for {width} × {height} pixels, but has "
            f"{len(content)}; it is not PNG and not MuJoCo's own texture format"
        )
    pixels = np.frombuffer(content, np.uint8, offset=_HEADER).reshape(height, width, _COLOURS)
    return Image(pixels.copy(), False)


_DECODERS = {_PNG: decode_png, _KTX: _decode_ktx, _CUSTOM: _decode_custom}


def _flipped(texture: TextureItem, image: Image) -> Image:
    pixels = image.pixels
    for attribute, axis in (("hflip", 1), ("vflip", 0)):
        if getattr(texture, attribute):
            pixels = np.flip(pixels, axis)
    return Image(np.ascontiguousarray(pixels), image.srgb)


def _cube_from_grid(texture: TextureItem, pixels: Pixels) -> Pixels:
    """One square for all faces, or squares cut out of a grid."""
    node, (rows, columns) = texture.place, texture.gridsize
    if rows < 1 or columns < 1 or rows * columns > _LAYOUT:
        raise node.error(f"gridsize must be positive and have at most {_LAYOUT} squares", "gridsize")
    height, width = pixels.shape[:2]
    if height % rows or width % columns or height // rows != width // columns:
        raise node.error(
            f"the image of {width} × {height} pixels does not divide into {columns} × {rows} squares"
        )
    if rows * columns == 1:
        return pixels
    side = width // columns
    cube = _plain_cube(texture, side)
    for square, letter in enumerate(texture.gridlayout[: rows * columns]):
        if letter not in _FACES + ".":
            raise node.error(
                f"gridlayout has {letter!r}; its letters are {' '.join(_FACES)} and .", "gridlayout"
            )
        if letter != ".":
            row, column = divmod(square, columns)
            part = pixels[row * side : (row + 1) * side, column * side : (column + 1) * side]
            cube[_FACES.index(letter)] = part
    return cube.reshape(6 * side, side, -1)


def _plain_cube(texture: TextureItem, side: int) -> Pixels:
    """Six faces of the first colour."""
    cube = np.empty((6, side, side, texture.nchannel), np.uint8)
    cube[...] = np.resize(_bytes(texture.rgb1), texture.nchannel)
    return cube


def _cube_from_files(context: Context, texture: TextureItem, faces: list[str]) -> Pixels:
    node = texture.place
    images = {name: _image(context, texture, name, node.values[name]) for name in faces}
    side = next(iter(images.values())).pixels.shape[0]
    check_size(side, 6 * side)
    cube = _plain_cube(texture, side)
    for name, image in images.items():
        height, width = image.pixels.shape[:2]
        if height != width or width != side:
            raise node.error(
                f"a face has {width} × {height} pixels; all faces must be squares of one size", name
            )
        _set_colorspace(texture, image)
        cube[FACE_FILES.index(name)] = image.pixels
    return cube.reshape(6 * side, side, -1)


# built-in patterns


def _draw(texture: TextureItem) -> None:
    _check_texture_size(texture)
    flat = texture.type == TextureType.TWO_D
    image = _flat_image(texture) if flat else _cube_images(texture)
    if texture.mark == "random" and texture.random > 0:
        _scatter(image, texture)
    texture.height, texture.width = image.shape[:2]
    texture.data = image
    if texture.nchannel != _COLOURS:
        # MuJoCo draws three channels into a larger buffer, whose end stays empty
        buffer = np.zeros(texture.height * texture.width * texture.nchannel, np.uint8)
        buffer[: image.size] = image.reshape(-1)
        texture.data = buffer.reshape(texture.height, texture.width, texture.nchannel)


def _check_texture_size(texture: TextureItem) -> None:
    node, flat = texture.place, texture.type == TextureType.TWO_D
    for attribute in ("width", "height") if flat else ("width",):
        if getattr(texture, attribute) < 1:
            raise node.error(f"a built-in texture needs a positive {attribute}", attribute)
    pixels = texture.width * (texture.height if flat else 6 * texture.width)
    if pixels * max(1, texture.nchannel // 4) > MAX_PIXELS:
        raise node.too_large(
            f"the texture is absurdly large; the most is {limits.LIMITS['IMAGE_PIXELS']}", "width"
        )
    if texture.nchannel < _COLOURS:
        raise node.error("a built-in texture has at least 3 channels", "nchannel")


def _bytes(color: Vec) -> np.ndarray:
    """A colour as bytes, as a C cast does it: towards zero, then modulo 256."""
    return (255 * np.array(color)).astype(np.int64).astype(np.uint8)


def _weight(position: np.ndarray) -> np.ndarray:
    """A sigmoid of a position in −1…1, from 0 to 1."""
    return np.clip(0.5 * (1 + position / np.sqrt(1 + position**2) * math.sqrt(2)), 0.0, 1.0)


def _blend(first: Vec, second: Vec, position: np.ndarray) -> Pixels:
    """Between two colours by a sigmoid of a position in −1…1: +1 is the first colour."""
    weight = _weight(position)[..., None]
    blended = 255 * (weight * np.array(first) + (1 - weight) * np.array(second))
    return np.nan_to_num(blended, nan=0.0).astype(np.uint8)


def _grid(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixel coordinates from −1 to 1, y upwards; a single pixel is nowhere (MuJoCo: 0/0)."""
    with np.errstate(invalid="ignore"):
        x = 2 * np.arange(width) / np.float64(width - 1) - 1
        y = 1 - 2 * np.arange(height) / np.float64(height - 1)
    return x[None, :], y[:, None]


def _checker(height: int, width: int, first: Vec, second: Vec) -> Pixels:
    below, right = np.arange(height) >= height // 2, np.arange(width) >= width // 2
    same = below[:, None] == right[None, :]
    return np.where(same[..., None], _bytes(first), _bytes(second)).astype(np.uint8)


def _flat_image(texture: TextureItem) -> Pixels:
    height, width = texture.height, texture.width
    if texture.builtin == TextureBuiltin.CHECKER:
        image = _checker(height, width, texture.rgb1, texture.rgb2)
    elif texture.builtin == TextureBuiltin.GRADIENT:
        x, y = _grid(height, width)
        image = _blend(texture.rgb2, texture.rgb1, 2 * np.sqrt(x * x + y * y) - 1)
    else:
        image = np.broadcast_to(_bytes(texture.rgb1), (height, width, 3)).copy()
    return _marked(image, texture)


def _cube_images(texture: TextureItem) -> Pixels:
    """Six square faces one below the other: right, left, up, down, front, back."""
    width, first, second = texture.width, texture.rgb1, texture.rgb2
    if texture.builtin == TextureBuiltin.CHECKER:
        plain, turned = _checker(width, width, first, second), _checker(width, width, second, first)
        faces = [plain, plain, plain, plain, turned, turned]
    elif texture.builtin == TextureBuiltin.GRADIENT:
        x, y = _grid(width, width)
        far = np.sqrt(1 + x * x + y * y)
        side = _blend(first, second, np.arcsin(y / far) / (0.5 * math.pi))
        overhead = 1 - np.arccos(1 / far) / (0.5 * math.pi)
        up, down = _blend(first, second, overhead), _blend(first, second, -overhead)
        faces = [side, side, up, down, side, side]
    else:
        face, floor = (np.broadcast_to(_bytes(color), (width, width, 3)) for color in (first, second))
        faces = [face, face, face, floor, face, face]
    return np.concatenate([_marked(face.copy(), texture) for face in faces])


def first_colour_shares(texture: TextureItem) -> np.ndarray:
    """How much of the first colour each pixel of a built-in pattern has; the rest is the second. Marks aside."""
    flat, width = texture.type == TextureType.TWO_D, texture.width
    height = texture.height if flat else width
    if texture.builtin == TextureBuiltin.CHECKER:
        plain = _checker(height, width, (1.0,) * 3, (0.0,) * 3)[..., 0] / 255.0
        faces = [plain] if flat else [plain] * 4 + [1 - plain] * 2
    elif texture.builtin == TextureBuiltin.GRADIENT:
        x, y = _grid(height, width)
        if flat:
            faces = [1 - _weight(2 * np.sqrt(x * x + y * y) - 1)]
        else:
            far = np.sqrt(1 + x * x + y * y)
            side = _weight(np.arcsin(y / far) / (0.5 * math.pi))
            overhead = 1 - np.arccos(1 / far) / (0.5 * math.pi)
            faces = [side, side, _weight(overhead), _weight(-overhead), side, side]
    else:
        whole = np.ones((height, width))
        faces = [whole] if flat else [whole, whole, whole, 0 * whole, whole, whole]
    return np.concatenate(faces)


def _marked(image: Pixels, texture: TextureItem) -> Pixels:
    color = _bytes(texture.markrgb)
    if texture.mark == "edge":
        image[[0, -1], :] = image[:, [0, -1]] = color
    elif texture.mark == "cross":
        image[:, image.shape[1] // 2] = image[image.shape[0] // 2, :] = color
    return image


def _scatter(image: Pixels, texture: TextureItem) -> None:
    """Random dots, the same in every run."""
    chosen = _dots(image.shape[0] * image.shape[1], float(texture.random))
    image.reshape(-1, _COLOURS)[chosen] = _bytes(texture.markrgb)


_SEED = 42
_STATE, _SHIFT = 312, 156
_UPPER, _LOWER = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF)
_TWIST = np.uint64(0xB5026F5AA96619E9)


def uniform_numbers(count: int) -> np.ndarray:
    """Numbers in [0, 1) of the 64-bit Mersenne Twister with MuJoCo's seed (C++ `mt19937_64`)."""
    drawn = _tempered(_twisted(count))
    return np.minimum(drawn.astype(np.float64) / 2.0**64, np.nextafter(1.0, 0.0))


@lru_cache(maxsize=8)
def _dots(count: int, share: float) -> np.ndarray:
    """Which of so many pixels are dots: always the same."""
    return np.flatnonzero(uniform_numbers(count) < share)


def _seeded() -> np.ndarray:
    state = [_SEED]
    for i in range(1, _STATE):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) % 2**64)
    return np.array(state, np.uint64)


def _twisted(count: int) -> np.ndarray:
    """So many states of the generator, each from those 156, 311 and 312 places before it, 156 at a time."""
    state = np.empty(count + _STATE + _SHIFT, np.uint64)
    state[:_STATE] = _seeded()
    one = np.uint64(1)
    mixed, after = np.empty(_SHIFT, np.uint64), np.empty(_SHIFT, np.uint64)
    for k in range(0, count, _SHIFT):
        new = state[k + _STATE : k + _STATE + _SHIFT]
        np.bitwise_and(state[k : k + _SHIFT], _UPPER, out=mixed)
        np.bitwise_and(state[k + 1 : k + 1 + _SHIFT], _LOWER, out=after)
        np.bitwise_or(mixed, after, out=mixed)
        np.bitwise_and(mixed, one, out=after)
        np.multiply(after, _TWIST, out=after)
        np.right_shift(mixed, one, out=mixed)
        np.bitwise_xor(mixed, after, out=mixed)
        np.bitwise_xor(state[k + _SHIFT : k + 2 * _SHIFT], mixed, out=new)
    return state[_STATE : _STATE + count]


def _tempered(state: np.ndarray) -> np.ndarray:
    x = state ^ ((state >> np.uint64(29)) & np.uint64(0x5555555555555555))
    x ^= (x << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
    x ^= (x << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
    x ^= x >> np.uint64(43)
    return x
