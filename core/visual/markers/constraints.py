"""Equality constraints between points, rays of range finders, and contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import EqType, GeomType, ObjType, SensorType
from dovetail.contracts.fields import Array
from dovetail.visual.elements import Drawing, connect, object_name
from dovetail.visual.islands import row_colour
from dovetail.visual.markers.frames import draw_axes
from dovetail.visual.options import Category, Frame, Label, VisFlag

CONTACT_FRAME = 0.5
"""Size of a contact's frame relative to others."""
RAY_LINE = 3.0
"""Width of a range finder's ray in pixels."""


def draw_equalities(drawing: Drawing) -> None:
    """Both points of active connections and welds; between them is how much they are violated."""
    if not drawing.shows(VisFlag.CONSTRAINT) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    for equality in range(model.neq):
        if not data.eq_active[equality] or model.eq_type[equality] not in (EqType.CONNECT, EqType.WELD):
            continue
        colours = model.vis.rgba.connect, model.vis.rgba.constraint
        for (pos, mat), colour in zip(equality_points(model, data, equality), colours, strict=True):
            drawing.add(
                GeomType.SPHERE,
                pos=pos,
                mat=mat,
                size=drawing.length("constraint"),
                rgba=colour,
                objtype=ObjType.EQUALITY,
                objid=equality,
                label=drawing.text(Label.CONSTRAINT, "equality", equality),
            )


def equality_points(model: Any, data: Any, equality: int) -> list[tuple[Array, Array]]:
    """Where a connection or weld holds its two bodies or sites: place and rotation of each."""
    first, second = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    numbers = np.asarray(model.eq_data[equality], float)
    if int(model.eq_objtype[equality]) == ObjType.SITE:
        return [
            (np.asarray(data.site_xpos[site], float), np.asarray(data.site_xmat[site], float).reshape(3, 3))
            for site in (first, second)
        ]
    weld = int(model.eq_type[equality]) == EqType.WELD
    anchors = (numbers[3:6], numbers[0:3]) if weld else (numbers[0:3], numbers[3:6])
    points = []
    for body, anchor in zip((first, second), anchors, strict=True):
        turn = np.asarray(data.xmat[body], float).reshape(3, 3)
        points.append((np.asarray(data.xpos[body], float) + turn @ anchor, turn))
    return points


def draw_rangefinders(drawing: Drawing) -> None:
    """Rays of range finders that hit something, from their sites to what they hit."""
    if not drawing.shows(VisFlag.RANGEFINDER) or not drawing.draws(Category.DECOR):
        return
    model, data = drawing.model, drawing.data
    for sensor in np.flatnonzero(np.asarray(model.sensor_type) == SensorType.RANGEFINDER):
        distance = float(data.sensordata[model.sensor_adr[sensor]])
        site = int(model.sensor_objid[sensor])
        if distance < 0:
            continue
        start = np.asarray(data.site_xpos[site], float)
        axis = np.asarray(data.site_xmat[site], float).reshape(3, 3)[:, 2]
        connect(
            drawing,
            GeomType.LINE,
            RAY_LINE,
            start,
            start + distance * axis,
            rgba=model.vis.rgba.rangefinder,
            objtype=ObjType.SENSOR,
            objid=sensor,
        )


def draw_contacts(drawing: Drawing) -> None:
    """Each contact's disc, frame and force."""
    options = drawing.options
    point, force = drawing.shows(VisFlag.CONTACTPOINT), drawing.shows(VisFlag.CONTACTFORCE)
    if not drawing.draws(Category.DECOR) or not (point or force or options.frame == Frame.CONTACT):
        return
    data = drawing.data
    for contact in range(int(data.ncon)):
        frame = np.asarray(data.contact.frame[contact], float).reshape(3, 3)
        if point:
            _draw_disc(drawing, contact, frame)
        if options.frame == Frame.CONTACT:
            draw_axes(drawing, contact, data.contact.pos[contact], frame.T, CONTACT_FRAME)
        if force:
            _draw_force(drawing, contact, frame)


def _draw_disc(drawing: Drawing, contact: int, frame: Array) -> None:
    """A disc in the plane of a contact, at least as thick as the overlap."""
    rgba, data = drawing.model.vis.rgba, drawing.data
    row = int(data.contact.efc_address[contact])
    colour = rgba.contactgap if row < 0 else rgba.contactpoint
    if drawing.shows(VisFlag.ISLAND):
        colour = row_colour(data, row)
    width = drawing.length("contactwidth")
    mat = frame[[1, 2, 0]].T
    drawing.add(
        GeomType.CYLINDER,
        pos=data.contact.pos[contact],
        mat=mat,
        size=(width, width, max(drawing.length("contactheight"), -float(data.contact.dist[contact]) / 2)),
        rgba=colour,
        objid=contact,
        label=_sides(drawing, contact) if drawing.options.label == Label.CONTACTPOINT else "",
    )


def _sides(drawing: Drawing, contact: int) -> str:
    """What touches what."""
    return " | ".join(_side(drawing, contact, side) for side in (0, 1))


def _side(drawing: Drawing, contact: int, side: int) -> str:
    geom = int(drawing.data.contact.geom[contact][side])
    if geom >= 0:
        return object_name(drawing.model, "geom", geom) or f"g{geom}"
    flex = int(drawing.data.contact.flex[contact][side])
    part, number = "e", int(drawing.data.contact.elem[contact][side])
    if number < 0:
        part, number = "v", int(drawing.data.contact.vert[contact][side])
    return f"{object_name(drawing.model, 'flex', flex) or f'f{flex}'}.{part}{number}"


def _draw_force(drawing: Drawing, contact: int, frame: Array) -> None:
    """The force of a contact as an arrow, or its normal and tangential parts as two."""
    from dovetail.plugins.queries.contact_force import contact_force

    model, data, rgba = drawing.model, drawing.data, drawing.model.vis.rgba
    if int(data.contact.efc_address[contact]) < 0:
        return
    force = np.asarray(contact_force(model, data, contact), float)[:3]
    arrow = GeomType.ARROW2 if _two_ended(drawing, contact) else GeomType.ARROW
    parts = [(force, rgba.contactforce, True)]
    if drawing.shows(VisFlag.CONTACTSPLIT) and int(data.contact.dim[contact]) > 1:
        arrow = GeomType.ARROW
        parts = [
            (force * np.array([1, 0, 0]), rgba.contactforce, True),
            (force * np.array([0, 1, 1]), rgba.contactfriction, False),
        ]
    start = np.asarray(data.contact.pos[contact], float)
    text = f"{np.linalg.norm(force):-.3g}" if drawing.options.label == Label.CONTACTFORCE else ""
    for part, colour, labelled in parts:
        size = float(np.linalg.norm(part))
        if size > 0:
            connect(
                drawing,
                arrow,
                drawing.length("forcewidth"),
                start,
                start + frame.T @ part * drawing.force_length(),
                rgba=colour,
                objid=contact,
                label=text if labelled else "",
            )


def _two_ended(drawing: Drawing, contact: int) -> bool:
    """Whether no side of a contact is the world's, so that its force has two ends."""
    return all(_is_body(drawing, contact, side) for side in (0, 1))


def _is_body(drawing: Drawing, contact: int, side: int) -> bool:
    geom = int(drawing.data.contact.geom[contact][side])
    return geom < 0 or bool(drawing.model.geom_bodyid[geom])
