"""What a hand does: the selected point, and where a body is pulled and turned to."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.visual.deforming import rotation
from dovetail.visual.elements import Drawing, connect
from dovetail.visual.markers.deformables import NO_SIZE
from dovetail.visual.options import Category, Label, VisFlag
from dovetail.visual.perturbation import PerturbBit

LINE = 0.9
"""How bright lines are: red for the first hand, green for the second. Boxes are turned in red and green, too."""
END = 2.0
"""Radius of the ball at the end of a line in radii of the line."""
BOX_ON, BOX_OFF = 0.8, 0.2


def draw_perturbation(drawing: Drawing) -> None:
    """A line from the selected point to where it is pulled, and a box as it is turned to."""
    hand = drawing.perturb
    active = hand.active | hand.active2
    if (
        hand.select <= 0
        or not active
        or not drawing.shows(VisFlag.PERTOBJ)
        or not drawing.draws(Category.DECOR)
    ):
        return
    body = int(hand.select)
    turn = rotation(hand.refquat)
    if active & PerturbBit.TRANSLATE:
        colour = np.array([*(LINE * hands(drawing, PerturbBit.TRANSLATE)), 0.0, 1.0])
        connect(
            drawing,
            GeomType.CAPSULE,
            drawing.length("constraint"),
            selected_point(drawing),
            hand.refselpos,
            rgba=colour,
            objid=body,
        )
        drawing.add(
            GeomType.SPHERE,
            pos=hand.refselpos,
            mat=turn,
            size=END * drawing.length("constraint"),
            rgba=colour,
            objid=body,
        )
    if active & PerturbBit.ROTATE:
        center, size = body_box(drawing, body)
        drawing.add(
            GeomType.BOX,
            pos=center,
            mat=turn,
            size=size,
            rgba=box_colour(drawing),
            objid=body,
        )


def draw_selection(drawing: Drawing) -> None:
    """The selected point and its label."""
    hand = drawing.perturb
    if hand.select <= 0 or not drawing.draws(Category.DECOR):
        return
    body, data = int(hand.select), drawing.data
    if drawing.shows(VisFlag.SELECT):
        point = selected_point(drawing)
        text = ""
        if drawing.options.label == Label.SELPNT:
            world, local = (" ".join(f"{x:.3f}" for x in place) for place in (point, hand.localpos))
            text = f"{world} (local {local})"
        drawing.add(
            GeomType.SPHERE,
            pos=point,
            size=drawing.length("selectpoint"),
            rgba=drawing.model.vis.rgba.selectpoint,
            objid=body,
            label=text,
        )
    if drawing.options.label == Label.SELECTION and not drawing.shows(VisFlag.INERTIA):
        drawing.add(
            GeomType.LABEL,
            pos=data.xpos[body],
            mat=data.xmat[body],
            size=NO_SIZE,
            objid=body,
            label=drawing.name("body", body),
        )


def selected_point(drawing: Drawing) -> Array:
    """Where the selected point is in the world."""
    body, data = int(drawing.perturb.select), drawing.data
    turn = np.asarray(data.xmat[body], float).reshape(3, 3)
    point: Array = np.asarray(data.xpos[body], float) + turn @ drawing.perturb.localpos
    return point


def body_box(drawing: Drawing, body: int) -> tuple[Array, Array]:
    """Middle and half sides of the box around a body's geoms; of a mean size if it has none."""
    model, data = drawing.model, drawing.data
    center, first = np.array(data.xipos[body], float), int(model.body_bvhadr[body])
    if first < 0 or not int(model.body_bvhnum[body]):
        return center, np.full(3, float(model.stat.meansize))
    box = np.asarray(model.bvh_aabb[first], float)
    return center + np.asarray(data.ximat[body], float).reshape(3, 3) @ box[:3], box[3:]


def box_colour(drawing: Drawing) -> Array:
    """The colour of inertia, bright in red for the first hand and in green for the second."""
    colour = np.array(drawing.model.vis.rgba.inertia, float)
    colour[:2] = np.where(hands(drawing, PerturbBit.ROTATE), BOX_ON, BOX_OFF)
    return colour


def hands(drawing: Drawing, how: PerturbBit) -> Array:
    """Whether the first and the second hand move the body in a way."""
    return np.array([bool(drawing.perturb.active & how), bool(drawing.perturb.active2 & how)])
