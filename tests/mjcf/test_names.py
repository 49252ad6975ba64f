"""The name buffer and its hash table are MuJoCo's, byte for byte."""

from __future__ import annotations

import random
import string

import dovetail


def test_names_of_many_objects(same_as_mujoco):
    rng = random.Random(3)
    letters = string.ascii_letters + string.digits + "_-äß€"
    names = {"".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(200)}
    geoms = "".join(f'<geom name="{name}" size=".1"/><site/><site name="{name}"/>' for name in sorted(names))
    compiled = same_as_mujoco(f'<mujoco model="many"><worldbody>{geoms}</worldbody></mujoco>')
    assert compiled.sizes["nnames"] == len(compiled.values["names"])


def test_names_of_the_model():
    model = dovetail.loads('<mujoco model="m"><worldbody><body name="b"/></worldbody></mujoco>')
    assert bytes(model.names) == b"m\0world\0b\0"
    assert model.nnames_map == 4
