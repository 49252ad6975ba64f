"""Light, floor and sky: how a page looks before anything moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.types import Model
from dovetail.viewer.geoms import horizon
from dovetail.viewer.glb import Paint, glb
from dovetail.viewer.stage import ROOT
from dovetail.viewer.texturing import on_a_cube
from dovetail.visual import appearance, cube_faces, shape_surface, skybox
from dovetail.visual.surfaces import Surface

SKY = (226, 233, 241)
"""Colour of a sky that no model states. There is no fog in front of it: in viser 1.1 the outline of what the pointer
is over cannot be drawn with fog, and the picture would stand still."""

SUN = np.array([-1.6, -0.8, 3.0])
"""Where the sun stands from the middle of the model, in its extents."""


def light_up(server: Any, model: Model) -> None:
    """Lights with soft shadows, lines on a bare floor, and a sky."""
    scene = server.scene
    extent, centre = float(model.stat.extent), np.asarray(model.stat.center, float)
    # Viser's own lights are made for point clouds: they bleach what has a colour.
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    scene.add_light_hemisphere(
        "/lights/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 160), intensity=1.7
    )
    scene.add_light_directional(
        "/lights/sun", intensity=2.2, cast_shadow=True, position=tuple(centre + extent * SUN)
    )
    floor = bare_floor(model)
    if floor is not None:
        scene.add_grid(
            f"{ROOT}/grid",
            plane="xy",
            infinite_grid=True,
            fade_distance=horizon(model),
            cell_size=0.5,
            section_size=1.0,
            cell_color=(196, 200, 204),
            section_color=(170, 176, 182),
            shadow_opacity=0.0,
            position=(0.0, 0.0, floor + 0.002),
        )
    if skybox(model) >= 0:
        scene.add_glb("/sky", sky_ball(model), cast_shadow=False, receive_shadow=False)
    else:
        scene.set_background_image(np.full((2, 2, 3), SKY, np.uint8), format="png")


def bare_floor(model: Model) -> float | None:
    """The height of an endless level floor without a texture, on which nothing would be seen to move; or None."""
    for geom in np.flatnonzero(np.asarray(model.geom_type) == GeomType.PLANE):
        level = np.allclose(np.abs(np.asarray(model.geom_quat[geom])), (1, 0, 0, 0), atol=1e-6)
        on_world = model.geom_bodyid[geom] == 0 and (np.asarray(model.geom_size[geom])[:2] == 0).any()
        if level and on_world and appearance(model, int(model.geom_matid[geom])).texid < 0:
            return float(model.geom_pos[geom][2])
    return None


def sky_ball(model: Model) -> bytes:
    """The model's sky as a ball around everything, seen from inside."""
    ball = shape_surface(2, (1.0, 1.0, 1.0), slices=64, stacks=48)
    # A sky's cube has y up; the world's z is.
    directions = ball.vertices[:, [0, 2, 1]] * np.array([1.0, 1.0, -1.0])
    inside = on_a_cube(Surface(ball.vertices, ball.faces[:, ::-1], -ball.normals), directions)
    image = np.concatenate(list(cube_faces(model, skybox(model))), axis=1)
    radius = 2.5 * horizon(model)
    paint = Paint(rgba=(1, 1, 1, 1), image=image, unlit=True)
    return glb(inside.vertices * np.float32(radius), inside.faces, inside.normals, inside.texcoords, paint)
