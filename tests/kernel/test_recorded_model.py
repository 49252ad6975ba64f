"""A recorded Model knows what was read, behaves as the Model does, and gives the key that plans depend on."""

from __future__ import annotations

import time

import numpy as np
import pytest

import dovetail
from dovetail.planning.dependencies import DecidingValues
from dovetail.planning.needs import ModelFacts
from dovetail.recorded_model import RecordedModel, by_value
from dovetail.registry import default_registry

XML = """<mujoco><worldbody><body name="b" pos="0 0 1"><joint name="j" damping="1"/><geom name="g" size=".1"/>
</body></worldbody></mujoco>"""


@pytest.fixture
def model() -> dovetail.Model:
    return dovetail.loads(XML)


def test_fields_are_noted_and_sizes_and_names_are_not(model: dovetail.Model) -> None:
    recorded = RecordedModel(model)
    assert recorded.nbody == model.nbody == recorded.sizes["nbody"]
    assert recorded.object_names["body"] == model.object_names["body"]
    assert recorded.name_index("body") == {"world": 0, "b": 1}
    assert recorded.looked_at == frozenset()
    assert recorded.geom_type is model.geom_type
    assert recorded.looked_at == {"geom_type"}


def test_groups_are_noted_by_their_full_name(model: dovetail.Model) -> None:
    recorded = RecordedModel(model)
    assert recorded.opt.cone == model.opt.cone
    assert recorded.vis.map.znear == model.vis.map.znear
    assert np.array_equal(recorded.field("stat.center"), model.stat.center)
    assert recorded.looked_at == {"opt.cone", "vis.map.znear", "stat.center"}


def test_objects_by_name_are_noted(model: dovetail.Model) -> None:
    recorded = RecordedModel(model)
    assert recorded.joint("j").damping.tolist() == [1]
    assert {"dof_damping"} <= recorded.looked_at <= {"dof_damping", "jnt_dofadr", "jnt_type"}


def test_who_takes_everything_has_read_everything(model: dovetail.Model) -> None:
    everything = {name for name, _ in model.fields()}
    for take in (lambda w: list(w.fields()), lambda w: w.copy(), lambda w: w.buffers):
        recorded = RecordedModel(model)
        take(recorded)
        assert recorded.looked_at == everything


def test_it_cannot_be_written(model: dovetail.Model) -> None:
    recorded = RecordedModel(model)
    with pytest.raises(AttributeError, match=r"opt.cone cannot be set here: rules and builders only look"):
        recorded.opt.cone = 1
    with pytest.raises(AttributeError, match="body_mass cannot be set here"):
        recorded.body_mass = 1


def test_a_field_that_is_not_there_is_the_models_own_error(model: dovetail.Model) -> None:
    with pytest.raises(AttributeError, match="has no field 'geom_tipe'; did you mean 'geom_type'"):
        RecordedModel(model).geom_tipe  # noqa: B018
    assert "geom_type" in RecordedModel(model)
    assert "geom_tipe" not in RecordedModel(model)


def test_integers_count_by_value_and_reals_by_sign(model: dovetail.Model) -> None:
    key = DecidingValues.of(model, ["geom_group", "dof_damping", "opt.gravity"])
    model.dof_damping[0] = 5
    model.opt.gravity[2] = -1
    assert key.holds(model)
    model.dof_damping[0] = 0
    assert not key.holds(model)
    model.dof_damping[0] = 1e-30
    assert key.holds(model)
    model.opt.gravity[2] = 1
    assert not key.holds(model)
    model.opt.gravity[2] = -1
    model.geom_group[0] = 3
    assert not key.holds(model)


def test_other_fields_do_not_count(model: dovetail.Model) -> None:
    key = DecidingValues.of(model, ["geom_group", "opt.cone"])
    for name, view in model.fields():
        if name not in key.names:
            view[...] = 1
    assert key.holds(model)


def test_a_builder_may_say_that_the_very_numbers_count(model: dovetail.Model) -> None:
    recorded = RecordedModel(model)
    by_value(recorded, "dof_damping")
    by_value(model, "dof_damping")  # nobody watches: nothing to note
    key = DecidingValues.of(model, recorded.looked_at)
    model.dof_damping[0] = 5
    assert not key.holds(model)


def test_a_key_holds_for_another_model_with_the_same_values(model: dovetail.Model) -> None:
    key = DecidingValues.of(model, ["geom_group", "dof_damping"])
    other = model.copy()
    assert key.holds(other)
    other.geom_group[0] = 4
    assert not key.holds(other)
    assert key.holds(model)
    assert not key.holds(dovetail.load("humanoid"))
    assert key == DecidingValues.of(model, ["dof_damping", "geom_group"])
    assert hash(key) == hash(DecidingValues.of(model, ["dof_damping", "geom_group"]))


def test_a_nan_is_no_surprise(model: dovetail.Model) -> None:
    key = DecidingValues.of(model, ["dof_damping"])
    model.dof_damping[0] = np.nan
    assert not key.holds(model)


def test_asking_before_every_step_costs_little() -> None:
    """The target is 15 µs for the humanoid; ten times that is allowed to a busy machine."""
    humanoid = dovetail.load("humanoid")
    facts = ModelFacts(humanoid, default_registry())
    facts.reasons(), facts.features
    key = DecidingValues.of(humanoid, facts.looked_at)
    times = []
    for _ in range(20):
        start = time.process_time()
        assert key.holds(humanoid)
        times.append(time.process_time() - start)
    assert min(times) < 150e-6
