"""The films of the README, of the page about cloths and of that about learning, made by dovetail itself.

    python docs/figures/film.py            write docs/images/film.webp and the others
    python docs/figures/film.py film       one of them

What is filmed is written below: two of the built-in humanoid leap through a wall of boxes; a cloth falls on a sphere;
a quadruped walks as it is told, by the policy in `data/quadruped-policy.npz`, which `examples/ppo.py` wrote.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dovetail
from dovetail.visual import FreeCamera, TrackingCamera

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
HUMANOID = Path(dovetail.__file__).parent / "models" / "humanoid.xml"

LOOK = """
  <visual>
    <headlight ambient=".35 .35 .38" diffuse=".25 .25 .25" specular="0 0 0"/>
    <map znear=".02" shadowclip="4"/>
    <quality shadowsize="2048"/>
  </visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".8 .87 .93" rgb2=".4 .55 .7" width="64" height="384"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1=".86 .87 .86" rgb2=".74 .77 .78" width="256" height="256"/>
    <material name="tiles" texture="tiles" texrepeat="1 1" texuniform="true" reflectance="0"/>
  </asset>
"""
LIGHT = """
    <light directional="true" pos="0 0 6" dir="-.45 .55 -1" diffuse=".75 .73 .70" specular=".2 .2 .2"/>
    <geom name="ground" type="plane" size="0 0 .1" material="tiles"/>
"""

BOX = (
    '<body pos="{x} {y} {z}"><freejoint/><geom type="box" size=".15 .2 .1" mass="1.5" rgba="{rgba}"/></body>'
)
COLOURS = (".20 .47 .62 1", ".83 .55 .25 1", ".36 .62 .48 1", ".78 .36 .33 1", ".88 .78 .48 1")


def wall(columns: int = 5, rows: int = 6) -> str:
    """Boxes on each other, every other row half a box further."""
    return "".join(
        BOX.format(
            x=1.5,
            y=round(0.42 * (column - (columns - 1) / 2 + 0.5 * (row % 2)), 3),
            z=round(0.1 + 0.2 * row, 3),
            rgba=COLOURS[(2 * row + column) % len(COLOURS)],
        )
        for row in range(rows)
        for column in range(columns)
    )


SCENE = f"""
<mujoco model="film">
  <option timestep=".002" integrator="implicitfast"/>
  {LOOK}
  <asset><model name="person" file="{HUMANOID}"/></asset>
  <worldbody>
    {LIGHT}
    <frame pos="-1.3 -.3 0"><attach model="person" body="torso" prefix="one_"/></frame>
    <frame pos="-3.2 .5 0"><attach model="person" body="torso" prefix="two_"/></frame>
    {wall()}
  </worldbody>
</mujoco>
"""


CLOTH = f"""
<mujoco model="cloth">
  <option timestep=".001" solver="CG" tolerance="1e-6"/>
  {LOOK}
  <worldbody>
    {LIGHT}
    <geom name="ball" type="sphere" size=".15" pos="0 0 .36" rgba=".83 .55 .25 1"/>
    <flexcomp name="cloth" type="grid" dim="2" count="17 17 1" spacing=".035 .035 .035" pos="0 0 .54" radius=".004"
              mass=".3" rgba=".20 .47 .62 1">
      <elasticity young="1e4" poisson=".2" thickness=".003" elastic2d="both" damping="1e-3"/>
      <contact selfcollide="none" solref=".01"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def leaping(
    model: dovetail.Model, data: dovetail.Data, prefix: str, x: float, y: float, speed: float
) -> None:
    """Put a person into the keyframe `leap` of its own model, at a place, with a velocity forwards."""
    alone = dovetail.load(HUMANOID)
    qpos, qvel = alone.key_qpos[1].copy(), alone.key_qvel[1].copy()
    qpos[:2], qvel[0] = (x, y), speed
    root = model.joint(f"{prefix}root").id
    data.qpos[model.jnt_qposadr[root] :][: alone.nq] = qpos
    data.qvel[model.jnt_dofadr[root] :][: alone.nv] = qvel


def coloured(model: dovetail.Model, prefix: str, rgba: tuple[float, float, float, float]) -> None:
    """Give the skin of a person another colour."""
    skin = model.geom_rgba[model.geom(f"{prefix}chest").id].copy()
    mine = [model.body(int(body)).name.startswith(prefix) for body in model.geom_bodyid]
    model.geom_rgba[np.array(mine) & (model.geom_rgba == skin).all(axis=1)] = rgba


def make_film(path: Path) -> None:
    """Two people, a wall, half as fast as real time."""
    model = dovetail.loads(SCENE)
    coloured(model, "two_", (0.45, 0.50, 0.60, 1))
    sim = dovetail.Simulation(model)
    leaping(model, sim.data, "one_", -0.9, -0.25, 4.5)
    leaping(model, sim.data, "two_", -3.4, 0.45, 5.0)
    camera = FreeCamera(lookat=(0.85, 0.0, 0.68), distance=4.7, azimuth=35, elevation=-15)
    filmed(sim, path, 1.9, camera=camera, fps=25, speed=0.5, width=640, height=360, smooth=2)


def make_cloth(path: Path) -> None:
    """A cloth on a sphere, half as fast as real time."""
    sim = dovetail.Simulation(dovetail.loads(CLOTH))
    camera = FreeCamera(lookat=(0, 0, 0.33), distance=1.2, azimuth=120, elevation=-20)
    filmed(sim, path, 0.9, camera=camera, fps=20, speed=0.25, width=400, height=300, smooth=2)


def filmed(sim: dovetail.Simulation, path: Path, seconds: float, **look: object) -> None:
    """Step and film until a time."""
    with dovetail.Film(path, sim.model, **look) as film:
        film.add(sim.data)
        while sim.data.time < seconds:
            sim.step(5)
            if film.add(sim.data):
                print(f"\r{path.name}: {sim.data.time:.2f} of {seconds:g} s", end="", flush=True)
    print(f", {film.frames} pictures, {path.stat().st_size / 1e6:.2f} MB")


COMMANDS = ((2.0, (0.9, 0.0, 0.0)), (4.5, (0.6, 0.0, 0.9)), (6.5, (0.0, 0.45, 0.0)))
"""Until when the quadruped is told what: metres per second forward and to the left, radians per second."""


def make_quadruped(path: Path) -> None:
    """Forward, in a curve, sideways; at real time."""
    sys.path.insert(0, str(ROOT / "examples"))
    import gymnasium
    import play

    env = gymnasium.make_vec("dovetail/QuadrupedVelocity-v0", num_envs=1, max_episode_steps=10_000).unwrapped
    act = play.policy(Path(__file__).parent / "data" / "quadruped-policy.npz", env.single_action_space)
    observation, _ = env.reset(seed=4, options={"qpos": env.task.home[None], "qvel": np.zeros((1, 18))})
    sim = dovetail.Simulation(env.engine.model)
    camera = TrackingCamera(sim.model.body("trunk").id, distance=1.4, azimuth=150, elevation=-20)
    with dovetail.Film(path, sim.model, camera=camera, fps=20, width=480, height=300, smooth=2) as film:
        for until, command in COMMANDS:
            while sim.data.time < until:
                sim.data.time, sim.data.qpos = (env.sim.data.field(name)[0] for name in ("time", "qpos"))
                sim.forward()
                film.add(sim.data)
                env.engine.memory["command"][0] = observation[0, 9:12] = command
                observation, *_ = env.step(act(observation))
    print(f"{path.name}: {film.frames} pictures, {path.stat().st_size / 1e6:.2f} MB")


def make_terrain(path: Path) -> None:
    """A picture of the ground of the same task, rough, with the quadruped on it."""
    from PIL import Image

    from dovetail.envs.worked import QuadrupedVelocity

    task = QuadrupedVelocity(rough=True)
    sim = dovetail.Simulation(task.load())
    sim.data.qpos[...] = task.home
    sim.data.qpos[:2] = task.ground.centres[3, 2]
    sim.forward()
    renderer = dovetail.Renderer(sim.model, 720, 1440)
    camera = FreeCamera(lookat=(0.3, -0.3, -1.6), distance=14.5, azimuth=112, elevation=-36)
    renderer.update_scene(sim.data, camera)
    Image.fromarray(renderer.render()).resize((720, 360), Image.Resampling.BOX).save(path, quality=85)


FILMS: dict[str, Callable[[Path], None]] = {
    "film": make_film,
    "cloth": make_cloth,
    "quadruped": make_quadruped,
    "terrain": make_terrain,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=[*FILMS], help="one of them; all if none is named")
    asked = parser.parse_args().name
    for name in [asked] if asked else FILMS:
        FILMS[name](IMAGES / f"{name}.webp")
