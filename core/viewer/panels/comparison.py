"""Two implementations: how they stand, how far apart they are, and which stage parts them first."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.viewer.ab import FAR, NEAR, SCALE, Pair
from dovetail.viewer.blame import Blame
from dovetail.viewer.names import names_of

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer


class ComparisonPanel:
    """A, B and what is between them."""

    title = "A/B"

    def __init__(self, pair: Pair, source: str | None) -> None:
        self.pair, self.source = pair, source
        self.blame: Blame | None = None

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer = viewer
        a, b = (html.escape(spec.name) for spec in self.pair.specs)
        gui.add_html(f"<div style='padding:2px 6px'><b>A</b> {a}<br><b>B</b> {b} (see-through)</div>")
        layout = gui.add_dropdown("Layout", ("overlaid", "side by side"), initial_value="overlaid")
        layout.on_update(lambda event: viewer.runner.ask(lambda: self._layout(event.target.value)))
        gui.add_html(legend())
        self.text = gui.add_html(self._words())

    def _layout(self, word: str) -> None:
        self.viewer.stage.stand(ghost=word == "overlaid")
        self.viewer.hand.bind()

    def _words(self) -> str:
        apart = self.pair.apart()
        worst = int(np.argmax(apart)) if len(apart) else 0
        body = (
            names_of(self.pair.model, "body")[int(self.pair.model.geom_bodyid[worst])] if len(apart) else ""
        )
        lines = []
        if self.pair.parted_at is None:
            lines.append(f"Together: no geom is more than {apart.max(initial=0.0):.1e} m apart.")
        else:
            lines.append(
                f"Parted at <b>{self.pair.parted_at:.3f} s</b>. Farthest now: {html.escape(body)}, "
                f"<b>{apart[worst]:.1e} m</b>."
            )
            lines.append(self.blame.words() if self.blame else "")
        return f"<div style='padding:2px 6px;font-size:0.9em'>{'<br>'.join(lines)}</div>"

    def renew(self) -> None:
        if self.pair.parted_at is None and self.blame is not None:
            self.blame.close()
            self.blame = None
        if self.pair.parted_at is not None and self.blame is None:
            self.blame = Blame(self.pair, self.source)
        content = self._words()
        if self.text.content != content:
            self.text.content = content

    def close(self) -> None:
        if self.blame is not None:
            self.blame.close()


def legend() -> str:
    """The scale of colours."""
    stops = ", ".join(f"rgb({', '.join(str(int(255 * x)) for x in rgb)})" for rgb in SCALE)
    bar = f"height:10px;border-radius:3px;background:linear-gradient(to right, {stops})"
    ends = f"<span>{NEAR:.0e} m</span><span>apart</span><span>{FAR:.0e} m</span>"
    return (
        f"<div style='padding:4px 6px;font-size:0.8em'><div style='{bar}'></div>"
        f"<div style='display:flex;justify-content:space-between'>{ends}</div></div>"
    )
