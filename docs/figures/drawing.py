"""Drawing in SVG: boxes, arrows, words, axes. Colours are classes of `docs/stylesheets/figures.css`, so that a
drawing is readable in light and in dark, by itself and inside a page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
IMAGES = DOCS / "images"
STYLESHEET = DOCS / "stylesheets" / "figures.css"

_DARK = re.compile(
    r'/\* dark \*/\s*\[data-md-color-scheme="slate"\] (?P<rule>.*?)/\* end of dark \*/', re.DOTALL
)


def style() -> str:
    """The site's style for a drawing that stands alone: dark where the system is."""
    text = STYLESHEET.read_text(encoding="utf-8")
    text = _DARK.sub(r"@media (prefers-color-scheme: dark) { \g<rule>}", text)
    return " ".join(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).split())


def number(value: float) -> str:
    """A coordinate: short, and the same on every machine."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Drawing:
    """A picture under construction."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.drawn: list[str] = []

    def box(self, x: float, y: float, w: float, h: float, look: str = "", *, round: float = 5) -> None:
        classes = f"box {look}".strip()
        self._rect(x, y, w, h, classes, round)

    def band(self, x: float, y: float, w: float, h: float) -> None:
        """A quiet ground behind boxes that belong together."""
        self._rect(x, y, w, h, "band", 8)

    def bar(self, x: float, y: float, w: float, h: float, look: str) -> None:
        self._rect(x, y, w, h, f"bar-{look}", 1.5)

    def _rect(self, x: float, y: float, w: float, h: float, classes: str, round: float) -> None:
        place = (
            f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="{number(round)}"'
        )
        self.drawn.append(f'<rect class="{classes}" {place}/>')

    def text(self, x: float, y: float, words: str, look: str = "") -> None:
        classes = f' class="{look}"' if look else ""
        self.drawn.append(f'<text{classes} x="{number(x)}" y="{number(y)}">{escape(words)}</text>')

    def line(self, points: Iterable[tuple[float, float]], look: str = "line") -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.drawn.append(f'<polyline class="{look}" points="{path}"/>')

    def dot(self, x: float, y: float, radius: float, look: str) -> None:
        self.drawn.append(
            f'<circle class="bar-{look}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>'
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """A line with a head at its last point."""
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        back = (x1 - 6 * ux, y1 - 6 * uy)
        self.line([*points[:-1], back])
        corners = [(x1, y1), (back[0] - 4 * uy, back[1] + 4 * ux), (back[0] + 4 * uy, back[1] - 4 * ux)]
        self.drawn.append(
            '<polygon class="head" points="'
            + " ".join(f"{number(x)},{number(y)}" for x, y in corners)
            + '"/>'
        )

    def begin_link(self, target: str, hint: str) -> None:
        """What is drawn until `end_link` leads to a page of the documentation, `folder/page.md#anchor`."""
        self.drawn.append(f'<a href="../{target}"><title>{escape(hint)}</title>')

    def end_link(self) -> None:
        self.drawn.append("</a>")

    def svg(self) -> str:
        size = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        open_tag = f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" {size}>'
        paper = f'<rect class="paper" width="{number(self.width)}" height="{number(self.height)}"/>'
        head = [open_tag, f"<title>{escape(self.title)}</title>", f"<style>{style()}</style>", paper]
        return "\n".join([*head, *self.drawn, "</svg>"]) + "\n"


class LogAxis:
    """From numbers to places on a logarithmic axis, and the powers of ten between its ends."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = math.log10(low), math.log10(high), start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def powers(self) -> list[int]:
        return list(range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1))
