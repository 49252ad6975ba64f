"""A saved Model is restored bit for bit, and damaged files are refused."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.errors import FileFormatError

XML = """<mujoco model="kept"><option timestep=".003"/><visual><map znear=".02"/></visual>
<worldbody><body name="b"><freejoint name="f"/><geom name="gä" size=".1" rgba=".1 .2 .3 1"/></body></worldbody>
<keyframe><key name="k" time="2"/></keyframe></mujoco>"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    model = dovetail.loads(XML)
    model.body_mass[1] = 1 / 3
    model.save(path)
    return path


def test_restored_bit_for_bit(saved: Path) -> None:
    first = dovetail.loads(XML)
    first.body_mass[1] = 1 / 3
    again = dovetail.load_model(saved)
    assert dict(again.sizes) == dict(first.sizes)
    assert dict(again.object_names) == dict(first.object_names)
    assert (again.modelname, again.source) == (first.modelname, first.source)
    for name, value in first.fields():
        assert np.asarray(value).tobytes() == np.asarray(again.field(name)).tobytes(), name
    assert again.geom("gä").rgba.tolist() == first.geom("gä").rgba.tolist()
    assert again.vis.map.znear == first.vis.map.znear


def test_restored_model_runs_the_same(saved: Path) -> None:
    models = [dovetail.load_model(saved), dovetail.load_model(saved)]
    runs = [dovetail.make_data(model) for model in models]
    for model, data in zip(models, runs, strict=True):
        dovetail.reset(model, data, keyframe="k")
    assert runs[0].time == runs[1].time == 2


def test_builtin_models_survive(tmp_path: Path) -> None:
    for name in dovetail.builtin_models():
        model = dovetail.load(name)
        model.save(tmp_path / "m.npz")
        again = dovetail.load_model(tmp_path / "m.npz")
        assert all(
            np.array_equal(np.asarray(value), np.asarray(again.field(field)))
            for field, value in model.fields()
        )


def test_numbers_that_are_not_finite_survive(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="rgba.* is not finite"):
        model = dovetail.loads(
            '<mujoco><worldbody><geom type="sphere" size="1" rgba="nan 0 0 1"/></worldbody></mujoco>'
        )
    model.save(tmp_path / "m.npz")
    assert np.isnan(dovetail.load_model(tmp_path / "m.npz").geom_rgba[0, 0])


def test_no_file() -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        dovetail.load_model("nowhere.npz")


def test_a_saved_run_is_no_model(tmp_path: Path) -> None:
    data = dovetail.make_data(dovetail.loads(XML))
    data.save(tmp_path / "run.npz")
    with pytest.raises(FileFormatError, match="not in the format dovetail-model-1"):
        dovetail.load_model(tmp_path / "run.npz")


def test_damage_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for position in range(0, len(content), len(content) // 60):
        changed = bytearray(content)
        changed[position] ^= 0x55
        saved.write_bytes(changed)
        try:
            model = dovetail.load_model(saved)
        except FileFormatError:
            continue
        # bytes between the parts of the archive carry nothing
        assert model.body_mass[1] == 1 / 3
    saved.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError):
        dovetail.load_model(saved)


def test_altered_field_is_refused(saved: Path, tmp_path: Path) -> None:
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, value, message in (
        ("body_mass", arrays["body_mass"] * 2, "does not match its digest"),
        ("body_mass", arrays["body_mass"].astype(np.float32), "body_mass is float32, not float64"),
        ("other", np.zeros(1), "field other is unknown"),
    ):
        np.savez(tmp_path / "changed.npz", **{**arrays, name: value})
        with pytest.raises(FileFormatError, match=message):
            dovetail.load_model(tmp_path / "changed.npz")
    del arrays["qpos0"]
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(FileFormatError, match="field qpos0 is missing"):
        dovetail.load_model(tmp_path / "changed.npz")


def test_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="full"):
        dovetail.loads(XML).save(saved)
    assert saved.read_bytes() == before
    assert zipfile.is_zipfile(saved)
    assert list(saved.parent.iterdir()) == [saved]
