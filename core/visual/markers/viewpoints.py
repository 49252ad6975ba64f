"""Cameras and lights as things: a box with a lens, a lamp, and what a camera with a sensor sees."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.visual.cameras import camera_frustum, planes
from dovetail.visual.elements import Drawing, along, connect
from dovetail.visual.markers.frames import draw_axes
from dovetail.visual.options import Category, Frame, Label, VisFlag

CAMERA_BOX = np.array([1.0, 0.8, 0.4])
"""Half sides of a camera in camera sizes; radius, half length and place of its lens below."""
LENS_RADIUS, LENS_HALF, LENS_AT = 0.4, 0.3, 0.6
LENS_SHADE = np.array([0.5, 0.5, 0.5, 1.0])
SEEN_THROUGH = 0.3
"""Opacity of a camera whose frustum is drawn."""
FRUSTUM_LINE = 3.0
"""Width of the frustum's edges in pixels."""
LAMP_RADIUS = 0.8
"""Of a lamp in light sizes; its half length is one."""
LAMP_GAP = 1e-4
"""Distance of a lamp from its light's place [m], so that it does not shade it."""


def draw_cameras(drawing: Drawing) -> None:
    """The cameras of the model, with their frames if those are asked for."""
    if not drawing.shows(VisFlag.CAMERA) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    size = drawing.length("camera")
    for camera in range(model.ncam):
        pos, mat = np.asarray(data.cam_xpos[camera], float), np.asarray(data.cam_xmat[camera], float)
        colour = np.array(model.vis.rgba.camera, float)
        if np.asarray(model.cam_sensorsize[camera])[1] > 0:
            colour[3] = SEEN_THROUGH
            draw_frustum(drawing, camera)
        drawing.add(
            GeomType.BOX,
            pos=pos,
            mat=mat,
            size=CAMERA_BOX * size,
            rgba=colour,
            objtype=ObjType.CAMERA,
            objid=camera,
            label=drawing.text(Label.CAMERA, "camera", camera),
        )
        drawing.add(
            GeomType.CYLINDER,
            pos=pos - LENS_AT * size * mat.reshape(3, 3)[:, 2],
            mat=mat,
            size=np.array([LENS_RADIUS, LENS_RADIUS, LENS_HALF]) * size,
            rgba=colour * LENS_SHADE,
            objtype=ObjType.CAMERA,
            objid=camera,
        )
        if drawing.options.frame == Frame.CAMERA:
            draw_axes(drawing, camera, pos, mat)


def draw_frustum(drawing: Drawing, camera: int) -> None:
    """The four sides of what a camera sees, between the nearest plane and some distance."""
    near = planes(drawing.model)[0]
    far = drawing.length("frustum")
    front, back = _corners(drawing, camera, near), _corners(drawing, camera, far)
    described = {"rgba": drawing.model.vis.rgba.frustum, "objtype": ObjType.CAMERA, "objid": camera}
    for side in range(4):
        following = (side + 1) % 4
        draw_triangle(drawing, front[side], back[side], front[following], **described)
        draw_triangle(drawing, back[side], back[following], front[following], **described)
        for start, end in (
            (front[side], front[following]),
            (back[side], back[following]),
            (front[side], back[side]),
        ):
            connect(drawing, GeomType.LINE, FRUSTUM_LINE, start, end, **described)


def _corners(drawing: Drawing, camera: int, distance: float) -> Array:
    """Corners of the picture at a distance, in the world, anticlockwise from the lower left."""
    model, data = drawing.model, drawing.data
    center, half, bottom, top = camera_frustum(model, camera, distance)
    left, right = center - half, center + half
    local = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    turn = np.asarray(data.cam_xmat[camera], float).reshape(3, 3)
    points: Array = np.asarray(data.cam_xpos[camera], float) + local @ turn[:, :2].T - distance * turn[:, 2]
    return points


def draw_triangle(drawing: Drawing, first: Array, second: Array, third: Array, **others: object) -> None:
    """A triangle: its matrix has the directions of two sides and the normal in columns, its size their lengths and
    the length of their cross product."""
    sides = np.stack([second - first, third - first])
    normal = np.cross(sides[0], sides[1])
    lengths = np.linalg.norm([*sides, normal], axis=1)
    mat = (np.stack([*sides, normal]) / np.maximum(lengths, 1e-15)[:, None]).T
    drawing.add(GeomType.TRIANGLE, pos=first, mat=mat, size=lengths, **others)  # type: ignore[arg-type]


def draw_lights(drawing: Drawing) -> None:
    """The lights of the model, with their frames if those are asked for."""
    if not drawing.shows(VisFlag.LIGHT) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    size = drawing.length("light")
    for light in range(model.nlight):
        pos, direction = np.asarray(data.light_xpos[light], float), np.asarray(data.light_xdir[light], float)
        mat = along(direction)[0]
        drawing.add(
            GeomType.CYLINDER,
            pos=pos - (size + LAMP_GAP) * direction,
            mat=mat,
            size=np.array([LAMP_RADIUS, LAMP_RADIUS, 1.0]) * size,
            rgba=model.vis.rgba.light,
            objtype=ObjType.LIGHT,
            objid=light,
            label=drawing.text(Label.LIGHT, "light", light),
        )
        if drawing.options.frame == Frame.LIGHT:
            draw_axes(drawing, light, pos, mat)
