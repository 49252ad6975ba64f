"""What MuJoCo has of trees that sleep, which it passes over: no acceleration, and the last readings of their sensors.

After a reset an evaluation with all trees awake comes first; then those sleep whose policy is to begin so, and keep
what was measured of them. Compare mj_sleepState and mj_resetData.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ObjType, SleepState
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sleep.rings_numpy import begin, write_lists

FORCES = ("qacc", "qacc_smooth", "qfrc_smooth", "qfrc_constraint")
OF_BODIES = ("cacc", "cfrc_int", "cfrc_ext")


def rest(model: ModelLike, data: DataLike) -> None:
    """Zero what accelerates sleepers, and keep what was measured of them."""
    if not data.extra["sleep:begun"][0]:
        begin(model, data)
        write_lists(model, data)
    elif data.ntree_awake < model.ntree:
        still = data.tree_awake[model.dof_treeid] == 0
        for name in FORCES:
            getattr(data, name)[still] = 0.0
        keep_old(data, "sensordata", sleeping_readings(model, data))
        keep_forces(model, data)
    for name in ("sensordata", *OF_BODIES):
        data.extra[f"sleep:{name}"] = getattr(data, name)


def keep_old(data: DataLike, name: str, chosen: Array) -> None:
    """What a field was after the last evaluation, for some of its entries."""
    field = getattr(data, name)
    field[chosen] = data.extra[f"sleep:{name}"][chosen]


def keep_forces(model: ModelLike, data: DataLike) -> None:
    """Accelerations and forces of sleeping bodies; what carries their trees feels the old ones too."""
    sleeping = data.body_awake == SleepState.ASLEEP
    fresh = data.cfrc_int.copy()
    for name in OF_BODIES:
        keep_old(data, name, sleeping)
    change = np.where(sleeping[:, None], data.cfrc_int - fresh, 0.0)
    for root in np.flatnonzero(sleeping & ~sleeping[model.body_parentid]).tolist():
        body = root
        while body:
            body = int(model.body_parentid[body])
            data.cfrc_int[body] += change[root]


def sleeping_readings(model: ModelLike, data: DataLike) -> Array:
    """Numbers of sensordata (nsensordata,) whose sensor looks at sleepers only."""
    asleep = np.zeros(model.nsensordata, bool)
    for sensor in range(model.nsensor):
        start, count = int(model.sensor_adr[sensor]), int(model.sensor_dim[sensor])
        asleep[start : start + count] = sensor_sleeps(model, data, sensor)
    return asleep


def sensor_sleeps(model: ModelLike, data: DataLike, sensor: int) -> bool:
    """Whether the object of a sensor sleeps, and what it is measured against, if anything, is not awake."""
    own = state_of(model, data, int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor]))
    other = state_of(model, data, int(model.sensor_reftype[sensor]), int(model.sensor_refid[sensor]))
    return own == SleepState.ASLEEP and other != SleepState.AWAKE


def state_of(model: ModelLike, data: DataLike, kind: int, number: int) -> int:
    """Whether an object is awake, asleep or static."""
    if number < 0:
        return int(SleepState.STATIC)
    if kind == ObjType.TENDON:
        trees = model.tendon_treeid[number, : min(2, int(model.tendon_treenum[number]))]
        awake = data.tree_awake[trees]
        return int(SleepState.ASLEEP if len(awake) and not awake.any() else SleepState.AWAKE)
    body = body_of(model, kind, number)
    return int(SleepState.AWAKE) if body is None else int(data.body_awake[body])


def body_of(model: ModelLike, kind: int, number: int) -> int | None:
    """The body that an object belongs to; None if it is of another kind."""
    if kind in (ObjType.BODY, ObjType.XBODY):
        return number
    owners = {
        ObjType.JOINT: model.jnt_bodyid,
        ObjType.GEOM: model.geom_bodyid,
        ObjType.SITE: model.site_bodyid,
        ObjType.CAMERA: model.cam_bodyid,
    }
    return int(owners[ObjType(kind)][number]) if kind in owners else None
