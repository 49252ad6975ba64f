"""The surface where a function on a grid changes sign, as triangles: marching cubes.

Every cell of the grid whose corners differ in sign gets the triangles that its corners' signs call for; these are cut
at the edges of the cell where the function, taken as linear, is zero. Corners of a cell are numbered x + 2y + 4z;
edges 0 to 3 run along x, 4 to 7 along y, 8 to 11 along z, each group in the order of their other two coordinates.
Cells follow one another with x changing first, vertices in the order in which cells come to their edges. MuJoCo
meshes the shapes of its plugins in this way, in single precision (mjCMesh::LoadSDF).

`TRIANGLES` is read off a mesh that MuJoCo 3.4.0 made of a shape with all 254 combinations of signs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
Triangle = tuple[int, int, int]

CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
POINTS = 300
"""Points along the three sides of the grid together."""
TRIANGLES = """
01:048 02:509 03:495489 04:1a4 05:1801a8 06:1a4950 07:51a5a99a8 08:b15 09:5b1804 0a:0b109b 0b:14818bb89
0c:a5ba45 0d:05b0b88ba 0e:40949aa9b 0f:8ba89b 10:286 11:062046 12:950628 13:295256654 14:41a286 15:a62a21120
16:0958621a4 17:61a621251295 18:28615b 19:604620b15 1a:b09b10628 1b:46162916919b 1c:5a45ba286 1d:2a625a5ba052
1e:286a9ba49409 1f:2a629a9ba 20:927 21:048792 22:250275 23:827874475 24:1a4279 25:1801a8792 26:250275a41
27:827871175a81 28:b15279 29:0485b1279 2a:7b1712210 2b:48242112717b 2c:a5ba45279 2d:7928ba80b05b
2e:ba7a407a0702 2f:7827b8ba8 30:879867 31:904947746 32:086065567 33:467475 34:7867981a4 35:79661a916901
36:a41567506086 37:a51a65675 38:87986715b 39:15b746794904 3a:08606bb6710b 3b:17b147467 3c:4ba45b698679
3d:670ba0a605b0790 3e:ba06707b0860a40 3f:67b6ba 40:36a 41:a36048 42:36a095 43:94895436a 44:341364 45:680603301
46:341364950 47:958836538513 48:36a5b1 49:15b48036a 4a:0b109b6a3 4b:6a3b89b18148 4c:b36b65564 4d:8368030b305b
4e:6b360b09b406 4f:6b368b89b 50:2a328a 51:4a3430032 52:a28a32509 53:34a394954293 54:841812213 55:013032
56:509213281841 57:529512132 58:2a328a5b1 59:b150320434a3 5a:38a32819b109 5b:9b4324294a34b14 5c:5b4428b24b32
5d:b05b30320 5e:3249b4b34094284 5f:32939b 60:792a36 61:2796a3048 62:527502a36 63:36a475487827 64:436413927
65:927301360680 66:164136075027 67:138758518278368 68:36a79215b 69:0486a379215b 6a:a362102717b1
6b:36ab17127142482 6c:2795645b6b36 6d:2798060360535b3 6e:02b64b40b36b27b 6f:6838b387b827 70:37939aa98
71:a04a30390379 72:8a0a370a7075 73:34a374754 74:184178798371 75:937903013 76:758138378418508 77:137175
78:5b1a98a39379 79:15ba34304370790 7a:8a7107087b17a37 7b:37a74a7147b1 7c:4539838437935b3 7d:9070370b305b
7e:08437b 7f:7b3 80:73b 81:0483b7 82:5093b7 83:4954893b7 84:b7341a 85:81a80173b 86:1a4b73095 87:3b79a895a51a
88:173157 89:715731804 8a:973930031 8b:148187789317 8c:3a4347745 8d:80aa7307a057 8e:a40a03309397 8f:3973a9a89
90:286b73 91:062046b73 92:2869503b7 93:b73654625295 94:3b7a41286 95:73b1201a2a62 96:1a48629503b7
97:3b762a21a291951 98:173157862 99:246204357315 9a:628031093973 9b:469319149739629 9c:8627457343a4
9d:57a20a05a62a73a 9e:2867393093a0a40 9f:2969a693a973 a0:3923b9 a1:3923b9480 a2:b50b03302 a3:54b482b42b23
a4:93b92341a a5:0a801a2b923b a6:41a3023b0b50 a7:235a858251a53b5 a8:592521123 a9:804123152592 aa:031023
ab:814821231 ac:3a4349945239 ad:a852353a5925805 ae:43a403023 af:23a2a8 b0:63b6b88b9 b1:63b6b00b9460
b2:86383003b0b5 b3:b63b56546 b4:1a48b986b63b b5:016b969063b61a6 b6:1a450b03b083863 b7:a616516b563b
b8:985863583531 b9:319469639049159 ba:608630310 bb:314346 bc:983453593a43863 bd:3a6059 be:6383083403a4 bf:3a6
c0:6b76ab c1:b6ab76048 c2:6b76ab095 c3:854895a76ab7 c4:1b7174476 c5:0680b6b761b0 c6:9504764171b7
c7:891761681b71951 c8:a15a56657 c9:0486576a5a15 ca:7696a1961910 cb:7618919714816a1 cc:476457 cd:068056576
ce:940974764 cf:897876 d0:72878bb8a d1:b7aa0470a720 d2:095b8ab78728 d3:ab25424a2952b72 d4:4284121721b7
d5:71b721201 d6:0954181281b2b72 d7:5191291721b7 d8:872817157a18 d9:20a57a72a15a04a da:1078a7a17287097
db:14a297 dc:872847457 dd:205257 de:842472497409 df:972 e0:26a2a99ab e1:4809ab92a26a e2:26a2a55ab025
e3:542ab2b526a2482 e4:4166921961b9 e5:b960161b6806926 e6:64b02b26b50b41b e7:2681b5 e8:6a1612215259
e9:0489252152616a1 ea:a26a12102 eb:a16126182148 ec:259265645 ed:058568526592 ee:026064 ef:268 f0:8ab8b9
f1:4904a9ab9 f2:0b508b8ab f3:ab5a54 f4:1841b8b98 f5:01b0b9 f6:1b4b84b08b50 f7:b51 f8:5a159a98a f9:4a0a90a59a15
fa:10818a fb:14a fc:459498 fd:590 fe:084
"""
"""Combination of inner corners, as a number: edges at which its triangles have their corners, in hexadecimal."""


def shape_mesh(distance: Callable[[Array], Array], box: tuple[float, ...]) -> dict[str, Array]:
    """Vertices, faces and normals of the surface of a shape in a box (centre and half-sizes)."""
    centre, half = np.array(box[:3]), np.array(box[3:])
    count = np.floor(POINTS / (half[0] + half[1] + half[2]) * half).astype(int) + 1
    x, y, z = (centre[k] - half[k] + 2 * half[k] * np.arange(count[k]) / (count[k] - 1) for k in range(3))
    grid = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
    field = distance(grid.reshape(-1, 3)).reshape(grid.shape[:-1]).astype(np.float32)
    vertex, face = marching_cubes(field)
    normal = vertex_normals(vertex, face)
    placed = 2 * half * vertex.astype(float) / (count - 1) + centre - half
    return {"vertex": placed.astype(np.float32), "face": face, "normal": normal}


def marching_cubes(field: Array) -> tuple[Array, Array]:
    """Vertices (n, 3) in grid coordinates x, y, z, in the field's precision, and faces (m, 3), looking to where the
    field (nz, ny, nx) is positive."""
    vertex, number = crossings(field)
    inner = field < 0
    signs = np.zeros([length - 1 for length in field.shape], int)
    for corner, (x, y, z) in enumerate(CORNERS):
        signs |= inner[_part(z), _part(y), _part(x)].astype(int) << corner
    faces, cells = [], []
    for combination in np.unique(signs):
        where = np.flatnonzero(signs == combination)
        for triangle in triangles(int(combination)):
            faces.append(_corner_numbers(number, np.unravel_index(where, signs.shape), triangle))
            cells.append(where)
    if not faces:
        return vertex, np.zeros((0, 3), np.int32)
    # within a cell the triangles stay in their order, as the sort is stable
    order = np.argsort(np.concatenate(cells), kind="stable")
    return vertex, np.concatenate(faces)[order]


def _part(offset: int) -> slice:
    """The values at one side of every cell along an axis."""
    return slice(1, None) if offset else slice(None, -1)


def _corner_numbers(number: Array, cell: tuple[Array, ...], triangle: Triangle) -> Array:
    """Vertices (n, 3) of one triangle in each cell."""
    z, y, x = cell
    columns = []
    for edge in triangle:
        axis, (dx, dy, dz) = edge_place(edge)
        columns.append(number[axis, z + dz, y + dy, x + dx])
    return np.stack(columns, axis=1).astype(np.int32)


def edge_place(edge: int) -> tuple[int, tuple[int, int, int]]:
    """Axis along which an edge of a cell runs, and the corner that it starts from."""
    axis, rest = divmod(edge, 4)
    first, second = (k for k in range(3) if k != axis)
    place = [0, 0, 0]
    place[first], place[second] = rest & 1, rest >> 1
    return axis, (place[0], place[1], place[2])


def crossings(field: Array) -> tuple[Array, Array]:
    """Where the field is zero on the edges of the grid (n, 3), and the number (3, nz, ny, nx) of each edge's vertex,
    by the axis and the start of the edge."""
    starts, keys, points = [], [], []
    for axis in range(3):
        start, point = _axis_crossings(field, axis)
        starts.append(np.column_stack([np.full(len(start), axis), start[:, ::-1]]))
        keys.append(_first_cell(field.shape, start, axis))
        points.append(point)
    order = np.argsort(np.concatenate(keys))
    number = np.full((3, *field.shape), -1, np.int64)
    number[tuple(np.concatenate(starts)[order].T)] = np.arange(len(order))
    return np.concatenate(points)[order], number


def _axis_crossings(field: Array, axis: int) -> tuple[Array, Array]:
    """Starts (n, 3) of the edges along an axis on which the sign changes, and the zeros on them; both x, y, z."""
    along = np.moveaxis(field, 2 - axis, -1)
    change = (along[..., 1:] < 0) != (along[..., :-1] < 0)
    here, there = along[..., :-1][change], along[..., 1:][change]
    place = np.argwhere(change)
    others = [k for k in (2, 1, 0) if k != axis]
    start = np.empty_like(place)
    start[:, others] = place[:, :2]
    start[:, axis] = place[:, 2]
    point = start.astype(field.dtype)
    point[:, axis] += here / (here - there)
    return start, point


def _first_cell(shape: tuple[int, ...], start: Array, axis: int) -> Array:
    """What orders the vertices: the first cell that has the edge, and the number of the edge there."""
    cell = np.maximum(start - 1, 0)
    cell[:, axis] = start[:, axis]
    first, second = (k for k in range(3) if k != axis)
    offset = start - cell
    edge = 4 * axis + offset[:, first] + 2 * offset[:, second]
    key: Array = ((cell[:, 2] * shape[1] + cell[:, 1]) * shape[2] + cell[:, 0]) * 12 + edge
    return key


def vertex_normals(vertex: Array, face: Array) -> Array:
    """Unit normals (n, 3): sums of those of the faces around, weighted by area, each step in single precision."""
    a, b, c = (vertex[face[:, k]] for k in range(3))
    u, v = c - b, a - b
    normal = np.stack(
        [u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1], u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2],
         u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]], axis=1)  # fmt: skip
    total = np.zeros_like(vertex)
    np.add.at(total, face.reshape(-1), np.repeat(normal, 3, axis=0))
    length = np.sqrt(total[:, 0] * total[:, 0] + total[:, 1] * total[:, 1] + total[:, 2] * total[:, 2])
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = total / length[:, None]
    return result


# ---- which triangles --------------------------------------------------------------------------------------


@cache
def table() -> dict[int, list[Triangle]]:
    """Triangles of a cell by the number whose bits are its inner corners, each as the edges its corners are on."""
    entries = (entry.split(":") for entry in TRIANGLES.split())
    edges = {int(number, 16): [int(digit, 16) for digit in digits] for number, digits in entries}
    return {number: list(zip(e[::3], e[1::3], e[2::3], strict=True)) for number, e in edges.items()}


def triangles(combination: int) -> list[Triangle]:
    """Triangles of a cell; none where all corners are on one side."""
    return table().get(combination, [])
