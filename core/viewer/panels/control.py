"""Sliders for controls, switches for equalities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.viewer.names import names_of

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer

UNLIMITED = 1.0
"""Range of the slider of a control without limits, to both sides."""
MOST_SLIDERS = 64
"""Controls that get one; a page of a thousand sliders is no help."""


class ControlPanel:
    """Every actuator's control and every equality of the picked world."""

    title = "Control"

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer, model = viewer, viewer.watched.model
        self.sliders: list[Any] = []
        self.switches: list[Any] = []
        names = names_of(model, "actuator")
        if viewer.watched.edited(0) is None:
            gui.add_markdown("A recording is played: there is nothing to control.")
            return
        if not names and not model.neq:
            gui.add_markdown("This model has neither actuators nor equalities.")
        if names:
            gui.add_button("Zero all").on_click(lambda _: viewer.runner.ask(self._zero, edits=True))
        for number, name in enumerate(names[:MOST_SLIDERS]):
            self.sliders.append(self._slider(gui, number, name))
        if len(names) > MOST_SLIDERS:
            gui.add_markdown(f"and {len(names) - MOST_SLIDERS} more: set data.ctrl from Python.")
        for number, name in enumerate(names_of(model, "equality")):
            switch = gui.add_checkbox(name, bool(model.eq_active0[number]))
            switch.on_update(lambda event, n=number: self._when_by_hand(event, "eq_active", n))
            self.switches.append(switch)

    def _slider(self, gui: Any, number: int, name: str) -> Any:
        model = self.viewer.watched.model
        low, high = -UNLIMITED, UNLIMITED
        if model.actuator_ctrllimited[number]:
            low, high = (float(x) for x in model.actuator_ctrlrange[number])
        if not high > low:
            high = low + UNLIMITED
        step = (high - low) / 200
        first = min(max(0.0, low), high)
        slider = gui.add_slider(name, min=low, max=high, step=step, initial_value=first)
        slider.on_update(lambda event: self._when_by_hand(event, "ctrl", number))
        return slider

    def _when_by_hand(self, event: Any, field: str, number: int) -> None:
        """Values that a page sent count; those that `renew` set are already in the Data."""
        if event.client is not None:
            value = event.target.value
            self.viewer.runner.ask(lambda: self._set(field, number, value), edits=True)

    def _set(self, field: str, number: int, value: float) -> None:
        data = self.viewer.watched.edited(self.viewer.stage.world)
        if data is not None:
            data.field(field)[number] = value

    def _zero(self) -> None:
        data = self.viewer.watched.edited(self.viewer.stage.world)
        if data is not None:
            data.ctrl[:] = 0.0

    def renew(self) -> None:
        """Show what the Data has: a reset, or a program, may have changed it."""
        data = self.viewer.watched.edited(self.viewer.stage.world)
        if data is None or not (self.sliders or self.switches):
            return
        controls = np.asarray(data.ctrl, float)
        for slider, value in zip(self.sliders, controls, strict=False):
            shown = float(min(max(value, slider.min), slider.max)) if np.isfinite(value) else slider.min
            if abs(slider.value - shown) > 1e-9 + slider.step:
                slider.value = shown
        for switch, active in zip(self.switches, np.asarray(data.eq_active), strict=False):
            if switch.value != bool(active):
                switch.value = bool(active)
