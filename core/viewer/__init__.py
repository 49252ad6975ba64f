"""A viewer in the browser, on viser (the extra `viewer`).

    with dovetail.viewer.launch_passive(model, data) as viewer:
        while viewer.is_running():
            dovetail.step(model, data)
            viewer.sync()

`launch(model)` simulates by itself, as `dovetail view` does. Nothing but this machine can reach the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.viewer.viewer import Viewer

__all__ = ["launch", "launch_passive"]


def launch_passive(
    model: Model, data: Data, *, port: int | None = None, open_browser: bool = True, show_url: bool = True
) -> Viewer:
    """Show a Data that you step yourself: call `sync` when it shall be seen (as MuJoCo's launch_passive)."""
    from dovetail.arguments import instance
    from dovetail.contracts.types import Data, Model
    from dovetail.viewer.extra import require_viser

    require_viser()
    from dovetail.viewer.viewer import Viewer
    from dovetail.viewer.watched import Passive

    instance("model", model, Model, "a dovetail.Model")
    instance("data", data, Data, "a dovetail.Data")
    made = Viewer(Passive(model, data), port=port, passive=True)
    made.sync()
    return _announced(made, open_browser, show_url)


def launch(
    model: Model | str | Path,
    *,
    port: int | None = None,
    open_browser: bool = True,
    show_url: bool = True,
    paused: bool = False,
    **settings: Any,
) -> None:
    """Simulate a model and show it until the viewer is closed; `settings` are those of `Simulation`."""
    with _announced(live_viewer(model, port=port, paused=paused, **settings), open_browser, show_url) as made:
        made.run()


def live_viewer(
    model: Model | str | Path, *, port: int | None = None, paused: bool = False, **settings: Any
) -> Viewer:
    """A viewer of a Simulation of its own, not yet running."""
    from dovetail.viewer.extra import require_viser

    require_viser()
    from dovetail.simulation import Simulation
    from dovetail.viewer.viewer import Viewer
    from dovetail.viewer.watched import DRAWN, Live

    settings.setdefault("on_nan", "raise")
    if settings.get("nworld") is not None:
        settings["keep"] = tuple(dict.fromkeys((*(settings.get("keep") or ("state",)), *DRAWN)))
    sim = Simulation(model, **settings)
    return Viewer(Live(sim), port=port, paused=paused)


def _announced(made: Viewer, open_browser: bool, show_url: bool) -> Viewer:
    """Say where it is, and open a browser there."""
    if show_url:
        print(f"dovetail viewer: {made.url}", flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(made.url)
    return made
