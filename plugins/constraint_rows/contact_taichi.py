"""Rows of contacts in lanes: condim 1, 3, 4 and 6, with pyramidal or elliptic friction cones.

A contact becomes a link whose base rows are its normal and its friction directions (two tangents, spin about the
normal, roll about the tangents), the latter multiplied by their friction coefficients: edges n ± μt of a pyramid and
directions of an elliptic cone are both made of them. Compare mj_instantiateContact and mj_makeImpedance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.taichi.algebra import MINVAL, cross, vector
from dovetail.backends.taichi.lanes import Kernel
from dovetail.plugins.constraint_lanes import ELLIPTIC, PYRAMID, Form, Links, ends_of
from dovetail.plugins.constraint_rows.softness_taichi import safe_solref, softness, stiffness_damping


def contact(k: Kernel) -> None:
    """Write the links of contacts."""
    links = Links(k)
    if not links.has_contacts:
        return
    contacts, pairs = links.contacts, links.contacts.pairs
    ends = ends_of(k.structure, pairs.body2, pairs.body1)
    near, far = k.table("links/contact_near", ends.near), k.table("links/contact_far", ends.far)
    form = k.table("links/contact_form", links.contact_forms())
    with k.loop(0, contacts.count) as c:
        link, pair = links.nequality + c, contacts.pair[c]
        links.near[link], links.far[link] = near[pair], far[pair]
        links.form[link] = form[pair]
        links.D[link, 0] = 0.0
        with k.when(near[pair] > 0):
            for chosen in links.by_form(link):
                weights(k, links, c, chosen)
                wrenches(k, links, c, chosen, k.table("links/contact_sign", ends.sign)[pair])


def weights(k: Kernel, links: Links, c: Any, form: Form) -> None:
    """Weight, spring and damping of a contact.

    The normal's R follows from its impedance, the tangents' are impratio times smaller. The edges of a pyramid share
    one R that gives the same friction impedance."""
    m, contacts, link = k.model, links.contacts, links.nequality + c
    violation = contacts.dist[c] - contacts.includemargin[c]
    soft = softness(k, contacts.solref[c], contacts.solimp[c], violation)
    pair = contacts.pair[c]
    inertia = sum(m.body_invweight0[contacts.of_pair(body, pair), 0] for body in ("body1", "body2"))
    slope = contacts.friction[c, 0] * contacts.friction[c, 0] / k.max(m.opt.impratio, MINVAL)
    if form.kind == PYRAMID:
        edge = 1.0 + contacts.friction[c, 0] * contacts.friction[c, 0]
        R = 2.0 * slope * soft.regularisation(k, inertia * edge)
    else:
        R = soft.regularisation(k, inertia)
    acts = contacts.acts(c)
    links.D[link, 0] = k.select(acts, 1.0 / R, 0.0)
    links.D[link, 1] = k.select(acts, slope, 1.0)
    links.spring[link, 0] = k.select(acts, soft.stiffness * soft.impedance * violation, 0.0)
    links.damping[link, 0] = soft.damping
    if form.kind == ELLIPTIC:
        own = safe_solref(k, contacts.solreffriction[c], (0.0, 0.0))
        given = (own[0] != 0.0) | (own[1] != 0.0)
        links.damping[link, 1] = k.select(given, stiffness_damping(k, own, soft.dmax)[1], soft.damping)
    else:
        links.damping[link, 1] = soft.damping
    for row in range(1, form.dim):
        links.spring[link, row] = 0.0


def wrenches(k: Kernel, links: Links, c: Any, form: Form, sign: Any) -> None:
    """Wrenches of the base rows on both bodies; zero in worlds where the contact does not act."""
    contacts, link = links.contacts, links.nequality + c
    frame = contacts.frame[c].reshape(3, 3)
    friction = contacts.friction[c]
    acts = contacts.acts(c)
    near, far = links.near[link], links.far[link]
    for row in range(form.dim):
        scale = k.select(acts, 1.0 if row == 0 else friction[row - 1], 0.0)
        direction = k.select(acts, frame[row % 3], 0.0) * scale
        turns = row >= 3
        own = wrench(k, near, contacts.pos[c], direction, turns=turns)
        links.near_wrench[link, row] = masked(k, acts, own) * (1.0 * sign)
        with k.when(far > 0):
            other = wrench(k, far, contacts.pos[c], direction, turns=turns)
            links.far_wrench[link, row] = masked(k, acts, -other)


def masked(k: Kernel, mask: Any, values: np.ndarray) -> np.ndarray:
    """Zeros outside of the mask, where the numbers may be anything."""
    found: np.ndarray = k.select(mask, values, np.full(values.shape, 0.0, object))
    return found


def wrench(k: Kernel, body: Any, point: Any, direction: Any, *, turns: bool) -> np.ndarray:
    """The wrench that measures how fast a point of a body moves along a direction, or how fast the body turns
    about it; about the centre of mass of the body's tree."""
    if turns:
        return vector(direction, 0.0, 0.0, 0.0)
    lever = point - k.data.subtree_com[k.model.body_rootid[body]]
    return vector(cross(lever, direction), direction)
