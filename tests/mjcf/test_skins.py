"""Skins give MuJoCo's values, written down or from a file, and damaged ones are explained."""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np
import pytest
from asset_files import numbers, skn
from compiling import compile_text

from dovetail.errors import MJCFError

RNG = np.random.default_rng(5)
VERTICES, TEXCOORDS = RNG.normal(size=(5, 3)), RNG.random((5, 2))
FACES = np.array([[0, 1, 2], [2, 3, 4]])
Bones = list[tuple[str, Any, Any, Any, Any]]
BONES: Bones = [
    ("a", (1, 2, 3), (1, 0.2, 0.3, 0.4), [0, 1, 2], [1, 0.5, 0.3]),
    ("b", (0, 0, 0), (2, 0, 0, 0), [2, 3, 4], [0.7, 2, 3]),
]
FILE = skn(VERTICES, TEXCOORDS, FACES, BONES)
BODIES = '<body name="a"><freejoint/><geom size="1"/></body><body name="b"><geom size="1"/></body>'


def scene(skin: str, section: str = "asset") -> str:
    material = '<asset><material name="k"/></asset>'
    return f"<mujoco>{material}<worldbody>{BODIES}</worldbody><{section}>\n{skin}</{section}></mujoco>"


def written(
    extra: str = "",
    vertices: Any = VERTICES,
    texcoords: Any = TEXCOORDS,
    faces: Any = FACES,
    bones: Bones = BONES,
) -> str:
    texture = f'texcoord="{numbers(texcoords)}"' if len(texcoords) else ""
    rows = "".join(
        f'<bone body="{body}" bindpos="{numbers(pos)}" bindquat="{numbers(quat)}" vertid="{numbers(vertid)}" '
        f'vertweight="{numbers(weight)}"/>'
        for body, pos, quat, vertid, weight in bones
    )
    shape = f'vertex="{numbers(vertices)}" face="{numbers(np.array(faces, int))}"'
    return f'<skin name="s" {extra} {shape} {texture}>{rows}</skin>'


@pytest.mark.parametrize("section", ["asset", "deformable"])
def test_written_and_from_a_file(same_as_mujoco, section):
    same_as_mujoco(scene(written(), section))
    looks = 'material="k" rgba="1 0 0 1" inflate=".1" group="3"'
    same_as_mujoco(scene(f'<skin file="s.skn" {looks}/>', section), assets={"s.skn": FILE})


@pytest.mark.parametrize("change", [{"texcoords": ()}, {"extra": 'material="k" rgba="1 0 0 1" inflate=".1"'}])
def test_variations(same_as_mujoco, change):
    same_as_mujoco(scene(written(**change)))


BAD = {
    "material": (written('material="x"'), "unknown material 'x'"),
    "body": (written(bones=[("z", *BONES[0][1:]), BONES[1]]), "unknown body 'z'"),
    "uncovered": (written(bones=BONES[:1]), "vertex 3 has no weight"),
    "no bones": (written(bones=[]), "has no bone"),
    "no faces": (written(faces=()), "has no face"),
    "vertex of a bone": (written(bones=[(*BONES[0][:3], [0, 9], [1, 1]), BONES[1]]), "moves vertex 9"),
    "vertex of a face": (written(faces=[[0, 1, 7]]), "uses vertex 7"),
    "lengths": (written(bones=[(*BONES[0][:3], [0, 1], [1]), BONES[1]]), "2 vertid and 1 vertweight"),
    "texture coordinates": (written(texcoords=TEXCOORDS[:2]), "2 texture coordinates for 5 vertices"),
    "negative weight": (
        written(bones=[(*BONES[0][:3], [0, 1], [1, -1]), BONES[1]]),
        "vertex 1 has no weight",
    ),
    "file and data": ('<skin file="s.skn" vertex="1 2 3"/>', "both give"),
    "suffix": ('<skin file="s.foo"/>', "must be a .skn file"),
    "missing": ('<skin file="no.skn"/>', "file not found"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_skin(case):
    skin, message = BAD[case]
    with pytest.raises(MJCFError) as caught:
        compile_text(scene(skin), assets={"s.skn": FILE})
    assert str(caught.value).startswith("<string>:2: <skin")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "too short"),
        (FILE[:8], "too short"),
        (FILE[:-4], "truncated"),
        (FILE[:150], "truncated"),
        (FILE + b"abcd", "4 bytes too many"),
        (struct.pack("<4i", -1, 0, 0, 0) + FILE[16:], "negative count"),
        (struct.pack("<4i", 2**30, 0, 0, 0) + FILE[16:], "truncated"),
        (struct.pack("<4i", 5, 5, 2, 2**31 - 1) + FILE[16:], "truncated"),
    ],
)
def test_damaged_file(content, message):
    start = time.process_time()
    with pytest.raises(MJCFError, match="<string>:2: <skin") as caught:
        compile_text(scene('<skin file="s.skn"/>'), assets={"s.skn": content})
    assert time.process_time() - start < 1.0
    assert message in str(caught.value)
