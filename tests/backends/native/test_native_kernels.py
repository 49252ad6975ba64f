"""Native kernels: their bits are Taichi's and depend on nothing else, and steps that are kept ready do what all steps
do, whatever was edited between them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batch_scene import LIGHT
from lane_backend import NO_COMPILER

import dovetail
from dovetail import Model, Simulation
from dovetail.backends.native.compilers import compilers
from dovetail.bad_states import StateWarning
from dovetail.bench.cases import AbsentPackageError, find
from dovetail.planning.plan import Plan
from dovetail.plugins.shared.contacts import contacts_lanes
from dovetail.simulation import plan_for

pytestmark = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")

SMALL = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1" friction="0.9 0.01 0.002"/>
    <body pos="0 0 0.098"><freejoint/><geom name="ball" size="0.1" condim="4"/></body>
    <body pos="0.3 0 0.09"><freejoint/><geom name="rod" type="capsule" size="0.1 0.1"/></body>
    <body name="arm" pos="-0.6 0 0.5">
      <joint name="swing" axis="0 1 0" limited="true" range="-30 30" damping="0.1" frictionloss="0.05"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" contype="0" conaffinity="0"/>
      <body name="hand" pos="0.3 0 0"><joint name="turn" axis="0 1 0" stiffness="1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="swing" joint2="turn" polycoef="0 0.5 0 0 0"/></equality>
  <actuator><position name="steer" joint="swing" kp="5" ctrlrange="-1 1"/><motor joint="turn"/></actuator>
</mujoco>
"""
"""Contacts of two kinds, a limit, friction, an equality and two actuators, in a kernel that compiles quickly."""

DOCUMENTS = {"small": SMALL, "light": LIGHT}

STATE = ("time", "qpos", "qvel", "act", "qacc_warmstart")


@pytest.fixture(autouse=True)
def fused_kernels_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are for users: nearly all tests here run the same few kernels, which are then traced once."""
    monkeypatch.setenv("DOVETAIL_MODEL_CACHE", "1")


def bits(sim: Simulation) -> dict[str, bytes]:
    return {name: np.ascontiguousarray(sim.data.field(name)).tobytes() for name in STATE}


def started(model: Model, nworld: int | None = None, **settings: Any) -> Simulation:
    """Worlds in states of their own; the same for the same number of worlds."""
    sim = Simulation(model, nworld, **{"backend": "native", **settings})
    rng = np.random.default_rng(1)
    sim.data.qvel[...] = 0.5 * rng.normal(size=np.shape(sim.data.qvel))
    sim.data.ctrl[...] = 0.5 * rng.normal(size=np.shape(sim.data.ctrl))
    return sim


def small(nworld: int | None = None, **settings: Any) -> Simulation:
    return started(dovetail.loads(SMALL), nworld, **settings)


# ---- the same bits as Taichi

NWORLD, NSTEP = 11, 100
LARGE = (
    "humanoid",
    "gymnasium/half_cheetah",
    "gymnasium/ant",
    "gymnasium/ant+euler",
    "suite/humanoid",
    "suite/quadruped",
    "meshes",
    "boxes",
)


@cache
def model_of(name: str) -> Model:
    if name in DOCUMENTS:
        return dovetail.loads(DOCUMENTS[name])
    try:
        return find(name).load()
    except AbsentPackageError as error:
        pytest.skip(str(error))


def after(name: str, nstep: int = NSTEP, **settings: Any) -> dict[str, bytes]:
    """The states of worlds of a model after some steps. What goes bad is reset, in the same way everywhere."""
    sim = started(model_of(name), NWORLD, keep="state", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateWarning)
        sim.step(nstep)
    return bits(sim)


@cache
def by_taichi(name: str, precision: str) -> dict[str, bytes]:
    return after(name, backend="taichi", precision=precision)


@pytest.mark.by_default("light-f32")
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("name", ["light", "gymnasium/half_cheetah"])
def test_bits_are_those_of_taichi(name: str, precision: str) -> None:
    pytest.importorskip("quadrants")
    assert after(name, precision=precision) == by_taichi(name, precision)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("name", LARGE)
def test_bits_are_those_of_taichi_with_every_compiler_and_width(
    name: str, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("quadrants")
    wanted = by_taichi(name, precision)
    for compiler in compilers():
        monkeypatch.setenv("DOVETAIL_CC", compiler.name if compiler.is_zig else compiler.command[0])
        for lanes in (1, 4, 8, 16):
            for threads in (1, 2):
                found = after(name, precision=precision, lanes=lanes, threads=threads)
                assert found == wanted, (compiler.name, lanes, threads)


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_bits_depend_neither_on_lanes_nor_on_threads(precision: str) -> None:
    usual = after("small", precision=precision, threads=1)
    for settings in ({"lanes": 1}, {"lanes": 2, "threads": 2}, {"lanes": 4, "threads": 3}, {"threads": 2}):
        assert after("small", precision=precision, **settings) == usual, settings


def test_every_compiler_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = after("small")
    for compiler in compilers():
        monkeypatch.setenv("DOVETAIL_CC", compiler.name if compiler.is_zig else compiler.command[0])
        assert after("small") == usual, compiler.name


TINY = """
import sys, numpy as np
from lane_small import N, apply
if sys.argv[1] == "flushing":
    from dovetail.backends.taichi.runtime import start
    start("quadrants")
    assert np.float32(1e-30) * np.float32(1e-12) == 0.0

def shrink(k):
    with k.loop(0, k.model.n) as i:
        k.data.y[i] = k.data.x[i] * 1e-20 * 1e-20
        k.data.z[i, 0] = k.data.x[i] * 1e-20

x = np.random.default_rng(0).uniform(1, 9, (64, N))
found = [apply(shrink, x, precision="f32", threads=threads, lanes=4) for threads in (1, 2)]
print([float(each["y"].max()) for each in found], [float(each["z"].max()) for each in found])
"""


def run(program: str, *arguments: str, **environment: str) -> str:
    """What a program prints in a process of its own."""
    here = Path(__file__).parent
    paths = os.pathsep.join(map(str, (here, here.parent / "lanes", here.parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_numbers_that_are_too_small_become_zero_whatever_the_process_does_with_them() -> None:
    """Taichi makes the thread that starts it flush them, and threads that it starts; kernels do so in any case."""
    pytest.importorskip("quadrants")
    kept = run(TINY, "keeping")
    assert kept.startswith("[0.0, 0.0] [8."), kept
    assert run(TINY, "flushing") == kept


# ---- the text

PRINT = """
import hashlib, sys
import dovetail
from test_native_kernels import model_of, printed
for name in sys.argv[1:]:
    print(name, hashlib.sha256(printed(model_of(name)).encode()).hexdigest())
"""


def printed(model: Model, nworld: int | None = 8) -> str:
    """The C of a plan's kernels, printed anew."""
    from dovetail.backends.lanes.fuse import fuse
    from dovetail.backends.lanes.segments import any_places, sources_of, target_of
    from dovetail.backends.lanes.transfers import fetchers
    from dovetail.backends.native.kernel_text import kernel_sources
    from dovetail.contracts.sizes import CAPACITIES

    plan: Plan = Simulation(model, nworld, backend="native").plan
    sizes = {**model.sizes, **dict.fromkeys(CAPACITIES, 1)}
    texts = []
    for number, _ in enumerate(plan.flow.groups):
        segment = plan.segment(plan.flow, number, whole=True)
        sources = sources_of(segment, any_places(segment, sizes), sizes, (), fetchers(segment))
        texts += kernel_sources(fuse(sources, target_of(segment, "native", lands=True)), units=2)
    return "\n".join(texts)


@pytest.mark.parametrize(
    "name", ["small", *(pytest.param(n, marks=pytest.mark.slow) for n in ("humanoid", "boxes", "meshes"))]
)
def test_the_text_is_the_same_in_every_process(name: str) -> None:
    """Else it would be compiled anew in each."""
    texts = {run(PRINT, name, PYTHONHASHSEED=seed) for seed in ("0", "1", "4242")}
    assert len(texts) == 1, texts


# ---- processes and threads

FORK = """
import multiprocessing, sys
from test_native_kernels import bits, small
sim = small(40, threads=2, lanes=2)
sim.step(3)

def go(queue):
    sim.step(20)
    sim.step(20)
    queue.put(bits(sim))

context = multiprocessing.get_context("fork")
queues = [context.SimpleQueue() for _ in range(2)]
children = [context.Process(target=go, args=(queue,)) for queue in queues]
for child in children:
    child.start()
found = [queue.get() for queue in queues]
for child in children:
    child.join()
sim.step(20)
sim.step(20)
print([each == bits(sim) for each in found], [child.exitcode for child in children])
"""

SPAWN = """
import multiprocessing
from test_native_kernels import bits, small

def go(queue):
    sim = small(40, threads=2, lanes=2)
    sim.step(23)
    queue.put(bits(sim))

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    sim = small(40, threads=2, lanes=2)
    sim.step(23)
    child = context.Process(target=go, args=(queue,))
    child.start()
    found = queue.get()
    child.join()
    print(found == bits(sim), child.exitcode)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_goes_on_with_threads_of_its_own() -> None:
    assert run(FORK) == "[True, True] [0, 0]\n"


def test_a_spawned_process_has_the_same_bits(tmp_path: Path) -> None:
    script = tmp_path / "spawning.py"
    script.write_text(SPAWN)
    program = f"import runpy, sys; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')"
    assert run(program) == "True 0\n"


def test_two_threads_step_two_simulations_at_once() -> None:
    sims = [small(24, threads=2, lanes=2) for _ in range(3)]
    expected = small(24, threads=1, lanes=2)
    for sim in (*sims, expected):
        sim.step()
    raised: list[BaseException] = []

    def work(sim: Simulation) -> None:
        try:
            for _ in range(40):
                sim.step(2)
        except BaseException as problem:
            raised.append(problem)

    threads = [threading.Thread(target=work, args=(sim,)) for sim in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(expected)
    assert raised == []
    assert [bits(sim) == bits(expected) for sim in sims] == [True] * 3


# ---- steps that are kept ready

WORLDS = {
    "one world": {},
    "batch, two threads": {"nworld": 5, "lanes": 2, "threads": 2},
    "one world, f32": {"precision": "f32"},
}


@pytest.fixture(params=WORLDS)
def settings(request: Any) -> Mapping[str, Any]:
    return WORLDS[request.param]


def slowly(sim: Simulation, nstep: Any = 1) -> None:
    """A step that is not kept ready."""
    sim._ready = None
    sim.step(nstep)


def quickly(sim: Simulation, nstep: Any = 1) -> None:
    """A step by the usual way, which is by now kept ready."""
    assert sim._ready is not None
    sim.step(nstep)


def told(act: Callable[[], None]) -> list[str]:
    """Warnings and the error, if there is one, of an action."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act()
        except Exception as error:
            return [*(str(w.message) for w in caught), f"{type(error).__name__}: {error}"]
    return [str(w.message) for w in caught]


def contacts(sim: Simulation) -> list[Any]:
    """What kernels put into Data besides the state, if it is kept."""
    if "ncon" not in sim.data:
        return []
    fields = ("contact.dist", "contact.geom", "contact.frame", "contact.friction")
    return [np.array(sim.data.field(name))[: sim.data.ncon].tolist() for name in fields]


def assert_alike(
    edit: Callable[[Simulation], None], nstep: Any = 1, after_it: int = 2, **settings: Any
) -> tuple[Simulation, list[str]]:
    """What is edited between steps acts, or is refused, as it does for who keeps nothing ready."""
    quick, slow = small(**settings), small(**settings)
    for _ in range(2):
        quick.step()
        slowly(slow)
    said = []
    for sim, step in ((quick, quickly), (slow, slowly)):
        edit(sim)
        said.append(told(lambda sim=sim, step=step: step(sim, nstep)))  # type: ignore[misc]
    assert said[0] == said[1]
    assert bits(quick) == bits(slow)
    assert contacts(quick) == contacts(slow)
    if not any("Error" in text for text in said[0]):
        for _ in range(after_it):
            assert told(quick.step) == told(lambda: slowly(slow))
        assert bits(quick) == bits(slow)
        assert contacts(quick) == contacts(slow)
    return quick, said[0]


def test_a_step_that_is_kept_ready_looks_at_nothing_else(
    settings: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the tests below would compare the slow way with itself."""
    sim = small(**settings)
    sim.step()
    monkeypatch.setattr(Plan, "step", None)
    monkeypatch.setattr(Simulation, "_current_plan", None)
    for _ in range(3):
        sim.step()
    sim.step(2)
    assert float(np.max(sim.data.time)) == pytest.approx(6 * 0.004)


def test_ten_steps_are_ten_times_one(settings: Mapping[str, Any]) -> None:
    one, ten, slow = (small(**settings) for _ in range(3))
    one.step()
    ten.step()
    for _ in range(30):
        one.step()
    for _ in range(3):
        ten.step(10)
    for _ in range(31):
        slowly(slow)
    assert bits(one) == bits(ten) == bits(slow)


def test_a_step_of_a_model_and_data_of_ones_own_is_kept_ready_too() -> None:
    model = dovetail.loads(SMALL)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOVETAIL_BACKEND", "native")
        data = dovetail.make_data(model)
        data.qvel[:] = 0.3
        twin = dovetail.make_data(model)
        twin.qvel[:] = 0.3
        for number in range(6):
            if number == 4:
                model.opt.gravity[2] = -2.0
            dovetail.step(model, data)
            plan_for(model, twin).step(twin)
    assert np.asarray(data.qpos).tobytes() == np.asarray(twin.qpos).tobytes()
    assert "native" in {slot.record.backend for slot in plan_for(model, data).slots}


def _set(path: str, value: Any, place: Any = ...) -> Callable[[Simulation], None]:
    def edit(sim: Simulation) -> None:
        group, _, name = path.rpartition(".")
        target = sim.model.opt if group == "opt" else sim.model
        if np.ndim(getattr(target, name)):
            getattr(target, name)[place] = value
        else:
            setattr(target, name, value)

    return edit


VALUES = {
    "gravity": _set("opt.gravity", -3.0, 2),
    "timestep": _set("opt.timestep", 0.002),
    "mass": _set("body_mass", 2.5, 1),
    "friction": _set("geom_friction", 0.1),
    "size": _set("geom_size", 0.097, (1, 0)),
    "damping": _set("dof_damping", 0.7, -1),
    "range": _set("jnt_range", -0.1, (2, 1)),
    "gain": _set("actuator_gainprm", 9.0, (0, 0)),
    "equality": _set("eq_data", 0.3, (0, 0)),
    "margin": _set("geom_margin", 0.05, 1),
}


@pytest.mark.parametrize("edit", VALUES)
def test_an_edited_value_acts(edit: str, settings: Mapping[str, Any]) -> None:
    edited, said = assert_alike(VALUES[edit], **settings)
    unedited = small(**settings)
    for _ in range(5):
        unedited.step()
    assert said == []
    assert bits(edited) != bits(unedited)


STRUCTURE = {
    "cone": _set("opt.cone", 1),
    "integrator": _set("opt.integrator", 3),
    "flags": _set("opt.disableflags", 1 << 3),
    "energy": _set("opt.enableflags", 2),
    "condim": _set("geom_condim", 6, 1),
}


@pytest.mark.parametrize("edit", STRUCTURE)
@pytest.mark.parametrize("worlds", [{}, {"nworld": 3, "threads": 2}], ids=["one world", "batch"])
def test_an_edited_structure_acts(edit: str, worlds: Mapping[str, Any]) -> None:
    """Another plan or another kernel is made, as if nothing had been kept."""
    _, said = assert_alike(STRUCTURE[edit], **worlds)
    assert said == []


INDICES = {
    "jnt_qposadr": _set("jnt_qposadr", 1000, 0),
    "dof_parentid": _set("dof_parentid", 77, 3),
    "geom_bodyid": _set("geom_bodyid", -5, 1),
    "actuator_trnid": _set("actuator_trnid", 50, (0, 0)),
    "eq_obj1id": _set("eq_obj1id", 12345, 0),
    "body_jntadr": _set("body_jntadr", 2**30, 2),
    "M_rowadr": _set("M_rowadr", -1, 2),
}


@pytest.mark.parametrize("edit", INDICES)
def test_an_index_out_of_range_is_refused(edit: str, settings: Mapping[str, Any]) -> None:
    _, said = assert_alike(INDICES[edit], **settings)
    assert said
    assert said[-1].startswith("ValidationError"), said


def test_a_mended_index_is_taken(settings: Mapping[str, Any]) -> None:
    def there_and_back(sim: Simulation) -> None:
        before = int(sim.model.jnt_qposadr[1])
        sim.model.jnt_qposadr[1] = 99
        assert told(sim.step) != []
        sim.model.jnt_qposadr[1] = before

    quick, slow = small(**settings), small(**settings)
    for sim in (quick, slow):
        sim.step()
        sim.step()
        there_and_back(sim)
    for _ in range(3):
        quick.step()
        slowly(slow)
    assert bits(quick) == bits(slow)


@pytest.mark.parametrize("nstep", [1.5, 2.0, "3", -1, None, True, 0, np.int64(3), [1], 10**30, float("nan")])
def test_a_number_of_steps_that_is_none_is_refused_alike(nstep: Any) -> None:
    _, said = assert_alike(lambda sim: None, nstep)
    assert bool(said) == (isinstance(nstep, bool) or nstep not in (0, 3))


def test_more_steps_than_a_launch_takes_are_taken(settings: Mapping[str, Any]) -> None:
    assert_alike(lambda sim: None, 3000, **settings)


# ---- Data


def _field(name: str, place: Any, value: Any) -> Callable[[Simulation], None]:
    def edit(sim: Simulation) -> None:
        sim.data.field(name)[place] = value

    return edit


DATA = {
    "ctrl": _field("ctrl", ..., 0.9),
    "qpos": _field("qpos", (..., 2), 0.15),
    "qfrc_applied": _field("qfrc_applied", (..., 1), 3.0),
    "xfrc_applied": _field("xfrc_applied", (..., 1, 2), 3.0),
    "eq_active": _field("eq_active", ..., 0),
    "reset": lambda sim: sim.reset(),
    "larger": lambda sim: sim.data.reserve(ncon_max=300, nefc_max=500),
    "copied": lambda sim: sim.data.copy_from(sim.data.copy()),
    "replaced": lambda sim: setattr(sim, "data", sim.data.copy()),
    "fresh": lambda sim: setattr(sim, "data", sim.plan.make_data()),
}


@pytest.mark.parametrize("edit", DATA)
def test_edited_data_acts(edit: str, settings: Mapping[str, Any]) -> None:
    edited, said = assert_alike(DATA[edit], **settings)
    assert said == []
    if edit in ("larger", "copied", "replaced"):
        unedited = small(**settings)
        for _ in range(5):
            unedited.step()
        assert bits(edited) == bits(unedited)


def test_eq_active_is_seen_to_change(settings: Mapping[str, Any]) -> None:
    on, off = small(**settings), small(**settings)
    for sim in (on, off):
        sim.step()
        sim.step()
    off.data.eq_active[...] = 0
    for sim in (on, off):
        quickly(sim)
    assert bits(on)["qvel"] != bits(off)["qvel"]


def test_a_run_that_was_loaded_goes_on(settings: Mapping[str, Any], tmp_path: Path) -> None:
    sim = small(**settings)
    sim.step()
    sim.step(3)
    sim.save(tmp_path / "run.npz")
    quickly(sim, 4)
    wanted = bits(sim)
    sim.load(tmp_path / "run.npz")
    quickly(sim, 4)
    assert bits(sim) == wanted


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e20])
def test_broken_controls_are_told_alike(value: float, settings: Mapping[str, Any]) -> None:
    def broken(sim: Simulation) -> None:
        ctrl = sim.data.ctrl if sim.nworld is None else sim.data.ctrl[2]
        ctrl[1] = value

    _, said = assert_alike(broken, **settings)
    assert len(said) == 1
    assert "ctrl" in said[0]


@pytest.mark.parametrize("policy", ["reset", "freeze", "raise"])
@pytest.mark.parametrize("field", ["qpos", "qvel", "qfrc_applied"])
def test_a_state_that_goes_bad_is_told_and_handled_alike(
    field: str, policy: str, settings: Mapping[str, Any]
) -> None:
    def spoil(sim: Simulation) -> None:
        values = sim.data.field(field)
        (values if sim.nworld is None else values[3])[0] = np.nan

    _, said = assert_alike(spoil, on_nan=policy, **settings)
    assert said
    assert any("Error" in text for text in said) == (policy == "raise")


# ---- lists that outgrow their room


def falling() -> Model:
    """Four spheres that fall on the floor one after the other."""
    bodies = "".join(
        f'<body pos="{0.25 * n} 0 {0.103 + 0.001 * n}"><freejoint/><geom size="0.1"/></body>'
        for n in range(4)
    )
    floor = '<geom type="plane" size="9 9 1"/>'
    return dovetail.loads(f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>")


CONTACTS = ("ncon", "contact.dist", "contact.geom")


@pytest.mark.parametrize("worlds", [{}, {"nworld": 3, "lanes": 1, "threads": 2}], ids=["one world", "batch"])
@pytest.mark.parametrize("tight", ["kernel", "data"])
def test_no_contact_is_lost_where_there_was_no_room(
    worlds: Mapping[str, Any], tight: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel with room for two contacts is compiled anew; Data without room for any is enlarged."""
    settings = {"backend": "native", "keep": CONTACTS, **worlds}
    roomy = Simulation(falling(), **settings)
    roomy.data.reserve(ncon_max=64)
    if tight == "kernel":
        monkeypatch.setattr(contacts_lanes, "LEAST_ROOM", 2)
        monkeypatch.setattr(contacts_lanes, "ROOM_PER_GEOM", 0)
    quick, slow = Simulation(falling(), **settings), Simulation(falling(), **settings)
    seen = []
    for sim in (roomy, quick, slow):
        sim.step()
    for _ in range(24):
        quickly(roomy)
        quickly(quick)
        slowly(slow)
        seen.append(int(np.max(quick.data.ncon)))
        assert int(np.max(roomy.data.ncon)) == seen[-1]
    assert (seen[0], seen[-1]) == (0, 4)
    assert bits(roomy) == bits(quick) == bits(slow)
    for ours, theirs in zip(quick.data.worlds(), roomy.data.worlds(), strict=True):
        for name in CONTACTS[1:]:
            assert np.array_equal(ours.field(name)[:4], theirs.field(name)[:4]), name


@pytest.mark.parametrize("way", ["method", "function"])
def test_after_a_reset_all_is_as_at_first(way: str) -> None:
    """A step that is kept ready does not write constants again: after a reset, which takes them away, it is not
    used."""
    fresh, sim = (Simulation(dovetail.loads(SMALL), backend="native", keep="all") for _ in range(2))
    for _ in range(3):
        sim.step()
    if way == "method":
        sim.reset()
    else:
        dovetail.reset(sim.model, sim.data)
    for each in (fresh, sim):
        each.step()
    for name in ("qpos", "moment_rownnz", "moment_colind", "actuator_moment", "xpos", "qM"):
        assert np.asarray(fresh.data.field(name)).any(), name
        assert np.array_equal(sim.data.field(name), fresh.data.field(name)), name
