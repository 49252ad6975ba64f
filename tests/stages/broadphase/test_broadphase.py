"""Candidate pairs: which geoms may collide, how near they must be, and in which order contacts are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import CapacityError
from dovetail.plugins.broadphase import all_pairs_numpy, sweep_numpy
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.shared.contacts.candidates_numpy import bounding_boxes, geom_margins
from dovetail.plugins.shared.contacts.index_pairs_numpy import BLOCK, every_pair, unordered_pairs

IMPLEMENTATIONS = {"sweep": sweep_numpy.broadphase, "all_pairs": all_pairs_numpy.broadphase}
TWO_BODIES = """
<mujoco><option><flag {flags}/></option><worldbody>
  <body name="a"><freejoint/><geom name="a0" size="0.1" {a}/></body>
  <body name="b" pos="{x} 0 0"><freejoint/><geom name="b0" size="0.1" {b}/></body>
</worldbody><contact>{contact}</contact></mujoco>"""


@pytest.fixture(autouse=True)
def few_geoms_are_swept_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_numpy, "FEW", 0)


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def broadphase(request: pytest.FixtureRequest) -> Any:
    return IMPLEMENTATIONS[request.param]


def two_bodies(
    x: float = 0.15, a: str = "", b: str = "", contact: str = "", flags: str = ""
) -> dovetail.Model:
    return dovetail.loads(TWO_BODIES.format(x=x, a=a, b=b, contact=contact, flags=flags))


def at_rest(model: dovetail.Model, **options: Any) -> dovetail.Data:
    """Poses at qpos0."""
    data = dovetail.make_data(model, **options)
    kinematics(model, data)
    return data


def candidates(
    model: dovetail.Model, broadphase: Any, data: dovetail.Data | None = None
) -> list[tuple[int, ...]]:
    """Candidates as (geom, geom, explicit pair)."""
    data = at_rest(model) if data is None else data
    broadphase(model, data)
    n = data.ncandidate
    return [
        (*g, p)
        for g, p in zip(data.candidate_geom[:n].tolist(), data.candidate_pair[:n].tolist(), strict=True)
    ]


# ---- who may collide --------------------------------------------------------------------------------------


def test_two_free_bodies_in_reach_are_candidates(broadphase: Any) -> None:
    assert candidates(two_bodies(), broadphase) == [(0, 1, -1)]


def test_bodies_out_of_reach_are_not(broadphase: Any) -> None:
    assert candidates(two_bodies(x=0.2001), broadphase) == []


@pytest.mark.parametrize(
    ("a", "b", "may"),
    [
        ('contype="1" conaffinity="0"', 'contype="0" conaffinity="1"', True),
        ('contype="0" conaffinity="1"', 'contype="1" conaffinity="0"', True),
        ('contype="1" conaffinity="0"', 'contype="1" conaffinity="0"', False),
        ('contype="2" conaffinity="4"', 'contype="8" conaffinity="3"', True),
        ('contype="0" conaffinity="0"', "", False),
        ('contype="-1" conaffinity="0"', 'contype="0" conaffinity="1073741824"', True),
    ],
)
def test_contact_masks_decide_which_pairs_there_are(broadphase: Any, a: str, b: str, may: bool) -> None:
    assert bool(candidates(two_bodies(a=a, b=b), broadphase)) == may


def test_masks_edited_on_a_geom_also_need_the_bodys(broadphase: Any) -> None:
    """As in MuJoCo, body_contype and body_conaffinity filter too and are not derived again."""
    model = two_bodies(a='contype="0" conaffinity="0"')
    model.geom_contype[0] = 1
    assert candidates(model, broadphase) == []
    model.body_contype[1] = 1
    assert candidates(model, broadphase) == [(0, 1, -1)]


CHAIN = """
<mujoco><option><flag {flags}/></option><worldbody>
  <body><{root}geom size="0.1"/>
    <body><geom size="0.1"/>
      <body><joint/><geom size="0.1"/></body>
    </body>
  </body>
</worldbody></mujoco>"""


def test_a_rigid_piece_does_not_collide_with_itself_nor_with_its_child(broadphase: Any) -> None:
    assert candidates(dovetail.loads(CHAIN.format(flags="", root="freejoint/><")), broadphase) == []


def test_filterparent_off_lets_parent_and_child_collide(broadphase: Any) -> None:
    xml = CHAIN.format(flags='filterparent="disable"', root="freejoint/><")
    assert candidates(dovetail.loads(xml), broadphase) == [(0, 2, -1), (1, 2, -1)]


def test_the_child_of_a_fixed_body_collides_with_it(broadphase: Any) -> None:
    assert candidates(dovetail.loads(CHAIN.format(flags="", root="")), broadphase) == [(0, 2, -1), (1, 2, -1)]


def test_fixed_and_mocap_bodies_do_not_collide_with_each_other(broadphase: Any) -> None:
    model = dovetail.loads("""<mujoco><worldbody><geom size="0.1"/><body><geom size="0.1"/></body>
      <body mocap="true"><geom size="0.1"/></body><body><freejoint/><geom size="0.1"/></body>
    </worldbody></mujoco>""")
    assert candidates(model, broadphase) == [(0, 3, -1), (1, 3, -1), (2, 3, -1)]


@pytest.mark.parametrize("bodies", ['body1="a" body2="b"', 'body1="b" body2="a"'])
def test_excluded_bodies_do_not_collide(broadphase: Any, bodies: str) -> None:
    assert candidates(two_bodies(contact=f"<exclude {bodies}/>"), broadphase) == []


def test_the_world_can_be_excluded(broadphase: Any) -> None:
    model = dovetail.loads("""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body name="a"><freejoint/><geom size="0.1"/></body></worldbody>
      <contact><exclude body1="a" body2="world"/></contact></mujoco>""")
    assert candidates(model, broadphase) == []


@pytest.mark.parametrize("bit", ["contact", "constraint"])
def test_disabled_contacts_give_no_candidates(broadphase: Any, bit: str) -> None:
    model = two_bodies(flags=f'{bit}="disable"', contact='<pair geom1="a0" geom2="b0"/>')
    assert candidates(model, broadphase) == []


def test_a_flex_whose_masks_are_empty_has_no_candidates(broadphase: Any) -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="p"><flexcomp name="c" type="grid"
      count="3 3 1" spacing="0.1 0.1 0.1" dim="2"><contact {}/></flexcomp></body></worldbody></mujoco>"""
    touchable = dovetail.loads(xml.format('selfcollide="none"'))
    assert candidates(touchable, broadphase) == [(0, -1, -1)] * 9
    quiet = dovetail.loads(xml.format('selfcollide="none" contype="0" conaffinity="0"'))
    assert candidates(quiet, broadphase) == []


# ---- explicit pairs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "geoms"),
    [
        ({"contact": '<exclude body1="a" body2="b"/>'}, ("a0", "b0")),
        ({"a": 'contype="0" conaffinity="0"'}, ("a0", "b0")),
    ],
)
def test_an_explicit_pair_ignores_masks_and_exclusions(broadphase: Any, options: dict, geoms: tuple) -> None:
    options = {**options, "contact": options.get("contact", "") + '<pair geom1="b0" geom2="a0"/>'}
    assert candidates(two_bodies(**options), broadphase) == [(0, 1, 0)]


def test_explicit_pairs_ignore_the_tree(broadphase: Any) -> None:
    model = dovetail.loads("""<mujoco><worldbody><body><freejoint/><geom name="a" size="0.1"/>
      <geom name="b" size="0.1"/><body><joint/><geom name="c" size="0.1"/></body></body></worldbody>
      <contact><pair geom1="a" geom2="b"/><pair geom1="a" geom2="c"/></contact></mujoco>""")
    assert candidates(model, broadphase) == [(0, 1, 0), (0, 2, 1)]


def test_an_explicit_pair_replaces_the_found_one_and_may_be_repeated(broadphase: Any) -> None:
    model = two_bodies(contact='<pair geom1="a0" geom2="b0"/><pair geom1="a0" geom2="b0"/>')
    assert candidates(model, broadphase) == [(0, 1, 0), (0, 1, 1)]


def test_an_explicit_pair_has_its_own_margin(broadphase: Any) -> None:
    contact = '<pair geom1="a0" geom2="b0" margin="{}"/>'
    near, far = (two_bodies(x=0.25, a='margin="1"', contact=contact.format(m)) for m in (0.06, 0.04))
    assert candidates(near, broadphase) == [(0, 1, 0)]
    assert candidates(far, broadphase) == []


# ---- who is near ------------------------------------------------------------------------------------------


def test_margins_widen_the_search(broadphase: Any) -> None:
    """Spheres of radius 0.04 whose centres are 0.085 apart and whose margins are 0.01: a gap of 0.005."""
    model = two_bodies(x=0.085, a='margin="0.01"', b='margin="0.01"')
    model.geom_size[:, 0] = model.geom_rbound[:] = 0.04
    assert candidates(model, broadphase) == [(0, 1, -1)]
    model.geom_margin[:] = 0.0
    assert candidates(model, broadphase) == []


def test_override_replaces_margins_of_geoms_and_pairs(broadphase: Any) -> None:
    for contact in ("", '<pair geom1="a0" geom2="b0" margin="1"/>'):
        model = two_bodies(x=0.25, a='margin="1"', flags='override="enable"', contact=contact)
        assert candidates(model, broadphase) == []
        model.opt.o_margin = 0.0501
        assert len(candidates(model, broadphase)) == 1


def test_planes_meet_what_is_below_them_and_nothing_above(broadphase: Any) -> None:
    model = dovetail.loads("""<mujoco><worldbody><geom type="plane" size="1 1 1" pos="0 0 1" euler="90 0 0"/>
      <body pos="50 5 0"><freejoint/><geom size="0.1"/></body>
      <body pos="0 -0.05 9"><freejoint/><geom size="0.1"/></body>
      <body pos="0 -0.2 0"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>""")
    assert candidates(model, broadphase) == [(0, 1, -1), (0, 2, -1)]


def test_boxes_of_bodies_with_several_geoms_are_compared(broadphase: Any) -> None:
    """Two long rods side by side: bounding spheres overlap, boxes do not. MuJoCo looks at boxes only in its tree."""
    xml = """<mujoco><option><flag midphase="{}"/></option><worldbody>
      <body><freejoint/><geom type="box" size="1 0.01 0.01"/><geom size="0.001"/></body>
      <body pos="0 0.1 0"><freejoint/><geom type="box" size="1 0.01 0.01"/></body></worldbody></mujoco>"""
    assert candidates(dovetail.loads(xml.format("enable")), broadphase) == []
    assert candidates(dovetail.loads(xml.format("disable")), broadphase) == [(0, 2, -1), (1, 2, -1)]


def pile(n: int) -> dovetail.Model:
    """n free spheres in a jittered cube, each overlapping some of its neighbours."""
    random = np.random.default_rng(0)
    side = round(n ** (1 / 3))
    places = 0.19 * np.indices((side, side, side)).reshape(3, -1).T + random.normal(size=(side**3, 3)) * 0.01
    bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/><geom size="0.1"/></body>' for x, y, z in places)
    return dovetail.loads(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>'
    )


def test_a_pile_is_searched_in_nearly_linear_work() -> None:
    """Some twenty pairs looked at for each sphere, however many there are, and few candidates that do not touch."""
    for n in (216, 1000):
        model = pile(n)
        data = at_rest(model)
        geoms = np.arange(1, model.ngeom)
        bounds = bounding_boxes(model, data, geom_margins(model))
        entries = sweep_numpy.sorted_entries(bounds.low[geoms], bounds.high[geoms])
        looked_at = sum(len(a) for a, _ in sweep_numpy.meeting(entries, np.ones(len(entries.box), bool)))
        assert looked_at < 25 * n
        found = candidates(model, sweep_numpy.broadphase, data)
        gaps = [np.linalg.norm(data.geom_xpos[a] - data.geom_xpos[b]) - 0.2 for a, b, _ in found if a]
        heights = [data.geom_xpos[b][2] - 0.1 for a, b, _ in found if not a]
        touching = np.count_nonzero(np.array([*gaps, *heights]) <= 0)
        assert len(found) <= 3 * touching


# ---- both ways of searching -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_sweep_finds_what_looking_at_all_pairs_finds(seed: int) -> None:
    """Very different sizes, margins, static and moving geoms, planes at all angles."""
    random = np.random.default_rng(seed)
    text = ""
    for index in range(120):
        place = " ".join(map(str, random.normal(size=3)))
        size = 10 ** random.uniform(-3, 0)
        kind = f'type="box" size="{size} {size / 3} {size / 9}"' if index % 2 else f'size="{size / 2}"'
        joint = "<freejoint/>" if index % 3 else ""
        text += f'<body pos="{place}">{joint}<geom {kind} margin="{random.uniform(0, 0.1)}"/></body>'
    text += "".join(
        f'<geom type="plane" size="1 1 1" euler="{random.uniform(0, 360)} {random.uniform(0, 360)} 0"/>'
        for _ in range(3)
    )
    model = dovetail.loads(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    assert candidates(model, sweep_numpy.broadphase) == candidates(model, all_pairs_numpy.broadphase) != []


@pytest.mark.parametrize("count", [0, 1, 2, 700, 1000])
def test_pairs_come_in_blocks_that_lose_and_repeat_nothing(count: int) -> None:
    ids = np.arange(10, 10 + count)
    blocks = list(unordered_pairs(ids))
    pairs = [(a, b) for first, second in blocks for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert len(set(pairs)) == len(pairs) == count * (count - 1) // 2
    assert all(len(first) <= BLOCK + count for first, _ in blocks)
    assert sum(len(first) for first, _ in every_pair(ids, ids[:3])) == count * min(count, 3)


# ---- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_geom_at_no_finite_place_is_left_out_with_a_warning(broadphase: Any, value: float) -> None:
    model = dovetail.loads(
        "<mujoco><worldbody>" + '<body><freejoint/><geom size="0.1"/></body>' * 4 + "</worldbody></mujoco>"
    )
    data = at_rest(model)
    data.geom_xpos[1, 2] = value
    with pytest.warns(RuntimeWarning, match="no finite place cannot collide: 1"):
        assert candidates(model, broadphase, data) == [(0, 2, -1), (0, 3, -1), (2, 3, -1)]


def test_coincident_spheres_make_room_for_themselves(broadphase: Any) -> None:
    body = '<body><freejoint/><geom size="0.1"/></body>'
    model = dovetail.loads(f"<mujoco><worldbody>{body * 300}</worldbody></mujoco>")
    assert len(set(candidates(model, broadphase))) == 300 * 299 // 2


def test_ten_thousand_coincident_spheres_stop_at_the_memory_allowed() -> None:
    """Fifty million pairs: refused as soon as they pass the limit, not after an hour."""
    geoms = '<geom size="0.1"/>' * 100
    bodies = f"<body><freejoint/>{geoms}</body>" * 100
    model = dovetail.loads(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    data = at_rest(model, max_bytes=16 << 20)
    with pytest.raises(CapacityError, match="max_bytes"):
        sweep_numpy.broadphase(model, data)


def test_geoms_without_size_are_points(broadphase: Any) -> None:
    """A size of 0 can only be set in a compiled model; MuJoCo then looks at the point."""
    model = two_bodies(x=0.05)
    model.geom_size[1], model.geom_rbound[1] = 0.0, 0.0
    assert candidates(model, broadphase) == [(0, 1, -1)]
    assert candidates(two_bodies(x=0.3), broadphase) == []


def test_a_model_without_geoms(broadphase: Any) -> None:
    assert candidates(dovetail.loads("<mujoco/>"), broadphase) == []
