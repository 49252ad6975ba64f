"""Flexes against MuJoCo: every model of the catalogue in the start state, random states and states along MuJoCo's own
trajectory, field by field, and free runs.

Tolerances are those of flex_states.TOLERANCES; where GJK and EPA decide, ten times MuJoCo's own change under a nudge
of 1e-14 is allowed, and said. The default run compares every model in five states, and every third runs ten steps
freely; all eleven states and 50 steps of all are slow.
"""

from __future__ import annotations

import copy
from typing import Any

import flex_models
import flex_states
import numpy as np
import pytest
from flex_models import CATALOGUE, EXCEPTIONS
from flex_states import NUDGE, NUDGES, WIDER

import dovetail

mujoco = pytest.importorskip("mujoco")

FREE_STEPS = 50
SHORT = 10
FREE = 1e-6
"""Relative error of positions and velocities after a free run."""


@pytest.mark.parametrize("name", CATALOGUE)
def test_forward_is_mujocos(name: str) -> None:
    compare(name, random=1, along=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", CATALOGUE)
def test_forward_is_mujocos_in_all_states(name: str) -> None:
    compare(name, random=2, along=flex_states.ALONG)


def compare(name: str, **count: int) -> None:
    """Compare in all states; the kinds of contacts that the model is about must have been among them."""
    data = dovetail.make_data(flex_models.ours(name))
    assert_compiled_alike(data.model, flex_models.theirs(name))
    wrong: dict[str, list[str]] = {}
    met: set[str] = set()
    for label, oracle in flex_states.states(name, **count):
        met.update(flex_states.kinds(oracle))
        found = compare_state(name, data, oracle)
        if found:
            wrong[label] = found
    assert not wrong
    assert not flex_states.run(name).warnings, "the model is not stable"
    assert np.isfinite(flex_states.run(name).state).all()
    assert met >= set(CATALOGUE[name].touches), "contacts of this kind were not compared"


SIZES = (
    *("nq", "nv", "nbody", "njnt", "ngeom", "neq", "nbvhdynamic"),
    *("nflex", "nflexvert", "nflexedge", "nflexelem", "nflexnode"),
)


def assert_compiled_alike(ours: Any, theirs: Any) -> None:
    """Sizes and lengths; mjcf/test_flex compares every field."""
    assert {size: getattr(ours, size) for size in SIZES} == {size: getattr(theirs, size) for size in SIZES}
    np.testing.assert_allclose(ours.flexedge_length0, theirs.flexedge_length0, atol=1e-14)


def compare_state(name: str, data: Any, oracle: Any) -> list[str]:
    """What differs in one state."""
    flex_states.inject(data, oracle)
    dovetail.forward(data.model, data)
    theirs = flex_models.theirs(name)
    return flex_states.disagreements(
        flex_states.snapshot_ours(data),
        flex_states.snapshot_theirs(theirs, oracle),
        flex_states.Nudged(theirs, oracle),
        unlike=CATALOGUE[name].unlike,
    )


RUNNING = [name for name, model in CATALOGUE.items() if not model.unlike]


@pytest.mark.parametrize("name", RUNNING[::3])
def test_short_free_run_is_mujocos(name: str) -> None:
    run_free(name, SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNNING)
def test_free_run_is_mujocos(name: str) -> None:
    run_free(name, FREE_STEPS)


def run_free(name: str, steps: int) -> None:
    """From the midst of a model's contacts."""
    theirs = flex_models.theirs(name)
    (_, begin), *_ = flex_states.trajectory(name, 1)
    data = dovetail.make_data(flex_models.ours(name))
    flex_states.inject(data, begin)
    dovetail.step(data.model, data, steps)
    expected = free_run(theirs, begin, steps)
    for field in ("qpos", "qvel"):
        found = flex_states.error(field, np.asarray(data.field(field)), expected[field])
        if found > FREE:
            others = nudged_runs(theirs, begin, steps)
            own = max(flex_states.error(field, other[field], expected[field]) for other in others)
            print(f"{name}: {field} after {steps} steps: error {found:.1e}, MuJoCo's own change {own:.1e}")
            assert found <= WIDER * own


def free_run(model: Any, begin: Any, steps: int) -> dict[str, Any]:
    data = copy.copy(begin)
    for _ in range(steps):
        flex_states.call(mujoco.mj_step, model, data)
    return {"qpos": np.array(data.qpos), "qvel": np.array(data.qvel)}


def nudged_runs(model: Any, begin: Any, steps: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(NUDGES):
        other = copy.copy(begin)
        other.qpos[:] += NUDGE * rng.choice([-1.0, 1.0], model.nq)
        found.append(free_run(model, other, steps))
    return found


def test_exceptions_are_those_of_the_catalogue() -> None:
    assert {name for name, model in CATALOGUE.items() if model.instead or model.unlike} == set(EXCEPTIONS)


@pytest.mark.parametrize("name", [name for name, model in CATALOGUE.items() if model.unlike])
def test_rows_of_interpolated_flexes_take_nodes_at_the_contact(name: str) -> None:
    """Where MuJoCo is not followed: the rows as they follow from the places of the contacts, on both sides alike."""
    model = flex_models.ours(name)
    data = dovetail.make_data(model)
    compared = 0
    for _, oracle in flex_states.states(name, random=1, along=3):
        flex_states.inject(data, oracle)
        dovetail.forward(model, data)
        rows = dovetail.dense_jacobian(model, data)
        for index in np.flatnonzero((data.contact.flex[: data.ncon] >= 0).all(axis=1)):
            place = int(data.contact.efc_address[index])
            normal = rows[place : place + 4].mean(axis=0)  # opposite edges of the pyramid
            first, second = (point_row(model, data, int(index), side) for side in (0, 1))
            expected = data.contact.frame[index, :3] @ (second - first)
            np.testing.assert_allclose(normal, expected, atol=1e-12)
            compared += 1
    assert compared > 10


def point_row(model: Any, data: Any, contact: int, side: int) -> Any:
    """Velocity (3, nv) of the point of a flex element where a contact is; all bodies slide along the world's axes."""
    place, flex = data.contact.pos[contact], int(data.contact.flex[contact, side])
    start = model.flex_elemdataadr[flex] + data.contact.elem[contact, side] * (model.flex_dim[flex] + 1)
    corner = model.flex_vertadr[flex] + model.flex_elem[start : start + model.flex_dim[flex] + 1]
    weight = 1.0 / np.linalg.norm(place - data.flexvert_xpos[corner], axis=1)
    weight /= weight.sum()
    bodies = model.flex_vertbodyid[corner]
    if model.flex_interp[flex]:
        x, y, z = weight @ model.flex_vert0[corner]
        weight = np.array([a * b * c for a in (1 - x, x) for b in (1 - y, y) for c in (1 - z, z)])
        bodies = model.flex_nodebodyid[model.flex_nodeadr[flex] :][:8]
        bodies, weight = bodies[weight >= 1e-5], weight[weight >= 1e-5]
    row = np.zeros((3, model.nv))
    for body, share in zip(bodies, weight, strict=True):
        row[:, model.body_dofadr[body] : model.body_dofadr[body] + 3] += share * np.eye(3)
    return row


# ---- lists of contacts along whole trajectories

FALLING = {
    "cloth on a ball": flex_models.scene(
        flex_models.sheet(
            flex_models.SHEET, flex_models.NO_SELF, count="5 5 1", more='pos="0 0 .02" euler="2 3 5"'
        ),
        flex_models.GEOMS["sphere"],
    ),
    "rope on a capsule": flex_models.scene(
        flex_models.rope(flex_models.SPRINGS, count=8, more='pos="0 0 .03" euler="2 3 5"'),
        flex_models.GEOMS["capsule"],
    ),
    "soft box on a plane": flex_models.scene(
        flex_models.block(
            flex_models.SOLID, flex_models.NO_SELF, count="3 3 3", more='pos="0 0 .09" euler="2 3 5"'
        ),
        flex_models.FLOOR,
    ),
    "soft box on a box": flex_models.scene(
        flex_models.block(
            flex_models.SOLID, flex_models.NO_SELF, count="3 3 2", more='pos="0 0 .05" euler="2 3 5"'
        ),
        flex_models.GEOMS["box"],
    ),
}


@pytest.mark.parametrize("name", FALLING)
def test_contact_counts(name: str) -> None:
    """At every one of 200 injected states, the same contacts in the same order."""
    theirs = mujoco.MjModel.from_xml_string(FALLING[name])
    model = dovetail.loads(FALLING[name])
    oracle, data = mujoco.MjData(theirs), dovetail.make_data(model)
    wrong, touched = {}, 0
    for step in range(flex_states.STEPS):
        mujoco.mj_forward(theirs, oracle)
        flex_states.inject(data, oracle)
        dovetail.forward(model, data)
        ours, expected = (
            np.hstack([np.array(getattr(side.contact, field))[: side.ncon] for field in flex_states.IDS])
            for side in (data, oracle)
        )
        if not np.array_equal(ours, expected):
            wrong[step] = f"{len(ours)} instead of {len(expected)}"
        touched += bool(oracle.ncon)
        mujoco.mj_step(theirs, oracle)
    assert not wrong
    assert touched > flex_states.STEPS // 2
