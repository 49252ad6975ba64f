"""`dovetail doctor`: what it shows on machines with and without compilers, and its exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, libraries
from dovetail.backends.native import doctor as native
from dovetail.cli import doctor as command_module
from dovetail.once import Once

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the compilers are scripts of the shell")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "cache"))
    for variable in (
        "DOVETAIL_CC",
        "DOVETAIL_NATIVE_CPU",
        "DOVETAIL_NATIVE_SANITIZE",
        "DOVETAIL_NATIVE_SECONDS",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(libraries, "_loaded", {})
    for name, empty in {"_usable": set(), "_instead": {}, "_told": Once()}.items():
        monkeypatch.setattr(kernel_cache, name, empty)
    compilers.forget()
    return tmp_path / "cache" / "native"


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without compilers and runtimes; returns the only folder on the PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(compilers, "_of_the_wheel", lambda: iter(()))
    monkeypatch.setattr(command_module, "RUNTIMES", ("no_such_runtime",))
    return folder


@pytest.fixture
def working(cache: Path) -> compilers.Compiler:
    compiler = compilers.choose_compiler()
    if compiler is None:
        pytest.skip("there is no C compiler here")
    return compiler


def test_it_tells_all_of_it_and_tries_a_kernel(run, cache: Path, working: compilers.Compiler) -> None:
    answer = run("doctor")
    assert answer.code == 0, answer.out
    for heading in ("Processor", "C compilers", "Runtimes", "Cache of compiled kernels", "A kernel"):
        assert heading in answer.out
    assert f"{working.version} (chosen)" in answer.out
    assert f"folder  {cache}" in answer.out
    assert "writable by nobody else" in answer.out
    assert f"works: {working.name} compiled it in " in answer.out


def test_json_tells_the_same(run, cache: Path, working: compilers.Compiler) -> None:
    answer = run("doctor", "--json")
    told = answer.json
    assert answer.code == 0
    assert told["ok"] is True
    assert told["kernel"]["ok"] is True
    assert told["kernel"]["seconds"] > 0
    (chosen,) = (one for one in told["compilers"] if one["chosen"])
    assert chosen["command"] == list(working.command)
    width = told["processor"]["register_bytes"]
    assert told["processor"]["lanes"] == {"f64": width // 8, "f32": width // 4}
    assert told["cache"]["folder"] == str(cache)
    assert told["cache"]["problem"] is None
    assert told["packages"]["numpy"]
    assert answer.err == ""


def test_a_kernel_is_compiled_each_time(run, working: compilers.Compiler) -> None:
    assert all(run("doctor", "--json").json["kernel"]["seconds"] > 0 for _ in range(2))


def test_without_anything_fast_the_code_is_1_and_it_says_what_to_do(run, bare: Path) -> None:
    answer = run("doctor")
    assert answer.code == 1
    text = " ".join(answer.out.split())
    assert 'none that works: pip install "dovetail-physics[native]" brings one' in text
    assert "fails: there is no C compiler here" in text
    assert "batches run on NumPy" in text
    assert "not installed: pip install" in text
    told = run("doctor", "--json")
    assert (told.code, told.json["ok"], told.json["compilers"]) == (1, False, [])


def test_a_runtime_alone_is_enough(run, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_module, "RUNTIMES", ("numpy",))
    answer = run("doctor")
    assert answer.code == 0
    assert "batches run with the Taichi backend" in answer.out


def test_a_compiler_that_does_not_work_is_shown_with_what_it_said(run, bare: Path) -> None:
    broken = bare / "clang"
    broken.write_text('#!/bin/sh\necho "no headers"\ntest "$1" = --version\n')
    broken.chmod(0o755)
    answer = run("doctor")
    assert answer.code == 1
    assert "  not clang  PATH:" in answer.out
    assert f" {broken}\n" in answer.out
    assert "does not compile a few lines" in " ".join(answer.out.split())
    assert "no headers" in answer.out
    (refused,) = run("doctor", "--json").json["refused"]
    assert refused["command"] == str(broken)


@pytest.mark.parametrize("name", ["nothere", "''", "x" * 200, "/"])
def test_a_variable_that_names_no_compiler_is_found(
    run, name: str, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CC", name)
    answer = run("doctor")
    assert answer.code == 1
    assert "there is no such program" in " ".join(answer.out.split())
    assert "environment DOVETAIL_CC" in answer.out


def test_a_variable_that_names_no_processor_is_found(
    run, working: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_NATIVE_CPU", "a b")
    assert "fails: environment DOVETAIL_NATIVE_CPU: 'a b' names no processor" in run("doctor").out


def test_a_cache_that_others_can_write_to_is_told_of(run, cache: Path, bare: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    answer = run("doctor")
    assert "not used: everybody may write to" in " ".join(answer.out.split())
    kernel_cache.remove_temporary_directories()


@pytest.mark.parametrize("failing", [False, True])
def test_lines_fit_80_columns(run, failing: bool, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for paths, which are not broken."""
    if failing:
        monkeypatch.setattr(native, "try_kernel", lambda: native.Trial(False, "long words " * 50, 0.0))
    lines = run("doctor").out.splitlines()
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []
    assert len(lines) > 20
