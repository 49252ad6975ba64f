"""How fast tendons' velocities change while joints do not accelerate, J̇·qvel, in lanes.

Along a straight piece between two sites, with direction n, length l and the relative velocity w of its ends, that
is n·(difference of the ends' accelerations) + (w² − (n·w)²)/l. A fixed tendon has none, and MuJoCo gives armature to
no tendon that wraps a geom. World frame. Compare mj_tendonDot.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tendons.layout import PieceIds, pieces
from dovetail.plugins.shared.tendons.wrapping_lanes import direction_of
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm


def tendon_drifts(k: Kernel, acceleration: LaneField) -> LaneField:
    """J̇·qvel of every tendon that consists of straight pieces, from bodies' accelerations at zero qacc; it does not
    matter whether these have gravity in them, which is the same for both ends."""
    m = k.model
    drift = k.scratch("drift", m.ntendon)
    with k.loop(0, m.ntendon) as tendon:
        drift[tendon] = 0.0
    some = [piece for piece in pieces(k.frozen_model) if piece.geom < 0]
    if not some:
        return drift
    table = k.table("tendon/drifting", some)
    with k.loop(0, len(some)) as i:
        piece = PieceIds(*table[i])
        with k.when(m.tendon_armature[piece.tendon] != 0.0):
            divisor = k.select(piece.pulley >= 0, m.wrap_prm[k.max(piece.pulley, 0)], 1.0)
            with k.when(m.site_bodyid[piece.first] != m.site_bodyid[piece.last]):
                drift[piece.tendon] += piece_drift(k, piece, acceleration) / divisor
    return drift


def piece_drift(k: Kernel, piece: PieceIds, acceleration: LaneField) -> Any:
    """Second derivative of the distance between two sites while joints do not accelerate."""
    apart = k.data.site_xpos[piece.last] - k.data.site_xpos[piece.first]
    (v1, a1), (v2, a2) = (site_motion(k, site, acceleration) for site in (piece.first, piece.last))
    direction, length, passing = direction_of(k, apart), norm(k, apart), v2 - v1
    sideways = passing - direction * dot(direction, passing)
    turning = k.select(length > MINVAL, dot(sideways, passing) / k.max(MINVAL, length), 0.0)
    return dot(direction, a2 - a1) + turning


def site_motion(k: Kernel, site: Any, acceleration: LaneField) -> tuple[Vector, Vector]:
    """Velocity of a site, and its acceleration while joints do not accelerate."""
    m, d = k.model, k.data
    body = m.site_bodyid[site]
    lever = d.site_xpos[site] - d.subtree_com[m.body_rootid[body]]
    motion, drift = d.cvel[body], acceleration[body]
    velocity = motion[3:] + cross(motion[:3], lever)
    return velocity, drift[3:] + cross(drift[:3], lever) + cross(motion[:3], velocity)
