"""Every law of actuators, every limit and flag, against MuJoCo at random states with random controls."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from beside_mujoco import Pair

import dovetail
from dovetail.config import Config
from dovetail.errors import RowResultError
from dovetail.plugin import Implementation
from dovetail.plugins.actuation import rows_numpy
from dovetail.plugins.actuator_dynamics.muscle_numpy import rising_share, smooth_step
from dovetail.plugins.shared.muscle_numpy import force_by_length, force_by_velocity
from dovetail.registry import build_registry

FIELDS = ("actuator_length", "actuator_velocity", "act_dot", "actuator_force", "qfrc_actuator", "qacc")

ARM = """<mujoco><extension><plugin plugin="mujoco.pid"/></extension><option timestep=".004" {option}><flag constraint="disable" {flags}/></option><worldbody>
<site name="w" pos=".2 .3 1"/>
<body pos="0 0 1"><joint name="a" axis="0 1 0" {joint}/><geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"/><site name="s" pos=".3 0 .05"/>
<body pos=".4 0 0" gravcomp=".5"><joint name="b" axis="0 1 .3" range="-100 100" actuatorgravcomp="true"/><joint name="c" type="slide" axis="1 0 0"/><geom type="capsule" size=".04" fromto="0 0 0 .3 .1 0"/></body></body></worldbody>
<tendon><spatial name="t" {tendon}><site site="w"/><site site="s"/></spatial><fixed name="f" {tendon}><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""


def arm(actuators: str, option: str = "", flags: str = "", joint: str = "", tendon: str = "") -> str:
    return ARM.format(actuators=actuators, option=option, flags=flags, joint=joint, tendon=tendon)


DYNAMICS = {
    "none": "",
    "integrator": 'dyntype="integrator"',
    "filter": 'dyntype="filter" dynprm=".05"',
    "filter without tau": 'dyntype="filter" dynprm="0"',
    "filterexact": 'dyntype="filterexact" dynprm=".02"',
    "muscle": 'dyntype="muscle" dynprm=".01 .04"',
    "muscle, smooth": 'dyntype="muscle" dynprm=".01 .04 .3"',
    "user": 'dyntype="user"',
    "user with three activations": 'dyntype="user" actdim="3"',
}
MUSCLE = ".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2"
GAINS = {
    "fixed": 'gainprm="3"',
    "affine": 'gaintype="affine" gainprm="1 2 3"',
    "muscle": f'gaintype="muscle" gainprm="{MUSCLE}" lengthrange="-.5 1.5"',
    "muscle of given force": 'gaintype="muscle" gainprm=".6 1.2 30 200 .7 1.3 3 1.1 1.7" lengthrange="-2 2"',
    "user": 'gaintype="user"',
}
BIASES = {
    "none": "",
    "affine": 'biastype="affine" biasprm=".1 -2 -.3"',
    "muscle": f'biastype="muscle" biasprm="{MUSCLE}" lengthrange="-.5 1.5"',
    "user": 'biastype="user"',
}


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("early", [False, True])
def test_dynamics(dynamics: str, early: bool) -> None:
    text = DYNAMICS[dynamics]
    extra = 'actearly="true" actlimited="true" actrange="-.2 .4"' if early and text else ""
    pair = Pair(arm(f'<general joint="a" {text} gainprm="2"/><general joint="b" {text} {extra}/>'))
    pair.compare(*FIELDS)
    if "without tau" not in dynamics:  # that one diverges at once
        pair.step(3)
        pair.check("act", "qvel")


@pytest.mark.parametrize(("gain", "bias"), [*product(GAINS, BIASES)])
def test_gain_and_bias(gain: str, bias: str) -> None:
    law = f"{GAINS[gain]} {BIASES[bias]}"
    if law.count("lengthrange") > 1:
        law = law.replace('lengthrange="-.5 1.5"', "", 1)
    targets = (
        'joint="a"',
        'joint="c" gear="-2"',
        'tendon="t"',
        'tendon="f" gear=".3"',
        'site="s" refsite="w"',
    )
    Pair(arm("".join(f"<general {target} {law}/>" for target in targets))).compare(*FIELDS)


SHORTCUTS = """<motor joint="a" ctrlrange="-.5 .5"/><position joint="b" kp="30" kv="2" forcerange="-4 5"/><velocity joint="c" kv="3"/>
<intvelocity joint="b" kp="10" actrange="-.3 .3"/><damper joint="a" kv="4" ctrlrange="0 1"/><cylinder joint="c" diameter=".2" timeconst=".1" bias=".1 -.2 .3"/>
<position joint="a" kp="30" dampratio="1" timeconst=".05"/><muscle tendon="t" lengthrange=".2 1"/><muscle tendon="t" lengthrange=".2 1" tausmooth=".4" timeconst=".02 .05" force="7"/>"""


@pytest.mark.parametrize("flags", ["", 'clampctrl="disable"', 'actuation="disable"', 'gravity="disable"'])
def test_shortcuts(flags: str) -> None:
    pair = Pair(arm(SHORTCUTS, flags=flags))
    pair.compare(*FIELDS)
    pair.step(3)
    pair.check("act", "qvel")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_trajectory(integrator: str) -> None:
    pair = Pair(arm(SHORTCUTS, option=f'integrator="{integrator}"'))
    pair.set(ctrl=np.linspace(-1.0, 1.0, 9))
    pair.step(100)
    pair.check("act", "qpos", "qvel", tolerance=1e-8)


LIMITED = 'actuatorfrclimited="true" actuatorfrcrange="-.5 .7"'


@pytest.mark.parametrize(
    "case",
    [
        {"joint": 'actuatorfrcrange="-.1 .2"'},
        {"tendon": LIMITED},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1"'},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1 2 3"'},
        {"option": 'actuatorgroupdisable="2"', "flags": 'clampctrl="disable"'},
    ],
    ids=str,
)
def test_limits_and_groups(case: dict[str, str]) -> None:
    actuators = """<general joint="a" dyntype="integrator" group="2" actrange="-.1 .1"/><motor joint="a" forcerange="-1 .5" ctrlrange="-.1 .3" group="3"/>
    <motor tendon="t" group="1"/><motor tendon="t" gear="3" forcerange="-.2 .2"/><motor tendon="f" group="2"/><motor tendon="f" group="31"/>
    <general joint="b" dyntype="filterexact" dynprm=".1" actearly="true" group="1"/><motor joint="b" gear="5" group="-1" forcerange=".1 .2"/>"""
    pair = Pair(arm(actuators, **case))
    pair.compare(*FIELDS)
    pair.step(3)
    pair.check("act", "qvel")


# ---- the engine plugin pid


def servo(target: str = 'joint="a"', dyntype: str = "none", more: str = "", **config: str) -> str:
    dynamic = dyntype in ("integrator", "filter", "filterexact")
    count = ("ki" in config) + ("slewmax" in config) + dynamic
    rows_numpy = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    return f'<plugin plugin="mujoco.pid" {target} actdim="{count}" dyntype="{dyntype}" dynprm=".1" {more}>{rows_numpy}</plugin>'


CONFIGS = [
    {"kp": "10"},
    {"kp": "10", "kd": "2"},
    {"ki": "5", "imax": ".01"},
    {"kp": "1e1x", "ki": "5", "kd": "0x1p1", "imax": "", "slewmax": "2"},
    {"kp": "3", "slewmax": "0"},
    {"kp": "10", "ki": "4", "kd": "1", "imax": ".3", "slewmax": "5"},
]


@pytest.mark.parametrize("dyntype", ["none", "integrator", "filter", "filterexact"])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_pid(config: dict[str, str], dyntype: str) -> None:
    early = 'actearly="true" actlimited="true" actrange="-.2 .3"' if dyntype != "none" else ""
    actuators = (
        '<motor joint="b"/>'
        + servo(dyntype=dyntype, more='ctrlrange="-.4 .6"', **config)
        + servo('joint="c" gear="2"', dyntype, early, **config)
        + servo('tendon="t"', dyntype, 'forcerange="-1 1"', **config)
    )
    pair = Pair(arm(actuators))
    pair.compare(*FIELDS)
    pair.step(5)
    pair.check("act", "qvel", "actuator_force")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_pid_trajectory(integrator: str) -> None:
    config = CONFIGS[-1]
    actuators = servo(**config) + servo('joint="b"', "filter", **config) + servo('joint="c"', **CONFIGS[3])
    pair = Pair(arm(actuators, option=f'integrator="{integrator}"'))
    pair.set(ctrl=[0.5, -0.7, 0.1])
    pair.step(200)
    pair.check("act", "qpos", "qvel", tolerance=1e-8)


@pytest.mark.parametrize(
    "case",
    [
        {"option": 'actuatorgroupdisable="0"'},
        {"flags": 'clampctrl="disable"'},
        {"flags": 'actuation="disable"'},
        {"tendon": LIMITED},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1"'},
        {"joint": 'actuatorfrcrange="-.1 .2"'},
    ],
    ids=str,
)
def test_pid_under_limits_and_groups(case: dict[str, str]) -> None:
    actuators = servo('tendon="t" group="0"', more='ctrlrange="-.1 .1"', **CONFIGS[-1])
    actuators += '<motor tendon="t" group="1"/>' + servo(more='group="0"', **CONFIGS[1])
    pair = Pair(arm(actuators, **case))
    pair.compare(*FIELDS)
    pair.step(2)
    pair.check("act", "qvel")


def test_one_pid_instance_can_drive_several_actuators() -> None:
    xml = arm(
        '<plugin joint="a" instance="x" actdim="1"/><motor joint="c"/><plugin joint="b" instance="x" actdim="1"/>'
    )
    instance = '<instance name="x"><config key="kp" value="4"/><config key="ki" value="2"/></instance>'
    Pair(
        xml.replace('<plugin plugin="mujoco.pid"/>', f'<plugin plugin="mujoco.pid">{instance}</plugin>')
    ).compare(*FIELDS)


def test_pid_falls_back_to_the_reference_where_taichi_is_wished() -> None:
    pytest.importorskip("taichi")
    model = dovetail.loads(arm(servo(**CONFIGS[-1])))
    plan = dovetail.compile_plan(model, Config.of_call(backend="taichi"))
    assert plan.choices["actuation"].record.backend == "numpy"


# ---- controls that are no numbers, rows that return nonsense


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("broken", [np.nan, np.inf, -2e10])
@pytest.mark.parametrize("limited", ["", 'ctrlrange="-1 1"'])
def test_a_broken_control_zeroes_all_as_in_mujoco(broken: float, limited: str) -> None:
    pair = Pair(
        arm(
            f'<motor joint="a"/><general joint="b" dyntype="filter" dynprm=".1"/><motor name="bad" joint="c" {limited}/>'
        )
    )
    pair.randomise()
    pair.set(ctrl=[1.0, 2.0, broken])
    pair.forward()
    pair.check(*FIELDS)


def test_the_warning_names_actuator_and_time() -> None:
    model = dovetail.loads(arm('<motor joint="a"/><motor name="elbow" joint="b"/>'))
    data = dovetail.make_data(model)
    data.ctrl, data.time = [0.0, np.nan], 1.25
    with pytest.warns(RuntimeWarning, match=r"ctrl of actuator 'elbow' is nan at time 1\.25"):
        dovetail.forward(model, data)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros(3), r"actuator_gain:user \(acme\.laws:stiff\) returned shape \(3,\), expected \(2,\)"),
        (1.0, r"returned shape \(\), expected \(2,\)"),
        (np.zeros((2, 1)), r"returned shape \(2, 1\), expected \(2,\)"),
        (None, r"returned None, which is not numbers"),
        (["a", "b"], r"returned \['a', 'b'\], which is not numbers"),
        (np.zeros(2, complex), "which is not numbers"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
    ],
)
def test_a_row_that_returns_nonsense_is_named(result: Any, message: str) -> None:
    def stiff(model: Any, data: Any, ids: Any) -> Any:
        return result

    stiff.__module__, stiff.__qualname__ = "acme.laws", "stiff"
    with pytest.raises(RowResultError, match=message):
        rows_numpy.checked(stiff(None, None, None), (2,), "actuator_gain:user", stiff)


def own_gain(model: Any, data: Any, ids: Any) -> Any:
    """A row of a user's own; it is right only for models with two such actuators."""
    return np.array([5.0, 7.0])


def with_own_gain(actuators: str) -> Any:
    registry = build_registry(third_party=False)
    registry.add(
        Implementation(
            stage="actuator_gain",
            key="user",
            name="own",
            backend="numpy",
            target="test_actuator_rows:own_gain",
        )
    )
    model = dovetail.loads(arm(actuators))
    plan = dovetail.compile_plan(
        model, Config.of_call(stages={"actuator_gain:user": "own"}), registry=registry
    )
    data = plan.make_data()
    data.ctrl = 1.0
    plan.forward(data)
    return data


def test_a_row_of_a_users_own_takes_the_place_of_the_built_in_one() -> None:
    user = '<general joint="a" gaintype="user"/>'
    assert with_own_gain(user + '<motor joint="b"/>' + user).actuator_force.tolist() == [5.0, 1.0, 7.0]
    with pytest.raises(
        RowResultError, match=r"actuator_gain:user \(test_actuator_rows:own_gain\) .* \(2,\), expected \(1,\)"
    ):
        with_own_gain(user)


def test_a_plugin_row_returns_rates_and_force() -> None:
    model = dovetail.loads(arm(servo(**CONFIGS[2])))
    data = dovetail.make_data(model)
    for result, message in (
        (1.0, r"should return \(rates, force\)"),
        ((np.zeros(2), 1.0), r"actuator_plugin:mujoco\.pid .* returned shape \(2,\), expected \(1,\)"),
        ((np.zeros(1), np.zeros(1)), r"returned shape \(1,\), expected \(\)"),
    ):
        parts = {"actuator_plugin": {"mujoco.pid": lambda *_, result=result: result}}
        with pytest.raises(RowResultError, match=message):
            rows_numpy.of_plugin(model, data, parts, 0)


# ---- without MuJoCo: what the curves of muscles are


def test_muscle_curves() -> None:
    lmin, lmax, fvmax = np.array([0.5]), np.array([1.6]), np.array([1.3])
    length = [force_by_length(np.array([x]), lmin, lmax)[0] for x in (0.4, 0.5, 0.75, 1.0, 1.3, 1.6, 1.7)]
    np.testing.assert_allclose(length, [0.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.0], atol=1e-15)
    velocity = [force_by_velocity(np.array([v]), fvmax)[0] for v in (-2.0, -1.0, 0.0, 0.3, 2.0)]
    np.testing.assert_allclose(velocity, [0.0, 0.0, 1.0, 1.3, 1.3], atol=1e-15)


def test_blended_time_constants_meet_the_hard_ones() -> None:
    assert smooth_step(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.5, 1.0]
    towards = np.array([-0.2, -0.01, 0.01, 0.2])
    hard, soft = rising_share(towards, np.zeros(4)), rising_share(towards, np.full(4, 0.1))
    assert hard.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert soft[0] == 0.0 < soft[1] < 0.5 < soft[2] < soft[3] == 1.0
