"""Contacts of a flex with itself against MuJoCo 3.4.0: which elements, in which order, which is the first."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from flex_oracle import Scene, difference  # noqa: E402
from flex_scenes import DIMS, document, flex  # noqa: E402
from test_flex_pairs import FORMULA  # noqa: E402

SPREAD = {1: 0.05, 2: 0.04, 3: 0.03}
MODES = ("narrow", "bvh", "sap", "auto")


def itself(dim: int, contact: str, flags: str = "") -> Scene:
    return Scene(document(f'<body name="p">{flex("f", dim, contact)}</body>', flags))


def crumple(scene: Scene, seed: int) -> None:
    """A random state; a rope is pushed together, so that it touches itself at all."""
    dim = int(scene.theirs.flex_dim[0])
    scene.throw(seed, SPREAD[dim])
    if dim == 1:
        scene.data.qpos[0::3] -= 0.8 * scene.theirs.flex_vert0[:, 0] * 0.42
        scene.settle()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dim", DIMS)
def test_elements_collide_in_the_order_of_the_search(dim: int, mode: str) -> None:
    scene = itself(dim, f'internal="false" selfcollide="{mode}" activelayers="1" margin=".02" gap=".01"')
    total = 0
    for seed in range(4 if dim < 3 else 2):
        crumple(scene, seed)
        data = scene.ours("all_pairs" if seed % 2 else "sweep")
        total += int(data.ncon)
        assert max(difference(scene, data).values()) <= FORMULA
    assert total > 8


@pytest.mark.parametrize("mode", ["bvh", "sap"])
def test_without_midphase_every_search_is_the_narrow_one(mode: str) -> None:
    scene = itself(2, f'internal="false" selfcollide="{mode}"', 'midphase="disable"')
    scene.throw(1, SPREAD[2])
    assert int(scene.data.ncon) > 3
    assert max(difference(scene, scene.ours()).values()) <= FORMULA


@pytest.mark.parametrize("mode", ["none", "auto"])
@pytest.mark.parametrize("dim", DIMS)
def test_internal_contacts_come_first(dim: int, mode: str) -> None:
    scene = itself(dim, f'internal="true" selfcollide="{mode}" margin=".02"')
    total = 0
    for seed in range(3):
        crumple(scene, seed)
        data = scene.ours()
        total += int(data.ncon)
        assert max(difference(scene, data).values()) <= FORMULA
    assert total >= 3


def test_layers_that_are_not_active_do_not_collide() -> None:
    """A solid of five layers: with one active its inside is not looked at."""
    counts = []
    for layers in (1, 3):
        contact = f'internal="false" selfcollide="narrow" activelayers="{layers}"'
        text = document(f'<body name="p">{flex("f", 3, contact, count="5 5 5")}</body>')
        scene = Scene(text)
        scene.throw(0, 0.012)
        data = scene.ours()
        assert max(difference(scene, data).values()) <= FORMULA
        counts.append(int(data.ncandidate))
    assert counts[0] < counts[1]


def test_a_rigid_flex_does_not_collide_with_itself() -> None:
    contact = 'internal="true" selfcollide="auto"'
    text = document(
        f'<body name="p"><freejoint/><geom size=".01" pos="0 0 1"/>{flex("f", 2, contact)}</body>'.replace(
            "<flexcomp", '<flexcomp rigid="true"'
        )
    )
    scene = Scene(text)
    scene.throw(0, 0.1)
    assert scene.data.ncon == scene.ours().ncon == 0


def test_ten_thousand_contacts_with_itself() -> None:
    """A rope that has collapsed into a ball; boxes meet everywhere."""
    contact = 'internal="false" selfcollide="sap"'
    scene = Scene(document(f'<body name="p">{flex("f", 1, contact, count="180 1 1")}</body>'))
    scene.theirs.flex_radius[:] = scene.model.flex_radius[:] = 0.1
    scene.data.qpos[0::3] = -0.06 * (np.arange(180) - 90)
    scene.data.qpos[:] += 0.03 * np.random.default_rng(0).normal(size=540)
    scene.settle()
    data = scene.ours()
    assert int(data.ncon) == int(scene.data.ncon) > 10_000
    assert max(difference(scene, data).values()) <= 1e-12
