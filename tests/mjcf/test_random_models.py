"""Random kinematic trees compile to MuJoCo's values, all fields compared."""

from __future__ import annotations

import comparing
import pytest
from compiling import compile_text
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

number = st.integers(-30, 30).map(lambda i: i / 10)
positive = st.integers(1, 20).map(lambda i: i / 20)
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


def vector(length: int, of: st.SearchStrategy[float] = number) -> st.SearchStrategy[str]:
    return st.lists(of, min_size=length, max_size=length).map(lambda v: " ".join(map(str, v)))


@st.composite
def orientation(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["", "quat", "euler", "axisangle", "zaxis", "xyaxes"]))
    texts = {
        "": st.just(""),
        "quat": vector(3).map(lambda v: f'quat="1 {v}"'),
        "euler": vector(3).map(lambda v: f'euler="{v}"'),
        "axisangle": vector(3).map(lambda v: f'axisangle="1 {v}"'),
        "zaxis": vector(2).map(lambda v: f'zaxis="{v} 1"'),
        "xyaxes": vector(2).map(lambda v: f'xyaxes="1 {v} 0 0 1"'),
    }
    return draw(texts[kind])


@st.composite
def geom(draw: st.DrawFn) -> str:
    shape = draw(st.sampled_from(sorted(SIZES)))
    size = draw(vector(SIZES[shape], positive))
    shell = draw(st.booleans()) and shape != "ellipsoid"
    amount = draw(
        st.sampled_from(["", 'mass="2"', 'density="30"', 'group="1"', 'contype="0" conaffinity="0"'])
    )
    pose = f'pos="{draw(vector(3))}" {draw(orientation())}'
    return f'<geom type="{shape}" size="{size}" {amount} {pose} shellinertia="{str(shell).lower()}"/>'


@st.composite
def joints(draw: st.DrawFn, root: bool) -> str:
    kinds = ["", "hinge", "slide", "ball", "hinge slide", "slide slide hinge", "slide ball"] + ["free"] * root
    chosen = draw(st.sampled_from(kinds)).split()
    texts = []
    for kind in chosen:
        axis = draw(st.sampled_from(["0 0 1", "1 0 0", "0 -1 0", "1 2 3"]))
        pos = draw(st.sampled_from(["0 0 0", "0.1 0 -0.2"]))
        extra = draw(st.sampled_from(["", 'damping="1"', 'range="0 1"', 'armature=".1" ref="0.3"']))
        texts.append(f'<joint type="{kind}" axis="{axis}" pos="{pos}" {extra}/>')
    return "".join(texts)


@st.composite
def body(draw: st.DrawFn, depth: int = 0) -> str:
    content = draw(joints(root=depth == 0)) + draw(geom())
    content += "".join(draw(st.lists(geom(), max_size=3)))
    content += draw(st.sampled_from(["", '<site pos="1 2 3" size=".1"/>']))
    if depth < 3:
        below = "".join(draw(st.lists(body(depth=depth + 1), max_size=2)))
        frame = draw(st.sampled_from(["", f'<frame pos="{draw(vector(3))}" {draw(orientation())}>']))
        content += f"{frame}{below}{frame and '</frame>'}"
    return f'<body pos="{draw(vector(3))}" {draw(orientation())}>{content}</body>'


@st.composite
def model(draw: st.DrawFn) -> str:
    options = (
        'angle="radian"',
        'eulerseq="XzY"',
        'inertiagrouprange="0 0" boundmass=".1" boundinertia=".1"',
        "",
    )
    bodies = "".join(draw(st.lists(body(), min_size=1, max_size=3)))
    return f"<mujoco><compiler {draw(st.sampled_from(options))}/><worldbody>{bodies}</worldbody></mujoco>"


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(model())
def test_random_model(xml: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(xml)
    assert comparing.differences_but_axes(compile_text(xml), theirs) == []
