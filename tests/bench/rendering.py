"""Time of pictures beside mujoco.Renderer with OSMesa: `python tests/bench/rendering.py [REPEATS]`.

Processor time of one thread, the best of some repeats, in alternation, so that a busy machine changes both alike.
A picture is `update_scene` and `render`; MuJoCo's pictures of a batch are made one after the other.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "osmesa")

WORLDS, SMALL = 256, 64


def best(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Milliseconds of processor time of each call, the best of some rounds."""
    times = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.process_time()
            call()
            times[name] = min(times[name], 1e3 * (time.process_time() - began))
    return times


def prepared(name: str) -> tuple[Any, Any, Any, Any]:
    """A model and data of dovetail and of MuJoCo, in the same state."""
    import mujoco

    import dovetail

    path = str(Path(dovetail.__file__).with_name("models") / f"{name}.xml")
    model, mj_model = dovetail.load(path), mujoco.MjModel.from_xml_path(path)
    data, mj_data = dovetail.make_data(model), mujoco.MjData(mj_model)
    dovetail.forward(model, data)
    mujoco.mj_forward(mj_model, mj_data)
    return model, data, mj_model, mj_data


def one_picture(name: str, height: int, width: int, mode: str, repeats: int) -> dict[str, float]:
    """One picture of one world."""
    import mujoco

    import dovetail

    model, data, mj_model, mj_data = prepared(name)
    theirs = mujoco.Renderer(mj_model, height, width)
    casters = {
        backend: dovetail.Renderer(model, height, width, backend=backend, threads=1)
        for backend in ("native", "numpy")
    }
    for renderer in (theirs, *casters.values()):
        if mode == "depth":
            renderer.enable_depth_rendering()

    def made(renderer: Any, state: Any) -> Callable[[], None]:
        def make() -> None:
            renderer.update_scene(state)
            renderer.render()

        make()
        return make

    calls = {backend: made(renderer, data) for backend, renderer in casters.items()}
    return best(calls | {"mujoco": made(theirs, mj_data)}, repeats)


def batch(name: str, mode: str, repeats: int) -> dict[str, float]:
    """Pictures of many worlds."""
    import mujoco
    import numpy as np

    import dovetail
    from dovetail.visual import FIELDS

    model, _, mj_model, mj_data = prepared(name)
    sim = dovetail.Simulation(model, nworld=WORLDS, keep=FIELDS)
    sim.data.qvel = np.random.default_rng(0).normal(size=(WORLDS, model.nv))
    sim.step(20)
    ours = dovetail.Renderer(model, SMALL, SMALL, backend="native", threads=1)
    theirs = mujoco.Renderer(mj_model, SMALL, SMALL)
    for renderer in (ours, theirs):
        if mode == "depth":
            renderer.enable_depth_rendering()

    def by_dovetail() -> None:
        ours.update_scene(sim.data)
        ours.render()

    def by_mujoco() -> None:
        for _ in range(WORLDS):
            theirs.update_scene(mj_data)
            theirs.render()

    return best({"native": by_dovetail, "mujoco": by_mujoco}, max(2, repeats // 4))


def main(repeats: int = 12) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("pictures", "native [ms]", "numpy [ms]", "mujoco, OSMesa [ms]", "mujoco / native")
    rows = {
        f"{name} {height} × {width} {mode}": one_picture(name, height, width, mode, repeats)
        for name in ("humanoid", "arm")
        for height, width in ((240, 320), (SMALL, SMALL))
        for mode in ("colour", "depth")
    }
    for mode in ("colour", "depth"):
        rows[f"humanoid, {WORLDS} worlds, {SMALL} × {SMALL} {mode}"] = batch("humanoid", mode, repeats)
    for name, times in rows.items():
        numpy = f"{times['numpy']:.0f}" if "numpy" in times else ""
        ratio = times["mujoco"] / times["native"]
        table.add_row(name, f"{times['native']:.2f}", numpy, f"{times['mujoco']:.2f}", f"{ratio:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
