"""Elements that refer to a replicated part and to others, and the poses of copies, bit for bit."""

from __future__ import annotations

import itertools
import random
import warnings

import both
import pytest
from compiling import compile_text

from dovetail.errors import MJCFError
from dovetail.mjcf.compose.key_copies import LeftOutWarning

TREE = """<body name="x"><geom name="gx" size=".1"/><joint name="jx"/><site name="sx"/><site name="sz"/>
<camera name="cx"/></body><replicate count="2" sep="-" offset="1 0 0"><body name="b"><joint name="j"/>
<geom name="g" size=".1"/><site name="s"/><site name="s2"/></body></replicate>
<body name="y" pos="0 1 0"><geom name="gy" size=".1"/><joint name="jy"/><site name="sy"/></body>"""


def model(rest: str, tree: str = TREE) -> str:
    return f"<mujoco><worldbody>{tree}</worldbody>{rest}</mujoco>"


def section(text: str) -> str:
    tag, _, elements = text.partition("|")
    return f"<{tag}>{elements}</{tag}>"


WITH = [  # {} is x, which stands before the replicate, or y, which stands after it
    "sensor|<framepos name='f' objtype='site' objname='s' reftype='body' refname='{}'/>",
    "sensor|<framepos name='f' objtype='site' objname='s{}' reftype='body' refname='b'/>",
    "sensor|<distance name='f' geom1='g' geom2='g{}'/><distance geom1='g{}' body2='b'/>",
    "sensor|<contact name='f' geom1='g' geom2='g{}'/><contact subtree1='{}' geom2='g'/>",
    "sensor|<insidesite name='f' site='s{}' objtype='body' objname='b'/>",
    "sensor|<insidesite name='f' site='s' objtype='body' objname='{}'/>",
    "sensor|<camprojection name='f' site='s' camera='cx'/><subtreecom body='{}'/><clock name='c'/>",
    "sensor|<framepos objtype='body' objname='b' reftype='xbody' refname='world'/><subtreecom body='world'/>",
    "tendon|<spatial name='t'><site site='s'/><site site='s{}'/></spatial>",
    "tendon|<spatial name='t'><site site='s{}'/><site site='s'/><pulley divisor='2'/><site site='s'/>"
    "<site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><geom geom='g{}'/><site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='sx'/><geom geom='g'/><site site='s{}'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><geom geom='g'/><site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><geom geom='g' sidesite='s{}'/><site site='s2'/></spatial>",
    "tendon|<spatial name='t'><site site='sx'/><geom geom='g{}' sidesite='s'/><site site='sz'/></spatial>",
    "tendon|<spatial name='t'><site site='s'/><geom geom='g' sidesite='s2'/><site site='s{}'/></spatial>",
    "tendon|<fixed name='t'><joint joint='j' coef='1'/><joint joint='j{}' coef='2'/></fixed>",
    "equality|<weld name='w' body1='b' body2='{}'/><weld body1='{}' body2='b'/>",
    "equality|<weld name='w' body1='b' body2='world'/><weld body1='world' body2='b'/><weld body1='b'/>",
    "equality|<connect name='w' body1='b' body2='{}' anchor='0 0 0'/>",
    "equality|<weld name='w' site1='s' site2='s{}'/>",
    "equality|<joint name='w' joint1='j' joint2='j{}'/><joint joint1='j{}' joint2='j'/><joint joint1='j'/>",
    "contact|<pair name='w' geom1='g' geom2='g{}'/><pair geom1='g{}' geom2='gx'/>",
    "contact|<exclude name='w' body1='b' body2='{}'/><exclude body1='b' body2='world'/>",
    "actuator|<motor name='w' site='s' refsite='s{}'/><motor site='s{}' refsite='s'/><motor joint='j'/>",
    "actuator|<motor name='w' cranksite='s{}' slidersite='s' cranklength='1'/>",
    "custom|<tuple name='w'><element objtype='body' objname='b'/></tuple>",
    "custom|<tuple name='w'><element objtype='body' objname='{}'/><element objtype='site' objname='s-1'/></tuple>",
    "deformable|<skin name='k' vertex='0 0 0 1 0 0 0 1 0' face='0 1 2'><bone body='b' bindpos='0 0 0' "
    "bindquat='1 0 0 0' vertid='0 1 2' vertweight='1 1 1'/></skin>",
    "deformable|<flex name='f' dim='1' body='{} b' element='0 1' radius='.01' vertex='0 0 0 1 0 0'/>",
]


@pytest.mark.parametrize("other", ["x", "y"])
@pytest.mark.parametrize("written", WITH)
def test_elements_between_a_replicated_part_and_another(written, other):
    assert both.disagreement(model(section(written.replace("{}", other)))) == []


@pytest.mark.parametrize("written", [WITH[0], WITH[8], WITH[10], WITH[16]])
def test_sensors_and_tendons_are_there_once_per_copy(written):
    compiled = compile_text(model(section(written.replace("{}", "x"))))
    assert compiled.names["sensor"] + compiled.names["tendon"] in {("f-0", "f-1"), ("t-0", "t-1")}


@pytest.mark.parametrize("written", [WITH[17], WITH[19], WITH[20]])
def test_connect_and_weld_are_left_out_with_a_warning(written):
    xml = model("\n" + section(written.replace("{}", "x")))
    with pytest.warns(
        LeftOutWarning, match=r"<string>:\d: <(weld|connect).*left out.*write it for the copies"
    ):
        compiled = compile_text(xml)
    assert compiled.sizes["neq"] == 0
    assert both.accepted(xml).neq == 0


def test_what_depends_on_a_tendon_follows_it():
    rest = """<tendon><spatial name="t"><site site="s"/><site site="{0}"/></spatial>
<spatial name="o"><site site="sx"/><site site="sz"/></spatial></tendon>
<actuator><motor name="a" tendon="t"/></actuator>
<equality><tendon name="e" tendon1="t" {1}/></equality>
<sensor><tendonpos name="p" tendon="t"/><actuatorpos name="q" actuator="a"/></sensor>"""
    for site, second in itertools.product(("s2", "sx", "sy"), ("", 'tendon2="o"')):
        assert both.disagreement(model(rest.format(site, second))) == []


@pytest.mark.parametrize(
    ("tree", "rest"),
    [
        (  # a name that looks like that of a copy
            '<body name="o"/><body name="o-0"/><replicate count="2" sep="-"><body name="b"/></replicate>',
            "sensor|<framepos name='f' objtype='body' objname='o'/>",
        ),
        (TREE, "sensor|<jointpos name='p-0' joint='jx'/><jointpos name='p' joint='j'/>"),
        (
            '<replicate count="2"><body name="b"><joint name="j"/><geom size=".1"/><body name="c"><joint name="j0"/>'
            '<geom size=".1"/></body></body></replicate>',
            "actuator|<motor joint='j'/><motor joint='j0'/>",
        ),
        (  # the inner copies are outside of nothing for the outer replicate
            '<replicate count="2" sep="-"><body name="x"><site name="sx"/><replicate count="2" sep="_">'
            '<body name="b"><site name="s"/></body></replicate></body></replicate>',
            "tendon|<spatial name='t'><site site='sx'/><site site='s'/></spatial>",
        ),
        (
            '<body name="a"><geom size=".1"/></body><replicate count="0"><body name="b"/></replicate>',
            "sensor|<clock/>",
        ),
        (
            '<replicate count="2"><light name="l" texture="t"/></replicate>',
            "asset|<texture name='t' type='2d' builtin='flat' width='2' height='2'/>",
        ),
    ],
)
def test_names_of_copies(tree, rest):
    assert both.disagreement(model(section(rest), tree)) == []


# poses


def turning(count: int, extra: str, inside: str = '<body name="b"><geom size=".1"/></body>') -> str:
    return f'<replicate count="{count}" {extra}>{inside}</replicate>'


PARTS = """<body pos=".1 .2 .3" quat=".7071 0 0 .7071"><joint pos=".3 .2 .1" axis="1 2 3"/><geom size=".1"/></body>
<geom type="box" size=".1 .2 .3" pos="1 .1 0" euler="10 20 30"/><site pos="0 .2 .4" quat=".3 .1 .7 .2"/>
<geom type="capsule" size=".1" fromto="0 0 0 .1 .2 .3"/><camera pos=".3 0 0" xyaxes="1 .1 0 0 1 .1"/>
<light pos="0 1 0" dir=".1 .2 -1"/><frame pos="1 0 0" quat=".4 .1 .2 .2"><site zaxis=".3 .1 0"/>
<body><frame euler="3 4 5"><joint axis=".1 .2 .3"/></frame><geom size=".1"/></body></frame>"""


@pytest.mark.parametrize(
    "xml",
    [
        model("", turning(30, 'euler="0 0 12" offset=".5 0 0"')),
        model("", turning(30, 'euler="0 0 12"', PARTS)),
        model("", turning(7, 'euler="13.7 -21 4.1" offset=".1 .2 .3"', PARTS)),
        model("", turning(3, 'euler="0 0 40"', turning(9, 'euler="0 11 0" offset="0 0 1"', PARTS))),
        model(
            "",
            f'<frame euler="7 8 9" pos="1 2 3">{turning(12, "euler=~0 0 30~".replace("~", chr(34)), PARTS)}</frame>',
        ),
        "<mujoco><compiler angle='radian' eulerseq='ZYX'/><worldbody>"
        + turning(10, 'euler=".1 .2 .3" offset="1 0 0"', PARTS)
        + "</worldbody></mujoco>",
    ],
)
def test_poses_of_copies_bit_for_bit(xml):
    assert both.other_bits(compile_text(xml), both.accepted(xml)) == []


def test_a_ring_of_links_bit_for_bit():
    """30 links in a ring that touch one another: the last bit decides which of them are in contact."""
    link = '<geom type="capsule" size=".02 .1" pos="1 0 0" euler="90 0 0"/>'
    xml = model("", turning(30, 'euler="0 0 12"', f"<body><freejoint/>{link}</body>"))
    compiled, theirs = compile_text(xml), both.accepted(xml)
    assert both.other_bits(compiled, theirs) == []
    assert both.disagreement(xml) == []


def _random_tree(chance: random.Random, depth: int) -> str:
    numbers = " ".join(f"{chance.uniform(-90, 90):.5g}" for _ in range(3))
    small = " ".join(f"{chance.uniform(-1, 1):.5g}" for _ in range(3))
    if depth == 0:
        return PARTS.replace("10 20 30", numbers)
    inside = _random_tree(chance, depth - 1)
    return chance.choice(
        [
            f'<frame pos="{small}" euler="{numbers}">{inside}</frame>',
            f'<frame quat="{small} .4">{inside}</frame>',
            f'<frame zaxis="{small}">{inside}</frame>',
            f'<body pos="{small}" axisangle="{small} {numbers.split()[0]}">{inside}</body>',
            turning(chance.randint(1, 5), f'euler="{numbers}" offset="{small}"', inside),
            turning(chance.randint(1, 12), f'euler="{numbers}"', inside),
        ]
    )


@pytest.mark.parametrize("seed", range(25))
def test_poses_in_random_frames_bit_for_bit(seed):
    xml = model("", _random_tree(random.Random(seed), 3))
    assert both.other_bits(compile_text(xml), both.accepted(xml)) == []


# what the schema does not look at

BOGUS = '<geom size=".1" bogus="1"/>'


@pytest.mark.parametrize(
    "tree",
    [
        '<replicate count="2" prefix="x"><geom size=".1"/></replicate>',
        f'<replicate count="2" bogus="1">{BOGUS}</replicate>',
        f'<frame bogus="1" pos="1 0 0">{BOGUS}</frame>',
        f"<frame><body bogus='1'><freejoint bogus='1'/>{BOGUS}<body>{BOGUS}</body></body></frame>",
        '<frame><geom size=".1"><bogus/></geom><light><bogus/></light></frame>',
        '<frame><body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<inertial pos="0 0 0" mass="2" diaginertia="2 2 2"/></body></frame>',
        f"<body>{BOGUS}</body>",
        '<body><freejoint bogus="1"/><geom size=".1"/></body>',
        "<frame><bogus/></frame>",
        "<frame><body><bogus/></body></frame>",
        '<replicate count="1"><bogus/></replicate>',
        '<frame><geom size="a"/></frame>',
        '<attach bogus="1"/>',
    ],
)
def test_frames_and_replicates_are_not_checked(tree):
    assert both.disagreement(model("", tree)) == []


def test_what_is_ignored_is_warned_of():
    with pytest.warns(
        UserWarning, match=r"<string>:2: <geom sise=\"1\">: attribute 'sise' means nothing.*size"
    ) as seen:
        compile_text(model("", '<frame>\n<geom size=".1" sise="1"/></frame>'))
    assert len(seen) == 1
    with pytest.raises(MJCFError, match="unknown attribute 'sise'"):
        compile_text(model("", '<body><geom size=".1" sise="1"/></body>'))


def test_other_attributes_of_an_include(same_as_mujoco):
    same_as_mujoco(
        '<mujoco><include file="a.xml" bogus="1"/></mujoco>',
        assets={"a.xml": "<x><worldbody><geom size='.1'/></worldbody></x>"},
    )


def test_many_replicates_take_linear_work(monkeypatch):
    """Elements are asked what they refer to once, however many replicates there are."""
    from dovetail.mjcf.compose import document

    calls = []
    real = document.used_names
    monkeypatch.setattr(document, "used_names", lambda element: calls.append(element) or real(element))

    def work(count: int) -> int:
        calls.clear()
        tree = "".join(
            f'<replicate count="2" sep="-"><body name="b{i}"><site name="s{i}"/></body></replicate>'
            for i in range(count)
        )
        sensors = "".join(f'<framepos objtype="site" objname="s{i}"/>' for i in range(count))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile_text(model(f"<sensor>{sensors}</sensor>", tree))
        return len(calls)

    assert work(40) <= 2.2 * work(20)
