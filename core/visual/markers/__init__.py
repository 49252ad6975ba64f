"""What a scene is made of, each kind in its own file, drawn in MuJoCo's order."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.visual.elements import Drawing
from dovetail.visual.markers.bodies import (
    draw_body_names,
    draw_connections,
    draw_forces,
    draw_inertia,
    draw_island_numbers,
    draw_mass_centres,
)
from dovetail.visual.markers.constraints import draw_contacts, draw_equalities, draw_rangefinders
from dovetail.visual.markers.deformables import draw_flexes, draw_skins
from dovetail.visual.markers.frames import draw_body_frames, draw_shape_frames
from dovetail.visual.markers.joints import draw_actuators, draw_joints
from dovetail.visual.markers.perturbed import draw_perturbation, draw_selection
from dovetail.visual.markers.shapes import draw_geoms, draw_sites
from dovetail.visual.markers.tendons import draw_slider_cranks, draw_tendons
from dovetail.visual.markers.viewpoints import draw_cameras, draw_lights

ORDER: tuple[Callable[[Drawing], None], ...] = (
    draw_flexes,
    draw_skins,
    draw_geoms,
    draw_sites,
    draw_tendons,
    draw_slider_cranks,
    draw_shape_frames,
    draw_inertia,
    draw_perturbation,
    draw_body_frames,
    draw_body_names,
    draw_selection,
    draw_joints,
    draw_actuators,
    draw_island_numbers,
    draw_cameras,
    draw_lights,
    draw_mass_centres,
    draw_connections,
    draw_rangefinders,
    draw_forces,
    draw_equalities,
    draw_contacts,
)
"""Who adds elements, in the order of mjv_updateScene."""
