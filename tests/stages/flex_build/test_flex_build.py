"""Points and elements of flexcomps of every type that needs no file, compiled beside MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import dovetail
from dovetail.registry import default_registry

TYPES = {
    "grid": 'type="grid" count="3 4 1" spacing=".1 .2 .1" dim="2"',
    "circle": 'type="circle" count="7 1 1" spacing=".1 .1 .1" dim="1"',
    "square": 'type="square" count="3 3 1" spacing=".1 .1 .1" dim="2"',
    "disc": 'type="disc" count="5 5 1" spacing=".1 .1 .1" dim="2"',
    "box": 'type="box" count="3 3 3" spacing=".1 .1 .1" dim="3"',
    "cylinder": 'type="cylinder" count="4 4 3" spacing=".1 .1 .1" dim="3"',
    "ellipsoid": 'type="ellipsoid" count="4 4 4" spacing=".1 .2 .1" dim="3"',
    "direct": 'type="direct" dim="2" point="0 0 0 1 0 0 0 1 0 1 1 0" element="0 1 2 1 3 2"',
}
FROM_FILES = {"mesh", "gmsh"}
"""Tried with their files in tests/mjcf/test_flexcomp_files.py."""


def test_every_type_is_tried() -> None:
    assert {*TYPES, *FROM_FILES} == set(default_registry().keys("flex_build"))


@pytest.mark.parametrize("kind", TYPES)
def test_points_and_elements_are_mujocos(kind: str) -> None:
    flex = f'<flexcomp name="f" mass="1" radius=".01" {TYPES[kind]}/>'
    text = f"<mujoco><worldbody><body name='b'>{flex}</body></worldbody></mujoco>"
    ours, theirs = dovetail.loads(text), mujoco.MjModel.from_xml_string(text)
    for name in ("flex_vert", "flex_elem", "flex_edge", "flex_shell"):
        wanted = np.asarray(getattr(theirs, name)).ravel()
        np.testing.assert_allclose(np.ravel(ours.field(name)), wanted, rtol=0, atol=1e-12, err_msg=name)
    assert theirs.nflexvert > 3
