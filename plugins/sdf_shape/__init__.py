"""Shapes of MuJoCo's engine plugins for signed distance fields, by plugin."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

SHAPES = {
    "bolt": "A threaded rod with a hexagonal head",
    "bowl": "A sphere's shell, cut off at a height",
    "gear": "A spur gear with involute teeth",
    "nut": "A hexagonal nut with a threaded hole",
    "torus": "A ring of round section",
}


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="sdf_shape",
            key=f"mujoco.sdf.{name}",
            name=name,
            backend="numpy",
            target=f"dovetail.plugins.sdf_shape.{name}_numpy:{name}",
            default=True,
            summary=summary,
        )
        for name, summary in SHAPES.items()
    ]
