"""The elements of a scene are those of mjv_updateScene: kind, place, size, colour, owner, order and label."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_mjv import differences, mujoco, options_with, stepped
from everything import RICH, SCALED

import dovetail
from dovetail.visual import Frame, Label, Scene, VisFlag

EVERY_MARK = ("JOINT", "CAMERA", "ACTUATOR", "LIGHT", "CONSTRAINT", "CONTACTPOINT", "CONTACTFORCE")
VOLUMES = (VisFlag.BODYBVH, VisFlag.MESHBVH, VisFlag.SDFITER)
"""Flags of what is not drawn."""


@cache
def rich() -> tuple[Any, Any]:
    model, data = stepped(RICH)
    data.ctrl[:] = np.random.default_rng(0).normal(size=model.nu)
    mujoco.mj_forward(model, data)
    data.xfrc_applied[2:5] = np.random.default_rng(1).normal(size=(3, 6))
    return model, data


@cache
def scaled(cone: str = "pyramidal", condim: int = 3) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(SCALED.replace("CONE", cone).replace("COND", str(condim)))
    data = mujoco.MjData(model)
    data.act[:], data.ctrl[:] = 2.0, (-0.5, 0.7, -1.2)
    data.qpos[model.joint("j").qposadr[0]] = 0.5
    data.xfrc_applied[1] = 1, 2, 3, 4, 5, 6
    mujoco.mj_forward(model, data)
    return model, data


def held(body: int, active: int, active2: int = 0) -> Any:
    """A body that hands hold."""
    perturb = mujoco.MjvPerturb()
    perturb.select, perturb.active, perturb.active2 = body, active, active2
    perturb.refselpos[:], perturb.localpos[:] = (0.7, 0.0, 0.7), (0.1, 0.1, 0.1)
    perturb.refquat[:] = np.array([1, 0.5, 0, 0]) / np.sqrt(1.25)
    return perturb


@pytest.mark.parametrize("model", [rich, scaled])
@pytest.mark.parametrize("flag", [flag.name for flag in VisFlag if flag not in VOLUMES])
def test_every_flag_turned_over(model: Any, flag: str) -> None:
    assert differences(*model(), options_with(flag)) == []


@pytest.mark.parametrize("model", [rich, scaled])
@pytest.mark.parametrize("frame", [frame.name for frame in Frame])
def test_every_frame(model: Any, frame: str) -> None:
    assert differences(*model(), options_with("CAMERA", "LIGHT", "INERTIA", frame=frame)) == []
    assert differences(*model(), options_with("STATIC", frame=frame)) == []


@pytest.mark.parametrize("model", [rich, scaled])
@pytest.mark.parametrize("label", [label.name for label in Label])
def test_every_label(model: Any, label: str) -> None:
    assert differences(*model(), options_with(*EVERY_MARK, label=label), held(2, 0)) == []
    assert differences(*model(), options_with("INERTIA", "SELECT", label=label), held(3, 0)) == []


@pytest.mark.parametrize("active", range(4))
@pytest.mark.parametrize("active2", range(4))
def test_what_hands_hold(active: int, active2: int) -> None:
    for body in (2, 3, 4):
        assert differences(*rich(), options_with("SELECT"), held(body, active, active2)) == []
        assert differences(*scaled(), options_with("SELECT"), held(body, active, active2)) == []


def test_selected_flexes_and_skins_shine() -> None:
    perturb = held(0, 0)
    perturb.flexselect = perturb.skinselect = 0
    assert differences(*rich(), None, perturb) == []


@pytest.mark.parametrize("model", [rich, scaled])
@pytest.mark.parametrize("categories", range(8))
def test_categories(model: Any, categories: int) -> None:
    flags = [flag.name for flag in VisFlag if flag not in VOLUMES]
    assert differences(*model(), options_with(*flags, label="BODY"), held(2, 3), categories) == []


@pytest.mark.parametrize(
    ("cone", "condim"), [("pyramidal", 1), ("pyramidal", 4), ("elliptic", 3), ("elliptic", 6)]
)
def test_forces_of_contacts_of_every_kind(cone: str, condim: int) -> None:
    for split in ((), ("CONTACTSPLIT",)):
        flags = options_with("CONTACTPOINT", "CONTACTFORCE", *split, label="CONTACTFORCE")
        assert differences(*scaled(cone, condim), flags) == []


def test_activations_colour_actuators() -> None:
    assert differences(*scaled(), options_with("ACTUATOR", "ACTIVATION")) == []


def test_contacts_of_flexes() -> None:
    model, data = stepped(
        """<mujoco><worldbody><geom name="floor" type="plane" size="3 3 .1"/><geom size=".2" pos="0 0 .2"/>
        <flexcomp name="cloth" type="grid" count="5 5 1" spacing=".1 .1 .1" pos="0 0 .4" radius=".02" mass="1"
          dim="2">
          <contact selfcollide="none"/><edge equality="true"/></flexcomp></worldbody></mujoco>""",
        60,
    )
    assert data.ncon
    for label in ("CONTACTPOINT", "CONTACTFORCE", "ISLAND"):
        flags = ("CONTACTPOINT", "CONTACTFORCE", "CONSTRAINT", *(["ISLAND"] if label == "ISLAND" else []))
        assert differences(model, data, options_with(*flags, label=label)) == []


def test_what_sleeps_is_darker() -> None:
    model, data = stepped(
        """<mujoco><option><flag sleep="enable"/></option><worldbody><geom type="plane" size="3 3 .1"/>
        <body pos="1 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        <body pos="1 0 .2999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        <body pos="2 0 .5"><joint axis="0 1 0"/><geom type="box" size=".1 .1 .1" pos=".2 0 0"/></body>
        </worldbody></mujoco>""",
        800,
    )
    assert (data.tree_asleep >= 0).tolist() == [True, True, False]
    assert differences(model, data, options_with("ISLAND")) == []


def folder_of(package: str, *inside: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent.joinpath(*inside) if found and found.origin else None


KEPT = {
    ("gymnasium", "envs", "mujoco", "assets"): ("ant", "half_cheetah", "humanoid", "pusher_v5", "swimmer"),
    ("dm_control", "suite"): ("dog", "fish", "quadruped", "manipulator", "humanoid_CMU", "swimmer"),
    ("dm_control", "locomotion", "walkers", "assets"): ("humanoid_CMU_V2020",),
}
FILES = {
    f"{place[0]}/{name}": folder / f"{name}.xml"
    for place, names in KEPT.items()
    if (folder := folder_of(*place)) is not None
    for name in names
    if (folder / f"{name}.xml").exists()
}
VARIANTS = (
    ("JOINT", "ACTUATOR"),
    ("INERTIA", "COM", "AUTOCONNECT"),
    ("CONTACTPOINT", "CONTACTFORCE"),
    ("ISLAND",),
)


@pytest.mark.slow_cases("dm_control/dog", "dm_control/humanoid_CMU")
@pytest.mark.parametrize("name", FILES)
def test_models_of_collections(name: str) -> None:
    model = mujoco.MjModel.from_xml_path(str(FILES[name]))
    data = mujoco.MjData(model)
    for _ in range(20):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    assert differences(model, data) == []
    for flags in VARIANTS:
        assert differences(model, data, options_with(*flags, frame="BODY", groups=True)) == []


@pytest.mark.parametrize("name", dovetail.builtin_models())
def test_built_in_models_in_dovetails_own_data(name: str) -> None:
    path = Path(dovetail.__file__).parent / "models" / f"{name}.xml"
    theirs = mujoco.MjModel.from_xml_path(str(path))
    their_data = mujoco.MjData(theirs)
    for _ in range(30):
        mujoco.mj_step(theirs, their_data)
    model = dovetail.load(name)
    data = dovetail.make_data(model)
    data.qpos, data.qvel, data.time = their_data.qpos, their_data.qvel, their_data.time
    data.qacc_warmstart = their_data.qacc_warmstart
    mujoco.mj_forward(theirs, their_data)
    dovetail.forward(model, data)
    everything = [flag.name for flag in VisFlag if flag not in VOLUMES and flag != VisFlag.ISLAND]
    for options in (None, options_with(*EVERY_MARK), options_with(*everything, label="GEOM", frame="GEOM")):
        assert differences(theirs, their_data, options, ours=(model, data), tolerance=1e-5) == []


def test_an_infinite_plane_is_where_the_camera_is_now() -> None:
    """MuJoCo moves it to where the camera was at the update before."""
    model, data = rich()
    scene = Scene(model).update(data, camera="f")
    plane = scene.geoms[int(np.flatnonzero(scene.geoms.type == 0)[0])]
    assert abs(plane["pos"][1] - scene.view.pos[1]) <= 0.5
    assert plane["pos"][1] != 0
