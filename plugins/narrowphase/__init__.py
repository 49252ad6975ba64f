"""Where candidate pairs touch. Compare mj_collideGeoms.

- `convex_{numpy,lanes}.py`: each pair by the `collide_pair` row of its two types, meshes as their hulls.
  `dispatch_numpy.py` runs the rows and stores contacts, `flex_dispatch_numpy.py` runs those of `collide_flex`;
  in lanes one file does both.
- `triangle_numpy.py`: meshes collide as they are, by `triangle_pairs_numpy.py` on `surfaces_numpy.py`.

Begin with `dispatch_numpy.py`. Tests: `tests/stages/narrowphase`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.flex.in_lanes import FOUND
from dovetail.plugins.shared.passing.transfers import CONTACTS

_READS = (
    "geom_xpos geom_xmat flexvert_xpos flexelem_aabb ncandidate candidate_geom candidate_pair candidate_flex "
    "candidate_elem candidate_vert"
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="narrowphase",
            name="convex",
            backend="numpy",
            target="dovetail.plugins.narrowphase.convex_numpy:narrowphase",
            default=True,
            reads=_READS,
            summary="Every candidate to the function of its two types; meshes collide as their convex hulls",
        ),
        Implementation(
            stage="narrowphase",
            name="convex",
            backend="lanes",
            target="dovetail.plugins.narrowphase.convex_lanes:narrowphase",
            default=True,
            reads="geom_xpos geom_xmat flexvert_xpos flexelem_aabb candidate_list.*",
            writes="contact_list.count contact_list.pair contact_list.index_in_pair contact_list.dist "
            "contact_list.pos contact_list.frame contact_list.ncon",
            supports=FOUND,
            summary="Every near pair to the lane function of its two types; one list of contacts for the tile",
        ),
        Implementation(
            stage="narrowphase",
            name="triangle",
            backend="numpy",
            target="dovetail.plugins.narrowphase.triangle_numpy:narrowphase",
            reads=_READS,
            summary="Meshes collide by their triangles, hollows and all; the rest as `convex`",
        ),
    ]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [CONTACTS]
