"""Films of a simulation: pictures at even times, written as MP4, GIF, WebP or single PNG files.

`film` what users see; `clock` when pictures are due, and the states between two steps; `writers` and `video` the
formats.
"""

from __future__ import annotations

from dovetail.films.film import Film

__all__ = ["Film"]
