"""Rows of contacts: condim 1, 3, 4 and 6, with pyramidal or elliptic friction cones.

A row is the relative velocity of the second object against the first along a direction: the contact's normal n,
its tangents, and, as rotations, spin about the normal and roll about the tangents. An elliptic cone has one row for
each of its condim directions. A pyramidal one has two rows, its edges n + μ t and n − μ t, for each friction
direction t. A geom or flex vertex moves with its body, a flex element with the bodies of its vertices,
weighted by inverse distance. Compare mj_instantiateContact, mj_diagApprox and mj_makeImpedance.

Two deviations. MuJoCo 3.4 leaves the spin and roll rows of flex elements uninitialised where the Jacobian is sparse;
here they are as in the dense case. It stops with an error at a contact between two static geoms (an explicit
pair) where the Jacobian is dense; here that contact has no rows, as in the sparse case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import Cone, ConstraintType, DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.constraint_rows.describe_numpy import named
from dovetail.plugins.constraint_rows.motion_numpy import along, relative_motion
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.rows.append_numpy import RowGroup, begin, store
from dovetail.plugins.shared.rows.impedance_numpy import (
    impedance,
    regularisation,
    safe_solimp,
    safe_solref,
    stiffness_damping,
)
from dovetail.plugins.shared.rows.sparse_rows_numpy import SparseRows, ranges

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


# ---- motion -----------------------------------------------------------------------------------------------


class ContactBodies(NamedTuple):
    """The bodies whose motion makes up that of contacts."""

    owner: Array
    """Contact of each term, counted in the list of contacts."""
    body: Array
    weight: Array
    """Negative for the first side."""


def sides_of(model: ModelLike, data: DataLike, contacts: Array) -> ContactBodies:
    """Bodies and weights of both sides of contacts."""
    geom = data.contact.geom[contacts]
    sign = np.broadcast_to([-1.0, 1.0], geom.shape)
    owner, side = np.nonzero(geom >= 0)
    parts = [ContactBodies(owner, model.geom_bodyid[geom[owner, side]], sign[owner, side])]
    if model.nflex and len(owner) < geom.size:
        parts += [vertex_sides(model, data, contacts, sign), element_sides(model, data, contacts, sign)]
    return ContactBodies(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def vertex_sides(model: ModelLike, data: DataLike, contacts: Array, sign: Array) -> ContactBodies:
    """Flex vertices: each moves with its body."""
    vertex = data.contact.vert[contacts]
    owner, side = np.nonzero(vertex >= 0)
    start = model.flex_vertadr[data.contact.flex[contacts[owner], side]]
    return ContactBodies(owner, model.flex_vertbodyid[start + vertex[owner, side]], sign[owner, side])


def element_sides(model: ModelLike, data: DataLike, contacts: Array, sign: Array) -> ContactBodies:
    """Flex elements: the bodies of their vertices, weighted by inverse distance from the contact. A vertex that is
    itself the other side of the contact does not count."""
    element, vertex = data.contact.elem[contacts], data.contact.vert[contacts]
    owner, side = np.nonzero((element >= 0) & (vertex < 0))
    flex = data.contact.flex[contacts[owner], side]
    corners = model.flex_dim[flex] + 1
    corner = model.flex_elem[ranges(model.flex_elemdataadr[flex] + element[owner, side] * corners, corners)]
    term = np.repeat(np.arange(len(owner)), corners)
    other = corner != vertex[owner, 1 - side][term]
    corner, term = corner[other], term[other]
    place = model.flex_vertadr[flex][term] + corner
    apart = data.contact.pos[contacts[owner[term]]] - data.flexvert_xpos[place]
    weight = 1.0 / np.maximum(np.linalg.norm(apart, axis=1), MINVAL)
    total = np.bincount(term, weight, minlength=len(owner))
    signed = sign[owner, side][term] * weight / total[term]
    return ContactBodies(owner[term], model.flex_vertbodyid[place], signed)


def contact_motion(model: ModelLike, data: DataLike, contacts: Array, sides: ContactBodies) -> SparseRows:
    """Motion of the second side relative to the first, at the contact's point."""
    point = data.contact.pos[contacts][sides.owner]
    return relative_motion(model, data, sides.owner, sides.body, point, sides.weight, len(contacts))


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
