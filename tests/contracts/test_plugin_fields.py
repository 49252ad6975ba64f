"""Model fields that plugins add: declared, allocated, edited, copied, pickled and saved as the built-in ones are."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import registry as registry_module
from dovetail.cli.fields import all_fields
from dovetail.contracts.derive import build_model
from dovetail.contracts.fields import FieldSpec
from dovetail.errors import FileFormatError, PluginError, ValidationError
from dovetail.planning.dependencies import DecidingValues
from dovetail.plugin import Implementation, data_field, model_field
from dovetail.recorded_model import RecordedModel
from dovetail.registry import Registry, default_registry

STIFFNESS = model_field("acme:stiffness", "nbody", 3, unit="N/m", doc="Stiffness of a body's cover.", init=2)
KIND = model_field("acme:kind", "ngeom", dtype="int32", doc="Material number.")
SIZES = {"nbody": 2, "ngeom": 1, "nnames": 1}
NOWHERE = {
    **{f"body_{name}": [-1, -1] for name in ("mocapid", "treeid", "plugin")},
    **{f"geom_{name}": [-1] for name in ("dataid", "matid", "plugin")},
    "body_geomnum": [1, 0],
    "geom_condim": [3],
}
"""Ids of a Model with a geom on the world and little else."""


def built(*own: FieldSpec, **values: Any) -> dovetail.Model:
    return build_model(
        SIZES, {**NOWHERE, **{f"acme:{name}": value for name, value in values.items()}}, own=own
    )


def declaring(*specs: FieldSpec, **said: Any) -> Implementation:
    said = {"stage": "passive_force", "key": "cover", "name": "acme", "backend": "numpy", **said}
    return Implementation(target="m:f", model_fields=specs, **said)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The usual registry, with the fields above."""
    registry = default_registry().copy()
    registry.add(declaring(STIFFNESS, KIND))
    monkeypatch.setattr(registry_module, "default_registry", lambda: registry)
    return registry


def test_a_field_begins_at_its_initial_value_and_is_edited_in_place() -> None:
    model = built(STIFFNESS, KIND)
    assert model.extra["acme:stiffness"].tolist() == [[2, 2, 2], [2, 2, 2]]
    assert model.extra["acme:kind"].dtype == np.int32
    model.extra["acme:stiffness"][1] = 5
    model.extra["acme:kind"] = 7
    assert model.field("acme:stiffness")[1].tolist() == [5, 5, 5]
    assert model.extra["acme:kind"].tolist() == [7]
    assert list(model.extra) == ["acme:stiffness", "acme:kind"]


def test_values_are_checked_as_those_of_other_fields() -> None:
    assert built(STIFFNESS, stiffness=np.ones((2, 3))).extra["acme:stiffness"].sum() == 6
    with pytest.raises(ValidationError, match=r"acme:stiffness has shape \(3, 3\), should be \(2, 3\)"):
        built(STIFFNESS, stiffness=np.ones((3, 3)))
    with pytest.raises(ValidationError, match="unknown field 'acme:stifness'; did you mean 'acme:stiffness'"):
        built(STIFFNESS, stifness=np.ones((2, 3)))


def test_a_model_without_them_says_so() -> None:
    model = built()
    assert "acme:stiffness" not in model.extra
    with pytest.raises(KeyError, match="no plugin field 'acme:stiffness'"):
        model.extra["acme:stiffness"]


def test_it_is_in_the_memory_that_kernels_read() -> None:
    model = built(STIFFNESS)
    place = model.arena.layout.places["acme:stiffness"]
    model.extra["acme:stiffness"] = 9
    assert (place.dtype, place.shape) == ("float64", (2, 3))
    assert model.buffers["float64"][place.offset : place.offset + place.count].tolist() == [9] * 6


def test_copies_and_pickles_have_it() -> None:
    model = built(STIFFNESS, KIND)
    model.extra["acme:stiffness"] = 4
    for again in (model.copy(), pickle.loads(pickle.dumps(model))):
        assert again.extra["acme:stiffness"].tolist() == [[4] * 3] * 2
        again.extra["acme:stiffness"] = 1
        assert again.own_specs == (STIFFNESS, KIND)
    assert model.extra["acme:stiffness"].min() == 4


def test_it_is_watched_like_any_other() -> None:
    model = built(STIFFNESS)
    watched = RecordedModel(model)
    assert watched.extra["acme:stiffness"].all()
    assert watched.looked_at == {"acme:stiffness"}
    key = DecidingValues.of(model, watched.looked_at)
    model.extra["acme:stiffness"][0] = 0
    assert not key.holds(model)


@pytest.mark.parametrize(
    ("name", "shape", "said", "text"),
    [
        ("stiffness", (), {}, "should be named 'namespace:field'"),
        ("model:stiffness", (), {}, "the namespace cannot be 'model'"),
        ("acme:x", ("nbdy",), {}, "is shaped by 'nbdy', which is no size; did you mean 'nbody'"),
        ("acme:x", ("ncon_max",), {}, "'ncon_max', which is a capacity of Data"),
        ("acme:x", (), {"dtype": "real"}, "has dtype 'real', should be one of float64"),
        ("acme:x", (), {"init": "qpos0"}, "cannot begin as a copy of another field"),
    ],
)
def test_a_wrong_declaration_is_refused(name: str, shape: tuple, said: dict, text: str) -> None:
    with pytest.raises(PluginError, match=text):
        model_field(name, *shape, doc="…", **said)


def test_records_declare_the_same_field_alike() -> None:
    registry = default_registry().copy()
    registry.add(declaring(STIFFNESS))
    registry.add(declaring(STIFFNESS, backend="taichi"))
    assert registry.model_fields() == {"acme:stiffness": STIFFNESS}
    other = model_field("acme:stiffness", "ngeom", doc="Something else.")
    with pytest.raises(PluginError, match="Model field 'acme:stiffness' is declared otherwise already"):
        registry.add(declaring(other, key="other"))


def test_a_data_field_is_no_model_field() -> None:
    registry = default_registry().copy()
    with pytest.raises(PluginError, match="Model field 'acme:x' has dtype 'real'"):
        registry.add(declaring(data_field("acme:x", doc="…")))


def test_every_model_has_the_fields_of_installed_plugins(installed: Registry) -> None:
    assert build_model(SIZES, {}).extra["acme:stiffness"].shape == (2, 3)
    model = dovetail.loads("<mujoco/>", registry=installed)
    assert model.extra["acme:stiffness"].tolist() == [[2, 2, 2]]


def test_they_are_listed_with_the_models_fields(installed: Registry) -> None:
    found = next(field for field in all_fields() if field["name"] == "acme:stiffness")
    assert (found["owner"], found["unit"], found["shape"]) == ("model", "N/m", ("nbody", 3))


def test_a_saved_model_has_them_wherever_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    model = built(STIFFNESS, KIND)
    model.extra["acme:stiffness"][1] = 1 / 3
    model.save(path)
    again = dovetail.load_model(path)
    assert again.extra["acme:stiffness"].tobytes() == model.extra["acme:stiffness"].tobytes()
    assert again.own_specs == model.own_specs


def test_a_file_saved_before_a_plugin_was_installed_gets_its_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.npz"
    built().save(path)
    registry = default_registry().copy()
    registry.add(declaring(STIFFNESS))
    monkeypatch.setattr(registry_module, "default_registry", lambda: registry)
    assert dovetail.load_model(path).extra["acme:stiffness"].tolist() == [[2, 2, 2], [2, 2, 2]]


def test_a_file_with_odd_declarations_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dovetail.contracts import model_store

    path = tmp_path / "model.npz"
    for odd in (
        [{"name": "acme:x"}],
        3,
        [{"name": "x", "shape": [], "dtype": "int32", "unit": "", "doc": "", "init": 0}],
    ):
        monkeypatch.setattr(model_store, "as_plain", lambda specs, odd=odd: odd)
        built().save(path)
        with pytest.raises(FileFormatError, match="the fields of plugins are not declared well"):
            dovetail.load_model(path)
