"""What MuJoCo tries when it has compiled a model: whether it can begin asleep as it says, and make a first step.

Trees with `sleep="init"` must be able to sleep: an island sleeps if all its trees do, and if islands are switched off
only trees of a model without any constraint rows. A first step without contacts must find room for the graph of
trees that constraints tie together: it has as many places as the Jacobian has numbers; a tie between two trees takes
two, a constraint on a single tree one, and the same again none. Both are rare, so that the model is only evaluated
if it can fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit, SleepPolicy, WrapType
from dovetail.mjcf.model.context import Context

_MANY_TREES = 3
"""A tendon that couples fewer trees always has room in the graph."""


def check_first_step(model: Any, context: Context) -> None:
    """Refuse a model that MuJoCo could not begin with."""
    if model.opt.enableflags & EnableBit.SLEEP and (model.tree_sleep_policy == SleepPolicy.INIT).any():
        _check_sleepers(model, context)
    wide = _wide_tendons(model)
    if wide and not model.opt.disableflags & DisableBit.ISLAND:
        _check_graph(model, context, wide[0])


def _check_sleepers(model: Any, context: Context) -> None:
    sleepers = model.tree_sleep_policy == SleepPolicy.INIT
    with _flags(model, enable=~int(EnableBit.SLEEP)):
        data = _evaluated(model)
    awake = _kept_awake(data, sleepers) if data.nefc else np.zeros(model.ntree, bool)
    if awake.any():
        body = context.bodies[int(model.tree_bodyadr[np.flatnonzero(awake)[0]])]
        raise body.place.error(
            "cannot sleep from the start: at qpos0 it touches or is tied to something that is awake"
            + ("" if data.nisland else ", and islands are disabled")
            + '; give what it is tied to sleep="init" too, or move them apart',
            "sleep",
        )


def _kept_awake(data: Any, sleepers: Any) -> Any:
    """Trees that should sleep but are tied to one that is awake, or to nobody knows which."""
    if not data.nisland:
        return sleepers
    island = data.tree_island
    disturbed = set(island[~sleepers & (island >= 0)].tolist())
    return sleepers & np.isin(island, list(disturbed))


def _wide_tendons(model: Any) -> list[int]:
    """Tendons over three or more trees."""
    return [tendon for tendon in range(model.ntendon) if len(_trees(model, tendon)) >= _MANY_TREES]


def _trees(model: Any, tendon: int) -> set[int]:
    start = int(model.tendon_adr[tendon])
    trees = set()
    for wrap in range(start, start + int(model.tendon_num[tendon])):
        body = _body_of(model, int(model.wrap_type[wrap]), int(model.wrap_objid[wrap]))
        trees.add(int(model.body_treeid[body]))
    return trees - {-1}


def _body_of(model: Any, kind: int, number: int) -> int:
    owners = {WrapType.JOINT: "jnt_bodyid", WrapType.SITE: "site_bodyid"}
    owners |= dict.fromkeys((WrapType.SPHERE, WrapType.CYLINDER), "geom_bodyid")
    field = owners.get(WrapType(kind))
    return int(getattr(model, field)[number]) if field else 0


def _check_graph(model: Any, context: Context, tendon: int) -> None:
    # two stages of running, looked at for the few models of which the first step of MuJoCo may fail
    from dovetail.plugins.islands.components_numpy import touched_trees
    from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse

    with _flags(model, enable=~int(EnableBit.SLEEP), disable=int(DisableBit.CONTACT)):
        data = _evaluated(model)
        row, tree = touched_trees(model, data) if data.nefc else (np.zeros(0, int), np.zeros(0, int))
        sparse = is_sparse(model)
    room = int(data.efc_J_rownnz[: data.nefc].sum()) if sparse else data.nefc * model.nv
    edges = [edge for trees in _constraints(data, row, tree) for edge in _edges(sorted(trees))]
    needed = sum(len(set(edge)) for edge, _ in groupby(edges))
    if needed > room:
        raise context.objects["tendon"][tendon].place.error(
            f"MuJoCo 3.4.0 has no room for this tendon in its graph of trees that are tied together ({needed} places "
            f'of {room}); let it span fewer than {_MANY_TREES} trees, or set <flag island="disable"/>'
        )


def _constraints(data: Any, row: Any, tree: Any) -> Iterator[set[int]]:
    """The trees of each constraint; only the first of its rows counts."""
    kind, owner = data.efc_type[: data.nefc], data.efc_id[: data.nefc]
    for number in range(data.nefc):
        again = number and (kind[number], owner[number]) == (kind[number - 1], owner[number - 1])
        if not again:
            yield set(tree[row == number].tolist())


def _edges(trees: list[int]) -> list[tuple[int, int]]:
    """A chain through the trees of a constraint, or from its only tree to itself."""
    return list(pairwise(trees)) or [(tree, tree) for tree in trees]


def _evaluated(model: Any) -> Any:
    """The model at qpos0, by the reference stages."""
    from dovetail.config import Config
    from dovetail.planning.planner import compile_plan

    plan = compile_plan(model, Config.of_call(backend="numpy", keep="all"), missing="skip")
    data = plan.make_data()
    plan.forward(data)
    return data


@contextmanager
def _flags(model: Any, enable: int, disable: int = 0) -> Iterator[None]:
    """Change the model's flags for a while."""
    before = int(model.opt.enableflags), int(model.opt.disableflags)
    model.opt.enableflags, model.opt.disableflags = before[0] & enable, before[1] | disable
    try:
        yield
    finally:
        model.opt.enableflags, model.opt.disableflags = before
