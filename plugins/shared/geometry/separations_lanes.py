"""What searches found out about pairs that are apart, so that the same need not be found again step after step.

A search for a contact of two convex geoms ends, if they are apart, with a direction in which their support functions
say so. These are facts about the two shapes, each in its own frame: towards `a` the first reaches no farther than so
much, towards `b` the second. They stay true however the geoms move. Turned into the world now the two directions are
no longer quite opposite; by what the support functions may have changed in between, at most the radius around a geom
times the length between the directions, the pair is still known to be apart, or must be searched again. So nothing
that comes out of a step depends on what is remembered here: only the work does.

World frame unless said otherwise. All worlds of a tile are looked at at once; a search notes its own world.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.contacts.reach_lanes import FAR
from dovetail.plugins.shared.vectors_lanes import Vector, dot, norm, to_frame, to_world, vector

MOST_KEPT = 1024
"""Pairs that are remembered at once; where two have the same place, the later one has it."""

SLACK = {"f64": 1e-9, "f32": 1e-5}
"""Part of the bounding radii by which a gap must exceed what rounding may make of it."""

TOLERANCES = 4.0
"""The same in tolerances of the search, which takes shapes for touching that are apart by one."""

A, B, REACH = slice(0, 3), slice(3, 6), 6
"""Columns: the direction in the frame of the first geom, in that of the second, and how far both reach together."""


BEFORE = (
    "two geoms that were far apart surely are so still where their poses say it, and need not be looked at"
)


def enclosing_radius(k: Kernel, geom: Any) -> Any:
    """Radius of a ball about a geom's centre that it fits into, by its size: `geom_rbound` may have been edited, or
    may be older than the size. A mesh fits into its box."""
    m = k.model
    kind, (a, b, c), box = m.geom_type[geom], m.geom_size[geom], m.geom_aabb[geom]
    of_mesh = vector(*(k.abs(centre) + half for centre, half in zip(box[:3], box[3:], strict=True)))
    half = k.select(kind == GeomType.MESH, of_mesh, vector(a, b, c))
    rounded = k.select(kind == GeomType.CAPSULE, a + b, k.max(k.max(a, b), c))
    edged = (kind == GeomType.CYLINDER) | (kind == GeomType.BOX) | (kind == GeomType.MESH)
    return k.select(kind == GeomType.SPHERE, a, k.select(edged, norm(k, half), rounded))


class Separation:
    """What is known of one pair of geoms."""

    def __init__(self, k: Kernel, geom1: Any, geom2: Any) -> None:
        ngeom = int(k.frozen_model.ngeom)
        room = min(ngeom * ngeom, MOST_KEPT)
        self.k = k
        self.geoms = geom1, geom2
        self.place = geom1 * ngeom + geom2 if room < MOST_KEPT else (geom1 * (ngeom % room) + geom2) % room
        self.facts = k.split("separations/facts", room, 7, kept=BEFORE)
        owners = k.forgotten_integers("separations/owners", room, 2, kept=BEFORE)
        with k.when((owners[self.place, 0] != geom1 + 1) | (owners[self.place, 1] != geom2)):
            owners[self.place, 0] = geom1 + 1
            owners[self.place, 1] = geom2
            self.facts[self.place] = vector(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, FAR)

    def known(self, margin: Any) -> Any:
        """Mask of the worlds in which the geoms are surely farther apart than the margin."""
        k, d = self.k, self.k.data
        facts = self.facts[self.place]
        offset = d.geom_xpos[self.geoms[1]] - d.geom_xpos[self.geoms[0]]
        first, second = (d.geom_xmat[geom].reshape(3, 3) for geom in self.geoms)
        towards, back = to_world(first, facts[A]), to_world(second, facts[B])
        apart = towards + back
        turned = dot(apart, apart)
        radius1, radius2 = (enclosing_radius(k, geom) for geom in self.geoms)
        slack = SLACK[k.precision] * (radius1 + radius2) + TOLERANCES * k.model.opt.ccd_tolerance
        needed = facts[REACH] + (k.max(margin, 0.0) + slack)
        by_first, by_second = dot(towards, offset) - needed, -dot(back, offset) - needed
        return self._exceeds(by_first, radius2, turned) | self._exceeds(by_second, radius1, turned)

    def _exceeds(self, gap: Any, radius: Any, turned: Any) -> Any:
        """Whether a gap is wider than what the reach of the other geom may have grown by."""
        return (gap > 0.0) & (gap * gap > radius * radius * turned)

    def note(self, world: Any, poses: Any, direction: Vector, reach: Any) -> None:
        """Of one world: along a direction of length one, from the first geom to the second, both reach so far."""
        first, second = (poses[n, 3:12].reshape(3, 3) for n in range(2))
        a, b = to_frame(first, direction), -to_frame(second, direction)
        self.facts.of(world)[self.place] = vector(a, b, reach)
