"""Whether contacts can appear in a model, and between geoms of which types."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import GeomType, ObjType, SensorType
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.flags import contacts_off
from dovetail.plugins.model_rules.flexes import meeting as flex_meeting
from dovetail.plugins.model_rules.words import plural


def collidable(model: ModelLike) -> str:
    """Why contacts can appear: explicit pairs, flexes that can meet something, or geoms of different bodies whose
    masks match."""
    if contacts_off(model):
        return ""
    if model.npair:
        return plural(int(model.npair), "contact pair")
    if model.nflex and flex_meeting(model):
        return plural(int(model.nflex), "flex object")
    return "geoms that can collide" if _any_meet(model) else ""


def _any_meet(model: ModelLike) -> bool:
    """Whether the masks of any two geoms of different bodies match."""
    weld = model.body_weldid[model.geom_bodyid]
    groups = np.unique(np.stack([weld, model.geom_contype, model.geom_conaffinity], axis=1), axis=0)
    for row, (body, contype, affinity) in enumerate(groups):
        rest = groups[row + 1 :]
        touching = ((rest[:, 2] & contype) | (rest[:, 1] & affinity)) != 0
        if np.any(touching & (rest[:, 0] != body)):
            return True
    return False


def meeting(model: ModelLike) -> frozenset[str]:
    """The pairs of geom types that can meet in the model, as keys of `collide_pair`: those of explicit pairs, and of
    geoms of different bodies whose masks match."""
    weld = model.body_weldid[model.geom_bodyid]
    columns = [model.geom_type, weld, model.geom_contype, model.geom_conaffinity]
    groups = np.unique(np.stack(columns, axis=1), axis=0)
    found = set(zip(model.geom_type[model.pair_geom1], model.geom_type[model.pair_geom2], strict=True))
    for row, (kind, body, contype, affinity) in enumerate(groups):
        rest = groups[row:]
        meet = (rest[:, 1] != body) & (((rest[:, 3] & contype) | (rest[:, 2] & affinity)) != 0)
        found |= {(kind, other) for other in np.unique(rest[meet, 0])}
    return frozenset(pair_key(*pair) for pair in found)


_DISTANCE_SENSORS = (SensorType.GEOMDIST, SensorType.GEOMNORMAL, SensorType.GEOMFROMTO)


def measured(model: ModelLike) -> set[str]:
    """The pairs of geom types whose distances sensors measure, as keys of `collide_pair`."""
    found = set()
    for sensor in np.flatnonzero(np.isin(model.sensor_type, [int(kind) for kind in _DISTANCE_SENSORS])):
        first = _types_of(model, model.sensor_objtype[sensor], model.sensor_objid[sensor])
        second = _types_of(model, model.sensor_reftype[sensor], model.sensor_refid[sensor])
        found |= {pair_key(a, b) for a in first for b in second}
    return found


def _types_of(model: ModelLike, objtype: int, objid: int) -> set[int]:
    """Types of a geom, or of all geoms of a body."""
    ids = model.geom_bodyid == objid if objtype == ObjType.BODY else [objid]
    return set(np.atleast_1d(model.geom_type[ids]).tolist())


def pair_key(a: int, b: int) -> str:
    """The two type names in MuJoCo's order of types, as `sphere-box`."""
    return "-".join(GeomType(kind).name.lower() for kind in sorted((a, b)))
