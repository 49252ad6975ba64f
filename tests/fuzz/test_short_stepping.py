"""The stepper's half of the fuzzer: a few documents of a fixed seed, and that it notices what it looks for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from . import documents
from .documents import Document
from .judge import AGREEMENT, NO_ORACLE, SEED, StepJudge, wrong
from .known import known
from .stepper_ours import KINDS
from .worker import NUDGES, Answer

pytest.importorskip("mujoco")
pytest.importorskip("dm_control", reason="real models come from dm_control and gymnasium")

RUN_SEED = 17
DOCUMENTS = 40
"""Of the slow run."""

BALL = Document(
    b"""
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .09"><joint type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0" damping=".1"/>
      <geom size=".1"/><site name="skin" size=".12"/></body>
  </worldbody>
  <actuator><motor joint="turn" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <sensor><touch site="skin"/></sensor>
</mujoco>
"""
)


@pytest.fixture(scope="module")
def judge() -> Iterator[StepJudge]:
    with StepJudge() as asked:
        yield asked


@pytest.fixture(scope="module")
def truth(judge: StepJudge) -> Answer:
    """What MuJoCo says about the ball, cut short."""
    theirs = judge.theirs.ask("recorded", str(BALL.write(judge.folder)), SEED, NUDGES)
    return {**theirs, "runs": [run[:3] for run in theirs["runs"]]}


def stepped(judge: StepJudge, theirs: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = judge.native.ask("stepped", str(BALL.write(judge.folder)), theirs, SEED)[
        "findings"
    ]
    return found


def test_contacts_are_met(truth: Answer) -> None:
    assert any(record["after"]["ncon"] for run in truth["runs"] for record in run)


def test_a_small_model_is_stepped_right(judge: StepJudge, truth: Answer) -> None:
    assert stepped(judge, truth) == []


def off_by_little(truth: Answer) -> None:
    truth["runs"][3][1]["after"]["qvel"] += 1e-6


def off_where_mujoco_is_unsure(truth: Answer) -> None:
    off_by_little(truth)
    truth["runs"][3][1]["spread"]["qvel"] = 1e-8


def edited_otherwise(truth: Answer) -> None:
    truth["edits"] = {"opt.gravity": np.array([0.0, 0.0, -5.0])}


def another_state_after_nan(truth: Answer) -> None:
    truth["spoilt"][0]["after"]["qpos"] += 1e-3


@pytest.mark.by_default("off_by_little-kinds0")
@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        (off_by_little, {"native step", "batch step", "numpy step"}),
        (off_where_mujoco_is_unsure, set()),
        (edited_otherwise, {"edit", "edit in a batch"}),
        (another_state_after_nan, {"nan"}),
    ],
)
def test_what_differs_from_mujoco_is_noticed(
    judge: StepJudge, truth: Answer, damage: Callable[[Answer], None], kinds: set[str]
) -> None:
    other = copy.deepcopy(truth)
    damage(other)
    assert {finding["kind"] for finding in stepped(judge, other)} == kinds


@pytest.mark.covering
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize(("stiffness", "compared"), [(1e4, True), (1e12, False)])
def test_what_is_lost_in_forces_that_cancel_is_not_compared(
    judge: StepJudge, jacobian: str, stiffness: float, compared: bool
) -> None:
    """Two limits that hold a joint between them, as hard as they can: the force left is rounding."""
    truth = judge.theirs.ask("recorded", str(squeezed(stiffness, jacobian).write(judge.folder)), SEED, NUDGES)
    spreads = [record["spread"]["qvel"] for run in truth["runs"] for record in run]
    assert np.isfinite(spreads).all() == compared


def squeezed(stiffness: float, jacobian: str) -> Document:
    limit = f'range="-1 1" limited="true" margin="5" solreflimit="-{stiffness} -1"'
    return Document(
        f"""<mujoco><option jacobian="{jacobian}"/><worldbody><body><joint axis="0 1 0" {limit}/>
        <geom size=".1" pos=".2 0 0"/></body></worldbody></mujoco>""".encode()
    )


def test_the_plainest_kind_names_the_class() -> None:
    findings = [
        {"kind": kind, "field": field, "error": 1.0, "where": ""}
        for kind, field in (("edit", "qacc"), ("order", "qvel"), ("native step", "qfrc_bias"))
    ]
    assert wrong(findings).key == ("native step", "qfrc_bias")
    assert wrong([]).kind == "same"
    assert len(set(KINDS)) == len(KINDS)


def test_whole_models_have_bodies_and_files() -> None:
    names = documents.whole_models()
    assert {"dovetail/humanoid.xml", "gymnasium/envs/mujoco/assets/ant.xml"} <= names.keys()
    hands = [name for name in names if name.endswith("hand/reach.xml")]
    for name in hands:  # what it includes includes something itself
        assert b"<include" not in documents.real(name).text


def test_what_does_not_move_is_not_judged(judge: StepJudge) -> None:
    assert judge.at_once(Document(b"<mujoco/>")).kind == "unsuited"
    assert judge.at_once(Document(b"<mujoco><nonsense/></mujoco>")).kind == "both refuse"


@pytest.mark.slow
def test_documents_of_a_fixed_seed_are_stepped_right(judge: StepJudge) -> None:
    unexplained = []
    for number in range(DOCUMENTS):
        document = documents.to_step(RUN_SEED, number)
        verdict = judge.verdict(document)
        if verdict.kind not in AGREEMENT + NO_ORACLE and known(verdict, document) is None:
            unexplained.append((number, document.recipe, verdict))
    assert unexplained == []
