"""Starts of runs that are compared: near, rest, random, keyframes, saved states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.compare.run_starts import Beginning, all_starts, begin, keyframe_starts
from dovetail.contracts.derive import make_data
from dovetail.errors import SelectionError


def model(keys: str = "") -> dovetail.Model:
    return dovetail.loads(
        '<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody>'
        f'<actuator><motor joint="a"/></actuator><keyframe>{keys}</keyframe></mujoco>'
    )


def keys(count: int) -> str:
    return "".join(f'<key name="k{n}" qpos="{n}"/>' for n in range(count))


def test_all_starts_are_random_near_and_every_keyframe() -> None:
    found = all_starts(model(keys(2)), random=2, near=1, seed=5)
    assert [*map(str, found.beginnings)] == [
        "random (seed 5)",
        "random (seed 6)",
        "near (seed 5)",
        "k0",
        "k1",
    ]
    assert found.left_out == ()


def test_of_many_keyframes_some_are_left_out_by_name() -> None:
    found = all_starts(model(keys(9)), random=0, near=0, keyframes=3)
    assert [b.start for b in found.beginnings] == ["k0", "k4", "k8"]
    assert found.left_out == ("k1", "k2", "k3", "k5", "k6", "k7")
    assert len(all_starts(model(keys(9)), random=0, near=0, keyframes=0).left_out) == 9


def test_keyframes_without_a_name_of_their_own_go_by_number() -> None:
    named = model('<key qpos="1"/><key name="random" qpos="2"/><key name="0" qpos="3"/>')
    assert keyframe_starts(named) == ("#0", "#1", "0")
    for number, start in enumerate(keyframe_starts(named), start=1):
        assert Beginning(start).state(named)["qpos"] == [number]
    assert Beginning("1").state(named)["qpos"] == [2]


def test_states_of_a_beginning_are_those_of_its_seed() -> None:
    one = model(keys(1))
    first, again, other = (Beginning("random", seed).state(one) for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert first["qpos"] != other["qpos"]
    assert Beginning("near").state(one)["ctrl"] != 0.0
    assert Beginning("rest").state(one)["ctrl"] == 0.0


def test_a_saved_state_is_a_start(tmp_path: Path) -> None:
    sim = dovetail.Simulation(model(), backend="numpy")
    sim.data.qpos[:] = 0.75
    sim.save(tmp_path / "state.npz")
    assert Beginning(str(tmp_path / "state.npz")).state(sim.model)["qpos"] == [0.75]


@pytest.mark.parametrize("start", ["k2", "2", "#2", "", "#"])
def test_an_unknown_start_says_which_there_are(start: str) -> None:
    data = make_data(model(keys(2)))
    with pytest.raises(SelectionError, match=r"nor a keyframe.* Keyframes: k0, k1"):
        begin(data, start, 0)
