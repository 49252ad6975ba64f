"""The processor: what Linux tells of it, how wide its registers are, and what it cannot run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from compiler_scripts import private_cache, real_compiler

from dovetail.backends.native import processor
from dovetail.errors import ConfigError

X86 = """processor\t: 0
model name\t: Some CPU @ 3.00GHz
flags\t\t: fpu sse2 sse4_2 avx avx2 fma

processor\t: 1
model name\t: Some CPU @ 3.00GHz
flags\t\t: fpu sse2 sse4_2 avx avx2 fma avx512f
"""
ARM = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes sve
CPU implementer\t: 0x41
CPU part\t: 0xd0c
"""
WIDE = frozenset({"sse2", "sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "avx512bw"})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return private_cache(tmp_path, monkeypatch)


def has(monkeypatch: pytest.MonkeyPatch, features: frozenset[str], architecture: str = "x86_64") -> None:
    """As if this machine had another processor."""
    monkeypatch.setattr(processor, "processor", lambda: processor.Processor("test", architecture, features))


def test_linux_tells_name_and_features_that_all_cores_have() -> None:
    found = processor.of_cpuinfo(X86, "x86_64")
    assert found.name == "Some CPU @ 3.00GHz"
    assert found.features == {"fpu", "sse2", "sse4_2", "avx", "avx2", "fma"}


def test_linux_tells_less_on_arm() -> None:
    found = processor.of_cpuinfo(ARM, "aarch64")
    assert found.name == "aarch64 0x41 0xd0c"
    assert "asimd" in found.features


@pytest.mark.parametrize("text", ["", "nonsense", ":", "flags:\nflags: avx\n"])
def test_linux_may_tell_nothing(text: str) -> None:
    assert processor.of_cpuinfo(text, "x86_64").features == frozenset()


@pytest.mark.parametrize(
    ("features", "width"),
    [
        (WIDE, 64),
        (WIDE - {"avx512dq"}, 32),
        (WIDE - {"avx512vl"}, 32),
        (frozenset({"sse2", "avx"}), 32),
        (frozenset({"sse2"}), 16),
    ],
)
def test_registers_are_as_wide_as_features_say(
    features: frozenset[str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, features)
    assert processor.register_bytes("native") == width
    assert processor.register_bytes() == width


def test_registers_of_arm_are_those_of_neon(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, frozenset({"asimd", "fp"}), "aarch64")
    assert processor.register_bytes() == 16


@pytest.mark.parametrize(("level", "width"), [("x86-64-v4", 64), ("x86-64-v3", 32), ("x86-64-v2", 16)])
def test_registers_follow_the_variable(level: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, WIDE)
    monkeypatch.setenv("DOVETAIL_NATIVE_CPU", level)
    assert processor.target() == level
    assert processor.register_bytes() == width


@pytest.mark.skipif(os.name != "posix", reason="compilers are asked")
def test_a_compiler_tells_of_a_processor_that_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    if not processor.processor().is_x86:
        pytest.skip("the name is x86's")
    real_compiler()
    assert processor.register_bytes("haswell") == 32
    assert processor.register_bytes("nehalem") == 16


def test_what_this_processor_cannot_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, frozenset({"sse2", "sse4_2", "avx"}))
    monkeypatch.setenv("DOVETAIL_NATIVE_CPU", "x86-64-v3")
    with pytest.raises(
        ConfigError,
        match=r"DOVETAIL_NATIVE_CPU: 'x86-64-v3' is not for this processor \(test\), which lacks avx2, fma.*"
        r"native, x86-64, x86-64-v2,",
    ):
        processor.target()


@pytest.mark.parametrize("text", ["-O3", "a b", "x;y", "$(x)"])
def test_what_is_no_name_is_an_error(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_NATIVE_CPU", text)
    with pytest.raises(ConfigError, match="names no processor"):
        processor.target()


@pytest.mark.skipif(os.name != "posix", reason="compilers are asked")
def test_a_name_that_means_nothing_is_an_error_with_what_the_compiler_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real_compiler()
    monkeypatch.setenv("DOVETAIL_NATIVE_CPU", "quantum9000")
    with pytest.raises(
        ConfigError, match=r"'quantum9000' means nothing to (.|\n)*It said:(.|\n)*quantum9000"
    ):
        processor.target()
