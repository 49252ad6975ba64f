"""The schema table is MuJoCo's: the same elements and attributes, and vectors of the same length."""

from __future__ import annotations

import re

import pytest

from dovetail.mjcf.read import kinds, schema
from dovetail.mjcf.read.schema import MUJOCO

ONLY_OURS = {"frame", "replicate"}
"""Elements that mj_printSchema does not list: MuJoCo checks them as if they were bodies."""


def printed_schema() -> dict[str, tuple[str, set[str]]]:
    """Path → multiplicity and attributes, from mj_printSchema's indented text."""
    mujoco = pytest.importorskip("mujoco")
    table: dict[str, tuple[str, set[str]]] = {}
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        row = re.match(r"( *)(\(world\))?(\w+) \((.)\)(.*)", line)
        if row:
            path = [*path[: len(row[1]) // 3], "worldbody" if row[2] else row[3]]
            table["/".join(path)] = (row[4], set(row[5].split()))
        elif line.strip():
            table["/".join(path)][1].update(line.split())
    return table


def our_schema() -> dict[str, tuple[str, set[str]]]:
    ours = {
        path: (element.multiplicity, set(element.attributes))
        for path, element in schema.rows()
        if not ONLY_OURS & set(path.split("/")) and "/body" not in path
    }
    # MuJoCo lists body and worldbody as one recursive element
    body = MUJOCO.children["worldbody"].children["body"]
    ours["mujoco/worldbody"] = ("R", set(body.attributes))
    return ours


def test_same_elements_and_attributes_as_mujoco():
    theirs, ours = printed_schema(), our_schema()
    assert sorted(ours) == sorted(theirs)
    for path, row in theirs.items():
        assert ours[path] == row, path


def test_every_body_child_is_a_child_of_frames_and_the_world():
    world = MUJOCO.children["worldbody"].children
    assert world == world["body"].children == world["frame"].children == world["replicate"].children


SAMPLES = {
    "mujoco/worldbody/geom": '<mujoco><worldbody><geom type="box" size="1 1 1" {}/></worldbody></mujoco>',
    "mujoco/worldbody/site": '<mujoco><worldbody><site type="box" size="1 1 1" {}/></worldbody></mujoco>',
    "mujoco/worldbody/body": "<mujoco><worldbody><body {}/></worldbody></mujoco>",
    "mujoco/worldbody/joint": '<mujoco><worldbody><body><joint {}/><geom size="1"/></body></worldbody></mujoco>',
    "mujoco/option": "<mujoco><option {}/></mujoco>",
    "mujoco/compiler": "<mujoco><compiler {}/></mujoco>",
    "mujoco/statistic": "<mujoco><statistic {}/></mujoco>",
    **{
        f"mujoco/actuator/{tag}": '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>'
        f'<actuator><{tag} joint="j" {{}}/></actuator></mujoco>'
        for tag in ("general", "motor", "position", "cylinder")
    },
    **{
        f"mujoco/default/{tag}": f"<mujoco><default><{tag} {{}}/></default></mujoco>"
        for tag in [
            "joint",
            "geom",
            "site",
            "camera",
            "light",
            "pair",
            "equality",
            "tendon",
            "general",
            "muscle",
            "mesh",
            "material",
        ]
    },
}


def numeric_attributes() -> list[tuple[str, str, kinds.AttributeKind]]:
    table = dict(schema.rows())
    return [
        (path, name, kind)
        for path in SAMPLES
        for name, kind in table[path].attributes.items()
        if isinstance(kind, kinds.Float | kinds.Int | kinds.Floats | kinds.Ints)
        and name not in table[path].later_attributes
    ]


@pytest.mark.parametrize("path", SAMPLES)
def test_number_of_values_is_mujocos(path):
    """MuJoCo accepts and refuses the same numbers of values, attribute by attribute."""
    mujoco = pytest.importorskip("mujoco")
    for row_path, name, kind in numeric_attributes():
        if row_path != path:
            continue
        for count in range(12):
            text = " ".join(["1"] * count)
            ours = _accepts(kind, text)
            message = _complaint(
                mujoco, SAMPLES[path].replace(f'{name}="1 1 1"', "").format(f'{name}="{text}"')
            )
            theirs = "data" not in message and "problem reading" not in message
            if count:  # an empty attribute is no attribute for MuJoCo, an error for us
                assert ours == theirs, f"{path} {name} with {count} values: {message}"


def _accepts(kind: kinds.AttributeKind, text: str) -> bool:
    try:
        kind.parse(text)
    except kinds.BadValueError:
        return False
    return True


def _complaint(mujoco, xml: str) -> str:
    """What MuJoCo says about the number of values, if anything."""
    try:
        mujoco.MjSpec.from_string(xml)
    except ValueError as problem:
        found = re.search(r"too much data|not have enough data|problem reading", str(problem))
        return found[0] if found else ""
    return ""
