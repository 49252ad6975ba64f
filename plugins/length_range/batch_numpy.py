"""Pulling many actuators to both ends of their ranges at once, each in a copy of the model of its own.

What `simulation_numpy` does one by one with the stages of the pipeline, for models whose parts are known here: joints
of every type, actuators on hinges, slides and tendons, limits, joints that follow others. The state is advanced by
the same steps, so that lengths are the same up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import numpy as np

from dovetail.contracts.enums import EqType, Integrator, JointType, Solver, TrnType, WrapType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.length_range.batch_limits_numpy import Limits, constrained
from dovetail.plugins.length_range.batch_paths_numpy import BatchPaths
from dovetail.plugins.length_range.batch_tree_numpy import BatchTree, Motion
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse

LEAST_TIMECONST = 0.01
"""Velocities decay no faster than this, in s (mj_setLengthRange)."""
_ON_JOINT = (TrnType.JOINT, TrnType.JOINTINPARENT)
_SINGLE = (JointType.HINGE, JointType.SLIDE)
_MOST_NUMBERS = 2_000_000
"""Entries of the mass matrices of all copies that are simulated together."""


def knows_model(model: ModelLike) -> bool:
    """Whether all that may move the model in these runs is known here."""
    limited_balls = (model.jnt_limited != 0) & ~np.isin(model.jnt_type, _SINGLE)
    equalities = model.eq_type[np.array(model.eq_active0) != 0]
    rows = model.jnt_limited.any() or model.tendon_limited.any() or len(equalities)
    return bool(
        not (model.nflex or model.nplugin)
        and not limited_balls.any()
        and (equalities == EqType.JOINT).all()
        and (not rows or model.opt.solver == Solver.NEWTON)
        and model.opt.integrator != Integrator.IMPLICIT
        and not model.tendon_armature.any()
        and (model.dof_M0 > MINVAL).all()
    )


def knows_actuator(model: ModelLike, actuator: int) -> bool:
    """Whether the length of what an actuator acts on is known here."""
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    return kind == TrnType.TENDON or (kind in _ON_JOINT and int(model.jnt_type[target]) in _SINGLE)


def final_lengths(model: ModelLike, actuators: Sequence[int], settings: Mapping[str, Any]) -> Array:
    """Least and largest length in the last `interval` seconds, of each actuator when it pulls one way and the other:
    (actuator, side, 2). NaN where a run diverges."""
    together = max(1, _MOST_NUMBERS // (2 * max(1, int(model.nv)) ** 2))
    tree = BatchTree(model)
    parts = [
        Pulls(model, tree, actuators[k : k + together], settings).run()
        for k in range(0, len(actuators), together)
    ]
    return np.concatenate([np.zeros((0, 2, 2)), *parts])


class Pulls:
    """Runs of some actuators, two of each."""

    def __init__(
        self, model: ModelLike, tree: BatchTree, actuators: Sequence[int], settings: Mapping[str, Any]
    ) -> None:
        self.tree, self.settings, self.timestep = tree, settings, float(model.opt.timestep)
        each = np.repeat(np.array(actuators, int), 2)
        self.side = np.tile([-1.0, 1.0], len(actuators))
        self.gear = np.array(model.actuator_gear[each, 0])
        many = len(each)
        on_tendon = model.actuator_trntype[each] == TrnType.TENDON
        targets = list(zip(on_tendon.tolist(), model.actuator_trnid[each, 0].tolist(), strict=True))
        self.targets = Lengths(tree, model, targets, list(range(many)))
        limited = np.flatnonzero(model.tendon_limited).tolist()
        self.limits = Limits(model, limited)
        copies = [copy for copy in range(many) for _ in limited]
        self.limited = Lengths(tree, model, [(True, tendon) for tendon in limited] * many, copies)
        self.qpos = np.tile(np.array(model.qpos0), (many, 1))
        self.qvel = np.zeros((many, int(model.nv)))
        self.qacc = np.zeros_like(self.qvel)

    def run(self) -> Array:
        """Least and largest final lengths, (actuator, side, 2)."""
        settings, time, lengths = self.settings, 0.0, []
        decay = exp(-self.timestep / max(LEAST_TIMECONST, settings["timeconst"]))
        with np.errstate(all="ignore"):
            while time < settings["inttotal"]:
                self.qvel *= decay
                length = self.step()
                time += self.timestep
                if time > settings["inttotal"] - settings["interval"]:
                    lengths.append(length)
        table = np.array(lengths) if lengths else np.zeros((1, len(self.side)))
        return np.stack([table.min(axis=0), table.max(axis=0)], axis=1).reshape(-1, 2, 2)

    def step(self) -> Array:
        """Advance all copies by a time step; returns lengths before it."""
        motion = self.tree.motion(self.qpos, self.qvel)
        length, arms = self.targets.evaluate(self.qpos, motion)
        arms *= self.gear[:, None]
        solved = np.linalg.solve(motion.M, np.stack([arms, motion.bias], axis=2))
        scale = self.pull(arms, solved[:, :, 0])
        smooth = scale[:, None] * solved[:, :, 0] - solved[:, :, 1]
        force = scale[:, None] * arms - motion.bias
        self.qacc = self.held(motion, force, smooth)
        self.qvel += self.timestep * self.qacc
        self.tree.move(self.qpos, self.qvel, self.timestep)
        return length * self.gear

    def pull(self, arms: Array, response: Array) -> Array:
        """Forces that accelerate the joints by `accel` in all, or by less where `maxforce` does not allow it."""
        scale = self.side * self.settings["accel"] / np.maximum(MINVAL, _norm(response))
        most, size = self.settings["maxforce"], np.abs(scale) * _norm(arms)
        if most > 0:
            scale = np.where(size > most, scale * most / np.where(size > 0, size, 1.0), scale)
        return scale

    def held(self, motion: Motion, force: Array, smooth: Array) -> Array:
        """Accelerations under limits and couplings."""
        many = len(self.side)
        length, arms = self.limited.evaluate(self.qpos, motion)
        shape = many, len(length) // many
        rows = self.limits.rows(
            self.qpos, self.qvel, length.reshape(shape), arms.reshape(*shape, self.qvel.shape[1])
        )
        return smooth if rows is None else constrained(motion.M, force, self.qacc, rows)


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.einsum("cd,cd->c", vectors, vectors))


class Lengths:
    """Lengths of joints and tendons, each in a copy of the model."""

    def __init__(
        self, tree: BatchTree, model: ModelLike, targets: list[tuple[bool, int]], copies: list[int]
    ) -> None:
        paths = [
            k for k, (on_tendon, target) in enumerate(targets) if on_tendon and not _is_fixed(model, target)
        ]
        sums = [k for k in range(len(targets)) if k not in set(paths)]
        self.count, self.nv = len(targets), int(model.nv)
        self.along, self.summed = np.array(paths, int), np.array(sums, int)
        self.paths = BatchPaths(tree, model, [targets[k][1] for k in paths], [copies[k] for k in paths])
        self.copies = np.array([copies[k] for k in sums], int)
        self.by_qpos, self.by_dof = np.zeros((len(sums), int(model.nq))), np.zeros((len(sums), self.nv))
        for row, k in enumerate(sums):
            self._set_sum(model, row, *targets[k])

    def _set_sum(self, model: ModelLike, row: int, on_tendon: bool, target: int) -> None:
        """A joint, or a fixed tendon: a joint named twice counts once in a dense Jacobian, its last coefficient."""
        first = int(model.tendon_adr[target]) if on_tendon else 0
        span = range(first, first + int(model.tendon_num[target])) if on_tendon else range(0)
        terms = [(int(model.wrap_objid[k]), float(model.wrap_prm[k])) for k in span] or [(target, 1.0)]
        for joint, coefficient in terms:
            dof = model.jnt_dofadr[joint]
            self.by_qpos[row, model.jnt_qposadr[joint]] += coefficient
            self.by_dof[row, dof] = coefficient + (self.by_dof[row, dof] if is_sparse(model) else 0.0)

    def evaluate(self, qpos: Array, motion: Motion) -> tuple[Array, Array]:
        """Lengths (n) and their derivatives (n, dof)."""
        length, arms = np.empty(self.count), np.empty((self.count, self.nv))
        if len(self.along):
            length[self.along], arms[self.along] = self.paths.evaluate(motion.frames, motion.twists)
        if len(self.summed):
            length[self.summed] = np.einsum("nq,nq->n", self.by_qpos, qpos[self.copies])
            arms[self.summed] = self.by_dof
        return length, arms


def _is_fixed(model: ModelLike, tendon: int) -> bool:
    return bool(model.wrap_type[model.tendon_adr[tendon]] == WrapType.JOINT)
