"""Packages written by `dovetail plugins new`: installed, listed, at work, and certified like those of strangers."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from dovetail import pipeline
from dovetail.errors import ArgumentError, DovetailError, FileError
from dovetail.registry import build_registry
from dovetail.template import Written, checked_name, new_package
from dovetail.template import slots as template_slots
from dovetail.testing.cases import registry_with

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


# ---- every slot


def all_slots() -> dict[str, list[str]]:
    """What there is, by stage: itself, its rows, and a row of one's own where packages add rows."""
    own = {f"{stage}:{key}" for stage, key in OWN_ROWS.items()}
    found = {}
    for name, stage in pipeline.STAGES.items():
        rows = [f"{name}:{key}" for key in REGISTRY.keys(name)] if stage.kind == "table" else [name]
        found[name] = [*rows, *(slot for slot in own if slot.partition(":")[0] == name)]
    return found


REGISTRY = build_registry(third_party=False)
OWN_ROWS = {
    "passive_force": "wind",
    "sensor": "odometer",
    "constraint_rows": "door",
    "mjcf_element": "wind",
    "load_mesh": ".ply",
    "flex_build": "spiral",
}
SLOTS = all_slots()


def test_no_stage_is_left_out() -> None:
    assert {stage: slots for stage, slots in SLOTS.items() if not slots} == {}
    assert {"narrowphase", "combine_friction", "mesh_inertia:legacy", "step_end", "sensor:odometer"} <= {
        slot for slots in SLOTS.values() for slot in slots
    }


def written_for(slots: Iterable[str], parent: Path) -> dict[str, Written]:
    """A package for each slot."""
    return {slot: new_package(f"pack-no{i}", parent, slot=slot) for i, slot in enumerate(slots)}


def check_records(written: Written, slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What plugin.py offers is for the slot, can be imported, and fits."""
    monkeypatch.syspath_prepend(str(written.folder / "src"))
    records = importlib.import_module(f"{written.package}.plugin").dovetail_implementations()
    assert {record.slot for record in records} == {slot}
    for record in records:
        registry = registry_with(record, REGISTRY)
        for known in registry.of(slot):
            if known.name == record.name and known.target == record.target:
                registry.backend(known.backend).check(known, pipeline.stage(known.stage), known.load())
        for field in (*record.fields, *record.model_fields):
            assert field.name.startswith(f"{written.package}:")


def test_there_is_a_package_for_every_slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which models their tests try them on is asked in slow tests: to find one, models are compiled."""
    monkeypatch.setattr(template_slots, "trial", lambda slot, label, registry: "humanoid")
    slots = [slot for rows in SLOTS.values() for slot in rows]
    for slot, written in written_for(slots, tmp_path).items():
        check_records(written, slot, monkeypatch)
        for name in written.files:
            text = (written.folder / name).read_text()
            assert "{{" not in text.replace("${{", ""), (slot, name)
            if name.endswith(".py"):
                compile(text, name, "exec")
    for name in [name for name in sys.modules if name.startswith("pack_no")]:
        del sys.modules[name]


@pytest.mark.slow
def test_packages_of_all_slots_pass_their_own_tests_of_physics(tmp_path: Path, start: Run) -> None:
    """All of them beside each other, as if they were installed."""
    site, packages = tmp_path / "site", tmp_path / "packages"
    packages.mkdir()
    slots = [slot for rows in SLOTS.values() for slot in rows]
    for written in written_for(slots, packages).values():
        about = site / f"{written.package}-0.1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {written.distribution}\nVersion: 0.1.0\n"
        )
        (about / "entry_points.txt").write_text(
            f"[dovetail.plugins]\n{written.package} = {written.package}.plugin\n"
        )
        (site / written.package).symlink_to(written.folder / "src" / written.package)
    run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--tb=short")
    tests = [str(path) for path in sorted(packages.glob("*/tests/test_physics.py"))]
    for first in range(0, len(tests), PART):
        part = tests[first : first + PART]
        done = start(*run, f"--rootdir={packages}", *part, packages=(), PYTHONPATH=str(site))
        assert done.returncode == 0, done.stdout


PART = 10
"""Packages that one process tests."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("my-mass", {"slot": "mass_matrix"}),
        ("my-damper", {"slot": "passive_force:damper", "lanes": False}),
        ("my-bias", {"slot": "bias_force"}),
        ("my-rule", {"slot": "combine_friction", "lanes": False}),
        ("my-pair", {"slot": "collide_pair:sphere-box"}),
        ("my-mesh", {"slot": "mesh_inertia:exact"}),
        ("my-file", {"slot": "load_mesh:.ply"}),
        ("my-element", {"slot": "mjcf_element:wind"}),
        ("my-odometer", {"slot": "sensor:odometer"}),
        ("my-door", {"slot": "constraint_rows:door"}),
        ("my-step", {"slot": "step_end"}),
        ("my-check", {"slot": "check_model"}),
    ],
)
def test_a_package_of_every_kind_builds_and_is_certified(
    installed: Callable[..., Run], tmp_path: Path, name: str, how: dict[str, Any]
) -> None:
    run = installed(name, **how)
    own = run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"{name}/tests")
    assert own.returncode == 0, own.stdout
    listed = run(*CLI, "stages", str(how["slot"]).partition(":")[0])
    assert name.replace("-", "_") in listed.stdout
    if "dovetail certify" in (tmp_path / name / "README.md").read_text():
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
    ("slot", "how", "text"),
    [
        ("mass_matrx", {}, "did you mean 'mass_matrix'"),
        (
            "sensor",
            {},
            r"sensor has rows; name one: sensor:accelerometer, .*or one of your own, as sensor:odometer",
        ),
        ("collide_pair", {}, "collide_pair has rows; name one: collide_pair:box-box"),
        ("mass_matrix:mine", {}, "mass_matrix has no rows; write mass_matrix alone"),
        ("sensor:", {}, "sensor: names no row"),
        ("geom_inertia:torus", {}, "takes no rows of your own, and has none 'torus'; rows: geom_inertia:box"),
        ("mjcf_element:<x>", {}, "is no name for an element"),
        ("wake", {"lanes": True}, "has no sibling in lanes to begin with; use --no-lanes"),
        ("step_end", {"lanes": True}, "has no example in lanes; use --no-lanes"),
        (3, {}, "slot = 3 should be the name of a stage or row"),
    ],
)
def test_slots_that_are_none_are_refused_and_leave_nothing(
    tmp_path: Path, slot: Any, how: dict[str, Any], text: str
) -> None:
    with pytest.raises(DovetailError, match=text):
        new_package("my-stage", tmp_path, slot=slot, **how)
    assert not list(tmp_path.iterdir())


def test_what_a_dispatching_stage_must_know_is_said_of_the_new_one_too(tmp_path: Path) -> None:
    written = new_package("my-pair", tmp_path, slot="collide_pair:sphere-box")
    assert 'facts={"most_contacts": 1},' in (written.folder / "src/my_pair/plugin.py").read_text()


def test_only_what_runs_in_models_at_hand_is_to_be_certified(tmp_path: Path) -> None:
    runs = {"mass_matrix": True, "passive_force": True, "sensor:odometer": False, "mesh_inertia:exact": False}
    for slot, written in written_for(runs, tmp_path).items():
        assert written.certified == runs[slot]
        for name in ("README.md", ".github/workflows/tests.yml"):
            assert ("dovetail certify" in (written.folder / name).read_text()) == runs[slot]


def test_a_sibling_in_lanes_is_written_where_there_is_one_to_begin_with(tmp_path: Path) -> None:
    has = {"mass_matrix": True, "passive_force": True, "energy": True, "mesh_inertia:exact": False}
    for slot, written in written_for(has, tmp_path).items():
        assert any("lanes" in name for name in written.files) == has[slot]
