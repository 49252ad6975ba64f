"""A row of the constraint Jacobian is the derivative of what the row measures, by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dovetail
from dovetail.plugins.com_position.tree_numpy import com_position
from dovetail.plugins.constraint_rows.contact_numpy import contact
from dovetail.plugins.constraint_rows.equality_numpy import equality
from dovetail.plugins.constraint_rows.limit_numpy import limit
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.queries.dense import dense_jacobian
from dovetail.plugins.shared.positions_numpy import move
from dovetail.plugins.tendon.paths_numpy import tendon

STEP = 1e-6
TOLERANCE = 1e-8
"""Central differences lose about STEP² of the third derivative, and 1e-16/STEP to rounding."""

TREE = """
<body name="a" pos="0 0 .3"><freejoint/><geom name="ga" size=".2"/><site name="sa" pos=".1 .2 0" euler="20 30 40"/>
  <body name="b" pos=".2 0 .1" euler="10 20 30"><joint name="h" axis="1 2 3" {limits}/><geom name="gb" size=".2"/>
    <site name="sb" pos="0 .1 .2" euler="5 -30 60"/>
    <body name="c" pos=".1 .2 0"><joint name="ball" type="ball" {ball}/><geom name="gc" size=".2"/>
      <site name="sc" pos=".1 0 .1"/></body></body></body>
<body name="d" pos=".3 .1 .3"><joint name="x" type="slide" axis="1 1 0" {limits}/>
  <joint name="y" axis="0 1 1" {limits}/><geom name="gd" size=".2"/><site name="sd" euler="0 45 0"/></body>
"""


def load(constraints: str, *, joint: str = "", ball: str = "", option: str = "") -> Any:
    body = TREE.format(limits=joint, ball=ball)
    world = f"<worldbody><geom type='plane' size='3 3 1'/>{body}</worldbody>"
    return dovetail.loads(f"<mujoco><option {option}/>{world}{constraints}</mujoco>")


def state_of(model: Any, seed: int = 0) -> Any:
    data = dovetail.make_data(model)
    random = np.random.default_rng(seed)
    move(model, data.qpos, random.normal(size=model.nv) * 0.5, 1.0)
    return data


def position_stages(model: Any, data: Any) -> None:
    for stage in (kinematics, com_position, tendon):
        stage(model, data)


def rows_at(source: Callable[[Any, Any], None], model: Any, data: Any) -> NDArray[Any]:
    position_stages(model, data)
    for count in ("ne", "nf", "nl", "nefc", "nJ"):
        setattr(data, count, 0)
    source(model, data)
    return np.array(data.efc_pos[: data.nefc])


def differences(measure: Callable[[Any], NDArray[Any]], model: Any, data: Any) -> NDArray[Any]:
    """The derivative (n, nv) of what `measure` reads from a Data, with respect to the dofs."""
    columns = []
    for dof in range(model.nv):
        ends = []
        for sign in (1.0, -1.0):
            there = data.copy()
            move(model, there.qpos, np.eye(model.nv)[dof], sign * STEP)
            ends.append(measure(there))
        columns.append((ends[0] - ends[1]) / (2.0 * STEP))
    return np.stack(columns, axis=1)


EQUALITIES = {
    "connect": ('<connect body1="a" body2="d" anchor=".1 .2 .3"/>', 3),
    "connect in one tree": ('<connect body1="b" body2="c" anchor=".1 .2 .3"/>', 3),
    "connect to the world": ('<connect body1="c" anchor=".1 .2 .3"/>', 3),
    "connect of sites": ('<connect site1="sb" site2="sd"/>', 3),
    "weld": (
        '<weld body1="c" body2="d" anchor=".1 0 .2" relpose=".1 .2 .3 .5 .5 -.5 .5" torquescale="1.7"/>',
        6,
    ),
    "weld in one tree": ('<weld body1="c" body2="a"/>', 6),
    "weld of sites": ('<weld site1="sb" site2="sd" torquescale=".4"/>', 6),
    "joint": ('<joint joint1="h" joint2="y" polycoef=".1 .2 .3 .4 .5"/>', 1),
    "one joint": ('<joint joint1="h" polycoef=".1 0 0 0 0"/>', 1),
    "tendon": ('<tendon tendon1="f" tendon2="s" polycoef=".1 .2 .3 .4 .5"/>', 1),
}
TENDONS = """<tendon><fixed name="f" {0}><joint joint="h" coef="1.5"/><joint joint="y" coef="-2"/></fixed>
<spatial name="s" {0}><site site="sa"/><site site="sc"/><site site="sd"/></spatial></tendon>"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("case", EQUALITIES)
def test_rows_of_equalities_are_derivatives(case: str, jacobian: str) -> None:
    xml, count = EQUALITIES[case]
    model = load(f"{TENDONS.format('')}<equality>{xml}</equality>", option=f"jacobian='{jacobian}'")
    data = state_of(model)
    assert len(rows_at(equality, model, data)) == count
    expected = differences(lambda there: rows_at(equality, model, there), model, data)
    np.testing.assert_allclose(dense_jacobian(model, data), expected, atol=TOLERANCE)
    assert np.abs(expected).max() > 0.1


def test_rows_of_limits_are_derivatives() -> None:
    far = "limited='true' range='-.1 .1' margin='10'"
    model = load(TENDONS.format(far), joint=far, ball="limited='true' range='0 .5' margin='10'")
    data = state_of(model)
    assert (
        len(rows_at(limit, model, data)) == 2 * 3 + 1 + 2 * 2
    )  # two sides of joints, one ball, two of tendons
    expected = differences(lambda there: rows_at(limit, model, there), model, data)
    np.testing.assert_allclose(dense_jacobian(model, data), expected, atol=TOLERANCE)


# ---- contacts ---------------------------------------------------------------------------------------------

POINT = np.array([0.1, 0.2, 0.3])
FRICTION = (0.9, 0.8, 0.3, 0.2, 0.1)


def touch(model: Any, data: Any, geoms: tuple[str, str], dim: int) -> None:
    """One contact at POINT in a tilted frame."""
    data.reserve(ncon_max=1)
    data.ncon = 1
    data.contact.geom[0] = [model.geom(name).id for name in geoms]
    data.contact.pos[0], data.contact.frame[0] = POINT, tilted_frame().reshape(-1)
    data.contact.dim[0], data.contact.exclude[0] = dim, 0
    data.contact.dist[0], data.contact.friction[0] = -0.01, FRICTION
    data.contact.solref[0], data.contact.solimp[0] = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)


def tilted_frame() -> NDArray[Any]:
    random = np.random.default_rng(5)
    q, _ = np.linalg.qr(random.normal(size=(3, 3)))
    frame = np.array(q.T)
    frame[2] = np.cross(frame[0], frame[1])
    return frame


def displacement(model: Any, here: Any, there: Any, geoms: tuple[str, str]) -> NDArray[Any]:
    """Motion of the second geom relative to the first in the contact frame, from one Data to another: of the point
    that was at POINT, then the rotation vector (of a small rotation)."""
    motions = []
    for name in geoms:
        geom = model.geom(name).id
        old, new = (np.array(data.geom_xmat[geom]).reshape(3, 3) for data in (here, there))
        turn = new @ old.T
        moved = there.geom_xpos[geom] + turn @ (POINT - here.geom_xpos[geom]) - POINT
        axial = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        motions.append((moved, axial))
    linear, angular = (second - first for first, second in zip(*motions, strict=True))
    return np.concatenate([tilted_frame() @ linear, tilted_frame() @ angular])


def contact_rates(model: Any, data: Any, geoms: tuple[str, str]) -> NDArray[Any]:
    """Rates (6, nv) along normal and tangents, and about them, by finite differences."""

    def measure(there: Any) -> NDArray[Any]:
        position_stages(model, there)
        return displacement(model, data, there, geoms)

    return differences(measure, model, data)


GEOMS = [("ga", "gd"), ("gc", "gd"), ("gc", "ga"), ("gb", "gc")]


@pytest.mark.parametrize("geoms", GEOMS, ids="-".join)
@pytest.mark.parametrize("dim", [1, 3, 4, 6])
def test_rows_of_elliptic_contacts_are_derivatives(dim: int, geoms: tuple[str, str]) -> None:
    """Rows are the normal, two tangents, spin about the normal and roll about the tangents."""
    model = load("", option="cone='elliptic'")
    data = state_of(model)
    position_stages(model, data)
    expected = contact_rates(model, data, geoms)[:dim]
    touch(model, data, geoms, dim)
    rows_at(contact, model, data)
    np.testing.assert_allclose(dense_jacobian(model, data), expected, atol=TOLERANCE)
    assert np.abs(expected).max(axis=1).min() > 0.01


@pytest.mark.parametrize("geoms", GEOMS, ids="-".join)
@pytest.mark.parametrize("dim", [1, 3, 4, 6])
def test_rows_of_pyramidal_contacts_are_derivatives(dim: int, geoms: tuple[str, str]) -> None:
    """Rows are the normal plus and minus friction times each other direction."""
    model = load("", option="cone='pyramidal'")
    data = state_of(model)
    position_stages(model, data)
    rates = contact_rates(model, data, geoms)
    touch(model, data, geoms, dim)
    rows_at(contact, model, data)
    edges = [rates[0] + s * FRICTION[k - 1] * rates[k] for k in range(1, dim) for s in (1, -1)]
    np.testing.assert_allclose(dense_jacobian(model, data), edges or rates[:1], atol=TOLERANCE)
