"""Scrubbing through a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.viewer.replay import Replay

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer


class RecordingPanel:
    """A slider over the time of a recording."""

    title = "Recording"

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer, recording = viewer, self.replay.recording
        first, last = float(recording.times[0]), self.replay.end
        gui.add_markdown(f"{len(recording.times):,} samples of `{recording.path}`")
        self.slider = gui.add_slider(
            "Time [s]",
            min=first,
            max=max(last, first + 1e-3),
            step=max((last - first) / 1000, 1e-4),
            initial_value=first,
        )
        self.slider.on_update(self._scrub)

    def _scrub(self, event: Any) -> None:
        if event.client is None:
            return
        time = float(event.target.value)

        def go() -> None:
            self.viewer.runner.pause()
            self.replay.seek(time)

        self.viewer.runner.ask(go)

    def renew(self) -> None:
        if not self.viewer.runner.paused:
            self.slider.value = self.replay.time
