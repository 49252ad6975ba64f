"""Saving and restoring: bit for bit, whole or not at all, and only into what fits."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Data, Model
from dovetail.contracts import store
from dovetail.contracts.types import STATE
from dovetail.errors import DovetailError, FileFormatError, NotKeptError, ValidationError

Snapshot = dict[str, bytes]


def snapshot(data: Data) -> Snapshot:
    return {name: np.array(view).tobytes() for name, view in data.fields()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.npz"


@pytest.fixture
def saved(zoo: Model, path: Path) -> Path:
    data: Any = dovetail.make_data(zoo)
    dovetail.reset(zoo, data, "home")
    data.save(path)
    return path


@pytest.mark.parametrize(("nworld", "lanes"), [(None, 1), (3, 1), (5, 8)])
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_a_state_comes_back_bit_for_bit(
    zoo: Model, path: Path, nworld: int | None, lanes: int, precision: str
) -> None:
    data, other = (dovetail.make_data(zoo, nworld, lanes=lanes, precision=precision) for _ in range(2))
    rng = np.random.default_rng(3)
    for name in STATE:
        data.field(name)[...] = rng.integers(0, 2, np.shape(data.field(name))) * rng.normal()
    data.qpos = np.nextafter(np.asarray(data.qpos), 9)
    data.save(path)
    other.load(path)
    assert {n: snapshot(other)[n] for n in STATE} == {n: snapshot(data)[n] for n in STATE}


def test_a_resumed_run_continues_bit_for_bit(zoo: Model, path: Path) -> None:
    straight, resumed = dovetail.Simulation(zoo), dovetail.Simulation(zoo)
    straight.reset("home")
    straight.step(5)
    straight.save(path)
    straight.step(5)
    resumed.load(path)
    resumed.step(5)
    assert snapshot(resumed.data) == snapshot(straight.data)


def test_layouts_may_differ_between_saving_and_loading(zoo: Model, path: Path) -> None:
    tiled, plain = dovetail.make_data(zoo, 5, lanes=8), dovetail.make_data(zoo, 5)
    tiled.qvel = np.arange(55.0).reshape(5, 11)
    tiled.save(path)
    plain.load(path)
    assert np.array_equal(plain.qvel, tiled.qvel)


def test_more_fields_than_the_state_can_be_saved(zoo: Model, path: Path) -> None:
    data: Any = dovetail.make_data(zoo)
    data.xpos = 3.0
    data.save(path, fields=("xpos",))
    other = dovetail.make_data(zoo)
    other.load(path)
    assert np.all(other.xpos == 3.0)
    data.save(path, fields="all")
    assert set(store.read(path)[1]) == {name for name, _ in data.fields()}


def test_saving_an_unkept_field_says_so(zoo: Model, path: Path) -> None:
    with pytest.raises(NotKeptError, match="cannot save xpos: not kept"):
        dovetail.make_data(zoo, keep="state").save(path, fields=("xpos",))
    assert not path.exists()


def test_the_header_names_model_precision_and_implementations(zoo: Model, path: Path) -> None:
    sim = dovetail.Simulation(zoo)
    sim.save(path)
    header, _ = store.read(path)
    assert header["format"] == store.FORMAT
    assert (header["modelname"], header["precision"], header["nworld"]) == ("zoo", "f64", None)
    assert header["implementations"]["integrate"] == "euler@numpy/1"


# ---- what does not fit changes nothing


def refuse(data: Data, path: Path, kind: type[Exception], phrase: str) -> None:
    before = snapshot(data)
    with pytest.raises(kind, match=phrase):
        data.load(path)
    assert snapshot(data) == before


def test_another_model_is_refused(pendulum: Model, saved: Path) -> None:
    refuse(dovetail.make_data(pendulum), saved, ValidationError, "does not fit this Data(.|\n)*model is '")


def test_another_number_of_worlds_is_refused(zoo: Model, saved: Path) -> None:
    refuse(dovetail.make_data(zoo, 2), saved, ValidationError, "nworld is None in the file, 2 here")


def test_another_precision_is_refused(zoo: Model, saved: Path) -> None:
    data: Any = dovetail.make_data(zoo, precision="f32")
    refuse(data, saved, ValidationError, "precision is 'f64' in the file, 'f32' here")


def test_a_field_this_data_lacks_is_refused(zoo: Model, path: Path) -> None:
    dovetail.make_data(zoo).save(path, fields=("xpos",))
    data: Any = dovetail.make_data(zoo, keep="state")
    refuse(data, path, ValidationError, "field xpos is not in this Data")


def test_a_missing_file_is_named(zoo: Model, tmp_path: Path) -> None:
    refuse(dovetail.make_data(zoo), tmp_path / "no.npz", FileFormatError, r"no\.npz: no such file")


def test_a_directory_is_no_saved_file(zoo: Model, tmp_path: Path) -> None:
    refuse(dovetail.make_data(zoo), tmp_path, FileFormatError, "is a directory; give the path of a file")


def rewrite(path: Path, **changes: object) -> None:
    """Save the file's arrays again with some replaced (None: left out)."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays.update(changes)
    np.savez(path, **{n: np.asarray(a) for n, a in arrays.items() if a is not None})  # type: ignore[arg-type]


def test_a_missing_state_field_and_a_wrong_shape_are_told_together(zoo: Model, saved: Path) -> None:
    rewrite(saved, qvel=None, qpos=np.zeros(3))
    refuse(
        dovetail.make_data(zoo),
        saved,
        ValidationError,
        r"state field qvel is missing(.|\n)*qpos is float64\(3,\) in the file, float64\(13,\) here",
    )


@pytest.mark.parametrize(
    "header", [b"not json", b"[]", b'{"format": "other"}', b'{"format": "dovetail-data-1"}']
)
def test_a_foreign_header_is_refused(zoo: Model, saved: Path, header: bytes) -> None:
    rewrite(saved, header=np.frombuffer(header, np.uint8))
    refuse(dovetail.make_data(zoo), saved, FileFormatError, "not (a file saved by dovetail|in the format)")


class Bomb:
    """Runs code when unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("exit 1",)


def test_pickled_arrays_are_refused_without_being_unpickled(zoo: Model, saved: Path) -> None:
    rewrite(saved, qpos=np.array([Bomb()], dtype=object))
    refuse(dovetail.make_data(zoo), saved, FileFormatError, "qpos.npy holds object, not numbers")


def test_other_kinds_of_file_are_refused(zoo: Model, path: Path) -> None:
    data: Any = dovetail.make_data(zoo)
    for content in (b"", b"text", pickle.dumps({"qpos": [1]}), os.urandom(500)):
        path.write_bytes(content)
        refuse(data, path, FileFormatError, "not a file saved by dovetail")
    with open(path, "wb") as stream:
        np.save(stream, np.zeros(3))
    refuse(data, path, FileFormatError, "not a file saved by dovetail")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", json.dumps({"format": store.FORMAT, "implementations": {}}))
        archive.writestr("qpos", b"13 numbers")
    refuse(data, path, FileFormatError, "not a file saved by dovetail")


def test_a_cut_file_is_refused_wherever_it_was_cut(zoo: Model, saved: Path) -> None:
    data, whole = dovetail.make_data(zoo), saved.read_bytes()
    for end in range(0, len(whole) - 1, len(whole) // 23):
        saved.write_bytes(whole[:end])
        refuse(data, saved, FileFormatError, "not a file saved by dovetail, or damaged")


def test_altered_bytes_are_refused_or_harmless(zoo: Model, saved: Path) -> None:
    """Any one byte changed: either an error that leaves the Data alone, or the same state as saved."""
    data, whole, rng = dovetail.make_data(zoo), saved.read_bytes(), np.random.default_rng(0)
    data.load(saved)
    good = snapshot(data)
    for at in rng.integers(0, len(whole), 150).tolist():
        altered = bytearray(whole)
        altered[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(altered)
        with contextlib.suppress(DovetailError):
            data.load(saved)
        assert snapshot(data) == good, at


# ---- writing is all or nothing


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    zoo: Model, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full_disk(stream: object, **arrays: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space left"):
        dovetail.make_data(zoo).save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


KILLED = """
import sys, time
import numpy as np
import dovetail
from dovetail.contracts.derive import build_model

def half(stream, **arrays):
    stream.write(b"half a file")
    stream.flush()
    print("writing", flush=True)
    time.sleep(60)

np.savez = half
data = dovetail.make_data(build_model({"nbody": 1}, {}))
data.save(sys.argv[1])
"""


def test_a_process_killed_while_saving_leaves_the_old_file(saved: Path) -> None:
    before = saved.read_bytes()
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(saved)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    assert saved.read_bytes() == before


def test_saving_over_a_file_replaces_it_at_once(zoo: Model, saved: Path) -> None:
    held = saved.open("rb")
    size = saved.stat().st_size
    dovetail.make_data(zoo, 4).save(saved)
    assert len(held.read()) == size  # a reader of the old file still has all of it
    held.close()
    assert store.read(saved)[0]["nworld"] == 4


# ---- other implementations


def test_resuming_with_another_implementation_warns_which(zoo: Model, path: Path) -> None:
    dovetail.Simulation(zoo).save(path)
    sim = dovetail.Simulation(zoo, stages={"integrate": "rk4"})
    with pytest.warns(
        store.ResumeWarning, match=r"integrate ran as euler@numpy/1 and continues as rk4@numpy/1"
    ):
        sim.load(path)
    assert sim.data.time == 0.0


def test_a_state_without_implementations_resumes_silently(zoo: Model, saved: Path) -> None:
    dovetail.Simulation(zoo).load(saved)


# ---- other values in the Model

QUIET = pytest.mark.filterwarnings("error")


def edited(model: Model, path: Path, name: str, value: float) -> Any:
    """A Data of a copy of the model in which a field has another value, everywhere."""
    other = copy.deepcopy(model)
    other.field(name)[...] = value
    return dovetail.make_data(other)


@pytest.mark.parametrize(
    "name", ["body_mass", "opt.timestep", "geom_friction", "opt.disableflags", "stat.meaninertia"]
)
def test_a_state_beside_edited_values_loads_and_names_them(zoo: Model, saved: Path, name: str) -> None:
    data = edited(zoo, saved, name, 3)
    with pytest.warns(
        store.ModelValuesWarning, match=rf"other values of {re.escape(name)} when this was saved"
    ):
        data.load(saved)
    assert np.array_equal(data.qpos, store.read(saved)[1]["qpos"])


@QUIET
@pytest.mark.parametrize("name", ["key_qpos", "mat_rgba", "vis.map.stiffness"])
def test_values_that_no_step_reads_may_change(zoo: Model, saved: Path, name: str) -> None:
    edited(zoo, saved, name, 3).load(saved)


@QUIET
def test_values_that_are_put_back_are_the_same(zoo: Model, saved: Path) -> None:
    data = edited(zoo, saved, "body_mass", 3)
    data.model.body_mass[...] = zoo.body_mass
    data.load(saved)


def test_many_edited_fields_are_counted(zoo: Model, saved: Path) -> None:
    data: Any = dovetail.make_data(copy.deepcopy(zoo))
    names = [name for name in store.value_digests(zoo) if zoo.field(name).dtype == float][:9]
    for name in names:
        data.model.field(name)[...] += 1
    with pytest.warns(store.ModelValuesWarning, match=f"{', '.join(names[:6])}; and 3 more when"):
        data.load(saved)


def test_one_warning_names_edited_values_where_a_run_is_locked_too(path: Path) -> None:
    sim = dovetail.Simulation("pendulum", backend="numpy")
    sim.save(path)
    other = dovetail.Simulation("pendulum", backend="numpy", locked=path)
    other.model.body_mass[1] = 5.0
    with pytest.warns(store.ModelValuesWarning, match="body_mass") as caught:
        other.load(path)
    assert len(caught) == 1


@QUIET
def test_values_that_every_world_has_for_itself_come_with_the_state(path: Path) -> None:
    def batch() -> Any:
        return dovetail.Simulation("pendulum", nworld=2, backend="numpy", per_world=("body_mass",))

    sim, other = batch(), batch()
    sim.per_world["body_mass"][1] *= 2.0
    sim.save(path)
    other.model.body_mass[1] = 5.0
    other.load(path)
    assert np.array_equal(other.per_world["body_mass"], sim.per_world["body_mass"])


def rewritten(saved: Path, change: Any) -> Path:
    """A saved file with another header."""
    header, arrays = store.read(saved)
    change(header)
    store.write_arrays(saved, {"header": store.pack(header), **arrays})
    return saved


@QUIET
def test_a_file_without_digests_loads_in_silence(zoo: Model, saved: Path) -> None:
    edited(zoo, saved, "body_mass", 3).load(rewritten(saved, lambda header: header.pop("values")))


@pytest.mark.parametrize("values", [3, ["body_mass"], {"body_mass": 3}, None])
def test_digests_that_are_none_are_refused(zoo: Model, saved: Path, values: Any) -> None:
    rewritten(saved, lambda header: header.update(values=values))
    with pytest.raises(FileFormatError, match="does not say which values the Model had"):
        dovetail.make_data(zoo).load(saved)
