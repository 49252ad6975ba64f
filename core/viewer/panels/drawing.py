"""What is drawn and from where: cameras, marks, groups, worlds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dovetail.viewer.names import names_of
from dovetail.visual import Frame, Label, VisFlag

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer

MARKS = {
    "Contact points": VisFlag.CONTACTPOINT,
    "Contact forces": VisFlag.CONTACTFORCE,
    "Joint axes": VisFlag.JOINT,
    "Actuators": VisFlag.ACTUATOR,
    "Centres of mass": VisFlag.COM,
    "Inertia": VisFlag.INERTIA,
    "Cameras": VisFlag.CAMERA,
    "Lights": VisFlag.LIGHT,
    "Constraints": VisFlag.CONSTRAINT,
    "Islands": VisFlag.ISLAND,
    "Tendons": VisFlag.TENDON,
    "Rangefinders": VisFlag.RANGEFINDER,
}
"""Flags that add marks."""
SURFACES = {
    "Textures": VisFlag.TEXTURE,
    "See-through": VisFlag.TRANSPARENT,
    "Convex hulls": VisFlag.CONVEXHULL,
    "Static geoms": VisFlag.STATIC,
    "Skins": VisFlag.SKIN,
}
"""Flags about geoms and skins; the first four mean other nodes."""
KINDS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")
"""Kinds of objects that have groups."""
FREE = "orbit"


class DrawingPanel:
    """Cameras, marks and groups."""

    title = "View"

    def build(self, gui: Any, viewer: Viewer) -> None:
        self.viewer = viewer
        model, options = viewer.watched.model, viewer.stage.options
        cameras, bodies = names_of(model, "camera"), names_of(model, "body")
        if cameras:
            menu = gui.add_dropdown("Camera", (FREE, *cameras), initial_value=FREE)
            menu.on_update(lambda event: self._ask(lambda: self._camera(event.target.value, cameras)))
        self.track = gui.add_dropdown("Track", ("–", *bodies[1:]), initial_value="–")
        self.track.on_update(lambda event: self._ask(lambda: self._track(event.target.value, bodies)))
        self.picked = gui.add_html("<div style='padding:2px 6px'>Click a body to pick it.</div>")
        if viewer.stage.worlds > 1:
            self.world: Any = gui.add_number(
                "World", 0, min=0, max=viewer.stage.worlds - 1, step=1, hint="Whose marks and plots are shown"
            )
            self.world.on_update(lambda event: self._ask(lambda: self._world(int(event.target.value))))
        else:
            self.world = None
        with gui.add_folder("Marks"):
            for text, flag in MARKS.items():
                self._switch(gui, text, flag, rebuild=False)
            frames = tuple(frame.name.lower() for frame in Frame)
            menu = gui.add_dropdown("Frames", frames, initial_value=options.frame.name.lower())
            menu.on_update(lambda event: self._ask(lambda: self._set("frame", Frame, event.target.value)))
            labels = tuple(label.name.lower() for label in Label)
            menu = gui.add_dropdown("Labels", labels, initial_value=options.label.name.lower())
            menu.on_update(lambda event: self._ask(lambda: self._set("label", Label, event.target.value)))
        with gui.add_folder("Surfaces", expand_by_default=False):
            for text, flag in SURFACES.items():
                self._switch(gui, text, flag, rebuild=True)
        with gui.add_folder("Groups", expand_by_default=False):
            for kind in KINDS:
                if model.sizes[
                    {
                        "geom": "ngeom",
                        "site": "nsite",
                        "joint": "njnt",
                        "tendon": "ntendon",
                        "actuator": "nu",
                        "flex": "nflex",
                        "skin": "nskin",
                    }[kind]
                ]:
                    self._groups(gui, kind)
        gui.add_button("Close the viewer", color="gray").on_click(lambda _: viewer.stop())

    def _ask(self, job: Callable[[], object]) -> None:
        self.viewer.runner.ask(job)

    def _switch(self, gui: Any, text: str, flag: VisFlag, *, rebuild: bool) -> None:
        box = gui.add_checkbox(text, self.viewer.stage.options.shows(flag))

        def change(on: bool) -> None:
            self.viewer.stage.options.flags[flag] = on
            if rebuild:
                self.viewer.redraw()

        box.on_update(lambda event: self._ask(lambda: change(bool(event.target.value))))

    def _groups(self, gui: Any, kind: str) -> None:
        """Which groups of a kind are shown, as one line of numbers."""
        groups = getattr(self.viewer.stage.options, f"{kind}group")
        shown = "".join(str(i) for i, on in enumerate(groups) if on)
        box = gui.add_text(f"{kind}s", shown, hint="Numbers of the groups that are drawn, 0 to 5")

        def change(text: str) -> None:
            for number in range(len(groups)):
                groups[number] = str(number) in text
            if kind == "geom":
                self.viewer.redraw()

        box.on_update(lambda event: self._ask(lambda: change(str(event.target.value))))

    def _set(self, name: str, kind: Any, word: str) -> None:
        setattr(self.viewer.stage.options, name, kind[word.upper()])

    def _camera(self, name: str, cameras: list[str]) -> None:
        self.viewer.cameras.look_through(cameras.index(name) if name in cameras else -1)

    def _track(self, name: str, bodies: list[str]) -> None:
        body = bodies.index(name) if name in bodies else -1
        stage = self.viewer.stage
        place = stage.watched.shown(stage.world).xpos[max(body, 0)] + stage.offsets[stage.world]
        self.viewer.cameras.track(body, place)

    def _world(self, world: int) -> None:
        self.viewer.hand.pick(0, world)

    def renew(self) -> None:
        body = self.viewer.hand.picked
        text = "Click a body to pick it."
        if body:
            name = names_of(self.viewer.watched.model, "body")[body]
            text = f"Picked: <b>{name}</b>. Drag it with Ctrl to pull, with Ctrl+Shift to turn."
        content = f"<div style='padding:2px 6px;font-size:0.9em'>{text}</div>"
        if self.picked.content != content:
            self.picked.content = content
        if self.world is not None and int(self.world.value) != self.viewer.stage.world:
            self.world.value = self.viewer.stage.world
