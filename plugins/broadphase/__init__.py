"""Which pairs of geoms, flex elements and flex vertices may touch. Compare mj_collision and mj_broadphase.

- `all_pairs_numpy.py` looks at every pair; `sweep_numpy.py` sorts boxes along an axis and finds the same pairs.
- `sweep_lanes.py` goes through the list of pairs that may touch wherever they are, made while the plan is made
  (`shared.contacts.contacts_lanes`); of a long list `pair_ranges_lanes.py` leaves out ranges.

The filters (masks, parents, exclusions) are in `shared.contacts.candidates_numpy`, pairs with flexes in
`flex_candidates_numpy` and `flex_self_numpy` beside it. Begin with `all_pairs_numpy.py`.
Tests: `tests/stages/broadphase`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.flex.in_lanes import FOUND

_READS = "geom_xpos geom_xmat"
_WITH_FLEXES = f"{_READS} flexvert_xpos flexelem_aabb bvh_aabb_dyn"


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="broadphase",
            name="sweep",
            backend="numpy",
            target="dovetail.plugins.broadphase.sweep_numpy:broadphase",
            default=True,
            reads=_WITH_FLEXES,
            summary="Sweep along the axis of largest spread, then body filters and bounding spheres",
        ),
        Implementation(
            stage="broadphase",
            name="sweep",
            backend="lanes",
            target="dovetail.plugins.broadphase.sweep_lanes:broadphase",
            default=True,
            reads=f"{_READS} flexvert_xpos flexelem_aabb",
            writes="candidate_list.*",
            supports=FOUND,
            summary="Bounding spheres of the pairs that may collide; in lanes nothing is gained by sorting",
        ),
        Implementation(
            stage="broadphase",
            name="all_pairs",
            backend="numpy",
            target="dovetail.plugins.broadphase.all_pairs_numpy:broadphase",
            reads=_WITH_FLEXES,
            summary="Every pair of geoms through the same filters: the check on cleverer searches",
        ),
    ]
