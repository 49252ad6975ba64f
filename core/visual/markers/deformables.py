"""One element for each flex and skin; their triangles are in `scene.flexes` and `scene.skins`."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.visual.elements import Drawing, in_groups
from dovetail.visual.markers.shapes import fade, glow
from dovetail.visual.options import Category, Label, VisFlag

NO_SIZE = 0.1
"""Size of elements that have none (mjv_initGeom)."""


def draw_flexes(drawing: Drawing) -> None:
    """The flexes of the groups that are drawn."""
    model, data, options = drawing.model, drawing.data, drawing.options
    if not model.nflex or not drawing.draws(Category.DYNAMIC):
        return
    flexes = np.flatnonzero(in_groups(options.flexgroup, model.flex_group))
    matid = np.asarray(model.flex_matid)[flexes]
    first = np.asarray(model.flex_vertadr)[flexes]
    rgba = drawing.colours(matid, np.asarray(model.flex_rgba)[flexes])
    fade(drawing, rgba, np.full(len(rgba), Category.DYNAMIC))
    drawing.add(
        GeomType.FLEX,
        pos=np.asarray(data.flexvert_xpos)[first],
        size=np.stack(
            [np.asarray(model.flex_radius)[flexes], *(np.full(len(flexes), NO_SIZE),) * 2], axis=-1
        ),
        rgba=rgba,
        matid=matid,
        objtype=ObjType.FLEX,
        objid=flexes,
        category=Category.DYNAMIC,
        texcoord=np.asarray(model.flex_texcoordadr)[flexes] >= 0,
        label=[drawing.text(Label.FLEX, "flex", int(i)) for i in flexes],
    )
    glow(drawing, flexes == drawing.perturb.flexselect)


def draw_skins(drawing: Drawing) -> None:
    """The skins of the groups that are drawn."""
    model, data, options = drawing.model, drawing.data, drawing.options
    if not model.nskin or not drawing.shows(VisFlag.SKIN) or not drawing.draws(Category.DYNAMIC):
        return
    skins = np.flatnonzero(in_groups(options.skingroup, model.skin_group))
    matid = np.asarray(model.skin_matid)[skins]
    bones = np.asarray(model.skin_bonebodyid)[np.asarray(model.skin_boneadr)[skins]]
    rgba = drawing.colours(matid, np.asarray(model.skin_rgba)[skins])
    fade(drawing, rgba, np.full(len(rgba), Category.DYNAMIC))
    drawing.add(
        GeomType.SKIN,
        pos=np.asarray(data.xpos)[bones],
        size=NO_SIZE,
        rgba=rgba,
        matid=matid,
        objtype=ObjType.SKIN,
        objid=skins,
        category=Category.DYNAMIC,
        texcoord=np.asarray(model.skin_texcoordadr)[skins] >= 0,
        label=[drawing.text(Label.SKIN, "skin", int(i)) for i in skins],
    )
    glow(drawing, skins == drawing.perturb.skinselect)
