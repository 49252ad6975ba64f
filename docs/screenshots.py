"""Looks at the built site in a headless browser: pictures of pages, and what does not fit.

    python docs/screenshots.py SITE --check            exit 1 and list what is wider than the window, on all pages
    python docs/screenshots.py SITE --out FOLDER       pictures of one page of each type, light and dark
    python docs/screenshots.py SITE --out FOLDER howto/queries.html     of these pages

SITE is a folder that `mkdocs build` wrote. It needs the package `playwright` and a Chromium (Debian's will do).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DESK = 1280
WIDTHS = (DESK, 768, 400)
"""A desk, a tablet, a phone."""
HEIGHT = 900
TYPES = (
    "index.html",
    "coming-from-mujoco.html",
    "tutorial/first-simulation.html",
    "howto/index.html",
    "howto/reinforcement-learning.html",
    "howto/performance.html",
    "howto/troubleshooting.html",
    "explanation/architecture.html",
    "explanation/arena.html",
    "explanation/lane-kernels.html",
    "explanation/conformance.html",
    "explanation/glossary.html",
    "reference/python/simulation.html",
    "reference/python/errors.html",
    "reference/fields.html",
    "reference/stages.html",
    "reference/implementations.html",
    "reference/cli.html",
    "adr/index.html",
    "changes.html",
)
"""A page of each type."""

_OVERFLOW = """() => {
  const limit = document.documentElement.clientWidth + 1, found = [];
  if (document.documentElement.scrollWidth > limit) found.push('the page itself');
  const scrolls = (e) => {
    for (; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (/(auto|scroll|hidden)/.test(style.overflowX) && e.clientWidth > 0) return e;
    }
    return null;
  };
  const name = (e) => {
    const heads = [...document.querySelectorAll('h1, h2, h3')];
    const above = heads.filter((h) => h.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
    return e.tagName.toLowerCase() + (above ? ' below "' + above.textContent.replace('¶', '') + '"' : '');
  };
  const content = document.querySelector('.md-content');
  for (const e of content ? content.querySelectorAll('table, p, pre, svg, h1, h2, h3') : []) {
    const box = e.getBoundingClientRect();
    if (box.width && box.right > limit && !scrolls(e)) found.push(name(e) + ' leaves the window');
  }
  return found;
}"""
"""What is wider than the window and cannot be scrolled to inside the page."""

_CUT_TABLES = """() => {
  const found = [];
  for (const frame of document.querySelectorAll('.md-typeset__scrollwrap')) {
    if (frame.scrollWidth > frame.clientWidth + 1)
      found.push('table of ' + frame.querySelector('th')?.textContent + ', … is cut off by '
        + (frame.scrollWidth - frame.clientWidth) + ' px');
  }
  return found;
}"""
"""Tables of which a part is only seen by scrolling: fine on a phone, not on a desk."""


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium: the system's if there is one, else playwright's own."""
    from playwright.sync_api import sync_playwright

    installed = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


def html_pages(site: Path) -> list[str]:
    """Every page of a built site."""
    return sorted(str(p.relative_to(site)) for p in site.rglob("*.html") if p.name != "404.html")


def problems(site: Path, widths: tuple[int, ...] = (DESK, 400)) -> list[str]:
    """What does not fit, and what the browser complains about, on all pages."""
    found = []
    with browser() as running:
        for width in widths:
            page = running.new_page(viewport={"width": width, "height": HEIGHT})
            said = listen(page)
            for name in html_pages(site):
                page.goto((site / name).resolve().as_uri())
                complaints = page.evaluate(_OVERFLOW)
                complaints += page.evaluate(_CUT_TABLES) if width >= DESK else []
                found += [f"{name} at {width} px: {text}" for text in dict.fromkeys([*complaints, *said])]
                said.clear()
            page.close()
    return found


def listen(page: Any) -> list[str]:
    """What the browser will complain about: errors of scripts, files that are not there, other hosts."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith("file:") else said.append(f"asks {r.url}"))
    return said


def take(site: Path, out: Path, names: tuple[str, ...], *, whole: bool) -> None:
    """Pictures of pages in every width, light and dark."""
    out.mkdir(parents=True, exist_ok=True)
    with browser() as running:
        for scheme in ("light", "dark"):
            for width in WIDTHS:
                page = running.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
                for name in names:
                    page.goto((site / name).resolve().as_uri())
                    page.wait_for_timeout(150)
                    stem = name.removesuffix(".html").replace("/", "-")
                    page.screenshot(path=out / f"{stem}-{width}-{scheme}.png", full_page=whole)
                page.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, help="a folder that mkdocs build wrote")
    parser.add_argument("pages", nargs="*", help="pages to take pictures of [one of each type]")
    parser.add_argument("--out", type=Path, help="where pictures go")
    parser.add_argument("--whole", action="store_true", help="whole pages, not the first screen")
    parser.add_argument("--check", action="store_true", help="look for what does not fit")
    given = parser.parse_intermixed_args()
    if given.out:
        take(given.site, given.out, tuple(given.pages) or TYPES, whole=given.whole)
    if given.check:
        found = problems(given.site)
        print("\n".join(found) or "everything fits")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
