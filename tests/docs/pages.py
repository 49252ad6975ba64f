"""Reading the documentation as tests do: its pages, their code blocks, and running them.

A page's Python blocks run in order, in one namespace, in an empty folder. Three conventions:

- a `text` block right after a Python block is what that block prints (`...` stands for anything, as in doctest);
- a block whose first line is `# file: NAME` is written to that file instead;
- a `bash` block with `pip install -e .` installs the package that was written: its entry points become known.

Blocks in tabs are indented, and count as others do. A block that needs a learner's package (PyTorch,
Stable-Baselines3), which no extra of dovetail installs, runs where that is installed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<code>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(r"# file: (?P<name>\S+)\n")
_MATCHING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@attrs.frozen
class Block:
    """One fenced block: its language, its text, the line it starts at, and whether it follows right after code."""

    language: str
    code: str
    line: int
    output_of_previous: bool


def handwritten() -> list[Path]:
    """The pages people wrote, those of the root first."""
    pages = sorted(p for p in DOCS.rglob("*.md") if not {"reference", "changelog.d"} & set(p.parts))
    return [*sorted(ROOT.glob("*.md")), *pages]


def title(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(text):
        language = match["language"]
        after_code = bool(found) and found[-1].language == "python" and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start()) + 2
        code = textwrap.dedent(match["code"]) if match["indent"] else match["code"]
        found.append(Block(language, code, line, after_code and language == "text"))
        end = match.end()
    return found


def run(page: Path, folder: Path) -> None:
    """Run a page's blocks in a folder; what is printed must be what the page shows."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed, skipped = "", False
    for block in blocks(page):
        file = _FILE.match(block.code)
        if file:
            path = folder / file["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
        elif block.language == "bash" and "pip install -e ." in block.code:
            install(folder)
        elif block.language == "python":
            skipped = learner_missing(block)
            printed = "" if skipped else execute(block, page, names)
        elif block.output_of_previous and not skipped:
            check_output(block, page, printed)


def learner_missing(block: Block) -> bool:
    """Whether a block imports a learner's package that is not installed."""
    named = re.findall(r"^(?:import|from) (torch|stable_baselines3)\b", block.code, re.MULTILINE)
    return any(find_spec(name) is None for name in named)


def execute(block: Block, page: Path, names: dict[str, object]) -> str:
    """Run one block as if it stood at its line of the page; return what it prints."""
    shifted = "\n" * (block.line - 1) + block.code
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(shifted, str(page), "exec"), names)
    return output.getvalue()


def check_output(block: Block, page: Path, printed: str) -> None:
    if not doctest.OutputChecker().check_output(block.code, printed, _MATCHING):
        raise AssertionError(
            f"{title(page)}:{block.line} shows\n{block.code}\nbut the code prints\n{printed}"
        )


def install(folder: Path) -> None:
    """What pip does for an editable install, as far as discovery is concerned: metadata beside the code."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextlib.contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Packages written to the folder can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(str(folder)):
                del sys.modules[name]
