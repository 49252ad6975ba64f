"""A new plugin package from a template: files with `{{word}}` in them, filled in and written into a new folder."""

from __future__ import annotations

import keyword
import re
import sys
from importlib import resources, util
from pathlib import Path

import attrs

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.distribution import DISTRIBUTION
from dovetail.errors import ArgumentError, FileError
from dovetail.implementation import Implementation
from dovetail.registry import Registry, default_registry

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*$")
COMMON = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "ci.yml.txt": ".github/workflows/tests.yml",
    "init.py.txt": "src/{package}/__init__.py",
    "py.typed.txt": "src/{package}/py.typed",
    "test_house_rules.py.txt": "tests/test_house_rules.py",
}
FORCE = {
    "plugin.py.txt": "src/{package}/plugin.py",
    "force_numpy.py.txt": "src/{package}/force_numpy.py",
    "test_force.py.txt": "tests/test_physics.py",
}
FORCE_LANES = {"force_lanes.py.txt": "src/{package}/force_lanes.py"}
STAGE = {
    "stage_plugin.py.txt": "src/{package}/plugin.py",
    "stage_numpy.py.txt": "src/{package}/stage_numpy.py",
    "test_stage.py.txt": "tests/test_physics.py",
}
STAGE_LANES = {"stage_lanes.py.txt": "src/{package}/stage_lanes.py"}


@attrs.frozen(kw_only=True)
class Written:
    """What was written, and where."""

    folder: Path
    distribution: str
    package: str
    slot: str
    files: tuple[str, ...]


def new_package(
    name: str,
    parent: Path,
    *,
    slot: str = "passive_force",
    lanes: bool = True,
    registry: Registry | None = None,
) -> Written:
    """Write a package called `name` into a new folder of `parent`.

    `passive_force` gives a force of its own; another stage or row an implementation that begins as a call of the
    default one. `lanes`: with a sibling for kernels.
    """
    package = checked_name(name)
    folder = parent / name
    if folder.exists():
        raise FileError(folder, "is there already; choose another name, or remove it first")
    force = slot == "passive_force"
    words = {
        "distribution": name,
        "package": package,
        "plugin": package,
        "row": package,
        "slot": f"passive_force:{package}" if force else slot,
        "engine": DISTRIBUTION,
        "lanes": "True" if lanes else "False",
        "backends": '("numpy", "lanes")' if lanes else '("numpy",)',
    }
    if not force:
        words |= _of_stage(slot, lanes, registry or default_registry())
    chosen = {**COMMON, **(FORCE if force else STAGE)}
    chosen |= {} if not lanes else FORCE_LANES if force else STAGE_LANES
    filled = {target.format(package=package): _filled(source, words) for source, target in chosen.items()}
    for target, text in filled.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Written(
        folder=folder, distribution=name, package=package, slot=words["slot"], files=tuple(sorted(filled))
    )


def checked_name(name: str) -> str:
    """The name of the Python package that goes with a distribution's, or an error that says what is wrong."""
    if not isinstance(name, str) or len(name) > 60 or not NAME.match(name):
        raise ArgumentError(
            f"{name!r:.100} is no name for a package: use lower-case letters, digits and hyphens, as dovetail-wind"
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package == "dovetail":
        raise ArgumentError(
            f"{package!r} has another meaning in Python; choose another name, as dovetail-{name}"
        )
    if util.find_spec(package) is not None:
        raise ArgumentError(f"a package {package!r} is installed already; choose another name")
    return package


def _of_stage(slot: str, lanes: bool, registry: Registry) -> dict[str, str]:
    """What the files of a chosen stage say: its default implementation, which the new one begins with."""
    stage = pipeline.stage(slot.partition(":")[0])
    if not stage.runs or stage.kind == "all":
        raise ArgumentError(
            f"{slot} does not run in a place of its own, so there is no template for it; stages that do: "
            f"{', '.join(s.name for s in pipeline.STAGES.values() if s.runs and s.kind != 'all')}"
        )
    if stage.kind == "table" and ":" not in slot:
        rows = ", ".join(f"{slot}:{key}" for key in registry.keys(slot))
        raise ArgumentError(f"{slot} has rows; name the one to implement otherwise: {rows}")
    records = [r for r in registry.of(slot) if r.is_builtin]
    numpy = next((r for r in records if r.backend == REFERENCE and r.default), None) or next(
        (r for r in records if r.backend == REFERENCE), None
    )
    if numpy is None:
        raise ArgumentError(f"{slot}: there is nothing built in to begin with")
    sibling = registry.written_in("lanes", slot, numpy.name) if lanes else None
    if lanes and sibling is None:
        raise ArgumentError(f"{slot} {numpy.label} has no sibling in lanes to begin with; use --no-lanes")
    return {
        "stage": stage.name,
        "key": repr(numpy.key),
        "base": numpy.name,
        "arguments": ", ".join(stage.arguments),
        "numpy_module": numpy.target.partition(":")[0],
        "numpy_function": numpy.target.partition(":")[2],
        "lanes_module": "" if sibling is None else sibling.target.partition(":")[0],
        "lanes_function": "" if sibling is None else sibling.target.partition(":")[2],
        "lanes_arguments": ", ".join(["k", *(a for a in stage.arguments if a not in ("model", "data"))]),
        "numpy_record": _said(numpy),
        "lanes_record": "" if sibling is None else _said(sibling),
    }


def _said(record: Implementation) -> str:
    """What a record says of itself besides its names, as arguments of the new one's."""
    given = {
        "reads": None if record.reads is None else " ".join(record.reads),
        "writes": None if record.writes is None else " ".join(record.writes),
        "supports": " ".join(record.supports) or None,
        "evaluations": None if record.evaluations == 1 else record.evaluations,
    }
    return "".join(f"            {key}={value!r},\n" for key, value in given.items() if value is not None)


def _filled(source: str, words: dict[str, str]) -> str:
    text = (resources.files(__name__) / "files" / source).read_text(encoding="utf-8")
    return re.sub(r"(?<!\$)\{\{(\w+)\}\}", lambda match: words[match[1]], text)
