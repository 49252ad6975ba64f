"""Formats that need no program besides Python: animated GIF and WebP, and a folder of PNG files.

Everything is written beside its place and put there when it is complete: what fails leaves nothing behind, and never
half a film.
"""

from __future__ import annotations

import shutil
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.errors import ArgumentError, DovetailError, FileError
from dovetail.files import checked_path, reasons, replacing

if TYPE_CHECKING:
    from PIL.Image import Image

    from dovetail.contracts.fields import Array

PALETTE_SAMPLES = 16
"""Pictures of a film that the colours of a GIF are taken from."""
WEBP_QUALITY = 75
GIF_TICK = 0.01
"""Seconds; pictures of a GIF stand for a whole number of them."""
GIF_FASTEST = 50.0
"""Pictures per second; browsers slow down what is faster."""


class Writer(ABC):
    """Takes pictures of one size and makes a file of them."""

    even = False
    """Whether sizes must be even."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        self.path, self.width, self.height, self.fps = path, width, height, fps
        self.count = 0

    def add(self, pixels: Array) -> None:
        """One more picture, (height, width, 3) bytes."""
        self._add(np.ascontiguousarray(pixels, np.uint8))
        self.count += 1

    @abstractmethod
    def _add(self, pixels: Array) -> None: ...

    @abstractmethod
    def finish(self) -> None:
        """Put what was made in its place."""

    @abstractmethod
    def discard(self) -> None:
        """Leave nothing behind."""


def check_place(path: Path) -> None:
    """An error if no file can be made at a path; said before anything is computed."""
    if not path.absolute().parent.is_dir():
        raise FileError(path, f"there is no folder {path.parent}; make it first")
    if path.exists() and not path.is_file():
        raise FileError(path, "is a directory, device or the like; give the path of a file")
    with reasons(path), tempfile.NamedTemporaryFile(dir=path.absolute().parent, prefix=f".{path.name[:100]}"):
        pass


class Animation(Writer):
    """A file of Pillow's. All pictures are kept, compressed, until the film is complete: a GIF has one palette for
    all of them."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        super().__init__(path, width, height, fps)
        check_place(path)
        self._kept: list[bytes] = []

    def _add(self, pixels: Array) -> None:
        self._kept.append(zlib.compress(pixels.tobytes(), 1))

    def picture(self, number: int) -> Array:
        """One of the pictures that were added."""
        flat = np.frombuffer(zlib.decompress(self._kept[number]), np.uint8)
        return flat.reshape(self.height, self.width, 3)

    def finish(self) -> None:
        if not self._kept:
            raise DovetailError(f"{self.path}: there is no picture in this film; add one before it is closed")
        with replacing(self.path) as stream:
            first, *_ = images = self._images()
            first.save(stream, append_images=images[1:], save_all=True, loop=0, **self._options())
        self.discard()

    def discard(self) -> None:
        self._kept.clear()

    @abstractmethod
    def _images(self) -> list[Image]: ...

    @abstractmethod
    def _options(self) -> dict[str, Any]: ...

    def milliseconds(self, tick: float) -> list[int]:
        """For how long each picture stands, in whole ticks whose sum is never off by more than one."""
        ends = np.rint(np.arange(len(self._kept) + 1) / self.fps / tick)
        return [int(n) for n in np.diff(ends) * round(tick * 1000)]


class Gif(Animation):
    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        if fps > GIF_FASTEST:
            raise ArgumentError(
                f"fps = {fps:g}: a GIF shows at most {GIF_FASTEST:g} pictures a second; take fewer, or .mp4 or .webp"
            )
        super().__init__(path, width, height, fps)

    def _images(self) -> list[Image]:
        from PIL import Image as Pillow

        palette = self._palette()
        return [
            Pillow.fromarray(self.picture(i)).quantize(palette=palette, dither=Pillow.Dither.NONE)
            for i in range(len(self._kept))
        ]

    def _palette(self) -> Image:
        """Colours that suit pictures from the whole film."""
        from PIL import Image as Pillow

        count = len(self._kept)
        chosen = sorted({*np.linspace(0, count - 1, min(count, PALETTE_SAMPLES)).astype(int).tolist()})
        strip = np.concatenate([self.picture(i)[::2, ::2] for i in chosen])
        return Pillow.fromarray(strip).quantize(256, method=Pillow.Quantize.MEDIANCUT)

    def _options(self) -> dict[str, Any]:
        return {"format": "GIF", "duration": self.milliseconds(GIF_TICK), "disposal": 1, "optimize": False}


class WebP(Animation):
    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        from PIL import features

        if not features.check("webp"):
            raise DovetailError(f"{path}: this Pillow was built without WebP; write .gif or .mp4 instead")
        super().__init__(path, width, height, fps)

    def _images(self) -> list[Image]:
        from PIL import Image as Pillow

        return [Pillow.fromarray(self.picture(i)) for i in range(len(self._kept))]

    def _options(self) -> dict[str, Any]:
        return {"format": "WEBP", "duration": self.milliseconds(0.001), "quality": WEBP_QUALITY, "method": 5}


class Frames(Writer):
    """A folder of frame_00000.png, frame_00001.png, …; filled beside its place: it is complete or not there."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        super().__init__(path, width, height, fps)
        with reasons(path):
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise FileError(
                    path, "is there and no empty folder; give a new one, so that films do not mix"
                )
            if not path.absolute().parent.is_dir():
                raise FileError(path, f"there is no folder {path.parent}; make it first")
            beside = tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name[:100]}", suffix=".tmp")
        self._beside = Path(beside)

    def _add(self, pixels: Array) -> None:
        from PIL import Image as Pillow

        with reasons(self.path):
            Pillow.fromarray(pixels).save(self._beside / f"frame_{self.count:05d}.png")

    def finish(self) -> None:
        from dovetail.files import ordinary_mode

        with reasons(self.path):
            ordinary_mode(self._beside, 0o777)
            self._beside.replace(self.path)

    def discard(self) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)


def formats() -> dict[str, type[Writer]]:
    """Writers by the ending of the file's name; a name without one is a folder."""
    from dovetail.films.video import ENDINGS, Video

    return {"": Frames, ".gif": Gif, ".webp": WebP, **dict.fromkeys(ENDINGS, Video)}


def writer_of(path: str | Path) -> type[Writer]:
    """What writes a film with this name."""
    place = checked_path(path)
    known = formats()
    kind = known.get(place.suffix.lower())
    if kind is None:
        raise ArgumentError(
            f"{place}: a film is written as {_listed(known)}, or without an ending as a folder of PNG files"
        )
    return kind


def _listed(known: dict[str, type[Writer]]) -> str:
    *first, last = [ending for ending in known if ending]
    return f"{', '.join(first)} or {last}"


def even_size(width: int, height: int) -> tuple[int, int]:
    """The size, made even."""
    return width + width % 2, height + height % 2


def averaged(picture: Array, count: int) -> Array:
    """A picture whose pixels are the means of squares of `count` × `count` of another one's."""
    if count == 1:
        return picture
    tall, wide = picture.shape[0] // count, picture.shape[1] // count
    squares = picture.reshape(tall, count, wide, count, 3).mean(axis=(1, 3))
    return np.rint(squares).astype(np.uint8)


def mosaic(pictures: Sequence[Array], width: int, height: int) -> Array:
    """Pictures of one size in rows and columns, in the middle of a larger one."""
    rows, columns = grid_of(len(pictures))
    canvas = np.zeros((height, width, 3), np.uint8)
    tall, wide = pictures[0].shape[:2]
    top, left = (height - rows * tall) // 2, (width - columns * wide) // 2
    for (row, column), picture in zip(_places(rows, columns), pictures, strict=False):
        canvas[top + row * tall :, left + column * wide :][:tall, :wide] = picture
    return canvas


def grid_of(count: int) -> tuple[int, int]:
    """Rows and columns for so many pictures: nearly a square."""
    columns = int(np.ceil(np.sqrt(count)))
    return -(-count // columns), columns


def _places(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    return ((row, column) for row in range(rows) for column in range(columns))
