"""Wavefront OBJ: vertices, normals, texture coordinates and the first group that has triangles.

As MuJoCo does (`mjCMesh::LoadOBJ`, which uses tinyobjloader): materials, colours and further groups are ignored,
polygons are cut by clipping ears, and the second texture coordinate is flipped. Corners without a normal or texture
coordinate have index −1. A word counts as far as it is a number, else as 0; as an index 0 is an error.

Statements of one kind are read together, all their numbers at once; only kinds with unusual lines are read word by
word. Both take time in proportion to the file.
"""

from __future__ import annotations

from itertools import pairwise

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.load_mesh.ear_clipping_numpy import triangulated
from dovetail.plugins.load_mesh.obj_tables_numpy import corner_table, number_table
from dovetail.plugins.load_mesh.obj_words_numpy import corner, real

_WIDTHS = {"v": 3, "vt": 2, "vn": 3}
"""Statements that list numbers, and how many of them count."""
_LARGEST = float(np.finfo(np.float32).max)
_BLANK, _TAB, _NEWLINE = b" \t\n"


def load_mesh(content: bytes, filename: str) -> dict[str, Array]:
    """What an OBJ file holds; parts that are absent are left out."""
    text = Statements.of(content)
    numbers = {kind: _numbers(text, kind, width) for kind, width in _WIDTHS.items()}
    parts: dict[str, Array] = {"vertex": numbers["v"]}
    if len(numbers["vn"]):
        parts["normal"] = numbers["vn"]
    if len(numbers["vt"]):
        parts["texcoord"] = np.stack([numbers["vt"][:, 0], np.float32(1) - numbers["vt"][:, 1]], axis=1)
    for kind in ("l", "p"):
        _corners_by_word(text, kind)  # not used, but they must be in order
    triangles = _first_triangles(text, parts["vertex"])
    if len(triangles):
        indices = {"face": 0, "facetexcoord": 1, "facenormal": 2}
        wanted = [name for name in indices if name.removeprefix("face") in ("", *parts)]
        parts |= {name: np.ascontiguousarray(triangles[:, :, indices[name]]) for name in wanted}
    return parts


@attrs.frozen(eq=False)
class Statements:
    """The lines of a file by what they state."""

    content: bytes
    """Lines that begin with their keyword."""
    starts: Array
    """Where each line begins, and where another would."""
    kinds: dict[str, Array]
    """Numbers of the lines of each kind, from 0."""

    @classmethod
    def of(cls, content: bytes) -> Statements:
        text = tidied(content) + b"\n\n\n"
        letters = np.frombuffer(text, np.uint8)
        starts = np.concatenate([[0], np.flatnonzero(letters[:-2] == _NEWLINE) + 1])
        first, second, third = (letters[starts[:-1] + k] for k in range(3))
        short, long = (((letter == _BLANK) | (letter == _TAB)) for letter in (second, third))
        kinds = {kind: np.flatnonzero((first == ord(kind)) & short) for kind in "vflpgo"}
        for kind in ("vt", "vn"):
            kinds[kind] = np.flatnonzero((first == ord("v")) & (second == ord(kind[1])) & long)
        return cls(text, starts, kinds)

    def block(self, kind: str) -> bytes:
        """All lines of a kind, each with its newline."""
        lines = self.kinds[kind]
        if not len(lines):
            return b""
        breaks = np.flatnonzero(np.diff(lines) != 1)
        first = self.starts[lines[np.append(0, breaks + 1)]].tolist()
        end = self.starts[lines[np.append(breaks, -1)] + 1].tolist()
        return b"".join(self.content[a:b] for a, b in zip(first, end, strict=True))

    def words(self, kind: str) -> list[list[bytes]]:
        """The words of each line of a kind, without its keyword."""
        lines = self.block(kind).replace(b"\t", b" ").split(b"\n")[:-1]
        return [[word for word in line.split(b" ")[1:] if word] for line in lines]

    def counts_before(self, lines: Array) -> Array:
        """How many vertices, texture coordinates and normals stand before each line."""
        return np.stack([np.searchsorted(self.kinds[kind], lines) for kind in _WIDTHS], axis=1)


def tidied(content: bytes) -> bytes:
    """Lines without what stands before their keyword or after a NUL, ended by newlines alone."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in content:
        content = b"\n".join(line.partition(b"\0")[0] for line in content.split(b"\n"))
    if b"\n " in content or b"\n\t" in content or content[:1] in (b" ", b"\t"):
        content = b"\n".join(line.lstrip(b" \t") for line in content.split(b"\n"))
    return content


def _numbers(text: Statements, kind: str, width: int) -> Array:
    """What statements of a kind list, (n, width); what is absent is 0, what is too large the largest."""
    table = number_table(text.block(kind), kind.encode(), len(text.kinds[kind]), width)
    if table is None:
        rows = [[real(word) for word in words[:width]] for words in text.words(kind)]
        table = np.array([row + [0.0] * (width - len(row)) for row in rows]).reshape(-1, width)
    return np.clip(table, -_LARGEST, _LARGEST).astype(np.float32)


def _first_triangles(text: Statements, vertices: Array) -> Array:
    """Triangles (n, 3, 3) of the first group that has any: corners, by vertex, texture coordinate and normal."""
    corners, sizes = _faces(text)
    lines = text.kinds["f"]
    ends = np.cumsum(sizes)
    for part in _groups(text):
        own = corners[ends[part.start] - sizes[part.start] : ends[part.stop - 1]]
        _check_vertices(own, sizes[part], lines[part], len(vertices))
        places = triangulated(sizes[part], own[:, 0], vertices)
        if len(places):
            return own[places].astype(np.int32)
    return np.zeros((0, 3, 3), np.int32)


def _groups(text: Statements) -> list[slice]:
    """Which faces stand in the same group; a group of lines and points alone that an object follows is the last."""
    lines, kinds = text.kinds["f"], text.kinds
    beginnings = np.union1d(kinds["g"], kinds["o"])
    bounds = np.searchsorted(lines, beginnings)
    strokes = np.searchsorted(np.union1d(kinds["l"], kinds["p"]), beginnings)
    stroked = (np.diff(strokes, prepend=0) > 0) & np.isin(beginnings, kinds["o"])
    last = bounds[np.argmax(stroked)] if stroked.any() else len(lines)
    places = np.unique(np.concatenate([[0], bounds[bounds < last], [last]])).tolist()
    return [slice(a, b) for a, b in pairwise(places)]


def _faces(text: Statements) -> tuple[Array, Array]:
    """Corners of all faces one after the other, counted from 0, −1 for what is absent, and how many each face has."""
    lines = text.kinds["f"]
    table = corner_table(text.block("f"), len(lines))
    if table is None:
        return _corners_by_word(text, "f")
    written, sizes = table
    if written.min() < 0:
        before = np.repeat(text.counts_before(lines), sizes, axis=0)
        return np.where(written > 0, written - 1, np.where(written < 0, before + written, -1)), sizes
    return written - 1, sizes


def _corners_by_word(text: Statements, kind: str) -> tuple[Array, Array]:
    """The same for lines of any kind, corner by corner."""
    lines = text.kinds[kind]
    rows = zip(text.words(kind), text.counts_before(lines).tolist(), lines.tolist(), strict=True)
    corners = [[corner(word, before, line + 1) for word in words] for words, before, line in rows]
    flat = np.array([each for row in corners for each in row], np.int64).reshape(-1, 3)
    return flat, np.array([len(row) for row in corners], np.int64)


def _check_vertices(corners: Array, sizes: Array, lines: Array, count: int) -> None:
    """Vertices must exist, at least those of faces that have three corners."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    bad = np.flatnonzero(((corners[:, 0] < 0) | (corners[:, 0] >= count)) & (sizes[owner] > 2))
    if len(bad):
        raise ValueError(
            f"line {lines[owner[bad[0]]] + 1}: vertex {corners[bad[0], 0] + 1} does not exist; there are {count}"
        )
