"""The graph of a convex hull lists vertices, neighbours and faces in MuJoCo's order, which is Qhull's own.

The order is read from the memory of SciPy's Qhull. What is read is either right or refused: these tests damage it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

import dovetail
from dovetail.mjcf.geometry import hull as hull_module
from dovetail.mjcf.geometry import qhull_lists
from dovetail.mjcf.geometry.hull import HullOrderWarning, convex_hull
from dovetail.mjcf.geometry.own_memory import PAGE, Memory, own_memory
from dovetail.mjcf.geometry.qhull_lists import UnknownListsError, read_lists

CUBE = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])


def ring(count: int, *levels: tuple[float, float]) -> np.ndarray:
    """Regular polygons at heights, with their radii."""
    angle = 2 * np.pi * np.arange(count) / count
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([radius * circle, np.full(count, z)]) for z, radius in levels])


def grid(count: int) -> np.ndarray:
    axis = np.linspace(-1, 1, count)
    return np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)


def rounded(seed: int, count: int = 150) -> np.ndarray:
    return np.round(np.random.default_rng(seed).normal(size=(count, 3)), 1)


TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
FLAT_SIDED = {
    "cube": CUBE,
    "turned cube": CUBE @ TURN,
    "prism of 6": ring(6, (0.5, 1), (-0.5, 1)),
    "turned prism of 6": ring(6, (0.5, 1), (-0.5, 1)) @ TURN,
    "frustum of 8": ring(8, (0.5, 0.7), (-0.5, 1)),
    "drum of 40": ring(40, (0.3, 1), (-0.3, 1)) @ TURN,
    "bevelled drum of 30": ring(30, (0.3, 0.9), (0.2, 1), (-0.2, 1), (-0.3, 0.9)),
    "grid": grid(4),
    "turned grid": grid(5) @ TURN,
    "every point twice": np.vstack([CUBE, CUBE, 0.5 * CUBE]),
    **{f"rounded {seed}": rounded(seed) for seed in range(4)},
    **{f"on a lattice {n}": np.random.default_rng(n).integers(-2, 3, (n, 3)) for n in (12, 40, 200)},
}
ROUND = {
    "tetrahedron": np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
    "cloud": np.random.default_rng(1).normal(size=(300, 3)),
    "five points": np.random.default_rng(2).normal(size=(5, 3)),
}


def scene(points: np.ndarray, attributes: str = "") -> str:
    vertices = " ".join(f"{value:.9g}" for value in np.asarray(points, np.float32).ravel())
    return f"""<mujoco><asset><mesh name="m" {attributes} vertex="{vertices}"/></asset>
    <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""


def same_graph(xml: str) -> bool:
    return np.array_equal(dovetail.loads(xml).mesh_graph, mujoco.MjModel.from_xml_string(xml).mesh_graph)


@pytest.fixture
def rebuilding(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the lists were kept in another way."""

    def unreadable(result: Any) -> Any:
        raise UnknownListsError("made so by a test")

    monkeypatch.setattr(hull_module, "read_lists", unreadable)


@pytest.mark.parametrize("name", [*FLAT_SIDED, *ROUND])
def test_the_graph_equals_mujocos_entry_by_entry(name: str) -> None:
    assert same_graph(scene({**FLAT_SIDED, **ROUND}[name]))


@pytest.mark.parametrize("limit", [4, 5, 6, 7, 8, 9, 30])
@pytest.mark.parametrize(
    "name", ["cube", "prism of 6", "turned grid", "on a lattice 40", "tetrahedron", "cloud"]
)
def test_maxhullvert_smaller_and_larger_than_the_hull(name: str, limit: int) -> None:
    assert same_graph(scene({**FLAT_SIDED, **ROUND}[name], f'maxhullvert="{limit}"'))


def test_principal_axes_are_turned_by_mujocos_quarter_turns() -> None:
    """To fifteen digits: the rest decides which corner of a level side is lowest."""
    for points in (
        CUBE * [0.1, 0.07, 0.04],
        ring(6, (0.05, 0.1), (-0.05, 0.1)),
        ring(12, (0.3, 0.1), (-0.3, 0.1)),
    ):
        ours, theirs = dovetail.loads(scene(points)), mujoco.MjModel.from_xml_string(scene(points))
        assert np.array_equal(ours.mesh_quat, theirs.mesh_quat)
        assert np.array_equal(ours.mesh_vert, theirs.mesh_vert)


@pytest.mark.slow
def test_many_random_hulls() -> None:
    rng = np.random.default_rng(7)
    for _ in range(1500):
        points = np.round(rng.normal(size=(rng.integers(8, 200), 3)), rng.integers(0, 3))
        points = points @ TURN if rng.random() < 0.5 else points
        try:
            theirs = mujoco.MjModel.from_xml_string(scene(points)).mesh_graph
        except ValueError:
            continue
        found = convex_hull(points.astype(np.float32).astype(float))
        assert not found.rebuilt
        assert np.array_equal(found.graph(), theirs)


# ---- where the order comes from -----------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="only here is it known that memory can be read")
def test_this_scipy_keeps_qhulls_lists_where_they_are_looked_for() -> None:
    """If this fails, SciPy has a new Qhull or holds it in a new way: see `qhull_lists`, and compare all the above."""
    for points in (CUBE, ROUND["cloud"]):
        assert not convex_hull(points).rebuilt


@pytest.mark.usefixtures("rebuilding")
@pytest.mark.parametrize("name", [*FLAT_SIDED, *ROUND])
def test_where_lists_cannot_be_read_the_same_graph_is_rebuilt_in_some_order(name: str) -> None:
    points = {**FLAT_SIDED, **ROUND}[name].astype(float)
    with pytest.warns(HullOrderWarning, match="made so by a test"):
        found = convex_hull(points)
    assert found.rebuilt
    expected = ConvexHull(points, qhull_options="Qt")
    assert sorted(found.vertices) == sorted(expected.vertices)
    assert np.array_equal(np.sort(found.faces), np.sort(expected.simplices))
    assert sorted(_edges(found.graph())) == sorted(_pairs(expected.simplices))


@pytest.mark.usefixtures("rebuilding")
@pytest.mark.parametrize("points", [CUBE, ring(6, (0.5, 1), (-0.5, 1))])
@pytest.mark.filterwarnings("ignore::dovetail.mjcf.geometry.hull.HullOrderWarning")
def test_the_first_simplex_can_be_rebuilt(points: np.ndarray) -> None:
    graph = convex_hull(points.astype(np.float32).astype(float), maxhullvert=4).graph()
    assert np.array_equal(graph, mujoco.MjModel.from_xml_string(scene(points, 'maxhullvert="4"')).mesh_graph)


def _edges(graph: np.ndarray) -> Iterator[tuple[int, int]]:
    """Directed edges by mesh vertex."""
    count = int(graph[0])
    vertex, ends = graph[2 + count : 2 + 2 * count], graph[2 + 2 * count :]
    for number, at in enumerate(graph[2 : 2 + count].tolist()):
        while ends[at] >= 0:
            yield int(vertex[number]), int(vertex[ends[at]])
            at += 1


def _pairs(faces: np.ndarray) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for face in faces for a in face for b in face if a != b}


# ---- nothing wrong is taken for right ------------------------------------------------------------------------


@contextmanager
def damaged(rng: np.random.Generator, rate: float) -> Iterator[Memory]:
    """Memory in which a page has so many wrong words on average."""
    with own_memory() as intact:
        original = intact._reader

        def reader(address: int, size: int) -> bytes:
            words = np.frombuffer(original(address, size), np.uint64).copy()
            for place in rng.integers(len(words), size=rng.poisson(rate)):
                wild = (0, 1, 8, int(words[place]) ^ 8, int(words[place]) + 48, int(rng.integers(2**62)))
                words[place] = wild[rng.integers(len(wild))]
            return words.tobytes()

        yield Memory(reader)


@pytest.mark.parametrize("points", [CUBE, rounded(1), ROUND["cloud"]])
def test_damaged_lists_are_refused(points: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or what was damaged is no part of them."""
    result = ConvexHull(points, qhull_options="Qt", incremental=True)
    intact = read_lists(result)
    rng = np.random.default_rng(len(points))
    refused = 0
    for rate in np.geomspace(0.1, 50, 60):
        monkeypatch.setattr(qhull_lists, "own_memory", lambda rate=rate: damaged(rng, rate))
        try:
            found = read_lists(result)
        except UnknownListsError:
            refused += 1
        else:
            for field in ("vertices", "start", "around", "turned"):
                assert np.array_equal(getattr(found, field), getattr(intact, field))
    assert 10 < refused < 60


@pytest.mark.parametrize("address", [0, 8, PAGE - 8, 2**46 + 8, 2**47, 2**63, 2**64 - 8])
def test_a_wrong_address_is_an_error(address: int) -> None:
    with own_memory() as memory:
        with pytest.raises(OSError, match=r"address|read|error"):
            memory.word(address)
        assert memory.span(address, 64) == b""


def test_own_memory_is_read() -> None:
    numbers = np.arange(3000)
    with own_memory() as memory:
        start = numbers.ctypes.data
        assert memory.word(start + 8) == 1
        assert np.array_equal(memory.words(start + 8 * numbers), numbers)
        assert memory.span(start, numbers.nbytes) == numbers.tobytes()


def test_where_memory_must_not_be_read_the_order_is_rebuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden() -> Any:
        raise PermissionError("memory is not to be read")

    monkeypatch.setattr(qhull_lists, "own_memory", forbidden)
    with pytest.warns(HullOrderWarning, match="memory is not to be read"):
        assert convex_hull(CUBE).rebuilt


def test_lists_of_a_hull_that_is_closed_are_refused() -> None:
    result = ConvexHull(CUBE, qhull_options="Qt", incremental=True)
    result.close()
    with pytest.raises(UnknownListsError):
        read_lists(result)


def test_loading_a_model_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dovetail.loads(scene(CUBE))
