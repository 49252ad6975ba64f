"""Scenes beside MuJoCo's: the same options, camera and perturbation given to both, every element compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.contracts.enums import GeomType, ObjType
from dovetail.visual import Scene
from dovetail.visual.elements import ELEMENT

mujoco = pytest.importorskip("mujoco")

MOST = 5000
"""Room for elements in MuJoCo's scenes."""


def default_camera(model: Any) -> Any:
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    return camera


def mujocos_scene(
    model: Any, data: Any, options: Any = None, perturb: Any = None, camera: Any = None, categories: int = 7
) -> Any:
    """MuJoCo's scene. It is filled twice, because MuJoCo moves infinite planes to where the camera was before."""
    scene = mujoco.MjvScene(model, MOST)
    for _ in range(2):
        mujoco.mjv_updateScene(
            model,
            data,
            options or mujoco.MjvOption(),
            perturb,
            camera or default_camera(model),
            categories,
            scene,
        )
    return scene


def differences(
    model: Any,
    data: Any,
    options: Any = None,
    perturb: Any = None,
    categories: int = 7,
    *,
    ours: tuple[Any, Any] | None = None,
    tolerance: float = 2e-6,
) -> list[str]:
    """What is not as in MuJoCo's scene, in words. `ours` is a Model and Data in the same state, if not its own."""
    theirs = mujocos_scene(model, data, options, perturb, None, categories)
    own_model, own_data = ours or (model, data)
    scene = Scene(own_model).update(
        own_data, default_camera(model), options, perturb=perturb, categories=categories
    )
    found = []
    if theirs.ngeom != scene.ngeom:
        found.append(f"{scene.ngeom} elements, not {theirs.ngeom}")
    count = min(theirs.ngeom, scene.ngeom)
    if not count:
        return found
    elements = [theirs.geoms[index] for index in range(count)]
    for name in ELEMENT.names or ():
        wanted, own = np.array([getattr(one, name) for one in elements]), scene.geoms.rows[name][:count]
        close = np.isclose(own, wanted, rtol=1e-5, atol=tolerance).reshape(count, -1).all(axis=1)
        found += [
            f"{index} {GeomType(elements[index].type).name} of {ObjType(elements[index].objtype).name} "
            f"{elements[index].objid}: {name} {own[index]}, not {wanted[index]}"
            for index in np.flatnonzero(~close)
        ]
    for index, one in enumerate(elements):
        if one.label != scene.geoms.label(index):
            found.append(f"{index}: label {scene.geoms.label(index)!r}, not {one.label!r}")
    return found


def options_with(*flags: str, frame: str = "NONE", label: str = "NONE", groups: bool = False) -> Any:
    """MuJoCo's options with flags turned over."""
    options = mujoco.MjvOption()
    for flag in flags:
        index = getattr(mujoco.mjtVisFlag, f"mjVIS_{flag}").value
        options.flags[index] = 1 - options.flags[index]
    options.frame = getattr(mujoco.mjtFrame, f"mjFRAME_{frame}").value
    options.label = getattr(mujoco.mjtLabel, f"mjLABEL_{label}").value
    if groups:
        options.geomgroup[:] = options.sitegroup[:] = 1
    return options


def stepped(xml: str, steps: int = 20) -> tuple[Any, Any]:
    """MuJoCo's model of a text, and its data after some steps."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data
