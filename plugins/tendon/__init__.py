"""How tendons run from site to site and around geoms."""

from __future__ import annotations

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.passing.transfers import TENDONS


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="tendon",
            name="paths",
            backend="numpy",
            target="dovetail.plugins.tendon.paths_numpy:tendon",
            default=True,
            reads="qpos site_xpos geom_xpos geom_xmat subtree_com cdof",
            summary="Fixed tendons, and spatial ones around spheres, cylinders and pulleys",
        ),
        Implementation(
            stage="tendon",
            name="paths",
            backend="lanes",
            target="dovetail.plugins.tendon.paths_lanes:tendon",
            default=True,
            reads="qpos site_xpos geom_xpos geom_xmat subtree_com cdof",
            writes="ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind",
            summary="Lengths and Jacobians of fixed and spatial tendons, without the paths' points",
        ),
    ]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [TENDONS]
