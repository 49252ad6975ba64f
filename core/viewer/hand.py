"""The hand in the page: a click picks a body, a drag pulls at it.

Plain dragging turns the camera, as everywhere. With Ctrl (Cmd) held, dragging a body pulls at the point under the
pointer; with Shift as well it turns the body about its centre.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.viewer.perturb import (
    apply_force,
    apply_pose,
    drag_to,
    grab,
    release,
    times,
    turn_to,
)
from dovetail.viewer.run import Runner
from dovetail.viewer.stage import Stage
from dovetail.visual import Perturb

PULL, TURN = "cmd/ctrl", "cmd/ctrl+shift"
"""Keys that are held while dragging."""
HALF_TURN_OVER = 0.5
"""Part of the page's width over which a drag turns a body by half a turn."""


class Hand:
    """Picks bodies of the picked world and pulls at them. Events arrive on the page's thread; they are queued."""

    def __init__(self, runner: Runner, stage: Stage) -> None:
        self.runner, self.stage, self.watched = runner, stage, runner.watched
        self.held: Perturb | None = None
        self._began: Array = np.zeros(4)
        runner.before_step.append(self.apply)
        self.bind()

    @property
    def picked(self) -> int:
        """The picked body; 0: none."""
        return 0 if self.held is None else self.held.select

    def bind(self) -> None:
        """Listen to the nodes of geoms; after they were made again, too."""
        for node in self.stage.nodes:
            handle = node.handle

            @handle.on_click  # type: ignore[untyped-decorator]
            def _(event: Any, node: Any = node) -> None:
                self.runner.ask(lambda: self._click(node, event.instance_index))

            for modifier in (PULL, TURN):

                @handle.on_drag("left", modifier=modifier)  # type: ignore[untyped-decorator]
                async def _(event: Any, node: Any = node, turning: bool = modifier == TURN) -> None:
                    self.runner.ask(lambda: self._drag(node, event, turning))

    def pick(self, body: int, world: int = 0) -> None:
        """Pick a body in a world; 0 picks none."""
        self.let_go()
        self.stage.world = world
        if body <= 0:
            self.held = None
        else:
            data = self.watched.shown(world)
            self.held = grab(self.stage.model, data, body, data.xipos[body])
        self.stage.perturb = self.held

    def let_go(self) -> None:
        if self.held is not None and self.held.active:
            release(self.held, self.watched.edited(self.stage.world))

    def _whose(self, node: Any, instance: int | None) -> tuple[int, int]:
        """Body and world of an instance of a node."""
        ngeom = self.stage.model.ngeom
        element = int(node.batch.made.element[instance or 0])
        return int(self.stage.model.geom_bodyid[element % ngeom]), element // ngeom

    def _click(self, node: Any, instance: int | None) -> None:
        self.pick(*self._whose(node, instance))

    def _drag(self, node: Any, event: Any, turning: bool) -> None:
        body, world = self._whose(node, event.instance_index)
        if event.phase == "end":
            self.let_go()
            return
        if body <= 0 or self.watched.edited(world) is None:
            return
        shift = self.stage.offsets[world] - self.stage.offset
        if event.phase == "start" or self.held is None or self.held.select != body:
            self._take(body, world, np.asarray(event.start_position, float) - shift)
        if self.held is None:
            return
        if turning:
            turn_to(self.held, self._turned(event))
        else:
            drag_to(self.held, self.watched.shown(world), np.asarray(event.end_position, float) - shift)

    def _take(self, body: int, world: int, point: Array) -> None:
        self.let_go()
        self.stage.world = world
        self.held = grab(self.stage.model, self.watched.shown(world), body, point)
        self._began = self.held.refquat.copy()
        self.stage.perturb = self.held

    def _turned(self, event: Any) -> Array:
        """Turn about the page's vertical and horizontal axes by how far the pointer went."""
        across, down = (
            (end - start) * np.pi / HALF_TURN_OVER
            for end, start in zip(event.end_screen_pos, event.start_screen_pos, strict=True)
        )
        camera = event.client.camera
        ahead = np.asarray(camera.look_at) - np.asarray(camera.position)
        up = np.asarray(camera.up_direction, float)
        right = np.cross(ahead, up)
        right /= np.linalg.norm(right) or 1.0
        return times(times(about(up, across), about(right, down)), self._began)

    def apply(self) -> bool:
        """Pull, before a step or while paused; whether the state was edited."""
        if self.held is None or not self.held.active:
            return False
        data = self.watched.edited(self.stage.world)
        if data is None:
            return False
        model, shown = self.stage.model, self.watched.shown(self.stage.world)
        moved = apply_pose(model, shown, self.held, paused=self.runner.paused)
        if shown is not data and moved:
            for name in ("qpos", "mocap_pos", "mocap_quat"):
                data.field(name)[...] = shown.field(name)
        if not self.runner.paused:
            apply_force(model, shown, self.held)
            if shown is not data:
                data.xfrc_applied[self.held.select] = shown.xfrc_applied[self.held.select]
            return True
        return moved

    def follow(self) -> None:
        """Nothing to do unless a body is held: its marks are drawn where the body is."""
        if self.held is not None and not self.held.active:
            data = self.watched.shown(self.stage.world)
            self.held.refpos = np.array(data.xipos[self.held.select], float)


def about(axis: Array, angle: float) -> Array:
    """The quaternion of a turn."""
    unit = axis / (np.linalg.norm(axis) or 1.0)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * unit])
