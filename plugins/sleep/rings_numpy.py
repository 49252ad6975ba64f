"""Which trees sleep, and keeping them still.

A tree that has been slower than `sleep_tolerance` (velocity times the dof's length) for ten steps is ready to sleep;
an island sleeps when all its trees are ready, a tree without constraints on its own. Trees that fell asleep together
form a ring: `tree_asleep` of one names the next, so that waking one wakes all. For awake trees it is negative,
counting up from −11 to −1.

It runs between the forces of a step and its integration, where mj_step does the same; `waking_numpy` and
`resting_numpy` have the parts of sleeping that belong to every evaluation. Positions and velocities of sleeping trees
are computed as well, so that trajectories and fields are MuJoCo's, but little time is saved. Not for RK4, whose
evaluations do not tell where a step begins. Compare mj_sleep and mj_updateSleep.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import Integrator, SleepPolicy, SleepState
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import PlanError

STEPS_AWAKE = 10
"""Steps a tree must be slow before it may sleep (mjMINAWAKE, MuJoCo 3.4)."""
FULLY_AWAKE = -(1 + STEPS_AWAKE)
READY = -1


def sleep(model: ModelLike, data: DataLike) -> None:
    """Write tree_asleep and all that follows from it; stop the trees that sleep."""
    if model.opt.integrator == Integrator.RK4:
        raise PlanError(
            "the enable flag sleep does not go with integrator RK4, whose evaluations within a step would each count "
            "as one; use Euler, implicit or implicitfast, or switch the flag off"
        )
    asleep = data.tree_asleep.tolist()
    fall_asleep(model, data, asleep)
    data.tree_asleep[:] = asleep
    write_lists(model, data)
    stop(model, data)


# ---- the first evaluation


def begins_asleep(model: ModelLike) -> Array:
    """Trees whose policy is to sleep from the start."""
    policies: Array = model.tree_sleep_policy == SleepPolicy.INIT
    return policies


def looks_first(model: ModelLike, data: DataLike) -> bool:
    """Whether all trees are to be seen awake once before they are first used: which rest on one another decides who
    sleeps together, and what sensors read then stays."""
    return bool(begins_asleep(model).any()) and not np.all(data.extra["sleep:begun"])


def begin(model: ModelLike, data: DataLike) -> None:
    """At reset, trees whose policy is `init` sleep; if there are any, the others have been still for one step."""
    data.extra["sleep:begun"] = 1.0
    data.extra["sleep:qpos"] = data.qpos if data.time else model.qpos0
    first = begins_asleep(model)
    if data.time or not first.any():  # a run that is resumed, or one that begins awake
        return
    rings = np.where(may_sleep(model), FULLY_AWAKE + 1, FULLY_AWAKE)
    rings[first] = READY
    asleep = rings.tolist()
    make_rings(data, asleep)
    data.tree_asleep[:] = asleep


# ---- falling asleep


def may_sleep(model: ModelLike) -> Array:
    """Trees whose policy does not forbid it."""
    return ~np.isin(model.tree_sleep_policy, (SleepPolicy.NEVER, SleepPolicy.AUTO_NEVER))


def at_rest(model: ModelLike, data: DataLike, tolerance: float) -> Array:
    """Trees that may sleep, are not pushed, and are slower than the tolerance; with tolerance 0, do not move."""
    pushed = np.zeros(model.ntree, bool)
    tree = model.body_treeid
    pushed[tree[(tree >= 0) & data.xfrc_applied.any(axis=1)]] = True
    pushed[model.dof_treeid[data.qfrc_applied != 0.0]] = True
    speed = np.abs(data.qvel) * (model.dof_length if tolerance else 1.0)
    fastest = np.zeros(model.ntree)
    np.maximum.at(fastest, model.dof_treeid, speed)
    slow: Array = fastest < tolerance if tolerance else fastest == 0.0
    return may_sleep(model) & ~pushed & slow


def fall_asleep(model: ModelLike, data: DataLike, asleep: list[int]) -> None:
    """Count slow trees towards sleep, wake fast ones fully, and put islands to sleep whose trees are all ready."""
    if data.nefc and not data.nisland:
        return  # constraints may tie trees together in ways that are not known
    for tree, slow in enumerate(at_rest(model, data, model.opt.sleep_tolerance).tolist()):
        if asleep[tree] < 0:
            asleep[tree] = min(asleep[tree] + 1, READY) if slow else FULLY_AWAKE
    make_rings(data, asleep)


def make_rings(data: DataLike, asleep: list[int]) -> None:
    """Tie the ready trees of each wholly ready island, and each ready tree without island, into rings."""
    island = data.tree_island.tolist()
    groups: dict[int, list[int]] = {}
    for tree, number in enumerate(island):
        groups.setdefault(number if number >= 0 else ~tree, []).append(tree)
    for trees in groups.values():
        if all(asleep[tree] == READY for tree in trees):
            for tree, following in zip(trees, [*trees[1:], trees[0]], strict=True):
                asleep[tree] = following


# ---- what follows


def write_lists(model: ModelLike, data: DataLike) -> None:
    """Masks, counts and index lists of what is awake."""
    awake = data.tree_asleep < 0
    moving = model.body_treeid >= 0
    mocap = model.body_mocapid[model.body_rootid] >= 0
    state = np.where(mocap, SleepState.AWAKE, SleepState.STATIC)
    state[moving] = np.where(awake[model.body_treeid[moving]], SleepState.AWAKE, SleepState.ASLEEP)
    active = state != SleepState.ASLEEP
    below_active = active[model.body_parentid]
    below_active[0] = False
    data.tree_awake[:], data.body_awake[:] = awake, state
    data.ntree_awake = int(awake.sum())
    for name, mask in (
        ("body_awake", active),
        ("parent_awake", below_active),
    ):
        chosen = np.flatnonzero(mask)
        getattr(data, f"{name}_ind")[: len(chosen)] = chosen
        setattr(data, f"n{name}", len(chosen))
    chosen = np.flatnonzero(awake[model.dof_treeid])
    data.dof_awake_ind[: len(chosen)] = chosen
    data.nv_awake = len(chosen)


def stop(model: ModelLike, data: DataLike) -> None:
    """Take velocity, acceleration and forces from sleeping trees, and remember where they are."""
    still = ~data.tree_awake.astype(bool)[model.dof_treeid]
    for name in ("qvel", "qacc", "qfrc_smooth", "qfrc_constraint"):
        getattr(data, name)[still] = 0.0
    data.extra["sleep:qpos"] = data.qpos
