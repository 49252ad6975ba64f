"""Collision in lanes: the same contacts as the NumPy reference for every pair of types, in every kind of pose."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from collisions import Found, assert_same, contacts, same_bits
from poses import quarter_turn, rotation

import dovetail
from dovetail.plugins.shared.contacts.contacts_lanes import pairs_of
from dovetail.plugins.shared.contacts.pair_types import PRIMITIVE_PAIRS

PAIRS = list(PRIMITIVE_PAIRS)
SIZES = {
    "plane": "1 1 1",
    "sphere": "0.2",
    "capsule": "0.1 0.25",
    "ellipsoid": "0.1 0.2 0.3",
    "cylinder": "0.15 0.2",
    "box": "0.1 0.2 0.3",
}
OTHER_SIZES = SIZES | {"sphere": "0.15", "capsule": "0.12 0.15", "box": "0.25 0.15 0.2"}
TOLERANCE = {"f64": 1e-10, "f32": 1e-4}
"""Distances and points in metres, directions without unit; sizes are a few tenths of a metre."""
MARGIN = 0.03


def scene() -> str:
    """A pair of geoms for every key, which touch only each other."""
    bodies = []
    for n, key in enumerate(PAIRS):
        first, second = key.split("-")
        mask = f'contype="{1 << n}" conaffinity="{1 << n}" margin="{MARGIN}"'
        geom1 = f'<geom type="{first}" size="{SIZES[first]}" {mask}/>'
        geom2 = f'<geom type="{second}" size="{OTHER_SIZES[second]}" {mask}/>'
        free = "" if first == "plane" else "<freejoint/>"
        bodies.append(f"<body>{free}{geom1}</body><body><freejoint/>{geom2}</body>")
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


@cache
def model() -> dovetail.Model:
    return dovetail.loads(scene())


# ---- poses --------------------------------------------------------------------------------------------------

NWORLD = 72


def poses(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Geom poses of NWORLD worlds: `general`, `aligned` (axes parallel, offsets on a grid), `inside` (deep)."""
    rng = np.random.default_rng(seed)
    xpos = np.zeros((NWORLD, model().ngeom, 3))
    xmat = np.zeros((NWORLD, model().ngeom, 3, 3))
    for world in range(NWORLD):
        for n in range(len(PAIRS)):
            first, second = 2 * n, 2 * n + 1
            base = rotation(rng) if kind != "aligned" or rng.random() < 0.5 else np.eye(3)
            xmat[world, first] = base
            xmat[world, second] = rotation(rng) if kind != "aligned" else base @ quarter_turn(rng)
            reach = {"general": 0.5, "aligned": 0.4, "inside": 0.1}[kind]
            offset = rng.uniform(-reach, reach, 3)
            if kind == "aligned":
                offset = base @ (np.round(offset / 0.05) * 0.05)
            xpos[world, first] = rng.normal(size=3)
            xpos[world, second] = xpos[world, first] + offset
    return xpos, xmat.reshape(NWORLD, -1, 9)


@cache
def both(kind: str, precision: str = "f64", seed: int = 1) -> tuple[list[Found], list[Found]]:
    """Contacts in lanes and of the reference; the same poses, rounded alike."""
    xpos, xmat = poses(kind, seed)
    if precision == "f32":
        xpos, xmat = xpos.astype(np.float32).astype(float), xmat.astype(np.float32).astype(float)
    return contacts(model(), xpos, xmat, precision=precision), contacts(model(), xpos, xmat, "numpy")


def of_pair(found: Found, key: str) -> Found:
    here = found.geoms[:, 0] == 2 * PAIRS.index(key)
    return Found(found.geoms[here], {name: value[here] for name, value in found.fields.items()})


@pytest.mark.parametrize("kind", ["general", "aligned", "inside"])
@pytest.mark.parametrize("key", PAIRS)
def test_contacts_are_the_references(key: str, kind: str) -> None:
    ours, wanted = both(kind)
    touching = 0
    for a, b in zip(ours, wanted, strict=True):
        assert_same(of_pair(a, key), of_pair(b, key), TOLERANCE["f64"])
        touching += len(of_pair(b, key).geoms) > 0
    assert touching > NWORLD / 20


@pytest.mark.slow
@pytest.mark.parametrize("key", PAIRS)
def test_contacts_in_single_precision(key: str) -> None:
    """Where rounding may decide whether there is a contact, only the others are compared."""
    ours, wanted = both("general", "f32")
    same = 0
    for a, b in zip(ours, wanted, strict=True):
        a, b = of_pair(a, key), of_pair(b, key)
        if len(a.geoms) == len(b.geoms):
            assert_same(a, b, TOLERANCE["f32"])
            same += 1
    assert same >= NWORLD - 1


# ---- independence of worlds ---------------------------------------------------------------------------------


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    """In another order, and so among other worlds of a tile, every world has the same bits."""
    xpos, xmat = poses("aligned", seed=1)
    order = np.random.default_rng(0).permutation(NWORLD)
    moved = contacts(model(), xpos[order], xmat[order])
    for found, world in zip(moved, order, strict=True):
        assert same_bits(found, both("aligned")[0][world])


def test_a_lost_world_has_no_contacts_and_harms_no_other() -> None:
    xpos, xmat = poses("general", seed=1)
    lost = np.arange(NWORLD) % 5 == 2
    xpos[lost], xmat[lost] = np.nan, np.inf
    for world, found in enumerate(contacts(model(), xpos, xmat)):
        wanted = both("general")[0][world]
        assert len(found.geoms) == 0 if lost[world] else same_bits(found, wanted)


# ---- pairs --------------------------------------------------------------------------------------------------


def test_pairs_are_those_that_may_touch_in_the_order_of_contacts() -> None:
    text = """
    <mujoco>
      <worldbody>
        <geom name="floor" type="plane" size="1 1 1"/>
        <body><freejoint/><geom name="box" type="box" size="1 1 1" priority="1" condim="4"/>
          <body><joint/><geom name="child" size="1"/></body>
        </body>
        <body><freejoint/>
          <geom name="ball" size="1" condim="6"/><geom name="ghost" size="1" contype="0" conaffinity="0"/>
        </body>
      </worldbody>
      <contact><pair geom1="ball" geom2="floor" condim="1"/></contact>
    </mujoco>"""
    m = dovetail.loads(text)
    pairs = pairs_of(m)
    names = [
        (m.geom(int(a)).name, m.geom(int(b)).name) for a, b in zip(pairs.geom1, pairs.geom2, strict=True)
    ]
    assert names == [
        ("floor", "box"),
        ("floor", "child"),
        ("floor", "ball"),
        ("ball", "box"),
        ("child", "ball"),
    ]
    assert pairs.dim.tolist() == [4, 3, 1, 4, 6]
    assert pairs.pair.tolist() == [-1, -1, 0, -1, -1]
    assert pairs.most_contacts.tolist() == [4, 1, 1, 1, 1]
    assert pairs.first.tolist() == [0, 4, 5, 6, 7]
    assert pairs.most_in_all == 8
    assert pairs.moves.tolist() == [1, 1, 1, 1, 1]
