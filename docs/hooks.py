"""What mkdocs fills in while it builds: the page of changes, from the repository's changelog and its fragments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = "<!-- changelog -->"
"""In `changes.md`."""
START = "<!-- towncrier release notes start -->"
"""In CHANGELOG.md, above the newest release."""


def on_page_markdown(markdown: str, **around: Any) -> str:
    """Called by mkdocs for every page."""
    return markdown.replace(PLACE, changes()) if PLACE in markdown else markdown


def changes() -> str:
    """The next release and all before it; links lead from the root of the repository, where the texts are at home."""
    return (next_release() + past_releases()).replace("](docs/", "](")


def next_release() -> str:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--date", "not released yet"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def past_releases() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition(START)[2]
