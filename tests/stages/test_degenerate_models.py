"""Models whose numbers hang on rounding: redundant joints, symmetric inertias, shapes that touch exactly."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest

import dovetail

BALL = '<geom size=".1" pos=".2 0 0"/>'
ACTUATED = '<actuator><motor joint="j"/></actuator>'

SINGULAR = {
    "two equal hinges": f'<body><joint name="j" axis="0 1 0"/><joint axis="0 1 0"/>{BALL}</body>',
    "two opposite hinges": f'<body><joint name="j" axis="0 1 0"/><joint axis="0 -1 0"/>{BALL}</body>',
    "two equal slides": '<body><joint name="j" type="slide"/><joint type="slide"/><geom size=".1"/></body>',
    "four slides": f"""<body><joint name="j" type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 1 1"/>{BALL}</body>""",
    "a hinge and a ball in one place": f'<body><joint name="j" axis="0 1 0"/><joint type="ball"/>{BALL}</body>',
    "further down": f"""<body><joint name="j" axis="0 1 0"/>{BALL}<body><joint axis="0 1 0"/>
        <joint axis="0 1 0"/>{BALL}</body></body>""",
    "one tree of three": f"""<body pos="0 2 0"><joint name="j" axis="0 1 0"/>{BALL}</body>
        <body><joint axis="0 1 0"/><joint axis="0 1 0"/>{BALL}</body><body pos="0 4 0"><freejoint/>{BALL}</body>""",
    "saved by armature": f"""<body><joint name="j" axis="0 1 0" armature=".01"/><joint axis="0 1 0"/>{BALL}
        </body>""",
}


def both(xml: str) -> tuple[Any, Any, Any, Any]:
    """MuJoCo's model and data, and ours, after a forward evaluation."""
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the mass matrix is singular
        model = dovetail.loads(xml)
        ours = dovetail.make_data(model)
        mujoco.mj_forward(theirs_model, theirs)
        dovetail.forward(model, ours)
    return theirs_model, theirs, model, ours


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_mass_matrices_give_mujocos_infinities(name: str) -> None:
    """Infinite and missing numbers where MuJoCo has them."""
    xml = f"<mujoco><worldbody>{SINGULAR[name]}</worldbody>{ACTUATED}</mujoco>"
    theirs_model, theirs, model, ours = both(xml)
    for field in ("body_invweight0", "dof_invweight0", "actuator_acc0", "dof_M0"):
        np.testing.assert_allclose(
            getattr(model, field), getattr(theirs_model, field), rtol=1e-9, err_msg=field
        )
    for field in ("M", "qLD", "qLDiagInv", "qacc_smooth", "qacc"):
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=1e-9, err_msg=field)


def random_tree(random: np.random.Generator, depth: int = 0) -> str:
    def three(scale: float) -> str:
        return " ".join(map(str, random.normal(size=3) * scale))

    below = "".join(random_tree(random, depth + 1) for _ in range(random.integers(0, 3) if depth < 2 else 0))
    kind = random.choice(["hinge", "slide", "ball"])
    axis = f'axis="{three(1)}"' if kind != "ball" else ""
    inertia = f'<inertial pos="{three(0.3)}" mass="1.7" diaginertia=".3 .2 .25" euler="{three(40)}"/>'
    return f'<body pos="{three(1)}" euler="{three(40)}"><joint type="{kind}" {axis}/>{inertia}{below}</body>'


def test_inertia_to_the_last_bit() -> None:
    """What a singular matrix leaves is rounding, so that has to be the same."""
    for seed in range(8):
        trees = random_tree(np.random.default_rng(seed)) + random_tree(np.random.default_rng(100 + seed))
        _, theirs, _, ours = both(f"<mujoco><worldbody>{trees}</worldbody></mujoco>")
        for field in ("subtree_com", "cdof", "cinert", "crb", "M", "qLD"):
            np.testing.assert_array_equal(ours.field(field).ravel(), getattr(theirs, field).ravel(), field)


SOLIDS = ("sphere", "capsule", "cylinder", "ellipsoid", "box")


def test_masses_to_the_last_bit() -> None:
    random = np.random.default_rng(3)
    for kind in SOLIDS:
        for _ in range(10):
            size = " ".join(map(str, random.uniform(0.05, 0.5, 3)))
            xml = f'<mujoco><worldbody><body><geom type="{kind}" size="{size}"/></body></worldbody></mujoco>'
            expected = mujoco.MjModel.from_xml_string(xml).body_mass[1]
            assert float(dovetail.loads(xml).body_mass[1]) == expected, kind


SYMMETRIC = [
    *('type="box" size=".1 .1 .2"', 'type="box" size=".1 .1 .1"', 'type="capsule" size=".1 .2"'),
    *('type="sphere" size=".1"', 'type="cylinder" size=".1 .2"', 'type="ellipsoid" size=".2 .1 .1"'),
]


def symmetric_bodies() -> list[str]:
    """Equal geoms at mirrored places, geoms on a grid, and full inertias with equal moments."""
    random, bodies = np.random.default_rng(1), []
    for _ in range(25):
        shape, place = random.choice(SYMMETRIC), random.choice([0, 0.1, 0.2, 0.3], 3)
        mirrors = itertools.islice(itertools.product((1, -1), (1, -1)), random.integers(2, 5))
        at = [" ".join(map(str, place * [x, y, 1])) for x, y in mirrors]
        bodies.append("".join(f'<geom {shape} pos="{pos}"/>' for pos in at))
        grid = [random.choice([-0.3, -0.1, 0, 0.1, 0.2], 3) for _ in range(random.integers(2, 5))]
        turns = [random.choice([0, 0, 90, 45, 30], 3) for _ in grid]
        bodies.append(
            "".join(
                f'<geom {random.choice(SYMMETRIC)} pos="{" ".join(map(str, p))}" euler="{" ".join(map(str, e))}"/>'
                for p, e in zip(grid, turns, strict=True)
            )
        )
        turn, _ = np.linalg.qr(random.choice([0.0, 1.0, 2.0], (3, 3)) + np.eye(3))
        full = turn @ np.diag(random.choice([1.0, 1.5], 3)) @ turn.T
        six = full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        bodies.append(f'<inertial pos="0 0 0" mass="1" fullinertia="{" ".join(map(str, six))}"/>')
    return bodies


def test_axes_of_symmetric_inertias() -> None:
    """Which of the equally good principal axes are taken."""
    content = "".join(f"<body><freejoint/>{body}</body>" for body in symmetric_bodies())
    xml = f"<mujoco><worldbody>{content}</worldbody></mujoco>"
    theirs, ours = mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml)
    np.testing.assert_allclose(ours.body_inertia, theirs.body_inertia, rtol=1e-12)
    np.testing.assert_allclose(ours.body_iquat, theirs.body_iquat, rtol=0, atol=1e-9)


SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".1 .2"',
    "cube": 'type="box" size=".1 .1 .1"',
    "box": 'type="box" size=".1 .2 .3"',
}
PLACES = [
    (0, 0, 0),
    (0, 0, 0.2),
    (0, 0, 0.4),
    (0.2, 0, 0),
    (0.2, 0.2, 0),
    (0.1, 0.1, 0.1),
    (0.2, 0.3, 0.4),
    (0, 0.3, 0),
]
"""Coincident centres, faces, edges and corners that meet, and distances that are just the margin."""
TURNS = ["0 0 0", "90 0 0", "0 0 45"]
PAIRS = [*itertools.combinations_with_replacement(SHAPES, 2), *(("plane", shape) for shape in SHAPES)]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_shapes_that_touch_exactly(first: str, second: str) -> None:
    shapes = {**SHAPES, "plane": 'type="plane" size="1 1 1"'}
    for margin in (0, 0.1):
        bodies, geoms = "", ""
        for number, (place, turn) in enumerate(itertools.product(PLACES, TURNS)):
            x, y, z = place
            geoms += (
                f'<geom name="a{number}" {shapes[first]} pos="{4 * number} 0 0" contype="0" conaffinity="0"/>'
            )
            bodies += f"""<body pos="{4 * number + x} {y} {z}" euler="{turn}"><freejoint/>
                <geom name="b{number}" {shapes[second]} contype="0" conaffinity="0"/></body>"""
        pairs = "".join(
            f'<pair geom1="a{n}" geom2="b{n}" margin="{margin}"/>' for n in range(len(PLACES) * len(TURNS))
        )
        xml = f"<mujoco><worldbody>{geoms}{bodies}</worldbody><contact>{pairs}</contact></mujoco>"
        _, theirs, _, ours = both(xml)
        assert int(ours.ncon) == theirs.ncon > 0
        for field in ("geom", "dist", "pos", "frame"):
            found = np.asarray(getattr(ours.contact, field))[: theirs.ncon]
            expected = getattr(theirs.contact, field)
            np.testing.assert_allclose(
                found.reshape(expected.shape), expected, rtol=0, atol=1e-10, err_msg=field
            )
