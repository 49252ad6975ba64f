"""Pictures beside those of mujoco.Renderer with OSMesa, where that runs: depth, segmentation, colours."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_scenes import OWN, ROBOTS

import dovetail

pytest.importorskip("mujoco")

HEIGHT, WIDTH = 120, 160
SECONDS = 300

MEAN = {"ant of gymnasium": 6.0}
"""Mean difference of colours in levels of 255 where it is more than 3: large fields of fine chequers."""


def _by_mujoco(paths: list[tuple[str, int | str]], out: Path) -> Any:
    program = Path(__file__).with_name("mujoco_pictures.py")
    words = [str(word) for path, camera in paths for word in (path, camera, HEIGHT, WIDTH)]
    environment = os.environ | {"MUJOCO_GL": "osmesa"}
    run = subprocess.run(
        [sys.executable, str(program), str(out), *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if run.returncode:
        pytest.skip(f"mujoco.Renderer does not run with OSMesa here: {run.stderr.strip().splitlines()[-1:]}")
    return np.load(out)


def _package_file(path: str) -> str:
    package, _, rest = path.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return str(Path(next(iter(spec.submodule_search_locations))) / rest)


@pytest.fixture(scope="module")
def own_pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, int]]:
    folder = tmp_path_factory.mktemp("pictures")
    paths = []
    for number, (xml, camera) in enumerate(OWN.values()):
        path = folder / f"{number}.xml"
        path.write_text(xml)
        paths.append((str(path), camera))
    arrays = _by_mujoco(paths, folder / "pictures.npz")
    return {name: (arrays, number) for number, name in enumerate(OWN)}


def _ours(model: Any, camera: int | str) -> tuple[Any, Any, Any]:
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    with dovetail.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.update_scene(data, camera)
        colour = renderer.render()
        renderer.enable_depth_rendering()
        depth = renderer.render()
        renderer.enable_segmentation_rendering()
        return colour, depth, renderer.render()


def _assert_alike(name: str, arrays: Any, number: int, ours: tuple[Any, Any, Any]) -> None:
    colour, depth, objects = ours
    theirs = arrays[f"depth_{number}"]
    near = np.abs(depth - theirs) <= 1e-3 * theirs
    if (
        name != "orthographic"
    ):  # mujoco.Renderer converts its depth as if the projection were a perspective one
        assert near.mean() >= 0.99, f"depth: {near.mean():.4f}"
    same = (objects == arrays[f"objects_{number}"]).all(axis=-1)
    assert same.mean() >= 0.99, f"segmentation: {same.mean():.4f}"
    mean = np.abs(colour.astype(int) - arrays[f"colour_{number}"]).mean()
    assert mean <= MEAN.get(name, 3.0), f"colours: {mean:.2f}"
    assert np.unique(colour.reshape(-1, 3), axis=0).shape[0] > 5, "the picture shows nothing"


@pytest.mark.parametrize("name", OWN)
def test_depth_segmentation_and_colours_are_mujocos(
    name: str, own_pictures: dict[str, tuple[Any, int]]
) -> None:
    arrays, number = own_pictures[name]
    xml, camera = OWN[name]
    _assert_alike(name, arrays, number, _ours(dovetail.loads(xml), camera))


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_pictures_of_robots_are_mujocos(name: str, tmp_path: Path) -> None:
    path, camera = ROBOTS[name]
    file = _package_file(path)
    arrays = _by_mujoco([(file, camera)], tmp_path / "pictures.npz")
    _assert_alike(name, arrays, 0, _ours(dovetail.load(file), camera))
