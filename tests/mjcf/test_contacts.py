"""Contact pairs and exclusions: parameters of their own, sorted by signature."""

from __future__ import annotations

import pytest
from compiling import compile_text
from finished import assert_refused, assert_same

WORLD = """<mujoco><default><pair friction=".9"/>
<default class="c"><pair condim="1" margin=".3"/></default></default>
<worldbody><geom name="w" type="plane" size="1 1 1"/>
<body name="a"><joint/><geom size=".1" name="ga" condim="4" friction="2" margin=".5"/>
  <geom size=".1" name="ga2"/></body>
<body name="b" pos="0 1 0"><joint/><geom size=".1" name="gb"/></body>
<body name="c"><geom size=".1" name="gc"/></body></worldbody>
%s<contact>
%s
</contact></mujoco>"""

LINE = WORLD[: WORLD.rindex("%s")].count("\n") + 1

GOOD = [
    '<pair geom1="ga" geom2="gb"/>',
    '<pair geom1="gb" geom2="ga" condim="4" friction="1 2 3" gap=".1"/>',
    '<pair class="c" geom1="w" geom2="ga" solref=".1" solreffriction="1 2" solimp=".1"/>',
    '<pair geom1="ga2" geom2="ga"/>',
    '<pair geom1="w" geom2="gc"/>',
    '<pair geom1="gb" geom2="ga"/><pair geom1="w" geom2="ga"/>'
    '<pair geom1="w" geom2="ga2"/><pair geom1="gb" geom2="w"/>',
    '<exclude body1="b" body2="a"/>',
    '<exclude body1="world" body2="a"/><exclude body1="a" body2="a"/>',
    '<exclude body1="c" body2="b"/><exclude body1="b" body2="a"/><exclude body1="a" body2="world"/>',
]


@pytest.mark.parametrize("contact", GOOD)
def test_contact(contact: str) -> None:
    assert_same(WORLD % ("", contact))


def test_names_follow_the_sorting() -> None:
    elements = "<element objtype='pair' objname='p'/><element objtype='pair' objname='q'/>"
    tuples = f"<custom><tuple name='t'>{elements}</tuple></custom>"
    xml = WORLD % (tuples, '<pair name="p" geom1="ga" geom2="gb"/><pair name="q" geom1="w" geom2="ga"/>')
    assert_same(xml)
    assert compile_text(xml).names["pair"] == ("q", "p")


BAD = {
    '<pair geom1="ga"/>': "add geom2",
    '<pair geom1="ga" geom2="q"/>': "unknown geom 'q'",
    '<pair geom1="ga" geom2="gb" condim="2"/>': "condim 2 does not exist",
    '<exclude body1="a"/>': "'body2' is missing",
    '<exclude body1="a" body2="q"/>': "unknown body 'q'",
}


@pytest.mark.parametrize("contact", BAD)
def test_bad_contact(contact: str) -> None:
    assert_refused(WORLD % ("", contact), BAD[contact], LINE)
