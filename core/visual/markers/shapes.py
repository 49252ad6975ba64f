"""Geoms and sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.contracts.fields import Array
from dovetail.visual.elements import Drawing, in_groups
from dovetail.visual.islands import body_colours
from dovetail.visual.options import Category, Label, VisFlag

MESH_TYPES = (GeomType.MESH, GeomType.SDF)
SQUARES = 4.0
"""Two squares of a texture that is two units wide; measured with MuJoCo 3.4.0, as are the next two."""
GRID_REACH = 2.1
"""Width of an infinite plane in distances of the farthest plane that is drawn."""
GRID_STEPS = 99
TINY = 1e-6


def draw_geoms(drawing: Drawing) -> None:
    """The geoms of the groups that are drawn; infinite planes where the camera is."""
    model, data, options = drawing.model, drawing.data, drawing.options
    category = drawing.body_categories()[model.geom_bodyid]
    rgba = drawing.colours(model.geom_matid, model.geom_rgba)
    geoms = drawn_geoms(drawing)
    if not len(geoms):
        return
    kind = np.asarray(model.geom_type)[geoms]
    matid = np.asarray(model.geom_matid)[geoms]
    colour = rgba[geoms]
    tinted = tint(drawing, colour, np.asarray(model.geom_bodyid)[geoms])
    fade(drawing, colour, np.where(tinted, Category.STATIC, category[geoms]))
    own = np.isin(kind, MESH_TYPES) & (matid >= 0)
    drawing.add(
        kind,
        pos=plane_positions(drawing, geoms),
        mat=np.asarray(data.geom_xmat)[geoms],
        size=element_sizes(kind, np.asarray(model.geom_size)[geoms]),
        rgba=colour,
        matid=matid,
        objtype=ObjType.GEOM,
        objid=geoms,
        category=category[geoms],
        dataid=data_ids(drawing, geoms),
        texcoord=np.where(own, has_texcoords(model, geoms), 0),
        modelrbound=np.asarray(model.geom_rbound)[geoms],
        label=[drawing.text(Label.GEOM, "geom", int(i)) for i in geoms]
        if options.label == Label.GEOM
        else "",
    )
    drawing.blocks[-1]["matid"][tinted] = -1
    glow(drawing, of_selected_body(drawing, np.asarray(model.geom_bodyid)[geoms]))


def draw_sites(drawing: Drawing) -> None:
    """The sites of the groups that are drawn."""
    model, data, options = drawing.model, drawing.data, drawing.options
    if not model.nsite:
        return
    category = drawing.body_categories()[model.site_bodyid]
    rgba = drawing.colours(model.site_matid, model.site_rgba)
    sites = drawn_sites(drawing)
    if not len(sites):
        return
    kind = np.asarray(model.site_type)[sites]
    colour = rgba[sites]
    fade(drawing, colour, category[sites])
    drawing.add(
        kind,
        pos=np.asarray(data.site_xpos)[sites],
        mat=np.asarray(data.site_xmat)[sites],
        size=element_sizes(kind, np.asarray(model.site_size)[sites]),
        rgba=colour,
        matid=np.asarray(model.site_matid)[sites],
        objtype=ObjType.SITE,
        objid=sites,
        category=category[sites],
        label=[drawing.text(Label.SITE, "site", int(i)) for i in sites]
        if options.label == Label.SITE
        else "",
    )
    glow(drawing, of_selected_body(drawing, np.asarray(model.site_bodyid)[sites]))


def drawn_geoms(drawing: Drawing) -> Array:
    """The geoms that are drawn: of groups and categories that are wanted, and not invisible."""
    model = drawing.model
    visible = drawing.colours(model.geom_matid, model.geom_rgba)[:, 3] > 0
    if drawing.shows(VisFlag.ISLAND):  # islands colour what has no colour, too
        visible |= moving(model, np.asarray(model.geom_bodyid))
    chosen = in_groups(drawing.options.geomgroup, model.geom_group) & visible
    return np.flatnonzero(chosen & wanted(drawing, drawing.body_categories()[model.geom_bodyid]))


def drawn_sites(drawing: Drawing) -> Array:
    """The sites that are drawn."""
    model = drawing.model
    visible = drawing.colours(model.site_matid, model.site_rgba)[:, 3] > 0
    chosen = in_groups(drawing.options.sitegroup, model.site_group) & visible
    return np.flatnonzero(chosen & wanted(drawing, drawing.body_categories()[model.site_bodyid]))


def wanted(drawing: Drawing, category: Array) -> Array:
    """Whether things of categories are drawn: static ones if their flag is on."""
    asked = (category & drawing.categories) != 0
    if not drawing.shows(VisFlag.STATIC):
        asked &= category != Category.STATIC
    return asked


def tint(drawing: Drawing, rgba: Array, bodies: Array) -> Array:
    """Give what moves the colours of islands, if those are asked for, and say what was coloured. It keeps the lustre
    of its material, but no texture, and is not faded."""
    if not drawing.shows(VisFlag.ISLAND):
        return np.zeros(len(bodies), bool)
    tinted = moving(drawing.model, bodies)
    rgba[tinted] = body_colours(drawing.model, drawing.data)[bodies[tinted]]
    return tinted


def moving(model: Any, bodies: Array) -> Array:
    """Whether bodies have dofs, or are welded to one that has."""
    found: Array = np.asarray(model.body_dofnum)[np.asarray(model.body_weldid)[bodies]] > 0
    return found


def fade(drawing: Drawing, rgba: Array, category: Array) -> None:
    """Make what can move transparent, if that is asked for."""
    if drawing.shows(VisFlag.TRANSPARENT):
        rgba[category == Category.DYNAMIC, 3] *= np.float32(drawing.model.vis.map.alpha)


def glow(drawing: Drawing, selected: Array) -> None:
    """Let the selected ones of the elements that were added last shine."""
    drawing.blocks[-1]["emission"][selected] += np.float32(drawing.model.vis.global_.glow)


def of_selected_body(drawing: Drawing, bodies: Array) -> Array:
    """Whether bodies are the selected one."""
    chosen: Array = (bodies == drawing.perturb.select) & (bodies > 0)
    return chosen


def element_sizes(kind: Array, size: Array) -> Array:
    """Sizes of geoms or sites as elements state them, see `surfaces.element_size`."""
    stated = np.array(size, float)
    ball = kind == GeomType.SPHERE
    stated[ball, 1:] = stated[ball, :1]
    rod = (kind == GeomType.CAPSULE) | (kind == GeomType.CYLINDER)
    stated[rod, 2] = stated[rod, 1]
    stated[rod, 1] = stated[rod, 0]
    return stated


def data_ids(drawing: Drawing, geoms: Array) -> Array:
    """What elements of geoms refer to: meshes or their hulls, height fields, planes in order."""
    model = drawing.model
    kind, data = np.asarray(model.geom_type), np.asarray(model.geom_dataid)
    ids = np.where(kind == GeomType.HFIELD, data, -1)
    ids = np.where(kind == GeomType.PLANE, np.cumsum(kind == GeomType.PLANE) - 1, ids)
    mesh = np.isin(kind, MESH_TYPES) & (data >= 0)
    ids[mesh] = 2 * data[mesh]
    if drawing.shows(VisFlag.CONVEXHULL) and model.nmesh:
        collides = (np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity)) != 0
        hull = np.asarray(model.mesh_graphadr)[np.maximum(data, 0)] >= 0
        ids[mesh & hull & collides] += 1
    return ids[geoms]


def has_texcoords(model: Any, geoms: Array) -> Array:
    """Whether the meshes of geoms have texture coordinates of their own."""
    if not model.nmesh:
        return np.zeros(len(geoms), np.int32)
    data = np.asarray(model.geom_dataid)[geoms]
    return np.where(data >= 0, np.asarray(model.mesh_texcoordadr)[np.maximum(data, 0)] >= 0, 0).astype(
        np.int32
    )


def plane_positions(drawing: Drawing, geoms: Array) -> Array:
    """Positions of geoms; a plane without bounds along an axis is moved there to where the camera is, by whole
    squares of its texture, so that it seems to go on forever."""
    model, data = drawing.model, drawing.data
    places = np.array(np.asarray(data.geom_xpos)[geoms], float)
    for row, geom in enumerate(geoms):
        if model.geom_type[geom] == GeomType.PLANE and (np.asarray(model.geom_size[geom][:2]) <= 0).any():
            turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
            away = turn.T @ (drawing.view.pos - places[row])
            step = plane_steps(model, int(geom))
            endless = np.asarray(model.geom_size[geom][:2]) <= 0
            moved = np.where(endless, np.round(away[:2] / step) * step, 0.0)
            places[row] += turn[:, :2] @ moved
    return places


def plane_steps(model: Any, geom: int) -> Array:
    """By what steps an infinite plane follows the camera along its axes: two squares of its material's texture, or of
    the grid by which a plane without material is drawn."""
    material = int(model.geom_matid[geom])
    if material >= 0:
        return SQUARES / np.maximum(np.asarray(model.mat_texrepeat[material], float), TINY)
    reach = float(model.vis.map.zfar) * float(model.stat.extent)
    return np.full(2, GRID_REACH * reach / GRID_STEPS)
