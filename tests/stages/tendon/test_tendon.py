"""Tendons against MuJoCo at random states: lengths, Jacobians in both layouts, and paths around geoms."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations, scene
from limb_models import TENDONS

from dovetail.plugins.tendon.paths_numpy import tendon
from dovetail.plugins.transmission_velocity.moment_product_numpy import transmission_velocity

TOLERANCE = 1e-12
"""Metres, or metres per unit of joint velocity: rounding of different orders of summation."""


class Builder:
    """A random tree with sites and wrapping geoms, and random tendons over it."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.sites, self.geoms = ["w0", "w1"], []

    def vector(self, scale: float) -> str:
        return " ".join(map(str, self.random.normal(size=3) * scale))

    def joints(self, depth: int) -> str:
        kind = self.random.integers(4)
        if depth == 0 and self.random.random() < 0.3:
            return "<freejoint/>"
        if kind == 0:
            return '<joint type="ball"/>'
        types = self.random.choice(["hinge", "slide"], size=kind)
        return "".join(f'<joint type="{t}" axis="{self.vector(1)}"/>' for t in types)

    def body(self, name: str, depth: int = 0) -> str:
        own = [f"s{name}", f"t{name}", f"in{name}"]
        self.sites += own
        self.geoms.append(f"g{name}")
        shape = self.random.choice(["sphere", "cylinder"])
        inside = "".join(
            f'<site name="{site}" pos="{self.vector(0.02 if site.startswith("in") else 0.5)}"/>'
            for site in own
        )
        inside += f'<geom name="g{name}" type="{shape}" size="{self.random.uniform(0.1, 0.5)} .2"'
        inside += f' pos="{self.vector(0.3)}" euler="{self.vector(90)}"/>'
        below = self.random.integers(0, 3) if depth < 2 else 0
        children = "".join(self.body(f"{name}{i}", depth + 1) for i in range(below))
        return f'<body pos="{self.vector(0.5)}">{self.joints(depth)}{inside}{children}</body>'

    def path(self) -> str:
        parts, last = [], ""
        for piece in range(self.random.integers(1, 3)):
            parts += [f'<pulley divisor="{self.random.uniform(0.5, 3)}"/>'] if piece else []
            count = self.random.integers(2, 5)
            for place in range(count):
                last = str(self.random.choice([site for site in self.sites if site != last]))
                parts.append(f'<site site="{last}"/>')
                if place < count - 1 and self.random.random() < 0.6:
                    side = self.random.random() < 0.6
                    sidesite = f' sidesite="{self.random.choice(self.sites)}"' if side else ""
                    parts.append(f'<geom geom="{self.random.choice(self.geoms)}"{sidesite}/>')
        return "".join(parts)

    def model(self, jacobian: str) -> Any:
        bodies = "".join(self.body(str(i)) for i in range(3))
        tendons = "".join(f"<spatial>{self.path()}</spatial>" for _ in range(8))
        return mujoco.MjModel.from_xml_string(
            f'<mujoco><option jacobian="{jacobian}"/><worldbody><site name="w0" pos="1 0 1"/>'
            f'<site name="w1" pos="-1 .4 .2"/>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>'
        )


def compare(model: Any, qpos: Any) -> int:
    """Compare at one state; returns how many path points lie on geoms."""
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    for data in (ours, theirs):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
    tendon(model, ours)
    mujoco.mj_tendon(model, theirs)
    for name in ("ten_wrapadr", "ten_wrapnum", "wrap_obj", "ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for name in ("ten_length", "wrap_xpos", "ten_J"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=0, atol=TOLERANCE, err_msg=name
        )
    return int(np.count_nonzero(ours.wrap_obj > 0))


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_random_tendons_are_mujocos(jacobian: str) -> None:
    on_geoms = 0
    for seed in range(12):
        builder = Builder(seed)
        model = builder.model(jacobian)
        for _ in range(3):
            qpos = model.qpos0.copy()
            mujoco.mj_integratePos(model, qpos, builder.random.normal(size=model.nv), 1.0)
            on_geoms += compare(model, qpos)
    assert on_geoms > 100


WRAPS = {
    "sphere": ('type="sphere" size=".2"', "", 1.0203477578),
    "sphere past a side": ('type="sphere" size=".2"', 'sidesite="below"', 1.1782642057),
    "inside": ('type="sphere" size=".2"', 'sidesite="inside"', None),
    "cylinder": ('type="cylinder" size=".2 .1" euler="90 0 30"', "", None),
    "cylinder along the path": ('type="cylinder" size=".2 .1" euler="0 90 0"', 'sidesite="below"', None),
}


@pytest.mark.parametrize("case", WRAPS)
def test_one_detour_is_mujocos(case: str) -> None:
    geom, side, length = WRAPS[case]
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><site name="below" pos="0 0 -1"/><site name="inside" pos="0 0 .01"/>
        <site name="a" pos="-.5 0 .1"/><geom name="g" {geom} contype="0"/>
        <body><joint type="slide" axis="0 0 1"/><geom size=".01"/><site name="b" pos=".5 0 .1"/></body></worldbody>
        <tendon><spatial><site site="a"/><geom geom="g" {side}/><site site="b"/></spatial></tendon></mujoco>"""
    )
    for height in (0.0, 0.05, 0.3, -0.4):
        compare(model, np.array([height]))
    if length is not None:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        tendon(model, data)
        assert data.ten_length[0] == pytest.approx(length, abs=1e-9)


def test_ends_in_line_with_the_centre_are_mujocos() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><site name="a" pos="0 -.5 0"/><geom name="g" size=".2" contype="0"/>
        <body><joint type="slide" axis="0 1 0"/><geom size=".01"/><site name="b" pos="0 .5 0"/></body></worldbody>
        <tendon><spatial><site site="a"/><geom geom="g"/><site site="b"/></spatial></tendon></mujoco>"""
    )
    compare(model, np.array([0.0]))


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_a_joint_named_twice_counts_as_in_mujoco(jacobian: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option jacobian="{jacobian}"/><worldbody><body><joint name="j"/><geom size=".1"/>
        <body><joint name="k"/><geom size=".1"/></body></body></worldbody><tendon><fixed>
        <joint joint="k" coef="2"/><joint joint="j" coef="1"/><joint joint="k" coef="4"/></fixed></tendon></mujoco>"""
    )
    compare(model, np.array([0.3, 0.5]))


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_velocities_are_mujocos(jacobian: str) -> None:
    builder = Builder(3)
    model = builder.model(jacobian)
    data = mujoco.MjData(model)
    data.qvel[:] = builder.random.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    expected = data.ten_velocity.copy()
    data.ten_velocity[:] = np.nan
    transmission_velocity(model, data)
    np.testing.assert_allclose(data.ten_velocity, expected, rtol=0, atol=TOLERANCE)


SEEDS = 3
"""Of random states: enough for tendons to touch each geom, and to miss some."""


@pytest.mark.parametrize("how", implementations("tendon"))
@pytest.mark.parametrize("kind", TENDONS)
def test_every_implementation_has_mujocos_lengths_and_jacobians(kind: str, how: How) -> None:
    assert_mujocos(TENDONS[kind], "tendon", how, seeds=SEEDS)


@pytest.mark.parametrize("kind", ["shortest", "sided"])
def test_tendons_are_tried_both_touching_geoms_and_not(kind: str) -> None:
    """The claim above is about wrapping only if the states at hand make tendons wrap, and pass by."""
    m = scene(TENDONS[kind]).mujoco_model
    touched = []
    for seed in range(SEEDS):
        for data in scene(TENDONS[kind], seed).worlds:
            used = data.wrap_obj.reshape(-1)[: int(data.ten_wrapnum.sum())]
            touched.append(set(used[used >= 0].tolist()))
    round_ = (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)
    geoms = set(m.wrap_objid[np.isin(m.wrap_type, round_)].tolist())
    assert set().union(*touched) == geoms
    assert any(len(some) < len(geoms) for some in touched)


SINGLE = 2e-4
"""In single precision; the arc around a geom follows from an arc cosine, which is sensitive near 0."""


@pytest.mark.parametrize("how", implementations("tendon"))
def test_single_precision_stays_close(how: How) -> None:
    fields = ("ten_length", "ten_J")  # the rest of wrap_xpos is room, with numbers left from before
    assert_mujocos(TENDONS["shortest"], "tendon", how, precision="f32", fields=fields, tolerance=SINGLE)
