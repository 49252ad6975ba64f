"""Entry points: found as the standard library finds them, which is not even imported where nobody names the group."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dovetail import entry_points

GROUP = "dovetail.plugins"
ASK = (
    f"import sys; sys.path[:0] = sys.argv[1:]; from dovetail.entry_points import entry_points\n"
    f"found = sorted(entry.name for entry in entry_points({GROUP!r}))\n"
    "print(found, 'importlib.metadata' in sys.modules)"
)


def package(folder: Path, text: str, kind: str = "dist-info") -> Path:
    """A folder as site-packages is, with the description of one package."""
    described = folder / f"acme-1.0.{kind}"
    described.mkdir(parents=True)
    (described / ("METADATA" if kind == "dist-info" else "PKG-INFO")).write_text("Name: acme\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(text)
    return folder


def asked(*paths: Path) -> str:
    """What a new process finds, and whether it took the standard library for it."""
    run = subprocess.run([sys.executable, "-c", ASK, *map(str, paths)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_what_nobody_names_is_not_looked_for_further(tmp_path: Path) -> None:
    other = package(tmp_path, "[console_scripts]\nacme = acme:main\n")
    assert asked(other, tmp_path / "no_such_folder") == "[] False"


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_a_package_that_names_the_group_is_found(tmp_path: Path, kind: str) -> None:
    assert asked(package(tmp_path, f"[{GROUP}]\nwind = acme.wind\n", kind)) == "['wind'] True"


def test_archives_are_left_to_the_standard_library(tmp_path: Path) -> None:
    folder = package(tmp_path / "inner", f"[{GROUP}]\nwind = acme.wind\n")
    archive = tmp_path / "acme.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*"):
            file.write(path, path.relative_to(folder))
    assert asked(archive) == "['wind'] True"


def test_finders_of_others_are_left_to_the_standard_library(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        """Finds packages elsewhere than in folders."""

        @staticmethod
        def find_distributions(context: object = None) -> list[object]:
            return []

    assert not entry_points._may_be_mentioned(b"no package names this group")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert entry_points._may_be_mentioned(b"no package names this group")


def test_a_folder_that_cannot_be_read_is_left_to_the_standard_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: str) -> list[str]:
        raise PermissionError(folder)

    assert not entry_points._mentioned_in(str(tmp_path), b"group")
    monkeypatch.setattr(entry_points.os, "listdir", refused)
    assert entry_points._mentioned_in(str(tmp_path), b"group")
    assert entry_points._mentioned_in("acme-1.0.egg", b"group")
