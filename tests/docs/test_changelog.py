"""The changelog and the citation, where strangers look for them."""

from __future__ import annotations

import re

import pages
import pytest

import dovetail

FRAGMENTS = sorted((pages.DOCS / "changelog.d").glob("+*.md"))


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_links_of_a_fragment_lead_from_the_root(path) -> None:
    """There they stand once they are in CHANGELOG.md."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [t for t in targets if not (pages.ROOT / t).is_file()] == []


def test_the_citation_names_this_version() -> None:
    assert f"version: {dovetail.__version__}" in (pages.ROOT / "CITATION.cff").read_text().splitlines()
