"""Which sleeping trees something wakes, and what is left out because it concerns only trees that sleep on.

Sleepers wake when the user moves or pushes them, when a tendon's limit or an equality ties them to an awake tree, or
when one touches them. What is left are contacts and constraint rows that no awake tree feels, as MuJoCo, which passes
sleeping trees over, does not make them: neither does a tree that only an equality wakes get contacts in that
evaluation, nor does a mocap body touch one that sleeps. Tendons of sleeping trees have no length and no path of their
own. Compare mj_wake, mj_wakeTendon, mj_wakeCollision, mj_wakeEquality.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ConstraintType, EqType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import Row, is_sparse, jacobian_row, write_sparse
from dovetail.plugins.shared.rows.append_numpy import COUNTS, ENTRY_FIELDS, ROW_FIELDS, finish_structure
from dovetail.plugins.sleep.rings_numpy import FULLY_AWAKE, at_rest, write_lists

CONTACT_FIELDS = (
    *("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction", "solimp", "mu", "dim"),
    *("geom1", "geom2", "geom", "flex", "elem", "vert", "exclude", "efc_address"),
)


def wake(model: ModelLike, data: DataLike) -> None:
    """Write who is awake, and leave out what concerns only sleepers."""
    if not data.extra["sleep:begun"][0]:
        return  # an evaluation with all trees awake comes first
    asleep = data.tree_asleep.tolist()
    wake_disturbed(model, data, asleep)
    wake_tied_by_tendons(model, data, asleep)
    wake_touched(model, data, asleep)
    touching = touches_awake(model, data, asleep)
    wake_tied_by_equalities(model, data, asleep)
    data.tree_asleep[:] = asleep
    write_lists(model, data)
    if data.ntree_awake < model.ntree:
        leave_out_rows(data, awake_rows(model, data, touching))
        leave_out_contacts(data, touching)
        leave_out_tendons(model, data)


# ---- waking


def rouse(asleep: list[int], tree: int, value: int) -> None:
    """Set a sleeping tree and its ring to `value`; of an awake one, take the smaller."""
    if asleep[tree] < 0:
        asleep[tree] = min(value, asleep[tree])
        return
    while asleep[tree] >= 0:
        asleep[tree], tree = value, asleep[tree]


def wake_pair(asleep: list[int], before: list[int], first: int, second: int) -> None:
    """Two trees that touch or are tied: if one of them slept before, it becomes as awake as the other."""
    if before[first] >= 0 > before[second]:
        rouse(asleep, first, asleep[second])
    elif before[second] >= 0 > before[first]:
        rouse(asleep, second, asleep[first])


def wake_disturbed(model: ModelLike, data: DataLike, asleep: list[int]) -> None:
    """Sleepers that the user moved, set in motion or pushes."""
    moved = data.qpos != data.extra["sleep:qpos"]
    root = model.body_treeid[model.jnt_bodyid]
    joint = np.searchsorted(model.jnt_qposadr, np.arange(model.nq), side="right") - 1
    disturbed = ~at_rest(model, data, 0.0)
    disturbed[root[joint[moved]]] = True
    for tree in np.flatnonzero(disturbed).tolist():
        if asleep[tree] >= 0:
            rouse(asleep, tree, FULLY_AWAKE)


def wake_touched(model: ModelLike, data: DataLike, asleep: list[int]) -> None:
    """Sleepers in contact with an awake tree."""
    before = list(asleep)
    trees = np.stack([model.body_treeid[contact_bodies(model, data, side)] for side in (0, 1)], axis=1)
    for first, second in trees[(trees >= 0).all(axis=1)].tolist():
        wake_pair(asleep, before, first, second)


def contact_bodies(model: ModelLike, data: DataLike, side: int) -> Array:
    """The body on one side of each contact; of a flex, the one that carries the first vertex concerned or, where
    vertices follow nodes, the first node that can move."""
    geom = data.contact.geom[: data.ncon, side]
    body = np.where(geom >= 0, model.geom_bodyid[geom] if model.ngeom else 0, 0)
    for contact in np.flatnonzero(geom < 0).tolist():
        body[contact] = flex_body(model, data, contact, side)
    return body


def flex_body(model: ModelLike, data: DataLike, contact: int, side: int) -> int:
    """A body that carries a flex where one side of a contact is."""
    flex = int(data.contact.flex[contact, side])
    if model.flex_interp[flex]:
        nodes = slice(int(model.flex_nodeadr[flex]), int(model.flex_nodeadr[flex] + model.flex_nodenum[flex]))
        bodies = model.flex_nodebodyid[nodes]
        return int(bodies[np.argmax(model.body_treeid[bodies] >= 0)])
    vertex = int(data.contact.vert[contact, side])
    if vertex < 0:
        size = int(model.flex_dim[flex]) + 1
        element = int(data.contact.elem[contact, side])
        vertex = int(model.flex_elem[model.flex_elemdataadr[flex] + element * size])
    return int(model.flex_vertbodyid[model.flex_vertadr[flex] + vertex])


def wake_tied_by_tendons(model: ModelLike, data: DataLike, asleep: list[int]) -> None:
    """Sleepers that a tendon at its limit ties to an awake tree."""
    before = list(asleep)
    lower, upper = model.tendon_range.T
    length, margin = data.ten_length, model.tendon_margin
    at_limit = (length - lower < margin) | (upper - length < margin)
    taut = model.tendon_limited.astype(bool) & at_limit & (model.tendon_treenum == 2)
    for first, second in model.tendon_treeid[taut].tolist():
        wake_pair(asleep, before, first, second)


def wake_tied_by_equalities(model: ModelLike, data: DataLike, asleep: list[int]) -> None:
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
                rouse(asleep, tree, FULLY_AWAKE)


def equality_trees(model: ModelLike, equality: int) -> tuple[int, int]:
    """The trees of the two bodies or joints of an equality; -1 for none."""
    first, second = model.body_treeid[equality_bodies(model, equality)].tolist()
    return first, second


def equality_bodies(model: ModelLike, equality: int) -> list[int]:
    """The two bodies that an equality holds, directly or by joints; the world for others."""
    kind = model.eq_type[equality]
    objects = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    if kind == EqType.JOINT:
        return [int(model.jnt_bodyid[obj]) if obj >= 0 else 0 for obj in objects]
    if kind in (EqType.CONNECT, EqType.WELD):
        of_site = model.eq_objtype[equality] == ObjType.SITE
        return [int(model.site_bodyid[obj]) if of_site else obj for obj in objects]
    return [0, 0]


def ring(asleep: list[int], tree: int) -> list[int]:
    """The trees that sleep together with one."""
    members = [tree]
    while asleep[members[-1]] != tree:
        members.append(asleep[members[-1]])
    return members


# ---- leaving out


def touches_awake(model: ModelLike, data: DataLike, asleep: list[int]) -> Array:
    """Contacts (ncon,) with an awake tree on one side."""
    awake = np.array([*(value < 0 for value in asleep), False])  # the last one: no tree
    trees = np.stack([model.body_treeid[contact_bodies(model, data, side)] for side in (0, 1)], axis=1)
    chosen: Array = awake[trees].any(axis=1)
    return chosen


def leave_out_contacts(data: DataLike, kept: Array) -> None:
    """Only some contacts stay, in their order."""
    data.ncon = int(kept.sum())
    of_contact = data.efc_type[: data.nefc] > ConstraintType.LIMIT_TENDON
    ids = data.efc_id[: data.nefc]
    ids[of_contact] = (np.cumsum(kept) - 1)[ids[of_contact]]
    for field in (data.contact_candidate, *(getattr(data.contact, name) for name in CONTACT_FIELDS)):
        field[: data.ncon] = field[: len(kept)][kept]


def awake_rows(model: ModelLike, data: DataLike, touching: Array) -> Array:
    """Rows (nefc,) that stay: of contacts with an awake tree, of other constraints that move one, and of equalities
    that hold a sleeper to a mocap body, which counts as awake."""
    count = int(data.nefc)
    kind, ids = data.efc_type[:count], data.efc_id[:count]
    moved = data.tree_awake[model.dof_treeid[data.efc_J_colind[: data.nJ]]]
    kept = np.zeros(count, bool)
    kept[np.repeat(np.arange(count), data.efc_J_rownnz[:count])[moved != 0]] = True
    of_contact = kind > ConstraintType.LIMIT_TENDON
    kept[of_contact] = touching[ids[of_contact]]
    equality = (kind == ConstraintType.EQUALITY) & (ids >= 0)
    kept[equality] |= np.array([held_by_mocap(model, number) for number in ids[equality].tolist()], bool)
    return kept


def held_by_mocap(model: ModelLike, equality: int) -> bool:
    """Whether a body of a connect or weld constraint belongs to a mocap body."""
    return bool((model.body_mocapid[model.body_rootid[equality_bodies(model, equality)]] >= 0).any())


def leave_out_rows(data: DataLike, kept: Array) -> None:
    """Only some constraint rows stay, in their order."""
    if kept.all():
        return
    entries = np.repeat(kept, data.efc_J_rownnz[: len(kept)])
    ends = np.cumsum([0, *(int(getattr(data, name)) for name in COUNTS)]).tolist()
    for name, first, last in zip(COUNTS, ends, ends[1:], strict=False):
        setattr(data, name, int(kept[first:last].sum()))
    for names, chosen in ((ROW_FIELDS, kept), (ENTRY_FIELDS, entries)):
        for name in names:
            field = getattr(data, name)
            field[: chosen.sum()] = field[: len(chosen)][chosen]
    for address in (data.contact.efc_address[: data.ncon], data.tendon_efcadr):
        renumber(address, kept)
    data.nefc, data.nJ = int(kept.sum()), int(entries.sum())
    finish_structure(data)


def renumber(address: Array, kept: Array) -> None:
    """Row numbers as they are when only some rows stay; -1 for others."""
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    there = (address >= 0) & (address < len(kept))
    address[there] = place[address[there]]


def leave_out_tendons(model: ModelLike, data: DataLike) -> None:
    """Tendons of sleeping trees have length and Jacobian zero; the paths of the others close ranks."""
    trees = np.where(np.arange(2) < model.tendon_treenum[:, None], model.tendon_treeid, -1)
    awake = np.append(data.tree_awake, 0)[trees].any(axis=1)
    asleep = (trees[:, 0] >= 0) & ~awake
    if not asleep.any():
        return
    data.ten_length[asleep] = 0.0
    if is_sparse(model):
        rows: list[Row] = [_row(model, data, tendon, bool(asleep[tendon])) for tendon in range(model.ntendon)]
        write_sparse(model, data, rows)
    else:
        data.ten_J[asleep] = 0.0
    close_paths(data, asleep)


def _row(model: ModelLike, data: DataLike, tendon: int, asleep: bool) -> Row:
    dofs, entries = jacobian_row(model, data, tendon)
    return {} if asleep else dict(zip(dofs.tolist(), entries.tolist(), strict=True))


def close_paths(data: DataLike, asleep: Array) -> None:
    """The paths of awake tendons follow one another; addresses of the others stay as they were, as in MuJoCo."""
    obj, point = data.wrap_obj.reshape(-1), data.wrap_xpos.reshape(-1, 3)
    next_place = 0
    for tendon in np.flatnonzero(~asleep).tolist():
        first, count = int(data.ten_wrapadr[tendon]), int(data.ten_wrapnum[tendon])
        obj[next_place : next_place + count] = obj[first : first + count].copy()
        point[next_place : next_place + count] = point[first : first + count].copy()
        data.ten_wrapadr[tendon] = next_place
        next_place += count
