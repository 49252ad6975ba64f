"""Frames of bodies, geoms, sites, cameras, lights, contacts and the world: red, green and blue axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.visual.elements import Drawing, connect, in_groups
from dovetail.visual.options import Category, Frame

AXES = np.array([[0.9, 0, 0, 1], [0, 0.9, 0, 1], [0, 0, 0.9, 1]], np.float32)
"""Colours of the x, y and z axis."""
WORLD = 2.0
"""Size of the world's frame relative to others."""


def draw_frames(drawing: Drawing) -> None:
    """The frames that are asked for, of what is drawn; those of cameras, lights and contacts come with them."""
    if not drawing.draws(Category.DECOR):
        return
    model, data, options = drawing.model, drawing.data, drawing.options
    if options.frame == Frame.WORLD:
        draw_axes(drawing, 0, data.xpos[0], data.xmat[0], WORLD)
    elif options.frame == Frame.BODY:
        for body in range(1, model.nbody):
            draw_axes(drawing, body, data.xpos[body], data.xmat[body])
    elif options.frame == Frame.GEOM:
        for geom in np.flatnonzero(in_groups(options.geomgroup, model.geom_group)):
            draw_axes(drawing, geom, data.geom_xpos[geom], data.geom_xmat[geom])
    elif options.frame == Frame.SITE:
        for site in np.flatnonzero(in_groups(options.sitegroup, model.site_group)):
            draw_axes(drawing, site, data.site_xpos[site], data.site_xmat[site])


def draw_axes(drawing: Drawing, number: Any, pos: Any, mat: Any, scale: float = 1.0) -> None:
    """The three axes of a frame."""
    start = np.broadcast_to(np.asarray(pos, float), (3, 3))
    axes = np.asarray(mat, float).reshape(3, 3).T * drawing.length("framelength") * scale
    width = drawing.length("framewidth") * scale
    connect(drawing, GeomType.CYLINDER, width, start, start + axes, rgba=AXES, objid=number)
