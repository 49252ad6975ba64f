"""Tendons: what the compiler makes of them, and which ones it refuses."""

from __future__ import annotations

import pytest
from finished import assert_refused, assert_same

WORLD = """<mujoco><compiler {compiler}/><option jacobian="{jacobian}"/>
<default><tendon stiffness="2" springlength=".3"/><default class="loose">
  <tendon damping="3" width=".1"/></default></default>
<asset><material name="red" rgba="1 0 0 1"/></asset><worldbody><site name="w" pos="1 0 1"/>
<body name="a"><joint name="jx" axis="1 0 0" springref="20"/><geom size=".1" name="ball"/>
  <site name="s1" pos=".1 .1 .3"/>
  <geom name="capsule" type="capsule" size=".05 .1"/>
  <body pos=".5 0 0"><joint name="j1" axis="0 1 0"/><geom size=".1"/><site name="s5" pos=".3 .2 0"/>
  </body></body>
<body name="b" pos="0 1 0"><joint name="jy" type="ball"/><geom size=".1" type="cylinder" name="roll"/>
  <site name="s2" pos=".3 .2 0"/></body>
<body name="c" pos="0 1 1"><joint name="jz" type="slide" axis="0 1 0"/><geom size=".1"/>
  <site name="s3" pos=".3 .2 0"/></body>
<body name="d" pos="0 2 1"><freejoint/><geom size=".1"/><site name="s4" pos=".3 .2 0"/></body>
</worldbody><tendon>
{tendon}
</tendon></mujoco>""".replace('size=".1" type="cylinder"', 'size=".1 .2" type="cylinder"')

LINE = WORLD[: WORLD.index("{tendon}")].count("\n") + 1


def world(tendon: str, jacobian: str = "auto", compiler: str = "") -> str:
    return WORLD.format(tendon=tendon, jacobian=jacobian, compiler=compiler)


def path(text: str) -> str:
    """`s1 ball:s2 /2 s3` as path objects: sites, geom:sidesite, pulleys."""
    parts = []
    for word in text.split():
        if word.startswith("/"):
            parts.append(f'<pulley divisor="{word[1:]}"/>')
        elif word.split(":")[0] in ("ball", "roll", "capsule"):
            geom, _, side = word.partition(":")
            parts.append(f'<geom geom="{geom}"' + (f' sidesite="{side}"/>' if side else "/>"))
        else:
            parts.append(f'<site site="{word}"/>')
    return "".join(parts)


PATHS = [
    "s1 w",
    "s1 s2 s3 s4",
    "s1 ball s4",
    "s4 roll s1",
    "s4 roll:w s1",
    "s3 ball:s1 s2 roll s4",
    "/2 s1 s2",
    "s1 s3 /2 s2 ball s4 /.5 s3 w",
    "s1 s5",
]


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("text", PATHS)
def test_spatial_path(text: str, jacobian: str) -> None:
    assert_same(world(f'<spatial name="t">{path(text)}</spatial>', jacobian))


ATTRIBUTES = [
    'limited="true" range="0 2" margin=".1" solreflimit=".1" solimplimit=".5 .6"',
    'range="0 2" frictionloss="2" solreffriction=".1 .2" solimpfriction=".3"',
    'actuatorfrclimited="true" actuatorfrcrange="-1 2"',
    'actuatorfrcrange="-1 2"',
    'stiffness="0" damping="1" user="1 2 3" group="3"',
    'material="red" rgba="1 0 1 0" width=".02"',
    'class="loose"',
    'springlength="1 2"',
    'springlength="-1"',
    'springlength="-1 -1"',
    'range="2 1"',
]


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_attributes(attributes: str) -> None:
    assert_same(world(f"<spatial {attributes}>{path('s1 s2 s4')}</spatial>"))


@pytest.mark.parametrize(
    "attributes", ["", 'armature="2"', 'stiffness="0"', 'damping="1"', 'springlength="-1"']
)
@pytest.mark.parametrize("joints", ["jx:1", "jx:2 jz:3", "jx:2 j1:-1 jx:4", "jy:1 jz:2"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_fixed_tendon(joints: str, attributes: str, jacobian: str) -> None:
    parts = [word.split(":") for word in joints.split()]
    inside = "".join(f'<joint joint="{joint}" coef="{coef}"/>' for joint, coef in parts)
    assert_same(world(f"<fixed {attributes}>{inside}</fixed>", jacobian))


@pytest.mark.parametrize("text", ["s1 w", "s1 s2", "s1 s4", "s1 s2 s3 s4", "s1 s2 /2 s3 s5"])
def test_armature_couples_bodies(text: str) -> None:
    assert_same(world(f'<spatial armature="1.5" stiffness="0">{path(text)}</spatial>'))


@pytest.mark.parametrize("coupling", ['stiffness="0"', 'stiffness="1"', 'stiffness="0" damping="1"'])
@pytest.mark.parametrize("text", ["s1 s5", "s1 s2", "s1 ball s4", "s2 s3 s4"])
def test_sleep_policy_of_trees_that_a_tendon_couples(text: str, coupling: str) -> None:
    assert_same(world(f"<spatial {coupling}>{path(text)}</spatial>"))


BAD = {
    "empty": ("<spatial/>", "the path is empty", LINE),
    "empty fixed": ("<fixed/>", "the path is empty", LINE),
    "one site": (f"<spatial>{path('s1')}</spatial>", "at least two objects", LINE),
    "geom last": (f"<spatial>\n{path('s1 ball')}</spatial>", "between two sites", LINE + 1),
    "geom first": (f"<spatial>{path('ball s1 s2')}</spatial>", "between two sites", LINE),
    "two geoms": (f"<spatial>{path('s1 ball ball s2')}</spatial>", "between two sites", LINE),
    "pulley last": (f"<spatial>{path('s1 s2 /2')}</spatial>", "cannot end with a pulley", LINE),
    "two pulleys": (f"<spatial>{path('s1 s2 /2 /2 s1 s3')}</spatial>", "two pulleys follow", LINE),
    "lonely site": (f"<spatial>{path('s1 s2 /2 s3')}</spatial>", "neighbour that is not a pulley", LINE),
    "negative pulley": (f"<spatial>{path('s1 s2 /-2 s3 s4')}</spatial>", "cannot be negative", LINE),
    "repeated site": (f"<spatial>{path('s1 s1')}</spatial>", "is repeated", LINE),
    "capsule": (f"<spatial>{path('s1 capsule s2')}</spatial>", "cannot wrap around a capsule", LINE),
    "unknown site": (f"<spatial>\n\n{path('s1 s9')}</spatial>", "unknown site 's9'", LINE + 2),
    "unknown geom": (
        '<spatial><site site="s1"/><geom geom="x"/><site site="s2"/></spatial>',
        "unknown geom 'x'",
        LINE,
    ),
    "unknown side": (f"<spatial>{path('s1 ball:x s2')}</spatial>", "unknown site 'x'", LINE),
    "unknown joint": ('<fixed><joint joint="q" coef="1"/></fixed>', "unknown joint 'q'", LINE),
    "no coefficient": ('<fixed><joint joint="jx"/></fixed>', "'coef' is missing", LINE),
    "range": (f'<spatial limited="true" range="2 1">{path("s1 s2")}</spatial>', "range must increase", LINE),
    "force range": (
        f'<spatial actuatorfrclimited="true" actuatorfrcrange="1 2">{path("s1 s2")}</spatial>',
        "contain 0",
        LINE,
    ),
    "spring": (f'<spatial springlength="2 1">{path("s1 s2")}</spatial>', "must not decrease", LINE),
    "width": (f'<spatial width="0">{path("s1 s2")}</spatial>', "width must be positive", LINE),
    "armature": (f'<spatial armature="-1">{path("s1 s2")}</spatial>', "cannot be negative", LINE),
    "armature wraps": (
        f'<spatial armature="1">{path("s1 ball s2")}</spatial>',
        "cannot wrap around geoms",
        LINE,
    ),
    "material": (f'<spatial material="q">{path("s1 s2")}</spatial>', "unknown material 'q'", LINE),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tendon(case: str) -> None:
    tendon, message, line = BAD[case]
    assert_refused(world(tendon), message, line)


def test_range_without_limited_and_autolimits() -> None:
    tendon = f'<spatial range="0 1">{path("s1 s2")}</spatial>'
    assert_refused(world(tendon, compiler='autolimits="false"'), "range is given but not limited", LINE)
