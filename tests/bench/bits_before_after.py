"""Bits and times of plans on NumPy and in lanes over many models, to compare two versions of dovetail.

    python tests/bench/bits_before_after.py run before       # with the old version installed: before.npz, before.json
    python tests/bench/bits_before_after.py run after        # with the new one; --only NAMES, --no-times, --numpy
    python tests/bench/bits_before_after.py compare before after    # which models differ in bits, and ratios of times

Run both from outside of a checkout, so that each finds the version of its own environment. Times are processor time.
"""

# ruff: noqa: E501 (documents stand here as they are)
from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

STEPS, NWORLD, SEED = 30, 16, 7
NUMPY_STEPS = 8
TIMED = ("suite/humanoid", "gymnasium/ant+euler", "gymnasium/half_cheetah")
TIMED_WORLDS, TIMED_STEPS, ROUNDS = 256, 10, 9
FIELDS = ("qpos", "qvel", "act", "sensordata", "qacc_warmstart")

WELDS = """
<mujoco model="welds">
  <option timestep="0.004" solver="Newton"/>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body name="a" pos="0 0 .25"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/><site name="sa" pos="0 0 .1"/></body>
    <body name="b" pos=".3 0 .25"><freejoint/><geom type="capsule" size=".05 .1" mass=".7"/><site name="sb" pos="0 0 .1"/></body>
    <body name="c" pos="0 .5 .6">
      <joint name="j1" axis="0 1 0" limited="true" range="-40 40" frictionloss=".1"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
      <site name="sc" pos=".15 0 .05"/>
      <body pos=".3 0 0"><joint name="j2" axis="0 1 0" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
        <site name="sd" pos=".1 0 .05"/></body>
    </body>
    <body name="d" pos="1 1 .3"><freejoint/><geom type="sphere" size=".1" mass=".4"/></body>
    <body name="e" pos="1.25 1 .3"><freejoint/><geom type="ellipsoid" size=".1 .08 .06" mass=".5"/></body>
  </worldbody>
  <tendon>
    <spatial name="cable" limited="true" range="0 .32" stiffness="20" damping=".3" frictionloss=".05">
      <site site="sa"/><site site="sb"/></spatial>
    <fixed name="mix" limited="true" range="-.2 .3"><joint joint="j1" coef="1"/><joint joint="j2" coef="-.5"/></fixed>
    <spatial name="arm"><site site="sc"/><site site="sd"/></spatial>
  </tendon>
  <equality>
    <weld body1="d" body2="e" solref=".02 1"/>
    <connect body1="a" anchor="0 0 .3"/>
    <joint joint1="j1" joint2="j2" polycoef="0 .5 .1 0 0" active="true"/>
    <tendon tendon1="mix" tendon2="arm" polycoef="0 .1 0 0 0"/>
  </equality>
  <actuator><motor joint="j1"/><position tendon="cable" kp="3"/></actuator>
  <sensor><tendonpos tendon="cable"/><jointlimitfrc joint="j1"/><tendonlimitfrc tendon="cable"/><framepos objtype="body" objname="e"/></sensor>
</mujoco>
"""

SLIPPERY = """
<mujoco model="noslip">
  <option timestep="0.003" solver="CG" cone="elliptic" noslip_iterations="4" impratio="5"/>
  <worldbody>
    <geom type="plane" size="3 3 .1" friction=".6 .01 .001" zaxis=".1 0 1"/>
    <body name="a" pos="0 0 .12"><freejoint/><geom name="ga" type="box" size=".1 .1 .1" mass="1" condim="4"/><site name="s" type="box" size=".2 .2 .2"/></body>
    <body name="b" pos="0 0 .33"><freejoint/><geom type="box" size=".08 .08 .1" mass=".7" condim="3" solref="0.01 1"/></body>
    <body name="c" pos=".5 0 .13"><freejoint/><geom type="sphere" size=".1" mass=".4" condim="6"/></body>
    <body name="d" pos=".5 .5 .13"><freejoint/><geom type="capsule" size=".05 .1" condim="1" priority="1" euler="0 90 0"/></body>
    <body name="e" pos=".52 0 .32"><freejoint/><geom type="cylinder" size=".07 .06" condim="4" margin=".01" gap=".002"/></body>
  </worldbody>
  <sensor><touch site="s"/><subtreelinvel body="a"/><accelerometer site="s"/><force site="s"/></sensor>
</mujoco>
"""

TERRAIN = """
<mujoco model="terrain">
  <option timestep="0.004"/>
  <asset>
    <hfield name="hills" nrow="6" ncol="6" size="1 1 .2 .1"
      elevation="0 .2 .1 0 .3 0  .2 .6 .4 .2 .1 .3  0 .4 1 .5 .2 0  .1 .3 .6 .4 .3 .2  0 .1 .2 .5 .7 .2  .1 0 .2 .3 .1 0"/>
    <mesh name="cube" vertex=".1 .1 .1 -.1 .1 .1 .1 -.1 .1 -.1 -.1 .1 .1 .1 -.1 -.1 .1 -.1 .1 -.1 -.1 -.1 -.1 -.1"/>
    <mesh name="wedge" vertex=".12 0 0 -.1 .1 0 -.1 -.1 0 0 0 .15 .02 .03 -.06"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <body pos="0 0 .36"><freejoint/><geom type="mesh" mesh="cube"/></body>
    <body pos=".4 .3 .3"><freejoint/><geom type="mesh" mesh="wedge"/></body>
    <body pos="-.4 .3 .28"><freejoint/><geom type="sphere" size=".09"/></body>
    <body pos="-.4 -.3 .3"><freejoint/><geom type="box" size=".08 .06 .05"/></body>
    <body pos=".05 .05 .6"><freejoint/><geom type="mesh" mesh="wedge"/></body>
    <body pos=".4 -.3 .25"><freejoint/><geom type="capsule" size=".05 .08"/></body>
  </worldbody>
</mujoco>
"""
DOCUMENTS = {"own/welds": WELDS, "own/noslip": SLIPPERY, "own/terrain": TERRAIN}

MODELS = (
    "humanoid",
    "arm",
    "tumbler",
    "pendulum",
    "gymnasium/ant+euler",
    "gymnasium/ant+rk4",
    "gymnasium/half_cheetah",
    "gymnasium/hopper",
    "gymnasium/walker2d",
    "gymnasium/humanoid",
    "gymnasium/swimmer",
    "gymnasium/reacher",
    "gymnasium/inverted_pendulum",
    "suite/humanoid",
    "suite/cheetah",
    "suite/quadruped",
    "suite/walker",
    "suite/hopper",
    "suite/fish",
    "suite/finger",
    "suite/cartpole",
    "suite/stacker",
    "suite/ball_in_cup",
    "suite/manipulator",
    "boxes",
    *DOCUMENTS,
)


def load(name):
    import dovetail
    from dovetail.bench.cases import find

    return dovetail.loads(DOCUMENTS[name]) if name in DOCUMENTS else find(name).load()


def simulation(model, precision, nworld):
    import dovetail

    return dovetail.Simulation(
        model, nworld=nworld, backend="taichi", runtime="quadrants", threads=1, precision=precision
    )


def start(sim, nworld):
    """The same random velocities and controls for the same model; positions at the start of the model."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    model = sim.model
    if model.nkey:
        sim.reset(0)
    sim.data.qvel = rng.normal(0.0, 0.5, (nworld, model.nv))
    if model.nu:
        sim.data.ctrl = rng.normal(0.0, 0.7, (nworld, model.nu))


def digest(array):
    import numpy as np

    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def bits_of(name, precision):
    import numpy as np

    model = load(name)
    began, wall = time.process_time(), time.perf_counter()
    sim = simulation(model, precision, NWORLD)
    start(sim, NWORLD)
    planned = time.process_time() - began
    before = time.process_time()
    sim.step()
    first = time.process_time() - before
    sim.step(STEPS - 1)
    arrays = {f: np.array(sim.data.field(f)) for f in FIELDS if f in sim.data}
    backends = {}
    for line in sim.plan.lines():
        backends.setdefault(line.implementation.split("@")[1], []).append(str(line.slot))
    return arrays, {
        "planned_cpu": planned,
        "first_step_cpu": first,
        "wall": time.perf_counter() - wall,
        "segments": len(sim.plan.segments()),
        "numpy": backends.get("numpy", []),
        "finite": bool(all(np.isfinite(a).all() for a in arrays.values())),
        "hash": {f: digest(a) for f, a in arrays.items()},
    }


def numpy_bits_of(name):
    """Every field of the Model, and every field of Data after a few steps of one world on NumPy."""
    import numpy as np

    import dovetail

    began = time.process_time()
    model = load(name)
    sim = dovetail.Simulation(model)
    planned = time.process_time() - began
    rng = np.random.default_rng(SEED)
    if model.nkey:
        sim.reset(0)
    sim.data.qvel = rng.normal(0.0, 0.5, model.nv)
    if model.nu:
        sim.data.ctrl = rng.normal(0.0, 0.7, model.nu)
    before = time.process_time()
    sim.step(NUMPY_STEPS)
    sim.forward()
    arrays = {}
    for where, source in (("model", model), ("data", sim.data)):
        for field in sorted(set(dir(source))):
            value = None if field.startswith("_") else getattr(source, field, None)
            if isinstance(value, np.ndarray):
                arrays[f"{where}.{field}"] = np.array(value)
    return arrays, {
        "planned_cpu": planned,
        "first_step_cpu": time.process_time() - before,
        "wall": 0.0,
        "segments": len(sim.plan.segments()),
        "numpy": [],
        "finite": True,
        "hash": {f: digest(a) for f, a in arrays.items()},
    }


def times_of(name, precision):
    model = load(name)
    sim = simulation(model, precision, TIMED_WORLDS)
    start(sim, TIMED_WORLDS)
    sim.step(TIMED_STEPS)
    rounds = []
    for _ in range(ROUNDS):
        before = time.process_time()
        sim.step(TIMED_STEPS)
        rounds.append((time.process_time() - before) / TIMED_STEPS / TIMED_WORLDS * 1e6)
    return {"median_us": statistics.median(rounds), "least_us": min(rounds), "rounds": rounds}


def run(out, only, timed, on_numpy):
    os.environ.setdefault("DOVETAIL_PROGRESS", "off")
    os.environ["DOVETAIL_CACHE_DIR"] = tempfile.mkdtemp(prefix="dovetail-bits-")
    import numpy as np

    import dovetail

    warnings.simplefilter("ignore")
    where = Path(dovetail.__file__).parent
    arrays, report = {}, {"where": str(where), "python": sys.version, "models": {}, "times": {}}

    def save():
        np.savez_compressed(f"{out}.npz", **arrays)
        Path(f"{out}.json").write_text(json.dumps(report, indent=1))

    for name in only or MODELS:
        for precision in ("numpy",) if on_numpy else ("f64", "f32"):
            label = f"{name}|{precision}"
            try:
                found, told = numpy_bits_of(name) if on_numpy else bits_of(name, precision)
            except Exception as error:
                report["models"][label] = {"error": f"{type(error).__name__}: {error}"[:500]}
                traceback.print_exc()
            else:
                arrays |= {f"{label}|{field}": value for field, value in found.items()}
                report["models"][label] = told
            told = report["models"][label]
            print(
                label,
                told.get("error") or f"{told['first_step_cpu']:.1f}s compile, numpy: {told['numpy']}",
                flush=True,
            )
            save()
    for name in TIMED if timed and not on_numpy else ():
        for precision in ("f64", "f32"):
            report["times"][f"{name}|{precision}"] = told = times_of(name, precision)
            print(name, precision, f"{told['median_us']:.2f} µs/step/world", flush=True)
            save()
    print("written", f"{out}.npz", f"{out}.json")


def _apart(a, b):
    """The largest difference; infinite where shapes or types differ."""
    import numpy as np

    if a.shape != b.shape or a.dtype.kind not in "iufb" or b.dtype.kind not in "iufb":
        return float("inf")
    return float(np.abs(a.astype(float) - b.astype(float)).max(initial=0))


def compare(a, b):
    import numpy as np

    first, second = (json.loads(Path(f"{p}.json").read_text()) for p in (a, b))
    one, two = np.load(f"{a}.npz"), np.load(f"{b}.npz")
    same = different = 0
    for label in first["models"]:
        x, y = first["models"][label], second["models"].get(label)
        if y is None:
            print(f"{label:36} missing in {b}")
            continue
        if "error" in x or "error" in y:
            print(f"{label:36} error: {x.get('error', 'ran')} -> {y.get('error', 'ran')}")
            different += x != y
            continue
        worst = {
            f: _apart(one[f"{label}|{f}"], two[f"{label}|{f}"])
            for f in x["hash"]
            if x["hash"][f] != y["hash"].get(f) and f in y["hash"]
        }
        gone = sorted(set(x["hash"]) ^ set(y["hash"]))
        ratio = y["first_step_cpu"] / x["first_step_cpu"]
        note = "same bits" if not worst and not gone else f"DIFFER {worst} {gone or ''}"
        if y["numpy"] != x["numpy"]:
            note += f"; NumPy slots {x['numpy']} -> {y['numpy']}"
        if y["segments"] != x["segments"]:
            note += f"; segments {x['segments']} -> {y['segments']}"
        same, different = same + (not worst), different + bool(worst)
        print(
            f"{label:36} {note}; compile {x['first_step_cpu']:.1f}s x{ratio:.2f}; plan {x['planned_cpu']:.2f}s "
            f"x{y['planned_cpu'] / x['planned_cpu']:.2f}"
        )
    ratios = [
        second["models"][m]["first_step_cpu"] / x["first_step_cpu"]
        for m, x in first["models"].items()
        if "first_step_cpu" in x and "first_step_cpu" in second["models"].get(m, {})
    ]
    if ratios:
        print(f"compile time: median ratio {statistics.median(ratios):.3f}, worst {max(ratios):.2f}")
    for label, x in first["times"].items():
        y = second["times"].get(label)
        if y:
            print(
                f"{label:36} {x['median_us']:.2f} -> {y['median_us']:.2f} µs (median ratio "
                f"{y['median_us'] / x['median_us']:.3f}, least {y['least_us'] / x['least_us']:.3f})"
            )
    print(f"{same} same, {different} different")
    return different


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("run", "compare"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--numpy", action="store_true", help="the Model and one world on NumPy, all fields")
    said = parser.parse_args()
    if said.mode == "run":
        run(said.paths[0], said.only, not said.no_times, said.numpy)
    else:
        sys.exit(min(compare(*(p.removesuffix(".npz").removesuffix(".json") for p in said.paths)), 1))
