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

    def _rendered(self, times: dict[str, tuple[str, float]]) -> str:
        lines = [self.sim.plan.explain().splitlines()[0]]
        runner = self.viewer.runner
        if times and runner.steps > 1:
            each = 1e6 * runner.step_seconds / (runner.steps - 1)
            lines.append(f"A step of this plan takes {each:.0f} µs. Timed apart, stage by stage, as listed:")
        head = "<br>".join(html.escape(line) for line in lines)
        whole = sum(spent for _, spent in times.values())
        rows = []
        for slot, name in plan_rows(self.sim.plan):
            ran, spent = times.get(slot, (name, 0.0))
            cells = f"<td>{html.escape(slot)}</td><td>{html.escape(ran)}</td>"
            if slot in times:
                share = 100 * spent / whole if whole else 0.0
                cells += f"<td align=right>{spent:.0f} µs</td><td align=right>{share:.0f} %</td>"
            rows.append(f"<tr>{cells}</tr>")
        text = f"<p style='padding:0 6px;font-size:0.85em'>{head}</p>"
        return f"<div style='padding:0 6px'>{text}<table {STYLE}>{''.join(rows)}</table></div>"

    def renew(self) -> None:
        """It changes when asked only."""
