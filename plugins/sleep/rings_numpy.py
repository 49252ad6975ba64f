"""Which trees sleep, and keeping them still.

A tree that has been slower than `sleep_tolerance` (velocity times the dof's length) for ten steps is ready to sleep;
an island sleeps when all its trees are ready, a tree without constraints on its own. Trees that fell asleep together
form a ring: `tree_asleep` of one names the next, so that waking one wakes all. For awake trees it is negative,
counting up from −11 to −1. Sleepers wake when the user moves or pushes them, when an awake tree touches them, or when
a tendon's limit or an equality ties them to one.

It runs between the forces of a step and its integration, where mj_step does the same. The other stages compute
sleeping trees as well; they stay where they are because their velocity, acceleration and forces are then set to zero.
So trajectories are MuJoCo's, but no time is saved, and contacts and constraint rows of sleeping trees, which MuJoCo
leaves out, are still there (so that a tree woken by an equality rests on its contacts in that step, where MuJoCo 3.4
lets it fall). Not for RK4, whose evaluations do not tell where a step begins. Compare mj_wake,
mj_wakeCollision, mj_wakeTendon, mj_wakeEquality, mj_sleep and mj_updateSleep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import EqType, Integrator, ObjType, SleepPolicy, SleepState
from dovetail.errors import PlanError
from dovetail.plugins.spatial import Array

STEPS_AWAKE = 10
"""Steps a tree must be slow before it may sleep (mjMINAWAKE, MuJoCo 3.4)."""
FULLY_AWAKE = -(1 + STEPS_AWAKE)
READY = -1


def sleep(model: Any, data: Any) -> None:
    """Write tree_asleep and all that follows from it; stop the trees that sleep."""
    if model.opt.integrator == Integrator.RK4:
        raise PlanError(
            "the enable flag sleep does not go with integrator RK4, whose evaluations within a step would each count "
            "as one; use Euler, implicit or implicitfast, or switch the flag off"
        )
    if not data.extra["sleep:begun"][0]:
        begin(model, data)
    asleep = data.tree_asleep.tolist()
    wake_disturbed(model, data, asleep)
    wake_touched(model, data, asleep)
    wake_tied_by_tendons(model, data, asleep)
    wake_tied_by_equalities(model, data, asleep)
    fall_asleep(model, data, asleep)
    data.tree_asleep[:] = asleep
    write_lists(model, data)
    stop(model, data)


# ---- the first step


def begin(model: Any, data: Any) -> None:
    """At reset, trees whose policy is `init` sleep; if there are any, the others have been still for one step."""
    data.extra["sleep:begun"] = 1.0
    data.extra["sleep:qpos"] = data.qpos if data.time else model.qpos0
    first = model.tree_sleep_policy == SleepPolicy.INIT
    if data.time or not first.any():  # a run that is resumed, or one that begins awake
        return
    rings = np.where(may_sleep(model), FULLY_AWAKE + 1, FULLY_AWAKE)
    rings[first] = READY
    asleep = rings.tolist()
    make_rings(data, asleep)
    data.tree_asleep[:] = asleep


# ---- waking


def wake(asleep: list[int], tree: int, value: int) -> None:
    """Set a sleeping tree and its ring to `value`; of an awake one, take the smaller."""
    if asleep[tree] < 0:
        asleep[tree] = min(value, asleep[tree])
        return
    while asleep[tree] >= 0:
        asleep[tree], tree = value, asleep[tree]


def wake_pair(asleep: list[int], before: list[int], first: int, second: int) -> None:
    """Two trees that touch or are tied: if one of them slept before, it becomes as awake as the other."""
    if before[first] >= 0 > before[second]:
        wake(asleep, first, asleep[second])
    elif before[second] >= 0 > before[first]:
        wake(asleep, second, asleep[first])


def wake_disturbed(model: Any, data: Any, asleep: list[int]) -> None:
    """Sleepers that the user moved, set in motion or pushes."""
    moved = data.qpos != data.extra["sleep:qpos"]
    root = model.body_treeid[model.jnt_bodyid]
    joint = np.searchsorted(model.jnt_qposadr, np.arange(model.nq), side="right") - 1
    disturbed = ~at_rest(model, data, 0.0)
    disturbed[root[joint[moved]]] = True
    for tree in np.flatnonzero(disturbed).tolist():
        if asleep[tree] >= 0:
            wake(asleep, tree, FULLY_AWAKE)


def wake_touched(model: Any, data: Any, asleep: list[int]) -> None:
    """Sleepers in contact with an awake tree."""
    before = list(asleep)
    trees = np.stack([model.body_treeid[contact_bodies(model, data, side)] for side in (0, 1)], axis=1)
    for first, second in trees[(trees >= 0).all(axis=1)].tolist():
        wake_pair(asleep, before, first, second)


def contact_bodies(model: Any, data: Any, side: int) -> Array:
    """The body on one side of each contact; of a flex, the one that carries the first vertex concerned."""
    geom = data.contact.geom[: data.ncon, side]
    body = np.where(geom >= 0, model.geom_bodyid[geom] if model.ngeom else 0, 0)
    for contact in np.flatnonzero(geom < 0).tolist():
        flex = int(data.contact.flex[contact, side])
        vertex = int(data.contact.vert[contact, side])
        if vertex < 0:
            size = int(model.flex_dim[flex]) + 1
            element = int(data.contact.elem[contact, side])
            vertex = int(model.flex_elem[model.flex_elemdataadr[flex] + element * size])
        body[contact] = model.flex_vertbodyid[model.flex_vertadr[flex] + vertex]
    return body


def wake_tied_by_tendons(model: Any, data: Any, asleep: list[int]) -> None:
    """Sleepers that a tendon at its limit ties to an awake tree."""
    before = list(asleep)
    lower, upper = model.tendon_range.T
    length, margin = data.ten_length, model.tendon_margin
    at_limit = (length - lower < margin) | (upper - length < margin)
    taut = model.tendon_limited.astype(bool) & at_limit & (model.tendon_treenum == 2)
    for first, second in model.tendon_treeid[taut].tolist():
        wake_pair(asleep, before, first, second)


def wake_tied_by_equalities(model: Any, data: Any, asleep: list[int]) -> None:
    """Sleepers that an equality ties to an awake tree, or to one that sleeps in another ring."""
    before = list(asleep)
    for equality in np.flatnonzero(data.eq_active).tolist():
        first, second = equality_trees(model, equality)
        if first < 0 or second < 0 or first == second:
            continue
        if before[first] >= 0 and before[second] >= 0 and second in ring(before, first):
            continue
        for tree in (first, second):
            if before[tree] >= 0:
                wake(asleep, tree, FULLY_AWAKE)


def equality_trees(model: Any, equality: int) -> tuple[int, int]:
    """The trees of the two bodies or joints of an equality; -1 for none."""
    kind = model.eq_type[equality]
    objects = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    if kind == EqType.JOINT:
        bodies = [model.jnt_bodyid[obj] if obj >= 0 else 0 for obj in objects]
    elif kind in (EqType.CONNECT, EqType.WELD):
        of_site = model.eq_objtype[equality] == ObjType.SITE
        bodies = [model.site_bodyid[obj] if of_site else obj for obj in objects]
    else:
        bodies = [0, 0]
    first, second = model.body_treeid[bodies].tolist()
    return first, second


def ring(asleep: list[int], tree: int) -> list[int]:
    """The trees that sleep together with one."""
    members = [tree]
    while asleep[members[-1]] != tree:
        members.append(asleep[members[-1]])
    return members


# ---- falling asleep


def may_sleep(model: Any) -> Array:
    """Trees whose policy does not forbid it."""
    return ~np.isin(model.tree_sleep_policy, (SleepPolicy.NEVER, SleepPolicy.AUTO_NEVER))


def at_rest(model: Any, data: Any, tolerance: float) -> Array:
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


def fall_asleep(model: Any, data: Any, asleep: list[int]) -> None:
    """Count slow trees towards sleep, wake fast ones fully, and put islands to sleep whose trees are all ready."""
    if data.nefc and not data.nisland:
        return  # constraints may tie trees together in ways that are not known
    for tree, slow in enumerate(at_rest(model, data, model.opt.sleep_tolerance).tolist()):
        if asleep[tree] < 0:
            asleep[tree] = min(asleep[tree] + 1, READY) if slow else FULLY_AWAKE
    make_rings(data, asleep)


def make_rings(data: Any, asleep: list[int]) -> None:
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


def write_lists(model: Any, data: Any) -> None:
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


def stop(model: Any, data: Any) -> None:
    """Take velocity, acceleration and forces from sleeping trees, and remember where they are."""
    still = ~data.tree_awake.astype(bool)[model.dof_treeid]
    for name in ("qvel", "qacc", "qfrc_smooth", "qfrc_constraint"):
        getattr(data, name)[still] = 0.0
    data.extra["sleep:qpos"] = data.qpos
