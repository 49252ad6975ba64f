"""Contacts in lanes, as wrenches on bodies where `contact_numpy` makes rows of a Jacobian.

condim is 1, 3, 4 or 6, cones are pyramidal or elliptic. A contact becomes a bond whose base rows are its normal and
its friction directions (two tangents, spin about the normal, roll about the tangents), the latter multiplied by
their friction coefficients: edges n ± μt of a pyramid and directions of an elliptic cone are both made of them.
A contact with an element of a flex acts on the bodies of all its corners, the more on those the nearer they are.
Compare mj_instantiateContact and mj_makeImpedance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.plugins.constraint_rows.softness_lanes import (
    Softness,
    safe_solref,
    softness,
    stiffness_damping,
)
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import CORNERS
from dovetail.plugins.shared.rows.rows_lanes import ELLIPTIC, PYRAMID, SPREAD, BodyRows, contact_kind
from dovetail.plugins.shared.vectors_lanes import cross, norm, vector


def contact(k: Kernel) -> None:
    """Write the bonds of contacts."""
    body_rows = BodyRows(k)
    if not body_rows.has_contacts:
        return
    contacts = body_rows.contacts
    ends = body_rows.contact_ends
    cone = int(k.frozen_model.opt.cone)
    kinds = [body_rows.index_of(contact_kind(dim, cone)) for dim in contacts.dims.tolist()]
    near, far = k.table("bonds/contact_near", ends.near), k.table("bonds/contact_far", ends.far)
    with k.loop(0, contacts.count) as c:
        bond, pair = body_rows.nequality + c, contacts.pair[c]
        body_rows.near[bond], body_rows.far[bond] = near[pair], far[pair]
        body_rows.kind[bond] = k.table("bonds/contact_kind", kinds)[pair]
        body_rows.dim[bond] = contacts.of_pair("dim", pair)
        body_rows.D[bond, 0] = 0.0
        with k.when(near[pair] > 0):
            weights(k, body_rows, c)
            sign = k.table("bonds/contact_sign", ends.sign)[pair] * 1.0
            if not body_rows.spreads:
                wrenches(k, body_rows, c, near[pair], body_rows.near_wrench, sign)
            else:
                with k.when(far[pair] == SPREAD):
                    spread_wrenches(k, body_rows, c)
                with k.otherwise():
                    wrenches(k, body_rows, c, near[pair], body_rows.near_wrench, sign)
            if (ends.far > 0).any():
                with k.when(far[pair] > 0):
                    wrenches(k, body_rows, c, far[pair], body_rows.far_wrench, -1.0)


def spread_wrenches(k: Kernel, body_rows: BodyRows, c: Any) -> None:
    """Wrenches on a geom's body and, weighted, on those of an element's corners."""
    share = k.scratch("share", CORNERS + 1)
    share[0] = -1.0
    with k.loop(0, CORNERS) as n:
        share[n + 1] = corner_weights(k)[n]
    for n, body in body_rows.each_spread_end(body_rows.nequality + c):
        wrenches(k, body_rows, c, body, _SpreadEnd(body_rows, n), share[n])


class _SpreadEnd:
    """The wrenches of bonds on one of several bodies, to write."""

    def __init__(self, body_rows: BodyRows, end: Any) -> None:
        self._field, self._end = body_rows.spread_wrench, end

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None:
        bond, row = index
        self._field[bond, self._end, row] = value


def corner_weights(k: Kernel) -> LaneField:
    """How much each corner of the element at hand has of its contact."""
    return k.scratch("corner_weights", CORNERS)


def find_corner_weights(k: Kernel, body_rows: BodyRows, c: Any) -> Any:
    """Weights of an element's corners: inverse distances from the contact, of sum one. Returns the inverse inertia of
    the corners' bodies, weighted by them."""
    m, d, contacts, weight = k.model, k.data, body_rows.contacts, corner_weights(k)
    pair, total, inertia = contacts.pair[c], k.local(0.0), k.local(0.0)
    with k.loop(0, CORNERS) as n:
        weight[n] = 0.0
        with k.when(contacts.corner(pair, n) >= 0):
            apart = norm(k, contacts.pos[c] - d.flexvert_xpos[k.max(contacts.corner(pair, n), 0)])
            weight[n] = 1.0 / k.max(MINVAL, apart)
            total += weight[n]
    with k.loop(0, CORNERS) as n, k.when(contacts.corner(pair, n) >= 0):
        weight[n] *= 1.0 / total.value
        inertia += weight[n] * m.body_invweight0[m.flex_vertbodyid[k.max(contacts.corner(pair, n), 0)], 0]
    return inertia.value


def weights(k: Kernel, body_rows: BodyRows, c: Any) -> None:
    """Weight, spring and damping of a contact.

    The normal's R follows from its impedance, the tangents' are impratio times smaller. The edges of a pyramid share
    one R that gives the same friction impedance."""
    m, contacts, bond = k.model, body_rows.contacts, body_rows.nequality + c
    acts = contacts.acts(c)
    violation = contacts.dist[c] - contacts.includemargin[c]
    soft = softness(k, contacts.solref[c], contacts.solimp[c], violation)
    slide = contacts.friction[c, 0]
    slope = slide * slide / k.max(MINVAL, m.opt.impratio)
    bodies = [contacts.of_pair(name, contacts.pair[c]) for name in ("body1", "body2")]
    inertia = m.body_invweight0[bodies[0], 0] + m.body_invweight0[bodies[1], 0]
    if body_rows.spreads:
        known = k.local(0.0)
        known.set(inertia)
        with k.when(contacts.of_pair("elem", contacts.pair[c]) >= 0):
            known.set(m.body_invweight0[bodies[0], 0] + find_corner_weights(k, body_rows, c))
        inertia = known.value
    R = k.local(soft.regularisation(k, inertia))
    body_rows.damping[bond, :] = soft.damping
    for kind in body_rows.each_kind(bond):
        if kind.name == PYRAMID:
            R.set(2.0 * slope * soft.regularisation(k, inertia * (1.0 + slide * slide)))
        elif kind.name == ELLIPTIC:
            body_rows.damping[bond, 1] = friction_damping(k, contacts.solreffriction[c], soft)
    body_rows.D[bond, 0] = k.select(acts, 1.0 / R.value, 0.0)
    body_rows.D[bond, 1] = k.select(acts, slope, 1.0)
    for row in body_rows.each_base_row(bond):
        body_rows.spring[bond, row] = 0.0
    body_rows.spring[bond, 0] = k.select(acts, soft.stiffness * soft.impedance * violation, 0.0)


def friction_damping(k: Kernel, solreffriction: Any, soft: Softness) -> Any:
    """Damping of an elliptic cone's tangents: that of solreffriction where it is given, else the normal's."""
    own = safe_solref(k, solreffriction, (0.0, 0.0))
    given = (own[0] != 0.0) | (own[1] != 0.0)
    return k.select(given, stiffness_damping(k, own, soft.dmax)[1], soft.damping)


def wrenches(k: Kernel, body_rows: BodyRows, c: Any, body: Any, target: Any, sign: Any) -> None:
    """Wrenches of the base rows on one body; zero in worlds where the contact does not act."""
    contacts, bond = body_rows.contacts, body_rows.nequality + c
    acts = contacts.acts(c)
    lever = masked(k, acts, contacts.pos[c] - k.data.subtree_com[k.model.body_rootid[body]])

    def direction(row: Any, axis: Any) -> np.ndarray:
        scale = sign if isinstance(row, int) and row == 0 else sign * contacts.friction[c, row - 1]
        along = np.array([contacts.frame[c, 3 * axis + i] for i in range(3)], dtype=object)
        return masked(k, acts, scale * along)

    def write_linear(row: int) -> None:
        own = direction(row, row)
        target[bond, row] = vector(cross(lever, own), own)

    write_linear(0)
    largest = int(contacts.dims.max())
    if largest > 1:
        with k.when(body_rows.dim[bond] > 1):
            write_linear(1)
            write_linear(2)
    if largest > 3:
        with k.loop(3, body_rows.dim[bond]) as row:
            target[bond, row] = vector(direction(row, row - 3), 0.0, 0.0, 0.0)


def masked(k: Kernel, mask: Any, values: np.ndarray) -> np.ndarray:
    """Zeros outside of the mask, where the numbers may be anything."""
    found: np.ndarray = k.select(mask, values, np.full(values.shape, 0.0, object))
    return found
