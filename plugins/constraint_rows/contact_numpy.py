"""Rows of contacts: condim 1, 3, 4 and 6, with pyramidal or elliptic friction cones.

A row is the relative velocity of the second object against the first along a direction: the contact's normal n,
its tangents, and, as rotations, spin about the normal and roll about the tangents. An elliptic cone has one row for
each of its condim directions. A pyramidal one has two rows, its edges n + μ t and n − μ t, for each friction
direction t. Which bodies move the two sides is in `shared.rows.contact_sides_numpy`. Compare mj_instantiateContact,
mj_diagApprox and mj_makeImpedance.

Two deviations, beside the one of `contact_sides_numpy`. MuJoCo 3.4 leaves the spin and roll rows of flex elements
uninitialised where the Jacobian is sparse; here they are as in the dense case. It stops with an error at a contact
between two static objects (an explicit pair of geoms, a pinned flex vertex) where the Jacobian is dense; here that
contact has no rows, as in the sparse case.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import Cone, ConstraintType, DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.constraint_rows.describe_numpy import named
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.append_numpy import RowGroup, begin, store
from dovetail.plugins.shared.rows.contact_sides_numpy import ContactBodies, contact_motion, sides_of
from dovetail.plugins.shared.rows.impedance_numpy import (
    impedance,
    regularisation,
    safe_solimp,
    safe_solref,
    stiffness_damping,
)
from dovetail.plugins.shared.rows.point_motion_numpy import along
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, ranges

FRICTIONLESS, PYRAMIDAL, ELLIPTIC = map(
    int,
    (
        ConstraintType.CONTACT_FRICTIONLESS,
        ConstraintType.CONTACT_PYRAMIDAL,
        ConstraintType.CONTACT_ELLIPTIC,
    ),
)
NO_DOFS = 3
"""contact.exclude of a contact that no dof can change."""


def contact(model: ModelLike, data: DataLike) -> None:
    """Append the rows of contacts that are not excluded; write contact.mu and contact.efc_address."""
    data.contact.mu[: data.ncon] = 0.0
    data.contact.efc_address[: data.ncon] = -1
    if not begin(model, data, DisableBit.CONTACT):
        return
    contacts = np.flatnonzero(data.contact.exclude[: data.ncon] == 0)
    if not len(contacts):
        return
    sides = sides_of(model, data, contacts)
    motion = contact_motion(model, data, contacts, sides)
    moved = motion.rownnz > 0
    data.contact.exclude[contacts[~moved]] = NO_DOFS
    if moved.any():
        weight = inverse_weights(model, sides, len(contacts))
        add_contacts(model, data, contacts[moved], motion.take(np.flatnonzero(moved)), weight[moved])


def add_contacts(
    model: ModelLike, data: DataLike, contacts: Array, motion: SparseRows, weight: Array
) -> None:
    """Rows of contacts whose relative motions and inverse weights (n, 2) are known."""
    shape = RowShape(data.contact.dim[contacts], elliptic=int(model.opt.cone) == Cone.ELLIPTIC)
    friction, owner = data.contact.friction[contacts], shape.owner
    dist, margin = data.contact.dist[contacts], data.contact.includemargin[contacts]
    KBIP = softness(model, data, contacts, shape, dist - margin)
    first_impedance = KBIP[shape.first, 2]
    R, mu = cone_regularisation(model, shape, friction, weight, first_impedance)
    frame = data.contact.frame[contacts].reshape(-1, 3, 3)
    rows = RowGroup(
        kind=shape.kind,
        ids=contacts[owner],
        jacobian=along(motion, owner, directions(shape, frame, friction)),
        pos=np.where(shape.is_friction, 0.0, dist[owner]),
        margin=np.where(shape.is_friction, 0.0, margin[owner]),
        frictionloss=0.0,
        KBIP=KBIP,
        R=R,
    )
    data.contact.mu[contacts] = mu
    data.contact.efc_address[contacts] = store(data, rows) + shape.first


class RowShape:
    """Which rows contacts have; arrays over rows, but for `dim` and `first`, which are over contacts."""

    def __init__(self, dim: Array, *, elliptic: bool) -> None:
        count = np.where(dim == 1, 1, dim if elliptic else 2 * (dim - 1))
        self.dim, self.elliptic = dim, elliptic
        self.first = np.cumsum(count) - count
        """First row of each contact."""
        self.owner = np.repeat(np.arange(len(dim)), count)
        self.place = ranges(0, count)
        """Number of the row within its contact."""
        self.kind = np.where(dim == 1, FRICTIONLESS, ELLIPTIC if elliptic else PYRAMIDAL)[self.owner]
        self.is_friction = (self.place > 0) & elliptic
        """Rows of friction alone: an elliptic cone's but the first."""


# ---- directions -------------------------------------------------------------------------------------------


def directions(shape: RowShape, frame: Array, friction: Array) -> Array:
    """The direction (nrow, 6) of each row: linear, then angular."""
    basis = np.zeros((len(frame), 6, 6))
    basis[:, :3, :3] = frame
    basis[:, 3:, 3:] = frame
    owner, place = shape.owner, shape.place
    if shape.elliptic:
        return basis[owner, place]
    axis, sign = place // 2, 1.0 - 2.0 * (place % 2)
    slope = np.where(shape.dim[owner] > 1, sign * friction[owner, axis], 0.0)
    return basis[owner, 0] + slope[:, None] * basis[owner, 1 + axis]


# ---- softness ---------------------------------------------------------------------------------------------


def inverse_weights(model: ModelLike, sides: ContactBodies, count: int) -> Array:
    """Approximate inverse inertia of contacts (n, 2): for translation and for rotation."""
    terms = np.abs(sides.weight)[:, None] * model.body_invweight0[sides.body]
    columns = [np.bincount(sides.owner, column, minlength=count) for column in terms.T]
    return np.stack(columns, axis=1)


def softness(model: ModelLike, data: DataLike, contacts: Array, shape: RowShape, violation: Array) -> Array:
    """Stiffness, damping, impedance and its slope (nrow, 4). Rows of friction alone have no stiffness, and the
    damping of solreffriction where that is given."""

    def describe(index: int) -> str:
        return description(model, data, int(contacts[index]))

    owner = shape.owner
    solimp = safe_solimp(data.contact.solimp[contacts])
    solref = safe_solref(model, data.contact.solref[contacts], describe)
    value, slope = impedance(solimp, violation)
    stiffness, damping = stiffness_damping(solref, solimp[:, 1])
    reffriction = data.contact.solreffriction[contacts]
    other_damping = friction_damping(model, reffriction, solimp[:, 1], damping, describe)
    return np.stack(
        [
            np.where(shape.is_friction, 0.0, stiffness[owner]),
            np.where(shape.is_friction, other_damping[owner], damping[owner]),
            value[owner],
            slope[owner],
        ],
        axis=1,
    )


def friction_damping(
    model: ModelLike, reffriction: Array, dmax: Array, damping: Array, describe: Callable[[int], str]
) -> Array:
    """Damping (n) of contacts' friction rows: that of solreffriction (n, 2) where it is given, else the normal's."""
    if not reffriction.any():
        return damping
    solref = safe_solref(model, reffriction, describe, name="solreffriction", default=(0.0, 0.0))
    return np.where(solref.any(axis=1), stiffness_damping(solref, dmax)[1], damping)


def description(model: ModelLike, data: DataLike, contact_id: int) -> str:
    """A contact in words."""
    first, second = (
        named(model, "geom", geom) if geom >= 0 else named(model, "flex", flex)
        for geom, flex in zip(data.contact.geom[contact_id], data.contact.flex[contact_id], strict=True)
    )
    return f"contact {contact_id} between {first} and {second}"


def cone_regularisation(
    model: ModelLike, shape: RowShape, friction: Array, weight: Array, value: Array
) -> tuple[Array, Array]:
    """R of each row, and mu of each contact, the friction of the regularised cone.

    The normal's R follows from its impedance; the first tangent's is impratio times smaller. The rows of an elliptic
    cone keep R·μ² the same in all friction directions, those of a pyramid share one R that gives the same
    friction impedance."""
    slide, owner, place = friction[:, 0], shape.owner, shape.place
    has_friction = shape.dim > 1
    edge = 1.0 if shape.elliptic else np.where(has_friction, 1.0 + slide * slide, 1.0)
    normal = regularisation(value, weight[:, 0] * edge)
    tangent = normal / max(float(model.opt.impratio), MINVAL)
    mu = np.where(has_friction, slide * np.sqrt(tangent / normal), 0.0)
    if shape.elliptic:
        own = friction[owner, np.maximum(place - 1, 0)]
        R = np.where(shape.is_friction, tangent[owner] * slide[owner] ** 2 / own**2, normal[owner])
    else:
        R = np.where(has_friction, 2.0 * mu * mu * normal, normal)[owner]
    return R, mu
