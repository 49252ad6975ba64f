"""The built site: nothing comes from other hosts, drawings lead somewhere, nothing is cut off in a browser.

It needs what `docs` installs, playwright and a Chromium: `tox -e site`.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pages
import pytest

pytestmark = pytest.mark.slow

_LOADED = re.compile(r'<(?:script|img|iframe|source)[^>]*\bsrc="([^"]+)"|<link[^>]*\bhref="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("mkdocs", "material", "mkdocstrings", "towncrier"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    outcome = subprocess.run(command, cwd=pages.ROOT, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    return folder


@pytest.fixture
def screenshots() -> ModuleType:
    pytest.importorskip("playwright")
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        pytest.skip("needs Chromium")
    spec = importlib.util.spec_from_file_location("screenshots", pages.DOCS / "screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    foreign = {
        target
        for page in site.rglob("*.html")
        for pair in _LOADED.findall(page.read_text(encoding="utf-8"))
        for target in pair
        if target.startswith(("http:", "https:", "//"))
    }
    assert foreign == set()


def test_links_of_drawings_lead_to_anchors(site: Path) -> None:
    found = 0
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for drawing in re.findall(r'<span class="drawing">.*?</svg></span>', text, re.DOTALL):
            for target in re.findall(r'href="([^"]+)"', drawing):
                path, _, anchor = target.partition("#")
                other = (page.parent / unquote(path)).read_text(encoding="utf-8") if path else text
                assert f'id="{anchor}"' in other, f"{page.name}: {target}"
                found += 1
    assert found > 50


def test_everything_fits(site: Path, screenshots: ModuleType) -> None:
    assert screenshots.problems(site) == []


def test_what_does_not_fit_is_found(site: Path, screenshots: ModuleType, tmp_path: Path) -> None:
    """The page of limits with a word that is wider than any window."""
    shutil.copytree(site, tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        if page.name != "limits.html":
            page.unlink()
    page = tmp_path / "site" / "reference" / "limits.html"
    wide = "x" * 400
    text = page.read_text(encoding="utf-8")
    assert "<td>" in text
    page.write_text(text.replace("<td>", f"<td>{wide}", 1), encoding="utf-8")
    assert any("is cut off" in problem for problem in screenshots.problems(tmp_path / "site"))


def test_search_works_from_a_folder(site: Path, screenshots: ModuleType) -> None:
    with screenshots.browser() as running:
        page = running.new_page(viewport={"width": 1280, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("contact_force")
        page.wait_for_selector(".md-search-result__item")
        assert page.locator(".md-search-result__item").count() > 0
