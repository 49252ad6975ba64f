"""Joints and tendons at their limits, and joints that follow others, in many copies of a model at once.

The constrained acceleration minimises a quadratic function with further pieces where rows push. Given which rows do,
it is the solution of a linear system; they are chosen anew until they stay the same. Compare mj_solNewton, whose last
step is the same.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.rows.coupling_numpy import polynomial
from dovetail.plugins.shared.rows.impedance_numpy import (
    impedance,
    regularisation,
    safe_solimp,
    safe_solref,
    stiffness_damping,
)

_HASTY, _ROUNDS, _HALVINGS = 8, 100, 60
SIDES = np.array([1.0, -1.0])


@attrs.frozen(eq=False)
class RowConstants:
    """Constants of rows."""

    solimp: Array
    stiffness: Array
    damping: Array
    inverse_inertia: Array
    margin: Array

    @classmethod
    def of(
        cls, model: ModelLike, solref: Array, solimp: Array, inverse_inertia: Array, margin: Array, what: str
    ) -> RowConstants:
        solimp = safe_solimp(np.array(solimp).reshape(-1, 5))
        solref = safe_solref(model, np.array(solref).reshape(-1, 2), lambda row: f"{what} {row}")
        stiffness, damping = stiffness_damping(solref, solimp[:, 1])
        return cls(solimp, stiffness, damping, np.array(inverse_inertia), np.array(margin))

    def rows(self, which: Array, pos: Array, velocity: Array) -> tuple[Array, Array]:
        """Weight D and reference acceleration of some rows."""
        violation = pos - self.margin[which]
        value, _ = impedance(self.solimp[which], violation)
        aref = -self.damping[which] * velocity - self.stiffness[which] * value * violation
        return 1.0 / regularisation(value, self.inverse_inertia[which]), aref


@attrs.frozen(eq=False)
class LimitRows:
    """Rows of all copies: (copy, row), those that a copy does not have with no weight."""

    J: Array
    """(copy, row, dof)"""
    D: Array
    aref: Array
    always: Array
    """Rows that push and pull, (row)."""


Part = tuple[Array, Array, Array, bool]
"""J, D and aref of some rows, and whether they always act."""


class Limits:
    """What may hold a model's joints and tendons."""

    def __init__(self, model: ModelLike, tendons: list[int]) -> None:
        self.nv = int(model.nv)
        joints = np.flatnonzero(model.jnt_limited)
        self.qpos, self.dof = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self.range = np.array(model.jnt_range[joints])
        each = np.repeat(joints, 2)
        weight = model.dof_invweight0[model.jnt_dofadr[each]]
        self.joint = RowConstants.of(
            model,
            model.jnt_solref[each],
            model.jnt_solimp[each],
            weight,
            model.jnt_margin[each],
            "limit of joint",
        )
        self.joint_J = np.zeros((2 * len(joints), self.nv))
        self.joint_J[np.arange(len(each)), self.dof.repeat(2)] = np.tile(SIDES, len(joints))
        self._set_tendons(model, np.array(tendons, int))
        self._set_followers(model)

    def _set_tendons(self, model: ModelLike, tendons: Array) -> None:
        self.tendon_range = np.array(model.tendon_range[tendons]).reshape(-1, 2)
        each = np.repeat(tendons, 2)
        self.tendon = RowConstants.of(
            model,
            model.tendon_solref_lim[each],
            model.tendon_solimp_lim[each],
            model.tendon_invweight0[each],
            model.tendon_margin[each],
            "limit of tendon",
        )

    def _set_followers(self, model: ModelLike) -> None:
        ids = np.flatnonzero(np.array(model.eq_active0) != 0)
        self.eq_first, self.eq_second = model.eq_obj1id[ids], model.eq_obj2id[ids]
        self.coefficients = np.array(model.eq_data[ids, :5]).reshape(-1, 5)
        self.coefficients[self.eq_second < 0, 1:] = 0.0
        second = np.maximum(self.eq_second, 0)
        led = self.eq_second >= 0
        dofs = [model.jnt_dofadr[self.eq_first], model.jnt_dofadr[second]] if len(ids) else [ids, ids]
        self.eq_dof = np.array(dofs, int)
        self.eq_qpos = np.array(
            [model.jnt_qposadr[self.eq_first], model.jnt_qposadr[second]] if len(ids) else [ids, ids], int
        )
        self.qpos0 = np.array(model.qpos0)
        weight = model.dof_invweight0[self.eq_dof[0]] + np.where(
            led, model.dof_invweight0[self.eq_dof[1]], 0.0
        )
        zero = np.zeros(len(ids))
        self.equality = RowConstants.of(
            model, model.eq_solref[ids], model.eq_solimp[ids], weight, zero, "equality"
        )

    def rows(self, qpos: Array, qvel: Array, length: Array, arms: Array) -> LimitRows | None:
        """The rows in a state, given lengths (copy, tendon) and arms of the limited tendons; None if none acts."""
        parts = [
            self._sides(self.joint, self._apart(qpos[:, self.qpos], self.range), self.joint_J, qvel),
            self._tendon_sides(length, arms, qvel),
            self._followers(qpos, qvel),
        ]
        found = [part for part in parts if part is not None]
        if not found:
            return None
        if len(found) == 1:
            own, D, aref, both = found[0]
            return LimitRows(own, D, aref, np.full(D.shape[1], both))
        J = np.concatenate([part[0] for part in found], axis=1)
        D, aref = (np.concatenate([part[k] for part in found], axis=1) for k in (1, 2))
        always = np.concatenate([np.full(part[1].shape[1], part[3]) for part in found])
        return LimitRows(J, D, aref, always)

    def _tendon_sides(self, length: Array, arms: Array, qvel: Array) -> Part | None:
        if not length.size:
            return None
        J = arms.repeat(2, axis=1) * np.tile(SIDES, length.shape[1])[:, None]
        return self._sides(self.tendon, self._apart(length, self.tendon_range), J, qvel)

    @staticmethod
    def _apart(value: Array, bounds: Array) -> Array:
        """Distances to lower and upper limits, one after the other, (copy, 2·n)."""
        both = np.stack([value - bounds[:, 0], bounds[:, 1] - value], axis=2)
        return both.reshape(len(value), -1)

    @staticmethod
    def _sides(soft: RowConstants, distance: Array, J: Array, qvel: Array) -> Part | None:
        """Rows of sides that some copy is close to; where a copy is not, without weight."""
        present = distance < soft.margin
        used = np.flatnonzero(present.any(axis=0))
        if not len(used):
            return None
        many = len(distance)
        own = np.broadcast_to(J[used], (many, len(used), J.shape[1])) if J.ndim == 2 else J[:, used]
        velocity = (own @ qvel[..., None])[..., 0]
        D, aref = soft.rows(np.tile(used, many), distance[:, used].ravel(), velocity.ravel())
        return own, D.reshape(many, -1) * present[:, used], aref.reshape(many, -1), False

    def _followers(self, qpos: Array, qvel: Array) -> Part | None:
        count = len(self.eq_first)
        if not count:
            return None
        many = len(qpos)
        value = qpos[:, self.eq_qpos] - self.qpos0[self.eq_qpos]
        target, slope = polynomial(np.tile(self.coefficients, (many, 1)), value[:, 1].reshape(-1))
        J = np.zeros((many, count, self.nv))
        row = np.arange(count)
        J[:, row, self.eq_dof[1]] = -slope.reshape(many, count)
        J[:, row, self.eq_dof[0]] += 1.0
        pos = value[:, 0] - target.reshape(many, count)
        velocity = np.einsum("crd,cd->cr", J, qvel)
        D, aref = self.equality.rows(np.tile(row, many), pos.reshape(-1), velocity.reshape(-1))
        return J, D.reshape(many, count), aref.reshape(many, count), True


def constrained(M: Array, smooth: Array, guess: Array, rows: LimitRows) -> Array:
    """Accelerations under forces `smooth`, from a first guess; all copies have positive definite M."""
    state = _pushing(rows, guess)
    for _ in range(_HASTY):
        aim = _solution(M, smooth, rows, state)
        after = _pushing(rows, aim)
        if (after == state).all():
            return aim
        state = after
    return _descended(M, smooth, guess, rows)


def _descended(M: Array, smooth: Array, qacc: Array, rows: LimitRows) -> Array:
    """The same, for states that the short way does not settle: each round begins further down."""
    for _ in range(_ROUNDS):
        state = _pushing(rows, qacc)
        aim = _solution(M, smooth, rows, state)
        if (_pushing(rows, aim) == state).all():
            return aim
        qacc = _lower(M, smooth, rows, qacc, aim)
    return qacc


def _pushing(rows: LimitRows, qacc: Array) -> Array:
    reach = (rows.J @ qacc[..., None])[..., 0] - rows.aref
    return (rows.always | (reach < 0.0)) & (rows.D > 0.0)


def _solution(M: Array, smooth: Array, rows: LimitRows, state: Array) -> Array:
    weight = rows.D * state
    across = rows.J.swapaxes(1, 2) * weight[:, None]
    force = smooth + (across @ rows.aref[..., None])[..., 0]
    solved: Array = np.linalg.solve(M + across @ rows.J, force[..., None])[..., 0]
    return solved


def _lower(M: Array, smooth: Array, rows: LimitRows, qacc: Array, aim: Array) -> Array:
    """The lowest point between two accelerations in each copy, the second one if the way leads down to it."""
    along = aim - qacc
    Ma, Mv = ((M @ v[..., None])[..., 0] for v in (qacc, along))
    reach = (rows.J @ qacc[..., None])[..., 0] - rows.aref
    rate = (rows.J @ along[..., None])[..., 0]
    flat, bent = np.einsum("cd,cd->c", along, Ma - smooth), np.einsum("cd,cd->c", along, Mv)

    def slope(at: Array) -> Array:
        here = reach + at[:, None] * rate
        pushed = np.where(rows.always | (here < 0.0), rows.D * here, 0.0)
        return flat + at * bent + np.einsum("cr,cr->c", pushed, rate)

    low, high = np.zeros(len(qacc)), np.ones(len(qacc))
    rising = slope(high) > 0.0
    for _ in range(_HALVINGS if rising.any() else 0):
        middle = 0.5 * (low + high)
        up = slope(middle) > 0.0
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    return qacc + np.where(rising, high, 1.0)[:, None] * along
