"""Arrays of flexes: what the compiled items put into mjModel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail.contracts.enums import EqType
from dovetail.mjcf.asset_arrays import starts
from dovetail.mjcf.flex import Built, Flex
from dovetail.mjcf.model.context import Context

_INT, _BYTE, _REAL, _COLOR = np.int32, np.uint8, np.float64, np.float32

_SETTINGS: dict[str, tuple[str, Any, int | None]] = {
    "flex_contype": ("contype", _INT, None),
    "flex_conaffinity": ("conaffinity", _INT, None),
    "flex_condim": ("condim", _INT, None),
    "flex_priority": ("priority", _INT, None),
    "flex_solmix": ("solmix", _REAL, None),
    "flex_solref": ("solref", _REAL, 2),
    "flex_solimp": ("solimp", _REAL, 5),
    "flex_friction": ("friction", _REAL, 3),
    "flex_margin": ("margin", _REAL, None),
    "flex_gap": ("gap", _REAL, None),
    "flex_internal": ("internal", _BYTE, None),
    "flex_selfcollide": ("selfcollide", _INT, None),
    "flex_activelayers": ("activelayers", _INT, None),
    "flex_passive": ("passive", _INT, None),
    "flex_dim": ("dim", _INT, None),
    "flex_matid": ("matid", _INT, None),
    "flex_group": ("group", _INT, None),
    "flex_radius": ("radius", _REAL, None),
    "flex_damping": ("damping", _REAL, None),
    "flex_edgestiffness": ("edgestiffness", _REAL, None),
    "flex_edgedamping": ("edgedamping", _REAL, None),
    "flex_flatskin": ("flatskin", _BYTE, None),
    "flex_rgba": ("rgba", _COLOR, 4),
}
"""Field → attribute of a flex, dtype, length of a vector."""
_FACTS: dict[str, tuple[str, Any]] = {
    "flex_interp": ("order", _INT),
    "flex_rigid": ("rigid", _BYTE),
    "flex_centered": ("centered", _BYTE),
}
"""Field → what compiling a flex finds out about it."""
_STACKS: dict[str, tuple[Callable[[Built], Any], tuple[int, ...], Any]] = {
    "flex_nodebodyid": (lambda b: b.nodebodyid, (), _INT),
    "flex_vertbodyid": (lambda b: b.vertbodyid, (), _INT),
    "flex_edge": (lambda b: b.edge, (2,), _INT),
    "flex_edgeflap": (lambda b: b.edgeflap, (2,), _INT),
    "flex_elem": (lambda b: b.element.reshape(-1), (), _INT),
    "flex_elemtexcoord": (lambda b: b.elemtexcoord, (), _INT),
    "flex_elemedge": (lambda b: b.elemedge.reshape(-1), (), _INT),
    "flex_elemlayer": (lambda b: b.surface.layer, (), _INT),
    "flex_shell": (lambda b: b.surface.shell.reshape(-1), (), _INT),
    "flex_evpair": (lambda b: b.surface.evpair, (2,), _INT),
    "flex_vert": (lambda b: b.vertex, (3,), _REAL),
    "flex_vert0": (lambda b: b.vert0, (3,), _REAL),
    "flex_node": (lambda b: b.node, (3,), _REAL),
    "flex_node0": (lambda b: b.node0, (3,), _REAL),
    "flexedge_rigid": (lambda b: b.edgerigid, (), _BYTE),
    "flex_stiffness": (lambda b: b.stiffness, (21,), _REAL),
    "flex_bending": (lambda b: b.bending, (17,), _REAL),
}
"""Field → rows of one flex, shape of a row, dtype; rows of all flexes follow one another."""
_ADDRESSES: dict[str, tuple[str, bool]] = {
    "flex_nodeadr": ("flex_nodebodyid", False),
    "flex_vertadr": ("flex_vertbodyid", False),
    "flex_edgeadr": ("flex_edge", False),
    "flex_elemadr": ("flex_elemlayer", False),
    "flex_elemdataadr": ("flex_elem", False),
    "flex_elemedgeadr": ("flex_elemedge", False),
    "flex_shelldataadr": ("flex_shell", True),
    "flex_evpairadr": ("flex_evpair", True),
}
"""Field → whose rows it counts, and whether −1 stands for none."""
_COUNTS = {
    "flex_nodenum": "flex_nodebodyid",
    "flex_vertnum": "flex_vertbodyid",
    "flex_edgenum": "flex_edge",
    "flex_elemnum": "flex_elemlayer",
    "flex_evpairnum": "flex_evpair",
}


def flex_fields(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """All fields of flexes; their bounding volumes follow all others, and have no boxes in the model."""
    flexes: list[Flex] = context.objects["flex"]
    built = [flex.built for flex in flexes if flex.built]
    fields = {name: _settings(flexes, *column) for name, column in _SETTINGS.items()}
    fields |= {
        name: np.array([getattr(b, get) for b in built], dtype) for name, (get, dtype) in _FACTS.items()
    }
    fields |= _stacks(built)
    fields["flex_shellnum"] = np.array([len(b.surface.shell) for b in built], _INT)
    fields["flex_texcoordadr"] = starts((len(flex.texcoord) for flex in flexes), absent=True)
    fields["flex_texcoord"] = np.concatenate([np.zeros((0, 2)), *(f.texcoord for f in flexes)]).astype(_COLOR)
    fields["flex_edgeequality"] = _held_by_equality(context, len(flexes))
    return {**fields, **_volumes(built, values)}


def flex_bodies(context: Context) -> set[int]:
    """Bodies that move a flex: their trees must not sleep."""
    flexes: list[Flex] = context.objects["flex"]
    return {body.id for flex in flexes for body in (*flex.vertbody, *flex.nodebody)}


def flex_sizes(values: dict[str, Any]) -> dict[str, int]:
    """Numbers of rows of all flexes together."""
    rows = {
        "nflexnode": "flex_nodebodyid",
        "nflexvert": "flex_vertbodyid",
        "nflexedge": "flex_edge",
        "nflexelem": "flex_elemlayer",
        "nflexelemdata": "flex_elem",
        "nflexelemedge": "flex_elemedge",
        "nflexshelldata": "flex_shell",
        "nflexevpair": "flex_evpair",
        "nflextexcoord": "flex_texcoord",
    }
    sizes = {size: len(values[name]) for size, name in rows.items()}
    return {**sizes, "nbvhdynamic": int(values["flex_bvhnum"].sum())}


def _settings(flexes: Sequence[Flex], attribute: str, dtype: Any, width: int | None) -> np.ndarray:
    shape = (len(flexes),) if width is None else (len(flexes), width)
    return np.array([getattr(flex, attribute) for flex in flexes], dtype).reshape(shape)


def _stacks(built: list[Built]) -> dict[str, Any]:
    pieces = {name: [get(b) for b in built] for name, (get, _, _) in _STACKS.items()}
    fields: dict[str, Any] = {}
    for name, (_, shape, dtype) in _STACKS.items():
        fields[name] = np.concatenate([np.zeros((0, *shape)), *pieces[name]]).astype(dtype)
    for name, (of, absent) in _ADDRESSES.items():
        fields[name] = starts((len(piece) for piece in pieces[of]), absent=absent)
    for name, of in _COUNTS.items():
        fields[name] = np.array([len(piece) for piece in pieces[of]], _INT)
    return fields


def _held_by_equality(context: Context, count: int) -> np.ndarray:
    held = np.zeros(count, _BYTE)
    for equality in context.objects["equality"]:
        if equality.type == EqType.FLEX:
            held[equality.obj1id] = 1
    return held


def _volumes(built: list[Built], values: dict[str, Any]) -> dict[str, Any]:
    lengths = [len(b.tree["bvh_depth"]) for b in built]
    joined = {
        name: np.concatenate([values[name], *(b.tree[name] for b in built)])
        for name in ("bvh_depth", "bvh_child", "bvh_nodeid")
    }
    begins = starts(lengths) + len(values["bvh_depth"])
    return {
        "flex_bvhadr": np.where(np.array(lengths, _INT) > 0, begins, -1).astype(_INT),
        "flex_bvhnum": np.array(lengths, _INT),
        **joined,
    }
