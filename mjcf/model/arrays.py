"""From the compiled tree to mjModel's arrays: what every element puts in, and what follows from all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array
from dovetail.mjcf.elements import (
    actuator,
    asset,
    body,
    camera,
    contact,
    custom,
    equality,
    flex_fields,
    geom,
    hfield,
    joint,
    keyframe,
    light,
    material,
    mesh_fields,
    plugins,
    sensor,
    site,
    skin,
    tendon,
    texture,
)
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.columns import DTYPES, Columns, Pieces, column, filled, size_of
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.elements.object_kinds import KIND_OF_SIZE
from dovetail.mjcf.elements.same_frames import sameframe
from dovetail.mjcf.geometry.rotation import IDENTITY, Vec
from dovetail.mjcf.model import sparsity
from dovetail.mjcf.model.bounds import bounding_volumes, dof_lengths, reference_looks
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.names import name_fields

COLUMNS: tuple[Columns, ...] = (
    body.COLUMNS,
    joint.COLUMNS,
    geom.COLUMNS,
    site.COLUMNS,
    camera.COLUMNS,
    light.COLUMNS,
    texture.COLUMNS,
    material.COLUMNS,
    actuator.COLUMNS,
    tendon.COLUMNS,
    equality.COLUMNS,
    contact.PAIR_COLUMNS,
    contact.EXCLUDE_COLUMNS,
    sensor.COLUMNS,
    mesh_fields.COLUMNS,
    hfield.COLUMNS,
    skin.COLUMNS,
    flex_fields.COLUMNS,
    plugins.COLUMNS,
)
"""One row for each object of a kind."""
PIECES: tuple[Pieces, ...] = (
    tendon.PATHS,
    mesh_fields.SURFACES,
    hfield.ELEVATIONS,
    skin.SURFACES,
    skin.BONES,
    flex_fields.SURFACES,
    texture.PIXELS,
    custom.NUMBERS,
    custom.TEXTS,
    custom.TUPLES,
    plugins.CONFIGURATIONS,
)
"""Several rows for each object of a kind."""


def build(context: Context) -> dict[str, Any]:
    """All arrays of the model; `context.sizes` must hold what the width of user data and keys follows from."""
    values: dict[str, Any] = {**_settings(context), **_visual(context)}
    for columns in COLUMNS:
        values.update(filled(columns, _rows(context, size_of(columns)), context.sizes))
    for pieces in PIECES:
        values.update(pieces.filled(_rows(context, size_of(pieces.begins))))
    values.update(_same_frames(context))
    values.update(_dofs(context))
    values.update(tendon.tree_fields(context, values["body_treeid"]))
    values.update(_reference_pose(context))
    values["body_rootid"] = _roots(context.bodies)
    values["body_subtreemass"] = _subtree_masses(context.bodies)
    values.update(bounding_volumes(context.bodies))
    values.update(mesh_fields.mesh_fields(context, values))
    values.update(flex_fields.flex_fields(context, values))
    values.update(asset.path_fields(context))
    values["dof_length"] = dof_lengths(context)
    values.update(reference_looks(context))
    values.update(keyframe.key_fields(context, values))
    values.update(name_fields(context))
    return values


def _rows(context: Context, size: str) -> Sequence[Any]:
    """What a size counts: the objects of a kind, or the bones of all skins."""
    if size in KIND_OF_SIZE:
        return context.objects[KIND_OF_SIZE[size]]
    return [bone for item in context.objects["skin"] for bone in item.bones]


def _visual(context: Context) -> dict[str, Any]:
    """What the file says of `vis.…`."""
    fields: dict[str, Any] = {}
    for tag, settings in context.visual.items():
        group = "vis.global_" if tag == "global" else f"vis.{tag}"
        for name, value in settings.items():
            field = f"{group}.{name}"
            fields[field] = np.array(value, DTYPES[field])
    return fields


def _settings(context: Context) -> dict[str, Any]:
    """`opt.…`, and of `stat.…` what the file says; vectors as arrays."""
    groups = {"opt": context.option, "stat": context.statistic}
    return {
        f"{group}.{name}": np.array(value) if isinstance(value, tuple) else value
        for group, settings in groups.items()
        for name, value in settings.items()
    }


def _same_frames(context: Context) -> dict[str, Any]:
    bodies = context.bodies
    return {
        name: column(name, [sameframe(item, bodies[item.bodyid]) for item in items])
        for name, items in (("geom_sameframe", context.geoms), ("site_sameframe", context.sites))
    }


def _dofs(context: Context) -> dict[str, Any]:
    bodies = context.bodies
    owners = context.dof_owners
    parents = sparsity.dof_parents(bodies)
    simple = sparsity.body_simple(bodies)
    simple[list(tendon.coupled_by_armature(context))] = 0
    actuated = actuator.actuated_bodies(context) | flex_fields.flex_bodies(context)
    runs = sparsity.simple_runs([bool(simple[owner.bodyid]) for owner in owners])
    return {
        **filled(joint.DOF_COLUMNS, owners),
        "body_simple": column("body_simple", simple),
        "dof_parentid": column("dof_parentid", parents),
        "dof_simplenum": runs,
        **sparsity.tree_fields(
            bodies, parents, [owner.bodyid for owner in owners], actuated, tendon.kept_awake(context)
        ),
        **sparsity.sparsity(bodies, parents, runs),
    }


def _reference_pose(context: Context) -> dict[str, Any]:
    """qpos0 and qpos_spring: free joints at their body's pose, ball joints unturned."""
    qpos0: list[float] = []
    spring: list[float] = []
    for item in context.joints:
        pose = _rest(item, context.bodies[item.bodyid])
        qpos0.extend(pose)
        spring.extend((item.springref,) if len(pose) == 1 else pose)
    return {"qpos0": column("qpos0", qpos0), "qpos_spring": column("qpos_spring", spring)}


def _rest(item: JointItem, body: BodyItem) -> Vec:
    if item.type == JointType.FREE:
        return (*body.pos, *body.quat)
    return IDENTITY if item.type == JointType.BALL else (item.ref,)


def _roots(bodies: list[BodyItem]) -> Array:
    """The ancestor of each body that is a child of the world."""
    roots: list[int] = []
    for item in bodies:
        roots.append(item.id if item.parentid == 0 else roots[item.parentid])
    return column("body_rootid", roots)


def _subtree_masses(bodies: list[BodyItem]) -> Array:
    masses = column("body_subtreemass", [item.mass for item in bodies])
    for item in reversed(bodies[1:]):
        masses[item.parentid] += masses[item.id]
    return masses
