"""Friction, solver parameters and margin of each contact in the tile's list.

A contact of an explicit pair has the pair's own parameters and nothing of its geoms'. Else the side of higher
priority, a geom or a flex, gives its parameters unchanged, and sides of equal priority are combined by replaceable
rules. The override
flag then replaces solver parameters, friction and margin of every contact. All of it is the same in all worlds and
read from the Model at run time; priorities and dimensions are worked out with the plan. Compare mj_contactParam and
mj_setContact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, elementwise
from dovetail.plugins.contact_params.mujoco_numpy import UNPACK
from dovetail.plugins.shared.constants import MINMU
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts, PairIds, contact_dims, side_values
from dovetail.plugins.shared.contacts.pair_margins_lanes import (
    contact_range,
    overridden,
    pair_or,
)
from dovetail.plugins.shared.vectors_lanes import vector

Parts = Mapping[str, Any]


def contact_params(k: Kernel, parts: Parts) -> None:
    """Fill in the parameters of the listed contacts."""
    contacts = Contacts(k)
    decides = settle_priorities(contacts, parts)
    with k.loop(0, contacts.count) as c:
        p = contacts.pair[c]
        friction, solref, solimp = combined(contacts, p, decides, parts)
        contacts.friction[c] = at_least_minimal(k, pair_or(contacts, p, "friction", friction[UNPACK]))
        contacts.solref[c] = pair_or(contacts, p, "solref", solref)
        contacts.solimp[c] = pair_or(contacts, p, "solimp", solimp)
        contacts.solreffriction[c] = pair_or(contacts, p, "solreffriction", vector(0.0, 0.0))
        contacts.includemargin[c] = contact_range(contacts, p, parts)[1]
    with k.when(overridden(k)), k.loop(0, contacts.count) as c:
        override(contacts, c)


def override(contacts: Contacts, c: Any) -> None:
    """Replace what the options replace in every contact."""
    k, opt = contacts.k, contacts.k.model.opt
    contacts.friction[c] = at_least_minimal(k, opt.o_friction[:])
    contacts.solref[c] = opt.o_solref[:]
    contacts.solimp[c] = opt.o_solimp[:]
    contacts.solreffriction[c] = opt.o_solref[:]


def at_least_minimal(k: Kernel, friction: Any) -> Any:
    """Friction coefficients, none below MINMU."""
    return elementwise(lambda mu: k.max(MINMU, mu), friction)


def settle_priorities(contacts: Contacts, parts: Parts) -> Any:
    """Which side of each pair decides, as a table by pair, None if all share; the dimensions that follow from it are
    kept for other stages."""
    k, pairs, model = contacts.k, contacts.pairs, contacts.k.frozen_model
    geoms = np.stack([pairs.geom1, pairs.geom2], axis=1)
    ids = PairIds(geoms, pairs.pair, pairs.flex, pairs.elem, pairs.vert)
    first, second = side_values(model, ids, "priority").T
    decides = np.asarray(parts["resolve_priority"](k, first, second))
    k.set_table_field("contact_list.dim", contact_dims(model, ids, decides))
    return k.table("contacts/decides", np.append(decides, 0)) if decides.any() else None


def combined(contacts: Contacts, p: Any, decides: Any, parts: Parts) -> tuple[Any, Any, Any]:
    """friction (3), solref and solimp as the two sides' own say."""
    k = contacts.k
    friction, solref, solimp, solmix = (
        contacts.of_sides(name, p) for name in ("friction", "solref", "solimp", "solmix")
    )
    mixed_solref, mixed_solimp = parts["mix_solver"](k, solmix, solref, solimp)
    mixed_friction = parts["combine_friction"](k, *friction)
    if decides is None:
        return mixed_friction, mixed_solref, mixed_solimp

    def chosen(both: Any, shared: Any) -> Any:
        return k.select(decides[p] < 0, both[0], k.select(decides[p] > 0, both[1], shared))

    return chosen(friction, mixed_friction), chosen(solref, mixed_solref), chosen(solimp, mixed_solimp)
