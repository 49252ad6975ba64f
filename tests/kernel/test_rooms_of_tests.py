"""Every folder of plugins has its tests where its code is, and tests have names of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail import builtin

ROOT = Path(__file__).resolve().parents[2]
STAGES = ROOT / "tests" / "stages"
LIBRARY = "shared"
"""What stages share: no stage itself."""


def folders() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py"))


def test_all_stages_have_a_folder() -> None:
    assert set(builtin.stages()) <= set(folders())


@pytest.mark.parametrize("folder", folders())
def test_the_tests_of_a_folder_stand_in_a_folder_of_its_name(folder: str) -> None:
    assert [*STAGES.glob(f"{folder}/test_*.py")], f"write tests/stages/{folder}/test_{folder}.py"


@pytest.mark.parametrize(
    "folder", sorted(path.name for path in STAGES.iterdir() if any(path.glob("test_*.py")))
)
def test_a_folder_of_tests_has_code_to_test(folder: str) -> None:
    assert folder in [*folders(), LIBRARY], f"plugins/{folder} is gone: its tests belong elsewhere"


def test_files_of_tests_have_names_of_their_own() -> None:
    """They are imported by these names."""
    found = [path.name for path in (ROOT / "tests").rglob("test_*.py") if "dovetail_" not in str(path)]
    assert sorted({name for name in found if found.count(name) > 1}) == []
