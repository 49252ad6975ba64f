"""The kernel cache: damaged, unwritable, shared or interrupted, a run gives its numbers and says what it found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.taichi import cache, progress, runtime
from dovetail.once import Once

RUNTIME = "quadrants"
PROGRAM = """
import sys, numpy as np
from lane_small import apply
x = np.arange(32.0).reshape(8, 4)
def double(k):
    with k.loop(0, k.model.n) as i:
        k.data.y[i] = 2.0 * k.data.x[i] + float(sys.argv[1])
print(float(apply(double, x, runtime="quadrants")["y"].sum()))
"""
"""Compiles and runs a kernel of one loop, in a process of its own."""


pytestmark = pytest.mark.skipif(find_spec(RUNTIME) is None, reason=f"{RUNTIME} is not installed")


START = "from dovetail.backends.taichi.runtime import start; start('quadrants'); print('started')"


def in_process(folder: Path, program: str = PROGRAM, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with its cache in a folder."""
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program, "0"],
        env=environment_of(folder) | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def environment_of(folder: Path) -> dict[str, str]:
    tests = Path(__file__).parents[2]
    here = os.pathsep.join(map(str, (tests, tests / "backends" / "lanes", tests / "backends" / "taichi")))
    lanes = {"TEST_LANES": RUNTIME}  # what compiles the small kernels of these tests
    return {**os.environ, **lanes, "DOVETAIL_CACHE_DIR": str(folder), "PYTHONPATH": here}


def index_in(folder: Path) -> Path:
    return folder / "taichi" / RUNTIME / cache.INDEX[RUNTIME]


RESULT = f"{2.0 * sum(range(32))}\n"


@pytest.mark.slow
def test_a_damaged_index_is_removed_and_kernels_are_compiled_anew(tmp_path: Path) -> None:
    assert in_process(tmp_path).stdout == RESULT
    index = index_in(tmp_path)
    damaged = bytearray(index.read_bytes())
    for place in range(len(damaged) // 3, len(damaged) // 2):
        damaged[place] ^= 0x5A
    index.write_bytes(bytes(damaged))
    again = in_process(tmp_path)
    assert (again.returncode, again.stdout) == (0, RESULT), again.stderr
    assert "the index of compiled kernels, was damaged: they are compiled anew" in again.stderr


@pytest.mark.slow
def test_damaged_kernels_are_not_run(tmp_path: Path) -> None:
    assert in_process(tmp_path).stdout == RESULT
    for kernel in index_in(tmp_path).parent.glob("*.qdc"):
        content = kernel.read_bytes()
        kernel.write_bytes(content[: len(content) // 2])
    again = in_process(tmp_path)
    assert (again.returncode, again.stdout) == (0, RESULT), again.stderr


@pytest.mark.slow
def test_processes_share_a_cache(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(number)],
            env=environment_of(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in (0, 1)
    ]
    results = [run.communicate(timeout=120) for run in runs]
    expected = [RESULT, f"{2.0 * sum(range(32)) + 32.0}\n"]
    assert [out for out, _ in results] == expected, [err for _, err in results]
    assert in_process(tmp_path).stdout == RESULT
    assert not list(tmp_path.rglob("*.tmp"))


def test_an_interrupted_run_leaves_a_cache_that_works(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "0"],
        env=environment_of(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("lanes_*.py")) and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 0 or "KeyboardInterrupt" in said, said
    assert in_process(tmp_path).stdout == RESULT


# ---- without compiling --------------------------------------------------------------------------------------


def test_damaged_source_is_written_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = cache.write_module("x = 1\n", tmp_path)
    path.write_text("x =")
    assert cache.write_module("x = 1\n", tmp_path) == path
    assert path.read_text() == "x = 1\n"
    cache.write_module("x = 1\n", tmp_path)
    assert [record.getMessage() for record in caplog.records] == [f"{path} was damaged: it is written anew"]


def test_a_module_is_run_from_memory(tmp_path: Path) -> None:
    path = cache.write_module("def answer():\n    return 42\n", tmp_path)
    path.write_text("this is no Python")
    try:
        assert cache.load_module(path, "def answer():\n    return 42\n").answer() == 42
    finally:
        sys.modules.pop(path.stem, None)


def test_an_unwritable_cache_is_replaced_by_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(kernel_cache, "_instead", {})
    with pytest.warns(kernel_cache.CacheWarning, match="cannot be written to: .*DOVETAIL_CACHE_DIR"):
        folder = cache.writable_directory()
    assert cache.writable_directory() == folder
    assert cache.write_module("x = 1\n", folder).exists()
    cache.remove_temporary_directories()
    assert not folder.exists()


def test_an_index_without_its_seal_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "SEAL_PATIENCE", 0.0)
    index = tmp_path / cache.INDEX["taichi"]
    cache.check_index("taichi", tmp_path)
    index.write_bytes(b"kernels")
    cache.seal_index("taichi", tmp_path)
    cache.check_index("taichi", tmp_path)
    assert index.exists()
    cache._seal_of(index).unlink()
    assert not caplog.records
    cache.check_index("taichi", tmp_path)
    assert not index.exists()
    assert "was damaged" in caplog.text


# ---- what is said meanwhile ---------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="the message is written by a process of its own")
def test_a_long_compilation_is_told_on_stderr_only(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(progress.SWITCH, raising=False)
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    capfd.readouterr()
    with progress.telling("compiling", 10_000):
        time.sleep(1.5)
    out, told = capfd.readouterr()
    assert out == ""
    assert "dovetail: compiling ... " in told
    assert "dovetail: compiling: done in" in told


@pytest.mark.parametrize("lines", [10, 10_000])
def test_what_is_quick_or_unwanted_is_not_told(
    lines: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(progress.SWITCH, "off" if lines > 100 else "on")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.telling("compiling", lines):
        time.sleep(0.3)
    assert capfd.readouterr() == ("", "")


# ---- what it runs on ----------------------------------------------------------------------------------------


def test_what_is_not_there_is_an_error_and_not_the_processor(tmp_path: Path) -> None:
    absent = "cuda" if sys.platform == "darwin" else "metal"
    run = in_process(tmp_path, program=START, DOVETAIL_TAICHI_ARCH=absent)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "ArchUnavailableError" in run.stderr
    assert "on this machine; with DOVETAIL_TAICHI_ARCH=cpu" in run.stderr


def test_an_unknown_arch_lists_the_known_ones() -> None:
    with pytest.raises(runtime.ArchUnavailableError, match="choose one of: cpu, gpu, cuda, vulkan, metal"):
        runtime.choose_arch("tpu")


def test_the_environment_chooses_the_arch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOVETAIL_TAICHI_ARCH", raising=False)
    assert runtime.choose_arch() == "cpu"
    monkeypatch.setenv("DOVETAIL_TAICHI_ARCH", "cuda")
    assert runtime.choose_arch() == "cuda"
    assert runtime.choose_arch("cpu") == "cpu"


def test_a_started_runtime_does_not_change_what_it_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_started", {RUNTIME: sys})
    monkeypatch.setattr(runtime, "_archs", {RUNTIME: "cpu"})
    monkeypatch.setattr(runtime, "_started_in", os.getpid())
    assert runtime.start(RUNTIME, "cpu") is sys
    with pytest.raises(runtime.ArchUnavailableError, match="already runs on cpu in this process"):
        runtime.start(RUNTIME, "cuda")


def test_a_runtime_that_was_forked_is_an_error_and_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_started", {RUNTIME: sys})
    monkeypatch.setattr(runtime, "_archs", {RUNTIME: "cpu"})
    monkeypatch.setattr(runtime, "_started_in", os.getpid())
    runtime.check_process()
    monkeypatch.setattr(runtime, "_started_in", os.getpid() + 1)
    for call in (runtime.check_process, lambda: runtime.start(RUNTIME)):
        with pytest.raises(runtime.ForkedRuntimeError, match="spawn"):
            call()


# ---- a lock that was left, folders of others, a full disk


def lock_in(folder: Path) -> Path:
    return folder / "taichi" / RUNTIME / cache.LOCK[RUNTIME]


def test_a_lock_left_by_a_killed_process_does_not_disable_the_cache(tmp_path: Path) -> None:
    lock_in(tmp_path).parent.mkdir(parents=True)
    lock_in(tmp_path).touch()
    done = in_process(tmp_path)
    assert done.stdout == RESULT, done.stderr
    assert "lock" not in done.stderr.lower()
    assert not lock_in(tmp_path).exists()
    assert index_in(tmp_path).exists()


def test_the_lock_of_a_process_that_writes_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(kernel_cache, "LOCK_PATIENCE", 0.1)
    lock = tmp_path / cache.LOCK[RUNTIME]
    lock.parent.mkdir(parents=True)
    lock.touch()
    with (tmp_path / "dovetail.lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with cache.writing(RUNTIME, tmp_path):
            assert lock.exists()
    with cache.writing(RUNTIME, tmp_path):
        assert not lock.exists()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("which", ["taichi", ".", "taichi/quadrants"])
def test_a_folder_that_others_can_write_to_is_not_used(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "cache"
    (shared / "taichi" / RUNTIME).mkdir(parents=True)
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(shared))
    assert cache.writable_directory() == shared / "taichi"
    (shared / which).chmod(0o777)
    monkeypatch.setattr(kernel_cache, "_usable", set())
    monkeypatch.setattr(kernel_cache, "_instead", {})
    monkeypatch.setattr(kernel_cache, "_told", Once())
    with pytest.warns(kernel_cache.CacheWarning, match="everybody may write to .*DOVETAIL_CACHE_DIR"):
        private = cache.writable_directory()
    assert private != shared / "taichi"
    assert private.stat().st_mode & 0o077 == 0
    cache.remove_temporary_directories()


@pytest.mark.skipif(os.name != "posix", reason="owners of files")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.geteuid()
    assert kernel_cache.why_unsafe(tmp_path) == ""
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    if me == 0:
        os.chown(tmp_path, 12345, -1)
    assert "belongs to another user" in kernel_cache.why_unsafe(tmp_path)


def test_a_sticky_folder_above_is_fine(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    tmp_path.chmod(0o1777)
    assert kernel_cache.why_unsafe(tmp_path / "own") == ""
    tmp_path.chmod(0o777)
    assert "everybody may write" in kernel_cache.why_unsafe(tmp_path / "own")


FULL = """
import resource
from dovetail.backends.taichi.runtime import start
start("quadrants")
resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits")
def test_a_full_disk_is_told_once_and_the_run_goes_on(tmp_path: Path) -> None:
    done = in_process(tmp_path, FULL + PROGRAM)
    assert done.stdout == RESULT, done.stderr
    told = [line for line in done.stderr.splitlines() if "CacheWarning" in line]
    assert len([line for line in told if str(tmp_path / "native") not in line]) == 1
    assert "cannot be written (File too large)" in done.stderr
    assert str(tmp_path) in done.stderr
    again = in_process(tmp_path)
    assert again.stdout == RESULT, again.stderr


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_instead", {})
    monkeypatch.setattr(kernel_cache, "_told", Once())

    class Full:
        def __init__(self, **_: object) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache.tempfile, "TemporaryFile", Full)
    with pytest.warns(kernel_cache.CacheWarning, match="No space left on device"):
        assert cache.writable_directory() != tmp_path / "taichi"
    cache.remove_temporary_directories()
