"""Tendons as rods along their paths, and slider-cranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType, TrnType
from dovetail.contracts.fields import Array
from dovetail.visual.catenary import catenary
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
        start, end, around = drawn_path(drawing, int(tendon))
        if not len(start):
            continue
        matid = int(model.tendon_matid[tendon])
        rgba = drawing.colours(matid, model.tendon_rgba[tendon])
        text = drawing.text(Label.TENDON, "tendon", int(tendon))
        hangs = len(start) > 1 and int(drawing.data.ten_wrapnum[tendon]) == 2
        tinted = drawing.shows(VisFlag.ISLAND) and not hangs
        if tinted:
            rgba = tendon_colour(drawing.data, int(tendon))
        else:
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
            label=text if hangs else [text] + [""] * (len(start) - 1),
        )
        if tinted:
            drawing.blocks[-1]["matid"] = -1


def drawn_path(drawing: Drawing, tendon: int) -> tuple[Array, Array, Array]:
    """The parts of a tendon as it is drawn: a slack rope hangs."""
    start, end, around = segments(drawing.data, tendon)
    if len(start) == 1 and is_slack(drawing.model, drawing.data, tendon):
        gravity = np.asarray(drawing.model.opt.gravity, float)
        points = catenary(start[0], end[0], gravity, float(drawing.model.tendon_range[tendon][1]))
        return points[:-1], points[1:], np.zeros(len(points) - 1, bool)
    return start, end, around


def is_slack(model: Any, data: Any, tendon: int) -> bool:
    """Whether a tendon is a rope, which only limits a distance from above, and shorter than it may be."""
    lower, upper = (float(x) for x in model.tendon_range[tendon])
    rope = bool(model.tendon_limited[tendon]) and lower == 0
    pulls = (
        model.tendon_stiffness[tendon] or model.tendon_damping[tendon] or model.tendon_frictionloss[tendon]
    )
    return (
        rope and not pulls and float(data.ten_length[tendon]) < upper and int(data.ten_wrapnum[tendon]) == 2
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
