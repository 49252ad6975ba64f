"""A package by someone else that adds one of everything, without a change to dovetail: each is chosen, and its effect
is in the numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from lane_backend import NO_COMPILER

needs_lanes = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")

Ask = Callable[..., Any]


@pytest.fixture
def acme(ask: Ask) -> Ask:
    """Ask where the package is installed."""
    return partial(ask, packages=("dovetail_acme",))


LANES = 'dict(backend="native")'

WEDGE = """
MODEL = '''
<mujoco>
  <asset><mesh name="wedge" inertia="exact" vertex="0 0 0  .4 0 0  0 .2 0  0 0 .6"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="wedge" density="1000"/></body></worldbody>
</mujoco>'''
"""


def test_its_inertia_is_chosen_while_a_model_is_loaded(acme: Ask) -> None:
    usual, crate, said = acme(
        WEDGE
        + """
usual = dovetail.loads(MODEL)
crate = dovetail.loads(MODEL, stages={"mesh_inertia:exact": "acme"})
answer = float(usual.body_mass[1]), float(crate.body_mass[1]), dict(crate.stages)["mesh_inertia:exact"]
"""
    )
    assert usual == pytest.approx(1000 * 0.4 * 0.2 * 0.6 / 6, rel=1e-6)
    assert crate == pytest.approx(1000 * 0.4 * 0.2 * 0.6, rel=1e-6)
    assert "acme" in said


def test_its_inertia_is_not_used_by_others(acme: Ask) -> None:
    mass = acme(WEDGE + "answer = float(dovetail.loads(MODEL).body_mass[1])")
    assert mass == pytest.approx(8.0, rel=1e-6)


def test_its_flexes_have_its_shape(acme: Ask) -> None:
    points, elements = acme(
        """
        model = dovetail.loads('''
        <mujoco>
          <worldbody>
            <body name="hook">
              <flexcomp name="spring" type="acme_spiral" dim="1" count="9 1 1" spacing=".1 .1 .05" radius=".01"
                        mass="1"/>
            </body>
          </worldbody>
        </mujoco>''')
        # each point is a body of its own
        answer = model.body_pos[2:].round(6).tolist(), model.flex_elem.reshape(-1, 2).tolist()
        """
    )
    assert len(points) == 9
    assert points[0] == pytest.approx([0.1, 0.0, 0.0])
    assert points[2] == pytest.approx([0.0, 0.1, 0.1], abs=1e-6)
    assert points[8] == pytest.approx([0.1, 0.0, 0.4], abs=1e-6)
    assert elements == [[n, n + 1] for n in range(8)]


BALL = """
MODEL = '''
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="ball" pos="0 0 .0999"><freejoint/><geom size=".1" mass="1"/><site name="skin" size=".11"/></body>
  </worldbody>
  <sensor><touch site="skin"/></sensor>
</mujoco>'''
model = dovetail.loads(MODEL)
"""


def test_its_pair_of_geoms_makes_three_contacts(acme: Ask) -> None:
    one, three, points = acme(
        BALL
        + """
sims = [dovetail.Simulation(model, stages={"collide_pair:plane-sphere": name}) for name in ("analytic", "acme")]
for sim in sims:
    sim.forward()
answer = *(int(sim.data.ncon) for sim in sims), sims[1].data.contact.pos[:3].tolist()
"""
    )
    assert (one, three) == (1, 3)
    assert [sum(x) / 3 for x in zip(*points, strict=True)] == pytest.approx([0, 0, -5e-5], abs=1e-9)
    assert points[0][0] == pytest.approx(0.03)


@needs_lanes
def test_its_pair_of_geoms_has_room_for_its_contacts_in_lanes(acme: Ask) -> None:
    count, labels, error, turned = acme(
        BALL
        + f"""
chosen = {{"collide_pair:plane-sphere": "acme"}}
sims = [
    dovetail.Simulation(model, nworld=3, stages=chosen, keep=("ncon",), **kind)
    for kind in (dict(backend="numpy"), {LANES})
]
plain = dovetail.Simulation(model, nworld=3, backend="numpy")
for sim in (*sims, plain):
    sim.data.qvel = np.random.default_rng(0).normal(0, 0.2, (3, 6))
    sim.step(20)
a, b, c = (np.asarray(sim.data.qvel) for sim in (*sims, plain))
answer = (
    np.asarray(sims[1].data.ncon).tolist(),
    [sim.plan.choices["collide_pair:plane-sphere"].record.label for sim in sims],
    float(abs(a - b).max()),
    float(abs(a - c).max()),
)
"""
    )
    assert labels == ["acme@numpy", "acme@native"]
    assert set(count) <= {0, 3}
    assert 3 in count
    assert error < 1e-9
    assert turned > 1e-3  # feet resist rolling


SENSED = """
MODEL = '''
<mujoco>
  <worldbody>
    <body name="arm"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .5 0 0"/></body>
    <body name="stone" pos="1 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>'''
OURS = MODEL.format(sensors='<user name="acme_speed:arm" dim="1"/><user name="acme_speed:stone" dim="1"/>')
OTHERS = MODEL.format(sensors='<user name="else" dim="1"/>')
"""


def test_its_sensor_runs_where_a_model_asks_for_it(acme: Ask) -> None:
    reading, runs, reason = acme(
        SENSED
        + """
sim = dovetail.Simulation(dovetail.loads(OURS))
sim.data.qvel = [2.0, 0, 0, 3.0, 0, 0, 0]
sim.forward()
plans = [dovetail.Simulation(dovetail.loads(text)).plan for text in (OURS, OTHERS)]
runs = ["sensor:acme_speed" in [line.slot for line in plan.lines()] for plan in plans]
from dovetail.features import need
answer = sim.data.sensordata.tolist(), runs, need(dovetail.loads(OURS), "sensor:acme_speed")
"""
    )
    assert reading == pytest.approx([0.5, 3.0])
    assert runs == [True, False]
    assert reason == "2 speedometers"


@needs_lanes
def test_its_sensor_is_in_the_kernel_and_agrees(acme: Ask) -> None:
    segments, error, largest = acme(
        SENSED
        + f"""
model = dovetail.loads(OURS)
sims = [
    dovetail.Simulation(model, nworld=3, keep=("sensordata",), **kind) for kind in (dict(backend="numpy"), {LANES})
]
for sim in sims:
    sim.data.qvel = np.random.default_rng(0).normal(size=(3, 7))
    sim.step(10)
a, b = (np.asarray(sim.data.sensordata) for sim in sims)
answer = len(sims[1].plan.segments()), float(abs(a - b).max()), float(a.min())
"""
    )
    assert segments == 1
    assert error < 1e-12
    assert largest > 0.1


STICKY = """
MODEL = '''
<mujoco>
  {molasses}
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="free"><joint axis="0 0 1"/><geom type="box" size=".1 .1 .1" pos=".3 0 0"/></body>
    <body name="stuck" pos="0 0 1"><joint axis="0 0 1"/><geom type="box" size=".1 .1 .1" pos=".3 0 0"/></body>
  </worldbody>
</mujoco>'''
STUCK = MODEL.format(molasses='<molasses><on body="stuck" stickiness="0.4"/></molasses>')
"""


def test_its_element_fills_its_model_field(acme: Ask) -> None:
    ours, others = acme(
        STICKY
        + """
answer = [dovetail.loads(text).extra["acme:stickiness"].tolist() for text in (STUCK, MODEL.format(molasses=""))]
"""
    )
    assert ours == [0.0, 0.0, 0.4]
    assert others == [0.0, 0.0, 0.0]


def test_a_mistake_in_its_element_has_a_line(acme: Ask) -> None:
    message = acme(
        STICKY
        + """
try:
    dovetail.loads(MODEL.format(molasses='<molasses><on body="stack" stickiness="0.4"/></molasses>'))
except dovetail.DovetailError as error:
    answer = str(error)
"""
    )
    assert ":3:" in message
    assert "stack" in message


def test_its_force_runs_only_where_asked_and_needed(acme: Ask) -> None:
    runs, force = acme(
        STICKY
        + """
models = [dovetail.loads(text) for text in (STUCK, MODEL.format(molasses=""), "<mujoco/>")]
sims = [dovetail.Simulation(model, plugins="acme") for model in models]
sims.append(dovetail.Simulation(models[0]))
sims[0].data.qvel = [1.0, 2.0]
sims[0].forward()
runs = ["passive_force:acme_drag" in [line.slot for line in sim.plan.lines()] for sim in sims]
answer = runs, sims[0].data.qfrc_passive.tolist()
"""
    )
    assert runs == [True, False, False, False]
    assert force == pytest.approx([0.0, -0.8])


@needs_lanes
def test_its_force_reads_its_model_field_in_lanes(acme: Ask) -> None:
    label, segments, error, slower = acme(
        STICKY
        + f"""
model = dovetail.loads(STUCK)
sims = [
    dovetail.Simulation(model, nworld=3, plugins="acme", **kind) for kind in (dict(backend="numpy"), {LANES})
]
for sim in sims:
    sim.data.qvel = np.random.default_rng(0).normal(2.0, 0.1, (3, 2))
    sim.step(50)
a, b = (np.asarray(sim.data.qvel) for sim in sims)
plan = sims[1].plan
label = plan.choices["passive_force:acme_drag"].record.label
answer = label, len(plan.segments()), float(abs(a - b).max()), float((a[:, 1] - a[:, 0]).max())
"""
    )
    assert (label, segments) == ("acme@native", 1)
    assert error < 1e-12
    assert slower < -0.01


RESTING = """
MODEL = '''
<mujoco>
  <option timestep="0.002" tolerance="0" iterations="200"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="box" pos="0 0 .0999"><freejoint/>
      <geom type="box" size=".1 .1 .1" mass="2"/><site name="skin" type="box" size=".12 .12 .12"/></body>
    <body name="flap" pos="1 0 1">
      <joint name="flap" axis="0 1 0" range="-5 1" limited="true"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
      <site name="end" pos=".3 0 0"/>
    </body>
  </worldbody>
  <sensor><touch site="skin"/><jointlimitfrc joint="flap"/><force site="end"/></sensor>
</mujoco>'''
model = dovetail.loads(MODEL)
"""


@needs_lanes
def test_its_solver_feeds_the_sensors_of_force(acme: Ask) -> None:
    labels, segments, readings, error = acme(
        RESTING
        + f"""
chosen = [{{}}, {{"solve_constraints": "acme_patient@native"}}]
sims = [
    dovetail.Simulation(model, nworld=2, keep=("sensordata",), stages=stages, **{LANES}) for stages in chosen
]
for sim in sims:
    sim.data.qvel = np.random.default_rng(0).normal(0, 0.01, (2, model.nv))
    sim.step(100)
a, b = (np.asarray(sim.data.sensordata) for sim in sims)
plan = sims[1].plan
labels = [plan.choices[slot].record.label for slot in ("solve_constraints", "sensor:touch", "sensor:jointlimitfrc")]
answer = labels, len(plan.segments()), b[0].tolist(), float(abs(a - b).max())
"""
    )
    assert labels[0] == "acme_patient@native"
    assert all(label.endswith("@native") for label in labels)
    assert segments == 1
    assert readings[0] == pytest.approx(2 * 9.81, rel=0.05)
    assert readings[1] > 0.1
    assert error < 1e-3


@needs_lanes
def test_its_solver_is_refused_where_its_own_feature_says_so(acme: Ask) -> None:
    message = acme(
        RESTING
        + f"""
model.opt.cone = 1
try:
    dovetail.Simulation(model, nworld=2, stages={{"solve_constraints": "acme_patient@native"}}, **{LANES})
except dovetail.DovetailError as error:
    answer = str(error)
"""
    )
    assert "acme_cone.elliptic" in message


def test_it_leaves_no_trace_when_disabled(acme: Ask) -> None:
    rows = acme(
        """
        from dovetail.registry import default_registry
        labels = [r.label for r in default_registry().implementations if "acme" in r.name]
        answer = labels, list(dovetail.load("arm").extra)
        """,
        DOVETAIL_DISABLED_PLUGINS="acme",
    )
    assert rows == [[], []]
