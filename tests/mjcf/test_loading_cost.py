"""Loading is quick: real models at once, time proportional to the number of bodies, large meshes in seconds.

Times are those of the processor, so that a busy machine does not matter much, and limits are generous, because
machines differ; `pytest -s` prints what was measured beside MuJoCo's own times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from generated_limbs import limb
from generated_robots import write_robot

import dovetail

SECONDS = 0.3
"""Longest processor time for a Gymnasium model on a machine of its own [s]."""
SLACK = 3.0
"""How much slower a busy machine may be."""


def quickest(load: Callable[[], object], repeat: int = 3) -> float:
    """Least of several processor times, which other processes disturb least [s]."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        load()
        times.append(time.process_time() - start)
    return min(times)


def gymnasium_models() -> list[Path]:
    spec = find_spec("gymnasium")
    places = spec.submodule_search_locations if spec else None
    return sorted(Path(places[0], "envs", "mujoco", "assets").glob("*.xml")) if places else []


@pytest.mark.parametrize("path", gymnasium_models(), ids=lambda path: path.stem)
def test_gymnasium_model(path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    dovetail.load(path)  # imports what it needs
    ours = quickest(lambda: dovetail.load(path))
    theirs = quickest(lambda: mujoco.MjModel.from_xml_path(str(path)))
    print(f"{path.stem:26} dovetail {1e3 * ours:7.1f} ms   MuJoCo {1e3 * theirs:7.1f} ms")
    assert ours < SECONDS * SLACK


def bodies(count: int) -> str:
    """Many separate bodies: no matrix couples them, so nothing may grow faster than their number."""
    body = (
        '<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/><geom size=".1" pos="1 0 0"/></body>'
    )
    return f"<mujoco><worldbody>{body * count}</worldbody></mujoco>"


def test_time_is_proportional_to_the_number_of_bodies() -> None:
    few, many = bodies(60), bodies(480)
    dovetail.loads(few)
    ratio = quickest(lambda: dovetail.loads(many)) / quickest(lambda: dovetail.loads(few))
    print(f"8 times the bodies take {ratio:.1f} times as long")
    assert ratio < 8 * 2


def test_mesh_of_100_000_faces() -> None:
    mesh = '<asset><mesh name="m" file="m.stl"/></asset>'
    xml = f'<mujoco>{mesh}<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    assets = {"m.stl": stl(bumpy_sphere(224))}
    seconds = quickest(lambda: dovetail.loads(xml, assets=assets), repeat=1)
    print(f"100 000 faces take {seconds:.1f} s")
    assert seconds < 5.0 * SLACK


MESH_RATIO, MUSCLE_RATIO = 12.0, 25.0
"""How many times MuJoCo's time loading may take; about 3.5 and 5 are measured, 8 and 600 were before."""


def beside(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Ratio of processor times, both measured in turn; MuJoCo must read files anew."""
    import mujoco

    def anew() -> object:
        mujoco.mj_clearCache(mujoco.mj_getCache())
        return theirs()

    pairs = [(quickest(ours, 1), quickest(anew, 1)) for _ in range(2)]
    ratio = min(own for own, _ in pairs) / min(other for _, other in pairs)
    print(f"{ratio:.1f} times MuJoCo's time")
    return ratio


@pytest.mark.parametrize("suffix", ["obj", "stl"])
def test_robot_of_meshes_beside_mujoco(suffix: str, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = write_robot(tmp_path / "robot", 6, suffix)
    dovetail.loads("<mujoco/>")
    assert beside(lambda: dovetail.load(path), lambda: mujoco.MjModel.from_xml_path(str(path))) < MESH_RATIO


def test_muscles_beside_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = limb(20)
    assert beside(lambda: dovetail.loads(xml), lambda: mujoco.MjModel.from_xml_string(xml)) < MUSCLE_RATIO


def bumpy_sphere(rings: int) -> np.ndarray:
    """Corners of 2·rings² triangles of a sphere with a wavy surface, shape (faces, 3, 3)."""
    polar, around = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, rings + 1))
    radius = 1 + 0.05 * np.sin(9 * polar) * np.cos(7 * around)
    grid = radius * np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)])
    points = np.moveaxis(grid, 0, -1)
    points[-1] = points[0]
    points[:, 0], points[:, -1] = points[0, 0], points[0, -1]
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    corners = [np.stack(triple, axis=-2).reshape(-1, 3, 3) for triple in ((a, c, b), (a, d, c))]
    return np.concatenate(corners)


def stl(triangles: np.ndarray) -> bytes:
    """A binary STL file."""
    record = np.zeros(
        len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]
    )
    record["corners"] = triangles
    return bytes(80) + np.uint32(len(triangles)).tobytes() + record.tobytes()
