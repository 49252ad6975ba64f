"""Numbers in attributes: the spellings that MuJoCo 3.4 takes, with its values, and nan and inf with a warning."""

from __future__ import annotations

import random
import time
import warnings

import numpy as np
import pytest
from compiling import compile_text

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf.read import kinds
from dovetail.mjcf.read.validate import NotFiniteWarning

NAN = "nan NaN NAN -nan +nan nan(1) nan() nan(a_1) nan0 nan( na n nan(-)"
INF = "inf INF -inf +inf infinity -Infinity iNf infi infx i"
DECIMAL = (
    "1. . .5 +.5 1e5 1E+05 1e -1e+ --1 +-1 1_0 1,2 1f 1d0 1; 00012 1e0000000000005 0e400 -0 1.2.3 e5 .e5 5.0"
)
LARGE = "1e400 -1e400 1.7976931348623158e308 1.7976931348623159e308 3.4028235e38 3.4028236e38 1e99999999999"
SMALL = (
    "1e-400 1e-310 4.9e-324 2.2250738585072014e-308 2.225e-308 1e-38 1e-45 1.1754943508222875e-38 0.0e-400"
)
HEXADECIMAL = (
    "0x10 0x1p3 0X1F -0x1.8p1 0x 0xg 0x1p 0x.8 0x1. 0x1p1024 0x1p-1074 0x1p-1075 0x1.8p-1074 0x0p-9999"
)
INTEGERS = (
    "2147483647 2147483648 -2147483648 -2147483649 +5 0000000000000000000000012 99999999999999999999 1p3 0b1"
)
OTHER = ["1 2", "\t1\n", "1\r", "١", "1\xa0", "\xa01", "", " ", "true", "1&#10;", "&#49;"]
TOKENS = [*" ".join([NAN, INF, DECIMAL, LARGE, SMALL, HEXADECIMAL, INTEGERS]).split(), *OTHER]

TINY = "0x1p-1074"
"""Becomes zero once a Taichi runtime has started in the process: it makes the processor flush such numbers."""

FIELDS = {
    "numeric_data": '<mujoco><custom><numeric name="a" data="{}"/></custom></mujoco>',
    "opt.timestep": '<mujoco><option timestep="{}"/></mujoco>',
    "light_cutoff": '<mujoco><worldbody><light cutoff="{}"/></worldbody></mujoco>',
    "jnt_group": '<mujoco><worldbody><body><freejoint group="{}"/><geom size="1"/></body></worldbody></mujoco>',
    "cam_resolution": '<mujoco><worldbody><camera resolution="{} 5"/></worldbody></mujoco>',
    "opt.disableactuator": '<mujoco><option actuatorgroupdisable="{}"/></mujoco>',
}
BETWEEN_ROUNDINGS = ("3.4028235677973366e38", "1.17549435e-38")


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the working directory."""
    monkeypatch.chdir(tmp_path)


def value_of(model: object, field: str) -> object:
    for part in field.split("."):
        model = getattr(model, part)
    return np.asarray(model)


def theirs(xml: str, field: str) -> object:
    mujoco = pytest.importorskip("mujoco")
    try:
        return value_of(mujoco.MjModel.from_xml_string(xml), field)
    except ValueError:
        return None


def ours(xml: str, field: str) -> object:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotFiniteWarning)
            return compile_text(xml).values[field]
    except MJCFError:
        return None


def disagreements(field: str, tokens: list[str]) -> list[str]:
    found = []
    for token in tokens:
        xml = FIELDS[field].format(token)
        a, b = ours(xml, field), theirs(xml, field)
        same = (a is None) == (b is None) and (a is None or np.array_equal(a, b, equal_nan=True))
        found += [] if same else [f"{token!r}: {a} instead of {b}"]
    return found


@pytest.mark.parametrize("field", FIELDS)
def test_spellings(field):
    excused = {*BETWEEN_ROUNDINGS, *([TINY] if float.fromhex(TINY) == 0 else [])}
    assert disagreements(field, [token for token in TOKENS if token not in excused]) == []


@pytest.mark.parametrize("field", FIELDS)
def test_random_spellings(field):
    draw = random.Random(field)
    tokens = ["".join(draw.choices("0123456789.eE+-xXpnaif", k=draw.randint(1, 6))) for _ in range(150)]
    assert disagreements(field, tokens) == []


@pytest.mark.parametrize("written", ["nan", "-inf"])
def test_nan_and_inf_are_taken_with_a_warning_that_has_the_place(written):
    xml = f'<mujoco>\n<worldbody>\n<geom name="g" size="1" friction="{written}"/></worldbody></mujoco>'
    with pytest.warns(NotFiniteWarning) as caught:
        compiled = compile_text(xml, filename="model.xml")
    assert str(caught[0].message).startswith('model.xml:3: <geom name="g" friction=')
    np.testing.assert_array_equal(compiled.values["geom_friction"][0, 0], float(written))


BODY = "<mujoco><worldbody><body {}><joint {}/><geom {}/></body></worldbody></mujoco>"
NOT_FINITE = {
    "position": BODY.format('pos="nan 0 0"', "", 'size="1"'),
    "size": BODY.format("", "", 'size="nan"'),
    "range": BODY.format("", 'range="nan 1"', 'size="1"'),
    "damping": BODY.format("", 'damping="inf"', 'size="1"'),
    "mass by density": BODY.format("", "", 'size="1" mass="nan"'),
    "infinite mass": BODY.format("", "", 'size="1" mass="inf"'),
    "overflowing volume": BODY.format("", "", 'size="1e110"'),
    "overflowing product": BODY.format("", "", 'size="1" density="1e308"'),
    "statistic": '<mujoco><statistic extent="nan" meanmass="nan"/></mujoco>',
    "inertia": BODY.replace("<geom {}/>", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 nan"/>').format(
        "", ""
    ),
}


@pytest.mark.parametrize("case", NOT_FINITE)
@pytest.mark.filterwarnings("ignore::dovetail.mjcf.read.validate.NotFiniteWarning")
def test_models_with_nan_and_inf_are_accepted_where_mujoco_accepts_them(case):
    mujoco = pytest.importorskip("mujoco")

    def accepted(load, refusal):
        try:
            load(NOT_FINITE[case])
        except refusal:
            return False
        return True

    assert accepted(dovetail.loads, dovetail.DovetailError) == accepted(
        mujoco.MjModel.from_xml_string, ValueError
    )


LONG = ["1" * 8000 + "x", "0x" + "1" * 8000, "0." + "0" * 8000 + "1", "1e-" + "1" * 8000, "nan(" + "a" * 8000]
KINDS = [kinds.Float(), kinds.Int(), kinds.FloatList(single=True), kinds.IntList()]


@pytest.mark.parametrize("token", LONG, ids=lambda token: token[:5])
def test_long_tokens_take_time_in_proportion(token):
    """A token of 8 kB took 1.3 s once; in proportion to its square, one of 800 kB would take hours."""
    start = time.process_time()
    for kind in KINDS:
        with pytest.raises(kinds.BadValueError):
            kind.parse(token * 100)
    assert time.process_time() - start < 10.0
