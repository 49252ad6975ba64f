"""Structure derived from the kinematic tree: dof parents, trees, and the sparsity of M, D and B.

Indices only, no numbers. M is the lower triangle of the mass matrix by rows, in which a simple dof (its body
is a lone body with axis-aligned joints at its centre of mass) has only its diagonal; D is the full symmetric
pattern; B lists for each body the dofs that move it or that it carries. See `mj_makeDofDofSparse`,
`mj_makeBSparse` and `mj_makeDofDofMaps`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.enums import JointType, SameFrame, SleepPolicy
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.same_frames import _same, body_sameframe
from dovetail.plugins.shared.constants import EPS

Ints = NDArray[np.int32]


def body_simple(bodies: list[BodyItem]) -> Ints:
    """2: only axis-aligned sliders, 1: diagonal mass matrix, 0: neither."""
    simple = np.zeros(len(bodies), np.int32)
    for body in bodies:
        parent = bodies[body.parentid]
        near_world = body.parentid == 0 or (parent.parentid == 0 and not parent.joints)
        alone = body_sameframe(body) == SameFrame.BODY and near_world
        if alone and (body.id == 0 or not body.has_children) and _joints_simple(body):
            sliders = body.joints and all(joint.type == JointType.SLIDE for joint in body.joints)
            simple[body.id] = 2 if sliders else 1
    return simple


def _joints_simple(body: BodyItem) -> bool:
    """Joints at the centre of mass, along the axes, and nothing after a rotation."""
    rotated = False
    for joint in body.joints:
        aligned = sum(abs(x) > EPS for x in joint.axis) == 1
        single = joint.type in (JointType.HINGE, JointType.SLIDE)
        if rotated or not _same(joint.pos, (0.0, 0.0, 0.0)) or (single and not aligned):
            return False
        rotated = joint.type in (JointType.BALL, JointType.HINGE)
    return True


def dof_parents(bodies: list[BodyItem]) -> list[int]:
    """The dof before each dof on the way to the world, −1 for the first."""
    parents: list[int] = []
    last = [-1] * len(bodies)
    for body in bodies:
        previous = last[body.parentid] if body.parent else -1
        for _ in range(body.dofnum):
            parents.append(previous)
            previous = len(parents) - 1
        last[body.id] = previous
    return parents


def tree_fields(
    bodies: list[BodyItem], dof_parentid: list[int], dof_bodyid: list[int], actuated: set[int], tied: set[int]
) -> dict[str, Any]:
    """Kinematic trees: which dofs and bodies belong to which; `actuated` are the bodies actuators act on.

    `tied` are bodies on tendons that keep awake whatever they connect.
    """
    dof_treeid = np.cumsum(np.array(dof_parentid, np.int32) == -1, dtype=np.int32) - 1
    first_dof: dict[int, int] = {}
    for dof, body in enumerate(dof_bodyid):
        first_dof.setdefault(body, dof)
    body_treeid = [int(dof_treeid[first_dof[b.weldid]]) if b.weldid in first_dof else -1 for b in bodies]
    ntree = int(dof_treeid[-1]) + 1 if len(dof_treeid) else 0
    first_body = [dof_bodyid[dof] for dof in range(len(dof_parentid)) if dof_parentid[dof] == -1]
    return {
        "dof_treeid": dof_treeid.astype(np.int32),
        "body_treeid": np.array(body_treeid, np.int32),
        "tree_bodyadr": np.array(first_body, np.int32),
        "tree_bodynum": np.bincount([t for t in body_treeid if t >= 0], minlength=ntree).astype(np.int32),
        "tree_dofadr": np.searchsorted(dof_treeid, np.arange(ntree)).astype(np.int32),
        "tree_dofnum": np.bincount(dof_treeid, minlength=ntree).astype(np.int32),
        "tree_sleep_policy": np.array(_sleep_policies(bodies, body_treeid, ntree, actuated, tied), np.int32),
    }


def _sleep_policies(
    bodies: list[BodyItem], body_treeid: list[int], ntree: int, actuated: set[int], tied: set[int]
) -> list[int]:
    """Whether each tree may sleep: as its root body says, otherwise only if nothing acts on it."""
    busy, coupled = ({body_treeid[body] for body in group} for group in (actuated | tied, tied))
    policies = [int(SleepPolicy.AUTO_NEVER if t in busy else SleepPolicy.AUTO_ALLOWED) for t in range(ntree)]
    for body in bodies[1:]:
        tree = body_treeid[body.id]
        if body.sleep == SleepPolicy.AUTO:
            continue
        if tree == -1 or tree == body_treeid[body.id - 1]:
            raise body.place.error("a sleep policy is only possible for a moving root body", "sleep")
        if tree in coupled and body.sleep != SleepPolicy.NEVER:
            raise body.place.error(
                "a tendon couples this tree by a spring or damper, or with several others: it cannot sleep; "
                'write sleep="never" or nothing',
                "sleep",
            )
        policies[tree] = body.sleep
    return policies


def simple_runs(dof_simple: list[bool]) -> Ints:
    """For each dof, how many simple dofs follow from it on, itself included."""
    run, runs = 0, []
    for simple in reversed(dof_simple):
        run = run + 1 if simple else 0
        runs.append(run)
    return np.array(runs[::-1], np.int32)


def _rows(rows: list[list[int]], prefix: str) -> dict[str, Ints]:
    """Compressed rows: counts, addresses, columns."""
    counts = [len(row) for row in rows]
    addresses = np.cumsum(counts) - np.array(counts, np.int32)
    return {
        f"{prefix}_rownnz": np.array(counts, np.int32),
        f"{prefix}_rowadr": np.array(addresses, np.int32),
        f"{prefix}_colind": np.array([column for row in rows for column in row], np.int32),
    }


def sparsity(bodies: list[BodyItem], parents: list[int], simplenum: Ints) -> dict[str, Any]:
    """Patterns of M, D and B, and the maps between them and the legacy qM."""
    ancestors = _ancestors(parents)
    nv = len(parents)
    m_rows = [[dof] if simplenum[dof] else ancestors[dof] for dof in range(nv)]
    descendants: list[list[int]] = [[] for _ in range(nv)]
    for dof, chain in enumerate(ancestors):
        for above in chain[:-1]:
            descendants[above].append(dof)
    d_rows = [ancestors[dof] + descendants[dof] for dof in range(nv)]
    madr = np.concatenate([[0], np.cumsum([len(chain) for chain in ancestors])]).astype(np.int32)
    fields: dict[str, Any] = {
        "dof_Madr": madr[:-1],
        **_rows(m_rows, "M"),
        **_rows(d_rows, "D"),
        "D_diag": np.array([len(chain) - 1 for chain in ancestors], np.int32),
        **_rows(_body_dofs(bodies, ancestors, nv), "B"),
    }
    fields.update(_maps(m_rows, d_rows, ancestors, madr))
    return fields


def _ancestors(parents: list[int]) -> list[list[int]]:
    """For each dof, its ancestors and itself, ascending."""
    chains: list[list[int]] = []
    for dof, parent in enumerate(parents):
        chains.append([*chains[parent], dof] if parent >= 0 else [dof])
    return chains


def _body_dofs(bodies: list[BodyItem], ancestors: list[list[int]], nv: int) -> list[list[int]]:
    """For each body, the dofs above it, its own, and those below it, ascending."""
    last = [-1] * len(bodies)
    below: list[list[int]] = [[] for _ in bodies]
    dof = 0
    for body in bodies:
        last[body.id] = last[body.parentid] if body.parent else -1
        own = list(range(dof, dof + body.dofnum))
        dof += body.dofnum
        if own:
            last[body.id] = own[-1]
        above: BodyItem | None = body.parent
        while above is not None and own:
            below[above.id].extend(own)
            above = above.parent
    return [(ancestors[last[body.id]] if last[body.id] >= 0 else []) + below[body.id] for body in bodies]


def _maps(
    m_rows: list[list[int]], d_rows: list[list[int]], ancestors: list[list[int]], madr: Ints
) -> dict[str, Ints]:
    position: dict[tuple[int, int], int] = {}
    for dof, row in enumerate(m_rows):
        for column in row:
            position[dof, column] = len(position)
    m_to_d = [position.get((max(i, j), min(i, j)), -1) for i, row in enumerate(d_rows) for j in row]
    d_start = np.concatenate([[0], np.cumsum([len(row) for row in d_rows])])
    d_to_m = [int(d_start[i]) + d_rows[i].index(j) for i, row in enumerate(m_rows) for j in row]
    q_to_m = [
        int(madr[i]) + len(ancestors[i]) - 1 - ancestors[i].index(j)
        for i, row in enumerate(m_rows)
        for j in row
    ]
    return {
        "mapM2M": np.array(q_to_m, np.int32),
        "mapM2D": np.array(m_to_d, np.int32),
        "mapD2M": np.array(d_to_m, np.int32),
    }
