"""What a Model says about its own loading survives whatever happens to it."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.contracts import model_store
from dovetail.contracts.store import read_archive, write_arrays
from dovetail.errors import FileFormatError

TUBE = (
    "<mujoco model='tube'><worldbody><body><geom type='cylinder' size='1 2' shellinertia='true'/></body></worldbody>"
    "</mujoco>"
)


@pytest.fixture
def tube() -> Model:
    return dovetail.loads(TUBE, stages={"geom_inertia:cylinder": "open_shell"})


def saved(model: Model, folder: Path) -> Model:
    model.save(folder / "model.npz")
    return dovetail.load_model(folder / "model.npz")


WAYS = {
    "save": saved,
    "copy": lambda model, folder: model.copy(),
    "copy.copy": lambda model, folder: copy.copy(model),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_survives(way: str, tube: Model, tmp_path: Path) -> None:
    again = WAYS[way](tube, tmp_path)
    assert dict(again.stages) == {
        "geom_inertia:cylinder": "open_shell@numpy/1 (call argument)",
        "finalize_model": "dynamics@numpy/1",
    }
    assert all(np.array_equal(again.field(name), view) for name, view in tube.fields())
    again.body_mass[1] = 0.0
    assert tube.body_mass[1] > 0.0


def test_it_cannot_be_edited(tube: Model) -> None:
    with pytest.raises(TypeError):
        tube.stages["geom_inertia:box"] = "x"  # type: ignore[index]


def test_a_pickled_model_runs(tube: Model) -> None:
    dovetail.Simulation(pickle.loads(pickle.dumps(dovetail.load("pendulum")))).step(3)


def rewritten(path: Path, **changes: object) -> None:
    """The file with another header and the digest that fits it."""
    import json

    header, arrays = read_archive(path, model_store.FORMAT)
    del header["digest"]
    header = {k: v for k, v in {**header, **changes}.items() if v is not None}
    header["digest"] = model_store._digest(header, arrays)
    write_arrays(path, {"header": np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays})


def test_a_file_of_an_earlier_version_has_none(tube: Model, tmp_path: Path) -> None:
    tube.save(tmp_path / "old.npz")
    rewritten(tmp_path / "old.npz", stages=None)
    assert dict(dovetail.load_model(tmp_path / "old.npz").stages) == {}


@pytest.mark.parametrize("stages", [[], "text", {"finalize_model": 3}])
def test_other_things_in_its_place_are_refused(stages: object, tube: Model, tmp_path: Path) -> None:
    tube.save(tmp_path / "odd.npz")
    rewritten(tmp_path / "odd.npz", stages=stages)
    with pytest.raises(FileFormatError, match="not texts by slot"):
        dovetail.load_model(tmp_path / "odd.npz")
