"""Flexcomp type gmsh: points and elements of a Gmsh file, format 2.2 or 4.1, text or binary.

Only what MuJoCo reads is accepted: one block of nodes and one block of elements, all of one kind (segments in
format 4.1 only, triangles, tetrahedra), little-endian. See `mjCFlexcomp::LoadGMSH` and
https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape, Ints, Reals

_DIMENSIONS = {1: 1, 2: 2, 4: 3}
"""Gmsh's number of an element type → its dimension."""
_HEADER_41 = 52
"""Bytes before the data of a binary section of format 4.1."""
_DIGITS = 9
"""Of the largest count."""


def gmsh(recipe: FlexRecipe) -> FlexShape:
    """The nodes and elements of the file; the dimension is the file's."""
    content = recipe.content
    if not content:
        raise ValueError("the file is empty")
    if not content.startswith(b"$MeshFormat"):
        raise ValueError("a Gmsh file begins with $MeshFormat; this one does not")
    version, binary = _format(content)
    nodes, elements = _section(content, b"Nodes"), _section(content, b"Elements")
    dim, point, element = _READERS[version, binary](nodes, elements)
    return FlexShape(dim=dim, point=point, element=element)


def _format(content: bytes) -> tuple[int, bool]:
    words = content[11:200].split(maxsplit=2)
    try:
        version, kind = round(100 * float(words[0])), int(words[1])
    except (IndexError, ValueError, OverflowError):
        raise ValueError(
            "the line after $MeshFormat must give the version and 0 (text) or 1 (binary)"
        ) from None
    if version not in (220, 410):
        raise ValueError(f"format {version / 100:g} is not supported; save the mesh as format 4.1 or 2.2")
    return version, kind != 0


def _section(content: bytes, name: bytes) -> bytes:
    """What stands between $Name and $EndName."""
    content = content[:-1]  # the last character of a file does not count, as in MuJoCo
    begin, end = content.find(b"$" + name), content.find(b"$End" + name)
    if begin < 0:
        raise ValueError(f"${name.decode()} is missing")
    start = begin + len(name) + 2
    if end < start:
        raise ValueError(f"$End{name.decode()} is missing after ${name.decode()}")
    return content[start:end]


def _numbers(words: list[bytes], what: str) -> Reals:
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        raise ValueError(f"{what} has something that is not a number") from None


def _integers(words: list[bytes], what: str, bits: int = 64) -> Ints:
    """Words that are integers, of so many bits."""
    try:
        numbers = np.array([int(word) for word in words], np.int64)
    except (ValueError, OverflowError):
        raise ValueError(f"{what} has something that is not an integer where it must be one") from None
    if len(numbers) and max(-int(numbers.min()) - 1, int(numbers.max())) >= 2 ** (bits - 1):
        raise ValueError(f"{what} has an integer of more than {bits} bits")
    return numbers


def _dimension(kind: int, allowed: tuple[int, ...]) -> int:
    if kind not in allowed:
        raise ValueError(f"elements of Gmsh type {kind} are not supported; use triangles or tetrahedra")
    return _DIMENSIONS[kind]


def _checked(element: Ints, first: int, count: int) -> Ints:
    """Node tags as point numbers."""
    if element.size and (element.min() < first or element.max() >= first + count):
        raise ValueError(f"some element refers to a node outside {first} to {first + count - 1}")
    return (element - first).reshape(-1).astype(np.int64)


# format 4.1


def _check_block(blocks: int, total: int, inside: int, what: str) -> None:
    if blocks != 1 or total != inside:
        raise ValueError(f"all {what} must be in a single block; there are {blocks} blocks")


def _check_tags(tags: Ints, first: int) -> None:
    if not np.array_equal(tags, np.arange(first, first + len(tags))):
        raise ValueError("node tags must be sequential; renumber the nodes")


def _check_dimensions(node_dim: int, element_dim: int, kind: int) -> None:
    if not 1 <= node_dim <= 3:
        raise ValueError(f"nodes belong to an entity of dimension {node_dim}; it must be 1, 2 or 3")
    if element_dim != node_dim:
        raise ValueError(f"nodes are of dimension {node_dim} but elements of {element_dim}; they must agree")
    if _DIMENSIONS.get(kind) != element_dim:
        raise ValueError(f"elements of Gmsh type {kind} do not have dimension {element_dim}")


def _text_41(nodes: bytes, elements: bytes) -> tuple[int, Reals, Ints]:
    numbers = nodes.split()
    if len(numbers) < 8:
        raise ValueError("the header of $Nodes is too short")
    blocks, count, first, last, dim, _, _, inside = _integers(numbers[:8], "$Nodes").tolist()
    _integers(numbers[4:7], "$Nodes", bits=32)
    _check_block(blocks, count, inside, "nodes")
    if last != inside:
        raise ValueError("the largest node tag must be the number of nodes; renumber the nodes from 1")
    data = numbers[8 : 8 + 4 * count]
    if count < 1 or len(data) < 4 * count:
        raise ValueError(f"$Nodes announces {count} nodes but has fewer")
    _check_tags(_integers(data[:count], "$Nodes"), first)
    words = elements.split()
    if len(words) < 8:
        raise ValueError("the header of $Elements is too short")
    blocks, total, _, _, element_dim, _, kind, inside = _integers(words[:8], "$Elements").tolist()
    _integers(words[4:7], "$Elements", bits=32)
    _check_block(blocks, total, inside, "elements")
    _check_dimensions(dim, element_dim, kind)
    rows = words[8 : 8 + (dim + 2) * total]
    if total < 1 or len(rows) < (dim + 2) * total:
        raise ValueError(f"$Elements announces {total} elements but has fewer")
    places = _numbers(data[count:], "$Nodes").reshape(-1, 3)
    return dim, places, _checked(_integers(rows, "$Elements").reshape(total, -1)[:, 1:], first, count)


def _header_41(section: bytes, what: str) -> tuple[list[int], list[int], int]:
    """Four counts, three small numbers, and how many rows the block has."""
    if len(section) < _HEADER_41:
        raise ValueError(f"the header of {what} is too short")
    counts = np.frombuffer(section, "<u8", 4).astype(object).tolist()
    small = np.frombuffer(section, "<i4", 3, 32).tolist()
    return counts, small, int(np.frombuffer(section, "<u8", 1, 44)[0])


def _binary_41(nodes: bytes, elements: bytes) -> tuple[int, Reals, Ints]:
    (blocks, count, first, _), (dim, _, _), inside = _header_41(nodes, "$Nodes")
    _check_block(blocks, count, inside, "nodes")
    if count < 1 or len(nodes) < _HEADER_41 + 32 * count:
        raise ValueError(f"$Nodes announces {count} nodes but has fewer")
    _check_tags(np.frombuffer(nodes, "<u8", count, _HEADER_41).astype(np.int64), first)
    point = np.frombuffer(nodes, "<f8", 3 * count, _HEADER_41 + 8 * count).reshape(-1, 3)
    (blocks, total, _, _), (element_dim, _, kind), inside = _header_41(elements, "$Elements")
    _check_block(blocks, total, inside, "elements")
    _check_dimensions(dim, element_dim, kind)
    if total < 1 or len(elements) < _HEADER_41 + 8 * (dim + 2) * total:
        raise ValueError(f"$Elements announces {total} elements but has fewer")
    rows = np.frombuffer(elements, "<u8", (dim + 2) * total, _HEADER_41).astype(np.int64).reshape(total, -1)
    return dim, point.astype(np.float64), _checked(rows[:, 1:], first, count)


# format 2.2


def _text_22(nodes: bytes, elements: bytes) -> tuple[int, Reals, Ints]:
    count, node_words = _count_and_words(nodes, "$Nodes")
    rows = node_words[: 4 * count]
    if count < 1 or len(rows) < 4 * count:
        raise ValueError(f"$Nodes announces {count} nodes but has fewer")
    _integers(rows[::4], "$Nodes")
    total, words = _count_and_words(elements, "$Elements")
    if len(words) < 3:
        raise ValueError("$Elements is too short")
    _, kind, tags = _integers(words[:3], "$Elements", bits=32).tolist()
    dim = _dimension(kind, (2, 4))
    skipped = 5 if tags > 0 else 3  # number, type, how many tags, and two tags if there are any
    width = skipped + dim + 1
    data = words[: width * total]
    if total < 1 or len(data) < width * total:
        raise ValueError(f"$Elements announces {total} elements but has fewer")
    table = _integers(data, "$Elements", bits=32).reshape(total, width)
    return dim, _numbers(rows, "$Nodes").reshape(-1, 4)[:, 1:], _checked(table[:, skipped:], 1, count)


def _count_and_words(section: bytes, what: str) -> tuple[int, list[bytes]]:
    """The number that is the first line of a text section, and the words after it."""
    line, _, rest = section.lstrip(b"\r\n").partition(b"\n")
    digits = line.removesuffix(b"\r")
    if not digits.isdigit() or len(digits) > _DIGITS:
        raise ValueError(f"the first line of {what} must be a number, how many there are")
    return int(digits), rest.split()


def _announced(section: bytes, what: str) -> tuple[int, bytes]:
    """The number in the first line of a binary section, and what follows the line."""
    line, _, rest = section.partition(b"\n")
    try:
        return int(line), rest
    except ValueError:
        raise ValueError(f"the first line of {what} must be a number") from None


def _binary_22(nodes: bytes, elements: bytes) -> tuple[int, Reals, Ints]:
    count, data = _announced(nodes, "$Nodes")
    row = np.dtype([("tag", "<i4"), ("place", "<f8", 3)])
    if count < 1 or len(data) < row.itemsize * count:
        raise ValueError(f"$Nodes announces {count} nodes but has fewer")
    point = np.frombuffer(data, row, count)["place"].astype(np.float64)
    total, data = _announced(elements, "$Elements")
    if total < 1 or len(data) < 12:
        raise ValueError("$Elements is too short")
    kind, _, tags = np.frombuffer(data, "<i4", 3).tolist()
    dim = _dimension(kind, (2, 4))
    # Gmsh writes a header of three numbers before every element and two tags in it; fTetWild one header in all
    head, width, skipped = (0, 3 + 3 + dim + 1, 6) if tags > 0 else (3, 1 + dim + 1, 1)
    if len(data) < 4 * (head + width * total):
        raise ValueError(f"$Elements announces {total} elements but has fewer")
    rows = np.frombuffer(data, "<i4", width * total, 4 * head).astype(np.int64).reshape(total, width)
    return dim, point, _checked(rows[:, skipped:], 1, count)


_READERS: dict[tuple[int, bool], Callable[[bytes, bytes], tuple[int, Reals, Ints]]] = {
    (410, False): _text_41,
    (410, True): _binary_41,
    (220, False): _text_22,
    (220, True): _binary_22,
}
