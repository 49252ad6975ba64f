"""Joints and actuators: boxes and balls where something turns any way, arrows where it has an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.enums import ConstraintType, GeomType, JointType, ObjType, TrnType
from dovetail.contracts.fields import Array
from dovetail.visual.elements import Drawing, connect, in_groups
from dovetail.visual.markers.shapes import element_sizes
from dovetail.visual.markers.tendons import AROUND, segments
from dovetail.visual.options import Category, Label, VisFlag

BALL = 0.3
"""Radius of free and ball joints in lengths of joint axes; of actuators of such joints, below."""
BALL_ACTUATOR = 0.33
LARGER = 1.05
"""Size of an actuated site or geom relative to itself."""


def draw_joints(drawing: Drawing) -> None:
    """The joints of the groups that are drawn; those at their limits have the colour of constraints."""
    if not drawing.shows(VisFlag.JOINT) or not drawing.draws(Category.DECOR):
        return
    model, rgba = drawing.model, drawing.model.vis.rgba
    pushed = limit_impedances(model, drawing.data)
    length = drawing.length("jointlength")
    for joint in np.flatnonzero(in_groups(drawing.options.jointgroup, model.jnt_group)):
        share = pushed.get(int(joint), 0.0)
        colour = share * np.asarray(rgba.constraint, float) + (1 - share) * np.asarray(rgba.joint, float)
        _draw_joint(
            drawing,
            int(joint),
            length,
            drawing.length("jointwidth"),
            BALL * length,
            rgba=colour,
            objtype=ObjType.JOINT,
            objid=joint,
            label=drawing.text(Label.JOINT, "joint", int(joint)),
        )


def limit_impedances(model: Any, data: Any) -> dict[int, float]:
    """How firmly joints are held at their limits, by joint, from 0 to 1."""
    kind = np.asarray(data.efc_type)[: int(data.nefc)]
    rows = np.flatnonzero(kind == ConstraintType.LIMIT_JOINT)
    if not len(rows):
        return {}
    firm = np.asarray(data.efc_KBIP).reshape(-1, 4)
    return {int(data.efc_id[row]): float(firm[row, 2]) for row in rows[::-1]}


def _draw_joint(
    drawing: Drawing, joint: int, length: float, width: float, ball: float, **others: Any
) -> None:
    """A box for a free joint, a ball for a ball joint, an arrow along the axis of others."""
    model, data = drawing.model, drawing.data
    kind, body = int(model.jnt_type[joint]), int(model.jnt_bodyid[joint])
    anchor = np.asarray(data.xanchor[joint], float)
    if kind in (JointType.FREE, JointType.BALL):
        shape = GeomType.BOX if kind == JointType.FREE else GeomType.SPHERE
        drawing.add(shape, pos=anchor, mat=data.xmat[body], size=ball, **others)
    else:
        arrow = GeomType.ARROW if kind == JointType.SLIDE else GeomType.ARROW1
        axis = np.asarray(data.xaxis[joint], float)
        connect(drawing, arrow, width, anchor, anchor + length * axis, **others)


def draw_actuators(drawing: Drawing) -> None:
    """What actuators act on, coloured by control or activation."""
    if not drawing.shows(VisFlag.ACTUATOR) or not drawing.draws(Category.DECOR):
        return
    model = drawing.model
    for actuator in np.flatnonzero(in_groups(drawing.options.actuatorgroup, model.actuator_group)):
        draw = ACTUATORS.get(int(model.actuator_trntype[actuator]))
        if draw:
            draw(
                drawing,
                int(actuator),
                int(model.actuator_trnid[actuator, 0]),
                actuator_colour(drawing, int(actuator)),
            )


def actuator_colour(drawing: Drawing, actuator: int) -> Array:
    """Between the colour at rest and that of the largest or smallest control, or activation."""
    model, data, rgba = drawing.model, drawing.data, drawing.model.vis.rgba
    low, high = -1.0, 1.0
    if model.actuator_ctrllimited[actuator]:
        low, high = (float(x) for x in model.actuator_ctrlrange[actuator])
    value = float(data.ctrl[actuator])
    if drawing.shows(VisFlag.ACTIVATION) and model.actuator_actadr[actuator] >= 0:
        last = int(model.actuator_actadr[actuator]) + int(model.actuator_actnum[actuator]) - 1
        value = float(data.act[last])
    rest = min(max(0.0, low), high)
    share = np.clip((value - rest) / max(high - rest if value > rest else rest - low, 1e-15), -1.0, 1.0)
    end = rgba.actuatorpositive if share > 0 else rgba.actuatornegative
    mixed: Array = (1 - abs(share)) * np.asarray(rgba.actuator, float) + abs(share) * np.asarray(end, float)
    return mixed


def _on_joint(drawing: Drawing, actuator: int, joint: int, colour: Array) -> None:
    _draw_joint(
        drawing,
        joint,
        drawing.length("actuatorlength"),
        drawing.length("actuatorwidth"),
        BALL_ACTUATOR * drawing.length("jointlength"),
        **_described(drawing, actuator, colour),
    )


def _on_tendon(drawing: Drawing, actuator: int, tendon: int, colour: Array) -> None:
    model = drawing.model
    start, end, around = segments(drawing.data, tendon)
    if len(start):
        width = float(model.tendon_width[tendon]) * float(model.vis.map.actuatortendon)
        text = drawing.text(Label.ACTUATOR, "actuator", actuator)
        connect(
            drawing,
            GeomType.CAPSULE,
            width * np.where(around, AROUND, 1.0),
            start,
            end,
            matid=int(model.tendon_matid[tendon]),
            **{**_described(drawing, actuator, colour), "label": [text] + [""] * (len(start) - 1)},
        )


def _on_site(drawing: Drawing, actuator: int, site: int, colour: Array) -> None:
    model, data = drawing.model, drawing.data
    kind = np.asarray(model.site_type)[[site]]
    drawing.add(
        kind,
        pos=data.site_xpos[site],
        mat=data.site_xmat[site],
        size=LARGER * element_sizes(kind, np.asarray(model.site_size)[[site]]),
        **_described(drawing, actuator, colour),
    )


def _on_body(drawing: Drawing, actuator: int, body: int, colour: Array) -> None:
    model, data = drawing.model, drawing.data
    geoms = np.flatnonzero(np.asarray(model.geom_bodyid) == body)
    if len(geoms):
        kind = np.asarray(model.geom_type)[geoms]
        drawing.add(
            kind,
            pos=np.asarray(data.geom_xpos)[geoms],
            mat=np.asarray(data.geom_xmat)[geoms],
            size=LARGER * element_sizes(kind, np.asarray(model.geom_size)[geoms]),
            **{**_described(drawing, actuator, colour), "label": ""},
        )


def _described(drawing: Drawing, actuator: int, colour: Array) -> dict[str, Any]:
    text = drawing.text(Label.ACTUATOR, "actuator", actuator)
    return {"rgba": colour, "objtype": ObjType.ACTUATOR, "objid": actuator, "label": text}


ACTUATORS: dict[int, Callable[[Drawing, int, int, Array], None]] = {
    TrnType.JOINT: _on_joint,
    TrnType.JOINTINPARENT: _on_joint,
    TrnType.TENDON: _on_tendon,
    TrnType.SITE: _on_site,
    TrnType.BODY: _on_body,
}
"""How an actuator is drawn by its transmission; slider-cranks are drawn as such."""
