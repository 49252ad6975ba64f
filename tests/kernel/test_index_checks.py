"""Ids, addresses and counts that point nowhere are refused before anything runs: no kernel reads foreign memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index_scene import DEFORMABLE, RICH, fields, spoilt
from lane_backend import LANES

import dovetail
from dovetail.contracts.indices import RULES, check_indices, index_problems
from dovetail.contracts.types import MODEL_SPECS
from dovetail.errors import ArgumentError, DovetailError, FileFormatError, ValidationError
from dovetail.planning import dependencies
from dovetail.planning.dependencies import IndexCheck

SCENE = Path(__file__).with_name("index_scene.py")


def test_every_integer_field_is_declared() -> None:
    integers = [name for name, spec in MODEL_SPECS.items() if np.dtype(spec.dtype).kind in "iu"]
    assert set(integers) == set(RULES)


@pytest.mark.parametrize("xml", [RICH, DEFORMABLE], ids=["rich", "deformable"])
def test_what_the_compiler_makes_is_well(xml: str) -> None:
    assert index_problems(dovetail.loads(xml)) == []


def test_each_field_is_refused_where_it_points_far_away() -> None:
    """Of fields that find something, no entry may be far off; others may hold anything."""
    for model in (dovetail.loads(RICH), dovetail.loads(DEFORMABLE)):
        for name in fields(model):
            bound = [what for what in spoilt(model, name) if not index_problems(model)]
            assert not bound or _harmless(name), bound


def _harmless(name: str) -> bool:
    """Fields that no stage takes as an index: flags, groups, masks, numbers of iterations, texts, what is drawn."""
    words = (
        "group",
        "contype",
        "conaffinity",
        "limited",
        "active",
        "signature",
        "priority",
        "names",
        "paths",
        "vis.",
    )
    others = (
        "opt.",
        "cam_",
        "light_",
        "tex_data",
        "text_data",
        "mat_texuniform",
        "gravcomp",
        "early",
        "depth",
        "flex",
    )
    rest = ("bvh_nodeid", "sensor_intprm", "mesh_facetexcoord", "plugin_attr", "mesh_graph")
    return any(word in name for word in (*words, *others, *rest))


def test_the_message_names_field_entry_value_range_and_object() -> None:
    model = dovetail.load("humanoid")
    model.jnt_qposadr[2] = 10**8
    model.dof_bodyid[1] = -7
    with pytest.raises(ValidationError) as caught:
        check_indices(model)
    text = str(caught.value)
    assert 'jnt_qposadr[2] (joint "spine_turn") is 100000000; allowed: 0 to 27' in text
    assert "dof_bodyid[1]" in text
    assert f"is -7; allowed: 0 to {model.nbody - 1}" in text


RELATIONS = {
    "a body before its parent": ("body_parentid", 1, 2, "an id below 1"),
    "a dof before its parent": ("dof_parentid", 1, 3, "an id below 1"),
    "a joint of another body": ("jnt_bodyid", 1, 1, "whose it is by body_jntadr"),
    "numbers of joints in disorder": ("jnt_qposadr", 1, 6, "behind the joint before"),
    "rows of M that overlap": ("M_rowadr", 2, 0, "behind the row before"),
    "columns out of order": ("M_colind", 2, 0, "allowed"),
    "two mocap bodies in one place": ("body_mocapid", 2, 0, "once"),
    "a tree of boxes with a loop": ("bvh_child", 0, 0, "-1, or 1 to"),
    "a hull that names no vertex": ("mesh_graph", 7, 90, "of mesh 0 (tetra)"),
    "a sensor of another kind of object": ("sensor_objtype", 2, 1, "3 (joint)"),
    "more slots than numbers": ("sensor_intprm", 56, 9, "allowed: 2"),
    "dynamics without activation": ("actuator_dyntype", 0, 1, "no activation"),
    "a path without sites": ("wrap_type", 0, 4, "begins and ends with a site"),
}


@pytest.mark.parametrize(("name", "place", "value", "text"), RELATIONS.values(), ids=RELATIONS)
def test_what_does_not_fit_together_is_refused(name: str, place: int, value: int, text: str) -> None:
    model = dovetail.loads(RICH)
    model.field(name).reshape(-1)[place] = value
    with pytest.raises(ValidationError, match=name) as caught:
        check_indices(model)
    assert text in str(caught.value)


def test_a_side_site_is_an_id_although_a_real_number() -> None:
    model = dovetail.loads(RICH)
    model.wrap_prm[1] = 1e9
    with pytest.raises(ValidationError, match=r"wrap_prm\[1\]"):
        dovetail.Simulation(model, backend="numpy")


def test_a_forged_file_is_refused(tmp_path: Path) -> None:
    model = dovetail.load("pendulum")
    model.jnt_qposadr[0] = 10**8
    model.save(tmp_path / "forged.npz")
    with pytest.raises(FileFormatError, match=r"jnt_qposadr\[0\] .* is 100000000; allowed: 0 to 1"):
        dovetail.load_model(tmp_path / "forged.npz")


@pytest.mark.parametrize(
    "said", [{"backend": "numpy"}, {"nworld": 3, "backend": LANES}], ids=["numpy", "lanes"]
)
def test_an_edit_between_steps_is_refused_until_it_is_mended(said: dict[str, Any]) -> None:
    sim = dovetail.Simulation("pendulum", **said)
    twin = dovetail.Simulation("pendulum", **said)
    sim.step(2)
    refused = 0
    for name in fields(sim.model):
        for what in spoilt(sim.model, name):
            if not index_problems(sim.model):
                continue
            try:
                sim.step()
            except ValidationError:
                refused += 1
            else:  # nothing of the kernel reads it
                assert said["backend"] == LANES, what
    assert refused > 200
    sim.reset()
    sim.step(4)
    twin.step(4)
    assert np.asarray(sim.data.qpos).tobytes() == np.asarray(twin.data.qpos).tobytes()


def test_set_constants_and_new_data_look_too() -> None:
    model = dovetail.loads(RICH)
    model.body_mocapid[2] = 0
    with pytest.raises(DovetailError, match="body_mocapid"):
        dovetail.make_data(model)
    model.body_mocapid[2] = -1
    model.dof_jntid[0] = 99
    with pytest.raises(DovetailError, match="dof_jntid"):
        dovetail.set_constants(model)


def test_what_did_not_change_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = dovetail.Simulation("pendulum", backend="numpy")
    sim.step()
    asked = []
    monkeypatch.setattr(dependencies, "check_indices", lambda model: asked.append(model))
    sim.step(5)
    assert not asked
    sim.model.jnt_group[0] += 1
    sim.model.jnt_bodyid[0] = int(sim.model.jnt_bodyid[0])
    sim.step()
    assert len(asked) <= 1


def test_large_fields_are_compared_only_where_a_kernel_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "SMALL", 40)
    model = dovetail.loads(RICH)
    sim = dovetail.Simulation(model, backend="numpy")
    sim.step()
    looked_at = sim.plan.depends_on._indices._names
    assert "mesh_graph" not in looked_at
    assert "jnt_qposadr" in looked_at
    watch = IndexCheck(model)
    watch.settle(frozenset({"mesh_graph", "geom_size"}), only=True)
    watch.check()
    model.mesh_graph[0] = 10**8
    with pytest.raises(ValidationError, match="mesh_graph"):
        watch.check()
    with pytest.raises(ValidationError, match="mesh_graph"):
        dovetail.Simulation(model, backend="numpy")


def test_a_ring_of_sleeping_trees_that_does_not_close_is_refused() -> None:
    free = '<body pos="{} 0 1"><freejoint/><geom size=".1"/></body>'
    bodies = f"<worldbody>{free.format(0)}{free.format(1)}</worldbody>"
    xml = f'<mujoco><option><flag sleep="enable"/></option>{bodies}</mujoco>'
    sim = dovetail.Simulation(dovetail.loads(xml), backend="numpy")
    sim.step()
    for wrong in ([1, 1], [5, 0], [0, 0], [10**8, -1]):
        sim.data.tree_asleep[:] = wrong
        with pytest.raises(ValidationError, match="tree_asleep"):
            sim.step()
    sim.data.tree_asleep[:] = [1, 0]
    sim.step()


@pytest.mark.parametrize("value", [np.zeros(99, int), "ball", [[1, 2], [3, 4]]], ids=str)
def test_fields_cannot_be_replaced_by_other_shapes(value: Any) -> None:
    model = dovetail.load("pendulum")
    data = dovetail.make_data(model)
    with pytest.raises(ArgumentError):
        model.jnt_qposadr = value
    with pytest.raises(ArgumentError):
        data.qpos = value


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("kind", ["numpy", "file"])
def test_no_value_of_any_field_ends_the_process(kind: str, first: int) -> None:
    done = subprocess.run(
        [sys.executable, str(SCENE), kind, str(first), "4"],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-300:]
    assert "NOT TYPED" not in done.stdout, done.stdout
    assert "refused" in done.stdout
