"""The compiler knows no plugin: stages come to it through the tables that loading hands over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dovetail.mjcf

ROOT = Path(dovetail.mjcf.__file__).parent
PLUGINS = "dovetail.plugins"
LIBRARY = f"{PLUGINS}.shared"
STOREYS = ("geometry", "read", "compose", "elements", "model")
"""From bottom to top; `compose` and `elements` stand on the same floor."""


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules, with the names taken from them, that importing a module imports."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += ast.iter_child_nodes(node)


def is_library(name: str) -> bool:
    """Whether something imported is of the library that stages share."""
    return name.startswith(f"{LIBRARY}.")


def stage_imports(source: str) -> list[str]:
    """What a module takes from stage folders as soon as it is imported."""
    names = sorted(imported(ast.parse(source)))
    return [name for name in names if name.startswith(PLUGINS) and not is_library(name)]


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_stage_is_imported_with_the_compiler(path: Path) -> None:
    assert stage_imports(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "from dovetail.plugins.mesh_inertia.integrals_numpy import ROWS",
        "import dovetail.plugins.islands",
        "from dovetail.plugins import load_mesh",
        "class A:\n    from dovetail.plugins.geom_inertia import primitives_numpy",
        "if True:\n    from dovetail.plugins.flex_build import mesh_numpy",
    ],
)
def test_an_import_of_a_stage_is_found(line: str) -> None:
    assert len(stage_imports(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "from dovetail.plugins.shared.constants import MINVAL",
        "def f():\n    from dovetail.plugins.islands.components_numpy import touched_trees",
        "if TYPE_CHECKING:\n    from dovetail.plugins.islands import components_numpy",
        "from dovetail.contracts.enums import GeomType",
    ],
)
def test_the_library_and_late_imports_are_allowed(line: str) -> None:
    assert stage_imports(line) == []


def storey_of(name: str) -> int | None:
    """The floor on which a module of the compiler stands; None for what is no part of it."""
    parts = name.split(".")
    if parts[:2] != ["dovetail", "mjcf"] or len(parts) < 3 or parts[2] not in STOREYS:
        return None
    return STOREYS.index("compose" if parts[2] == "elements" else parts[2])


def upward_imports(path: Path) -> list[str]:
    own = STOREYS.index("compose" if path.parent.name == "elements" else path.parent.name)
    names = sorted(imported(ast.parse(path.read_text())))
    return [name for name in names if (storey_of(name) or 0) > own]


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if path.parent.name in STOREYS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_storey_stands_on_those_below_it(path: Path) -> None:
    assert upward_imports(path) == []
