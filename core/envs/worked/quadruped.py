"""A quadruped that follows a velocity command, on flat ground or on terrain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs import rotations, terrain
from dovetail.envs.checks import with_checked_arguments
from dovetail.envs.task import Outcome, Task
from dovetail.envs.worlds import Worlds

FASTEST = np.array([1.0, 0.5, 1.0])
"""Of commands: metres per second forward and to the left, radians per second about the vertical."""
SCAN = np.stack(np.meshgrid(np.linspace(-0.4, 0.6, 6), np.linspace(-0.3, 0.3, 3)), axis=-1).reshape(-1, 2)
"""Where the height of the ground is seen, around the trunk."""


def hills(n: int = 51, cell: float = 0.08) -> terrain.Terrain:
    """Four kinds of ground, in four degrees of difficulty."""
    kinds = (
        lambda hard, rng: terrain.rough(n, cell, rng, deviation=0.03 * hard),
        lambda hard, rng: terrain.slope(n, cell, tangent=0.35 * hard),
        lambda hard, rng: terrain.stairs(n, cell, height=0.08 * hard, width=0.32),
        lambda hard, rng: terrain.blocks(n, cell, rng, height=0.10 * hard),
    )
    return terrain.patches(kinds, levels=4, cell=cell)


class QuadrupedVelocity(Task):
    """Walk as the command says, which changes every three seconds; worlds differ in mass and friction."""

    model = Path(__file__).with_name("quadruped.xml")
    frame_skip = 4
    max_episode_steps = 500
    unit_actions = True  # from -1 to 1: around the pose `home`
    control_delay = 1
    keep = ("actuator_force", "geom_xpos")
    per_world = ("body_mass", "geom_friction")
    memory: ClassVar[Mapping[str, int]] = {"command": 3, "age": 1, "last": 12, "air": 4, "drawn": 1}
    lasting = ("drawn",)  # a world keeps its mass; friction is drawn for every episode

    @with_checked_arguments
    def __init__(self, rough: bool = False, observation_noise: float = 0.02) -> None:
        self.ground, self.observation_noise = hills() if rough else None, observation_noise

    def load(self) -> Model:
        model = self.ground.load(self.model) if self.ground else super().load()
        self.home = np.array(model.key_qpos[0])
        self.feet = [i for i in range(model.ngeom) if model.geom(i).name.endswith("foot")]
        return model

    def start(self, w: Worlds) -> None:
        qpos = np.tile(self.home, (len(w), 1))
        qpos[:, 7:] += w.uniform(-0.2, 0.2, 12)
        qpos[:, 3:7] = rotations.from_vector(w.uniform(-np.pi, np.pi, 1) * [0.0, 0.0, 1.0])
        if self.ground:
            places = self.ground.centres.reshape(-1, 2)
            qpos[:, :2] = places[w.integers(0, len(places))] + w.uniform(-0.3, 0.3, 2)
            qpos[:, 2] += self.ground.scan(qpos, np.zeros(len(w)), SCAN).max(axis=1) + 0.03
        w.qpos, w.ctrl, w.command = qpos, self.home[7:], w.uniform(-FASTEST, FASTEST)
        new = np.flatnonzero(w.drawn[:, 0] == 0.0)
        masses = np.tile(w.model.body_mass, (len(new), 1))
        masses[:, w.model.body("trunk").id] += w.uniform(-1.0, 2.0, rows=new)
        w.set_model("body_mass", masses, rows=new)
        w.set_model("geom_friction", w.model.geom_friction * w.uniform(0.6, 1.4, (1, 1)), constants=False)
        w.drawn = 1.0

    def seen(self, w: Worlds) -> tuple[Array, Array, Array]:
        """Velocity, angular velocity and the direction of gravity in the trunk's frame."""
        quat, down = w.qpos[:, 3:7], np.broadcast_to([0.0, 0.0, -1.0], (len(w), 3))
        return rotations.rotate_back(quat, w.qvel[:, :3]), w.qvel[:, 3:6], rotations.rotate_back(quat, down)

    def above(self, points: Array) -> Array:
        """How high points (…, 3) are above the ground."""
        return np.asarray(points[..., 2] - (self.ground.height(points[..., :2]) if self.ground else 0.0))

    def observe(self, w: Worlds) -> Array:
        joints = w.qpos[:, 7:] - self.home[7:]
        parts = [*self.seen(w), w.command, joints, 0.1 * w.qvel[:, 6:], w.last]
        if self.ground:
            ahead = rotations.rotate(w.qpos[:, 3:7], np.tile([1.0, 0.0, 0.0], (len(w), 1)))
            heights = self.ground.scan(w.qpos, np.arctan2(ahead[:, 1], ahead[:, 0]), SCAN)
            parts.append(w.qpos[:, 2:3] - self.home[2] - heights)
        return np.concatenate(parts, axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        velocity, turning, down = self.seen(w)
        off = np.square(velocity[:, :2] - w.command[:, :2]).sum(axis=1)
        off_turn = np.square(turning[:, 2] - w.command[:, 2])
        cost = 2.0 * np.square(velocity[:, 2]) + 0.05 * np.square(turning[:, :2]).sum(axis=1)
        cost += 1e-4 * np.square(w.actuator_force).sum(axis=1) + np.square(down[:, :2]).sum(axis=1)
        cost += 0.01 * np.square(action - w.last).sum(axis=1)
        reward = 2.0 * np.exp(-off / 0.2) + np.exp(-off_turn / 0.2) - 0.2 * cost + self.strides(w)
        fallen = (down[:, 2] > -0.5) | (self.above(w.qpos[:, :3]) < 0.13)
        w.last, w.age = np.clip(action, -1.0, 1.0), w.age + 1
        due, command = np.flatnonzero(w.age[:, 0] % 150 == 0), w.command
        command[due] = w.uniform(-FASTEST, FASTEST, rows=due)
        w.command = command  # the policy sees it before it is judged by it
        info = {"velocity_error": np.sqrt(off), "turning_error": np.sqrt(off_turn)}
        return self.observe(w), reward, fallen, info

    def strides(self, w: Worlds) -> Array:
        """A reward for feet that come down after a while in the air."""
        down = self.above(w.geom_xpos[:, self.feet]) < 0.03
        long = ((w.air - 0.2) * (down & (w.air > 0.0))).sum(axis=1)
        w.air = np.where(down, 0.0, w.air + 0.02)
        return long * (np.abs(w.command).sum(axis=1) > 0.2)
