"""Islands, and every array sorted by island, are mj_island's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

mujoco = pytest.importorskip("mujoco")

from constraint_zoo import shaken, zoo  # noqa: E402
from solver_reference import copied, solved  # noqa: E402

import dovetail  # noqa: E402
from dovetail.contracts.types import Data  # noqa: E402
from dovetail.plugins.islands.components_numpy import components, islands  # noqa: E402

PER_ISLAND = (
    *("island_ntree", "island_itreeadr", "island_nv", "island_idofadr", "island_dofadr", "island_ne"),
    *("island_nf", "island_nefc", "island_iefcadr"),
)
PER_DOF = ("dof_island", "map_dof2idof", "map_idof2dof")
PER_TREE = ("tree_island", "map_itree2tree")
PER_ROW = (
    *("efc_island", "map_efc2iefc", "map_iefc2efc", "iefc_type", "iefc_id", "iefc_frictionloss", "iefc_D"),
    "iefc_R",
)


def assert_same(data: Data, expected: Any, names: tuple[str, ...], count: int) -> None:
    for name in names:
        np.testing.assert_array_equal(
            getattr(data, name)[:count], getattr(expected, name)[:count], err_msg=name
        )


def found(mj_model: Any, expected: Any) -> Data:
    model, data = copied(mj_model, expected)
    islands(model, data)
    return data


def check_islands(mj_model: Any, expected: Any) -> Data:
    """Compare everything; the sorted Jacobian only where MuJoCo's is sparse."""
    data = found(mj_model, expected)
    assert (data.nisland, data.nidof) == (expected.nisland, expected.nidof)
    assert_same(data, expected, PER_ISLAND, expected.nisland)
    assert_same(data, expected, PER_DOF, mj_model.nv)
    assert_same(data, expected, PER_TREE, mj_model.ntree)
    assert_same(data, expected, PER_ROW, expected.nefc)
    assert_same(data, expected, ("iM_rownnz", "iM_rowadr", "iLDiagInv"), expected.nidof)
    entries = int(expected.iM_rownnz[: expected.nidof].sum())
    assert_same(data, expected, ("iM_colind", "iM", "iLD"), entries)
    if mujoco.mj_isSparse(mj_model):
        assert_same(data, expected, ("iefc_J_rownnz", "iefc_J_rowadr", "iefc_J_rowsuper"), expected.nefc)
        assert_same(data, expected, ("iefc_J_colind", "iefc_J"), expected.nJ)
    return data


@pytest.mark.parametrize("jacobian", ["dense", "sparse", "auto"])
@pytest.mark.parametrize("ratio", [0.0, 0.5])
def test_every_kind_of_constraint(ratio: float, jacobian: str) -> None:
    """A row that has entries for a tree ties it only if MuJoCo looks at structure (sparse), not at numbers."""
    mj_model = zoo(f'jacobian="{jacobian}"', ratio=ratio)
    for expected in shaken(mj_model):
        check_islands(mj_model, expected)


def stacks(count: int, high: int, jacobian: str) -> Any:
    """Stacks of boxes, declared level by level so that trees of an island are not neighbours."""
    bodies = "".join(
        f'<body pos="{0.35 * i} 0 {0.099 + 0.199 * level}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        for level in range(high)
        for i in range(count)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option jacobian="{jacobian}"/><worldbody><geom type="plane" size="9 9 .1"/>{bodies}'
        '<body pos="0 3 3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_stacks_are_an_island_each(jacobian: str) -> None:
    mj_model = stacks(count=4, high=3, jacobian=jacobian)
    expected = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, expected)
    data = check_islands(mj_model, expected)
    assert data.nisland == 4
    assert data.tree_island[-1] == -1


def test_islands_of_flexes_are_mujocos() -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
    <body pos="0 0 .5"><freejoint/><geom size=".1"/></body>
    <flexcomp type="grid" count="3 3 3" spacing=".1 .1 .1" name="f" dim="3" radius=".02" pos="1 0 .11" mass="1">
    <edge equality="true"/></flexcomp>
    <body pos="-1 0 .05"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    expected = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, expected)
    model, data = copied(mj_model, expected, dovetail.loads(xml))
    islands(model, data)
    assert data.nisland == expected.nisland == 2
    np.testing.assert_array_equal(data.tree_island, expected.tree_island)


def test_answers_sorted_by_island_are_mujocos() -> None:
    """iacc, iefc_force and the rest are the answer, sorted."""
    mj_model = zoo('cone="elliptic"')
    for expected in shaken(mj_model):
        data = solved(mj_model, expected, "newton")
        for name in ("ifrc_smooth", "iacc_smooth", "iacc", "ifrc_constraint"):
            np.testing.assert_allclose(
                getattr(data, name)[: data.nidof], getattr(expected, name)[: data.nidof], rtol=1e-9, atol=1e-9
            )
        for name in ("iefc_aref", "iefc_force", "iefc_state"):
            np.testing.assert_allclose(
                getattr(data, name)[: data.nefc], getattr(expected, name)[: data.nefc], rtol=1e-9, atol=1e-9
            )
        # MuJoCo 3.4 leaves efc_state at the last guess it warm-started from; ours is that of the answer.
        order = data.map_iefc2efc[: data.nefc]
        np.testing.assert_array_equal(data.efc_state[order], data.iefc_state[: data.nefc])


def test_none_when_disabled_or_without_constraints() -> None:
    mj_model = zoo()
    mj_model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    expected = next(shaken(mj_model))
    data = found(mj_model, expected)
    assert data.nisland == expected.nisland == 0
    assert (data.tree_island == -1).all()
    mj_model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(mj_model, expected)
    assert found(mj_model, expected).nisland == 0


@pytest.mark.parametrize("seed", range(10))
def test_components_are_those_of_a_flood_fill(seed: int) -> None:
    """Against a flood fill from the smallest node."""
    rng = np.random.default_rng(seed)
    count, edges = 30, rng.integers(0, 30, (2, 20))
    assert components(count, *edges).tolist() == flooded(count, edges)


def flooded(count: int, edges: NDArray[Any]) -> list[int]:
    neighbours: dict[int, set[int]] = {}
    for a, b in edges.T.tolist():
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    label = [-1] * count
    number = 0
    for node in range(count):
        if node not in neighbours or label[node] >= 0:
            continue
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if label[here] < 0:
                label[here] = number
                waiting += neighbours[here]
        number += 1
    return label
