"""Candidates with flexes: the same from both broadphases, none missed, in the order of contacts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from flex_oracle import IDS, Scene, difference, ids  # noqa: E402
from flex_scenes import ALONE, crowd, document, flex, on_geom  # noqa: E402

from dovetail.contracts.pairs import FlexPairs  # noqa: E402
from dovetail.plugins.shared.contacts import candidates_numpy  # noqa: E402
from dovetail.plugins.shared.contacts.flex_candidates_numpy import Boxes, meeting_boxes, overlap  # noqa: E402


def candidates(data: Any) -> list[list[int]]:
    """Geoms, flexes, elements, vertices and explicit pair, a row a candidate."""
    count = int(data.ncandidate)
    columns = [np.asarray(getattr(data, f"candidate_{name}"))[:count] for name in IDS]
    return np.concatenate([*columns, data.candidate_pair[:count, None]], axis=1).tolist()


@pytest.mark.by_default('override="enable"', "")
@pytest.mark.parametrize("flags", ["", 'midphase="disable"', 'override="enable"'])
def test_a_crowd_touches_as_in_mujoco(flags: str) -> None:
    scene = Scene(crowd(flags))
    scene.throw(2, 0.03)
    swept, plain = scene.ours("sweep"), scene.ours("all_pairs")
    assert candidates(swept) == candidates(plain)
    assert int(swept.ncon) > 100
    errors = difference(scene, swept)
    assert max(errors.values()) <= 1e-12, errors


def test_contacts_stand_in_the_order_of_their_candidates() -> None:
    scene = Scene(crowd())
    scene.throw(0, 0.03)
    data = scene.ours()
    candidate = data.contact_candidate[: data.ncon]
    assert (np.diff(candidate) >= 0).all()
    assert [row[:-1] for row in np.array(candidates(data))[candidate].tolist()] == ids(
        data.contact, data.ncon
    )


def test_a_dropped_candidate_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(on_geom("sphere", 2))
    scene.throw(0)
    search = candidates_numpy.between_units

    def careless(*arguments: Any) -> Any:
        for block in search(*arguments):
            yield FlexPairs(*(column[1::2] for column in block))

    monkeypatch.setattr(candidates_numpy, "between_units", careless)
    with pytest.raises(AssertionError):
        difference(scene, scene.ours())


# ---- filters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", ["", 'midphase="disable"'])
@pytest.mark.parametrize("plane", ['contype="0" conaffinity="0"', 'contype="4" conaffinity="4"'])
def test_of_planes_the_midphase_asks_the_body(plane: str, flags: str) -> None:
    """A plane that meets nothing touches the flex all the same, if another geom of its body would."""
    world = f'<geom type="plane" size="1 1 1" {plane}/><geom size=".01" pos="0 0 -1"/>'
    scene = Scene(document(f'{world}<body name="p">{flex("f", 2)}</body>', flags))
    scene.throw(0)
    data = scene.ours()
    difference(scene, data)
    assert bool(data.ncon) == (not flags)


def test_a_geom_does_not_touch_elements_on_its_own_body() -> None:
    cloth = flex("f", 2, more='<pin id="0 1"/>')
    scene = Scene(document(f'<body name="p"><freejoint/><geom size=".2"/>{cloth}</body>'))
    scene.throw(0)
    data = scene.ours()
    difference(scene, data)
    assert 0 < int(data.ncon) < int(scene.theirs.nflexelem)


def test_exclusions_and_parents_do_not_matter_to_flexes() -> None:
    world = f'<body name="p"><freejoint/><geom size=".2"/>{flex("f", 2)}</body>'
    scene = Scene(document(world, contact='<exclude body1="p" body2="f_3"/>'))
    scene.throw(0)
    data = scene.ours()
    difference(scene, data)
    assert int(data.ncon) > 5


def test_elements_with_a_corner_on_a_common_body_do_not_touch() -> None:
    """Two cloths pinned to one body."""
    cloths = flex("f", 2, more='<pin id="0 1"/>') + flex("g", 2, pos="0 0 .01", more='<pin id="0 1"/>')
    scene = Scene(document(f'<body name="p"><freejoint/><geom size=".01" pos="0 0 1"/>{cloths}</body>'))
    scene.throw(0)
    data = scene.ours()
    difference(scene, data)
    assert int(data.ncon) > 5


def test_vertcollide_adds_balls_at_the_vertices() -> None:
    cloth = flex("f", 2, f'{ALONE} vertcollide="true"')
    box = '<geom type="box" size=".3 .3 .05"/>'
    scene = Scene(document(f'{box}<body name="p" pos="0 0 .06">{cloth}</body>'))
    scene.throw(0, 0.005)
    data = scene.ours()
    difference(scene, data)
    sides = data.contact.geom[: data.ncon]
    assert (sides >= 0).all(axis=1).any()
    assert (sides < 0).any()


# ---- what is nowhere --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["narrow", "bvh", "sap"])
def test_vertices_at_no_finite_place_are_left_out_with_a_warning(mode: str) -> None:
    contact = f'internal="true" selfcollide="{mode}"'
    floor = '<geom type="plane" size="1 1 1"/><geom size=".1"/>'
    scene = Scene(document(f'{floor}<body name="p">{flex("f", 2, contact)}</body>'))
    scene.throw(0, 0.03)
    before = scene.ours()
    m, d = scene.theirs, scene.data
    d.flexvert_xpos[7] = np.nan
    d.flexelem_aabb[(m.flex_elem.reshape(-1, 3) == 7).any(axis=1)] = np.nan
    d.bvh_aabb_dyn[:] = np.nan
    with pytest.warns(RuntimeWarning, match="flex .* at no finite place: vertices 7"):
        data = scene.ours()
    kept = ids(data.contact, int(data.ncon))
    assert 0 < len(kept) < int(before.ncon)
    assert np.isfinite(data.contact.dist[: data.ncon]).all()
    known = {tuple(sorted(row)) for row in ids(before.contact, int(before.ncon))}
    assert {tuple(sorted(row)) for row in kept} <= known


def test_nothing_is_said_of_flexes_that_cannot_touch() -> None:
    cloth = flex("f", 2, 'contype="0" conaffinity="0"')
    scene = Scene(document(f'<body name="p">{cloth}</body>'))
    scene.throw(0)
    scene.data.flexvert_xpos[0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scene.ours().ncandidate == 0


# ---- boxes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_boxes_that_meet_are_all_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lists = []
    for count in (40, 70):
        low = np.round(rng.uniform(-1, 1, (count, 3)), 1)
        lists.append(Boxes(low, low + np.round(rng.exponential(0.3, (count, 3)), 1)))
    found = {(int(a), int(b)) for block in meeting_boxes(*lists) for a, b in zip(*block, strict=True)}
    first, second = (rows.reshape(-1) for rows in np.indices((40, 70)))
    meet = overlap(lists[0].of(first), lists[1].of(second))
    assert found == set(zip(first[meet].tolist(), second[meet].tolist(), strict=True))
    assert found
