"""Candidate pairs in lanes, not by a sweep as in `sweep_numpy`: every pair that may collide, by its bounding spheres.

Which pairs may collide is known when the plan is made, so nothing is left to sort: one loop over these pairs lists
those that are in reach in any world of the tile; long lists are looked through by ranges. World frame. Compare
mj_collision, which sweeps along an axis; the contacts are the same. Margins are widened to their sum, as in the
reference.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, Variable
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.broadphase.pair_ranges_lanes import near_range, pair_ranges_of, write_boxes
from dovetail.plugins.shared.contacts.contacts_lanes import Candidates, Contacts
from dovetail.plugins.shared.contacts.pair_margins_lanes import overridden, pair_or_sides
from dovetail.plugins.shared.contacts.reach_lanes import in_reach


def broadphase(k: Kernel) -> None:
    """List the near pairs."""
    contacts = Contacts(k)
    candidates = Candidates(k)
    count = k.local(0)
    with k.when(~k.disabled(DisableBit.CONSTRAINT | DisableBit.CONTACT)):
        list_near_pairs(contacts, candidates, count)
    candidates.count = count.value


def list_near_pairs(contacts: Contacts, candidates: Candidates, count: Variable) -> None:
    """Look at all pairs, or at those of the ranges that may have near ones."""
    k, pairs = contacts.k, contacts.pairs
    ranges = pair_ranges_of(k.frozen_model, pairs)
    if ranges is None:
        list_range(contacts, candidates, count, 0, pairs.count)
        return
    write_boxes(contacts, ranges)
    first = k.table("ranges/first", ranges.first)
    with k.loop(0, ranges.count) as s, k.when(near_range(contacts, ranges, s)):
        list_range(contacts, candidates, count, first[s], first[s + 1])


def list_range(contacts: Contacts, candidates: Candidates, count: Variable, start: Any, stop: Any) -> None:
    """List those of a range of pairs that are in reach in any world."""
    k = contacts.k
    with k.loop(start, stop) as p, k.when(k.any(in_reach(contacts, p, widest_margin(contacts, p)))):
        candidates.pair[count.value] = p
        count += 1


def widest_margin(contacts: Contacts, p: Any) -> Any:
    """The most that any rule may make of the margins and gaps of a pair."""
    k = contacts.k
    common = k.model.opt.o_margin
    margin = k.select(overridden(k), k.max(common, 0.0), pair_or_sides(contacts, p, "margin", sum_of_margins))
    return margin + k.max(pair_or_sides(contacts, p, "gap", sum_of_margins), 0.0)


def sum_of_margins(k: Kernel, first: Any, second: Any) -> Any:
    """Both margins, as far as they are positive."""
    return k.max(first, 0.0) + k.max(second, 0.0)
