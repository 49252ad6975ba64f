"""Forces that the lane solver leaves for later stages: of contacts, equalities and dof rows, beside mujoco's."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_constrained import Worlds, constrained_stages, make_worlds, places_of, set_from, states_in_contact
from lane_program import group
from lane_zoo import zoo

from dovetail.backends.lanes.fuse import LaneStage
from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.contacts.contacts_lanes import pairs_of
from dovetail.plugins.shared.rows.rows_lanes import SOURCES, BodyRows, DofRows, RowTable, bond_table

NWORLD = 5
TOLERANCE = 1e-8
"""Relative to the largest force. Measured: 3e-11."""
CONES = ["pyramidal", pytest.param("elliptic", marks=pytest.mark.slow)]
KINDS = {
    "coupled_joints": mujoco.mjtConstraint.mjCNSTR_EQUALITY,
    "coupled_tendons": mujoco.mjtConstraint.mjCNSTR_EQUALITY,
    "frictionloss_dofs": mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF,
    "frictionloss_tendons": mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON,
    "scalar_limits": mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT,
    "ball_limits": mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT,
    "tendon_limits": mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON,
}


READ = group("contact_list", "body_rows", "dof_rows")


def read_forces(k: Kernel) -> None:
    """A stage after the solver: forces by place of a contact, by equality, by dof row."""
    body_rows, rows, extra = BodyRows(k), DofRows(k), k.data.extra
    with k.loop(0, body_rows.contacts.room) as place:
        extra["test:contact_force"][place] = 0.0
    with k.loop(0, body_rows.contacts.count) as c:
        place = (
            body_rows.contacts.of_pair("first", body_rows.contacts.pair[c])
            + body_rows.contacts.index_in_pair[c]
        )
        extra["test:contact_force"][place] = body_rows.force[body_rows.nequality + c]
    with k.loop(0, body_rows.nequality) as bond:
        extra["test:equality_force"][bond] = body_rows.force[bond]
    with k.loop(0, rows.count) as row:
        extra["test:row_force"][row] = rows.force[row]


@cache
def model(cone: str) -> Any:
    m = zoo(cone, 4 if cone == "elliptic" else 3)
    m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.tolerance = 1e-14
    return m


@cache
def states(cone: str) -> list[Any]:
    found = states_in_contact(model(cone), NWORLD, warmup=10)
    for data in found[::2]:
        data.eq_active[6] = 1
        mujoco.mj_forward(model(cone), data)
    return found


@cache
def worlds(cone: str) -> Worlds:
    added = {
        "test:contact_force": (pairs_of(model(cone)).most_in_all, 6),
        "test:equality_force": (len(bond_table(model(cone)).ids), 6),
        "test:row_force": (sum(len(table.ids) for table in row_tables(cone).values()),),
    }
    reader = LaneStage(stage="sensor", name="test", builder=read_forces, reads=READ, writes=frozenset(added))
    found = make_worlds(model(cone), NWORLD, stages=[*constrained_stages(), reader], keep=added, added=added)
    set_from(found, states(cone))
    found.run()
    return found


def row_tables(cone: str) -> dict[str, RowTable]:
    """Which dof row is which, by source."""
    return {name: make(model(cone)) for name, make in SOURCES.items()}


def close(found: Any, wanted: Any, data: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE * np.abs(data.efc_force).max())


@pytest.mark.parametrize("cone", CONES)
def test_contact_forces_are_mujocos(cone: str) -> None:
    found, acting = worlds(cone), 0
    for world, data in enumerate(states(cone)):
        wanted = np.zeros_like(found["test:contact_force"][world])
        for place, c in places_of(found.pairs, data):
            mujoco.mj_contactForce(model(cone), data, c, wanted[place])
        close(found["test:contact_force"][world], wanted, data)
        acting += np.count_nonzero(wanted[:, 0])
    assert acting > NWORLD


@pytest.mark.parametrize("cone", CONES)
def test_forces_of_connects_and_welds_are_mujocos(cone: str) -> None:
    for world, data in enumerate(states(cone)):
        for bond, equality in enumerate(bond_table(model(cone)).ids.tolist()):
            mine = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == equality)
            wanted = np.zeros(6)
            wanted[: np.count_nonzero(mine)] = data.efc_force[mine]
            close(worlds(cone)["test:equality_force"][world, bond], wanted, data)


def test_forces_of_dof_rows_are_mujocos() -> None:
    """Both sides of a limit are two rows here and at most one there: sums by object are compared."""
    cone = "pyramidal"
    for world, data in enumerate(states(cone)):
        forces = iter(worlds(cone)["test:row_force"][world])
        found: dict[Any, float] = defaultdict(float)
        for source, table in row_tables(cone).items():
            for n in table.ids.tolist():
                found[int(KINDS[source]), n] += next(forces)
        for (kind, n), force in found.items():
            close(force, data.efc_force[(data.efc_type == kind) & (data.efc_id == n)].sum(), data)
        assert len({kind for (kind, _), force in found.items() if force}) >= 2
