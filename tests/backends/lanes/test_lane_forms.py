"""How dovetail's own lane stages are written: what runs in the kernel can be told from what unrolls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.backends.lanes import scopes
from dovetail.backends.lanes.scopes import BLOCKS, EACH, called_name, early_exits, is_walked

ROOT = Path(scopes.__file__).parents[2]
FILES = sorted(
    [
        *ROOT.glob("plugins/**/*_lanes.py"),
        *ROOT.glob("plugins/*_lanes.py"),
        *ROOT.glob("backends/lanes/*.py"),
    ]
)
FORMS = {"walk", "contextmanager"}


def is_walk(name: str) -> bool:
    return name.lstrip("_").startswith(EACH)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, without functions inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from own_nodes(child)


def begins_a_block(node: ast.AST) -> bool:
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return is_walked(node) or any(called_name(call) in BLOCKS for call in calls)


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def hidden_blocks(tree: ast.AST) -> Iterator[str]:
    """Generators that yield from run-time blocks and are neither walks nor context managers; walks that are not named
    so."""
    for function in functions(tree):
        nodes = list(own_nodes(function))
        forms = {ast.unparse(decorator) for decorator in function.decorator_list}
        yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
        if yields and any(map(begins_a_block, nodes)) and not forms & FORMS:
            yield f"{function.lineno}: {function.name} yields inside a run-time block: make it a @walk"
        if "walk" in forms and not is_walk(function.name):
            yield f"{function.lineno}: {function.name} is a walk, but its name does not begin with {EACH}"


def disguised_walks(tree: ast.AST) -> Iterator[str]:
    """Calls of walks elsewhere than in `for … in`, in `with`, or in the `return` of a function named like one."""
    shown: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            shown.add(id(node.iter))
        elif isinstance(node, ast.With):
            shown.update(id(item.context_expr) for item in node.items)
    for function in functions(tree):
        if is_walk(function.name):
            shown.update(
                id(n.value) for n in own_nodes(function) if isinstance(n, ast.Return | ast.YieldFrom)
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_walk(called_name(node)) and id(node) not in shown:
            yield f"{node.lineno}: {called_name(node)}(…) is a run-time loop: write `for … in`"


def problems(text: str) -> list[str]:
    tree = ast.parse(text)
    left = [f"{line}: leaves a run-time block early" for line in early_exits(tree)]
    return [*hidden_blocks(tree), *disguised_walks(tree), *left]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_run_time_blocks_can_be_seen(path: Path) -> None:
    assert not problems(path.read_text())


def test_there_are_stages_to_look_at() -> None:
    assert len(FILES) > 80


@pytest.mark.parametrize(
    "text",
    [
        "def rows(k):\n    with k.loop(0, 3) as i:\n        yield i",
        "def kinds(k):\n    for row in k.each_row():\n        yield row",
        "def use(k):\n    a = [r for r in k.each_row()]",
        "def use(k):\n    for r in k.each_row() if k else ():\n        pass",
        "@walk\ndef rows(k):\n    yield 1",
        "def use(k):\n    for r in k.each_row():\n        break",
        "def use(k):\n    with k.loop(0, 3):\n        return 1",
    ],
)
def test_what_cannot_be_seen_is_found(text: str) -> None:
    assert problems(text)
