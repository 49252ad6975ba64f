"""Frames of bodies, geoms, sites, cameras, lights, contacts and the world: red, green and blue axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.visual.elements import Drawing, connect
from dovetail.visual.markers.shapes import drawn_geoms, drawn_sites, wanted
from dovetail.visual.options import Category, Frame, VisFlag

AXES = np.array([[0.9, 0, 0, 1], [0, 0.9, 0, 1], [0, 0, 0.9, 1]], np.float32)
"""Colours of the x, y and z axis."""
WORLD = 2.0
"""Size of the world's frame relative to others."""


def draw_shape_frames(drawing: Drawing) -> None:
    """The frames of the geoms or sites that are drawn, if those are asked for."""
    data, frame = drawing.data, drawing.options.frame
    if not drawing.draws(Category.DECOR):
        return
    if frame == Frame.GEOM:
        for geom in drawn_geoms(drawing):
            draw_axes(drawing, geom, data.geom_xpos[geom], data.geom_xmat[geom])
    elif frame == Frame.SITE:
        for site in drawn_sites(drawing):
            draw_axes(drawing, site, data.site_xpos[site], data.site_xmat[site])


def draw_body_frames(drawing: Drawing) -> None:
    """The frames of bodies or the world, if those are asked for: with INERTIA those of the inertia."""
    data, frame = drawing.data, drawing.options.frame
    if not drawing.draws(Category.DECOR):
        return
    if frame == Frame.WORLD:
        draw_axes(drawing, 0, data.xpos[0], data.xmat[0], WORLD)
    elif frame == Frame.BODY:
        inertia = drawing.shows(VisFlag.INERTIA)
        pos, mat = (data.xipos, data.ximat) if inertia else (data.xpos, data.xmat)
        for body in 1 + np.flatnonzero(wanted(drawing, drawing.body_categories()[1:])):
            draw_axes(drawing, body, pos[body], mat[body])


def draw_axes(drawing: Drawing, number: Any, pos: Any, mat: Any, scale: float = 1.0) -> None:
    """The three axes of a frame."""
    start = np.broadcast_to(np.asarray(pos, float), (3, 3))
    axes = np.asarray(mat, float).reshape(3, 3).T * drawing.length("framelength") * scale
    width = drawing.length("framewidth") * scale
    connect(drawing, GeomType.CYLINDER, width, start, start + axes, rgba=AXES, objid=number)
