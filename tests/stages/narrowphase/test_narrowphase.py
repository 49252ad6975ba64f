"""The narrowphase: which row answers for a pair, how contacts are framed and stored, and what if there is no row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.errors import CapacityError, MissingStageError
from dovetail.plugins.broadphase.sweep_numpy import broadphase
from dovetail.plugins.combine_margin import max_numpy, sum_numpy
from dovetail.plugins.contact_range.inner_gap_numpy import contact_range
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.narrowphase.convex_numpy import narrowphase
from dovetail.plugins.narrowphase.dispatch_numpy import BLOCK, frames

UP = np.array([0.0, 0.0, 1.0])


def bodies(*geoms: str, flags: str = "", assets: str = "") -> dovetail.Model:
    text = "".join(f"<body><freejoint/><geom {geom}/></body>" for geom in geoms)
    return dovetail.loads(
        f"<mujoco><option><flag {flags}/></option><asset>{assets}</asset><worldbody>{text}</worldbody></mujoco>"
    )


def parts(rows: dict[str, Any], rule: Any = max_numpy) -> dict[str, Any]:
    """What the narrowphase calls."""
    return {"collide_pair": rows, "combine_margin": rule.combine_margin, "contact_range": contact_range}


def collide(
    model: dovetail.Model, rows: dict[str, Any], rule: Any = max_numpy, **options: Any
) -> dovetail.Data:
    data = dovetail.make_data(model, **options)
    kinematics(model, data)
    broadphase(model, data)
    narrowphase(model, data, parts(rows, rule))
    return data


class Recorder:
    """A row that notes how it is called and answers with `count` contacts."""

    def __init__(self, count: int = 1) -> None:
        self.calls: list[tuple[int, int, float]] = []
        self.count = count

    def __call__(self, model: Any, data: Any, geom1: int, geom2: int, margin: float) -> PairContacts:
        self.calls.append((geom1, geom2, margin))
        pos = [[geom1, geom2, k] for k in range(self.count)]
        return PairContacts.of(-0.1 * np.arange(self.count), pos, UP)


# ---- dispatch ---------------------------------------------------------------------------------------------


def test_the_geom_of_lower_type_comes_first() -> None:
    row = Recorder()
    data = collide(bodies('type="box" size="1 1 1"', 'size="1"'), {"sphere-box": row})
    assert row.calls == [(1, 0, 0.0)]
    assert data.contact.geom[0].tolist() == [data.contact.geom1[0], data.contact.geom2[0]] == [1, 0]


@pytest.mark.parametrize(("rule", "margin"), [(max_numpy, 0.2), (sum_numpy, 0.3)])
def test_rows_get_the_combined_margin(rule: Any, margin: float) -> None:
    row = Recorder()
    collide(bodies('size="1" margin="0.1"', 'size="1" margin="0.2"'), {"sphere-sphere": row}, rule)
    np.testing.assert_allclose([call[2] for call in row.calls], [margin])


def test_rows_are_only_asked_about_pairs_within_their_margin() -> None:
    """The broadphase looks as far as both margins reach together, because margins may add up."""
    text = "".join(
        f'<body pos="{x} 0 0"><freejoint/><geom size="1" margin="0.2"/></body>' for x in (0.0, 2.3)
    )
    model = dovetail.loads(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    by_max, by_sum = Recorder(), Recorder()
    assert collide(model, {"sphere-sphere": by_max}).ncandidate == 1
    collide(model, {"sphere-sphere": by_sum}, sum_numpy)
    assert (len(by_max.calls), len(by_sum.calls)) == (0, 1)


def test_a_pair_without_a_row_is_an_error_that_names_geoms_types_and_rows() -> None:
    model = bodies('name="ball" size="1"', 'type="box" size="1 1 1"')
    with pytest.raises(MissingStageError) as error:
        collide(model, {"sphere-sphere": Recorder()})
    text = str(error.value)
    assert '"ball" (geom 0)' in text
    assert "'sphere-box'" in text
    assert "sphere-sphere" in text
    assert "contype" in text


def test_planes_and_height_fields_do_not_touch_each_other() -> None:
    """MuJoCo has no function for them either; only an explicit pair can ask."""
    model = dovetail.loads("""<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset><worldbody>
      <geom name="p" type="plane" size="1 1 1"/><geom name="q" type="plane" size="1 1 1"/>
      <geom name="h" type="hfield" hfield="h"/><geom name="i" type="hfield" hfield="h"/></worldbody>
      <contact><pair geom1="p" geom2="q"/><pair geom1="p" geom2="h"/><pair geom1="h" geom2="i"/>
      </contact></mujoco>""")
    data = collide(model, {})
    assert (data.ncandidate, data.ncon) == (3, 0)


# ---- storing ----------------------------------------------------------------------------------------------


def test_contacts_follow_the_candidates_and_know_them() -> None:
    data = collide(bodies('size="1"', 'size="1"', 'size="1"'), {"sphere-sphere": Recorder(2)})
    assert data.contact.geom[: data.ncon].tolist() == [[0, 1]] * 2 + [[0, 2]] * 2 + [[1, 2]] * 2
    assert data.contact_candidate[: data.ncon].tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(data.contact.pos[: data.ncon, 2], [0, 1] * 3)
    np.testing.assert_allclose(data.contact.dist[: data.ncon], [0, -0.1] * 3)
    for name in ("flex", "elem", "vert"):
        assert (getattr(data.contact, name)[: data.ncon] == -1).all()


def test_rows_may_find_nothing() -> None:
    data = collide(bodies('size="1"', 'size="1"'), {"sphere-sphere": lambda *_: NO_CONTACTS})
    assert (data.ncandidate, data.ncon) == (1, 0)


def test_old_contacts_are_forgotten() -> None:
    model = bodies('size="1"', 'size="1"')
    data = collide(model, {"sphere-sphere": Recorder(3)})
    assert data.ncon == 3
    data.geom_xpos[1] = 50.0
    broadphase(model, data)
    narrowphase(model, data, parts({}))
    assert data.ncon == 0


def test_contacts_make_room_for_themselves_block_by_block() -> None:
    model = bodies(*['size="1"'] * 100)
    data = collide(model, {"sphere-sphere": Recorder(3)})
    assert data.ncandidate == 4950 > BLOCK
    assert data.ncon == 3 * 4950
    np.testing.assert_array_equal(data.contact_candidate[: data.ncon], np.repeat(np.arange(4950), 3))


def test_contacts_beyond_the_memory_allowed_are_an_error() -> None:
    model = bodies(*['size="1"'] * 100)
    with pytest.raises(CapacityError, match="max_bytes"):
        collide(model, {"sphere-sphere": Recorder(50)}, max_bytes=8 << 20)


# ---- frames -----------------------------------------------------------------------------------------------


def test_frames_are_right_handed_with_the_normal_first() -> None:
    random = np.random.default_rng(0)
    normal, tangent = random.normal(size=(2, 50, 3))
    tangent[::2] = 0.0
    frame = frames(normal, tangent)
    np.testing.assert_allclose(
        frame @ frame.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (50, 3, 3)), atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.det(frame), 1.0)
    np.testing.assert_allclose(frame[:, 0], normal / np.linalg.norm(normal, axis=1, keepdims=True))
    assert (np.einsum("ij,ij->i", frame[1::2, 1], tangent[1::2]) > 0).all()


@pytest.mark.parametrize(
    ("normal", "tangent"),
    [((0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 1)), ((0, -1, 0), (0, 0, 1))],
)
def test_without_a_wish_the_first_tangent_is_y_or_else_z(normal: Any, tangent: Any) -> None:
    np.testing.assert_allclose(frames(np.array([normal], float), np.zeros((1, 3)))[0, 1], tangent)


def test_a_wish_along_the_normal_gives_a_frame_all_the_same() -> None:
    assert np.isfinite(frames(UP[None], UP[None])).all()


# ---- the whole pipeline -----------------------------------------------------------------------------------


def test_stages_are_chosen_by_name() -> None:
    model = dovetail.loads(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.09"><freejoint/><geom size="0.1"/>'
        "</body></worldbody></mujoco>"
    )
    simulation = dovetail.Simulation(
        model,
        stages={
            "broadphase": "all_pairs",
            "narrowphase": "triangle@numpy",
            "combine_friction": "geometric_mean",
        },
    )
    chosen = {line.slot: line.implementation for line in simulation.plan.lines()}
    assert chosen["broadphase"] == "all_pairs@numpy"
    assert chosen["narrowphase"] == "triangle@numpy"
    assert chosen["combine_friction"] == "geometric_mean@numpy"
    simulation.forward()
    assert simulation.data.ncon == 1


def test_every_world_of_a_batch_has_its_own_contacts() -> None:
    model = dovetail.loads(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom type="box" size=".1 .1 .1"/>'
        "</body></worldbody></mujoco>"
    )
    simulation = dovetail.Simulation(model, nworld=3)
    simulation.data.qpos[:, 2] = [0.5, 0.099, 0.05]
    simulation.forward()
    assert np.array(simulation.data.ncon).tolist() == [0, 4, 4]
    np.testing.assert_allclose(
        simulation.data.contact.dist[1:, :4], np.repeat([[-0.001], [-0.05]], 4, axis=1)
    )
