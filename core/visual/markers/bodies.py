"""Marks of bodies: inertia, centres of mass, lines that connect them, forces from outside, names."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.visual.elements import Drawing, connect
from dovetail.visual.islands import body_island
from dovetail.visual.markers.deformables import NO_SIZE
from dovetail.visual.markers.shapes import glow, of_selected_body, wanted
from dovetail.visual.options import Category, Label, VisFlag

BOX_SPREAD = 1.5
"""Square of a solid box's half side per unit of (I_y + I_z − I_x)/m; below of an ellipsoid's semi-axis."""
ELLIPSOID_SPREAD = 2.5
SCALED_DENSITY = 1000.0
"""Density of scaled inertia shapes [kg/m³]: that of water."""
MINVAL = 1e-15


def draw_inertia(drawing: Drawing) -> None:
    """A solid of each body's mass and inertia: its size shows how far the mass is spread, or how much there is."""
    if not drawing.shows(VisFlag.INERTIA) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    seen = wanted(drawing, drawing.body_categories()) & (np.asarray(model.body_mass) > MINVAL)
    bodies = 1 + np.flatnonzero(seen[1:])
    if not len(bodies):
        return
    drawing.add(
        GeomType.ELLIPSOID if model.vis.global_.ellipsoidinertia else GeomType.BOX,
        pos=np.asarray(data.xipos)[bodies],
        mat=np.asarray(data.ximat)[bodies],
        size=inertia_sizes(model, bodies, scaled=drawing.shows(VisFlag.SCLINERTIA)),
        rgba=model.vis.rgba.inertia,
        objtype=ObjType.BODY,
        objid=bodies,
        label=[_inertia_label(drawing, int(body)) for body in bodies] if drawing.options.label else "",
    )
    glow(drawing, of_selected_body(drawing, bodies))


def _inertia_label(drawing: Drawing, body: int) -> str:
    """A body's name, if bodies or the selected one are labelled."""
    label = drawing.options.label
    if label == Label.BODY or (label == Label.SELECTION and body == drawing.perturb.select):
        return drawing.name("body", body)
    return ""


def inertia_sizes(model: Any, bodies: Array, *, scaled: bool) -> Array:
    """Half sides of boxes, or semi-axes of ellipsoids, with the inertia of bodies; scaled to a density if asked."""
    mass = np.asarray(model.body_mass)[bodies][:, None]
    inertia = np.asarray(model.body_inertia)[bodies]
    ellipsoid = bool(model.vis.global_.ellipsoidinertia)
    spread = ELLIPSOID_SPREAD if ellipsoid else BOX_SPREAD
    squares = spread * (inertia.sum(axis=1, keepdims=True) - 2 * inertia) / mass
    size: Array = np.sqrt(np.maximum(squares, 0.0))
    if scaled:
        filled = 4 * np.pi / 3 if ellipsoid else 8.0
        volume = filled * size.prod(axis=1, keepdims=True)
        size = size * np.cbrt(mass / np.maximum(SCALED_DENSITY * volume, MINVAL))
    return size


def draw_body_names(drawing: Drawing) -> None:
    """The names of bodies, if they are not at the marks of their inertia."""
    if (
        drawing.options.label != Label.BODY
        or drawing.shows(VisFlag.INERTIA)
        or not drawing.draws(Category.DECOR)
    ):
        return
    data, bodies = drawing.data, 1 + np.flatnonzero(wanted(drawing, drawing.body_categories()[1:]))
    drawing.add(
        GeomType.LABEL,
        pos=np.asarray(data.xpos)[bodies],
        mat=np.asarray(data.xmat)[bodies],
        size=NO_SIZE,
        objid=bodies,
        label=[drawing.name("body", int(body)) for body in bodies],
    )


def draw_island_numbers(drawing: Drawing) -> None:
    """The number of each body's island."""
    if drawing.options.label != Label.ISLAND or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    for body in range(1, model.nbody):
        island = body_island(model, data, body)
        if island >= 0:
            drawing.add(
                GeomType.LABEL,
                pos=data.xipos[body],
                mat=data.ximat[body],
                size=NO_SIZE,
                objid=body,
                label=str(island),
            )


def draw_mass_centres(drawing: Drawing) -> None:
    """The centre of mass of everything that hangs on each body of the world."""
    if not drawing.shows(VisFlag.COM) or not drawing.draws(Category.DECOR):
        return
    model = drawing.model
    bodies = np.flatnonzero(np.asarray(model.body_rootid) == np.arange(model.nbody))
    bodies = bodies[bodies > 0]
    if len(bodies):
        drawing.add(
            GeomType.SPHERE,
            pos=np.asarray(drawing.data.subtree_com)[bodies],
            size=drawing.length("com"),
            rgba=model.vis.rgba.com,
            objid=bodies,
        )


def draw_connections(drawing: Drawing) -> None:
    """Lines from each body's centre of mass through its joints to its parent's centre of mass."""
    if not drawing.shows(VisFlag.AUTOCONNECT) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    for body in range(1, model.nbody):
        parent, first = int(model.body_parentid[body]), int(model.body_jntadr[body])
        if not parent:
            continue
        joints = range(first + int(model.body_jntnum[body]) - 1, first - 1, -1)
        points = [data.xipos[body], *(data.xanchor[joint] for joint in joints), data.xipos[parent]]
        path = np.array(points, float)
        connect(
            drawing,
            GeomType.CAPSULE,
            drawing.length("connect"),
            path[:-1],
            path[1:],
            rgba=model.vis.rgba.connect,
            objid=body,
        )


def draw_forces(drawing: Drawing) -> None:
    """Forces that are applied to bodies from outside."""
    if not drawing.shows(VisFlag.PERTFORCE) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    for body in range(1, model.nbody):
        force = np.array(data.xfrc_applied[body][:3], float)
        if np.linalg.norm(force) < MINVAL:
            continue
        start = np.asarray(data.xipos[body], float)
        connect(
            drawing,
            GeomType.ARROW,
            drawing.length("forcewidth"),
            start,
            start + force * drawing.force_length(),
            rgba=model.vis.rgba.force,
            objid=body,
        )
