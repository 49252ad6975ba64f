"""Load times beside MuJoCo's: real models, robots with many meshes, limbs with muscles.

    export OMP_NUM_THREADS=1                                  # processor time counts every thread
    python tests/bench/load_times.py                          # every set
    python tests/bench/load_times.py robots muscles           # some
    python tests/bench/load_times.py robots --repeat 5
    python tests/bench/load_times.py robots --only obj-60 --functions 30    # where the time goes

Times are processor time in milliseconds, both engines in turn, the best of several runs: what other programs on the
machine hindered least. MuJoCo keeps meshes it has read; its cache is emptied before each run. Ours is switched off.
Importing is not counted.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from generated_limbs import limb
from generated_robots import write_robot

import dovetail

COUNTS = (10, 60, 160)
"""Meshes of the generated robots."""
MUSCLES = (6, 20, 60, 100)


def installed(package: str, *below: str) -> Path | None:
    """A folder of an installed package, which is not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0], *below) if places else None


def gymnasium_models(folder: Path) -> Iterator[tuple[str, Path]]:
    """Gymnasium's models."""
    root = installed("gymnasium", "envs", "mujoco", "assets")
    for path in sorted(root.glob("*.xml")) if root else ():
        yield path.stem, path


def dm_control_models(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file of dm_control that MuJoCo accepts by itself."""
    root = installed("dm_control")
    for path in sorted(root.rglob("*.xml")) if root else ():
        yield str(path.relative_to(root).with_suffix("")), path


def robots(folder: Path) -> Iterator[tuple[str, Path]]:
    """Arms whose links have visual and colliding meshes."""
    for suffix in ("obj", "stl"):
        for count in COUNTS:
            yield f"{suffix}-{count}", write_robot(folder / f"{suffix}-{count}", count, suffix)


def muscles(folder: Path) -> Iterator[tuple[str, Path]]:
    """Limbs moved by muscles that wrap around their bones."""
    for count in MUSCLES:
        path = folder / f"muscles-{count}.xml"
        path.write_text(limb(count))
        yield path.stem, path


SETS: dict[str, Callable[[Path], Iterator[tuple[str, Path]]]] = {
    "gymnasium": gymnasium_models,
    "dm_control": dm_control_models,
    "robots": robots,
    "muscles": muscles,
}


def processor_time(load: Callable[[], object]) -> float:
    start = time.process_time()
    load()
    return time.process_time() - start


def beside(path: Path, repeat: int) -> tuple[float, float]:
    """Least times of both engines, in s."""
    import mujoco

    def theirs() -> object:
        return mujoco.MjModel.from_xml_path(str(path))

    best = [np.inf, np.inf]
    dovetail.load(path)  # imports what it needs
    for _ in range(repeat):
        best[0] = min(best[0], processor_time(lambda: dovetail.load(path)))
        mujoco.mj_clearCache(mujoco.mj_getCache())
        best[1] = min(best[1], processor_time(theirs))
    return best[0], best[1]


def accepted(path: Path) -> bool:
    """Whether MuJoCo loads the file by itself."""
    import mujoco

    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    return True


def print_functions(path: Path, count: int) -> None:
    """The functions in which loading spends most time."""
    dovetail.load(path)
    profile = cProfile.Profile()
    profile.runcall(dovetail.load, path)
    pstats.Stats(profile).sort_stats("tottime").print_stats(count)


def measure(name: str, path: Path, repeat: int) -> None:
    """Print a line of the table."""
    ours, theirs = beside(path, repeat)
    print(f"{name:52} {1e3 * ours:9.1f} {1e3 * theirs:9.1f} {ours / theirs:7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", choices=[*SETS], help="which models (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    parser.add_argument(
        "--functions", type=int, default=0, metavar="N", help="the N most expensive functions instead"
    )
    arguments = parser.parse_args()
    os.environ["DOVETAIL_MODEL_CACHE"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        for chosen in arguments.sets or SETS:
            print(f"\n{chosen:52} {'ours':>9} {'MuJoCo':>9} {'ratio':>7}")
            for name, path in SETS[chosen](Path(folder)):
                if arguments.only not in name or not accepted(path):
                    continue
                if arguments.functions:
                    print_functions(path, arguments.functions)
                else:
                    measure(name, path, arguments.repeat)


if __name__ == "__main__":
    main()
