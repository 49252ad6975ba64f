"""How candidates with a flex reach their rows: all of a kind at once, replaceable one by one, missed if not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from flex_oracle import Scene, difference, ids, parts  # noqa: E402
from flex_scenes import crowd, on_geom  # noqa: E402

import dovetail  # noqa: E402
from dovetail.contracts.pairs import FlexContacts, FlexPairs  # noqa: E402
from dovetail.errors import MissingStageError  # noqa: E402
from dovetail.plugins.narrowphase.convex_numpy import narrowphase  # noqa: E402
from dovetail.plugins.narrowphase.triangle_numpy import narrowphase as triangle_narrowphase  # noqa: E402

BALL = on_geom("sphere", 2)


def test_a_row_gets_all_pairs_of_its_kind_with_their_margins() -> None:
    scene = Scene(on_geom("sphere", 2, margin=0.02, contact='margin=".005"'))
    scene.throw(0)
    calls: list[tuple[FlexPairs, Any]] = []
    row = parts()["collide_flex"]["sphere-triangle"]

    def watched(model: Any, data: Any, pairs: FlexPairs, margin: Any) -> FlexContacts:
        calls.append((pairs, margin))
        return row(model, data, pairs, margin)

    data = scene.ours(**{"sphere-triangle": watched})
    assert len(calls) == 1
    pairs, margin = calls[0]
    assert len(pairs.geom) == int(data.ncandidate)
    assert np.array_equal(margin, np.full(len(margin), 0.02))
    assert max(difference(scene, data).values()) < 1e-13


def test_several_contacts_of_a_pair_keep_their_order() -> None:
    scene = Scene(BALL)
    scene.throw(0)

    def thrice(model: Any, data: Any, pairs: FlexPairs, margin: Any) -> FlexContacts:
        pair = np.repeat(np.arange(len(pairs.geom)), 3)
        height = np.arange(len(pair), dtype=float)
        up = np.tile([0.0, 0.0, 1.0], (len(pair), 1))
        return FlexContacts(pair, height, up * height[:, None], up, 0 * up)

    data = scene.ours(**{"sphere-triangle": thrice})
    assert data.contact.dist[: data.ncon].tolist() == list(range(3 * int(data.ncandidate)))
    assert data.contact_candidate[: data.ncon].tolist() == np.repeat(range(int(data.ncandidate)), 3).tolist()


def test_a_missing_row_is_an_error_that_names_it() -> None:
    scene = Scene(BALL)
    scene.throw(0)
    data = scene.ours()
    rows = parts()
    del rows["collide_flex"]["sphere-triangle"]
    with pytest.raises(MissingStageError, match=r"geom 0 and flex 0 may touch.*no row 'sphere-triangle'"):
        narrowphase(scene.model, data, rows)


def test_the_triangle_narrowphase_knows_flexes_too() -> None:
    scene = Scene(BALL)
    scene.throw(0)
    data = scene.ours()
    wanted = ids(data.contact, int(data.ncon))
    triangle_narrowphase(scene.model, data, parts())
    assert ids(data.contact, int(data.ncon)) == wanted
    assert max(difference(scene, data).values()) < 1e-13


def test_a_function_replaces_sphere_triangle_alone() -> None:
    """As a third party would: of all rows one, for a whole simulation."""
    model = dovetail.loads(crowd())
    usual = dovetail.Simulation(model)
    usual.forward()

    def nothing(model: Any, data: Any, pairs: FlexPairs, margin: Any) -> FlexContacts:
        """No contacts."""
        return FlexContacts(np.zeros(0, int), np.zeros(0), *[np.zeros((0, 3))] * 3)

    other = dovetail.Simulation(model, stages={"collide_flex:sphere-triangle": nothing})
    other.forward()
    contacts = [np.array(ids(sim.data.contact, int(sim.data.ncon))) for sim in (usual, other)]
    geom, flex = contacts[0][:, 0], contacts[0][:, 3]
    spheres = (geom >= 0) & (model.geom_type[geom] == 2) & (flex >= 0) & (model.flex_dim[flex] == 2)
    assert spheres.any()
    assert np.array_equal(contacts[0][~spheres], contacts[1])
