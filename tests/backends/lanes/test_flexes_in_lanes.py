"""Batches with flexes: the same contacts and accelerations as MuJoCo's in every world, whatever runs where.

What lanes can do runs in one kernel; what they cannot is a plan that names the reference for it, and loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from flex_bodies import ALONE, FLOOR, HELD, ROPE, SHEET, SOLID, grid, scene
from lane_backend import LANES, lanes_missing

import dovetail
from dovetail.registry import default_registry

pytestmark = pytest.mark.skipif(bool(lanes_missing()), reason=lanes_missing())

NWORLD = 5
KEPT = [
    *("ncon", "nefc", "ne", "qacc", "qpos", "qvel", "qacc_warmstart"),
    *("contact.geom", "contact.flex", "contact.elem", "contact.vert"),
]
IDS = ("geom", "flex", "elem", "vert")

ON_THE_FLOOR = {
    "sheet": scene(FLOOR, grid("4 4 1", 2, SHEET, pos="0 0 .02")),
    "solid": scene(
        FLOOR, grid("3 3 2", 3, SOLID, pos="0 0 .04"), option='cone="elliptic" integrator="implicitfast"'
    ),
    "rope": scene(
        FLOOR, grid("8 1 1", 1, ROPE, pos="0 0 .02"), option='solver="CG" tolerance="1e-12" iterations="300"'
    ),
    "held": scene(FLOOR, grid("4 3 1", 2, HELD, pos="0 0 .02"), option='integrator="RK4"'),
    "held_rope": scene(
        '<geom type="plane" size="2 2 .1" euler="0 5 0"/>',
        grid("6 1 1", 1, HELD, pos="0 0 .03", attributes='rgba="1 0 0 1"'),
        option='solver="PGS" tolerance="1e-14" iterations="500"',
    ),
    "many_trees": scene(FLOOR, grid("6 6 1", 2, SHEET, pos="0 0 .011")),
    "pinned_in_the_floor": scene(
        FLOOR, grid("3 3 1", 2, ALONE + '<pin id="0 4"/>', pos="0 0 .005"), option='jacobian="sparse"'
    ),
    "beside_geoms": scene(
        FLOOR,
        '<body pos="0 .5 .1"><freejoint/><geom size=".1" friction=".3" contype="2" conaffinity="3"/></body>',
        '<body pos="0 .75 .1"><freejoint/><geom type="box" size=".1 .1 .1" contype="2" conaffinity="3"/></body>',
        grid(
            "3 3 1",
            2,
            SHEET.replace("<contact ", '<contact contype="4" conaffinity="1" margin=".01" gap=".004" '),
            pos="0 0 .02",
        ),
    ),
}
"""Models that lanes run alone."""


def worlds(text: str, nworld: int = NWORLD, speed: float = 0.05) -> tuple[Any, list[Any]]:
    """MuJoCo's model and some worlds of it, nearly at rest."""
    m = mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(0)
    found = []
    for world in range(nworld):
        d = mujoco.MjData(m)
        d.qvel[:] = speed * rng.normal(size=m.nv)
        d.qvel[2::3] -= 0.1 * world * (m.njnt == m.nv)
        found.append(d)
    return m, found


def batch(text: str, nworld: int = NWORLD, **choices: Any) -> dovetail.Simulation:
    return dovetail.Simulation(dovetail.loads(text), nworld=nworld, backend=LANES, keep=KEPT, **choices)


def inject(sim: dovetail.Simulation, theirs: list[Any]) -> None:
    for world, d in enumerate(theirs):
        for name in ("qpos", "qvel", "qacc_warmstart", "eq_active"):
            sim.data.field(name)[world] = getattr(d, name)


def along(
    m: Any, theirs: list[Any], sim: dovetail.Simulation, steps: int, stride: int
) -> Iterator[list[Any]]:
    """MuJoCo's worlds, evaluated along its own steps, and with them the simulation's."""
    for _ in range(0, steps, stride):
        inject(sim, theirs)
        sim.forward()
        for d in theirs:
            mujoco.mj_forward(m, d)
        yield theirs
        for d in theirs:
            for _ in range(stride):
                mujoco.mj_step(m, d)


def assert_same_contacts(sim: dovetail.Simulation, theirs: list[Any]) -> None:
    for world, d in enumerate(theirs):
        counts = [int(sim.data.field(name)[world]) for name in ("ncon", "nefc", "ne")]
        assert counts == [d.ncon, d.nefc, d.ne], world
        for name in IDS:
            ours = np.asarray(sim.data.field(f"contact.{name}")[world])[: d.ncon]
            np.testing.assert_array_equal(ours, getattr(d.contact, name))


def acceleration_error(sim: dovetail.Simulation, theirs: list[Any]) -> float:
    return max(
        float(np.abs(sim.data.qacc[world] - d.qacc).max() / max(1.0, np.abs(d.qacc).max()))
        for world, d in enumerate(theirs)
    )


def on_numpy(sim: dovetail.Simulation) -> list[str]:
    """The slots that the plan runs by the reference."""
    return [line.split()[1] for line in sim.plan.explain().splitlines() if "@numpy" in line]


@pytest.mark.slow_cases("held", "many_trees", "held_rope", "solid")
@pytest.mark.parametrize("name", ON_THE_FLOOR)
def test_lanes_have_mujocos_contacts_along_200_steps(name: str) -> None:
    m, theirs = worlds(ON_THE_FLOOR[name])
    sim = batch(ON_THE_FLOOR[name])
    assert on_numpy(sim) == []
    most, worst, differing = 0, 0.0, False
    for states in along(m, theirs, sim, 200, 5):
        assert_same_contacts(sim, states)
        worst = max(worst, acceleration_error(sim, states))
        most = max(most, *(d.ncon for d in states))
        differing |= len({d.ncon for d in states}) > 1
    assert most > 0
    assert differing or name in ("pinned_in_the_floor", "many_trees", "beside_geoms")
    assert worst < 1e-8


def test_single_precision_has_as_many_contacts() -> None:
    """f32: accelerations within 1e-3 of the largest; a vertex within rounding of the floor may differ."""
    m, theirs = worlds(ON_THE_FLOOR["sheet"])
    sim = batch(ON_THE_FLOOR["sheet"], precision="f32")
    for states in along(m, theirs, sim, 200, 20):
        for world, d in enumerate(states):
            heights = d.flexvert_xpos[:, 2] - 0.01
            sure, unsure = (heights < -1e-6).sum(), (np.abs(heights) <= 1e-6).sum()
            assert sure <= int(sim.data.ncon[world]) <= sure + unsure
        assert acceleration_error(sim, states) < 1e-3


def test_one_world_and_no_contacts() -> None:
    """A batch of one; one world of several without contacts."""
    for nworld in (1, 3):
        m, theirs = worlds(ON_THE_FLOOR["sheet"], nworld)
        theirs[-1].qpos[2::3] += 0.5
        sim = batch(ON_THE_FLOOR["sheet"], nworld)
        for states in along(m, theirs, sim, 100, 10):
            assert_same_contacts(sim, states)
            assert acceleration_error(sim, states) < 1e-10
        assert theirs[-1].ncon == 0


def test_vertices_are_kept_by_name() -> None:
    text = ON_THE_FLOOR["sheet"]
    m, theirs = worlds(text)
    sim = dovetail.Simulation(
        dovetail.loads(text), nworld=NWORLD, backend=LANES, keep=["state", "flexvert_xpos"]
    )
    inject(sim, theirs)
    sim.step(1)
    for world, d in enumerate(theirs):
        mujoco.mj_step(m, d)
        np.testing.assert_allclose(sim.data.flexvert_xpos[world], d.flexvert_xpos, atol=1e-12)


@pytest.mark.parametrize(
    "field", ["flex_damping", "flex_stiffness", "flex_radius", "flex_bending", "flex_edgedamping"]
)
def test_edits_between_steps_are_seen(field: str) -> None:
    m, theirs = worlds(ON_THE_FLOOR["sheet"], 2)
    sim = batch(ON_THE_FLOOR["sheet"], 2)
    inject(sim, theirs)
    sim.step(3)
    for d in theirs:
        mujoco.mj_step(m, d, 3)
    for model in (m, sim.model):
        values = getattr(model, field)
        values[...] = 0.3 if field == "flex_edgedamping" else 1.5 * np.asarray(values)
    sim.step(20)
    for world, d in enumerate(theirs):
        mujoco.mj_step(m, d, 20)
        np.testing.assert_allclose(sim.data.qpos[world], d.qpos, atol=1e-10)


def test_equalities_are_switched_by_world() -> None:
    m, theirs = worlds(ON_THE_FLOOR["held"], 3)
    theirs[1].eq_active[:] = 0
    sim = batch(ON_THE_FLOOR["held"], 3)
    for states in along(m, theirs, sim, 40, 8):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-8
    assert theirs[1].ne == 0 < theirs[0].ne


def test_vertices_are_first_and_last_by_signature() -> None:
    """Contacts of flexes stand behind those of bodies with the same lower body."""
    m, theirs = worlds(ON_THE_FLOOR["beside_geoms"], 2)
    for d in theirs:
        mujoco.mj_step(m, d, 60)
        mujoco.mj_forward(m, d)
    flexes = [d.contact.flex[:, 1] >= 0 for d in theirs]
    assert all(f.any() and not f.all() and (np.diff(f.astype(int)) >= 0).all() for f in flexes)


# ---- elements -----------------------------------------------------------------------------------------------

ROPE_UP = grid("7 1 1", 1, ROPE, pos="0 0 .062")
SHEET_UP = grid("4 4 1", 2, SHEET, pos="0 0 .062")
BALL = '<geom size=".05"/>'
ELEMENTS = {
    "ball": scene(BALL, SHEET_UP),
    "ball_of_many_trees": scene(FLOOR, BALL, grid("6 6 1", 2, SHEET, pos="0 0 .061")),
    "loose_ball_of_many_trees": scene(
        FLOOR,
        '<body pos="0 0 .05"><freejoint/><geom size=".05"/></body>',
        grid("6 6 1", 2, SHEET, pos="0 0 .111"),
    ),
    "loose_ball": scene(
        FLOOR,
        '<body pos="0 0 .09"><freejoint/><geom size=".05"/></body>',
        grid("4 4 1", 2, SHEET, pos="0 0 .03"),
    ),
    "held_on_a_ball": scene(BALL, grid("4 4 1", 2, HELD, pos="0 0 .062"), option='cone="elliptic"'),
    "ball_by_cg": scene(BALL, SHEET_UP, option='solver="CG" tolerance="1e-13" iterations="400"'),
    "rope_on_a_capsule": scene('<geom type="capsule" size=".05 .1" euler="90 0 0"/>', ROPE_UP),
    "rope_along_a_capsule": scene('<geom type="capsule" size=".05 .1" euler="0 90 0"/>', ROPE_UP),
    "rope_on_a_box": scene('<geom type="box" size=".05 .05 .05" euler="0 0 20"/>', ROPE_UP),
    "box": scene(
        '<geom type="box" size=".05 .05 .05" euler="3 4 0"/>', grid("4 4 1", 2, SHEET, pos="0 0 .065")
    ),
    "solid_and_sheet": scene(
        '<geom type="cylinder" size=".08 .05" euler="3 5 0"/>',
        grid("3 3 2", 3, SOLID.replace("<contact ", '<contact contype="2" conaffinity="1" '), pos="0 0 .09"),
        '<geom type="capsule" size=".05 .06" pos=".3 0 0" euler="20 70 0"/>',
        grid(
            "3 3 1",
            2,
            SHEET.replace("<contact ", '<contact contype="2" conaffinity="1" margin=".004" '),
            pos=".3 0 .07",
        ).replace('"flex"', '"other"'),
    ),
    "pinned_to_a_limb": scene(
        '<body name="limb" pos="0 0 .062"><joint type="ball"/><geom size=".01" pos="0 0 .1"/>',
        grid("4 3 1", 2, SOLID + '<pin id="0 1"/>', pos="0 0 0"),
        "</body>",
        '<body><freejoint/><geom size=".05"/></body>',
    ),
}
"""Contacts of elements, by formulas and of convex shapes: all in lanes."""


@pytest.mark.slow_cases(
    "loose_ball_of_many_trees", "solid_and_sheet", "ball_by_cg", "box", "loose_ball", "rope_on_a_box"
)
@pytest.mark.parametrize("name", ELEMENTS)
def test_contacts_of_elements_are_mujocos(name: str) -> None:
    m, theirs = worlds(ELEMENTS[name], 3, speed=0.02)
    sim = batch(ELEMENTS[name], 3)
    assert on_numpy(sim) == []
    most = 0
    for states in along(m, theirs, sim, 120, 10):
        assert_same_contacts(sim, states)
        # conjugate gradients end where the cost hardly falls, which says less of accelerations
        assert acceleration_error(sim, states) < (1e-6 if name.endswith("cg") else 1e-8)
        most = max(most, *((d.contact.elem[:, 1] >= 0).sum() for d in states))
    assert most > 0


FOUND_ELSEWHERE = {
    "portals": scene(
        '<geom type="box" size=".05 .05 .05"/>',
        grid("4 4 1", 2, SHEET, pos="0 0 .065"),
        flag='nativeccd="disable"',
    ),
    "height_field": scene('<geom type="hfield" hfield="h"/>', grid("3 3 1", 2, SHEET, pos="0 0 .01")).replace(
        "<worldbody>", '<asset><hfield name="h" nrow="4" ncol="4" size=".5 .5 .05 .05"/></asset><worldbody>'
    ),
}
"""Contacts that the reference finds, and that lanes make rows of."""


@pytest.mark.parametrize("name", FOUND_ELSEWHERE)
def test_contacts_that_the_reference_finds_reach_the_rows(name: str) -> None:
    m, theirs = worlds(FOUND_ELSEWHERE[name], 2, speed=0.02)
    sim = batch(FOUND_ELSEWHERE[name], 2)
    assert "narrowphase" in on_numpy(sim)
    assert not {"contact_params", "constraint_rows:contact", "solve_constraints"} & set(on_numpy(sim))
    most = 0
    for states in along(m, theirs, sim, 60, 12):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-7
        most = max(most, *(d.ncon for d in states))
    assert most > 0


def test_solvers_over_forces_leave_elements_to_the_reference() -> None:
    """Their lanes know constraints of two bodies only."""
    text = scene(BALL, SHEET_UP, option='solver="PGS"')
    m, theirs = worlds(text, 2, speed=0.02)
    sim = batch(text, 2)
    assert {"constraint_rows:contact", "solve_constraints"} <= set(on_numpy(sim))
    assert "narrowphase" not in on_numpy(sim)
    for states in along(m, theirs, sim, 40, 10):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-8


# ---- what lanes cannot do ---------------------------------------------------------------------------------

ELSEWHERE = {
    "self": scene(
        FLOOR, grid("4 4 1", 2, SHEET.replace(ALONE, '<contact selfcollide="auto"/>'), pos="0 0 .011")
    ),
    "internal": scene(
        FLOOR,
        grid(
            "3 2 2", 3, SOLID.replace(ALONE, '<contact selfcollide="none" internal="true"/>'), pos="0 0 .035"
        ),
    ),
    "passive": scene(
        FLOOR,
        grid(
            "4 4 1", 2, SHEET.replace(ALONE, '<contact selfcollide="none" passive="true"/>'), pos="0 0 .011"
        ),
    ),
    "trilinear": scene(FLOOR, grid("4 4 4", 3, SOLID, pos="0 0 .084", attributes='dof="trilinear"')),
    "two_sheets": scene(
        FLOOR,
        grid("3 3 1", 2, SHEET, pos="0 0 .011"),
        grid("3 3 1", 2, SHEET, pos=".01 .01 .028").replace('"flex"', '"other"'),
    ),
}
"""Models of which the reference does a part."""


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_rest_is_done_by_the_reference(name: str) -> None:
    m, theirs = worlds(ELSEWHERE[name], 2, speed=0.02)
    sim = batch(ELSEWHERE[name], 2)
    assert {"narrowphase", "constraint_rows:contact", "solve_constraints"} <= set(on_numpy(sim))
    assert "kinematics" not in on_numpy(sim)
    most = 0
    for states in along(m, theirs, sim, 60, 12):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-7
        most = max(most, *(d.ncon for d in states))
    assert most > 0


NARROW = default_registry().get("narrowphase", "convex@numpy").load()


def shifted(model: Any, data: Any, parts: Any) -> None:
    """The usual contacts, a millimetre deeper."""
    NARROW(model, data, parts)
    data.contact.dist[: data.ncon] -= 0.001


@pytest.mark.slow_cases("narrowphase")
@pytest.mark.parametrize(
    "stages",
    [
        {"narrowphase": "@numpy"},
        {"contact_params": "@numpy"},
        {"flex_kinematics": "@numpy"},
        {"passive_force:flex": "@numpy"},
        {"transmission_velocity": "@numpy"},
        {"solve_constraints": "@numpy"},
    ],
    ids=lambda stages: next(iter(stages)),
)
def test_stages_of_the_reference_among_lanes_lose_nothing(stages: dict[str, Any]) -> None:
    m, theirs = worlds(ON_THE_FLOOR["sheet"], 3)
    sim = batch(ON_THE_FLOOR["sheet"], 3, stages=stages)
    assert set(stages) <= set(on_numpy(sim))
    for states in along(m, theirs, sim, 60, 15):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-8


def test_contacts_of_ones_own_reach_the_rows() -> None:
    """A narrowphase given as a function, rows and solver in lanes: as all on NumPy."""
    text = ON_THE_FLOOR["sheet"]
    _, theirs = worlds(text, 2)
    sims = [
        batch(text, 2, stages={"narrowphase": shifted}),
        dovetail.Simulation(dovetail.loads(text), nworld=2, backend="numpy", stages={"narrowphase": shifted}),
    ]
    assert "constraint_rows:contact" not in on_numpy(sims[0])
    for sim in sims:
        inject(sim, theirs)
        sim.step(60)
    assert int(sims[0].data.ncon[0]) > 0
    np.testing.assert_allclose(sims[0].data.qpos, sims[1].data.qpos, atol=1e-9)


# ---- around contacts --------------------------------------------------------------------------------------

SEEN = scene(
    FLOOR,
    '<geom size=".05" pos=".5 0 0"/>',
    '<body pos="0 0 .06"><freejoint/><geom name="ball" size=".02"/><site name="site" size=".03"/></body>',
    grid("3 3 1", 2, SHEET, pos="0 0 .02"),
).replace(
    "</worldbody>",
    '</worldbody><sensor><touch site="site"/><contact geom1="ball" num="3" data="found force"/>'
    '<contact body1="world" num="20" data="found normal"/><force site="site"/><e_potential/></sensor>',
)


def test_sensors_see_the_geom_of_a_contact() -> None:
    """A flex is no geom and has no body: touch, contact and force sensors pass over it as MuJoCo's do."""
    m = mujoco.MjModel.from_xml_string(SEEN)
    d = mujoco.MjData(m)
    sim = dovetail.Simulation(
        dovetail.loads(SEEN), nworld=2, backend=LANES, keep=["state", "sensordata", "cfrc_ext", "ncon"]
    )
    assert on_numpy(sim) == []
    for _ in range(8):
        mujoco.mj_step(m, d, 10)
        sim.step(10)
        largest = max(1.0, np.abs(d.sensordata).max())
        np.testing.assert_allclose(sim.data.sensordata[1], d.sensordata, atol=1e-6 * largest)
        np.testing.assert_allclose(sim.data.cfrc_ext[1], d.cfrc_ext, atol=1e-6)
    assert (d.contact.elem[:, 1] >= 0).any()
    assert (d.contact.vert[:, 1] >= 0).any()


def test_one_world_step_by_step_with_edits_and_flags() -> None:
    """Launches that are kept ready notice edited values, flexes that need no Jacobian any more, and flags."""
    text = ON_THE_FLOOR["sheet"]
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    sim = dovetail.Simulation(dovetail.loads(text), backend=LANES)

    def both_step() -> None:
        for _ in range(15):
            mujoco.mj_step(m, d)
            sim.step()
        np.testing.assert_allclose(sim.data.qpos, d.qpos, atol=1e-10)

    both_step()
    for name, value in (("flex_radius", 0.011), ("flex_damping", 0.0), ("flex_damping", 1e-3)):
        getattr(m, name)[:] = getattr(sim.model, name)[:] = value
        both_step()
    for bit in ("MIDPHASE", "SPRING", "CONTACT"):
        flags = int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{bit}"))
        m.opt.disableflags = sim.model.opt.disableflags = flags
        both_step()


@pytest.mark.parametrize("joint", ["", "<freejoint/>"], ids=["static", "free"])
def test_rigid_flexes_collide_as_their_body(joint: str) -> None:
    text = scene(
        FLOOR,
        f'<body name="carrier" pos="0 0 .1">{joint}<geom size=".02" contype="0" conaffinity="0"/>',
        grid("3 3 2", 3, ALONE, pos="0 0 0", attributes='rigid="true"'),
        '</body><body pos="0 0 .3"><freejoint/><geom size=".05"/></body>',
    )
    m, theirs = worlds(text, 2, speed=0.02)
    sim = batch(text, 2)
    assert on_numpy(sim) == []
    for states in along(m, theirs, sim, 200, 40):
        assert_same_contacts(sim, states)
        assert acceleration_error(sim, states) < 1e-8
    assert theirs[0].ncon > 0
