"""Bad and extreme input to flexes: refused at its line, told with names, or MuJoCo's numbers; never a wrong answer.

What MuJoCo 3.4.0 refuses to compile is in mjcf/test_flex; here is what it accepts and then cannot do, and what a
simulation may meet on its way.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import flex_states
import numpy as np
import pytest
from flex_models import (
    FLOOR,
    GEOMS,
    HELD,
    NO_SELF,
    SHEET,
    SOLID,
    SPRINGS,
    block,
    comp,
    contact,
    direct,
    edge,
    pin,
    rope,
    scene,
    sheet,
    sheet_of,
)

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.errors import BadStateError, MJCFError

mujoco = pytest.importorskip("mujoco")


# ---- at load


def refusal(tmp_path: Path, content: str, before: str = "") -> str:
    """What is said about a file whose third line is the content."""
    file = tmp_path / "model.xml"
    file.write_text(f"<mujoco>{before}\n<worldbody>\n{content}\n</worldbody></mujoco>")
    with pytest.raises(MJCFError) as caught:
        dovetail.load(file)
    assert caught.value.line == 3
    assert str(caught.value).startswith(f"{file}:3: <flex")
    return str(caught.value)


def nodes(dof: str, count: str, *content: str, dim: int = 3, more: str = "") -> str:
    size = 'spacing=".05 .05 .05" radius=".01"'
    return comp(f'type="grid" dim="{dim}" count="{count}" dof="{dof}" {size} {more}', NO_SELF, *content)


@pytest.mark.parametrize("dof", ["trilinear", "quadratic"])
@pytest.mark.parametrize(("dim", "count", "flat"), [(2, "20 20 1", "z"), (1, "30 1 1", "y and z")])
def test_flat_interpolated_flex(tmp_path: Path, dof: str, dim: int, count: str, flat: str) -> None:
    """3.4.0 has NaN in its vertices."""
    content = nodes(dof, count, dim=dim)
    assert f"it is flat along {flat}; give it depth" in refusal(tmp_path, content)
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{content}</worldbody></mujoco>")
    assert np.isnan(m.flex_vert0).any()


def test_flat_flex_between_written_nodes() -> None:
    bodies = "".join(
        f'<body name="n{i}" pos="{i // 4} {i // 2 % 2} {i % 2}"><joint type="slide"/><geom size=".1"/></body>'
        for i in range(8)
    )
    xml = (
        f"<mujoco><worldbody>{bodies}</worldbody>\n<deformable>\n"
        '<flex dim="2" node="n0 n1 n2 n3 n4 n5 n6 n7" body="world world world" vertex="0 0 .5 1 0 .5 0 1 .5" '
        f'element="0 1 2">{NO_SELF}</flex></deformable></mujoco>'
    )
    with pytest.raises(MJCFError, match=r"^<string>:3: <flex>: .* flat along z") as caught:
        dovetail.loads(xml)
    assert caught.value.line == 3


@pytest.mark.parametrize("count", [1, 7, 9, 64])
def test_nodes_are_8_or_27(count: int) -> None:
    """3.4.0 takes one node and leaves the vertices at the origin."""
    bodies = "".join(f'<body name="n{i}"><joint type="slide"/><geom size=".1"/></body>' for i in range(count))
    names = " ".join(f"n{i}" for i in range(count))
    xml = (
        f"<mujoco><worldbody>{bodies}</worldbody>\n<deformable>\n"
        f'<flex dim="3" node="{names}" body="world world world world" vertex="0 0 0 1 0 0 0 1 0 0 0 1" '
        f'element="0 1 2 3">{NO_SELF}</flex></deformable></mujoco>'
    )
    with pytest.raises(MJCFError, match=f"there are {count} nodes; write 8 or 27") as caught:
        dovetail.loads(xml)
    assert caught.value.line == 3


def test_a_flat_flex_may_stand_askew_between_nodes() -> None:
    """Its box has depth then, in MuJoCo and here."""
    xml = scene(nodes("trilinear", "8 8 1", dim=2, more='euler="20 30 0"'))
    m, model = mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml)
    np.testing.assert_allclose(model.flex_vert0, m.flex_vert0, atol=1e-12)


def tetrahedra(count: int) -> str:
    """A solid of so many elements, all around one edge."""
    turn = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    rim = np.stack([0.1 * np.cos(turn), 0.1 * np.sin(turn), 0.01 * np.sin(3 * turn)], axis=1)
    points = np.vstack([[0, 0, -0.1], [0, 0, 0.1], rim])
    cells = [[0, 1, 2 + i, 2 + (i + 1) % count] for i in range(count)]
    return direct(3, points, cells, NO_SELF, SOLID, more='dof="{dof}"')


@pytest.mark.parametrize(
    ("dof", "count", "message"),
    [
        ("trilinear", 12, "needs at least 27 elements, there are 12"),
        ("trilinear", 26, "needs at least 27 elements, there are 26"),
        ("trilinear", 27, "needs 28 elements"),
        ("quadratic", 100, "needs at least 312 elements, there are 100"),
        ("quadratic", 312, "needs 313 elements"),
    ],
)
def test_too_few_elements_for_the_stiffness_between_nodes(
    tmp_path: Path, dof: str, count: int, message: str
) -> None:
    """With 27 or 312, 3.4.0 reads past what it has."""
    assert message in refusal(tmp_path, tetrahedra(count).replace("{dof}", dof))


@pytest.mark.parametrize(("dof", "count"), [("trilinear", 28), ("quadratic", 313)])
def test_just_enough_elements(dof: str, count: int) -> None:
    xml = scene(tetrahedra(count).replace("{dof}", dof))
    model = dovetail.loads(xml)
    np.testing.assert_allclose(
        model.flex_stiffness, mujoco.MjModel.from_xml_string(xml).flex_stiffness, rtol=1e-9, atol=1e-6
    )


# ---- states that went bad


EXPLOSIVE = scene(
    sheet('<elasticity young="1e9" poisson=".2" thickness=".01" elastic2d="stretch" damping="1"/>', NO_SELF),
    option="timestep=.01",
)


def pulled(**options: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(dovetail.loads(EXPLOSIVE), backend="numpy", **options)
    sim.data.qvel[..., 3] = 5.0
    return sim


def test_exploding_cloth_is_told_by_flex_and_body() -> None:
    sim = pulled(on_nan="raise")
    with pytest.raises(BadStateError) as caught, np.errstate(all="ignore"):
        sim.step(100)
    assert 'of flex "f")' in str(caught.value)
    assert 'body "f_' in str(caught.value)
    assert "vertex " in str(caught.value)


def test_exploding_cloth_is_reset_as_in_mujoco() -> None:
    sim = pulled()
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        sim.step(100)
    told = [str(one.message) for one in caught if one.category is StateWarning]
    assert told
    assert all('of flex "f")' in line and line.endswith("the world is reset") for line in told)
    assert np.isfinite(sim.data.qpos).all()


def test_exploding_cloth_of_one_world_leaves_the_others() -> None:
    sim = pulled(nworld=2, on_nan="freeze")
    sim.data.qvel[1] = 0.0
    alone = dovetail.Simulation(sim.model, backend="numpy")
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        sim.step(100)
        alone.step(100)
    assert any(str(one.message).startswith("world 0: ") for one in caught)
    np.testing.assert_array_equal(sim.data.qpos[1], alone.data.qpos)


def test_name_of_a_node() -> None:
    model = dovetail.loads(scene(nodes("trilinear", "3 3 3")))
    sim = dovetail.Simulation(model, backend="numpy", on_nan="raise")
    sim.data.qvel[-1] = np.nan
    with pytest.raises(BadStateError, match=r'body "f_1_1_1", node 7 of flex "f"\) is nan'):
        sim.step()


# ---- extreme shapes: MuJoCo's numbers


class Both:
    """A model in both engines."""

    def __init__(self, xml: str, **their_options: str) -> None:
        self.model = dovetail.loads(xml)
        self.data = dovetail.make_data(self.model)
        for option, value in their_options.items():
            xml = xml.replace("<option ", f'<option {option}="{value}" ', 1)
        self.theirs = mujoco.MjModel.from_xml_string(xml)
        self.oracle = mujoco.MjData(self.theirs)

    def forward(self) -> None:
        """Evaluate MuJoCo's state in both, and compare."""
        mujoco.mj_forward(self.theirs, self.oracle)
        flex_states.inject(self.data, self.oracle)
        dovetail.forward(self.model, self.data)
        nudged = flex_states.Nudged(self.theirs, self.oracle)
        numbers = flex_states.snapshot_ours(self.data), flex_states.snapshot_theirs(self.theirs, self.oracle)
        assert not flex_states.disagreements(*numbers, nudged)

    def step(self) -> None:
        """A step of both, from the same state."""
        self.forward()
        mujoco.mj_step(self.theirs, self.oracle)
        dovetail.step(self.model, self.data)
        assert flex_states.relative_error(self.data.qpos, self.oracle.qpos) < 1e-9
        assert flex_states.relative_error(self.data.qvel, self.oracle.qvel) < 1e-7


def places(both: Both) -> Any:
    """Where the points of a flex are, and how to move them: qpos of 3 slides each."""
    return both.oracle.qpos.reshape(-1, 3)


@pytest.mark.parametrize("dim", [2, 3])
def test_degenerate_elements(dim: int) -> None:
    """All points in a line or plane."""
    both = Both(scene(sheet(SHEET, NO_SELF) if dim == 2 else block(SOLID, NO_SELF, edge(damping=".1"))))
    mujoco.mj_forward(both.theirs, both.oracle)
    places(both)[:, dim - 1] -= np.array(both.oracle.flexvert_xpos)[:, dim - 1]
    both.oracle.qvel[:] = 0.1 * np.sin(np.arange(both.theirs.nv))
    both.step()
    assert np.ptp(both.data.flexvert_xpos[:, dim - 1]) < 1e-2


@pytest.mark.parametrize("dim", [2, 3])
def test_inverted_elements(dim: int) -> None:
    """The body turned inside out."""
    both = Both(scene(sheet(SHEET, NO_SELF) if dim == 2 else block(SOLID, NO_SELF), FLOOR))
    mujoco.mj_forward(both.theirs, both.oracle)
    places(both)[:, 0] -= 2 * np.array(both.oracle.flexvert_xpos)[:, 0]
    places(both)[3] += 0.02
    both.step()


@pytest.mark.parametrize(
    "flex",
    [
        rope(SPRINGS, NO_SELF),
        rope(HELD, NO_SELF),
        sheet(SHEET, NO_SELF, edge(damping=".1")),
        block(SOLID, NO_SELF),
    ],
    ids=["springs", "equality", "sheet", "block"],
)
def test_zero_length_edges(flex: str) -> None:
    """Two neighbours in the same place: the edge points along x. Nothing touches: where a triangle without area does,
    rounding decides."""
    both = Both(scene(flex, GEOMS["sphere"].replace("-.1", "-.2")))
    mujoco.mj_forward(both.theirs, both.oracle)
    x = np.array(both.oracle.flexvert_xpos)
    a, b = both.theirs.flex_edge[0]
    places(both)[a] += x[b] - x[a]
    both.oracle.qvel[:] = 0.1 * np.sin(np.arange(both.theirs.nv))
    mujoco.mj_forward(both.theirs, both.oracle)
    assert both.oracle.flexedge_length[0] < 1e-15
    both.step()


def test_coincident_vertices() -> None:
    """The whole cloth in one point, inside a ball and below a plane."""
    both = Both(scene(sheet(SHEET, NO_SELF), GEOMS["sphere"], FLOOR))
    mujoco.mj_forward(both.theirs, both.oracle)
    places(both)[:] += [0.01, 0.003, -0.005] - np.array(both.oracle.flexvert_xpos)
    both.forward()
    assert both.data.ncon >= both.theirs.nflexvert


def test_interpolated_flex_crushed_to_a_point() -> None:
    both = Both(scene(nodes("trilinear", "3 3 4", SOLID), FLOOR))
    places(both)[:] -= np.array(both.theirs.flex_node0)
    both.forward()


def test_flex_entirely_static() -> None:
    """No dofs at all; and one thing that moves beside it."""
    fixed = sheet(more='rigid="true"'), FLOOR, GEOMS["sphere"]
    alone = Both(scene(*fixed))
    assert alone.model.nv == 0
    alone.forward()
    dovetail.step(alone.model, alone.data, 3)
    beside = Both(
        scene(*fixed, '<body pos=".01 .02 .05"><freejoint/><geom size=".03"/></body>'), jacobian="sparse"
    )
    for _ in range(60):
        mujoco.mj_step(beside.theirs, beside.oracle)
    beside.step()
    assert beside.data.ncon


def test_ten_thousand_self_contacts() -> None:
    """A rope crumpled into a ball smaller than itself, kept apart by passive forces."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.006, 0.006, (152, 3))
    cells = [[i, i + 1] for i in range(151)]
    both = Both(
        scene(
            direct(1, points, cells, SPRINGS, contact(selfcollide="sap", passive="true")).replace(
                'radius=".01"', 'radius=".02"'
            )
        )
    )
    both.forward()
    assert both.data.ncon > 10_000
    assert not any(int(warning.number) for warning in both.oracle.warning)


# ---- where MuJoCo 3.4.0 ends with a fatal error


def test_pinned_vertex_inside_a_plane_in_dense_mode() -> None:
    """No rows and exclude 3, as in sparse mode."""
    flex = sheet(sheet_of("stretch"), NO_SELF, pin("0 1"), more='pos="0 0 .005"')
    both = Both(scene(flex, FLOOR, option="jacobian=dense").replace('jacobian="dense"', 'jacobian="sparse"'))
    dense = dovetail.loads(scene(flex, FLOOR, option="jacobian=dense"))
    m = mujoco.MjModel.from_xml_string(scene(flex, FLOOR, option="jacobian=dense"))
    with pytest.raises(mujoco.FatalError, match="no tree found for constraint"):
        mujoco.mj_forward(m, mujoco.MjData(m))
    both.step()
    data = dovetail.make_data(dense)
    dovetail.step(dense, data)
    assert (data.contact.exclude[: data.ncon] == 3).any()
    np.testing.assert_allclose(data.qpos, both.data.qpos, atol=1e-12)
    np.testing.assert_allclose(data.qvel, both.data.qvel, atol=1e-9)


@pytest.mark.parametrize("condim", [4, 6])
def test_spin_rows_of_slides_in_dense_mode(condim: int) -> None:
    """Rows that no dof moves; with islands, 3.4.0 has no tree for them."""
    flex = sheet(SHEET, contact(selfcollide="none", condim=condim), more='pos="0 0 .008"')
    xml = scene(flex, FLOOR, option="jacobian=dense cone=elliptic")
    m = mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(mujoco.FatalError, match="no tree found for constraint"):
        mujoco.mj_forward(m, mujoco.MjData(m))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    oracle = mujoco.MjData(m)
    mujoco.mj_forward(m, oracle)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert data.ncon == oracle.ncon > 0
    assert flex_states.relative_error(data.qacc, oracle.qacc) < 1e-7


def test_interpolated_flex_first_in_sparse_mode() -> None:
    """3.4.0 miscounts the entries of its rows; ours are those of dense mode."""
    low = nodes("trilinear", "3 3 3", SOLID).replace('name="f"', 'name="low"')
    xml = scene(
        low, sheet(SHEET, NO_SELF, more='pos=".007 .005 .06" euler="3 2 0"'), option="jacobian=sparse"
    )
    m = mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(mujoco.FatalError, match="-allocation"):
        mujoco.mj_forward(m, mujoco.MjData(m))
    sparse, dense = (dovetail.loads(xml.replace('jacobian="sparse"', f'jacobian="{kind}"')) for kind in KINDS)
    one, other = dovetail.make_data(sparse), dovetail.make_data(dense)
    dovetail.forward(sparse, one)
    dovetail.forward(dense, other)
    assert one.ncon == other.ncon > 0
    np.testing.assert_allclose(one.qacc, other.qacc, rtol=1e-9, atol=1e-9)


KINDS = ("sparse", "dense")


def test_sleep_with_a_flex_equality() -> None:
    """Trees of a flex stay awake."""
    parts = (
        rope(HELD, pin("0"), NO_SELF, more='pos="0 0 .3"'),
        FLOOR,
        '<body pos=".4 0 .0505"><freejoint/><geom size=".05"/></body>',
    )
    xml = scene(*parts, flags='sleep="enable"')
    m = mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(mujoco.FatalError, match="does not yet support sleeping"):
        mujoco.mj_step(m, mujoco.MjData(m))
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.step(model, data, 20)
    oracle = mujoco.MjData(m)
    m.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    mujoco.mj_step(m, oracle, 20)
    assert flex_states.relative_error(data.qpos, oracle.qpos) < 1e-9
    assert (data.tree_asleep[: model.ntree - 1] < 0).all()


# ---- what a user changes on the way


def test_edge_that_no_dof_moves_in_dense_mode() -> None:
    """Both ends on joints that turn about them. 3.4.0 leaves out the row but not its weight, which the next row then
    has; in sparse mode it keeps the row. Ours has the right weights in both, and the same accelerations."""
    bodies = "".join(
        f'<body name="c{i}" pos="{0.2 * i} {0.05 * i * i} .1" euler="{20 * i} 10 0">{joint}<geom size=".02"/></body>'
        for i, joint in enumerate(
            ("<freejoint/>", '<joint axis="1 2 3"/>', '<joint type="ball"/>', "<freejoint/>")
        )
    )
    rest = (
        '<deformable><flex name="f" dim="1" radius=".01" body="c0 c1 c2 c3" element="0 1 1 2 2 3"/></deformable>'
        '<equality><flex flex="f" solref=".05 1"/></equality>'
    )
    both = Both(scene(bodies, after=rest, option="jacobian=sparse"))
    both.oracle.qpos[0] += 0.01
    both.oracle.qvel[:] = 0.1 * np.sin(np.arange(both.theirs.nv))
    both.step()
    mujoco.mj_forward(both.theirs, both.oracle)
    dense = dovetail.loads(scene(bodies, after=rest, option="jacobian=dense"))
    data = dovetail.make_data(dense)
    flex_states.inject(data, both.oracle)
    dovetail.forward(dense, data)
    assert flex_states.relative_error(data.qacc, both.oracle.qacc) < 1e-9


def test_edge_equality_switched_off_and_on() -> None:
    both = Both(scene(rope(HELD, pin("0"), more='pos="0 0 .05"'), FLOOR))
    rows = []
    for active in (1, 0, 1):
        both.oracle.eq_active[0] = active
        for _ in range(3):
            both.step()
        rows.append(int(both.data.nefc))
    assert rows[0] == rows[2] > rows[1]


@pytest.mark.parametrize(
    ("field", "factor"),
    [("flex_damping", 3.0), ("flex_stiffness", 0.5), ("flex_radius", 1.7), ("flex_edgedamping", 2.0)],
)
def test_models_may_be_edited_between_steps(field: str, factor: float) -> None:
    both = Both(scene(sheet(SHEET, edge(damping=".1"), NO_SELF, more='pos="0 0 .013" euler="2 3 5"'), FLOOR))
    for change in (1.0, factor, 1 / factor, 0.0, 1.0):
        for model in (both.model, both.theirs):
            values = np.array(both.theirs.__getattribute__(field)) * change
            getattr(model, field)[...] = values.reshape(np.shape(getattr(model, field)))
        both.oracle.qvel[::4] += 0.05
        both.step()


def test_damping_may_be_added_to_a_flex_without_edge_jacobian() -> None:
    """Then its edges have rows from one step to the next."""
    both = Both(scene(sheet(sheet_of("stretch", "0"), NO_SELF)))
    both.oracle.qvel[:] = 0.1 * np.sin(np.arange(both.theirs.nv))
    both.step()
    for model in (both.model, both.theirs):
        model.flex_damping[:] = 0.01
    both.step()
    assert np.abs(both.data.flexedge_velocity).max() > 0.01


# ---- batches


def test_one_world_and_worlds_without_contacts() -> None:
    """A batch gives each world what it would have alone."""
    model = dovetail.loads(
        scene(sheet(SHEET, NO_SELF, more='pos="0 0 .009" euler="2 3 5"'), FLOOR, GEOMS["sphere"])
    )
    heights = np.array([0.0, 0.5, -0.004])
    for chosen in ([0], [1], [0, 1, 2]):
        sim = dovetail.Simulation(model, nworld=len(chosen), backend="numpy")
        sim.data.qpos[:, 2::3] += heights[chosen][:, None]
        sim.step(5)
        counts = np.asarray(sim.data.ncon)
        for world, which in enumerate(chosen):
            alone = dovetail.make_data(model)
            alone.qpos[2::3] += heights[which]
            dovetail.step(model, alone, 5)
            np.testing.assert_array_equal(sim.data.qpos[world], alone.qpos)
            assert counts[world] == alone.ncon
            assert (counts[world] == 0) == (which == 1)
