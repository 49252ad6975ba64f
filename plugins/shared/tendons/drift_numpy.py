"""How fast tendons' velocities change while joints do not accelerate: J̇·qvel.

Along a straight piece between two sites, with direction n, length l and the relative velocity w of its ends, that
is n·(difference of the ends' accelerations) + (w² − (n·w)²)/l. A fixed tendon has none, and MuJoCo gives armature to
no tendon that wraps a geom. World frame. Compare mj_tendonDot.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tendons.layout import JOINT, PULLEY
from dovetail.plugins.shared.tendons.wrapping_numpy import direction_of
from dovetail.plugins.shared.tree_numpy import add_from_parents


def tendon_drift(model: ModelLike, data: DataLike, tendon: int, body_drift: Array) -> float:
    """J̇·qvel of one tendon, given the accelerations that `body_drifts` returns."""
    first = int(model.tendon_adr[tendon])
    places = range(first, first + int(model.tendon_num[tendon]) - 1)
    if model.wrap_type[first] == JOINT:
        return 0.0
    drift, divisor = 0.0, 1.0
    for place in places:
        if model.wrap_type[place] == PULLEY:
            divisor = float(model.wrap_prm[place])
        elif model.wrap_type[place + 1] != PULLEY:
            ends = [int(site) for site in model.wrap_objid[place : place + 2]]
            with np.errstate(divide="ignore", invalid="ignore"):  # MuJoCo lets a pulley divide by zero
                drift += float(np.divide(piece_drift(model, data, ends, body_drift), divisor))
    return drift


def piece_drift(model: ModelLike, data: DataLike, sites: list[int], body_drift: Array) -> float:
    """Second derivative of the distance between two sites while joints do not accelerate."""
    if model.site_bodyid[sites[0]] == model.site_bodyid[sites[1]]:
        return 0.0
    start, end = (np.array(data.site_xpos[site]) for site in sites)
    (v1, a1), (v2, a2) = (site_motion(model, data, site, body_drift) for site in sites)
    direction, length = direction_of(end - start), float(np.linalg.norm(end - start))
    apart = v2 - v1
    sideways = apart - direction * float(direction @ apart)
    turning = float(sideways @ apart) / length if length > MINVAL else 0.0
    return float(direction @ (a2 - a1)) + turning


def site_motion(model: ModelLike, data: DataLike, site: int, body_drift: Array) -> tuple[Array, Array]:
    """Velocity of a site, and its acceleration while joints do not accelerate."""
    body = int(model.site_bodyid[site])
    lever = data.site_xpos[site] - data.subtree_com[model.body_rootid[body]]
    spin, drift = data.cvel[body, :3], body_drift[body]
    velocity = data.cvel[body, 3:] + np.cross(spin, lever)
    return velocity, drift[3:] + np.cross(drift[:3], lever) + np.cross(spin, velocity)


def body_drifts(model: ModelLike, data: DataLike) -> Array:
    """Accelerations of bodies about their trees' centres of mass from velocities alone."""
    drift = np.zeros((model.nbody, 6))
    np.add.at(drift, model.dof_bodyid, data.cdof_dot * data.qvel[:, None])
    add_from_parents(drift, model.body_parentid)
    return drift
