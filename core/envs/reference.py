"""A motion to follow: poses over time, read at any time of each world.

Angles and places are interpolated along lines, orientations of free and ball joints along great circles. Where no
velocities are given they are differences of the poses, in MuJoCo's sense: `qvel` that leads from one to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs import rotations
from dovetail.envs.worlds import Worlds
from dovetail.errors import ArgumentError

FREE, BALL = 0, 1


class Space:
    """Where the numbers of qpos belong in qvel: those that add up, and quaternions."""

    def __init__(self, model: Model) -> None:
        self.nq, self.nv = int(model.nq), int(model.nv)
        plain: list[tuple[int, int]] = []
        self.turns: list[tuple[int, int]] = []
        self.moves: list[int] = []
        """First numbers of the places of free joints."""
        for kind, q, v in zip(
            model.jnt_type.tolist(), model.jnt_qposadr.tolist(), model.jnt_dofadr.tolist(), strict=True
        ):
            if kind == FREE:
                plain += [(q + i, v + i) for i in range(3)]
                self.turns.append((q + 3, v + 3))
                self.moves.append(q)
            elif kind == BALL:
                self.turns.append((q, v))
            else:
                plain.append((q, v))
        self.plain_q, self.plain_v = np.array(plain, int).reshape(-1, 2).T

    def difference(self, to: Array, start: Array) -> Array:
        """What leads from poses (…, nq) to others in a second, (…, nv); compare mj_differentiatePos."""
        result = np.zeros((*np.broadcast_shapes(to.shape, start.shape)[:-1], self.nv))
        result[..., self.plain_v] = to[..., self.plain_q] - start[..., self.plain_q]
        for q, v in self.turns:
            result[..., v : v + 3] = rotations.difference(to[..., q : q + 4], start[..., q : q + 4])
        return result

    def moved(self, start: Array, by: Array) -> Array:
        """Poses after such a step; compare mj_integratePos."""
        result = np.array(
            np.broadcast_to(start, (*np.broadcast_shapes(start.shape[:-1], by.shape[:-1]), self.nq))
        )
        result[..., self.plain_q] += by[..., self.plain_v]
        for q, v in self.turns:
            turned = rotations.from_vector(by[..., v : v + 3])
            result[..., q : q + 4] = rotations.product(start[..., q : q + 4], turned)
        return result


class Motion:
    """Poses `qpos` (k, nq) at `times` (k,) that rise from 0, or that many seconds apart; `qvel` (k, nv) if known.

    `loop`: the last pose is the first one again, apart from where free joints are along x and y, and each round goes
    on from there. Otherwise the motion holds its last pose after its end.
    """

    def __init__(self, model: Model, times: Any, qpos: Any, qvel: Any = None, *, loop: bool = False) -> None:
        self.space, self.loop = Space(model), loop
        self.qpos = np.array(qpos, float)
        if self.qpos.ndim != 2 or self.qpos.shape[1] != self.space.nq or len(self.qpos) < 2:
            raise ArgumentError(
                f"qpos has shape {self.qpos.shape}; it should be (k, {self.space.nq}), two poses at least"
            )
        count = len(self.qpos)
        self.times = np.arange(count) * float(times) if np.ndim(times) == 0 else np.array(times, float)
        if self.times.shape != (count,) or self.times[0] != 0.0 or not (np.diff(self.times) > 0.0).all():
            raise ArgumentError(
                f"times should be {count} rising numbers from 0, or a number of seconds above 0"
            )
        self.length = float(self.times[-1])
        for q, _ in self.space.turns:
            quat = self.qpos[:, q : q + 4] / np.linalg.norm(self.qpos[:, q : q + 4], axis=1, keepdims=True)
            turned = np.sign((quat[1:] * quat[:-1]).sum(axis=1))  # q and -q are one rotation: no jumps
            quat[1:] *= np.cumprod(np.where(turned < 0, -1.0, 1.0))[:, None]
            self.qpos[:, q : q + 4] = quat
        self._round = np.zeros(self.space.nq)
        for q in self.space.moves:
            self._round[q : q + 2] = self.qpos[-1, q : q + 2] - self.qpos[0, q : q + 2]
        self._steps = self.space.difference(self.qpos[1:], self.qpos[:-1])
        if loop and np.abs(self.space.difference(self.qpos[-1], self.qpos[0] + self._round)).max() > 1e-6:
            raise ArgumentError(
                "a motion that loops should end in the pose it begins with: append the first pose"
            )
        self.qvel = self._velocities() if qvel is None else np.array(qvel, float)
        if self.qvel.shape != (count, self.space.nv):
            raise ArgumentError(f"qvel has shape {self.qvel.shape}; it should be ({count}, {self.space.nv})")

    def _velocities(self) -> Array:
        """At each pose, from the differences on both sides; at an end from the one there is."""
        lasts = np.diff(self.times)[:, None]
        speeds = self._steps / lasts
        before = np.concatenate((speeds[-1:] if self.loop else speeds[:1], speeds))
        after = np.concatenate((speeds, speeds[:1] if self.loop else speeds[-1:]))
        left, right = np.concatenate((lasts[-1:], lasts)), np.concatenate((lasts, lasts[:1]))
        return np.asarray((before * right + after * left) / (left + right))

    def at(self, time: Any) -> tuple[Array, Array]:
        """Pose and velocity at times (n,): (n, nq) and (n, nv)."""
        time = np.asarray(time, float)
        rounds = np.floor(time / self.length) if self.loop else np.zeros_like(time)
        inside = np.clip(time - rounds * self.length, 0.0, self.length)
        frame = np.clip(np.searchsorted(self.times, inside, side="right") - 1, 0, len(self.times) - 2)
        share = ((inside - self.times[frame]) / np.diff(self.times)[frame])[..., None]
        qpos = self.space.moved(self.qpos[frame], share * self._steps[frame])
        qvel = (1.0 - share) * self.qvel[frame] + share * self.qvel[frame + 1]
        held = self.ended(time)[..., None]
        return qpos + rounds[..., None] * self._round, np.where(held, 0.0, qvel)

    def ended(self, time: Any) -> Array:
        """Whether the motion is over; never if it loops."""
        return np.asarray((np.asarray(time) > self.length + 1e-9) & (not self.loop))

    def any_time(self, w: Worlds) -> Array:
        """A random time of the motion for each world that starts, (n,)."""
        return w.uniform(0.0, self.length)

    def error(self, time: Any, qpos: Array) -> Array:
        """What leads from the poses of worlds to those of the motion, (n, nv): metres and radians."""
        return self.space.difference(self.at(time)[0], qpos)
