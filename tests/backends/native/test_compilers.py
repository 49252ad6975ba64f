"""Finding and running compilers: what is missing, broken, hangs or crashes ends in an error that says what to do."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from compiler_scripts import (
    REAL,
    any_program,
    fake,
    forget_all,
    is_running,
    private_cache,
    real_compiler,
    script,
    source,
    tools,
)

from dovetail.backends.native import compilers, jobs, processor
from dovetail.backends.native.compilers import CompilerError
from dovetail.errors import ConfigError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the scripts are the shell's")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = private_cache(tmp_path / "cache", monkeypatch)
    folder.mkdir(parents=True, mode=0o700)
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """The only folder on the PATH, with no wheel beside it."""
    folder = tools(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}")
    monkeypatch.setattr(compilers, "_of_the_wheel", lambda: iter(()))
    return folder


@pytest.fixture
def program() -> str:
    """A real one, whatever the PATH is."""
    return any_program()


# ---- which there are --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_a_compiler_of_this_machine_is_known_by_name(name: str, cache: Path) -> None:
    found = real_compiler(name)
    assert found.name == name
    assert found.version
    assert found.language == ("c++" if name == "gcc" and _has_cpp() else "c")


def _has_cpp() -> bool:
    """Whether gcc comes with its part for C++."""
    done = subprocess.run(
        ["gcc", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True, timeout=60
    )
    return os.path.isabs(done.stdout.strip())


def test_without_any_there_is_none(programs: Path) -> None:
    assert compilers.choose_compiler() is None
    assert compilers.compilers() == []


def test_a_broken_one_is_passed_over_and_says_why(programs: Path, program: str) -> None:
    script(programs / "clang", 'echo "no headers" >&2', 'test "$1" = --version')
    (programs / "gcc").symlink_to(program)
    found = compilers.choose_compiler()
    assert found is not None
    assert (found.name, found.command, found.origin) == ("gcc", (str(programs / "gcc"),), "PATH")
    refused, working = compilers.examined()
    assert isinstance(refused, compilers.Refusal)
    assert refused.command == str(programs / "clang")
    assert refused.reason == "does not compile a few lines\nIt said:\n  no headers"
    assert working == found


def test_one_program_of_two_names_is_one_compiler(programs: Path, program: str) -> None:
    (programs / "gcc").symlink_to(program)
    (programs / "cc").symlink_to(programs / "gcc")
    assert [found.name for found in compilers.compilers()] == ["gcc"]


def test_the_working_directory_is_not_looked_in(
    programs: Path, tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clang").symlink_to(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(programs)]))
    assert compilers.choose_compiler() is None


def test_a_blank_variable_names_none(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CC", " ")
    assert compilers.choose_compiler() is None


@pytest.mark.parametrize("form", ["path", "name", "arguments", "with a space"])
def test_the_variable_names_a_compiler(
    form: str, programs: Path, tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (programs / "mycc").symlink_to(program)
    (tmp_path / "my cc").symlink_to(program)
    values = {
        "path": (str(programs / "mycc"), (str(programs / "mycc"),)),
        "name": ("mycc", (str(programs / "mycc"),)),
        "arguments": ("mycc -DSIZE='1 2'", (str(programs / "mycc"), "-DSIZE=1 2")),
        "with a space": (str(tmp_path / "my cc"), (str(tmp_path / "my cc"),)),
    }
    text, command = values[form]
    monkeypatch.setenv("DOVETAIL_CC", text)
    found = compilers.choose_compiler()
    assert found is not None
    assert (found.command, found.origin) == (command, "DOVETAIL_CC")
    assert compilers.compilers()[0] == found


def test_the_variable_names_the_wheel(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_compiler("zig")
    monkeypatch.setenv("DOVETAIL_CC", "zig")
    found = compilers.choose_compiler()
    assert found is not None
    assert Path(found.command[0]).stem == "zig"
    assert found.command[1:] == ("cc",)
    assert found.version.startswith("zig ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nothere", "'nothere' cannot be run: there is no such program"),
        ("/no/such/cc -O3", "'/no/such/cc -O3' cannot be run: there is no such program"),
        ("cl", "'cl' takes Microsoft's options"),
        ("'", "is no command (No closing quotation)"),
        ("''", "cannot be run: there is no such program"),
        ("failing", "ended with code 3 when asked for its version"),
        ("crashing", "was ended by SIGSEGV when asked for its version"),
        ("no_format", "cannot be run: Exec format error"),
        ("lazy", "does not compile a few lines"),
    ],
)
def test_a_variable_that_names_none_is_an_error(
    text: str, reason: str, programs: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(programs / "failing", "exit 3")
    script(programs / "crashing", "kill -SEGV $$")
    script(programs / "lazy", "echo lazy clang")
    (programs / "no_format").write_bytes(b"\x00\x01\x02")
    (programs / "no_format").chmod(0o755)
    (programs / "gcc").symlink_to(program)
    monkeypatch.setenv("DOVETAIL_CC", text)
    with pytest.raises(CompilerError) as raised:
        compilers.choose_compiler()
    message = str(raised.value)
    assert message.startswith("environment DOVETAIL_CC: the compiler ")
    assert reason in message
    assert f"Compilers here: gcc ({programs / 'gcc'})." in message
    assert 'backend="numpy"' in message
    refused = next(iter(compilers.examined()))
    assert isinstance(refused, compilers.Refusal)
    assert refused.command == text


def test_a_compiler_that_hangs_when_asked_is_given_up(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(programs / "clang", "exec /bin/sleep 1000")
    monkeypatch.setattr(compilers, "PROBE_SECONDS", 0.05)
    assert compilers.choose_compiler() is None


# ---- what is remembered -----------------------------------------------------------------------------------


def counting(path: Path, version: str = "counted clang 1") -> Path:
    """A compiler that notes how often it was started, and compiles nothing."""
    return script(
        path,
        f'echo "$*" >> {path}.log',
        f'if [ "$1" = --version ]; then echo "{version}"; exit; fi',
        "echo library > kernel.so",
    )


def starts(path: Path) -> int:
    return len(Path(f"{path}.log").read_text().splitlines())


def test_a_later_process_starts_no_compiler(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = counting(programs / "clang")
    first = compilers.choose_compiler()
    begun = starts(clang)
    assert begun == 2
    forget_all(monkeypatch)
    assert compilers.choose_compiler() == first
    assert starts(clang) == begun


def test_a_compiler_that_changed_is_tried_anew(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = counting(programs / "clang")
    before = compilers.choose_compiler()
    assert before is not None
    identity = before.identity()
    counting(clang, "counted clang 2.0")
    forget_all(monkeypatch)
    after = compilers.choose_compiler()
    assert after is not None
    assert after.version == "counted clang 2.0"
    assert after.identity() != identity
    assert starts(clang) == 4


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"[]",
        b'{"x": 3}',
        b'{"[1]": {}}',
        b"language",
        b"version",
        b"[" * 100_000,
    ],
    ids=lambda content: content[:12].decode(errors="replace"),
)
def test_a_damaged_file_of_facts_is_written_anew(
    content: bytes,
    programs: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    counting(programs / "clang")
    first = compilers.choose_compiler()
    path = cache / "compilers.json"
    whole = json.loads(path.read_bytes())
    if content in (b"language", b"version"):
        facts = json.loads(path.read_bytes())
        next(iter(facts.values()))[content.decode()] = 7
        content = json.dumps(facts).encode()
    path.write_bytes(content)
    forget_all(monkeypatch)
    assert compilers.choose_compiler() == first
    assert json.loads(path.read_bytes()) == whole
    assert caplog.text.count("was damaged: they are tried anew") == 1


def test_facts_that_cannot_be_kept_are_found_out_anew(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clang = counting(programs / "clang")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compilers.kernel_cache, "write_whole", full)
    for _ in range(2):
        forget_all(monkeypatch)
        assert compilers.choose_compiler() is not None
    assert starts(clang) == 4


# ---- building ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("name", ["clang", "gcc"])
def test_sources_become_one_library(name: str, units: int, cache: Path) -> None:
    compiler = real_compiler(name)
    linked = 'extern "C" ' if compiler.language == "c++" else ""
    parts = [f"{linked}int part_{n}(void) {{ return {n}; }}" for n in range(1, units)]
    calls = "".join(f" + part_{n}()" for n in range(1, units))
    declared = "".join(f"{linked}int part_{n}(void);\n" for n in range(1, units))
    first = declared + source().replace("42", f"39{calls}")
    compilers.build([first, *parts], compiler, compilers.flags(compiler), cache / "x.so")
    assert ctypes.CDLL(str(cache / "x.so")).answer() == 39 + sum(range(units))
    assert {path.name for path in cache.iterdir()} - {"compilers.json"} == {"x.so"}
    assert (cache / "x.so").stat().st_mode & 0o077 == 0


def test_the_environment_changes_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = real_compiler()
    seen = tmp_path / "environment"
    compiler = compilers.Compiler(
        "seen",
        (str(script(tmp_path / "seen", f"env > {seen}", f'exec {" ".join(real.command)} "$@"')),),
        real.version,
        real.language,
        "test",
    )
    given = compilers.flags(compiler)
    compilers.build(["#include <math.h>\n" + source()], compiler, given, cache / "a.so")
    (tmp_path / "math.h").write_text("#error not this one\n")
    for name in (
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "COMPILER_PATH",
        "GCC_EXEC_PREFIX",
        "LIBRARY_PATH",
    ):
        monkeypatch.setenv(name, str(tmp_path))
    for name in (
        "CFLAGS",
        "CXXFLAGS",
        "CPPFLAGS",
        "LDFLAGS",
        "CCC_OVERRIDE_OPTIONS",
        "CCACHE_PREFIX",
        "PYTHONPATH",
    ):
        monkeypatch.setenv(name, "-ffast-math")
    assert compilers.flags(compiler) == given
    compilers.build(["#include <math.h>\n" + source()], compiler, given, cache / "b.so")
    assert (cache / "a.so").read_bytes() == (cache / "b.so").read_bytes()
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    allowed = {
        *jobs.KEPT,
        "PATH",
        "LANG",
        "LC_ALL",
        "TMPDIR",
        "TEMP",
        "TMP",
        "CCACHE_DISABLE",
        "PWD",
        "_",
        "OLDPWD",
    }
    assert names <= allowed | {"SHLVL", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"}


FAILURES = {
    "code": (["echo 'kernel_0.c:1: oops' >&2", "exit 4"], "ended with code 4", "\n  kernel_0.c:1: oops"),
    "signal": (["kill -KILL $$"], "was ended by SIGKILL", ""),
    "no output": (["exit 0"], "ended well, but wrote no library", ""),
    "empty output": ([": > kernel.so"], "ended well, but wrote no library", ""),
    "garbage": (
        [r"printf 'a\033[31mred\033[0m\007\000\377\nb\r\n' >&2", "exit 1"],
        "ended with code 1",
        "\n  ared�\n  b",
    ),
    "very much": (
        ["i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; exit 1"],
        "ended with code 1",
        "\n  line 19\n  (30 more lines)",
    ),
    "long lines": (["head -c 100000 /dev/zero | tr '\\0' x; exit 1"], "ended with code 1", "x" * 300),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_compiler_that_fails_is_quoted(how: str, cache: Path, tmp_path: Path) -> None:
    lines, reason, said = FAILURES[how]
    with pytest.raises(CompilerError) as raised:
        compilers.build([source()], fake(tmp_path, *lines), (), cache / "x.so")
    message = str(raised.value)
    assert f"a kernel was not compiled: fake ({tmp_path / 'fake'}: fake 1.0) {reason}." in message
    assert message.endswith(said)
    assert "DOVETAIL_CC names another compiler" in message
    assert 'backend="taichi"' in message
    assert all(character.isprintable() or character == "\n" for character in message)
    assert list(cache.iterdir()) == []


def test_the_first_source_that_fails_ends_the_others(cache: Path, tmp_path: Path) -> None:
    compiler = fake(
        tmp_path,
        'case "$*" in',
        "*kernel_0*) exit 5;;",
        f"*) echo $$ >> {tmp_path}/pids; exec /bin/sleep 1000;;",
        "esac",
    )
    with pytest.raises(CompilerError, match="ended with code 5"):
        compilers.build([source()] * 3, compiler, (), cache / "x.so")
    pids = tmp_path / "pids"
    assert not any(is_running(int(pid)) for pid in (pids.read_text().split() if pids.exists() else ()))


def test_a_program_that_vanished_is_an_error(cache: Path, tmp_path: Path) -> None:
    compiler = fake(tmp_path, "exit 0")
    (tmp_path / "fake").unlink()
    with pytest.raises(CompilerError, match=r"cannot be run \(No such file or directory\)"):
        compilers.build([source()], compiler, (), cache / "x.so")


def test_a_compiler_that_hangs_is_stopped(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match="did not end in time and was stopped"):
        compilers.build([source()], fake(tmp_path, "exec /bin/sleep 1000"), (), cache / "x.so", seconds=0.05)
    assert list(cache.iterdir()) == []


def child_of(tmp_path: Path) -> list[str]:
    """A compiler that starts another process, and waits for it for ever."""
    return ["/bin/sleep 1000 &", f"echo $! > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/child", "wait"]


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


@pytest.mark.parametrize("end", ["time", "interrupt"])
def test_what_a_compiler_started_ends_with_it(
    end: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes to start."""

    def waited(*_: object) -> int | None:
        wait_for(tmp_path / "child")
        if end == "interrupt":
            raise KeyboardInterrupt
        return None

    monkeypatch.setattr(jobs, "_waited", waited)
    with pytest.raises(CompilerError if end == "time" else KeyboardInterrupt):
        compilers.build([source()], fake(tmp_path, *child_of(tmp_path)), (), cache / "x.so")
    child = int((tmp_path / "child").read_text())
    while is_running(child):  # it was told to end; a test that hangs here has found that it was not
        time.sleep(0.01)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("who", ["we", "the compiler"])
def test_a_full_disk_is_told_from_a_compiler_that_fails(
    who: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    compiler = fake(tmp_path, "echo 'fatal error: error writing: No space left on device'", "exit 1")
    if who == "we":
        monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(CompilerError, match="No space left on device") as raised:
        compilers.build([source()], compiler, (), cache / "x.so")
    assert raised.value.unwritable


def test_folders_of_builds_that_were_killed_are_removed_after_a_day(cache: Path) -> None:
    old, young = cache / "building-old", cache / "building-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "kernel_0.c").write_text("")
    os.utime(old, (0, 0))
    with jobs.working_folder(cache):
        pass
    assert not old.exists()
    assert young.exists()


# ---- settings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan", "inf"])
def test_a_time_limit_is_a_number_of_seconds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_NATIVE_SECONDS", text)
    with pytest.raises(
        ConfigError, match=f"environment DOVETAIL_NATIVE_SECONDS: '{text}' should be a number"
    ):
        compilers.time_limit()


def test_the_time_limit_follows_the_variable(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compilers.time_limit() == compilers.SECONDS
    monkeypatch.setenv("DOVETAIL_NATIVE_SECONDS", "0.05")
    with pytest.raises(CompilerError, match="did not end in time"):
        compilers.build([source()], fake(tmp_path, "exec /bin/sleep 1000"), (), cache / "x.so")


LINUX = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the system does not tell of processor time"
)


@LINUX
def test_a_compiler_that_works_and_is_late_goes_on(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine: it gets little of the processors, but gets it."""
    times = iter(range(1_000_000))
    monkeypatch.setattr(jobs, "processor_time", lambda group: 1e-9 * next(times))
    late = fake(tmp_path, "/bin/sleep 0.3", "echo library > kernel.so")
    compilers.build([source()], late, (), cache / "x.so", seconds=0.01)
    assert (cache / "x.so").exists()
    assert next(times) > 2


@LINUX
@pytest.mark.parametrize(
    "lines", ["exec /bin/sleep 1000", "while :; do :; done"], ids=["waits", "never ends"]
)
def test_a_compiler_that_does_nothing_or_has_had_its_time_is_stopped(
    cache: Path, tmp_path: Path, lines: str
) -> None:
    with pytest.raises(CompilerError, match="did not end in time"):
        compilers.build([source()], fake(tmp_path, lines), (), cache / "x.so", seconds=0.2)


@LINUX
def test_a_compiler_that_has_had_its_time_is_stopped_however_it_goes_on(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(1, 1_000_000))
    monkeypatch.setattr(jobs, "processor_time", lambda group: float(next(times)))
    with pytest.raises(CompilerError, match="did not end in time"):
        compilers.build([source()], fake(tmp_path, "exec /bin/sleep 1000"), (), cache / "x.so", seconds=0.05)
    assert next(times) == 2


@LINUX
def test_processor_time_is_that_of_a_group() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert jobs.processor_time(process.pid) >= 0.25
        process.communicate(b"\n")
    assert jobs.processor_time(process.pid) == 0.0


def test_sanitizers_are_asked_for_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = fake(tmp_path)
    monkeypatch.delenv("DOVETAIL_NATIVE_SANITIZE", raising=False)
    assert not [flag for flag in compilers.flags(compiler, "native") if "sanitize" in flag]
    monkeypatch.setenv("DOVETAIL_NATIVE_SANITIZE", "address,undefined")
    assert "-fsanitize=address,undefined" in compilers.flags(compiler, "native")
    monkeypatch.setenv("DOVETAIL_NATIVE_SANITIZE", "address -O3")
    with pytest.raises(ConfigError, match="should be names of sanitizers"):
        compilers.flags(compiler, "native")


@pytest.mark.parametrize("name", ["clang", "gcc"])
def test_every_compiler_takes_the_flags_of_a_level(name: str, cache: Path) -> None:
    compiler = real_compiler(name)
    if not processor.processor().is_x86:
        pytest.skip("levels are x86's")
    compilers.build([source()], compiler, compilers.flags(compiler, "x86-64-v2"), cache / "x.so")
    assert compilers.macros(compiler, "x86-64-v2") == {"__SSE2__", "__SSE4_2__"}
