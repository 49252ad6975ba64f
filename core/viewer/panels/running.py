"""Play, pause, step, reset, speed, keyframes; what time it is and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.viewer.names import names_of
from dovetail.viewer.pacing import SPEEDS, speed_of
from dovetail.viewer.status import problem_text, status_line

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer


class RunningPanel:
    """What stands above the tabs."""

    title = "Run"

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer, self.runner = viewer, viewer.runner
        self.status = gui.add_html(self._status())
        self.problem = gui.add_html("", visible=False)
        self.play = gui.add_button(self._play_text(), visible=not viewer.passive)
        self.play.on_click(lambda _: self.runner.ask(self._toggle))
        words = ("Reset",) if viewer.passive else ("Step", "10 steps", "Reset")
        self.steps = gui.add_button_group("", words)
        self.steps.on_click(lambda event: self._press(event.target.value))
        self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1", visible=not viewer.passive)
        self.speed.on_update(
            lambda event: self.runner.ask(lambda: self.runner.set_speed(speed_of(event.target.value)))
        )
        keys = names_of(viewer.watched.model, "key")
        if keys:
            self.keys = gui.add_dropdown("Keyframe", ("–", *keys), initial_value="–")
            self.keys.on_update(
                lambda event: self.runner.ask(lambda: self._keyframe(event.target.value, keys))
            )
        self._told = ""

    def _toggle(self) -> None:
        (self.runner.play if self.runner.paused else self.runner.pause)()

    def _press(self, word: str) -> None:
        self.runner.ask(lambda: self._pressed(word))

    def _pressed(self, word: str) -> None:
        if word == "Reset":
            self.runner.reset()
        else:
            self.runner.step_once(10 if word == "10 steps" else 1)

    def _keyframe(self, name: str, keys: list[str]) -> None:
        if name in keys:
            self.runner.reset(keys.index(name))

    def _play_text(self) -> str:
        return "Play" if self.runner.paused else "Pause"

    def _status(self) -> str:
        return f"<div style='padding:2px 6px;font-size:0.95em'>{status_line(self.runner)}</div>"

    def renew(self) -> None:
        self.status.content = self._status()
        if self.play.label != self._play_text():
            self.play.label = self._play_text()
        if self.runner.problem != self._told:
            self._told = self.runner.problem
            self.problem.content = problem_text(self._told)
            self.problem.visible = bool(self._told)
        for text in self.runner.notices:
            self._tell(text)
        self.runner.notices.clear()

    def _tell(self, text: str) -> None:
        for client in self.viewer._server.viser.get_clients().values():
            client.add_notification("That cannot be done", text[:300], color="orange", auto_close_seconds=8.0)
