"""Packages written by `dovetail plugins new`: installed, listed, at work, and certified like those of strangers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ArgumentError, DovetailError, FileError
from dovetail.template import checked_name, new_package

Run = Callable[..., subprocess.CompletedProcess[str]]
Install = Callable[[Path, Path, Path], None]
CLI = ("-c", "from dovetail.cli import main; main()")


@pytest.fixture
def installed(tmp_path: Path, start: Run, install: Install) -> Callable[..., Run]:
    """Write a package, install it, and give what runs Python with it, in its folder."""

    def make(name: str, **how: Any) -> Run:
        written = new_package(name, tmp_path, **how)
        install(written.folder, tmp_path / "site", tmp_path)

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return start(*arguments, packages=(), PYTHONPATH=str(tmp_path / "site"))

        return run

    return make


def test_a_new_package_is_listed_passes_its_own_tests_and_is_certified(
    installed: Callable[..., Run], tmp_path: Path
) -> None:
    run = installed("dovetail-breeze")
    listed = json.loads(run(*CLI, "plugins", "--json", "--third-party").stdout)["plugins"]
    assert [(p["name"], p["status"]) for p in listed] == [("dovetail_breeze", "active")]
    assert "passive_force:dovetail_breeze quadratic@native" in listed[0]["implementations"]
    own = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "dovetail-breeze/tests")
    assert own.returncode == 0, own.stdout
    done = run(*CLI, "certify", "dovetail-breeze", "--quick", "--backend", "numpy", "--output", "breeze.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "certified" in done.stdout
    assert run(*CLI, "certify", "--verify", "breeze.json").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("my-mass", {"slot": "mass_matrix"}),
        ("my-damper", {"slot": "passive_force:damper", "lanes": False}),
        ("my-bias", {"slot": "bias_force"}),
    ],
)
def test_a_package_for_a_chosen_stage_does_too(
    installed: Callable[..., Run], name: str, how: dict[str, Any]
) -> None:
    run = installed(name, **how)
    own = run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"{name}/tests")
    assert own.returncode == 0, own.stdout
    done = run(*CLI, "certify", name, "--backend", "numpy")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_new_package_is_certified_in_full_on_numpy_and_in_lanes(installed: Callable[..., Run]) -> None:
    run = installed("dovetail-breeze")
    done = run(*CLI, "certify", "dovetail-breeze", "--backend", "numpy", "--backend", "native")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_spoilt_new_package_is_not_certified(tmp_path: Path, start: Run, install: Install) -> None:
    written = new_package("dovetail-breeze", tmp_path, lanes=False)
    force = written.folder / "src/dovetail_breeze/force_numpy.py"
    force.write_text(force.read_text().replace("abs(data.qvel)", "abs(data.qacc)"))
    install(written.folder, tmp_path / "site", tmp_path)
    done = start(
        *CLI, "certify", "dovetail_breeze", "--quick", packages=(), PYTHONPATH=str(tmp_path / "site")
    )
    assert done.returncode == 1
    assert "reads qacc, which its record does not declare" in done.stdout
    assert "not certified" in done.stdout


def test_windmill_is_certified(start: Run) -> None:
    done = start(
        *(*CLI, "certify", "dovetail-windmill", "--quick", "--backend", "numpy"),
        packages=("dovetail_windmill",),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("package", ["windmill", "acme"])
def test_third_party_packages_are_certified_in_full(start: Run, package: str) -> None:
    done = start(
        *(*CLI, "certify", f"dovetail-{package}", "--backend", "numpy", "--backend", "native"),
        packages=(f"dovetail_{package}",),
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- what is refused


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "my-wind").mkdir()
    with pytest.raises(FileError, match="is there already; choose another name"):
        new_package("my-wind", tmp_path)
    assert not list((tmp_path / "my-wind").iterdir())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("My Wind", "use lower-case letters, digits and hyphens"),
        ("../wind", "use lower-case letters"),
        ("1wind", "use lower-case letters"),
        ("", "use lower-case letters"),
        ("import", "has another meaning in Python"),
        ("json", "has another meaning in Python"),
        ("numpy", "is installed already"),
    ],
)
def test_names_that_cannot_be_are_refused(name: str, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        checked_name(name)


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        ("mass_matrx", "did you mean 'mass_matrix'"),
        ("sensor", "sensor has rows; name the one"),
        ("step_end", "does not run in a place of its own"),
        ("collide_pair:plane-sphere", "does not run in a place of its own"),
    ],
)
def test_stages_without_a_template_are_refused_and_leave_nothing(
    tmp_path: Path, slot: str, text: str
) -> None:
    with pytest.raises(DovetailError, match=text):
        new_package("my-stage", tmp_path, slot=slot)
    assert not list(tmp_path.iterdir())


def test_every_file_is_python_or_complete_text(tmp_path: Path) -> None:
    for number, slot in enumerate(("passive_force", "mass_matrix", "integrate")):
        written = new_package(f"my-stage{number}", tmp_path, slot=slot)
        for name in written.files:
            text = (written.folder / name).read_text()
            assert "{{" not in text.replace("${{", "")
            if name.endswith(".py"):
                compile(text, name, "exec")
