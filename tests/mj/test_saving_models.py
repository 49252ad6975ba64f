"""mj_saveLastXML, mj_saveModel: what they write gives the model back; equal models have equal bytes."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail import mj
from dovetail.errors import CannotWriteError, DovetailError
from dovetail.mjcf.write.whole import differences

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco model="named">
  <compiler angle="degree"/>
  <default><default class="bone"><geom size=".05" rgba="1 0 0 1"/></default></default>
  <asset><mesh name="m" file="m.obj" scale="1 2 1"/></asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 1">
      <joint axis="0 1 0" range="-30 30"/>
      <geom class="bone" fromto="0 0 0 0 0 -.3" type="capsule"/>
      <geom type="mesh" mesh="m"/>
    </body>
  </worldbody>
</mujoco>
"""
TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FLEX = """
<mujoco>
  <worldbody>
    <geom size=".1"/><geom size=".2" pos="1 0 0"/>
    <body name="b"><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" dim="2"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.obj").write_bytes(TETRAHEDRON)
    (tmp_path / "model.xml").write_text(XML)
    return tmp_path


def saved(model: Any, folder: Path, module: Any = mj) -> str:
    path = folder / "saved.xml"
    module.mj_saveLastXML(str(path), model)
    return path.read_text()


@pytest.mark.parametrize("relative", [False, True])
def test_a_model_is_saved_as_it_was_written(
    folder: Path, relative: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    model = mj.MjModel.from_xml_path("model.xml" if relative else folder / "model.xml")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    text = saved(copy.copy(model), folder)
    assert 'class="bone"' in text  # a compiled model has no classes
    assert 'file="m.obj"' in text
    for module in (mj, mujoco):
        again = module.MjModel.from_xml_path(str(folder / "saved.xml"))
        np.testing.assert_allclose(again.geom_size, model.geom_size, atol=1e-12)
    assert differences(model._model, mj.MjModel.from_xml_path(folder / "saved.xml")._model) == []


def test_what_was_edited_is_saved_and_what_follows_from_it_is_told(folder: Path) -> None:
    assets = {"m.obj": TETRAHEDRON}
    models = [module.MjModel.from_xml_string(XML, assets) for module in (mj, mujoco)]
    for model in models:
        model.geom_pos[:2] = [[1, 2, 3], [4, 5, 6]]
        model.opt.timestep = 0.25
    with pytest.warns(RuntimeWarning, match=r"brings back other numbers in .*geom_sameframe"):
        text = saved(models[0], folder)
    again = [module.MjModel.from_xml_string(text) for module in (mj, mujoco)]
    saved(models[1], folder, mujoco)
    again.append(mujoco.MjModel.from_xml_path(str(folder / "saved.xml")))
    for found in again:
        np.testing.assert_allclose(found.geom_pos[:2], [[1, 2, 3], [4, 5, 6]], atol=1e-6)
        assert found.opt.timestep == 0.25


def test_a_model_whose_file_changed_or_is_gone_is_saved_from_its_arrays(folder: Path) -> None:
    model = mj.MjModel.from_xml_path(folder / "model.xml")
    for change in (
        lambda: (folder / "model.xml").write_text(XML.replace('size=".05"', 'size=".06"')),
        lambda: (folder / "model.xml").write_text("<mujoco>"),
        lambda: os.remove(folder / "model.xml"),
    ):
        change()
        text = saved(model, folder)
        assert 'class="bone"' not in text
        again = mj.MjModel.from_xml_string(text)
        np.testing.assert_allclose(again.geom_size[:2], model.geom_size[:2], atol=1e-12)


def test_what_cannot_be_written_leaves_the_file_as_it_was(folder: Path) -> None:
    model = mj.MjModel.from_xml_string(FLEX)
    text = saved(model, folder)
    assert mj.MjModel.from_xml_string(text).nflex == 1
    model.geom_pos[0] = 1  # a compiled flex cannot be written
    with pytest.raises(CannotWriteError, match="flex"):
        saved(model, folder)
    assert (folder / "saved.xml").read_text() == text
    with pytest.raises(DovetailError, match="nowhere"):
        mj.mj_saveLastXML(str(folder / "nowhere" / "saved.xml"), mj.MjModel.from_xml_string("<mujoco/>"))


def test_equal_models_have_equal_bytes_wherever_they_came_from(folder: Path) -> None:
    found = []
    for model in (
        mj.MjModel.from_xml_path(folder / "model.xml"),
        mj.MjModel.from_xml_string(XML, {"m.obj": TETRAHEDRON}),
    ):
        buffer = np.zeros(mj.mj_sizeModel(model), np.uint8)
        mj.mj_saveModel(model, None, buffer)
        mj.mj_saveModel(model, str(folder / "saved.mjb"), None)
        found += [buffer.tobytes(), (folder / "saved.mjb").read_bytes()]
    assert len(set(found)) == 1
    again = mj.MjModel.from_binary_path(folder / "saved.mjb")
    assert differences(again._model, model._model) == []
    model.geom_rgba[0, 0] = 0.25
    mj.mj_saveModel(model, str(folder / "saved.mjb"), None)
    assert (folder / "saved.mjb").read_bytes() != found[0]
