"""Comparing two implementations of a stage that takes part in loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compare.ab import compare
from dovetail.errors import SelectionError, UnknownImplementationError, UnknownStageError
from dovetail.registry import Registry, build_registry

L_PRISM = """
<mujoco model="prism">
  <asset><mesh name="m" inertia="{}"
    vertex="0 0 0 3 0 0 3 1 0 1 1 0 1 3 0 0 3 0 0 0 1 3 0 1 3 1 1 1 1 1 1 3 1 0 3 1"
    face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9
          4 5 11 4 11 10 5 0 6 5 6 11"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="m" density="1"/></body></worldbody>
</mujoco>
"""


def test_two_integrals_of_a_closed_mesh_agree() -> None:
    report = compare(L_PRISM.format("exact"), "mesh_inertia:exact", "pyramids", "signed_volume", repeat=3)
    assert report.ok
    assert report.worst() < 1e-8
    assert report.comparisons == 3
    assert "agree" in report.headline()
    assert report.microseconds_a > 0
    assert report.microseconds_b > 0


@pytest.mark.parametrize(("mode", "volume"), [("legacy", None), ("convex", 7.0)])
def test_modes_that_are_not_exact_differ_in_mass(mode: str, volume: float | None) -> None:
    report = compare(L_PRISM.format(mode), f"mesh_inertia:{mode}", "pyramids@numpy", "signed_volume@numpy")
    assert not report.ok
    mass = next(row for row in report.rows if row.field == "body_mass")
    assert mass.ours == pytest.approx(5.0)
    assert mass.theirs > 5.001
    assert volume in (None, pytest.approx(mass.theirs))
    assert "body_mass" in report.table()
    assert "time to load" in report.table()
    assert report.to_dict()["rows"]


def test_only_fields_that_differ_are_listed() -> None:
    report = compare("humanoid", "finalize_model", "dynamics", "dynamics")
    assert (report.rows, report.ok) == ((), True)


def test_a_file_serves_as_well_as_its_text(tmp_path: Path) -> None:
    (tmp_path / "prism.xml").write_text(L_PRISM.format("legacy"))
    by_file = compare(tmp_path / "prism.xml", "mesh_inertia:legacy", "pyramids", "signed_volume")
    by_text = compare(L_PRISM.format("legacy"), "mesh_inertia:legacy", "pyramids", "signed_volume")
    assert by_file.rows == by_text.rows


def test_a_whole_table() -> None:
    report = compare(L_PRISM.format("legacy"), "mesh_inertia", "pyramids", "signed_volume")
    assert "body_mass" in {row.field for row in report.rows}


def test_what_changes_the_sizes_is_told_too(registry: Registry, record: Any) -> None:
    def more(content: bytes, filename: str) -> Any:
        points = np.vstack([np.zeros(3), np.eye(3), [[1, 1, 1]]]).astype(np.float32)
        return {"vertex": points}

    from test_loading_selection import BY_SLOT

    case = BY_SLOT["load_mesh:.stl"]
    record("load_mesh", more, key=".stl", name="more")
    path = Path("model.xml")
    path.write_text(case.xml)
    Path("m.stl").write_bytes(case.assets["m.stl"])
    report = compare(path, "load_mesh:.stl", "stl", "more", registry=registry)
    assert "shape (5, 3) instead of (4, 3)" in report.table()


def test_a_model_that_does_not_use_the_row_says_which_it_uses() -> None:
    with pytest.raises(
        SelectionError, match=r"has no use for .*nothing to compare\. It uses mesh_inertia:legacy"
    ):
        compare(L_PRISM.format("legacy"), "mesh_inertia:exact", "pyramids", "signed_volume")
    with pytest.raises(SelectionError, match="It uses no row of mesh_inertia"):
        compare("humanoid", "mesh_inertia:exact", "pyramids", "signed_volume")
    with pytest.raises(SelectionError, match="nothing to compare"):
        compare(L_PRISM.format("shell"), "mesh_inertia", "pyramids", "signed_volume")


def test_a_loaded_model_cannot_be_loaded_twice() -> None:
    model = dovetail.load("humanoid")
    with pytest.raises(SelectionError, match="give compare the model's file or its MJCF text"):
        compare(model, "geom_inertia:box", "analytic", "tubes")


def test_mistakes() -> None:
    with pytest.raises(UnknownImplementationError, match="did you mean 'tubes'"):
        compare("humanoid", "geom_inertia:box", "analytic", "tube")
    with pytest.raises(UnknownStageError, match="did you mean 'box'"):
        compare("humanoid", "geom_inertia:bx", "analytic", "tubes")
    with pytest.raises(UnknownStageError, match="did you mean 'geom_inertia'"):
        compare("humanoid", "geom_inerta:box", "analytic", "tubes")


def test_registries_are_respected() -> None:
    with pytest.raises(UnknownImplementationError):
        compare(
            "humanoid", "geom_inertia:box", "analytic", "mine", registry=build_registry(third_party=False)
        )
