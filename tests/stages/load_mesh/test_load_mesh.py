"""One tetrahedron in every format of mesh files: each gives its corners and faces, and says what a bad file lacks."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from implementations import How, implementations

from dovetail.registry import default_registry

VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


def stl() -> bytes:
    triangles = [struct.pack("<12fH", 0, 0, 0, *VERTICES[face].ravel(), 0) for face in FACES]
    return bytes(80) + struct.pack("<i", len(FACES)) + b"".join(triangles)


def obj() -> bytes:
    corners = "".join("v {} {} {}\n".format(*vertex) for vertex in VERTICES)
    return (corners + "".join("f {} {} {}\n".format(*(face + 1)) for face in FACES)).encode()


def msh() -> bytes:
    counts = struct.pack("<4i", len(VERTICES), 0, 0, len(FACES))
    return counts + VERTICES.astype("<f4").tobytes() + FACES.astype("<i4").tobytes()


FILES = {".stl": stl(), ".obj": obj(), ".msh": msh()}
CASES = [
    pytest.param(suffix, *case.values, id=f"{suffix}-{case.id}")
    for suffix in FILES
    for case in implementations(f"load_mesh:{suffix}")
]


@pytest.mark.parametrize(("suffix", "how"), CASES)
def test_corners_of_faces_are_those_of_the_file(suffix: str, how: How) -> None:
    """Vertices may be numbered anew: those of STL files have no numbers."""
    load = default_registry().get(f"load_mesh:{suffix}", how.label).load()
    found = load(FILES[suffix], f"tetrahedron{suffix}")
    assert len(found["vertex"]) == len(VERTICES)
    np.testing.assert_array_equal(np.asarray(found["vertex"])[found["face"]], VERTICES[FACES])


BROKEN = {".stl": stl()[:-1], ".obj": obj() + b"f 1 2 9\n", ".msh": msh()[:-1]}
"""A byte too few; a corner that is not there."""
COMPLAINTS = {".stl": "counts 4 faces", ".obj": "9", ".msh": "bytes"}


@pytest.mark.parametrize(("suffix", "how"), CASES)
def test_a_broken_file_is_an_error_that_says_what_is_wrong(suffix: str, how: How) -> None:
    load = default_registry().get(f"load_mesh:{suffix}", how.label).load()
    with pytest.raises(ValueError, match=COMPLAINTS[suffix]):
        load(BROKEN[suffix], f"broken{suffix}")
