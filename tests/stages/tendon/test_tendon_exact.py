"""Tendons that meet a condition of wrapping exactly: sites on the surface, paths through the axis, planar hands.

Whether the path bends there depends on the last bit, and MuJoCo's answer does not change when the joints are nudged,
because site and geom are on one body. So the order of operations is MuJoCo's.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from lane_backend import LANES

import dovetail

TRIPLES = [
    (3, 4, 5),
    (5, 12, 13),
    (8, 15, 17),
    (7, 24, 25),
    (20, 21, 29),
    (12, 35, 37),
    (9, 40, 41),
    (28, 45, 53),
]
"""Points on a circle, to rounding: x² + y² = r²."""
ANGLES = np.deg2rad([0.0, 30.0, 45.0, 90.0, -90.0, 180.0])


def finger(place: int, x: float, y: float, radius: float, shape: str, side: str) -> tuple[str, str]:
    """A link with a site on the surface of its geom, and a tendon over it."""
    body = f"""
      <body pos="{0.3 * place} 0 0"><joint axis="0 0 1"/><geom size=".01" mass="1"/>
        <geom name="g{place}" type="{shape}" size="{radius!r} .1" mass="0"/>
        <site name="on{place}" pos="{x!r} {y!r} 0"/><site name="in{place}" pos="0 {radius / 4!r} 0"/>
        <site name="out{place}" pos="0 {3 * radius!r} 0"/>
      </body>"""
    chosen = f' sidesite="{side}{place}"' if side else ""
    wrap = f'<geom geom="g{place}"{chosen}/>'
    return body, f'<spatial><site site="on{place}"/>{wrap}<site site="far"/></spatial>'


def hand(shape: str, side: str, scale: float) -> str:
    """Eight fingers with sites on their knuckles."""
    sizes = [(scale * x, scale * y, scale * r) for x, y, r in TRIPLES]
    fingers = [finger(place, *size, shape, side) for place, size in enumerate(sizes)]
    bodies, tendons = (" ".join(part) for part in zip(*fingers, strict=True))
    return f"""<mujoco><worldbody><site name="far" pos="1 -1.5 .25"/>{bodies}</worldbody>
        <tendon>{tendons}</tendon></mujoco>"""


HANDS = [(shape, side) for shape in ("cylinder", "sphere") for side in ("", "in", "out")]


@pytest.mark.parametrize(("shape", "side"), HANDS)
def test_sites_on_the_surface(shape: str, side: str) -> None:
    for scale in (0.01, 0.001, 0.003):
        xml = hand(shape, side, scale)
        theirs_model = mujoco.MjModel.from_xml_string(xml)
        theirs, model = mujoco.MjData(theirs_model), dovetail.loads(xml)
        ours = dovetail.make_data(model)
        for angle in ANGLES:
            theirs.qpos[:] = angle
            ours.qpos = theirs.qpos.copy()
            mujoco.mj_forward(theirs_model, theirs)
            dovetail.forward(model, ours)
            same_paths(ours, theirs)


def same_paths(ours: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(ours.field("ten_wrapnum"), theirs.ten_wrapnum)
    np.testing.assert_array_equal(ours.field("ten_length"), theirs.ten_length)
    np.testing.assert_allclose(
        ours.field("ten_J").reshape(theirs.ten_J.shape), theirs.ten_J, rtol=0, atol=1e-14
    )
    used = int(theirs.ten_wrapnum.sum())
    for name, width in (("wrap_obj", 1), ("wrap_xpos", 3)):
        found, expected = (
            np.asarray(v).reshape(-1, width)[:used] for v in (ours.field(name), getattr(theirs, name))
        )
        np.testing.assert_array_equal(found, expected)


def grid_model(seed: int) -> str:
    """A random tree whose sites, geoms and angles lie on a coarse grid, and tendons through them."""
    random = np.random.default_rng(seed)
    sites, geoms = ["w"], []

    def grid(scale: float) -> str:
        return " ".join(str(x) for x in random.integers(-4, 5, 3) * scale / 4)

    def body(name: str, depth: int) -> str:
        own = [f"s{name}", f"t{name}", f"i{name}"]
        sites.extend(own)
        geoms.append(f"g{name}")
        inside = "".join(f'<site name="{s}" pos="{grid(0.04 if s[0] == "i" else 0.5)}"/>' for s in own)
        shape, radius = random.choice(["sphere", "cylinder"]), random.choice([0.05, 0.125, 0.25, 0.5])
        turn = " ".join(map(str, random.choice([0, 30, 45, 90], 3)))
        inside += (
            f'<geom name="g{name}" type="{shape}" size="{radius} .2" pos="{grid(0.25)}" euler="{turn}"/>'
        )
        children = "".join(body(f"{name}{n}", depth + 1) for n in range(2 if depth < 2 else 0))
        axis = random.choice(["1 0 0", "0 1 0", "0 0 1"])
        return f'<body pos="{grid(0.5)}"><joint axis="{axis}"/>{inside}{children}</body>'

    def path() -> str:
        parts, through = "", random.choice(sites, random.integers(2, 6), replace=False)
        for place, site in enumerate(through):
            parts += f'<site site="{site}"/>'
            if place < len(through) - 1 and random.random() < 0.8:
                side = f' sidesite="{random.choice(sites)}"' if random.random() < 0.6 else ""
                parts += f'<geom geom="{random.choice(geoms)}"{side}/>'
        return f"<spatial>{parts}</spatial>"

    bodies = body("a", 0)
    tendons = "".join(path() for _ in range(10))
    return f'<mujoco><worldbody><site name="w" pos="1 0 1"/>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>'


@pytest.mark.parametrize("first", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_hands_on_a_grid_have_mujocos_paths(first: int) -> None:
    for seed in range(first, first + 20):
        xml, random = grid_model(seed), np.random.default_rng(seed)
        theirs_model = mujoco.MjModel.from_xml_string(xml)
        theirs, model = mujoco.MjData(theirs_model), dovetail.loads(xml)
        ours = dovetail.make_data(model)
        for _ in range(8):
            theirs.qpos[:] = random.choice(ANGLES, theirs_model.nq)
            ours.qpos = theirs.qpos.copy()
            mujoco.mj_fwdPosition(theirs_model, theirs)
            dovetail.forward(model, ours)
            known = np.isfinite(
                theirs.ten_length
            )  # MuJoCo has NaN where rounding makes a cosine larger than one
            np.testing.assert_allclose(ours.field("ten_length")[known], theirs.ten_length[known], rtol=1e-13)


def test_sites_on_the_surface_in_lanes() -> None:
    xml = hand("cylinder", "", 0.01).replace(
        "</worldbody>", "</worldbody><option><flag contact='disable'/></option>"
    )
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    model, keep = dovetail.loads(xml), ("ten_length",)
    sim = dovetail.Simulation(model, backend=LANES, nworld=len(ANGLES), keep=keep)
    sim.data.qpos = np.repeat(ANGLES[:, None], theirs_model.nq, axis=1)
    sim.forward()
    for world, angle in enumerate(ANGLES):
        theirs.qpos[:] = angle
        mujoco.mj_forward(theirs_model, theirs)
        np.testing.assert_allclose(sim.data.ten_length[world], theirs.ten_length, rtol=0, atol=1e-12)
