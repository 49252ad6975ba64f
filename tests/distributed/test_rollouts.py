"""Rollouts on workers: the same bits for any number of them, nothing lost with one but time, and clear errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lane_backend import LANES, lanes_missing

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.distributed import pool, rollout, sweep, worker
from dovetail.distributed.errors import WorkerError
from dovetail.distributed.job import asked
from dovetail.distributed.worker import controls_of
from dovetail.errors import ArgumentError, MissingDependencyError, UnknownFieldError

pytest.importorskip("ray")
pytestmark = pytest.mark.usefixtures("local_ray")

ASKED = {"nworld": 10, "nstep": 30, "block": 3, "checkpoint": 7, "every": 3, "noise": 0.5, "backend": "numpy"}


LOCK = threading.Lock()


def idle(model, data):
    """A force of nothing."""


def steering(data, step, worlds):
    return np.sin(0.3 * step + worlds)[:, None]


def same(a, b) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in {*a, *b})


@pytest.fixture(scope="module")
def undisturbed(local_ray):
    """What the rollout of these tests gives, on one worker."""
    return rollout(dovetail.loads(PENDULUM), steering, workers=1, **ASKED)


PENDULUM = """
<mujoco model="pendulum">
  <worldbody>
    <body name="arm">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="rod" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" gear="0.01"/></actuator>
</mujoco>
"""


@pytest.fixture
def model():
    return dovetail.loads(PENDULUM)


# ---- the same bits


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_gives_the_same_bits(model, undisturbed, workers: int) -> None:
    result = rollout(model, steering, workers=workers, **ASKED)
    assert same(result.arrays(), undisturbed.arrays())
    assert same(result.state(), undisturbed.state())
    assert result.fetch("qpos").shape == (10, 10, 1)
    assert result.restarts == result.repeated_steps == 0


def test_it_is_what_a_simulation_gives(model, undisturbed) -> None:
    sim = dovetail.Simulation(model, nworld=10, backend="numpy")
    sim.data.qvel = [0.5 * np.random.default_rng([0, world]).standard_normal(1) for world in range(10)]
    samples = []
    for step in range(30):
        sim.data.ctrl = steering(sim.data, step, np.arange(10))
        sim.step()
        if (step + 1) % 3 == 0:
            samples.append(np.array(sim.data.qpos))
    assert np.stack(samples, axis=1).tobytes() == undisturbed.fetch("qpos").tobytes()


@pytest.mark.slow
def test_other_blocks_give_the_same_bits(model, undisturbed) -> None:
    assert same(rollout(model, steering, workers=2, **{**ASKED, "block": 4}).arrays(), undisturbed.arrays())


def by_process(data, step, worlds):
    return np.random.default_rng([os.getpid(), step]).standard_normal((len(worlds), 1))


def by_place_in_block(data, step, worlds):
    return steering(data, step, worlds - worlds[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "other"), [(by_process, {"workers": 2}), (by_place_in_block, {"block": 4})]
)
def test_what_depends_on_workers_or_blocks_would_be_noticed(model, fault, other) -> None:
    """The comparison above fails for numbers drawn in the wrong way."""
    one, two = (rollout(model, fault, **{"workers": 1, **ASKED, **more}) for more in ({}, other))
    assert not same(one.arrays(), two.arrays())


def test_tables_of_controls_are_what_a_function_gives(model, undisturbed) -> None:
    table = np.stack([steering(None, step, np.arange(10)) for step in range(30)], axis=1)
    same_asked = {name: value for name, value in ASKED.items() if name != "nworld"}
    assert same(rollout(model, table, workers=2, **same_asked).arrays(), undisturbed.arrays())


@pytest.mark.slow
def test_a_rollout_goes_on_from_the_state_of_another(model) -> None:
    some = {"nworld": 4, "workers": 2, "backend": "numpy", "block": 2}
    whole = rollout(model, nstep=20, noise=0.3, **some)
    half = rollout(model, nstep=10, noise=0.3, **some)
    rest = rollout(model, nstep=10, start=half.state(), **some)
    assert rest.fetch("qpos").tobytes() == np.ascontiguousarray(whole.fetch("qpos")[:, 10:]).tobytes()


@pytest.mark.parametrize("values", [{}, {"geom_friction": 1.5}])
def test_parts_between_checkpoints_are_the_whole(values) -> None:
    """Bit for bit, with contacts, whose solver begins where the last step ended; without Ray in between."""
    model = dovetail.load("humanoid")
    low = np.array(model.qpos0)
    low[2] -= 0.05  # on the ground
    own = {name: np.array([getattr(model, name)] * 2) * factor for name, factor in values.items()}
    wanted = asked(
        model, None, nworld=2, nstep=40, start={"qpos": low}, keyframe=None, noise=0.3, seed=1, values=own,
        record=("qpos", "qacc_warmstart", "time", "ncon"), every=4, block=None, threads=1, summary=None, options={},
    )  # fmt: skip
    found = []
    for bounds in ((0, 40), (0, 7, 22, 40)):
        here, state, parts = worker.RolloutWorker(), None, []
        here.job = wanted.job
        for first, last in pairwise(bounds):
            block = wanted.blocks[0]
            report, *records = here.advance(block, wanted.inputs(block), state, first, last, 4)
            assert report["error"] is None
            state = report["state"]
            parts.append(records)
        found.append([np.concatenate(each, axis=1) for each in zip(*parts, strict=True)])
    assert found[0][3].any()  # contacts
    assert [each.tobytes() for each in found[0]] == [each.tobytes() for each in found[1]]


def test_results_are_references_until_they_are_fetched(local_ray, undisturbed) -> None:
    refs = undisturbed.refs["qvel"]
    assert [len(chunks) for chunks in refs] == [5] * 4
    assert isinstance(refs[0][0], local_ray.ObjectRef)
    assert local_ray.get(refs[3][4]).shape == (1, 1, 1)  # the last world, samples of steps 28 to 30


@pytest.mark.slow
def test_edits_of_the_model_are_sent(model, undisturbed) -> None:
    model.dof_damping[0] = 5.0
    assert not same(rollout(model, steering, workers=1, **ASKED).arrays(), undisturbed.arrays())


# ---- losses


def test_a_killed_worker_costs_its_worlds_since_their_checkpoint(model, undisturbed, tmp_path) -> None:
    once = tmp_path / "killed"

    def deadly(data, step, worlds):
        if step == 17 and worlds[0] == 3 and not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return steering(data, step, worlds)

    result = rollout(model, deadly, workers=2, **ASKED)
    assert once.exists()
    assert same(result.arrays(), undisturbed.arrays())
    assert result.restarts == 1
    assert result.repeated_steps == 7 * 3  # steps 14 to 20 of a block of three


@pytest.mark.slow
def test_what_kills_every_worker_is_an_error(model) -> None:
    def deadly(data, step, worlds):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerError, match=r"worlds 0 to 1, steps 0 to 4: 4 workers were lost with it"):
        rollout(model, deadly, workers=1, nworld=2, nstep=5, backend="numpy")


# ---- sweeps


def test_a_sweep_is_reduced_on_workers(model) -> None:
    damping = np.linspace(0.0, 1.0, 9)[:, None]

    def fastest(records):
        return {"fastest": np.abs(records["qvel"]).max(axis=(1, 2))}

    swept = {"nstep": 40, "record": "qvel", "backend": "numpy", "start": {"qvel": [2.0]}, "checkpoint": 15}
    one, three = (
        sweep(model, {"dof_damping": damping}, summary=fastest, workers=w, block=2, **swept) for w in (1, 3)
    )
    assert one["fastest"].shape == (9,)
    assert same(one.results, three.results)
    assert (np.diff(one["fastest"]) <= 0).all()


def test_a_world_of_a_sweep_is_a_simulation_of_its_model(model) -> None:
    found = sweep(
        model, {"body_mass": np.array([[0.0, 1.0], [0.0, 3.0]])}, nstep=25, backend="numpy", workers=2
    )
    sim = dovetail.Simulation(model, nworld=1, backend="numpy", per_world=("body_mass",))
    sim.per_world["body_mass"][...] = [[0.0, 3.0]]
    sim.set_constants()
    sim.step(25)
    assert found["qpos"][1].tobytes() == np.asarray(sim.data.qpos)[0].tobytes()


def test_a_summary_has_a_row_for_each_point(model) -> None:
    with pytest.raises(
        WorkerError, match=r"summary of worlds 0 to 1: ValueError: 'x' has shape \(\); a summary has"
    ):
        sweep(model, {"dof_damping": [[0.1], [0.2]]}, nstep=2, summary=lambda r: {"x": 1.0}, backend="numpy")


# ---- bad input


def test_a_policy_that_raises_names_worlds_and_step(model) -> None:
    def broken(data, step, worlds):
        if step == 9 and worlds[0] == 6:
            raise KeyError("no such thing")
        return 0.0

    with pytest.raises(
        WorkerError, match=r"worlds 6 to 8, steps 7 to 13: step 9: KeyError: 'no such thing' \(in broken"
    ):
        rollout(model, broken, workers=2, **ASKED)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, "None"),
        (np.zeros((7, 7)), r"an array of shape \(7, 7\)"),
        ([[0.0], [1.0, 2.0], [3.0]], r"\[\[0.0\], \[1.0, 2.0\], \[3.0\]\]"),
        (1j, r"complex128 of shape \(\)"),
        (np.zeros((3, 1), np.complex64), r"complex64 of shape \(3, 1\)"),
        ([[None], [None], [None]], r"\[\[None\], \[None\], \[None\]\]"),
        ([["0.1"]] * 3, r"<U3 of shape \(3, 1\)"),
        (np.zeros(3), r"an array of shape \(3,\)"),
    ],
)
def test_controls_of_a_policy_must_fit(model, returned, text: str) -> None:
    sim = dovetail.Simulation(model, nworld=3, backend="numpy")

    def steer(data, step, worlds):
        return returned

    with pytest.raises(
        ArgumentError, match=rf"policy .*steer returned {text} at step 4; .* of shape \(3, 1\)"
    ):
        controls_of(steer, sim, 4, np.arange(3))


@pytest.mark.parametrize(
    "returned", [0.5, [0.5], [[0.5]] * 3, np.full((3, 1), 0.5, np.float32), np.float64(0.5)]
)
def test_a_policy_may_return_one_number_one_row_or_a_row_for_each_world(model, returned) -> None:
    sim = dovetail.Simulation(model, nworld=3, backend="numpy")
    sim.data.ctrl = controls_of(lambda data, step, worlds: returned, sim, 0, np.arange(3))
    assert np.array_equal(sim.data.ctrl, np.full((3, 1), 0.5))


def test_a_policy_that_returns_nothing_is_named_with_its_worlds_and_step(model) -> None:
    def forgetful(data, step, worlds):
        return None if step == 5 else 0.0

    with pytest.raises(
        WorkerError, match=r"step 5: ArgumentError: the policy .*forgetful returned None at step 5"
    ):
        rollout(model, forgetful, workers=2, **ASKED)


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"workers": 0}, ArgumentError, "workers = 0 should be at least 1, or None for all there are"),
        ({"nworld": None}, ArgumentError, "say how many worlds"),
        (
            {"controls": np.zeros((30, 2))},
            ArgumentError,
            r"controls has shape \(30, 2\).*\(nstep, nu\) = \(30, 1\)",
        ),
        ({"controls": "full speed"}, ArgumentError, "controls = 'full speed' should be numbers"),
        ({"record": ("qpso",)}, UnknownFieldError, "no field 'qpso'; did you mean 'qpos'"),
        ({"record": ("contact.dist",)}, ArgumentError, "has another length in every step"),
        ({"start": {"xpos": [0.0]}}, UnknownFieldError, "'xpos' is no field of the state"),
        (
            {"start": {"qpos": [1.0, 2.0]}},
            ArgumentError,
            r"qpos has shape \(2,\), should be \(1,\), or \(10, 1\)",
        ),
        (
            {"values": {"dof_damping": np.zeros((3, 1))}},
            ArgumentError,
            r"dof_damping has shape \(3, 1\), should be \(10",
        ),
        ({"values": {"jnt_type": np.zeros((10, 1))}}, dovetail.DovetailError, "jnt_type cannot differ"),
        ({"checkpoint": 0}, ArgumentError, "checkpoint = 0 should be at least 1"),
        ({"noise": float("nan")}, ArgumentError, "noise = nan should be a finite number"),
        ({"precison": "f32"}, ArgumentError, "'precison' is neither.*did you mean 'precision'"),
        ({"controls": lambda data, step, worlds: LOCK}, ArgumentError, "cannot be sent to workers"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(model, given, kind, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        rollout(model, **{**ASKED, **given})
    assert isinstance(caught.value, dovetail.DovetailError)


def test_a_field_that_was_not_recorded(undisturbed) -> None:
    with pytest.raises(UnknownFieldError, match=r"'xpos' was not recorded.*Recorded: qpos, qvel"):
        undisturbed.fetch("xpos")


def test_other_implementations_on_a_machine_are_refused() -> None:
    with pytest.raises(
        dovetail.DovetailError, match="integrate would run as rk4@numpy/1 on this machine, and as euler"
    ):
        worker.check_same({"integrate": "euler@numpy/1"}, {"integrate": "rk4@numpy/1"})


def test_without_ray_the_error_names_the_extra(monkeypatch) -> None:
    monkeypatch.setattr("dovetail.distributed.extra.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'dovetail-physics\[distributed\]'"):
        rollout("pendulum", nworld=2, nstep=1)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (
            "127.0.0.1:1",
            r"nothing answers at address = '127.0.0.1:1' \(Connection refused\).*ray start --head",
        ),
        ("nowhere", r"address = 'nowhere' should be host:port of a Ray cluster, or 'auto'"),
        ("ray://127.0.0.1:10001", "should be host:port"),
    ],
)
def test_a_cluster_that_is_not_there(monkeypatch, local_ray, address: str, text: str) -> None:
    monkeypatch.setattr(local_ray, "is_initialized", lambda: False)
    with pytest.raises(dovetail.DovetailError, match=text):
        rollout("pendulum", nworld=2, nstep=1, address=address)


def test_another_address_than_that_of_this_process(local_ray) -> None:
    with pytest.raises(WorkerError, match="this process uses a Ray of this machine alone"):
        rollout("pendulum", nworld=2, nstep=1, address="10.0.0.1:6379")


def test_results_of_a_ray_that_was_shut_down(undisturbed, monkeypatch) -> None:
    monkeypatch.setattr("dovetail.distributed.runtime.session", lambda ray: ("another", "one"))
    for ask in (lambda: undisturbed.fetch("qpos"), undisturbed.state, lambda: undisturbed.refs):
        with pytest.raises(WorkerError, match="was shut down"):
            ask()


def test_a_worker_that_was_restarted_between_two_tasks_says_so() -> None:
    fresh = worker.RolloutWorker()
    assert fresh.advance(None, None, None, 0, 1, 2) == ({"error": pool.FORGOT}, None, None)
    assert fresh.summarise(None) == {"error": pool.FORGOT}


def test_warnings_of_workers_arrive(model) -> None:
    start = {"qvel": np.array([[0.0], [1e300], [0.0]])}
    with pytest.warns(StateWarning, match="worlds 0 to 2"):
        rollout(model, nworld=3, nstep=3, start=start, workers=1, backend="numpy")


# ---- the command


def test_the_command_prints_a_table_and_writes_a_file(tmp_path: Path, capsys, monkeypatch) -> None:
    from dovetail.cli import main

    monkeypatch.setattr("dovetail.distributed.runtime._started", False)  # the Ray of these tests stays
    out = tmp_path / "swing.npz"
    words = ["rollout", "pendulum", "--workers", "2", "--nworld", "40", "--steps", "6", "--backend", "numpy"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--out", str(out), "--every", "2"], prog_name="dovetail")
    printed = capsys.readouterr()
    assert left.value.code == 0, printed.err
    heading, _, row, *_ = printed.out.splitlines()
    assert heading.split()[:3] == ["worlds", "steps", "workers"]
    assert row.split()[:2] == ["40", "6"]
    assert max(len(line) for line in (heading, row)) <= 80
    assert np.load(out)["qpos"].shape == (40, 3, 2)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_workers_and_leaves_no_file(tmp_path: Path) -> None:
    words = [
        "rollout",
        "humanoid",
        "--backend",
        "numpy",
        "--steps",
        "100000",
        "--out",
        "fall.npz",
        "--workers",
        "1",
    ]
    command = [sys.executable, "-m", "dovetail", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(15)  # workers step by now, or are about to
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert out == ""
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(bool(lanes_missing()), reason="no lane backend")
def test_a_choice_that_costs_much_is_told_of(model, monkeypatch) -> None:
    monkeypatch.setattr("dovetail.planning.costs.WORTH_SAYING", 0.0)
    given = {"nworld": 2, "nstep": 4, "workers": 1, "backend": LANES}
    (cost,) = rollout(
        model, stages={"passive_force:wind": dovetail.touches(reads="qvel")(idle)}, **given
    ).costs
    assert "passive_force:wind (your function) runs on NumPy and takes" in cost.text
    assert rollout(model, **given).costs == ()
