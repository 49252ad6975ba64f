"""The minimiser: what is left is small, loads, and still shows it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest

import dovetail
from dovetail.compare.minimise import minimise, still_shows
from dovetail.compare.shows import (
    DIED,
    Answers,
    Crashes,
    Differs,
    DiffersFromMujoco,
    GoesBad,
    InProcess,
    Trial,
)
from dovetail.compare.shrink import rounded
from dovetail.errors import ArgumentError, DovetailError
from dovetail.implementation import Implementation
from dovetail.plugins.kinematics import tree_numpy
from dovetail.registry import Registry, build_registry

BALL = 1


def wrong_for_balls(model: Any, data: Any) -> None:
    """The reference, but bodies with a ball joint are a little off where they move."""
    tree_numpy.kinematics(model, data)
    for joint in np.flatnonzero(np.asarray(model.jnt_type) == BALL):
        data.xpos[model.jnt_bodyid[joint], 0] += 1e-3


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    module = ModuleType("wrong_kinematics")
    module.kinematics = wrong_for_balls  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wrong_kinematics", module)
    registry = build_registry(third_party=False)
    registry.add(
        Implementation(
            stage="kinematics",
            name="wrong",
            backend="numpy",
            target="wrong_kinematics:kinematics",
            summary="Wrong for ball joints",
        )
    )
    monkeypatch.setattr("dovetail.registry._cached", ("", registry))
    monkeypatch.delenv("DOVETAIL_DISABLED_PLUGINS", raising=False)
    return registry


def generated(count: int, seed: int = 0) -> str:
    """A random tree of bodies, one of them, deep in it, with a ball joint; actuators and sensors refer to joints."""
    random = Random(seed)
    children: dict[int, list[int]] = {}
    for number in range(1, count):
        children.setdefault(random.randrange(number), []).append(number)
    ball = count - 1

    def body(n: int) -> str:
        joint = (
            '<joint name="j{0}" type="ball"/>'
            if n == ball
            else '<joint name="j{0}" axis="0 1 0" damping=".1"/>'
        )
        inner = "".join(map(body, children.get(n, ())))
        place = f"{random.uniform(-1, 1):.5f} {random.uniform(-1, 1):.5f} 0.3"
        return f'<body name="b{n}" pos="{place}">{joint.format(n)}<geom size=".05"/>{inner}</body>'

    hinges = [n for n in range(count) if n != ball]
    motors = "".join(f'<motor joint="j{n}"/>' for n in hinges)
    sensors = "".join(f'<jointpos joint="j{n}"/>' for n in hinges[::3])
    return (
        '<mujoco><option><flag contact="disable"/></option>'
        f"<worldbody>{body(0)}</worldbody><actuator>{motors}</actuator><sensor>{sensors}</sensor></mujoco>"
    )


WRONG = Differs(stage="kinematics", a="tree@numpy", b="wrong@numpy")


@pytest.mark.by_default("12")
@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("count", [12, 60])
def test_a_planted_fault_is_left_with_three_bodies_at_most(count: int, tmp_path: Path) -> None:
    smallest = minimise(generated(count), WRONG, seed=3)
    assert smallest.bodies_before == count
    assert smallest.bodies <= 3
    assert smallest.complete
    assert b'type="ball"' in smallest.text
    assert b"motor" not in smallest.text
    path = smallest.save(tmp_path)
    assert dovetail.load(path).nbody <= 4
    assert "wrong@numpy differs from tree@numpy" in (tmp_path / "README.txt").read_text()
    assert f'still_shows("model.xml", "state.npz", {WRONG!r})' in (tmp_path / "README.txt").read_text()
    assert still_shows(path, tmp_path / "state.npz", WRONG)
    assert not still_shows(path, tmp_path / "state.npz", attrs.evolve(WRONG, b="tree@numpy"))


def _no_state() -> Any:
    from dovetail.compare.carried import Carried

    return Carried({})


WILD = """
<mujoco><option timestep="0.1" gravity="0 0 0"><flag constraint="disable" eulerdamp="disable"/></option>
  <worldbody>
    <body><joint name="c" type="slide"/><geom size=".1"/></body>
    <body pos="1.23456 0 0"><joint name="w" type="slide" damping="-2000"/><geom size=".01"/></body>
    <body pos="2 0 0"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <actuator><motor joint="c"/></actuator>
  <keyframe><key name="go" qpos=".5 .1  2 0 0 1 0 0 0" qvel=".3 1 0 0 0 0 0 0"/></keyframe>
</mujoco>
"""


def test_a_bad_state_is_left_with_one_body() -> None:
    smallest = minimise(WILD, GoesBad(steps=30), keyframe="go")
    assert smallest.bodies == 1
    assert b"damping" in smallest.text
    assert GoesBad(steps=30).shows(Trial(smallest.text, {}, _no_state()))


def moves_fast(trial: Trial) -> bool:
    """Whether the joint w is there and has a speed."""
    model = trial.model_or_none()
    if model is None or "w" not in model.object_names["joint"]:
        return False
    data = dovetail.make_data(model)
    trial.state.put(data)
    return float(data.qvel[model.jnt_dofadr[model.object_names["joint"].index("w")]]) > 0.8


def test_the_state_follows_names_and_becomes_a_keyframe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asked_here", sys.modules[__name__])
    smallest = minimise(
        WILD.replace(".3 1 0", ".3 0.987654 0"), Answers(target="asked_here:moves_fast"), keyframe="go"
    )
    assert smallest.bodies == 1
    assert smallest.state["qvel"].tolist() == [1.0]
    assert smallest.state["qpos"].tolist() == [0.0]
    assert smallest.keyframe
    assert dovetail.loads(smallest.text).key_qvel.tolist() == [[1.0]]


def test_what_does_not_show_is_refused() -> None:
    with pytest.raises(DovetailError, match=r"does not show it \(the state goes bad within 3 steps"):
        minimise(WILD, GoesBad(steps=3))
    with pytest.raises(ArgumentError, match="one of state, keyframe and seed"):
        minimise(WILD, GoesBad(steps=3), seed=1, keyframe=0)


def test_an_exception_is_looked_for_by_its_type() -> None:
    smallest = minimise(WILD.replace('joint="c"', 'joint="nobody"'), Crashes(kind="MJCFError"))
    assert smallest.bodies == 0


def test_the_budget_ends_it() -> None:
    smallest = minimise(WILD, GoesBad(steps=30), keyframe="go", trials=2)
    assert not smallest.complete
    assert "stopped by its budget" in smallest.headline()


def test_agreement_with_mujoco_is_nothing_to_minimise() -> None:
    pytest.importorskip("mujoco")
    with pytest.raises(DovetailError, match="differs from MuJoCo's"):
        minimise(WILD, DiffersFromMujoco(), seed=0)


def dies_of_free_joints(trial: Trial) -> bool:
    """As a compiled extension might."""
    if b"freejoint" in trial.text:
        os._exit(3)
    return False


def test_a_process_that_dies_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    asked = InProcess(_Dying())
    try:
        assert asked.shows(Trial(b"<freejoint/>", {}, _no_state()))
        assert not asked.shows(Trial(b"<joint/>", {}, _no_state()))
    finally:
        asked.close()


class _Dying(Answers):
    kind = DIED

    def __init__(self) -> None:
        super().__init__(target="test_minimise:dies_of_free_joints")


def test_numbers_are_rounded_and_words_are_not() -> None:
    assert rounded("1.23456 -0.5", 2) == "1.2 -0.5"
    assert rounded("sphere", 2) == "sphere"
