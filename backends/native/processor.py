"""The processor that kernels are compiled for: its name, what it can do, and how wide its registers are.

Kernels are compiled for this very processor (`-march=native`), or for the one that `DOVETAIL_NATIVE_CPU` names, as
`x86-64-v3` for libraries that several machines share. What it can do is part of a library's key: a library for
another processor would end the process with an illegal instruction.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import sys
from pathlib import Path

import attrs

from dovetail.errors import ConfigError, listing, shown

CPU_VARIABLE = "DOVETAIL_NATIVE_CPU"
NATIVE = "native"

LEVELS = {
    "x86-64": frozenset({"sse2"}),
    "x86-64-v2": frozenset({"sse2", "sse4_2"}),
    "x86-64-v3": frozenset({"sse2", "sse4_2", "avx", "avx2", "fma"}),
    "x86-64-v4": frozenset(
        {"sse2", "sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "avx512bw"}
    ),
}
"""What processors of a level can do, as far as it matters here (System V ABI for AMD64, 3.1.1)."""

MACROS = {
    "sse2": "__SSE2__",
    "sse4_2": "__SSE4_2__",
    "avx": "__AVX__",
    "avx2": "__AVX2__",
    "fma": "__FMA__",
    "avx512f": "__AVX512F__",
    "avx512dq": "__AVX512DQ__",
    "avx512vl": "__AVX512VL__",
    "avx512bw": "__AVX512BW__",
    "asimd": "__ARM_NEON",
    "sve": "__ARM_FEATURE_SVE",
}
"""Features that matter, as Linux names them, and the macro that a compiler defines where it uses one."""

WIDE = frozenset({"avx512f", "avx512dq", "avx512vl", "avx512bw"})
"""All of what a kernel over registers of 64 bytes uses."""

_CPUINFO = Path("/proc/cpuinfo")
_NAMES = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}
"""What Windows and macOS call the architectures."""


@attrs.frozen
class Processor:
    """A processor: `features` as Linux names them, empty where the system does not tell."""

    name: str
    architecture: str
    features: frozenset[str]

    @property
    def is_x86(self) -> bool:
        return self.architecture == "x86_64"

    @property
    def is_arm(self) -> bool:
        return self.architecture == "aarch64"


@functools.cache
def processor() -> Processor:
    """The processor of this machine."""
    architecture = platform.machine().lower()
    architecture = _NAMES.get(architecture, architecture)
    if _CPUINFO.exists():
        return of_cpuinfo(_CPUINFO.read_text(errors="replace"), architecture)
    if sys.platform == "darwin":
        return _of_macos(architecture)
    return Processor(platform.processor() or architecture, architecture, frozenset())


def of_cpuinfo(text: str, architecture: str) -> Processor:
    """What Linux tells: the features that all cores have (there are machines with two kinds of them)."""
    entries = [(key.strip().lower(), value.strip()) for key, _, value in _lines(text)]
    names = [value for key, value in entries if key in ("model name", "cpu model", "hardware")]
    parts = [value for key, value in entries if key in ("cpu implementer", "cpu part")][:2]
    lists = [frozenset(value.lower().split()) for key, value in entries if key in ("flags", "features")]
    features = frozenset.intersection(*lists) if lists else frozenset()
    name = names[0] if names else " ".join([architecture, *parts])
    return Processor(name, architecture, features)


def _lines(text: str) -> list[tuple[str, str, str]]:
    return [line.partition(":") for line in text.splitlines() if ":" in line]


def _of_macos(architecture: str) -> Processor:
    name = _sysctl("machdep.cpu.brand_string") or architecture
    told = " ".join(_sysctl(f"machdep.cpu.{key}") for key in ("features", "leaf7_features"))
    features = {_LINUX.get(word, word) for word in told.lower().replace(".", "_").split()}
    return Processor(
        name, architecture, frozenset(features | ({"asimd"} if architecture == "aarch64" else set()))
    )


_LINUX = {"avx1_0": "avx"}
"""Features that macOS names otherwise, once their dots are underscores."""


def _sysctl(name: str) -> str:
    """A text that macOS knows under a name, or an empty one."""
    import ctypes

    room = ctypes.c_size_t(4096)
    text = ctypes.create_string_buffer(room.value)
    try:
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), text, ctypes.byref(room), None, 0)
    except (AttributeError, OSError):
        return ""
    return "" if failed else text.value.decode(errors="replace")


# ---- what to compile for ----------------------------------------------------------------------------------


def target() -> str:
    """What kernels are compiled for: `native`, or what `DOVETAIL_NATIVE_CPU` names, if this processor can run that:
    it would end the process with an illegal instruction."""
    wanted = os.environ.get(CPU_VARIABLE) or NATIVE
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_+.=-]*", wanted):
        raise _misnamed(wanted, "names no processor")
    known = processor().features
    lacking = features_of(wanted) - known if known and wanted != NATIVE else frozenset()
    if lacking:
        raise _misnamed(
            wanted, f"is not for this processor ({processor().name}), which lacks {listing(lacking)}"
        )
    return wanted


def _misnamed(cpu: str, why: str, said: str = "") -> ConfigError:
    levels = [name for name, features in LEVELS.items() if features <= processor().features]
    return ConfigError(
        f"environment {CPU_VARIABLE}: {shown(cpu)} {why}. Say what a compiler knows as -march (-mcpu on ARM): "
        f"{', '.join([NATIVE, *levels])}, or a processor's name; unset, it is {NATIVE}{said}"
    )


def features_of(cpu: str) -> frozenset[str]:
    """What kernels for a processor may use, as far as it matters here; for one that is known to compilers only, what
    they say they would use."""
    if cpu == NATIVE and processor().features:
        return processor().features & frozenset(MACROS)
    return LEVELS.get(cpu) or _told_by_a_compiler(cpu)


def _told_by_a_compiler(cpu: str) -> frozenset[str]:
    from dovetail.backends.native.compilers import CompilerError, choose_compiler, macros

    compiler = choose_compiler()
    try:
        defined = frozenset() if compiler is None else macros(compiler, cpu)
    except CompilerError as error:
        raise _misnamed(cpu, f"means nothing to {compiler}", error.said) from error
    return frozenset(feature for feature, macro in MACROS.items() if macro in defined)


def register_bytes(cpu: str | None = None) -> int:
    """The width of a register of numbers, in bytes: 64 with all of AVX-512, 32 with AVX, else 16 (SSE, NEON)."""
    features = features_of(target() if cpu is None else cpu)
    if features >= WIDE:
        return 64
    return 32 if "avx" in features else 16
