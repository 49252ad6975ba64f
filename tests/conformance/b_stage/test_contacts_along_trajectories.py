"""Contacts of every Gymnasium and dm_control model along a trajectory of MuJoCo's: count, order, parameters, shape.

MuJoCo's state is injected before each comparison, so nothing drifts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import robots

import dovetail
from dovetail.contracts.enums import GeomType

mujoco = pytest.importorskip("mujoco")

EXACT = ("geom", "flex", "elem", "vert", "dim", "exclude")
PARAMETERS = ("friction", "solref", "solreffriction", "solimp", "includemargin")
CURVED = {GeomType.ELLIPSOID, GeomType.CYLINDER}
"""Shapes whose contacts with others MuJoCo finds by iteration, to its own tolerance only."""


def curved(model: Any, contact: int, geoms: Any) -> bool:
    """Whether a contact comes from MuJoCo's iterative collider and meets a curved surface."""
    kinds = {GeomType(int(model.geom_type[g])) for g in geoms}
    return bool(kinds & CURVED) and GeomType.PLANE not in kinds and GeomType.SPHERE not in kinds


def assert_same_contacts(model: Any, ours: Any, theirs: Any) -> None:
    """Count, order and parameters equal; shape to 1e-8, or to MuJoCo's own tolerance for curved convex pairs."""
    count = theirs.ncon
    assert ours.ncon == count
    for field in EXACT:
        assert np.array_equal(getattr(ours.contact, field)[:count], getattr(theirs.contact, field)), field
    for field in PARAMETERS:
        np.testing.assert_allclose(
            getattr(ours.contact, field)[:count], getattr(theirs.contact, field), rtol=1e-12, atol=1e-14
        )
    for index in range(count):
        loose = curved(model, index, theirs.contact.geom[index])
        dist, frame = (1e-5, 1e-3) if loose else (1e-8, 1e-8)
        assert abs(ours.contact.dist[index] - theirs.contact.dist[index]) < dist
        np.testing.assert_allclose(ours.contact.frame[index][:3], theirs.contact.frame[index][:3], atol=frame)
        if not loose:
            np.testing.assert_allclose(ours.contact.pos[index], theirs.contact.pos[index], atol=1e-8)
            np.testing.assert_allclose(ours.contact.frame[index], theirs.contact.frame[index], atol=1e-8)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "suite/dog" else ()) for name in robots.FILES],
)
def test_contacts_are_mujocos(name: str) -> None:
    run(name, steps=200, every=10)


@pytest.mark.slow
@pytest.mark.parametrize("name", robots.FILES)
def test_contacts_are_mujocos_at_every_step(name: str) -> None:
    run(name, steps=200, every=1)


def run(name: str, steps: int, every: int) -> None:
    model, oracle_model = robots.ours(name), robots.theirs(name)
    data = dovetail.make_data(model)
    for oracle in robots.trajectory(oracle_model, steps, every=every):
        mujoco.mj_forward(oracle_model, oracle)
        robots.inject(data, oracle)
        dovetail.forward(model, data)
        assert_same_contacts(model, data, oracle)
