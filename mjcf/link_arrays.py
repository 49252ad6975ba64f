"""mjModel's arrays of tendons, equalities, contact pairs and sensors, and what tendons mean for the tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.enums import EqType, WrapType
from dovetail.mjcf.elements.equality import ROWS
from dovetail.mjcf.links import Tendon
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.tree import Body

_INT, _BYTE, _REAL, _COLOR = "int32", "uint8", "float64", "float32"
_Column = tuple[str | Callable[[Any], Any], str, int | None]

_TENDON_COLUMNS: dict[str, _Column] = {
    "tendon_num": (lambda tendon: len(tendon.path), _INT, None),
    "tendon_matid": ("matid", _INT, None),
    "tendon_group": ("group", _INT, None),
    "tendon_limited": ("limited", _BYTE, None),
    "tendon_actfrclimited": ("actuatorfrclimited", _BYTE, None),
    "tendon_width": ("width", _REAL, None),
    "tendon_solref_lim": ("solreflimit", _REAL, 2),
    "tendon_solimp_lim": ("solimplimit", _REAL, 5),
    "tendon_solref_fri": ("solreffriction", _REAL, 2),
    "tendon_solimp_fri": ("solimpfriction", _REAL, 5),
    "tendon_range": ("range", _REAL, 2),
    "tendon_actfrcrange": ("actuatorfrcrange", _REAL, 2),
    "tendon_margin": ("margin", _REAL, None),
    "tendon_stiffness": ("stiffness", _REAL, None),
    "tendon_damping": ("damping", _REAL, None),
    "tendon_armature": ("armature", _REAL, None),
    "tendon_frictionloss": ("frictionloss", _REAL, None),
    "tendon_lengthspring": ("springlength", _REAL, 2),
    "tendon_rgba": ("rgba", _COLOR, 4),
}
_EQUALITY_COLUMNS: dict[str, _Column] = {
    "eq_type": ("type", _INT, None),
    "eq_obj1id": ("obj1id", _INT, None),
    "eq_obj2id": ("obj2id", _INT, None),
    "eq_objtype": ("objtype", _INT, None),
    "eq_active0": ("active", _BYTE, None),
    "eq_solref": ("solref", _REAL, 2),
    "eq_solimp": ("solimp", _REAL, 5),
    "eq_data": ("data", _REAL, 11),
}
_PAIR_COLUMNS: dict[str, _Column] = {
    "pair_dim": ("condim", _INT, None),
    "pair_geom1": (lambda pair: pair.geomid[0], _INT, None),
    "pair_geom2": (lambda pair: pair.geomid[1], _INT, None),
    "pair_signature": ("signature", _INT, None),
    "pair_solref": ("solref", _REAL, 2),
    "pair_solreffriction": ("solreffriction", _REAL, 2),
    "pair_solimp": ("solimp", _REAL, 5),
    "pair_margin": ("margin", _REAL, None),
    "pair_gap": ("gap", _REAL, None),
    "pair_friction": ("friction", _REAL, 5),
}
_SENSOR_COLUMNS: dict[str, _Column] = {
    "sensor_type": ("type", _INT, None),
    "sensor_datatype": ("datatype", _INT, None),
    "sensor_needstage": ("needstage", _INT, None),
    "sensor_objtype": ("objtype", _INT, None),
    "sensor_objid": ("objid", _INT, None),
    "sensor_reftype": ("reftype", _INT, None),
    "sensor_refid": ("refid", _INT, None),
    "sensor_intprm": ("intprm", _INT, 3),
    "sensor_dim": ("dim", _INT, None),
    "sensor_cutoff": ("cutoff", _REAL, None),
    "sensor_noise": ("noise", _REAL, None),
    "sensor_plugin": ("plugin", _INT, None),
}

LINK_TABLES: dict[str, dict[str, _Column]] = {
    "tendon": _TENDON_COLUMNS,
    "equality": _EQUALITY_COLUMNS,
    "pair": _PAIR_COLUMNS,
    "exclude": {"exclude_signature": ("signature", _INT, None)},
    "sensor": _SENSOR_COLUMNS,
}


def link_arrays(context: Context, body_treeid: Any) -> dict[str, Any]:
    """What the tables do not say: addresses, paths, and the trees that tendons touch."""
    tendons = context.objects["tendon"]
    path = [wrap for tendon in tendons for wrap in tendon.path]
    trees = [_distinct(int(body_treeid[body]) for body in _bodies(tendon)) for tendon in tendons]
    return {
        "tendon_adr": _starts([len(tendon.path) for tendon in tendons]),
        "tendon_treenum": np.array([len(found) for found in trees], np.int32),
        "tendon_treeid": np.array([([*found, -1, -1])[:2] for found in trees], np.int32).reshape(-1, 2),
        "wrap_type": np.array([wrap.type for wrap in path], np.int32),
        "wrap_objid": np.array([wrap.objid for wrap in path], np.int32),
        "wrap_prm": np.array([wrap.prm for wrap in path], np.float64),
        "sensor_adr": _starts([sensor.dim for sensor in context.objects["sensor"]]),
    }


def _starts(lengths: list[int]) -> np.ndarray:
    return (np.cumsum(lengths, dtype=np.int64) - np.array(lengths, np.int64)).astype(np.int32)


def _bodies(tendon: Tendon) -> list[int]:
    return [wrap.bodyid for wrap in tendon.path if wrap.bodyid >= 0]


def _distinct(trees: Any) -> list[int]:
    """Trees in order of appearance; −1 stands for what cannot move."""
    return list(dict.fromkeys(tree for tree in trees if tree >= 0))


def link_sizes(context: Context) -> dict[str, int]:
    """nwrap, and nemax: the most rows of all equality constraints together, edges of flexes counted elsewhere."""
    return {
        "nwrap": sum(len(tendon.path) for tendon in context.objects["tendon"]),
        "nemax": sum(ROWS.get(EqType(equality.type), 0) for equality in context.objects["equality"]),
    }


def kept_awake(context: Context) -> set[int]:
    """Bodies whose trees must not sleep because of a tendon.

    Those on a tendon that touches more than two trees, or couples two of them by a spring or damper.
    """
    awake: set[int] = set()
    for tendon in context.objects["tendon"]:
        trees = {_moving_root(context.bodies[body]) for body in _bodies(tendon)} - {0}
        if len(trees) > 2 or (len(trees) == 2 and (tendon.stiffness or tendon.damping)):
            awake.update(trees)
    return awake


def _moving_root(body: Body) -> int:
    """The first body with joints on the way from the world; the world itself if nothing moves."""
    root, here = 0, body
    while here.parent is not None:
        root = here.id if here.joints else root
        here = here.parent
    return root


def coupled_by_armature(context: Context) -> set[int]:
    """Bodies with a site on a tendon that has inertia: their part of the mass matrix is not diagonal."""
    return {
        wrap.bodyid
        for tendon in context.objects["tendon"]
        if tendon.armature
        for wrap in tendon.path
        if wrap.type == WrapType.SITE
    }
