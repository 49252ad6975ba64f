"""Constraints that contradict each other, or whose numbers make little sense: the steps end, and are MuJoCo's.

Where MuJoCo replaces a setting it says so once in its log; here a warning names the object.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compare.errors import relative_error

mujoco = pytest.importorskip("mujoco")

STEPS = 30
TOLERANCE = 1e-8


def document(world: str, more: str = "", option: str = "") -> str:
    return f"<mujoco>{option}<worldbody>{world}</worldbody>{more}</mujoco>"


LEVER = """<body name="a"><joint name="j" axis="0 1 0" {joint}/>
  <geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>"""
PLANE = '<geom name="floor" type="plane" size="1 1 1" {geom}/>'
BALL = '<body name="ball" pos="0 0 .0999"><freejoint/><geom name="sphere" size=".1" {geom}/></body>'


def on_floor(geom: str) -> str:
    return (PLANE + BALL).format(geom=geom)


def chain(mass: float) -> str:
    """A loop of links of which two weigh next to nothing."""
    light = f'<inertial pos=".1 0 0" mass="{mass}" diaginertia="{mass / 1e3} {mass / 1e3} {mass / 1e3}"/>'
    world = f"""<body><joint axis="0 1 0"/>{light}<body pos=".2 0 0"><joint axis="0 1 0"/>{light}
      <body name="c" pos=".2 0 0"><joint axis="0 1 0"/><geom size=".05" pos=".1 0 0"/></body></body></body>"""
    return document(world, '<equality><connect body1="c" anchor=".2 0 0"/></equality>')


STIFF = '<option timestep=".002"><flag refsafe="disable"/></option>'
CASES = {
    "connections to two places": document(
        LEVER.format(joint=""),
        """<equality><connect body1="a" anchor=".3 0 0"/><connect body1="a" anchor=".1 .2 .1"/>
        <weld body1="a" relpose=".1 .1 .1 1 0 0 0"/></equality>""",
    ),
    "a joint at two angles": document(
        LEVER.format(joint=""),
        """<equality><joint joint1="j" polycoef=".5 0 0 0 0"/>
        <joint joint1="j" polycoef="-.5 0 0 0 0"/></equality>""",
    ),
    "the same equality twenty times": document(
        LEVER.format(joint=""),
        "<equality>" + '<joint joint1="j" polycoef=".5 0 0 0 0"/>' * 20 + "</equality>",
    ),
    "an equality beyond a limit": document(
        LEVER.format(joint='limited="true" range="-10 10"'),
        '<equality><joint joint1="j" polycoef="1 0 0 0 0"/></equality>',
    ),
    "welds to two poses": document(
        BALL.format(geom=""),
        """<equality><weld body1="ball" relpose="0 0 1 1 0 0 0"/>
        <weld body1="ball" relpose="0 0 2 0 1 0 0"/></equality>""",
    ),
    "a loop of nearly no mass": chain(1e-3),
    "limits without end": document(
        """<body><joint type="slide" limited="true" range="-1e30 1e30"/><geom size=".1"/></body>
        <body pos="1 0 0"><joint type="slide" limited="true" range="-1e308 1e308"/><geom size=".1"/></body>
        <body pos="2 0 0"><joint type="slide" limited="true" range="-1e308 0"/><geom size=".1"/></body>"""
    ),
    "stiffness of a million": document(on_floor('solref="-1e6 -1e3"'), option=STIFF),
    "stiffness of a million, undamped": document(on_floor('solref="-1e6 -1e-9"'), option=STIFF),
    "a time constant of a microsecond": document(on_floor('solref="1e-6 1"')),
    "a time constant of a microsecond, not made safe": document(on_floor('solref="1e-6 1"'), option=STIFF),
    "a spring of a million": document(
        '<body><joint type="slide" stiffness="1e6" springref=".1"/><geom size=".1"/></body>'
    ),
    "impedance out of range": document(on_floor('solimp="-1 2 -1 3 0"')),
    "spheres at the same place": document(
        """<body><freejoint/><geom size=".1"/></body><body><freejoint/><geom size=".1"/></body>
        <body><freejoint/><geom type="capsule" size=".1 .1"/></body>"""
    ),
    "friction without end": document(on_floor('friction="1e10 1e10 1e10" condim="6"')),
}


def run_both(xml: str, steps: int = STEPS) -> tuple[dovetail.Data, Any, list[float]]:
    """Both engines after some steps, and the errors of qacc on the way."""
    model, theirs = dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml)
    data, oracle = dovetail.make_data(model), mujoco.MjData(theirs)
    errors = []
    for _ in range(steps):
        mujoco.mj_step(theirs, oracle)
        dovetail.step(model, data)
        errors.append(relative_error(data.qacc, oracle.qacc))
    return data, oracle, errors


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("case", CASES)
def test_bad_constraints_do_what_mujoco_does(case: str, cone: str) -> None:
    xml = CASES[case].replace("<mujoco>", f'<mujoco><option cone="{cone}"/>')
    data, oracle, errors = run_both(xml)
    assert data.nefc == oracle.nefc
    assert np.isfinite(data.qpos).all()
    assert max(errors) < TOLERANCE


@pytest.mark.parametrize("solver", ["PGS", "CG", "Newton"])
@pytest.mark.parametrize("case", ["connections to two places", "a joint at two angles", "welds to two poses"])
def test_every_solver_ends_on_contradictions(case: str, solver: str) -> None:
    """Redundant rows have a singular dual; regularisation makes the answer unique."""
    xml = CASES[case].replace("<mujoco>", f'<mujoco><option solver="{solver}" tolerance="1e-12"/>')
    data, _, errors = run_both(xml)
    assert np.isfinite(data.efc_force[: data.nefc]).all()
    assert max(errors) < 1e-6


def test_a_spring_too_stiff_for_the_step_resets_as_in_mujoco() -> None:
    xml = document(LEVER.format(joint='stiffness="1e7" springref="10"'))
    with pytest.warns(RuntimeWarning, match='joint "j".* the world is reset'):
        data, oracle, _ = run_both(xml, steps=40)
    assert data.time == pytest.approx(oracle.time, abs=1e-12)
    assert data.time < 40 * 0.002


def test_a_loop_of_a_nanogram_is_as_good_as_its_condition_allows() -> None:
    """MuJoCo's own dense and sparse factors differ by 3e-5 here; ours lies as near."""
    xml = chain(1e-9)
    answers = []
    for jacobian in ("dense", "sparse"):
        model = mujoco.MjModel.from_xml_string(
            xml.replace("<mujoco>", f'<mujoco><option jacobian="{jacobian}"/>')
        )
        oracle = mujoco.MjData(model)
        mujoco.mj_forward(model, oracle)
        answers.append(np.array(oracle.qacc))
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    spread = np.abs(answers[0] - answers[1]).max()
    assert np.abs(data.qacc - answers[0]).max() <= 2.0 * spread + TOLERANCE * np.abs(answers[0]).max()


MIXED = {
    "contact": (document(on_floor('solref="-100 1"')), 'geom "floor" and geom "sphere"'),
    "limit": (document(LEVER.format(joint='limited="true" range="10 20" solreflimit=".02 -1"')), 'joint "j"'),
    "equality": (
        document(
            LEVER.format(joint=""),
            '<equality><joint name="tie" joint1="j" polycoef=".1 0 0 0 0" solref="-.02 1"/></equality>',
        ),
        'equality "tie"',
    ),
    "friction": (document(LEVER.format(joint='frictionloss=".1" solreffriction="-1 1"')), 'joint "j"'),
}


@pytest.mark.parametrize("kind", MIXED)
def test_mixed_signs_of_solref_warn_with_the_name_of_the_object(kind: str) -> None:
    """And MuJoCo's default takes their place."""
    xml, name = MIXED[kind]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        data, _, errors = run_both(xml, steps=10)
    assert data.time > 0
    assert any(name in str(warning.message) and "solref" in str(warning.message) for warning in said)
    assert max(errors) < TOLERANCE
