"""What a scene is made of, each kind in its own file, drawn in MuJoCo's order."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.visual.elements import Drawing
from dovetail.visual.markers.deformables import draw_flexes, draw_skins
from dovetail.visual.markers.shapes import draw_geoms, draw_sites
from dovetail.visual.markers.tendons import draw_slider_cranks, draw_tendons

ORDER: tuple[Callable[[Drawing], None], ...] = (
    draw_flexes,
    draw_skins,
    draw_geoms,
    draw_sites,
    draw_tendons,
    draw_slider_cranks,
)
"""Who adds elements, in the order of mjv_updateScene."""
