"""What flexes put into the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import EqType
from dovetail.contracts.fields import Array
from dovetail.mjcf.elements.columns import Columns, Pieces, column, starts
from dovetail.mjcf.elements.contact_settings import contact_columns

if TYPE_CHECKING:
    from dovetail.mjcf.elements.flex import FlexItem
    from dovetail.mjcf.model.context import Context

COLUMNS: Columns = {
    **contact_columns("flex"),
    "flex_internal": "internal",
    "flex_selfcollide": "selfcollide",
    "flex_activelayers": "activelayers",
    "flex_passive": "passive",
    "flex_dim": "dim",
    "flex_matid": "matid",
    "flex_group": "group",
    "flex_radius": "radius",
    "flex_damping": "damping",
    "flex_edgestiffness": "edgestiffness",
    "flex_edgedamping": "edgedamping",
    "flex_flatskin": "flatskin",
    "flex_rgba": "rgba",
    "flex_interp": lambda flex: flex.built.order,
    "flex_rigid": lambda flex: flex.built.rigid,
    "flex_centered": lambda flex: flex.built.centered,
    "flex_shellnum": lambda flex: len(flex.built.surface.shell),
}
SURFACES = Pieces(
    rows={
        "flex_nodebodyid": lambda flex: flex.built.nodebodyid,
        "flex_vertbodyid": lambda flex: flex.built.vertbodyid,
        "flex_edge": lambda flex: flex.built.edge,
        "flex_edgeflap": lambda flex: flex.built.edgeflap,
        "flex_elem": lambda flex: flex.built.element,
        "flex_elemtexcoord": lambda flex: flex.built.elemtexcoord,
        "flex_elemedge": lambda flex: flex.built.elemedge,
        "flex_elemlayer": lambda flex: flex.built.surface.layer,
        "flex_shell": lambda flex: flex.built.surface.shell,
        "flex_evpair": lambda flex: flex.built.surface.evpair,
        "flex_vert": lambda flex: flex.built.vertex,
        "flex_vert0": lambda flex: flex.built.vert0,
        "flex_node": lambda flex: flex.built.node,
        "flex_node0": lambda flex: flex.built.node0,
        "flexedge_rigid": lambda flex: flex.built.edgerigid,
        "flex_stiffness": lambda flex: flex.built.stiffness,
        "flex_bending": lambda flex: flex.built.bending,
        "flex_texcoord": lambda flex: flex.texcoord,
    },
    begins={
        "flex_nodeadr": "flex_nodebodyid",
        "flex_vertadr": "flex_vertbodyid",
        "flex_edgeadr": "flex_edge",
        "flex_elemadr": "flex_elemlayer",
        "flex_elemdataadr": "flex_elem",
        "flex_elemedgeadr": "flex_elemedge",
        "flex_shelldataadr": "flex_shell",
        "flex_evpairadr": "flex_evpair",
        "flex_texcoordadr": "flex_texcoord",
    },
    numbers={
        "flex_nodenum": "flex_nodebodyid",
        "flex_vertnum": "flex_vertbodyid",
        "flex_edgenum": "flex_edge",
        "flex_elemnum": "flex_elemlayer",
        "flex_evpairnum": "flex_evpair",
    },
    absent=frozenset(["flex_shelldataadr", "flex_evpairadr", "flex_texcoordadr"]),
)


def flex_fields(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Which flexes an equality holds; bounding volumes, which follow all others and have no boxes in the model."""
    flexes: list[FlexItem] = context.objects["flex"]
    return {"flex_edgeequality": _held_by_equality(context), **_volumes(flexes, values)}


def flex_bodies(context: Context) -> set[int]:
    """Bodies that move a flex: their trees must not sleep."""
    flexes: list[FlexItem] = context.objects["flex"]
    return {body.id for flex in flexes for body in (*flex.vertbody, *flex.nodebody)}


def _held_by_equality(context: Context) -> Array:
    held = {e.obj1id for e in context.objects["equality"] if e.type == EqType.FLEX}
    return column("flex_edgeequality", [flex.id in held for flex in context.objects["flex"]])


def _volumes(flexes: list[FlexItem], values: dict[str, Any]) -> dict[str, Any]:
    trees = [flex.built.tree for flex in flexes if flex.built]
    lengths = column("flex_bvhnum", [len(tree["bvh_depth"]) for tree in trees])
    joined = {
        name: np.concatenate([values[name], *(tree[name] for tree in trees)])
        for name in ("bvh_depth", "bvh_child", "bvh_nodeid")
    }
    begins = starts(lengths) + len(values["bvh_depth"])
    return {
        "flex_bvhadr": column("flex_bvhadr", np.where(lengths > 0, begins, -1)),
        "flex_bvhnum": lengths,
        **joined,
    }
