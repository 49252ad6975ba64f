"""How two convex shapes of one world lie to each other: distance iteration and expanding polytope as one loop.

World frame. Compare mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.values import NUM, kind_of
from dovetail.plugins.shared.geometry.ccd_one_world_lanes import Phase, Search
from dovetail.plugins.shared.geometry.epa_one_world_lanes import Polytope
from dovetail.plugins.shared.geometry.gjk_one_world_lanes import Distance
from dovetail.plugins.shared.geometry.support_one_world_lanes import ENDLESS, Shapes


def margin_by_world(k: Kernel, name: str, margin: Any) -> Callable[[Any], Any]:
    """The margin in one world: the same in all, unless geoms have margins of their own in every world."""
    if kind_of(margin) != NUM:
        return lambda world: margin
    margins = k.split(name, 1)
    margins[0] = margin
    return lambda world: margins.of(world)[0]


def witness(k: Kernel, shapes: Shapes, margin: Any) -> Search:
    """How two shapes lie to each other."""
    search = Search(k, shapes)
    distance, polytope = Distance(search), Polytope(search)
    distance.prepare(margin)
    with k.loop(0, ENDLESS):
        distance.start()
        distance.arrival()
        distance.enclosing()
        distance.enclose()
        distance.reduce()
        distance.aim()
        distance.end()
        polytope.tip()
        polytope.begin()
        polytope.close()
        polytope.begin_on_triangle()
        polytope.expansion()
        polytope.nearest()
        k.leave_when(search.phase.value == int(Phase.DONE))
        with k.when(search.phase.value <= int(Phase.TIP)):
            search.add_support()
    with k.when(polytope.complete.value == 1):
        polytope.witness()
    return search
