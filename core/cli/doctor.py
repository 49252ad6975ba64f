"""`dovetail doctor`: what this machine has for fast kernels, and whether it works."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import cli_command
from dovetail.cli._output import emit, pairs, say, size, title, waiting

PACKAGES = ("numpy", "scipy", "lxml", "pillow", "attrs", "pluggy", "click", "rich", "mujoco")
"""What dovetail runs with; MuJoCo only if it compares."""

RUNTIMES = ("quadrants", "taichi")

WIDTH = 78
"""Columns that lines of text are wrapped to, wherever they are printed."""

LONGEST_NAME = 20
"""Characters of a compiler's."""


@cli_command(example="dovetail doctor")
def doctor(as_json: bool) -> int:
    """Show what this machine has for fast kernels, and try it.

    The processor, C compilers (DOVETAIL_CC names one), the runtimes Taichi and Quadrants, the cache of kernels; then
    a small kernel is compiled and run. The exit code is 1 if there is nothing that runs batches fast: they then run
    on NumPy.
    """
    report = describe(quiet=as_json)
    if as_json:
        emit(report)
    else:
        _show(report)
    return 0 if report["ok"] else FOUND_PROBLEMS


def describe(*, quiet: bool = True) -> dict[str, Any]:
    """All of it as plain values."""
    from dovetail.backends.native import doctor as native

    with waiting("looking for compilers and trying one …", show=not quiet):
        found = native.report()
        trial = native.try_kernel()
    runtimes = [_runtime(name) for name in RUNTIMES]
    return {
        **_python(),
        **found,
        "runtimes": runtimes,
        "kernel": trial,
        "ok": trial.ok or any(runtime["version"] for runtime in runtimes),
    }


def _python() -> dict[str, Any]:
    import platform
    import sys

    from dovetail import __version__

    return {
        "dovetail": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()}",
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
    }


def _version(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _runtime(name: str) -> dict[str, Any]:
    from dovetail.distribution import requirement

    return {"name": name, "version": _version(name), "install": f'pip install "{requirement(name)}"'}


# ---- for people


def _show(report: dict[str, Any]) -> None:
    title(f"dovetail {report['dovetail']}")
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items())
    _pairs(
        {
            "Python": f"{report['python']}, {report['executable']}",
            "system": report["system"],
            "packages": packages,
        }
    )
    title("Processor")
    _pairs(_processor(report["processor"]))
    title("C compilers")
    _show_compilers(report)
    title("Runtimes of the Taichi backend")
    _pairs({r["name"]: r["version"] or f"not installed: {r['install']}" for r in report["runtimes"]})
    title("Cache of compiled kernels")
    _pairs(_cache(report["cache"]))
    title("A kernel")
    _show_trial(report)


def _processor(found: dict[str, Any]) -> dict[str, str]:
    features = [name if there else f"no {name}" for name, there in found["features"].items()]
    lanes = found["lanes"]
    return {
        "name": f"{found['name']} ({found['architecture']})",
        "cores": f"{found['cores']}, of which {found['threads']} for this process",
        "features": ", ".join(features) or "unknown",
        "kernels for": f"{found['target']} (DOVETAIL_NATIVE_CPU names another processor)",
        "registers": f"{found['register_bytes']} bytes: {lanes['f64']} worlds in f64, {lanes['f32']} in f32",
    }


def _show_compilers(report: dict[str, Any]) -> None:
    lines = {}
    for one in report["compilers"]:
        chosen = " (chosen)" if one["chosen"] else ""
        command = f"{one['origin']}: {' '.join(one['command'])}"
        lines[_label(one["name"], one["origin"])] = [f"{one['version']}{chosen}", command]
    for one in report["refused"]:
        program = PurePath(one["command"].partition(" ")[0]).name
        label = f"not {_label(program, one['origin'])}"
        lines[label] = [f"{one['origin']}: {one['command']}", one["reason"]]
    _pairs(lines)
    if not report["compilers"]:
        _say(f"none that works: {_advice()}")


def _label(name: str, origin: str) -> str:
    """A compiler's name; the one that the variable names may be found elsewhere, too."""
    return f"{name[:LONGEST_NAME]} (DOVETAIL_CC)" if origin == "DOVETAIL_CC" else name[:LONGEST_NAME]


def _advice() -> str:
    from dovetail.distribution import requirement

    return (
        f'pip install "{requirement("native")}" brings one, or install clang (apt install clang, dnf install clang, '
        "xcode-select --install)"
    )


def _cache(found: dict[str, Any]) -> dict[str, str]:
    kept = f"{found['libraries']} libraries, {size(found['bytes'])}"
    return {
        "folder": found["folder"],
        "state": f"not used: {found['problem']}" if found["problem"] else "writable by nobody else",
        **({} if found["problem"] else {"kept": f"{kept}; {size(found['free'])} free"}),
    }


def _show_trial(report: dict[str, Any]) -> None:
    trial = report["kernel"]
    _say(f"works: {trial.detail}" if trial.ok else f"fails: {trial.detail}")
    if not trial.ok and report["ok"]:
        _say("batches run with the Taichi backend, which is installed")
    elif not report["ok"]:
        _say(f"batches run on NumPy, one world after the other. A C compiler makes them fast: {_advice()}")


def _say(text: str) -> None:
    for line in _wrapped(text, WIDTH - 2):
        say(f"  {line}")


def _pairs(entries: dict[str, Any]) -> None:
    """Labels with their values, one text or several, which are wrapped."""
    room = WIDTH - 4 - max(map(len, entries), default=0)
    pairs({label: "\n".join(_wrapped(value, room)) for label, value in entries.items()})


def _wrapped(value: str | Iterable[str], room: int) -> list[str]:
    import textwrap

    texts = (
        value.splitlines() if isinstance(value, str) else [line for one in value for line in one.splitlines()]
    )
    wrap = textwrap.TextWrapper(room, break_on_hyphens=False, break_long_words=False)
    return [line for text in texts for line in wrap.wrap(text) or [""]]
