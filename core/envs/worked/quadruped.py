"""A quadruped that follows a velocity command, on flat ground or on terrain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs import rotations, terrain
from dovetail.envs.task import Outcome, Task
from dovetail.envs.worlds import Worlds
from dovetail.loading import load

FASTEST = np.array([1.0, 0.5, 1.0])
"""Of commands: metres per second forward and to the left, radians per second about the vertical."""
SCAN = np.stack(np.meshgrid(np.linspace(-0.4, 0.6, 6), np.linspace(-0.3, 0.3, 3)), axis=-1).reshape(-1, 2)


class QuadrupedVelocity(Task):
    """Walk as the command says, which changes every three seconds; masses, friction and a delay differ or lag."""

    model = Path(__file__).with_name("quadruped.xml")
    frame_skip = 4
    max_episode_steps = 500
    unit_actions = True  # from -1 to 1: around the pose `home`
    control_delay = 1
    keep = ("actuator_force",)
    per_world = ("body_mass", "geom_friction")
    memory: ClassVar[Mapping[str, int]] = {"command": 3, "age": 1, "last": 12, "drawn": 1}
    lasting = ("drawn",)  # a world keeps its mass; friction is drawn for every episode
    default_camera_config: ClassVar[Mapping[str, object]] = {"distance": 2.0, "trackbodyid": 1}

    def __init__(self, rough: bool = False, observation_noise: float = 0.02) -> None:
        self.observation_noise = observation_noise
        n, cell = 51, 0.08
        kinds = (
            lambda d, g: terrain.rough(n, cell, g, deviation=0.03 * d),
            lambda d, g: terrain.slope(n, cell, tangent=0.35 * d),
            lambda d, g: terrain.stairs(n, cell, height=0.08 * d, width=0.32),
            lambda d, g: terrain.blocks(n, cell, g, height=0.10 * d),
        )
        self.ground = terrain.patches(kinds, levels=4, cell=cell) if rough else None

    def load(self) -> Model:
        model = self.ground.load(self.model) if self.ground else load(self.model)
        self.home = np.array(model.key_qpos[0])
        return model

    def start(self, w: Worlds) -> None:
        n, trunk = len(w), w.model.body("trunk").id
        qpos = np.tile(self.home, (n, 1))
        qpos[:, 7:] += w.uniform(-0.2, 0.2, 12)
        qpos[:, 3:7] = rotations.from_vector(w.uniform(-np.pi, np.pi, 1) * [0.0, 0.0, 1.0])
        if self.ground:
            places = self.ground.centres.reshape(-1, 2)
            qpos[:, :2] = places[w.integers(0, len(places))] + w.uniform(-0.3, 0.3, 2)
            qpos[:, 2] += self.ground.scan(qpos, np.zeros(n), SCAN).max(axis=1)
        w.qpos, w.ctrl, w.command = qpos, self.home[7:], w.uniform(-FASTEST, FASTEST)
        new = np.flatnonzero(w.drawn[:, 0] == 0.0)
        masses = np.tile(w.model.body_mass, (len(new), 1))
        masses[:, trunk] += w.uniform(-1.0, 2.0, rows=new)
        w.set_model("body_mass", masses, rows=new)
        w.drawn = 1.0
        w.set_model("geom_friction", w.model.geom_friction * w.uniform(0.6, 1.4, (1, 1)), constants=False)

    def seen(self, w: Worlds) -> tuple[Array, Array, Array]:
        """Velocity, angular velocity and the direction of gravity in the trunk's frame."""
        quat = w.qpos[:, 3:7]
        down = np.broadcast_to([0.0, 0.0, -1.0], (len(w), 3))
        return rotations.rotate_back(quat, w.qvel[:, :3]), w.qvel[:, 3:6], rotations.rotate_back(quat, down)

    def observe(self, w: Worlds) -> Array:
        joints = w.qpos[:, 7:] - self.home[7:]
        parts = [*self.seen(w), w.command, joints, 0.1 * w.qvel[:, 6:], w.last]
        if self.ground:
            x, y = rotations.rotate(w.qpos[:, 3:7], np.tile([1.0, 0.0, 0.0], (len(w), 1)))[:, :2].T
            heights = self.ground.scan(w.qpos, np.arctan2(y, x), SCAN)
            parts.append(w.qpos[:, 2:3] - self.home[2] - heights)
        return np.concatenate(parts, axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        velocity, turning, down = self.seen(w)
        off = np.square(velocity[:, :2] - w.command[:, :2]).sum(axis=1)
        off_turn = np.square(turning[:, 2] - w.command[:, 2])
        cost = 2.0 * np.square(velocity[:, 2]) + 0.05 * np.square(turning[:, :2]).sum(axis=1)
        cost += 1e-4 * np.square(w.actuator_force).sum(axis=1) + np.square(down[:, :2]).sum(axis=1)
        cost += 0.01 * np.square(action - w.last).sum(axis=1)
        reward = np.exp(-off / 0.25) + 0.5 * np.exp(-off_turn / 0.25) - 0.5 * cost
        w.last, w.age = np.clip(action, -1.0, 1.0), w.age + 1
        due = np.flatnonzero(w.age[:, 0] % 150 == 0)
        command = w.command
        command[due] = w.uniform(-FASTEST, FASTEST, rows=due)
        w.command = command
        info = {"velocity_error": np.sqrt(off), "turning_error": np.sqrt(off_turn)}
        return self.observe(w), reward, self.fallen(w, down), info

    def fallen(self, w: Worlds, down: Array) -> Array:
        """Trunk on the ground, or on its side."""
        ground = self.ground.height(w.qpos[:, :2]) if self.ground else 0.0
        return (down[:, 2] > -0.5) | (w.qpos[:, 2] - ground < 0.13)
