"""Tendons as rods along their paths, and slider-cranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType, TrnType
from dovetail.contracts.fields import Array
from dovetail.visual.elements import Drawing, connect, in_groups
from dovetail.visual.islands import tendon_colour
from dovetail.visual.markers.shapes import fade
from dovetail.visual.options import Category, Label, VisFlag

PULLEY = -2
"""What `wrap_obj` says at a pulley; -1 at a site, else the geom that is wrapped."""
AROUND = 0.5
"""Width of what lies around a geom, relative to the tendon's."""


def draw_tendons(drawing: Drawing) -> None:
    """Spatial tendons of the groups that are drawn."""
    model = drawing.model
    if not model.ntendon or not drawing.shows(VisFlag.TENDON) or not drawing.draws(Category.DYNAMIC):
        return
    for tendon in np.flatnonzero(in_groups(drawing.options.tendongroup, model.tendon_group)):
        start, end, around = segments(drawing.data, int(tendon))
        if not len(start):
            continue
        matid = int(model.tendon_matid[tendon])
        rgba = drawing.colours(matid, model.tendon_rgba[tendon])
        text = drawing.text(Label.TENDON, "tendon", int(tendon))
        if drawing.shows(VisFlag.ISLAND):
            matid, rgba = -1, tendon_colour(drawing.data, int(tendon)).copy()
        fade(drawing, rgba[None], np.array([Category.DYNAMIC]))
        connect(
            drawing,
            GeomType.CAPSULE,
            float(model.tendon_width[tendon]) * np.where(around, AROUND, 1.0),
            start,
            end,
            rgba=rgba,
            matid=matid,
            objtype=ObjType.TENDON,
            objid=tendon,
            category=Category.DYNAMIC,
            label=[text] + [""] * (len(start) - 1),
        )


def segments(data: Any, tendon: int) -> tuple[Array, Array, Array]:
    """Starts and ends of the straight parts of a tendon's path, and whether each lies on a geom it wraps around."""
    begin, count = int(data.ten_wrapadr[tendon]), int(data.ten_wrapnum[tendon])
    points = np.asarray(data.wrap_xpos, float).reshape(-1, 3)[begin : begin + count]
    objects = np.asarray(data.wrap_obj).reshape(-1)[begin : begin + count]
    joins = (objects[:-1] != PULLEY) & (objects[1:] != PULLEY)
    around = (objects[:-1] >= 0) & (objects[1:] >= 0)
    return points[:-1][joins], points[1:][joins], around[joins]


def draw_slider_cranks(drawing: Drawing) -> None:
    """Actuators that push through a slider and a crank: the slider as a cylinder, the crank as a rod."""
    model, data, rgba = drawing.model, drawing.data, drawing.model.vis.rgba
    if not drawing.draws(Category.DYNAMIC):
        return
    chosen = in_groups(drawing.options.actuatorgroup, model.actuator_group)
    for actuator in np.flatnonzero(chosen & (np.asarray(model.actuator_trntype) == TrnType.SLIDERCRANK)):
        crank, slider = (int(x) for x in model.actuator_trnid[actuator])
        pin, rail = (np.asarray(data.site_xpos[site], float) for site in (crank, slider))
        axis = np.asarray(data.site_xmat[slider], float).reshape(3, 3)[:, 2]
        rod = float(model.actuator_cranklength[actuator])
        away = pin - rail
        reach = float(away @ axis)
        square = reach**2 + rod**2 - float(away @ away)
        end = rail + axis * (reach - np.sqrt(max(square, 0.0)))
        width = drawing.length("slidercrank")
        text = drawing.text(Label.ACTUATOR, "actuator", int(actuator))
        common: dict[str, Any] = {
            "objtype": ObjType.ACTUATOR,
            "objid": actuator,
            "category": Category.DYNAMIC,
        }
        connect(drawing, GeomType.CYLINDER, width, rail, end, rgba=rgba.slidercrank, label=text, **common)
        colour = rgba.crankbroken if square < 0 else rgba.slidercrank
        connect(drawing, GeomType.CAPSULE, width / 2, end, pin, rgba=colour, **common)
