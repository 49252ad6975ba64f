"""What mkdocs fills in while it builds: the page of changes, drawings as part of their pages, where the source is.

- `changes.md` gets the repository's changelog and its fragments.
- Long names in tables get places where a line may end.
- An image of `images/*.svg` becomes the drawing itself, so that its boxes are links and follow light and dark.
- mkdocstrings reads the package from a folder of links, because four folders are mounted under one name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PLACE = "<!-- changelog -->"
"""In `changes.md`."""
START = "<!-- towncrier release notes start -->"
"""In CHANGELOG.md, above the newest release."""
BEHIND = ("adr/", "changes.md")
"""Pages that a search lists behind others."""
LONG = 12
"""Letters of a name in a table that stays on one line."""
MOUNTED = ("backends", "mjcf", "plugins")
"""Folders that are packages of `dovetail`; what is in `core` stands in it directly."""

_IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<source>[^"]*images/(?P<name>[\w-]+)\.svg)"[^>]*?/?>')
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code>(?P<text>[^<]+)</code>")
_SEAM = re.compile(r"(?<=[_:.,=/|])(?=\w)")
_LINK = re.compile(r'href="(?P<page>[^"#]+\.md)#(?P<anchor>[^"]+)"')

_linked: list[Path] = []
"""Folders of links that were made, until the build ends."""


# ---- changes


def on_page_markdown(markdown: str, page: Any, **around: Any) -> str:
    """Called by mkdocs for every page."""
    if page.file.src_uri.startswith(BEHIND):
        page.meta.setdefault("search", {"boost": 0.3})
    return markdown.replace(PLACE, changes()) if PLACE in markdown else markdown


def changes() -> str:
    """The next release and all before it; links lead from the root of the repository, where the texts are at home."""
    return (next_release() + past_releases()).replace("](docs/", "](")


def next_release() -> str:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--date", "not released yet"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def past_releases() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition(START)[2]


# ---- drawings


def on_page_content(html: str, page: Any, files: Any, **around: Any) -> str:
    """Called by mkdocs with the HTML of every page."""
    html = _CELL.sub(lambda cell: _CODE.sub(breakable, cell[0]), html)
    return _IMAGE.sub(lambda found: drawing(found["name"], found["alt"], page, files), html)


def breakable(code: re.Match[str]) -> str:
    """A long name in a table may go on in the next line, but only where a new word begins."""
    words = code["text"]
    return f"<code>{_SEAM.sub('<wbr>', words)}</code>" if len(words) > LONG else code[0]


def drawing(name: str, alt: str, page: Any, files: Any) -> str:
    """A drawing to stand in a page: its style is the site's, its links lead from the page."""
    text = (DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8")
    text = _STYLE.sub("", text[text.index("<svg") :]).strip()

    def link(found: re.Match[str]) -> str:
        path = found["page"].removeprefix("../")
        target = files.get_file_from_path(path)
        if target is None:
            raise FileNotFoundError(f"images/{name}.svg leads to {path}, which is no page")
        return f'href="{target.url_relative_to(page.file)}#{found["anchor"]}"'

    text = _LINK.sub(link, text).replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
    return f'<span class="drawing">{text}</span>'


# ---- source


@event_priority(100)
def on_config(config: Any, **around: Any) -> Any:
    """Called by mkdocs before mkdocstrings looks at its settings."""
    handlers = config.plugins["mkdocstrings"].config["handlers"]
    handlers.setdefault("python", {})["paths"] = [str(linked_source())]
    return config


def linked_source() -> Path:
    """A folder in which the package stands as it is imported."""
    folder = Path(tempfile.mkdtemp(prefix="dovetail-docs-"))
    _linked.append(folder)
    package = folder / "dovetail"
    package.mkdir()
    for path in [*(ROOT / "core").iterdir(), *(ROOT / name for name in MOUNTED)]:
        (package / path.name).symlink_to(path)
    return folder


def on_shutdown(**around: Any) -> None:
    """Called by mkdocs at the end."""
    while _linked:
        shutil.rmtree(_linked.pop(), ignore_errors=True)
