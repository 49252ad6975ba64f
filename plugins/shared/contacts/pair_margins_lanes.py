"""The margin of a contact in lane kernels: its explicit pair's, or what the rule makes of its sides'.

Margins are the same in all worlds; they are read from the Model at run time. Compare mj_assignMargin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import EnableBit
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts


def overridden(k: Kernel) -> Any:
    """Whether one set of options replaces the parameters of every contact."""
    return (k.model.opt.enableflags & int(EnableBit.OVERRIDE)) != 0


def contact_margin(contacts: Contacts, p: Any, combine_margin: Callable[..., Any]) -> Any:
    """Distance at which contacts of a pair begin."""
    k = contacts.k
    margin = pair_or_sides(contacts, p, "margin", combine_margin)
    return k.select(overridden(k), k.model.opt.o_margin, margin)


def contact_range(contacts: Contacts, p: Any, parts: Mapping[str, Any]) -> tuple[Any, Any]:
    """Distances within which contacts of a pair are found, and below which they push."""
    rule = parts["combine_margin"]
    gap = pair_or_sides(contacts, p, "gap", rule)
    found, pushing = parts["contact_range"](contacts.k, contact_margin(contacts, p, rule), gap)
    return found, pushing


def pair_or_sides(contacts: Contacts, p: Any, name: str, combine: Callable[..., Any]) -> Any:
    """`pair_<name>` if the pair is an explicit one, else what the rule makes of `geom_<name>` of both sides, or
    `flex_<name>` of a flex."""
    combined = combine(contacts.k, *contacts.of_sides(name, p))
    return pair_or(contacts, p, name, combined)


def pair_or(contacts: Contacts, p: Any, name: str, combined: Any) -> Any:
    """`pair_<name>` if the pair is an explicit one, else what was combined."""
    k = contacts.k
    if not (contacts.pairs.pair >= 0).any():
        return combined
    explicit = contacts.of_pair("pair", p)
    own = getattr(k.model, f"pair_{name}")[k.max(explicit, 0)]
    return k.select(explicit >= 0, own, combined)
