"""Films that ffmpeg encodes: H.264 in .mp4, .mov and .mkv, VP9 in .webm.

The program comes with `imageio[ffmpeg]`, the extra `video`. It is given pictures through a pipe and writes beside the
film's place; only what it has ended well is put there.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dovetail.distribution import requirement
from dovetail.errors import FileError, MissingDependencyError
from dovetail.files import ordinary_mode, reasons
from dovetail.films.writers import Writer, check_place

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array

H264 = ("-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p")
"""Constant quality; the pixel format that every player knows, which wants even sizes."""
VP9 = ("-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-pix_fmt", "yuv420p")
ENDINGS = {
    ".mp4": (*H264, "-movflags", "+faststart", "-f", "mp4"),
    ".mov": (*H264, "-f", "mov"),
    ".mkv": (*H264, "-f", "matroska"),
    ".webm": (*VP9, "-f", "webm"),
}
"""How each container is encoded."""
COLOURS = ("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709")
"""The matrix from red, green and blue that players assume of large pictures, and are told for small ones."""
LONGEST_COMPLAINT = 400
"""Characters of what ffmpeg says."""


def ffmpeg() -> str:
    """The program, or an error that says how to get it."""
    if find_spec("imageio_ffmpeg") is None:
        raise MissingDependencyError(
            "encoding a video needs the package 'imageio[ffmpeg]', which is not installed; "
            f'run: pip install "{requirement("video")}", or write .gif, .webp or a folder of pictures'
        )
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as problem:
        raise MissingDependencyError(
            f"the package 'imageio-ffmpeg' has no program here: {problem}. Install ffmpeg, or write .gif or .webp"
        ) from None


class Video(Writer):
    """Pictures on their way into ffmpeg."""

    even = True

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        super().__init__(path, width, height, fps)
        program = ffmpeg()
        check_place(path)
        with reasons(path):
            handle, beside = tempfile.mkstemp(
                dir=path.absolute().parent, prefix=f".{path.name[:100]}", suffix=".tmp"
            )
            os.close(handle)
        self._beside = Path(beside)
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [program, *self._arguments(), beside],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C is for us: the film is still to be ended well
        )

    def _arguments(self) -> list[str]:
        size = f"{self.width}x{self.height}"
        source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{self.fps:.9g}", "-i", "-")
        how = ENDINGS[self.path.suffix.lower()]
        return ["-y", "-nostdin", "-loglevel", "error", *source, "-an", *COLOURS, *how]

    def _add(self, pixels: Array) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pixels.tobytes())
        except OSError:  # it has ended
            raise self._failure() from None

    def finish(self) -> None:
        if not self.count:
            raise FileError(self.path, "there is no picture in this film; add one before it is closed")
        self._end()
        if self._process.returncode or not self._beside.stat().st_size:
            raise self._failure()
        self._complaints.close()
        with reasons(self.path):
            ordinary_mode(self._beside)
            os.replace(self._beside, self.path)

    def discard(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._end()
        self._complaints.close()
        self._beside.unlink(missing_ok=True)

    def _end(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # what was still to be written may find nobody
            self._process.stdin.close()
        self._process.wait()

    def _failure(self) -> FileError:
        self._end()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip()
        why = " ".join(said.split())[-LONGEST_COMPLAINT:] or f"exit code {self._process.returncode}"
        return FileError(self.path, f"ffmpeg could not write it: {why}")
