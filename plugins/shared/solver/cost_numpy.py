"""The cost of constraint rows, the forces that are minus its slope, and the Hessians of friction cones.

All of it is a function of jar = J·qacc − aref, one number per row: how far a row's acceleration is from what it
aims at. With D = 1/R the weight of a row, its cost and force are

- equality: ½·D·jar², force −D·jar;
- friction loss F: the same while |jar| < R·F, beyond that linear with force ∓F;
- limits, frictionless contacts and edges of pyramids: as equalities while jar < 0, else nothing;
- elliptic cones couple the rows of a contact. In coordinates where the cone is round (normal N = μ·jar₀, tangents
  U_j = friction_j·jar_j, T = ‖U‖) there are three zones: N ≥ μ·T costs nothing, μ·N + T ≤ 0 costs ½·ΣD·jar², and
  between them the cost is ½·Dm·(N − μ·T)² with Dm = D₀/(μ²·(1 + μ²)).

`constraint_forces` is what other stages use; solvers take the rows once (`rows_of`) and evaluate them often.
Compare mj_constraintUpdate.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import ConstraintState, ConstraintType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike

# As plain integers, because comparing an array with a member of an enum takes five times as long.
EQUALITY, FRICTION_DOF, FRICTION_TENDON, ELLIPTIC = map(
    int,
    (
        ConstraintType.EQUALITY,
        ConstraintType.FRICTION_DOF,
        ConstraintType.FRICTION_TENDON,
        ConstraintType.CONTACT_ELLIPTIC,
    ),
)
SATISFIED, QUADRATIC, LINEARNEG, LINEARPOS, CONE = map(int, ConstraintState)

LARGEST_DIM = 6
"""Rows of an elliptic contact with sliding, spinning and rolling friction."""


@attrs.frozen(eq=False)
class Cones:
    """Elliptic contacts. Those of fewer than six rows are filled up with the normal row and friction 0."""

    contact: Array
    """Contact of each cone (n)."""
    rows: Array
    """Constraint rows of each cone (n, 6): the normal, then the tangents."""
    real: Array
    """Whether each of those rows is the contact's, or filled in (n, 6)."""
    mu: Array
    """Slope of the regularised cone (n)."""
    scale: Array
    """What makes the cone round: μ for the normal, friction for the tangents (n, 6)."""
    D: Array
    """Weights of the rows (n, 6); 0 where filled in."""
    Dm: Array
    """Weight of the middle zone (n)."""

    def __len__(self) -> int:
        return len(self.contact)

    @property
    def dim(self) -> Array:
        return self.real.sum(axis=1)


@attrs.frozen(eq=False)
class CostRows:
    """What the cost of constraint rows depends on besides jar."""

    D: Array
    R: Array
    frictionloss: Array
    two_sided: Array
    """Rows that always push or pull: equalities (mask)."""
    one_sided: Array
    """Rows that only push: limits, frictionless and pyramidal contacts (mask)."""
    dry: Array
    """Friction loss rows (indices)."""
    cones: Cones

    def __len__(self) -> int:
        return len(self.D)


@attrs.frozen(eq=False)
class Zones:
    """Where elliptic contacts are with respect to their cones (n each)."""

    U: Array
    """jar in round coordinates: normal, tangents (n, 6)."""
    T: Array
    """Length of the tangential part."""
    gap: Array
    """N − μ·T: below zero, the contact pushes."""
    bottom: Array
    middle: Array


def constraint_forces(model: ModelLike, data: DataLike, jar: Array) -> tuple[Array, Array]:
    """Force and state (enums.ConstraintState) of every constraint row at the given jar (nefc)."""
    force, state, _ = evaluate(rows_of(data), jar)
    return force, state


def constraint_cost(model: ModelLike, data: DataLike, jar: Array) -> float:
    """Cost of all constraint rows at the given jar (nefc)."""
    return evaluate(rows_of(data), jar)[2]


def rows_of(data: DataLike, chosen: Array | None = None) -> CostRows:
    """The rows of a Data in their order, or the chosen ones (indices; all rows of a contact together)."""
    which: Any = slice(data.nefc) if chosen is None else chosen
    kind = data.efc_type[which]
    D = data.efc_D[which]
    dry = (kind == FRICTION_DOF) | (kind == FRICTION_TENDON)
    equality, elliptic = kind == EQUALITY, kind == ELLIPTIC
    return CostRows(
        D=D,
        R=data.efc_R[which],
        frictionloss=data.efc_frictionloss[which],
        two_sided=equality,
        one_sided=~(equality | dry | elliptic),
        dry=np.flatnonzero(dry),
        cones=_cones(data.contact, elliptic, data.efc_id[which], D),
    )


def _cones(contacts: Any, elliptic: Array, owner: Array, D: Array) -> Cones:
    """Elliptic contacts among rows of which `elliptic` are such, belonging to contacts `owner`."""
    new = elliptic.copy()
    new[1:] &= ~elliptic[:-1] | (owner[1:] != owner[:-1])
    first = np.flatnonzero(new)
    contact = owner[first]
    if not len(first):
        none = np.zeros((0, LARGEST_DIM))
        return Cones(contact, none.astype(int), none.astype(bool), none[:, 0], none, none, none[:, 0])
    place = np.arange(LARGEST_DIM)
    real = place < contacts.dim[contact][:, None]
    rows = first[:, None] + place * real
    mu = contacts.mu[contact]
    scale = np.column_stack([mu, contacts.friction[contact]]) * real
    return Cones(contact, rows, real, mu, scale, D[rows] * real, D[first] / (mu**2 * (1.0 + mu**2)))


def zones(cones: Cones, jar: Array) -> Zones:
    """The zone each cone is in."""
    U = cones.scale * jar[cones.rows]
    N = U[:, 0]
    T = np.sqrt(np.einsum("ij,ij->i", U[:, 1:], U[:, 1:]))
    gap = N - cones.mu * T
    top = gap >= 0.0
    bottom = ~top & (cones.mu * N + T <= 0.0)
    return Zones(U, T, gap, bottom, ~(top | bottom))


def evaluate(rows: CostRows, jar: Array) -> tuple[Array, Array, float]:
    """Force (n) and state (n) of every row, and the cost of all."""
    force, state = _plain(rows, jar)
    cost = -0.5 * float(force @ jar)
    if len(rows.dry):
        cost += float(_dry_friction(rows, jar, force, state).sum())
    if len(rows.cones):
        cost += float(_elliptic(rows.cones, jar, force, state).sum())
    return force, state, cost


def evaluate_each(rows: CostRows, jar: Array, owner: Array, count: int) -> tuple[Array, Array, Array]:
    """The same for rows of several problems: `owner` says whose each row is, and the cost is that of each (count)."""
    force, state = _plain(rows, jar)
    cost = np.bincount(owner, -0.5 * force * jar, minlength=count)
    if len(rows.dry):
        dry = _dry_friction(rows, jar, force, state)
        cost += np.bincount(owner[rows.dry], dry, minlength=count)
    if len(rows.cones):
        elliptic = _elliptic(rows.cones, jar, force, state)
        cost += np.bincount(owner[rows.cones.rows[:, 0]], elliptic, minlength=count)
    return force, state, cost


def _plain(rows: CostRows, jar: Array) -> tuple[Array, Array]:
    """Force and state of equalities and of rows that only push; zero and satisfied for all others."""
    quadratic = rows.two_sided | (rows.one_sided & (jar < 0.0))
    return np.where(quadratic, -rows.D * jar, 0.0), np.where(quadratic, QUADRATIC, SATISFIED)


def _dry_friction(rows: CostRows, jar: Array, force: Array, state: Array) -> Array:
    """Write force and state of friction loss rows; the cost of each."""
    dry = rows.dry
    x, loss = jar[dry], rows.frictionloss[dry]
    bound = rows.R[dry] * loss
    negative, positive = x <= -bound, x >= bound
    force[dry] = np.where(negative, loss, np.where(positive, -loss, -rows.D[dry] * x))
    state[dry] = np.where(negative, LINEARNEG, np.where(positive, LINEARPOS, QUADRATIC))
    linear = loss * (np.abs(x) - 0.5 * bound)
    return np.where(negative | positive, linear, 0.5 * rows.D[dry] * x * x)


def _elliptic(cones: Cones, jar: Array, force: Array, state: Array) -> Array:
    """Write force and state of the rows of elliptic contacts; the cost of each contact."""
    zone = zones(cones, jar)
    push = -cones.D * jar[cones.rows]
    normal = np.where(zone.middle, -cones.Dm * zone.gap, 0.0)  # along N
    tangent = normal * cones.mu / np.where(zone.middle, zone.T, 1.0)  # along −U/T
    shaped = np.column_stack([normal, -tangent[:, None] * zone.U[:, 1:]]) * cones.scale
    inside = np.where(zone.bottom[:, None], push, shaped)
    code = np.where(zone.bottom, QUADRATIC, np.where(zone.middle, CONE, SATISFIED))
    force[cones.rows[cones.real]] = inside[cones.real]
    state[cones.rows[cones.real]] = np.broadcast_to(code[:, None], cones.real.shape)[cones.real]
    stiff = 0.5 * np.einsum("ij,ij->i", cones.D, jar[cones.rows] ** 2)
    return np.where(zone.bottom, stiff, np.where(zone.middle, 0.5 * cones.Dm * zone.gap**2, 0.0))


def cone_hessians(cones: Cones, jar: Array) -> tuple[Array, Array]:
    """Which cones are in their middle zone (indices, m), and the second derivatives of their cost with respect to
    jar (m, 6, 6); rows and columns beyond a contact's dimension are zero."""
    if not len(cones):
        return np.zeros(0, int), np.zeros((0, LARGEST_DIM, LARGEST_DIM))
    zone = zones(cones, jar)
    chosen = np.flatnonzero(zone.middle)
    U, T, gap, mu = zone.U[chosen], zone.T[chosen], zone.gap[chosen], cones.mu[chosen]
    direction = U[:, 1:] / T[:, None]
    slope = np.column_stack([np.ones(len(chosen)), -mu[:, None] * direction])  # of N − μ·T
    H = slope[:, :, None] * slope[:, None, :]
    bend = np.eye(LARGEST_DIM - 1) - direction[:, :, None] * direction[:, None, :]  # T times the Hessian of T
    H[:, 1:, 1:] -= (gap * mu / T)[:, None, None] * bend
    scale = cones.scale[chosen]
    H *= scale[:, :, None] * scale[:, None, :]
    return chosen, H * cones.Dm[chosen][:, None, None]
