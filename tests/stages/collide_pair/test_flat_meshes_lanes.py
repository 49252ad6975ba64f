"""Meshes that lie on each other by flat sides, in lane kernels: which corner touches is MuJoCo's choice."""

from __future__ import annotations

import numpy as np
import pytest
from collisions import contacts as found_contacts

mujoco = pytest.importorskip("mujoco")

import flat_meshes  # noqa: E402

import dovetail  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gear of 24", "fine rounded link"])
def test_flat_sides_touch_where_mujocos_do(name: str) -> None:
    for xml, way in list(flat_meshes.arrangements(flat_meshes.MESHES[name]))[-2:]:
        theirs = flat_meshes.Theirs(xml)
        expected, places, turns = [], [], []
        for qpos in way(theirs.model, 40, 2):
            expected.append(theirs.at(qpos))
            places.append(theirs.data.geom_xpos.copy())
            turns.append(theirs.data.geom_xmat.copy())
        found = found_contacts(dovetail.loads(xml), np.array(places), np.array(turns))
        assert sum(len(contacts) > 0 for contacts in expected) > 20
        for ours, contacts in zip(found, expected, strict=True):
            assert len(ours.geoms) == len(contacts)
            rows = np.column_stack([ours.fields["dist"], ours.fields["pos"], ours.fields["frame"]])
            np.testing.assert_allclose(rows, contacts, rtol=0, atol=flat_meshes.TOLERANCE)
