"""The panels beside the picture: running, control, what is drawn, plots, the plan.

Each panel is built once and renewed a few times a second. What a user does in it arrives on another thread and is
handed to the runner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dovetail.viewer.panels.control import ControlPanel
from dovetail.viewer.panels.drawing import DrawingPanel
from dovetail.viewer.panels.plan import PlanPanel
from dovetail.viewer.panels.plots import PlotsPanel
from dovetail.viewer.panels.running import RunningPanel

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer


class Panel(Protocol):
    """A tab, or what stands above the tabs."""

    title: str

    def build(self, gui: Any, viewer: Viewer) -> None:
        """Make its elements."""

    def renew(self) -> None:
        """Bring them up to date."""


class Panels:
    """All panels of a viewer: running above, the others as tabs, special ones (a recording, a comparison) first."""

    def __init__(self, viewer: Viewer, special: tuple[Panel, ...] = ()) -> None:
        gui = viewer._server.viser.gui
        gui.configure_theme(show_share_button=False, show_logo=False, control_width="medium")
        running = RunningPanel()
        running.build(gui, viewer)
        tabs = gui.add_tab_group()
        found: list[Panel] = [*special, ControlPanel(), DrawingPanel(), PlotsPanel(), PlanPanel()]
        self._all: list[Panel] = [running, *found]
        for panel in found:
            with tabs.add_tab(panel.title):
                panel.build(gui, viewer)

    def renew(self) -> None:
        for panel in self._all:
            panel.renew()

    def close(self) -> None:
        """End what panels have started."""
        for panel in self._all:
            end = getattr(panel, "close", None)
            if end is not None:
                end()
