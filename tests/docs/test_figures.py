"""The drawings of the documentation are what the code gives now, and the Python reference has every public name."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pages
import pytest

import dovetail.plugin
from dovetail.pipeline import STAGES

IMAGES = pages.DOCS / "images"
REFERENCE = "\n".join(
    p.read_text(encoding="utf-8") for p in (pages.DOCS / "reference" / "python").glob("*.md")
)


@pytest.mark.slow
def test_drawings_are_current() -> None:
    command = [sys.executable, str(pages.DOCS / "figures" / "make.py"), "--check"]
    outcome = subprocess.run(command, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr


def test_every_stage_has_a_box_that_leads_to_it() -> None:
    text = (IMAGES / "pipeline.svg").read_text(encoding="utf-8")
    assert set(re.findall(r'href="\.\./reference/stages\.md#(\w+)"', text)) == set(STAGES)


@pytest.mark.parametrize("name", sorted(p.name for p in IMAGES.glob("*.svg")))
def test_every_drawing_is_shown_somewhere(name: str) -> None:
    texts = [
        page.read_text(encoding="utf-8") for page in [*pages.DOCS.rglob("*.md"), *pages.ROOT.glob("*.md")]
    ]
    assert any(f"images/{name})" in text for text in texts)


@pytest.mark.parametrize("package", ["dovetail", "dovetail.plugin", "dovetail.testing"])
def test_public_names_stand_in_the_python_reference(package: str) -> None:
    """As an entry of its own, or in the words of a page; what has two names under one of them."""
    names = set(importlib.import_module(package).__all__) - {"__version__"}
    entries = {target.rpartition(".")[2] for target in re.findall(r"^::: (\S+)", REFERENCE, re.MULTILINE)}
    whole = {name for name in names if hasattr(dovetail.errors, name)}  # the page of errors has all of them
    mentioned = {word.rpartition(".")[2] for word in re.findall(r"`([\w.]+)`", REFERENCE)}
    assert names - entries - whole - mentioned == set()
