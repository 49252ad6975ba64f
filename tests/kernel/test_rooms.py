"""Who may import whom: a stage folder imports itself, the library, its backend's language and the contracts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
LIBRARY = "shared"
ABOVE = {"queries": "questions to a Model and Data are asked of stages, and no stage asks them"}
"""Folders of plugins/ that are no stages but stand above them, and why."""

DOORS = {
    "dovetail.contracts": "declared fields, enums, sizes",
    "dovetail.errors": "what is raised",
    "dovetail.plugin": "what plugins are written with",
    "dovetail.implementation": "records",
    "dovetail.hookspecs": "fields that a stage is declared to read, by name",
    "dovetail.registry": "other stages by name (shared/reference.py)",
    "dovetail.recorded_model": "rules of the Model that are watched by value",
    "dovetail.bad_states": "how a bad control is described",
    "dovetail.warned": "warnings that a Model from the cache repeats",
}
"""What of the kernel a plugin may import, and for what."""

ALLOWED: dict[tuple[str, str], str] = {
    (
        "plugins/length_range/simulation_numpy.py",
        "dovetail.planning",
    ): "it simulates: it makes a plan of its own",
    ("plugins/length_range/simulation_numpy.py", "dovetail.backend"): "it runs the slots of that plan",
    ("plugins/length_range/simulation_numpy.py", "dovetail.config"): "it makes a plan of its own",
    (
        "plugins/shared/geometry/sdf_fields_numpy.py",
        "dovetail.planning",
    ): "a ray or a tactile sensor is given no rows of the table, and takes the shapes that loading would take",
}
"""File, module: why this one import is right all the same."""


def imports(tree: ast.AST) -> Iterator[str]:
    """Modules that are imported anywhere in a file, `from a import b` as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def allowed_for(path: Path) -> list[str]:
    """Packages that a file of plugins/ may import, besides what is not dovetail's."""
    folder = path.relative_to(PLUGINS).parts[0]
    own = [f"dovetail.plugins.{folder}", f"dovetail.plugins.{LIBRARY}", *DOORS]
    if folder in ABOVE:
        own += ["dovetail.plugins", "dovetail.planning", "dovetail.pipeline", "dovetail.simulation"]
    if not path.stem.endswith("_numpy"):
        own.append("dovetail.backends.lanes")
    return own


def offending(path: Path, source: str) -> list[str]:
    """Imports of a file of plugins/ that the rule does not allow."""
    name, allowed = path.relative_to(ROOT).as_posix(), allowed_for(path)
    return [
        module
        for module in imports(ast.parse(source))
        if within(module, "dovetail") and not within(module, *allowed)
        if not any(file == name and within(module, package) for file, package in ALLOWED)
    ]


MODULES = sorted(PLUGINS.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PLUGINS).as_posix())
def test_a_stage_imports_itself_the_library_its_language_and_the_contracts(path: Path) -> None:
    assert offending(path, path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "from dovetail.plugins.tendon.paths_numpy import tendon",
        "from dovetail.plugins.queries.jacobian import jac_body",
        "from dovetail.simulation import Simulation",
        "from dovetail.mjcf.read import schema",
        "from dovetail.backends.lanes.kernel import Kernel",
        "def late():\n    from dovetail.plugins import sensor",
    ],
)
def test_a_seeded_import_is_noticed(line: str) -> None:
    assert offending(PLUGINS / "kinematics" / "tree_numpy.py", line)


def test_every_exception_has_a_reason_and_is_needed() -> None:
    for (file, package), reason in ALLOWED.items():
        assert reason, file
        assert any(within(module, package) for module in imports(ast.parse((ROOT / file).read_text()))), file


def test_every_door_is_used() -> None:
    used = {module for path in MODULES for module in imports(ast.parse(path.read_text()))}
    assert [door for door in DOORS if not any(within(module, door) for module in used)] == []


def room_of(module: str) -> str:
    """The folder of plugins/ that a module is in; of the library its subfolder or the module itself."""
    parts = module.split(".")[2:]
    return "/".join(parts[:2] if parts[:1] == [LIBRARY] else parts[:1])


def test_folders_import_each_other_in_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        parts = path.relative_to(PLUGINS).with_suffix("").parts
        own = room_of(".".join(("dovetail", "plugins", *parts)))
        needed = {room_of(m) for m in imports(ast.parse(path.read_text())) if within(m, "dovetail.plugins")}
        graph.setdefault(own, set()).update(needed - {own, ""})
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


def test_stage_files_are_named_after_algorithm_and_language() -> None:
    neutral = {LIBRARY, "model_rules", *ABOVE}
    strange = [
        path.relative_to(PLUGINS).as_posix()
        for path in MODULES
        if len(path.relative_to(PLUGINS).parts) > 1 and path.relative_to(PLUGINS).parts[0] not in neutral
        if path.name != "__init__.py" and not path.stem.endswith(("_numpy", "_lanes"))
    ]
    assert strange == []
