"""Live plots of any field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.viewer.traces import Entries, Trace

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#882255")
"""Okabe and Ito's, told apart by colour-blind eyes too."""
MOST_PLOTS = 4


class PlotsPanel:
    """Curves of entries of fields, the newest plot below."""

    title = "Plots"

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.gui, self.viewer = gui, viewer
        self.plots: list[tuple[Trace, Any]] = []
        self.field = gui.add_text("Field", "qpos", hint="qpos, qpos[3], xpos[2,0], sensordata, …")
        gui.add_button("Plot").on_click(lambda _: viewer.runner.ask(self._add))
        gui.add_button("Clear", color="gray").on_click(lambda _: viewer.runner.ask(self._clear))
        self.folder = gui.add_folder("Curves")

    def _add(self) -> None:
        from viser import uplot

        trace = Trace(Entries.of(self.viewer.watched.model, self.field.value))
        self._sample(trace)
        series = [uplot.Series(label="time [s]")]
        for number, label in enumerate(trace.entries.labels):
            series.append(uplot.Series(label=label, stroke=COLOURS[number % len(COLOURS)], width=2))
        while len(self.plots) >= MOST_PLOTS:
            self.plots.pop(0)[1].remove()
        with self.folder:
            plot = self.gui.add_uplot(
                trace.columns(),
                tuple(series),
                title=trace.entries.field,
                scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
                legend=uplot.Legend(show=len(trace.entries.labels) > 1),
                aspect=1.6,
            )
        self.plots.append((trace, plot))

    def _clear(self) -> None:
        while self.plots:
            self.plots.pop()[1].remove()

    def _sample(self, trace: Trace) -> bool:
        watched = self.viewer.watched
        return trace.sample(watched.time, watched.shown(self.viewer.stage.world))

    def renew(self) -> None:
        for trace, plot in self.plots:
            if self._sample(trace):
                plot.data = trace.columns()
