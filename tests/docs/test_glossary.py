"""The glossary names places that exist, and explains each word once."""

from __future__ import annotations

import re

import pages

TEXT = (pages.DOCS / "explanation" / "glossary.md").read_text(encoding="utf-8")


def test_every_word_is_where_the_glossary_says() -> None:
    lost = [
        f"{name} in {path}"
        for name, path in re.findall(r"`(\w+)` in `([\w/.]+\.py)`", TEXT)
        if not re.search(rf"\b{name}\b", (pages.ROOT / path).read_text(encoding="utf-8"))
    ]
    assert lost == []


def test_every_word_has_one_explanation() -> None:
    words = re.findall(r"^\| \*([^*]+)\* \|", TEXT, re.MULTILINE)
    assert len(words) == len(set(words)) > 40
