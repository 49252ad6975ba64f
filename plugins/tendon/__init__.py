"""How tendons run from site to site and around geoms."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


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
        )
    ]
