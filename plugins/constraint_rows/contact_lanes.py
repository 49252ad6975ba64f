"""Rows of contacts in lanes: condim 1, 3, 4 and 6, with pyramidal or elliptic friction cones.

A contact becomes a link whose base rows are its normal and its friction directions (two tangents, spin about the
normal, roll about the tangents), the latter multiplied by their friction coefficients: edges n ± μt of a pyramid and
directions of an elliptic cone are both made of them. Compare mj_instantiateContact and mj_makeImpedance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.algebra import MINVAL, cross, vector
from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.constraint_lanes import ELLIPTIC, PYRAMID, Links, contact_kind, ends_of
from dovetail.plugins.constraint_rows.softness_lanes import (
    Softness,
    safe_solref,
    softness,
    stiffness_damping,
)


def contact(k: Kernel) -> None:
    """Write the links of contacts."""
    links = Links(k)
    if not links.has_contacts:
        return
    contacts, pairs = links.contacts, links.contacts.pairs
    ends = ends_of(k.frozen_model, pairs.body2, pairs.body1)
    cone = int(k.frozen_model.opt.cone)
    kinds = [links.index_of(contact_kind(dim, cone)) for dim in contacts.dims.tolist()]
    near, far = k.table("links/contact_near", ends.near), k.table("links/contact_far", ends.far)
    with k.loop(0, contacts.count) as c:
        link, pair = links.nequality + c, contacts.pair[c]
        links.near[link], links.far[link] = near[pair], far[pair]
        links.kind[link] = k.table("links/contact_kind", kinds)[pair]
        links.dim[link] = contacts.of_pair("dim", pair)
        links.D[link, 0] = 0.0
        with k.when(near[pair] > 0):
            weights(k, links, c)
            sign = k.table("links/contact_sign", ends.sign)[pair] * 1.0
            wrenches(k, links, c, near[pair], links.near_wrench, sign)
            if ends.far.any():
                with k.when(far[pair] > 0):
                    wrenches(k, links, c, far[pair], links.far_wrench, -1.0)


def weights(k: Kernel, links: Links, c: Any) -> None:
    """Weight, spring and damping of a contact.

    The normal's R follows from its impedance, the tangents' are impratio times smaller. The edges of a pyramid share
    one R that gives the same friction impedance."""
    m, contacts, link = k.model, links.contacts, links.nequality + c
    acts = contacts.acts(c)
    violation = contacts.dist[c] - contacts.includemargin[c]
    soft = softness(k, contacts.solref[c], contacts.solimp[c], violation)
    slide = contacts.friction[c, 0]
    slope = slide * slide / k.max(m.opt.impratio, MINVAL)
    bodies = [contacts.of_pair(name, contacts.pair[c]) for name in ("body1", "body2")]
    inertia = m.body_invweight0[bodies[0], 0] + m.body_invweight0[bodies[1], 0]
    R = k.local(soft.regularisation(k, inertia))
    links.damping[link, :] = soft.damping
    for kind in links.each_kind(link):
        if kind.name == PYRAMID:
            R.set(2.0 * slope * soft.regularisation(k, inertia * (1.0 + slide * slide)))
        elif kind.name == ELLIPTIC:
            links.damping[link, 1] = friction_damping(k, contacts.solreffriction[c], soft)
    links.D[link, 0] = k.select(acts, 1.0 / R.value, 0.0)
    links.D[link, 1] = k.select(acts, slope, 1.0)
    for row in links.each_base_row(link):
        links.spring[link, row] = 0.0
    links.spring[link, 0] = k.select(acts, soft.stiffness * soft.impedance * violation, 0.0)


def friction_damping(k: Kernel, solreffriction: Any, soft: Softness) -> Any:
    """Damping of an elliptic cone's tangents: that of solreffriction where it is given, else the normal's."""
    own = safe_solref(k, solreffriction, (0.0, 0.0))
    given = (own[0] != 0.0) | (own[1] != 0.0)
    return k.select(given, stiffness_damping(k, own, soft.dmax)[1], soft.damping)


def wrenches(k: Kernel, links: Links, c: Any, body: Any, target: Any, sign: Any) -> None:
    """Wrenches of the base rows on one body; zero in worlds where the contact does not act."""
    contacts, link = links.contacts, links.nequality + c
    acts = contacts.acts(c)
    lever = masked(k, acts, contacts.pos[c] - k.data.subtree_com[k.model.body_rootid[body]])

    def direction(row: Any, axis: Any) -> np.ndarray:
        scale = sign if isinstance(row, int) and row == 0 else sign * contacts.friction[c, row - 1]
        along = np.array([contacts.frame[c, 3 * axis + i] for i in range(3)], dtype=object)
        return masked(k, acts, scale * along)

    def write_linear(row: int) -> None:
        own = direction(row, row)
        target[link, row] = vector(cross(lever, own), own)

    write_linear(0)
    largest = int(contacts.dims.max())
    if largest > 1:
        with k.when(links.dim[link] > 1):
            write_linear(1)
            write_linear(2)
    if largest > 3:
        with k.loop(3, links.dim[link]) as row:
            target[link, row] = vector(direction(row, row - 3), 0.0, 0.0, 0.0)


def masked(k: Kernel, mask: Any, values: np.ndarray) -> np.ndarray:
    """Zeros outside of the mask, where the numbers may be anything."""
    found: np.ndarray = k.select(mask, values, np.full(values.shape, 0.0, object))
    return found
