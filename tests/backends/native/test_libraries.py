"""Libraries of kernels: kept, checked, shared between processes; damaged, cut short or foreign ones are not run."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from compiler_scripts import REAL, fake, forget_all, private_cache, real_compiler, script, source

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, jobs, libraries, processor
from dovetail.backends.native.compilers import Compiler, CompilerError
from dovetail.backends.native.libraries import Library, library

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the scripts are the shell's")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of libraries. What zig compiles of its own library, which takes it seconds, all tests share."""
    shared = kernel_cache.cache_directory("native") / "zig"
    folder = private_cache(tmp_path / "cache", monkeypatch)
    folder.mkdir(parents=True, mode=0o700)
    kernel_cache.make_private(shared)
    (folder / "zig").symlink_to(shared)
    return folder


@pytest.fixture
def compiler(cache: Path) -> Compiler:
    return real_compiler()


def made(compiler: Compiler, answer: int = 42) -> Library:
    return library([source(answer)], compiler, compilers.flags(compiler))


def anew(compiler: Compiler, monkeypatch: pytest.MonkeyPatch, answer: int = 42) -> Library:
    """As a later process gets it."""
    forget_all(monkeypatch)
    return made(compiler, answer)


def wrapper(folder: Path, compiler: Compiler, *before: str, options: str = "") -> Compiler:
    """A compiler around a real one, which does something first or adds options."""
    command = " ".join(compiler.command)
    return attrs.evolve(
        compiler,
        name="wrapper",
        command=(str(script(folder / "wrapper", *before, f'exec {command} "$@" {options}')),),
    )


# ---- kept -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_a_library_is_built_once_and_kept(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = real_compiler(name)
    first = made(compiler)
    assert first.handle.answer() == 42
    assert first.seconds > 0
    assert libraries.load(first) is first.handle
    again = made(compiler)
    assert again.handle is first.handle
    assert again.seconds == 0
    monkeypatch.setattr(jobs, "run", None)
    later = anew(compiler, monkeypatch)
    assert later.handle.answer() == 42
    assert (later.path, later.seconds) == (first.path, 0)


def test_nothing_else_is_left(cache: Path, compiler: Compiler) -> None:
    path = made(compiler).path
    names = {found.name for found in cache.iterdir()} - {"compilers.json"}
    assert names == {path.name, f"{path.stem}.sha256", "zig"}
    for found in (path, path.with_suffix(".sha256"), cache):
        assert found.stat().st_mode & 0o077 == 0


def test_a_library_is_the_users_alone_whatever_the_umask_says(
    cache: Path, tmp_path: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "new" / "deeper"))
    before = os.umask(0)
    try:
        path = made(compiler).path
    finally:
        os.umask(before)
    assert path.parent == tmp_path / "new" / "deeper" / "native"
    for found in (path, path.with_suffix(".sha256"), *list(path.parents)[:3]):
        assert found.stat().st_mode & 0o077 == 0


def test_libraries_are_told_apart_though_files_have_the_same_number(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's loader knows libraries by name, and an open file has the name of one that was closed."""
    found = [made(compiler, answer) for answer in range(6)]
    assert [one.handle.answer() for one in found] == list(range(6))
    forget_all(monkeypatch)
    assert [made(compiler, answer).handle.answer() for answer in range(6)] == list(range(6))


def test_a_key_is_of_all_that_decides(
    cache: Path, tmp_path: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(
        sources: tuple[str, ...] = ("a", "b"), by: Compiler = compiler, flags: tuple[str, ...] = ("-O1",)
    ) -> str:
        return libraries.Order(sources, by, flags).key

    keys = [
        key(),
        key(sources=("ab",)),
        key(sources=("b", "a")),
        key(flags=("-O2",)),
        key(by=attrs.evolve(compiler, version="other")),
        key(by=attrs.evolve(compiler, language="c++" if compiler.language == "c" else "c")),
        key(by=fake(tmp_path)),
    ]
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]


def test_a_library_for_this_processor_is_not_for_another(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = processor.processor()
    native = libraries.Order(("a",), compiler, ("-march=native",))
    level = libraries.Order(("a",), compiler, ("-march=x86-64-v3",))
    before = native.key, level.key
    other = attrs.evolve(here, features=here.features | {"quantum"})
    monkeypatch.setattr(processor, "processor", lambda: other)
    assert native.key != before[0]
    assert level.key == before[1]
    monkeypatch.setattr(processor, "processor", lambda: attrs.evolve(here, architecture="other"))
    assert level.key != before[1]


# ---- damaged ----------------------------------------------------------------------------------------------


def seal(path: Path) -> Path:
    return path.with_suffix(".sha256")


def replaced(path: Path, content: bytes) -> None:
    """By another file, since this process runs the one that is there."""
    path.unlink()
    path.write_bytes(content)
    path.chmod(0o700)


def resealed(path: Path, content: bytes) -> None:
    replaced(path, content)
    seal(path).write_text(hashlib.sha256(content).hexdigest())


def linked(path: Path, content: bytes) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def piped(path: Path, content: bytes) -> None:
    path.unlink()
    os.mkfifo(path, 0o700)


def foldered(path: Path, content: bytes) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, tuple[Callable[[Path, bytes], object], str]] = {
    "cut short": (lambda p, c: replaced(p, c[: len(c) // 2]), "its bytes are not those that were built"),
    "empty": (lambda p, c: replaced(p, b""), "its bytes are not those that were built"),
    "one bit": (
        lambda p, c: replaced(p, c[:999] + bytes([c[999] ^ 1]) + c[1000:]),
        "its bytes are not those that were built",
    ),
    "link": (linked, "Too many levels of symbolic links"),
    "pipe": (piped, "is no regular file"),
    "folder": (foldered, "is no regular file"),
    "writable": (lambda p, c: p.chmod(0o777), "everybody may write to"),
    "no hash": (lambda p, c: seal(p).unlink(), "its hash is missing"),
    "garbage hash": (
        lambda p, c: seal(p).write_bytes(b"\xff" * 10),
        "its bytes are not those that were built",
    ),
    "empty hash": (lambda p, c: seal(p).write_bytes(b""), "its bytes are not those that were built"),
    "sealed garbage": (lambda p, c: resealed(p, b"no library"), "file too short"),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_library_is_not_run_but_built_anew(
    how: str,
    cache: Path,
    compiler: Compiler,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    damage, reason = DAMAGES[how]
    first = made(compiler)
    damage(first.path, first.path.read_bytes())
    again = anew(compiler, monkeypatch)
    assert again.path == first.path
    assert again.seconds > 0
    assert again.handle.answer() == 42
    assert f"{first.path} is not used, but built anew: " in caplog.text
    assert reason in caplog.text
    assert stat.S_ISREG(first.path.lstat().st_mode)
    caplog.clear()
    assert anew(compiler, monkeypatch).seconds == 0
    assert not caplog.records


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_library_of_another_user_is_not_run(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = made(compiler)
    os.chown(first.path, 12345, -1)
    assert anew(compiler, monkeypatch).seconds > 0
    assert "belongs to another user" in caplog.text


def test_what_is_loaded_is_what_was_checked(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though another file gets its name in between."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux names open files")
    made(compiler, 7)
    foreign = made(compiler, 666).path.read_bytes()
    name = libraries._name

    def meanwhile(file: int, path: Path) -> str:
        replaced(path, foreign)
        return name(file, path)

    monkeypatch.setattr(libraries, "_name", meanwhile)
    assert anew(compiler, monkeypatch, 7).handle.answer() == 7


def test_what_cannot_be_loaded_though_just_built_is_an_error(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match=r"cannot be loaded: .*file too short.*has just built it.*noexec"):
        made(fake(tmp_path, "echo no library > kernel.so"))
    assert not list(cache.glob("*.so")) + list(cache.glob("*.sha256"))


# ---- tested -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clang", "gcc"])
def test_contracted_kernels_are_refused(name: str, cache: Path, tmp_path: Path) -> None:
    """GCC contracts from -O2 on."""
    compiler = real_compiler(name)
    if "fma" not in processor.processor().features:
        pytest.skip("this processor has no fused multiply-add")
    contracting = wrapper(tmp_path, compiler, options="-O2 -ffp-contract=fast -mfma")
    with pytest.raises(CompilerError) as raised:
        made(contracting)
    message = str(raised.value)
    assert f"what wrapper ({tmp_path / 'wrapper'}: {compiler.version}) compiles with -O1" in message
    assert "-ffp-contract=off" in message
    assert "does not compute as NumPy does" in message
    assert "DOVETAIL_CC" in message
    assert not list(cache.glob("*.so"))


RUN = """
import sys
sys.path.insert(0, {here!r})
from compiler_scripts import source
from dovetail.backends.native import compilers, libraries
compiler = compilers.choose_compiler()
found = libraries.library([source()], compiler, compilers.flags(compiler))
print(found.handle.answer(), found.seconds > 0)
"""


def process(cache: Path, compiler: str, **environment: str) -> subprocess.Popen[str]:
    """Another process that wants a library."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN.format(here=str(Path(__file__).parent))],
        env={**os.environ, "DOVETAIL_CACHE_DIR": str(cache.parent), "DOVETAIL_CC": compiler, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_library_that_drops_tiny_numbers_is_refused(
    cache: Path, tmp_path: Path, compiler: Compiler
) -> None:
    """As compilers link to what is compiled with -ffast-math; in a process of its own, since that computes otherwise
    from then on."""
    if not processor.processor().is_x86:
        pytest.skip("written for x86")
    (tmp_path / "drop").write_text(
        "__attribute__((constructor)) static void drop(void)\n"
        "{ __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }\n"
    )
    dropping = wrapper(
        tmp_path, compiler, f"for f in kernel_0*; do test -e $f && cat {tmp_path}/drop >> $f; done"
    )
    out, said = process(cache, dropping.command[0]).communicate(timeout=120)
    assert out == ""
    assert "does not compute as NumPy does" in said


def test_a_library_without_the_test_is_refused(cache: Path, compiler: Compiler) -> None:
    with pytest.raises(CompilerError, match="has no function dovetail_selftest: it is no library of kernels"):
        library(["int x;"], compiler, compilers.flags(compiler))


def test_a_library_that_watches_addresses_needs_a_process_that_does(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end this one."""
    monkeypatch.setenv("DOVETAIL_NATIVE_SANITIZE", "address,undefined")
    with pytest.raises(CompilerError, match=r"DOVETAIL_NATIVE_SANITIZE: .*start it with LD_PRELOAD"):
        made(compiler)


# ---- folders that cannot be used --------------------------------------------------------------------------


@contextmanager
def in_a_temporary_folder(cache: Path, reason: str) -> Iterator[None]:
    """What is built there is not in the cache, which is warned of once."""
    with pytest.warns(kernel_cache.CacheWarning, match=reason) as warned:
        yield
    assert len(warned) == 1
    assert not list(cache.glob("*.so"))
    kernel_cache.remove_temporary_directories()


def test_a_folder_that_others_can_write_to_is_not_used(cache: Path, compiler: Compiler, monkeypatch) -> None:
    cache.chmod(0o777)
    forget_all(monkeypatch)
    with in_a_temporary_folder(cache, "everybody may write to .*DOVETAIL_CACHE_DIR"):
        found = [made(compiler), made(compiler, 43)]
    assert [one.handle.answer() for one in found] == [42, 43]


def test_an_unwritable_folder_is_not_used(
    cache: Path, tmp_path: Path, compiler: Compiler, monkeypatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / "file"))
    with in_a_temporary_folder(cache, "cannot be written to: .*DOVETAIL_CACHE_DIR"):
        assert made(compiler).handle.answer() == 42


def full_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, cache: Path) -> None:
    """Writing with a function finds no room in a folder."""
    real = getattr(owner, name)

    def write(path: Path, *arguments: object, **more: object) -> object:
        if cache in path.parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *arguments, **more)

    monkeypatch.setattr(owner, name, write)


@pytest.mark.parametrize(
    ("owner", "name"), [(Path, "write_text"), (Path, "replace"), (kernel_cache, "write_whole")]
)
def test_where_no_room_is_left_a_temporary_folder_is_used(
    owner: object, name: str, cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_at(monkeypatch, owner, name, cache)
    with pytest.warns(kernel_cache.CacheWarning, match="No space left on device") as warned:
        found = [made(compiler), made(compiler, 43)]
    assert len(warned) == 1
    assert [one.handle.answer() for one in found] == [42, 43]
    assert cache not in found[0].path.parents
    kernel_cache.remove_temporary_directories()
    monkeypatch.undo()
    assert not found[0].path.exists()


def test_a_compiler_that_finds_no_room_is_run_in_a_temporary_folder(
    cache: Path, tmp_path: Path, compiler: Compiler
) -> None:
    limited = wrapper(
        tmp_path, compiler, f'case "$PWD" in {cache}/*) echo No space left on device; exit 1;; esac'
    )
    with in_a_temporary_folder(cache, "it is full"):
        assert made(limited).handle.answer() == 42


# ---- several processes ------------------------------------------------------------------------------------


def test_of_two_processes_one_builds(cache: Path, tmp_path: Path, compiler: Compiler) -> None:
    """The first cannot end before the other has begun to wait for it: its compiler waits until there are two."""
    log = tmp_path / "log"
    counted = wrapper(
        tmp_path,
        compiler,
        f'grep -qs answer kernel_0* && echo "$*" >> {log}',
        f"grep -qs answer kernel_0* && while [ ! -e {tmp_path}/both ]; do sleep 0.02; done",
    )
    runs = [process(cache, counted.command[0]) for _ in range(2)]
    while not log.exists():
        time.sleep(0.01)
    (tmp_path / "both").touch()
    results = [run.communicate(timeout=120) for run in runs]
    assert sorted(out for out, _ in results) == ["42 False\n", "42 True\n"], results
    assert len(log.read_text().splitlines()) == 1
    assert not list(cache.glob("*.lock")) + list(cache.glob("*.tmp")) + list(cache.glob("building-*"))


def test_without_locks_all_build_and_a_whole_library_stays(
    cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def unlocked(*_: object) -> Iterator[bool]:
        yield False

    monkeypatch.setattr(kernel_cache, "locked", unlocked)
    build = compilers.build

    def another_too(*arguments: object) -> None:
        build(*arguments)
        build(*arguments)

    monkeypatch.setattr(compilers, "build", another_too)
    assert made(compiler).handle.answer() == 42
    assert anew(compiler, monkeypatch).seconds == 0


def test_a_process_that_is_killed_leaves_a_cache_that_works(
    cache: Path, tmp_path: Path, compiler: Compiler
) -> None:
    started = tmp_path / "started"
    hanging = wrapper(
        tmp_path,
        compiler,
        f"if grep -qs answer kernel_0* && [ ! -e {started} ]; then",
        f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 1000; fi",
    )
    run = process(cache, hanging.command[0])
    while not started.exists():
        time.sleep(0.01)
    run.kill()
    run.communicate()
    os.kill(int(started.read_text()), signal.SIGKILL)  # the compiler that hangs, which outlived the process
    (left,) = cache.glob("building-*")
    assert made(hanging).handle.answer() == 42
    assert left.exists()
    os.utime(left, (0, 0))
    made(hanging, 43)
    assert not left.exists()
