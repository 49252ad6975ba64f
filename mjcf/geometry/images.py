"""Image files: PNG as bytes per channel, and how large an image may be.

Decoding is Pillow's; what MuJoCo's own decoder does differently is done here: grey is the red channel of a
coloured image, and 16-bit channels are cut to their upper byte. The size in the header is checked first.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from typing import Any

import attrs
import numpy as np

from dovetail import limits

MAX_PIXELS = limits.IMAGE_PIXELS
"""Most pixels of one image: 200 MB with three channels."""
_CHUNK = 12
"""Bytes of a chunk besides its data: length, kind, checksum."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MODES = {1: "RGB", 3: "RGB", 4: "RGBA"}
"""What Pillow shall give for each number of channels; of a grey image the first channel is taken."""


class ImageError(ValueError):
    """A file that is no usable image."""


@attrs.frozen(eq=False)
class Image:
    """Pixels, rows × columns × channels, and whether they are encoded as sRGB."""

    pixels: np.ndarray
    srgb: bool


def decode_png(content: bytes, channels: int) -> Image:
    """The pixels of a PNG file with 1, 3 or 4 channels."""
    if not content.startswith(_SIGNATURE) or len(content) < 33:
        raise ImageError("is no PNG file; convert it to PNG")
    check_size(*struct.unpack(">II", content[16:24]))
    _check_chunks(content)
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Pillow.open(io.BytesIO(content), formats=["PNG"]) as image:
                image.load()
                return Image(_bytes(image, channels), "srgb" in image.info)
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        struct.error,
        UnidentifiedImageError,
        Warning,
    ) as problem:
        raise ImageError(f"cannot be decoded: {problem}; save it again as PNG") from None


def _check_chunks(content: bytes) -> None:
    """Refuse a PNG file with a truncated or damaged part, up to its end mark."""
    offset = len(_SIGNATURE)
    while offset + _CHUNK <= len(content):
        length, kind = struct.unpack_from(">I4s", content, offset)
        end = offset + _CHUNK + length
        if end > len(content) or kind == b"IEND":
            break
        stored = struct.unpack_from(">I", content, end - 4)[0]
        if zlib.crc32(content[offset + 4 : end - 4]) != stored:
            raise ImageError("is damaged: a checksum does not agree; save it again as PNG")
        offset = end
    else:
        raise ImageError("is truncated; save it again as PNG")
    if end > len(content):
        raise ImageError("is truncated; save it again as PNG")


def check_size(width: int, height: int) -> None:
    """Refuse an image without pixels or with absurdly many, before memory is taken for it."""
    if width < 1 or height < 1:
        raise ImageError(f"has {width} × {height} pixels; an image needs at least one")
    if width * height > MAX_PIXELS:
        raise ImageError(f"has {width} × {height} pixels, the most is {MAX_PIXELS}; make it smaller")


def _bytes(image: Any, channels: int) -> np.ndarray:
    if image.mode.startswith("I"):  # 16-bit grey
        grey = (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)
        colour = np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1)
    else:
        # by way of RGBA, because a palette may have transparent colours
        image = image.convert("RGBA") if image.mode == "P" else image
        colour = np.asarray(image if image.mode == _MODES[channels] else image.convert(_MODES[channels]))
    return np.ascontiguousarray(colour[:, :, :channels])


def encode_png(pixels: np.ndarray) -> bytes:
    """Rows × columns × channels of bytes as a PNG file."""
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    Pillow.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(buffer, "PNG")
    return buffer.getvalue()
