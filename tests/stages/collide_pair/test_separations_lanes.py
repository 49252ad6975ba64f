"""What lane kernels remember of pairs that are apart changes the work of later steps, but no result."""

from __future__ import annotations

import numpy as np
import pytest
from convex_scenes import OTHERS, assets

import dovetail
from dovetail.backends.native.backend import NativeBackend
from dovetail.plugins.shared.geometry import separations_lanes

BACKENDS = [
    pytest.param(
        "native", marks=pytest.mark.skipif(bool(NativeBackend().missing()), reason="there is no C compiler")
    ),
    pytest.param("taichi", marks=pytest.mark.slow),
]
WORLDS, STEPS = 12, 60
SHAPES = ("mesh", "cylinder", "ellipsoid", "capsule", "mesh")


def swarm(margin: float = 0.0) -> str:
    """Shapes that turn quickly and drift through each other's places, in a box without gravity."""
    bodies = [
        f'<body pos="{0.7 * (n % 3)} {0.7 * (n // 3)} {0.1 * n}"><freejoint/>'
        f'<geom {OTHERS[shape]} margin="{margin}"/></body>'
        for n, shape in enumerate(SHAPES)
    ]
    return (
        f'<mujoco><option gravity="0 0 0" timestep="0.005"/>{assets()}'
        f"<worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )


def moved(model: dovetail.Model, launches: tuple[int, ...], **settings: object) -> np.ndarray:
    """Where all worlds are after so many launches of so many steps: towards the middle, turning several times."""
    sim = dovetail.Simulation(model, nworld=WORLDS, **settings)
    rng = np.random.default_rng(4)
    velocity = rng.normal(size=(WORLDS, len(SHAPES), 6)) * [0.5, 0.5, 0.5, 25.0, 25.0, 25.0]
    place = np.asarray(sim.data.qpos).reshape(WORLDS, len(SHAPES), 7)[:, :, :3]
    velocity[:, :, :3] += 4.0 * (place.mean(axis=1, keepdims=True) - place)
    sim.data.qvel = velocity.reshape(WORLDS, -1)
    for steps in launches:
        sim.step(steps)
    return np.concatenate([np.asarray(sim.data.qpos), np.asarray(sim.data.qvel)], axis=1)


@pytest.mark.by_default("f64-0.05-native")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("precision", "margin"), [("f64", 0.0), ("f64", 0.05), ("f32", 0.0)])
def test_steps_of_one_launch_are_those_of_many(backend: str, precision: str, margin: float) -> None:
    """A launch begins with nothing remembered, so that every pair in reach is searched in each of its own."""
    model = dovetail.loads(swarm(margin))
    settings = {"backend": backend, "precision": precision}
    many = moved(model, (1,) * STEPS, **settings)
    assert moved(model, (STEPS,), **settings).tobytes() == many.tobytes()
    assert moved(model, (7, 1, STEPS - 8), **settings).tobytes() == many.tobytes()
    apart = moved(dovetail.loads(swarm(margin).replace("<geom ", '<geom contype="0" ')), (STEPS,), **settings)
    assert (many != apart).any(axis=1).sum() > WORLDS // 2  # they do collide


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("radius", [0.0, 0.02])
def test_bounding_radii_that_were_edited_hide_no_contact(backend: str, radius: float) -> None:
    """One bar turns until it hits the other. How far a bar reaches follows from its size; a bounding radius of 0 says
    that there is no bound, and one that is too small still lets bars meet whose radii make up for each other."""
    bar = '<freejoint/><geom type="cylinder" size=".03 .3"/>'
    model = dovetail.loads(
        f"""<mujoco><option gravity="0 0 0" timestep="0.005"/><worldbody>
        <body>{bar}</body><body pos=".2 0 0">{bar}</body></worldbody></mujoco>"""
    )
    model.geom_rbound[:] = 1.0, radius
    sim = dovetail.Simulation(model, nworld=3, backend=backend)
    sim.data.qvel[:, 10] = 10.0
    sim.step(30)
    assert (np.abs(np.asarray(sim.data.qvel)[:, 0]) > 0.01).all()


@pytest.mark.skipif(bool(NativeBackend().missing()), reason="there is no C compiler")
def test_places_that_pairs_share_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three pairs only, one takes the place of another all the time."""
    model = dovetail.loads(swarm())
    usual = moved(model, (STEPS,), backend="native")
    monkeypatch.setattr(separations_lanes, "MOST_KEPT", 3)
    assert moved(model, (STEPS,), backend="native").tobytes() == usual.tobytes()


@pytest.mark.skipif(bool(NativeBackend().missing()), reason="there is no C compiler")
def test_a_shape_that_grew_between_launches_is_searched_again() -> None:
    """Shapes may be edited in place: what was known of the smaller one does not count any more."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><freejoint/><geom type="cylinder" size=".1 .1"/></body>
      <body pos=".3 0 0"><freejoint/><geom type="ellipsoid" size=".1 .2 .1"/></body></worldbody></mujoco>"""
    sim = dovetail.Simulation(dovetail.loads(text), nworld=8, backend="native")
    sim.step(3)
    assert not np.asarray(sim.data.qvel).any()
    sim.model.geom_size[1, 0] = 0.25
    sim.step(3)
    assert (np.abs(np.asarray(sim.data.qvel)).max(axis=1) > 0.01).all()
