"""Ctrl-C and threads: steps stop at the end of a step, calls from several threads do not disturb each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import interrupts
from dovetail.interrupts import Pace


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """SIGINT as in a terminal: processes that a script starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def moving(nworld: int | None = None, **said: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation("pendulum", nworld, **{"backend": "numpy", **said})
    sim.data.qvel[:] = 0.3
    return sim


def steps_of(sim: dovetail.Simulation) -> np.ndarray:
    """How many steps each world has taken."""
    return np.round(np.atleast_1d(np.asarray(sim.data.time)) / sim.model.opt.timestep).astype(int)


class KickAfter:
    """A wrapper that interrupts the process in the middle of a step."""

    name = "kick"

    def __init__(self, times: int) -> None:
        self.left = times

    def wants(self, label: str) -> bool:
        return label == "bias_force"

    def wrap(self, slot: Any, call: Callable[..., None]) -> Callable[..., None]:
        def kicked(data: Any) -> None:
            self.left -= 1
            if not self.left:
                signal.raise_signal(signal.SIGINT)
            call(data)

        return kicked


def state(sim: dovetail.Simulation) -> dict[str, bytes]:
    return {name: np.asarray(sim.data.field(name)).tobytes() for name in ("qpos", "qvel", "time")}


@pytest.mark.parametrize("nworld", [None, 3])
def test_an_interrupt_stops_at_the_end_of_a_step(nworld: int | None) -> None:
    sim = moving(nworld, wrap=[KickAfter(8)])
    with pytest.raises(KeyboardInterrupt):
        sim.step(20_000)
    taken = steps_of(sim)
    assert len(set(taken.tolist())) == 1
    assert 0 < taken[0] < 20
    twin = moving(nworld)
    twin.step(int(taken[0]))
    assert state(sim) == state(twin)
    sim.step(2)
    twin.step(2)
    assert state(sim) == state(twin)


def test_inside_a_launch_of_many_steps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = moving()
    runner = sim.plan.execution.runners()[0]
    whole = runner._step

    def kicked(data: Any, number: Any) -> None:
        whole(data, number)
        if steps_of(sim)[0] == 7:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(runner, "_step", kicked)
    with pytest.raises(KeyboardInterrupt):
        sim.step(20_000)
    assert 7 <= steps_of(sim)[0] < 1000


def test_the_second_interrupt_does_not_wait() -> None:
    reached = []

    def twice() -> None:
        with interrupts.held_back():
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                reached.append(interrupts.wanted())

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert reached == [True]
    assert not interrupts.wanted()


def test_the_callers_own_handler_is_called_and_stays() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(steps_of(sim)[0]))
    try:
        sim = moving(wrap=[KickAfter(3)])
        sim.step(50)
        assert len(seen) == 1
        assert seen[0] == steps_of(sim)[0] < 50
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)


def test_slices_make_the_whole_and_grow_as_they_are_quick() -> None:
    pace = Pace()
    assert sum(pace.slices(1000)) == 1000
    assert next(iter(Pace().slices(3))) == 1
    assert list(Pace().slices(0)) == []


def test_results_do_not_depend_on_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, twin = moving(5, backend=LANES), moving(5, backend=LANES)
    sim.step(200)
    monkeypatch.setattr(interrupts, "SLICE", 0.0)  # one step per launch
    twin.step(200)
    assert state(sim) == state(twin)


def test_a_world_that_goes_bad_is_told_once_however_a_call_is_sliced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interrupts, "SLICE", 0.0)
    for policy, count in (("reset", 1), ("freeze", 1)):
        sim = moving(3, on_nan=policy, backend=LANES)
        sim.data.qfrc_applied[1, 0] = np.nan
        with pytest.warns(dovetail.bad_states.StateWarning) as caught:
            sim.step(6)
        assert len(caught) == count
        assert "times in this call" not in str(caught[0].message)


LONG = """
import signal, sys, numpy as np, dovetail
signal.signal(signal.SIGINT, signal.default_int_handler)
sim = dovetail.Simulation("pendulum", 512, backend=sys.argv[1])
sim.step(2)
try:
    print("running", flush=True)  # inside: the interrupt may come before the next line
    sim.step(10**6)
except KeyboardInterrupt:
    steps = np.asarray(sim.data.time) / sim.model.opt.timestep
    print("stopped", float(np.abs(steps - np.round(steps)).max()) < 1e-6, int(steps.min()) == int(steps.max()))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_kernel_of_a_million_steps_is_interrupted() -> None:
    child = subprocess.Popen([sys.executable, "-c", LONG, LANES], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        try:
            assert child.communicate(timeout=60)[0] == "stopped True True\n"
        finally:
            child.kill()


def in_threads(work: Callable[[int], None], count: int) -> list[BaseException]:
    """Run work(0), work(1), … at once; what they raise."""
    raised: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as problem:
            raised.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_simulations_of_several_threads_give_their_own_results() -> None:
    expected = moving(4, backend=LANES)
    for _ in range(10):
        expected.step(3)
    found: dict[int, dict[str, bytes]] = {}

    def work(number: int) -> None:
        sim = moving(4, **({"backend": LANES} if number < 3 else {"backend": "numpy"}))
        for _ in range(10):
            sim.step(3)
        found[number] = state(sim)

    assert in_threads(work, 4) == []
    assert [found[number] == state(expected) for number in range(3)] == [True] * 3


def test_one_simulation_stepped_by_two_threads_takes_all_steps() -> None:
    sim = moving()
    assert in_threads(lambda _: [sim.step(5) for _ in range(4)] and None, 2) == []
    assert steps_of(sim).tolist() == [40]


START = """
import threading
from dovetail.backends.taichi.runtime import start
failed = []
def go():
    try:
        start("quadrants")
    except BaseException as problem:
        failed.append(problem)
threads = [threading.Thread(target=go) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("failed", failed)
"""


def test_threads_that_start_the_runtime_together() -> None:
    pytest.importorskip("quadrants")
    done = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "failed []\n", done.stderr[-2000:]
