"""The distribution: every folder is packaged, dependencies point the right way, imports stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dovetail
from dovetail.distribution import DISTRIBUTION, requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOTS = PROJECT["tool"]["setuptools"]["package-dir"]
SOURCES = [path for folder in ROOTS.values() for path in sorted((ROOT / folder).rglob("*.py"))]
STANDARD = sys.stdlib_module_names


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def folders_with_modules() -> set[str]:
    """Folders that hold modules, by the name they are imported as."""
    return {
        ".".join((package, *path.parent.relative_to(ROOT / folder).parts))
        for package, folder in ROOTS.items()
        for path in (ROOT / folder).rglob("*.py")
    }


def packaged() -> set[str]:
    """The packages that setup.py lists."""
    code = "import runpy, setuptools; setuptools.setup = lambda **given: print(*given['packages']); "
    return set(run(f"{code}runpy.run_path({str(ROOT / 'setup.py')!r})").split())


def module_level_imports(tree: ast.Module) -> Iterator[str]:
    """Top packages imported when a module is, leaving out what only type checkers see."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            todo += [*node.body, *node.orelse]
        elif isinstance(node, ast.Try):
            todo += [*node.body, *node.orelse, *node.finalbody]


def all_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def test_every_folder_with_modules_is_packaged() -> None:
    """One without an `__init__.py` would be left out of the distribution."""
    assert packaged() == folders_with_modules()


def test_the_version_is_stated_once() -> None:
    assert PROJECT["project"]["version"] == dovetail.__version__


def test_messages_name_the_distribution_that_is_published() -> None:
    assert PROJECT["project"]["name"] == DISTRIBUTION
    assert requirement("taichi") == "dovetail-physics[taichi]"
    assert requirement() == "dovetail-physics"


def test_nothing_else_spells_the_distribution() -> None:
    """Every message that tells what to install takes the name from one place."""
    spelt = re.compile(r"dovetail-physics|dovetail\[|pip install[^\n]*\bdovetail\b")
    offenders = [
        f"{path}:{node.lineno}"
        for path, tree in parsed()
        if path != "core/distribution.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and spelt.search(node.value)
        if path != "core/backend.py"  # the protocol's docstring has an example
    ]
    assert offenders == []


def test_the_packages_typing_is_announced() -> None:
    assert (ROOT / "core" / "py.typed").is_file()


KERNEL = {"numpy", "attrs", "pluggy", "click", "rich", "dovetail"}


def parsed(under: str = "") -> Iterator[tuple[str, ast.Module]]:
    """Every module of the distribution whose path starts so, with its syntax tree."""
    for path in SOURCES:
        if relative(path).startswith(under):
            yield relative(path), ast.parse(path.read_text())


SUBCLASSED = {
    "core/testing/": {"pytest"},
    "core/envs/": {"gymnasium", "stable_baselines3"},
    "core/distributed/vector.py": {"gymnasium"},
}
"""Packages whose classes modules derive from, so that they import them at once; nothing imports these modules before
somebody asks for a name in them (`test_what_needs_an_extra_is_imported_when_it_is_used`)."""


def subclassed(path: str) -> set[str]:
    return set().union(*(packages for under, packages in SUBCLASSED.items() if path.startswith(under)))


def test_the_kernel_imports_little_at_module_level() -> None:
    for path, tree in parsed("core/"):
        assert set(module_level_imports(tree)) - STANDARD <= KERNEL | subclassed(path), path


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    heavy = {"taichi", "quadrants", "mujoco", "scipy", "gymnasium", "matplotlib", "ray", "torch"}
    imported = [(path, heavy & set(module_level_imports(tree))) for path, tree in parsed()]
    assert [path for path, found in imported if found - subclassed(path)] == []


@pytest.mark.parametrize(
    ("module", "package", "name"),
    [("envs", "gymnasium", "Task"), ("distributed", "ray", "rollout")],
)
def test_what_needs_an_extra_is_imported_when_it_is_used(module: str, package: str, name: str) -> None:
    """Without its extra a package can be imported, and says what to install when it is used."""
    code = f"import sys; sys.modules[{package!r}] = None\n"
    code += f"import dovetail.{module} as m\n"
    use = "m.rollout('pendulum', nworld=1, nstep=1)" if name == "rollout" else f"m.{name}"
    extra = {"envs": "rl", "distributed": "distributed"}[module]
    code += f"try:\n    {use}\nexcept Exception as e:\n    print(type(e).__name__, '[{extra}]' in str(e))"
    assert run(code) == "MissingDependencyError True"


def test_mujoco_is_imported_by_the_comparison_only() -> None:
    importers = [path for path, tree in parsed() if "mujoco" in all_imports(tree)]
    assert [path for path in importers if not path.startswith("core/compare/")] == []


BACKEND_NAMES = {"numpy", "taichi", "quadrants"}


def test_no_decision_is_made_by_a_backends_name() -> None:
    """Backend identity in if-ladders spreads: outside backends/ nothing compares with one."""
    offenders = [
        f"{path}:{node.lineno}"
        for path, tree in parsed()
        for node in ast.walk(tree)
        if not path.startswith("backends/")
        if isinstance(node, (ast.Compare, ast.Match))
        if BACKEND_NAMES & {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)}
    ]
    assert offenders == []


def test_every_module_starts_with_a_docstring() -> None:
    assert [path for path, tree in parsed() if tree.body and not ast.get_docstring(tree)] == []


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_dovetail_is_light() -> None:
    assert run("import sys, dovetail; print('numpy' in sys.modules, dovetail.__version__)") == (
        f"False {dovetail.__version__}"
    )


def test_loading_a_model_needs_no_backend_runtime() -> None:
    code = "import sys, dovetail; dovetail.loads('<mujoco/>'); "
    code += "print({'taichi', 'quadrants', 'mujoco'} & set(sys.modules))"
    assert run(code) == "set()"


def test_every_public_name_can_be_imported_and_is_listed() -> None:
    for name in dovetail.__all__:
        assert getattr(dovetail, name) is not None
    assert set(dovetail.__all__) == set(dir(dovetail))
    with pytest.raises(AttributeError, match="module 'dovetail' has no attribute 'sim'"):
        dovetail.sim  # noqa: B018


SURFACE = {
    *(
        "load",
        "loads",
        "make_data",
        "forward",
        "step",
        "reset",
        "validate",
        "compile_plan",
        "full_mass_matrix",
    ),
    *("Simulation", "Model", "Data", "Config", "Plan", "Implementation", "DovetailError", "MJCFError"),
    *("NanGuard", "Profiler", "builtin_models", "set_constants"),
}


def test_the_documented_surface_is_public() -> None:
    assert set(dovetail.__all__) >= SURFACE


def test_plugin_authors_need_one_module() -> None:
    from dovetail import plugin

    for name in plugin.__all__:
        assert hasattr(plugin, name)
    assert {"Implementation", "hookimpl", "Array", "Model", "Data", "data_field"} <= set(plugin.__all__)


def test_no_module_hides_a_public_name() -> None:
    """A module `dovetail.x`, once imported, would stand where the function `dovetail.x` is expected."""
    folder = Path(dovetail.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert not modules & set(dovetail.__all__)
