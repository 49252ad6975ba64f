"""Friction, solver parameters, dimension and margin of each contact, all contacts at once.

A contact of an explicit pair has the pair's own parameters and nothing of its geoms'. Else the side of higher
priority gives its parameters unchanged, and sides of equal priority are combined by replaceable rules. The
override flag then replaces solver parameters, friction and margin of every contact. A side is a geom or a flex;
both have the same parameters. Compare mj_contactParam, mj_setContact and, for contacts without dofs,
mj_instantiateContact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINMU
from dovetail.plugins.shared.contacts.exclusion import IN_GAP, INCLUDED, NO_DOFS, PASSIVE
from dovetail.plugins.shared.contacts.margins_numpy import (
    contact_gap,
    contact_margin,
    overridden,
    pair_or,
)
from dovetail.plugins.shared.ordered_numpy import larger

UNPACK = [0, 0, 1, 2, 2]
"""Which of slide, spin and roll each of the contact's five coefficients is."""


Parts = Mapping[str, Any]


class Params(NamedTuple):
    """Parameters of n contacts."""

    dim: Array
    friction: Array
    solref: Array
    solimp: Array
    solreffriction: Array


def contact_params(model: ModelLike, data: DataLike, parts: Parts) -> None:
    """Write the parameters of the first ncon contacts."""
    n = data.ncon
    if not n:
        return
    contact = data.contact
    sides = ContactSides(model, contact.geom[:n], contact.flex[:n], contact.elem[:n], contact.vert[:n])
    pair = explicit_pair(data, n)
    params = override(model, with_pairs(model, pair, combined(sides, parts)))
    contact.dim[:n] = params.dim
    contact.friction[:n] = larger(MINMU, params.friction)
    contact.solref[:n] = params.solref
    contact.solimp[:n] = params.solimp
    contact.solreffriction[:n] = params.solreffriction
    contact.includemargin[:n] = include_margin(model, sides, pair, parts)
    contact.exclude[:n] = exclusion(contact.dist[:n], contact.includemargin[:n], sides)


class ContactSides:
    """Both sides of every contact: geoms, or flexes (their elements or vertices) where the geom is -1."""

    def __init__(self, model: ModelLike, geom: Array, flex: Array, elem: Array, vert: Array) -> None:
        self.model, self.geom, self.flex, self.elem, self.vert = model, geom, flex, elem, vert
        self.has_flexes = bool((geom < 0).any())

    def __len__(self) -> int:
        return len(self.geom)

    def get(self, name: str) -> Array:
        """A parameter of both sides (n, 2, …), `geom_<name>` or `flex_<name>`."""
        of_geom, of_flex = getattr(self.model, f"geom_{name}"), getattr(self.model, f"flex_{name}")
        if not self.has_flexes:
            return of_geom[self.geom]
        values = np.zeros((*self.geom.shape, *of_geom.shape[1:]), of_geom.dtype)
        is_geom, is_flex = self.geom >= 0, self.flex >= 0
        values[is_geom] = of_geom[self.geom[is_geom]]
        values[is_flex] = of_flex[self.flex[is_flex]]
        return values

    def fixed(self) -> Array:
        """Contacts (n) neither side of which can move."""
        still = np.zeros(self.geom.shape, bool)
        is_geom = self.geom >= 0
        still[is_geom] = self.model.body_weldid[self.model.geom_bodyid[self.geom[is_geom]]] == 0
        if self.has_flexes:
            still[~is_geom] = self._fixed_vertices()[self._vertices(~is_geom)].all(axis=1)
        return np.all(still, axis=1)

    def _fixed_vertices(self) -> Array:
        """Vertices of all flexes that cannot move: their body does not, or none of the nodes that they follow."""
        model = self.model
        body = model.flex_vertbodyid
        fixed = (model.body_weldid[np.maximum(body, 0)] == 0) & (body >= 0)
        for flex in np.flatnonzero(model.flex_interp).tolist():
            nodes = slice(model.flex_nodeadr[flex], model.flex_nodeadr[flex] + model.flex_nodenum[flex])
            vertices = slice(model.flex_vertadr[flex], model.flex_vertadr[flex] + model.flex_vertnum[flex])
            fixed[vertices] = (model.body_weldid[model.flex_nodebodyid[nodes]] == 0).all()
        return fixed

    def _vertices(self, which: Array) -> Array:
        """(m, 4) vertices of flex sides, counted through all flexes: all of an element, the last one repeated."""
        flex, elem, vert = self.flex[which], self.elem[which], self.vert[which]
        dim = self.model.flex_dim[flex]
        corner = np.minimum(np.arange(4), dim[:, None])
        start = self.model.flex_elemdataadr[flex] + np.maximum(elem, 0) * (dim + 1)
        vertex = np.where((elem >= 0)[:, None], self.model.flex_elem[start[:, None] + corner], vert[:, None])
        return self.model.flex_vertadr[flex][:, None] + vertex

    def passive(self) -> Array:
        """Contacts of a passive flex."""
        soft = np.zeros(self.flex.shape, bool)
        is_flex = self.flex >= 0
        soft[is_flex] = self.model.flex_passive[self.flex[is_flex]] != 0
        return np.any(soft, axis=1)

    def within_one_flex(self) -> Array:
        """Contacts of a flex with itself."""
        return (self.flex[:, 0] == self.flex[:, 1]) & (self.flex[:, 0] >= 0)

    def inside_out(self) -> Array:
        """Contacts that keep a tetrahedron from turning inside out, a vertex of its own on the second side; they
        have no friction."""
        return self.within_one_flex() & (self.elem[:, 0] >= 0) & (self.vert[:, 1] >= 0)


def explicit_pair(data: DataLike, n: int) -> Array:
    """The explicit pair each contact belongs to, or -1."""
    candidate = data.contact_candidate[:n]
    pair = np.full(n, -1)
    known = candidate >= 0
    pair[known] = data.candidate_pair[candidate[known]]
    return pair


def combined(sides: ContactSides, parts: Parts) -> Params:
    """Parameters as the two sides' own say."""
    dim, friction = sides.get("condim"), sides.get("friction")
    solref, solimp = sides.get("solref"), sides.get("solimp")
    priority = sides.get("priority")
    decides = parts["resolve_priority"](priority[:, 0], priority[:, 1])
    mixed_solref, mixed_solimp = parts["mix_solver"](sides.get("solmix"), solref, solimp)
    mixed_friction = parts["combine_friction"](friction[:, 0], friction[:, 1])
    return Params(
        dim=np.where(sides.inside_out(), 1, chosen(decides, dim, dim.max(axis=1))),
        friction=chosen(decides, friction, mixed_friction)[:, UNPACK],
        solref=chosen(decides, solref, mixed_solref),
        solimp=chosen(decides, solimp, mixed_solimp),
        solreffriction=np.zeros((len(sides), 2)),
    )


def chosen(decides: Array, both: Array, shared: Array) -> Array:
    """The first side's values where `decides` is negative, the second's where positive, else the shared ones."""
    decides = np.asarray(decides).reshape(-1, *[1] * (both.ndim - 2))
    return np.where(decides < 0, both[:, 0], np.where(decides > 0, both[:, 1], shared))


def with_pairs(model: ModelLike, pair: Array, params: Params) -> Params:
    """The same, where a contact has an explicit pair the pair's parameters."""
    return Params(
        dim=pair_or(pair, model.pair_dim, params.dim),
        friction=pair_or(pair, model.pair_friction, params.friction),
        solref=pair_or(pair, model.pair_solref, params.solref),
        solimp=pair_or(pair, model.pair_solimp, params.solimp),
        solreffriction=pair_or(pair, model.pair_solreffriction, params.solreffriction),
    )


def override(model: ModelLike, params: Params) -> Params:
    """The same, or the options' parameters for all contacts while the override flag is on."""
    if not overridden(model):
        return params
    opt = model.opt
    return params._replace(
        friction=np.broadcast_to(opt.o_friction, params.friction.shape),
        solref=np.broadcast_to(opt.o_solref, params.solref.shape),
        solimp=np.broadcast_to(opt.o_solimp, params.solimp.shape),
        solreffriction=np.broadcast_to(opt.o_solref, params.solreffriction.shape),
    )


def include_margin(model: ModelLike, sides: ContactSides, pair: Array, parts: Parts) -> Array:
    """The distance below which a contact pushes, from its margin and gap. A flex has neither against itself."""
    rule = parts["combine_margin"]
    margin, gap = sides.get("margin"), sides.get("gap")
    _, between = parts["contact_range"](
        contact_margin(model, rule, margin[:, 0], margin[:, 1], pair),
        contact_gap(model, rule, gap[:, 0], gap[:, 1], pair),
    )
    return np.where(sides.within_one_flex(), 0.0, between)


def exclusion(dist: Array, includemargin: Array, sides: ContactSides) -> Array:
    """Whether and why each contact makes no rows; in a model without dofs none has any, and no reason is given."""
    fixed = sides.fixed() & bool(sides.model.nv)
    by_place = np.where(dist >= includemargin, IN_GAP, np.where(fixed, NO_DOFS, INCLUDED))
    return np.where(sides.passive(), np.where(fixed, NO_DOFS, PASSIVE), by_place)
