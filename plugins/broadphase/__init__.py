"""Which pairs of geoms may touch."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

_READS = "geom_xpos geom_xmat"


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="broadphase",
            name="sweep",
            backend="numpy",
            target="dovetail.plugins.broadphase.sweep_numpy:broadphase",
            default=True,
            reads=_READS,
            supports="flex.none flex.untouchable",
            summary="Sweep along the axis of largest spread, then body filters and bounding spheres",
        ),
        Implementation(
            stage="broadphase",
            name="sweep",
            backend="lanes",
            target="dovetail.plugins.broadphase.sweep_lanes:broadphase",
            default=True,
            reads=_READS,
            writes="candidate_list.*",
            supports="flex.none flex.untouchable",
            summary="Bounding spheres of the pairs that may collide; in lanes nothing is gained by sorting",
        ),
        Implementation(
            stage="broadphase",
            name="all_pairs",
            backend="numpy",
            target="dovetail.plugins.broadphase.all_pairs_numpy:broadphase",
            reads=_READS,
            supports="flex.none flex.untouchable",
            summary="Every pair of geoms through the same filters: the check on cleverer searches",
        ),
    ]
