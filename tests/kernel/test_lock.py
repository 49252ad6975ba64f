"""The stage lock: complete, stable, cheap when nobody asks, and refused with the reason when something changed."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

import dovetail
from dovetail import lock, sources
from dovetail.cli import main
from dovetail.contracts import store
from dovetail.errors import ConfigError, FileFormatError, LockError
from dovetail.lock import Locked, LockWarning, ProjectLock, StageLock

PENDULUM = """<mujoco model="swing"><worldbody><body><joint name="hinge" type="hinge"/>
<geom type="capsule" size=".1" fromto="0 0 0 0 0 1"/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, without the repository's configuration."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model() -> dovetail.Model:
    return dovetail.loads(PENDULUM)


@pytest.fixture
def sim(model: dovetail.Model) -> dovetail.Simulation:
    return dovetail.Simulation(model, backend="numpy")


def run(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


def altered(one: StageLock, slot: str, **changes: str) -> StageLock:
    """A lock in which one slot is otherwise."""
    return attrs.evolve(one, stages={**one.stages, slot: attrs.evolve(one.stages[slot], **changes)})


# ---- what it holds


def test_it_has_every_slot_part_and_stage_of_loading(sim: dovetail.Simulation) -> None:
    assert set(sim.lock.stages) == {*sim.plan.choices, *sim.model.stages}
    assert sim.lock.stages["mass_matrix"] == Locked(
        "crb@numpy",
        "1",
        f"dovetail-physics {dovetail.__version__}",
        sources.of_module("dovetail.plugins.mass_matrix.crb_numpy"),
    )
    assert sim.lock.stages["finalize_model"].implementation == "dynamics@numpy"
    assert sim.lock.settings == {"precision": "f64"}
    assert sim.lock.environment == {"numpy": np.__version__}
    assert sim.lock.model == "swing"


def test_every_built_in_source_can_be_read() -> None:
    from dovetail.registry import build_registry

    for record in build_registry(third_party=False).implementations:
        assert lock.source_of(record) != sources.UNKNOWN, record


def test_it_is_the_same_in_another_process(sim: dovetail.Simulation) -> None:
    code = (
        "import sys, json, dovetail\n"
        "sim = dovetail.Simulation(dovetail.loads(sys.argv[1]), backend='numpy')\n"
        "print(json.dumps(sim.lock.as_plain()))"
    )
    done = subprocess.run([sys.executable, "-c", code, PENDULUM], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == sim.lock.as_plain()


def test_ordinary_runs_work_out_no_lock(model: dovetail.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StageLock, "of", lambda plan: pytest.fail("nobody asked"))
    sim = dovetail.Simulation(model)
    sim.step(2)
    sim.forward()


# ---- hashes


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose stage stands on a module of its own, and names others for type checkers or not at all."""
    folder = tmp_path / "site" / "lockedpkg"
    (folder / "inner").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "stage.py": "from typing import TYPE_CHECKING\nfrom .inner import helper\n\nif TYPE_CHECKING:\n"
        "    from lockedpkg.types_only import T\n\n\ndef f():\n    from lockedpkg import (\n        late,\n    )\n",
        "inner/__init__.py": "",
        "inner/helper.py": "from dovetail.plugins.shared.vectors_numpy import dot3\nfrom ..deep import x\n",
        "deep.py": "import os, lockedpkg.plain\nx = 1\n",
        "plain.py": "",
        "late.py": "y = 2\n",
        "types_only.py": "T = int\n",
        "unused.py": "z = 3\n",
    }.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder.parent)
    sources.forget()
    return folder


def test_a_closure_has_what_is_imported_and_nothing_else(package: Path) -> None:
    found = sources.closure("lockedpkg.stage")
    own = [name.removeprefix("lockedpkg.") for name in found if name.startswith("lockedpkg.")]
    assert own == ["deep", "inner", "inner.helper", "late", "plain", "stage"]
    assert "dovetail.plugins.shared.vectors_numpy" in found
    assert not [
        name for name in found if name.startswith("dovetail.") and not name.startswith(sources.FOLLOWED)
    ]
    assert "lockedpkg" not in sys.modules


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("stage.py", True),
        ("inner/helper.py", True),
        ("deep.py", True),
        ("late.py", True),
        ("types_only.py", False),
        ("unused.py", False),
    ],
)
def test_an_edit_counts_if_results_depend_on_the_file(package: Path, file: str, counts: bool) -> None:
    before = sources.of_module("lockedpkg.stage")
    (package / file).write_text((package / file).read_text() + "\nedited = True\n")
    assert sources.of_module("lockedpkg.stage") == before  # read once in a process
    sources.forget()
    assert (sources.of_module("lockedpkg.stage") != before) is counts


def test_line_ends_do_not_count(package: Path) -> None:
    before = sources.of_module("lockedpkg.stage")
    file = package / "stage.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    sources.forget()
    assert sources.of_module("lockedpkg.stage") == before


def test_a_module_without_source_is_unknown() -> None:
    assert sources.of_module("lockedpkg_that_is_nowhere.stage") == sources.UNKNOWN


def make(factor: float) -> Any:
    def blow(model: Any, data: Any) -> None:
        data.qfrc_passive[0] += factor

    return blow


def test_a_function_of_a_call_is_known_by_its_source_and_by_what_it_takes_along() -> None:
    def given(model: Any, data: Any, factor: float = 1.0) -> None: ...

    def other(model: Any, data: Any, factor: float = 2.0) -> None: ...

    assert sources.of_function(make(1.0)) == sources.of_function(make(1.0))
    assert sources.of_function(make(1.0)) != sources.of_function(make(2.0))
    assert sources.of_function(given) != sources.of_function(other)
    partial = functools.partial
    assert sources.of_function(partial(given, factor=3)) != sources.of_function(partial(given, factor=4))
    assert sources.of_function(make(np.zeros(3))) != sources.of_function(make(np.ones(3)))  # type: ignore[arg-type]


def test_functions_without_source_are_known_by_their_bytecode() -> None:
    names: dict[str, Any] = {}
    exec("def a(d): d.x = 1\ndef b(d): d.x = 1\ndef c(d): d.x = 2", names)
    assert sources.of_function(names["a"]) == sources.of_function(names["b"])
    assert sources.of_function(names["a"]) != sources.of_function(names["c"])


def test_a_function_in_the_call_stands_in_the_lock(model: dovetail.Model) -> None:
    one, two = (
        dovetail.Simulation(model, backend="numpy", stages={"passive_force:wind": make(f)}).lock
        for f in (1, 2)
    )
    assert one.stages["passive_force:wind"].package == "the call"
    assert [change.what for change in one.changes(two)] == ["passive_force:wind blow@numpy: source"]


# ---- comparing


def test_changes_name_slot_was_and_is(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    now = sim.lock
    assert now.changes(now) == []
    other = dovetail.Simulation(model, backend="numpy", stages={"integrate": "rk4"}, precision="f32").lock
    assert list(map(str, now.changes(other))) == [
        "precision was f64, is f32",
        "integrate was euler@numpy, is rk4@numpy",
    ]
    was = altered(now, "mass_matrix", source="0" * 16, version="0", package="dovetail-physics 0.0.9")
    assert list(map(str, was.changes(now))) == [
        "mass_matrix crb@numpy: version was 0, is 1",
        f"mass_matrix crb@numpy: package was dovetail-physics 0.0.9, is {now.stages['mass_matrix'].package}",
        f"mass_matrix crb@numpy: source was {'0' * 16}, is {now.stages['mass_matrix'].source}",
    ]
    fewer = attrs.evolve(now, stages={s: one for s, one in now.stages.items() if s != "integrate"})
    assert list(map(str, fewer.changes(now))) == [
        f"integrate was nothing, is euler@numpy of dovetail-physics {dovetail.__version__}"
    ]
    assert list(map(str, attrs.evolve(now, backends={"numpy": "0"}).changes(now))) == [
        f"source of backend numpy was 0, is {now.backends['numpy']}"
    ]


def test_equal_sets_have_equal_digests(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    again = dovetail.Simulation(model, backend="numpy").lock
    assert sim.lock.digest == again.digest
    assert sim.lock.digest != altered(again, "integrate", source="0").digest
    assert sim.lock.digest == attrs.evolve(again, model="x", environment={}).digest


def test_another_number_of_worlds_or_kept_fields_is_the_same_set(
    sim: dovetail.Simulation, model: dovetail.Model
) -> None:
    assert dovetail.Simulation(model, 3, backend="numpy", keep="state").lock == sim.lock


def test_a_slot_that_the_model_does_not_need_any_more_is_no_change_but_a_lost_row_is(
    model: dovetail.Model,
) -> None:
    model.opt.enableflags = 2  # energy
    wind = {"passive_force:wind": make(1.0)}
    was = dovetail.Simulation(model, backend="numpy", stages=wind).lock
    assert "energy" in was.stages
    model.opt.enableflags = 0
    now = dovetail.Simulation(model, backend="numpy").lock
    assert "energy" not in now.stages
    assert list(map(str, was.changes(now))) == ["passive_force:wind was blow@numpy of the call, is nothing"]
    added = f"energy was nothing, is mechanical@numpy of dovetail-physics {dovetail.__version__}"
    assert added in map(str, now.changes(was))


# ---- insisting


def test_a_locked_run_that_is_the_same_runs(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    again = dovetail.Simulation(model, backend="numpy", locked=sim.lock)
    again.step()
    sim.lock.write("dovetail.lock")
    dovetail.Simulation(model, backend="numpy", locked="dovetail.lock").step()


def test_another_set_is_refused_with_what_changed(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    altered(sim.lock, "mass_matrix", source="0" * 16).write("dovetail.lock")
    with pytest.raises(LockError) as refused:
        dovetail.Simulation(model, backend="numpy", stages={"integrate": "rk4"}, locked="dovetail.lock")
    assert str(refused.value) == (
        "dovetail.lock does not allow this run of 'swing': 2 changes\n"
        "  - integrate was euler@numpy, is rk4@numpy\n"
        f"  - mass_matrix crb@numpy: source was {'0' * 16}, is {sim.lock.stages['mass_matrix'].source}\n"
        "Put back what changed, or accept it: dovetail lock -o dovetail.lock"
    )


def test_other_surroundings_are_a_warning(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    older = attrs.evolve(sim.lock, environment={"numpy": "1.0"})
    with pytest.warns(LockWarning, match=rf"numpy was 1\.0, is {np.__version__}"):
        dovetail.Simulation(model, backend="numpy", locked=older)


def test_an_edit_that_changes_the_plan_is_seen_while_it_runs(model: dovetail.Model) -> None:
    sim = dovetail.Simulation(model, backend="numpy")
    locked = dovetail.Simulation(model, backend="numpy", locked=sim.lock)
    locked.step()
    model.opt.integrator = 1
    with pytest.raises(LockError, match="integrate was euler@numpy, is rk4@numpy"):
        locked.step()


def test_configuration_and_environment_name_a_lock(
    sim: dovetail.Simulation, model: dovetail.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    sim.lock.write(project / "the.lock")
    (project / "dovetail.toml").write_text('backend = "numpy"\nlocked = "the.lock"\n')
    monkeypatch.chdir(project / "inner")
    dovetail.Simulation(model).step()
    with pytest.raises(LockError, match="integrate was euler@numpy, is rk4@numpy"):
        dovetail.Simulation(model, stages={"integrate": "rk4"})
    data = dovetail.make_data(model, precision="f32")
    with pytest.raises(LockError, match="precision was f64, is f32"):
        dovetail.step(model, data)
    dovetail.Simulation(model, stages={"integrate": "rk4"}, locked=False).step()
    monkeypatch.setenv("DOVETAIL_LOCKED", "0")
    dovetail.Simulation(model, stages={"integrate": "rk4"}).step()
    monkeypatch.setenv("DOVETAIL_LOCKED", "../no.lock")
    with pytest.raises(
        LockError, match=r"\.\./no\.lock: there is no such lock; write it with: dovetail lock"
    ):
        dovetail.Simulation(model)


def test_questions_are_asked_of_the_reference_whatever_is_locked(
    model: dovetail.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dovetail.simulation import reference_plan_for

    dovetail.Simulation(model, backend="numpy", stages={"integrate": "rk4"}).lock.write("dovetail.lock")
    monkeypatch.setenv("DOVETAIL_LOCKED", "dovetail.lock")
    data = dovetail.make_data(model)
    reference_plan_for(model, data)
    with pytest.raises(LockError):
        dovetail.step(model, data)


@pytest.mark.parametrize("value", [3, "", True, {}])
def test_what_is_no_lock_is_an_error(model: dovetail.Model, value: Any) -> None:
    with pytest.raises(ConfigError, match=r"call argument: locked = .* should be the path of a lock"):
        dovetail.Simulation(model, locked=value)


# ---- files


def test_a_lock_file_is_stable_and_read_again(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    other = attrs.evolve(
        dovetail.Simulation(model, backend="numpy", stages={"integrate": "rk4"}).lock, model="b"
    )
    ProjectLock((sim.lock, other)).write("one.lock")
    ProjectLock((other, sim.lock)).write("two.lock")
    text = Path("one.lock").read_text()
    assert text == Path("two.lock").read_text()
    assert ProjectLock.read("one.lock").models == (other, sim.lock)
    assert list(tomllib.loads(text)) == ["format", "environment", "backends", "implementations", "models"]
    entries = [line for line in text.splitlines() if line.startswith('"integrate euler@numpy"')]
    assert len(entries) == 1  # one line for an implementation, whoever uses it


def test_a_model_that_is_not_in_the_lock_is_named(sim: dovetail.Simulation) -> None:
    sim.lock.write("dovetail.lock")
    with pytest.raises(LockError) as refused:
        dovetail.Simulation("pendulum", backend="numpy", locked="dovetail.lock")
    assert str(refused.value) == (
        "dovetail.lock has no model 'pendulum'. It has: swing. Add it: dovetail lock pendulum -o dovetail.lock"
    )


@pytest.mark.parametrize(
    ("old", "new", "phrase"),
    [
        ('format = "dovetail-lock-1"', 'format = "x"', "not in the format dovetail-lock-1"),
        ('"numpy" = "', '"numpy" = 3 #', "its stage lock cannot be read"),
        (
            "[implementations]",
            "[implements]",
            r"not as `dovetail lock` writes it: KeyError\('implementations'\)",
        ),
        ('"integrate euler@numpy"', '"integrate eular@numpy"', "KeyError"),
    ],
)
def test_a_damaged_lock_is_an_error(sim: dovetail.Simulation, old: str, new: str, phrase: str) -> None:
    sim.lock.write("dovetail.lock")
    file = Path("dovetail.lock")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(FileFormatError, match=phrase):
        ProjectLock.read(file)


# ---- states


def test_a_saved_state_carries_the_lock(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    sim.save("half.npz")
    assert StageLock.from_plain(store.read("half.npz")[0]["lock"], "half.npz") == sim.lock
    again = dovetail.Simulation(model, backend="numpy", locked="half.npz")
    again.load("half.npz")
    with pytest.raises(LockError, match=r"half\.npz does not allow this run .*\n.*integrate was euler@numpy"):
        dovetail.Simulation(model, backend="numpy", stages={"integrate": "rk4"}, locked="half.npz")


def saved_otherwise(sim: dovetail.Simulation, **changes: str) -> None:
    """A state of a run whose mass matrix was something else."""
    was = altered(sim.lock, "mass_matrix", **changes)
    store.save(sim.data, "old.npz", implementations=sim.plan.implementations, lock=was)


def test_a_state_of_other_sources_warns_with_what_changed(sim: dovetail.Simulation) -> None:
    saved_otherwise(sim, source="0" * 16)
    here = sim.lock.stages["mass_matrix"].source
    with pytest.warns(store.ResumeWarning) as caught:
        sim.load("old.npz")
    assert [str(w.message) for w in caught] == [
        f"old.npz: mass_matrix crb@numpy: source was {'0' * 16}, is {here}"
    ]


def test_a_locked_run_refuses_such_a_state_and_changes_nothing(
    sim: dovetail.Simulation, model: dovetail.Model
) -> None:
    sim.step(3)
    saved_otherwise(sim, source="0" * 16)
    locked = dovetail.Simulation(model, backend="numpy", locked=sim.lock)
    with pytest.raises(
        LockError, match=r"old\.npz was made otherwise .*\n.*mass_matrix crb@numpy: source was 0"
    ):
        locked.load("old.npz")
    assert locked.data.time == 0


def test_many_changes_are_counted(sim: dovetail.Simulation) -> None:
    was = attrs.evolve(sim.lock, stages={s: attrs.evolve(o, source="0") for s, o in sim.lock.stages.items()})
    store.save(sim.data, "old.npz", implementations=sim.plan.implementations, lock=was)
    with pytest.warns(store.ResumeWarning, match=rf"; and {len(sim.lock.stages) - 6} more$") as caught:
        sim.load("old.npz")
    assert len(caught) == 1


def test_a_state_without_a_lock_is_read_as_before(sim: dovetail.Simulation, model: dovetail.Model) -> None:
    store.save(sim.data, "old.npz", implementations=sim.plan.implementations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.load("old.npz")
    with pytest.raises(LockError, match=r"old\.npz carries no stage lock"):
        dovetail.Simulation(model, locked="old.npz")


@pytest.mark.parametrize("broken", [5, {}, {"model": "x"}, []])
def test_a_state_with_a_damaged_lock_is_refused(sim: dovetail.Simulation, broken: Any) -> None:
    sim.save("state.npz")
    header, arrays = store.read("state.npz")
    text = np.frombuffer(json.dumps({**header, "lock": broken}).encode(), np.uint8)
    store.write_arrays(Path("state.npz"), {"header": text, **arrays})
    with pytest.raises(FileFormatError, match=r"state\.npz: its stage lock cannot be read"):
        sim.load("state.npz")


# ---- the command line


@pytest.fixture
def robot() -> str:
    Path("robots").mkdir()
    Path("robots/swing.xml").write_text(PENDULUM)
    return "robots/swing.xml"


def test_lock_writes_checks_and_lists_changes(robot: str) -> None:
    answer = run("lock", robot, "pendulum", "--backend", "numpy")
    assert answer.exit_code == 0
    assert "added: robots/swing.xml, pendulum" in answer.stdout
    assert answer.stdout.endswith("dovetail.lock is written\n")
    assert "nothing has changed" in run("lock", "--check", "--backend", "numpy").stdout
    answer = run("lock", "--check", "--backend", "numpy", "--stage", "integrate=implicit")
    assert answer.exit_code == 1
    assert "robots/swing.xml: 1 change\n  integrate was euler@numpy, is implicit@numpy" in answer.stdout
    before = Path("dovetail.lock").read_text()
    assert run("lock", "--backend", "numpy").exit_code == 0
    assert Path("dovetail.lock").read_text() == before
    report = json.loads(run("lock", "pendulum", "--only", "--backend", "numpy", "--json").stdout)
    assert report["removed"] == ["robots/swing.xml"]
    assert [one.model for one in ProjectLock.read("dovetail.lock").models] == ["pendulum"]


def test_models_are_named_from_where_the_lock_is(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("lock", robot, "-o", "robots/dovetail.lock", "--backend", "numpy").exit_code == 0
    assert [one.model for one in ProjectLock.read("robots/dovetail.lock").models] == ["swing.xml"]
    words = ["plan", robot, "--locked", "robots/dovetail.lock", "--backend", "numpy"]
    assert run(*words).exit_code == 0
    monkeypatch.chdir("robots")
    assert run("plan", "swing.xml", "--locked", "--backend", "numpy").exit_code == 0
    assert run("lock", "--check", "--backend", "numpy").exit_code == 0


def test_run_and_plan_and_check_refuse_another_set(robot: str) -> None:
    run("lock", robot, "--backend", "numpy")
    for command in (["run", robot, "--steps", "2"], ["plan", robot], ["check", robot]):
        assert run(*command, "--backend", "numpy", "--locked").exit_code == 0, command
        answer = run(*command, "--backend", "numpy", "--stage", "integrate=rk4", "--locked")
        assert answer.exit_code == (1 if command[0] == "check" else 2), command
        assert "integrate was euler@numpy, is rk4@numpy" in answer.stdout + answer.stderr
    report = json.loads(
        run("run", robot, "--steps", "2", "--stage", "integrate=rk4", "--locked", "--json").stdout
    )
    assert report["type"] == "LockError"


def test_a_run_and_its_trajectory_carry_the_lock(robot: str) -> None:
    words = ["run", robot, "--steps", "2", "--backend", "numpy", "--output", "way.npz"]
    report = json.loads(run(*words, "--json").stdout)
    carried = lock.recorded("way.npz")
    assert carried.as_plain() == report["lock"]
    assert carried.digest == report["lock_digest"]
    said = run(*words).stdout
    assert f"lock {carried.digest}" in said
    assert f"{len(carried.stages)} implementations" in said
    assert run("run", robot, "--steps", "2", "--backend", "numpy", "--locked", "way.npz").exit_code == 0


def test_conform_and_bench_keep_to_a_lock_if_told_to(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    run("lock", robot, "--backend", "numpy")
    conform = ["conform", robot, "--states", "1", "--steps", "1", "--backend", "numpy"]
    assert run(*conform, "--locked").exit_code == 0
    assert "precision was f64, is f32" in run(*conform, "--precision", "f32", "--locked").stderr
    monkeypatch.setenv("DOVETAIL_LOCKED", "dovetail.lock")
    assert (
        "LockError" not in run(*conform, "--precision", "f32", "--json").stdout
    )  # a configured lock is for runs
    monkeypatch.delenv("DOVETAIL_LOCKED")
    small = {"--nworld": "2", "--steps": "1", "--repeat": "1", "--roll-in": "0", "--backend": "numpy"}
    words = [word for pair in small.items() for word in pair] + ["--no-mujoco", "--locked", "--precision"]
    assert run("bench", robot, *words, "f64").exit_code == 0
    assert "precision was f64, is f32" in run("bench", robot, *words, "f32").stderr


def test_lock_says_what_it_needs(robot: str) -> None:
    for words, phrase in (
        (["lock"], "there is no dovetail.lock yet: name the models to lock"),
        (["lock", "--only"], "--only needs models"),
        (["lock", robot, "--locked"], "leave --locked out"),
        (["lock", "nothing.xml"], "neither a file nor a built-in model"),
    ):
        answer = run(*words)
        assert answer.exit_code == 2, words
        assert phrase in answer.stderr
    assert not Path("dovetail.lock").exists()


def test_lock_is_not_held_by_the_lock_that_it_replaces(robot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("lock", robot, "--backend", "numpy")
    monkeypatch.setenv("DOVETAIL_LOCKED", os.path.abspath("dovetail.lock"))
    assert run("run", robot, "--steps", "1", "--backend", "numpy", "--stage", "integrate=rk4").exit_code == 2
    assert run("lock", "--backend", "numpy", "--stage", "integrate=rk4").exit_code == 0
    assert run("run", robot, "--steps", "1", "--backend", "numpy", "--stage", "integrate=rk4").exit_code == 0
