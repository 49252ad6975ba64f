"""Body accelerations and forces, and subtree momenta, against MuJoCo: contacts, applied forces, equalities."""

from __future__ import annotations

from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from implementations import How, assert_mujocos, implementations  # noqa: E402
from observed_scene import scene as observed_scene  # noqa: E402
from sensor_reference import filled, forward, reference, run_record  # noqa: E402
from smooth_reference import spoil, worst_error  # noqa: E402

from dovetail.compare.oracle import model_from_mujoco  # noqa: E402
from dovetail.contracts.types import DATA_SPECS  # noqa: E402

TOLERANCE = {"body_forces": 1e-12, "subtree_velocity": 1e-12}
"""Relative to the field's largest value. Forces of 1e5 N cancel in cfrc_int, which is why it is not absolute."""

BODIES = """
  <worldbody>
    <geom type="plane" size="5 5 .1" condim="{condim}"/>
    <site name="sw" pos=".2 .1 .4"/>
    <body name="a" pos="0 0 .1"><freejoint/><geom type="box" size=".2 .1 .15" pos=".05 0 0" condim="{condim}"
        friction=".8 .05 .02"/><site name="sa" pos=".1 .2 .1" euler="10 20 30"/>
      <body name="b" pos=".3 0 0"><joint type="ball"/><geom type="capsule" size=".08 .1" condim="{condim}"/>
        <site name="sb" pos="0 .1 .1"/>
        <body name="c" pos=".2 0 0"><joint axis="0 1 1"/><geom size=".1" condim="{condim}"/></body></body></body>
    <body name="d" pos=".1 .1 .35" euler="40 0 10"><freejoint/><geom type="box" size=".1 .2 .1" condim="{condim}"/>
      <site name="sd" pos="-.1 0 .2" euler="0 0 60"/></body>
    <body name="e" pos="1 1 1"><geom size=".1"/><body name="f" pos=".1 0 0"><joint type="slide"/><geom size=".1"/>
      </body></body>
  </worldbody>
"""
EQUALITIES = {
    "none": "",
    "connect": '<connect body1="a" body2="d" anchor=".3 .2 .1"/>',
    "weld": '<weld body1="b" body2="d" anchor=".1 .2 .3" torquescale=".4"/>',
    "weld to a pose": '<weld body1="c" body2="d" relpose=".1 .2 .3 .5 .5 .5 .5"/>',
    "to the world": '<connect body1="a" anchor=".1 0 0"/><weld body1="d"/>',
    "sites": '<connect site1="sa" site2="sd"/><weld site1="sb" site2="sw" torquescale="2"/>',
    "mixed": """<joint joint1="j" polycoef="0 1 0 0 0"/><weld body1="a" body2="d" active="false"/>
        <connect site1="sd" site2="sb"/><connect body1="f" body2="c" anchor="0 0 0"/>
        <weld body1="e" body2="world"/>""",
}


def model_text(equality: str = "", condim: int = 3, cone: str = "pyramidal", flags: str = "") -> str:
    bodies = BODIES.format(condim=condim).replace('<joint type="slide"/>', '<joint name="j" type="slide"/>')
    return (
        f'<mujoco><option cone="{cone}"><flag {flags}/></option>{bodies}'
        f"<equality>{equality}</equality></mujoco>"
    )


def states(xml: str, count: int) -> Any:
    """MuJoCo's results near the initial pose, so that contacts abound."""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        qpos = mj_model.qpos0.copy()
        mujoco.mj_integratePos(mj_model, qpos, rng.normal(size=mj_model.nv), 0.05)
        yield forward(mj_model, seed, qpos=qpos)


def compare(mj_model: Any, mj_data: Any, stage: str) -> None:
    """Run the stage on MuJoCo's other results; every field it writes must be MuJoCo's."""
    {"body_forces": mujoco.mj_rnePostConstraint, "subtree_velocity": mujoco.mj_subtreeVel}[stage](
        mj_model, mj_data
    )
    model = model_from_mujoco(mj_model)
    data = filled(model, mj_data)
    written = [spec.name for spec in DATA_SPECS.values() if spec.writer == stage]
    for name in written:
        spoil(data.field(name))
    run_record(reference(stage), model, data)
    for name in written:
        assert worst_error(data.field(name), getattr(mj_data, name)) < TOLERANCE[stage], name


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_contacts_and_applied_forces(cone: str, condim: int) -> None:
    pushing = 0
    for mj_model, mj_data in states(model_text(condim=condim, cone=cone), 6):
        compare(mj_model, mj_data, "body_forces")
        pushing += int(np.count_nonzero(mj_data.contact.efc_address >= 0))
    assert pushing > 10


@pytest.mark.parametrize("equality", EQUALITIES)
def test_forces_of_equalities_are_mujocos(equality: str) -> None:
    for mj_model, mj_data in states(model_text(EQUALITIES[equality]), 6):
        compare(mj_model, mj_data, "body_forces")
        assert mj_data.ne >= mj_model.neq


@pytest.mark.parametrize("flags", ['constraint="disable"', 'gravity="disable"', 'contact="disable"'])
def test_body_forces_are_mujocos_under_flags(flags: str) -> None:
    for mj_model, mj_data in states(model_text(EQUALITIES["mixed"], flags=flags), 3):
        compare(mj_model, mj_data, "body_forces")


def test_contacts_in_the_gap_push_nobody() -> None:
    xml = model_text().replace("<geom ", '<geom margin=".3" gap=".29" ')
    for mj_model, mj_data in states(xml, 3):
        compare(mj_model, mj_data, "body_forces")
        assert (mj_data.contact.efc_address < 0).any()


def test_contacts_of_flexes_do_not_count() -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="b" pos="0 0 .1"><freejoint/>
    <geom size=".12"/>
    <flexcomp type="grid" count="4 4 1" spacing=".1 .1 .1" name="cloth" dim="2" radius=".02" mass="1" pos=".5 0 -.1">
    <contact selfcollide="none"/><edge equality="true"/></flexcomp></body></worldbody></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    np.nan_to_num(mj_model.flex_vert0, copy=False)  # a flat grid has no depth to divide by
    mj_data = mujoco.MjData(mj_model)
    mj_data.qvel[:] = np.random.default_rng(0).normal(size=mj_model.nv)
    mujoco.mj_forward(mj_model, mj_data)
    flexes = (mj_data.contact.geom < 0).any(axis=1)
    assert flexes.any()
    assert not flexes.all()
    compare(mj_model, mj_data, "body_forces")


def test_the_world_alone_feels_what_it_does_in_mujoco() -> None:
    mj_model, mj_data = forward("<mujoco/>", 0)
    compare(mj_model, mj_data, "body_forces")
    compare(mj_model, mj_data, "subtree_velocity")


@pytest.mark.parametrize(
    ("cone", "condim"), [("pyramidal", 6), pytest.param("elliptic", 3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("how", implementations("body_forces"))
def test_every_implementation_has_mujocos_accelerations_and_forces(how: How, cone: str, condim: int) -> None:
    rest = '<sensor><force site="wrist"/></sensor>'
    text = observed_scene(rest, cone, condim).replace("<option ", '<option tolerance="1e-14" ')
    fields = ("cacc", "cfrc_ext", "cfrc_int")
    assert_mujocos(text, "body_forces", how, seeds=1, warmup=60, fields=fields)
