"""NaN in a field of the Model: the same warning or reset as in MuJoCo 3.4.0, on the reference and in kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from input_scene import FIELDS, Bench, differing

from dovetail.contracts.types import MODEL_SPECS

pytest.importorskip("mujoco")

NOT_PHYSICS = ("vis.", "stat.", "tex_", "mat_", "cam_", "light_", "skin", "bvh", "oct")

AS_MUJOCO = (
    *(("actuator_gainprm", 0), ("actuator_gainprm", 62), ("actuator_biasprm", 51), ("actuator_dynprm", 30)),
    *(("actuator_gear", 0), ("actuator_ctrlrange", 2), ("actuator_forcerange", 3), ("actuator_actrange", 4)),
    *(("actuator_lengthrange", 12), ("actuator_acc0", 6), ("jnt_actfrcrange", 4), ("tendon_actfrcrange", 0)),
    *(("dof_damping", 0), ("dof_armature", 4), ("dof_solref", 7), ("jnt_stiffness", 1)),
    *(("jnt_range", 2), ("jnt_solimp", 6), ("qpos_spring", 5), ("body_mass", 4), ("body_pos", 12)),
    *(("body_quat", 16), ("body_gravcomp", 3), ("geom_solref", 0), ("geom_solref", 13), ("geom_solmix", 0)),
    *(("geom_friction", 0), ("eq_data", 3), ("eq_solref", 0), ("eq_solimp", 2), ("tendon_stiffness", 0)),
    *(("tendon_damping", 1), ("tendon_armature", 0), ("tendon_lengthspring", 1), ("wrap_prm", 0)),
    *(("site_pos", 0), ("sensor_cutoff", 2), ("opt.timestep", 0), ("opt.gravity", 2), ("opt.density", 0)),
)
"""Numbers of the default suite: a field, and a place in it."""

SWALLOWED = {
    "dof_solimp": "kernels take a friction loss whose row has a weight of NaN as one that is never reached",
    "dof_frictionloss": "line searches take a friction loss that is NaN as one that is never reached",
    "geom_pos": "a geom that is at no finite place touches nothing, with a warning; in MuJoCo it touches everything",
    "opt.tolerance": "when iterations end that no number ends is left open",
}
"""Fields whose NaN may do otherwise than in MuJoCo, and why."""


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def places(bench: Bench) -> Iterator[tuple[str, int]]:
    """Every real field that both have, and up to 24 places in it."""
    for name, spec in MODEL_SPECS.items():
        if spec.dtype not in ("float64", "float32") or name.startswith(NOT_PHYSICS):
            continue
        owner: Any = bench.mj_model
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is not None and np.size(owner):
            for index in range(0, np.size(owner), max(1, np.size(owner) // 24)):
                yield name, index


def mismatch(bench: Bench, who: str, name: str, index: int) -> list[str]:
    """What is otherwise than in MuJoCo after a step with NaN at a place of a field."""
    before = bench.edit({name: np.nan}, index)
    try:
        theirs, expected = bench.theirs()
        ours, told = bench.ours(who)
    finally:
        bench.edit(before, index)
    found = [f"told of {told}, not {expected}"] if told - {"ctrl"} != expected - {"ctrl"} else []
    if not found and not expected:
        found = differing(theirs, ours, FIELDS[:2] + FIELDS[11:13], None, 1e-8)
    return [f"{who}: {name}[{index}]: {text}" for text in found]


@pytest.mark.parametrize("who", ["numpy", "native"])
def test_nan_in_a_model_field_does_what_it_does_in_mujoco(bench: Bench, who: str) -> None:
    assert [text for name, index in AS_MUJOCO for text in mismatch(bench, who, name, index)] == []


@pytest.mark.slow
@pytest.mark.parametrize("who", ["numpy", "native"])
def test_nan_in_every_model_field_does_or_there_is_a_reason(bench: Bench, who: str) -> None:
    found = [
        text
        for name, index in places(bench)
        if name not in SWALLOWED
        for text in mismatch(bench, who, name, index)
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SWALLOWED)
def test_what_is_said_to_be_swallowed_is(bench: Bench, name: str) -> None:
    """In one place and one way at least."""
    indices = [index for field, index in places(bench) if field == name]
    assert any(mismatch(bench, who, name, index) for index in indices for who in ("numpy", "native"))


def test_a_friction_loss_that_was_nan_leaves_no_row(bench: Bench) -> None:
    """NaN is another value than 0 to a plan, so that going back to 0 is an edit too."""
    rows = []
    for value in (np.nan, 0.0):
        bench.edit({"dof_frictionloss": value}, 6)
        rows.append([int(bench.ours(who)[0].nefc) for who in ("numpy", "native")])
    assert rows[0][0] == rows[0][1] == rows[1][0] + 1
    assert rows[1][0] == rows[1][1]
