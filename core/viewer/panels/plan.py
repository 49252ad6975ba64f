"""Which implementation runs for each stage, and how long each takes."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from dovetail.viewer.stage_times import plan_rows, stage_times

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer

STYLE = "style='width:100%;font-size:0.8em;border-collapse:collapse'"


class PlanPanel:
    """The plan as a table; times on demand, because measuring takes kernels apart."""

    title = "Plan"

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer = viewer
        self.sim: Any = getattr(viewer.watched, "sim", None)
        if self.sim is None:
            gui.add_markdown("What is shown is not stepped here, so there is no plan.")
            return
        self.button = gui.add_button("Time every stage", hint="Repeats steps from this state, stage by stage")
        self.button.on_click(lambda _: viewer.runner.ask(self._measure))
        self.table = gui.add_html(self._rendered({}))

    def _measure(self) -> None:
        self.table.content = self._rendered(stage_times(self.sim, self.viewer.stage.world))

    def _rendered(self, times: dict[str, float]) -> str:
        head = f"<p style='padding:0 6px;font-size:0.85em'>{html.escape(self.sim.plan.explain().splitlines()[0])}</p>"
        whole = sum(times.values())
        rows = []
        for slot, name in plan_rows(self.sim.plan):
            spent = f"{times[slot]:.0f} µs" if slot in times else ""
            share = f"{100 * times[slot] / whole:.0f} %" if slot in times and whole else ""
            cells = f"<td>{html.escape(slot)}</td><td>{html.escape(name)}</td>"
            rows.append(f"<tr>{cells}<td align=right>{spent}</td><td align=right>{share}</td></tr>")
        return f"{head}<table {STYLE}>{''.join(rows)}</table>"

    def renew(self) -> None:
        """It changes when asked only."""
