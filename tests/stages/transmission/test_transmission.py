"""Lengths and moments of actuators on every kind of target, against MuJoCo at random states."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations, scene
from lane_backend import LANES
from limb_models import DRIVEN
from observed_scene import ADHESION
from observed_scene import scene as observed_scene

import dovetail
from dovetail.plugins.transmission.moment_arms_numpy import transmission

TOLERANCE = 1e-12

WORLD = """<mujoco><option jacobian="%s" cone="%s"/><worldbody><geom type="plane" size="5 5 1"/><site name="w" pos="1 0 1" euler="20 30 40"/>
<body name="a" pos="0 0 .5" euler="10 20 30"><joint name="jx" axis="1 0 0"/><joint name="js" type="slide"/><geom size=".1" name="g" contype="0" conaffinity="0"/><site name="s1" pos=".1 0 .3" euler="0 20 0"/>
 <body name="a2" pos="0 .3 0"><joint name="jz" axis="0 0 1"/><geom size=".1" contype="0" conaffinity="0"/><site name="s3" pos=".2 .3 0" euler="4 5 60"/></body>
 <body name="a3" pos="0 .3 0"><joint name="jz3" axis="0 1 1"/><geom size=".1"  contype="0" conaffinity="0"/><site name="s4" pos=".2 .3 0" euler="4 5 60"/></body></body>
<body name="b" pos="0 1 .095"><joint name="jy" type="ball"/><geom size=".1" gap=".1" margin=".1"/><geom size=".1" pos=".05 0 0"/><site name="s2" pos=".3 .2 0"/></body>
<body name="f" pos="5 0 3" euler="40 0 7"><freejoint name="fj"/><geom size=".1" pos=".1 .2 .3"/></body>
</worldbody><tendon><spatial name="t"><site site="s1"/><site site="s3"/></spatial><fixed name="fx"><joint joint="jx" coef="2"/><joint joint="jz" coef="3"/></fixed></tendon>
<actuator>%s</actuator></mujoco>"""

ACTUATORS = """
<general tendon="t" gear="2"/>
<general tendon="fx" gear="2"/>
<general site="s3" gear="1 2 3 4 5 6"/>
<general site="w" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="s1" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="s4" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="w" gear="1 2 3 0 0 0"/>
<general site="s3" refsite="s2" gear="0 0 0 4 5 6"/>
<general site="s3" refsite="s3" gear="1 2 3 4 5 6"/>
<general cranksite="s3" slidersite="s1" cranklength="2" gear="3"/>
<general cranksite="s3" slidersite="s2" cranklength=".01"/>
<general cranksite="s3" slidersite="w" cranklength="3"/>
<adhesion body="b" ctrlrange="0 1" gain="3"/>
<adhesion body="a" ctrlrange="0 1" gain="3"/>
<general body="b" gear="2"/>
<general joint="jy" gear="1 2 3"/>
<general jointinparent="fj" gear="1 2 3 4 5 6"/>
<general joint="fj" gear="1 0 3 4 0 6"/>
""".strip().splitlines()


def dense_moments(model: Any, data: Any) -> Any:
    dense = np.zeros((model.nu, model.nv))
    for i in range(model.nu):
        row = slice(data.moment_rowadr[i], data.moment_rowadr[i] + data.moment_rownnz[i])
        dense[i, data.moment_colind[row]] = data.actuator_moment[row]
    return dense


def compare(model: Any, qpos: Any) -> Any:
    """Compare at one state; returns MuJoCo's data. Which exact zeros are stored is left to rounding."""
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    for data in (ours, theirs):
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(model, data)
    ours.actuator_length[:] = np.nan
    ours.actuator_moment[:] = np.nan
    ours.moment_rownnz[:] = 0
    transmission(model, ours)
    np.testing.assert_allclose(ours.actuator_length, theirs.actuator_length, rtol=0, atol=TOLERANCE)
    found, wanted = dense_moments(model, ours), dense_moments(model, theirs)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE)
    return theirs


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_lengths_and_moments_of_every_target_are_mujocos(jacobian: str, cone: str) -> None:
    model = mujoco.MjModel.from_xml_string(WORLD % (jacobian, cone, "".join(ACTUATORS)))
    random, contacts = np.random.default_rng(0), 0
    for _ in range(10):
        qpos = model.qpos0.copy()
        mujoco.mj_integratePos(model, qpos, 0.3 * random.normal(size=model.nv), 1.0)
        contacts += compare(model, qpos).ncon
    assert contacts > 10


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_adhesion_pulls_in_the_gap_too(cone: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="5 5 1"/>
        <body name="b" pos="0 0 .1"><joint type="slide" axis="1 0 1"/><geom size=".1" margin=".1" gap=".05"/>
        <geom size=".1" pos=".3 0 .03" condim="1"/></body>
        </worldbody><actuator><adhesion body="b" ctrlrange="0 1" gain="3"/></actuator></mujoco>"""
    )
    excluded = [
        compare(model, np.array([height])).contact.exclude.tolist() for height in (-0.1, 0.06, 0.09, 0.3)
    ]
    assert [1] in excluded


class Builder:
    """Random trees that touch one another and the ground, with actuators on everything."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.sites, self.joints, self.bodies = ["w"], [], []

    def vector(self, scale: float, count: int = 3) -> str:
        return " ".join(map(str, self.random.normal(size=count) * scale))

    def body(self, name: str, depth: int = 0) -> str:
        random = self.random
        joints = [str(random.choice(["hinge", "slide"])) for _ in range(random.integers(0, 3))]
        if random.random() < 0.3:
            joints = ["ball"] if depth or random.random() < 0.5 else ["free"]
        text = ""
        for number, kind in enumerate(joints):
            self.joints.append(f"j{name}{number}")
            text += f'<joint name="j{name}{number}" type="{kind}" axis="{self.vector(1)}"/>'
        for number in range(2):
            self.sites.append(f"s{name}{number}")
            text += f'<site name="s{name}{number}" pos="{self.vector(0.3)}" euler="{self.vector(40)}"/>'
        shape, condim = random.choice(["sphere", "capsule", "box"]), random.choice([1, 3, 4, 6])
        near = f'margin="{random.choice([0.0, 0.05])}" gap="{random.choice([0.0, 0.03])}"'
        text += f'<geom type="{shape}" size=".1 .1 .1" pos="{self.vector(0.05)}" condim="{condim}" {near}/>'
        self.bodies.append(f"b{name}")
        below = random.integers(0, 3) if depth < 3 else 0
        text += "".join(self.body(f"{name}{i}", depth + 1) for i in range(below))
        return f'<body name="b{name}" pos="{self.vector(0.1)}" euler="{self.vector(40)}">{text}</body>'

    def actuators(self) -> str:
        random = self.random
        text = "".join(
            f'<general {kind}="{joint}" gear="{self.vector(1, 6)}"/>'
            for joint in self.joints
            for kind in ("joint", "jointinparent")
        )
        for _ in range(6):
            gear = " ".join(map(str, random.normal(size=6) * (random.random(6) < 0.6)))
            first, second = random.choice(self.sites, 2, replace=False)
            crank = f'cranklength="{random.uniform(0.01, 2.0)}"'
            text += f'<general site="{first}" gear="{gear}"/><general site="{first}" refsite="{second}" gear="{gear}"/>'
            text += f'<general cranksite="{first}" slidersite="{second}" {crank} gear="{random.normal()}"/>'
        return text + "".join(f'<adhesion body="{body}" ctrlrange="0 1" gain="2"/>' for body in self.bodies)

    def xml(self) -> str:
        jacobian, cone = (
            self.random.choice(["dense", "sparse"]),
            self.random.choice(["elliptic", "pyramidal"]),
        )
        bodies = "".join(self.body(str(i)) for i in range(3))
        return (
            f'<mujoco><option jacobian="{jacobian}" cone="{cone}"/><worldbody><geom type="plane" size="1 1 1"/>'
            f'<site name="w" pos="1 1 1"/>{bodies}</worldbody><actuator>{self.actuators()}</actuator></mujoco>'
        )


def test_random_trees_in_contact() -> None:
    contacts = in_gap = 0
    for seed in range(20):
        builder = Builder(seed)
        model = mujoco.MjModel.from_xml_string(builder.xml())
        qpos = model.qpos0.copy()
        mujoco.mj_integratePos(model, qpos, 0.5 * builder.random.normal(size=model.nv), 1.0)
        data = compare(model, qpos)
        contacts += data.ncon
        in_gap += int(np.count_nonzero(data.contact.exclude == 1))
    assert contacts > 300
    assert in_gap > 20


def test_adhesion_reads_the_contacts_of_data() -> None:
    """The same numbers from dovetail's own Data, its contacts filled in from MuJoCo's."""
    xml = Builder(4).xml()
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    mujoco.mj_forward(theirs_model, theirs)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    for name in ("qpos", "xquat", "site_xpos", "site_xmat", "cdof", "subtree_com"):
        setattr(data, name, getattr(theirs, name))
    data.reserve(ncon_max=theirs.ncon)
    data.ncon = theirs.ncon
    for name in ("geom", "pos", "frame", "exclude"):
        getattr(data.contact, name)[: theirs.ncon] = getattr(theirs.contact, name)
    transmission(model, data)
    assert theirs.ncon > 10
    np.testing.assert_allclose(
        dense_moments(model, data), dense_moments(theirs_model, theirs), rtol=0, atol=TOLERANCE
    )


@pytest.mark.parametrize("how", implementations("transmission"))
@pytest.mark.parametrize("layout", DRIVEN)
def test_every_implementation_has_mujocos_lengths_and_moments(layout: str, how: How) -> None:
    assert_mujocos(DRIVEN[layout], "transmission", how)


def lifted(data: Any, world: int) -> None:
    """The roller a little above what it lay on, in every other world."""
    data.qpos[9] += 0.02 * (world % 2)


@pytest.mark.parametrize("how", implementations("transmission"))
def test_adhesion_pulls_along_the_normals_of_contacts(how: How) -> None:
    text = observed_scene(ADHESION).replace('size=".14"', 'size=".14" gap=".02" margin=".03"')
    worlds = scene(text, 0, 60, lifted).worlds
    assert any(contact.exclude == 1 for data in worlds for contact in data.contact), "no contact in the gap"
    fields = ("actuator_length", "actuator_moment")
    assert_mujocos(text, "transmission", how, seeds=1, warmup=60, prepare=lifted, fields=fields)


def test_adhesion_beside_a_cable_that_touches_itself() -> None:
    """Such contacts are found on NumPy, and no kernel reads them."""
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
        <body name="b" pos="0 1 .099"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body>
        <flexcomp name="cable" type="direct" dim="1" radius=".01" pos="0 0 1" element="0 1 1 2 2 3"
          point="0 0 0 .1 0 0 .1 .1 0 0 .005 0"><contact selfcollide="narrow"/></flexcomp>
        </worldbody><actuator><adhesion body="b" ctrlrange="0 1" gain="3"/></actuator></mujoco>"""
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    for how in ("numpy", LANES):
        sim = dovetail.Simulation(dovetail.loads(xml), backend=how, keep="all")
        mujoco.mj_resetData(theirs_model, theirs)
        for side in (theirs, sim.data):
            side.ctrl[:] = 0.7
        mujoco.mj_step(theirs_model, theirs)
        sim.step()
        assert theirs.contact.flex.max() == 0
        assert theirs.actuator_moment.any()
        np.testing.assert_allclose(sim.data.qvel, theirs.qvel, rtol=1e-9, atol=1e-12)
