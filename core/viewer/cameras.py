"""Where the page looks from: orbit, a tracked body, a camera of the model.

Orbiting is the page's own. To track a body, everything is moved so that the body stays at the origin: the page's
camera can then be turned freely, and nothing waits for an answer over the network. A camera of the model is sent
to the pages frame by frame.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.viewer.geoms import horizon, moving_geoms
from dovetail.viewer.poses import quaternions
from dovetail.viewer.watched import Watched
from dovetail.visual import FreeCamera, View, default_free_camera, view

STATED = (90.0, -45.0)
"""Azimuth and elevation of models that state none; others are taken as they are."""
AZIMUTH, ELEVATION = 130.0, -18.0
"""From where a model is seen that states nothing: from the side and a little above, not from half above."""
FRAMED = 1.7
"""Distance of the camera in sizes of what moves."""


def first_camera(model: Model, pos: Array, offsets: Array) -> FreeCamera:
    """A camera that sees what moves: geoms of the first world at `pos` (ngeom, 3), in all places of a grid."""
    camera = default_free_camera(model)
    if (camera.azimuth, camera.elevation) == STATED:
        camera.azimuth, camera.elevation = AZIMUTH, ELEVATION
    moving = moving_geoms(model)
    if not moving.any():
        return camera
    radius = np.asarray(model.geom_rbound)[moving]
    low = (pos[moving] - radius[:, None]).min(axis=0) + offsets.min(axis=0)
    high = (pos[moving] + radius[:, None]).max(axis=0) + offsets.max(axis=0)
    size = float(np.linalg.norm(high - low))
    if np.isfinite(size) and size > 0:
        camera.lookat = (low + high) / 2
        camera.distance = FRAMED * size
    return camera


@attrs.define(eq=False)
class Cameras:
    """What the page's camera follows: nothing, a body, or a camera of the model."""

    server: Any
    model: Model
    body: int = -1
    """The tracked body; -1: none."""
    fixed: int = -1
    """The model's camera; -1: none."""
    _known: dict[int, Array] = attrs.field(factory=dict)
    """What each page was last told, so that a camera that stands still is told once."""

    def begin(self, watched: Watched, offsets: Array) -> None:
        """Say where pages that open look from."""
        pos, _ = watched.poses()
        camera = first_camera(self.model, pos[0], offsets)
        seen = view(self.model, None, camera)
        far = horizon(self.model)
        first = self.server.initial_camera
        first.up = (0.0, 0.0, 1.0)
        first.position, first.look_at = tuple(seen.pos), tuple(camera.lookat)
        first.fov = float(np.radians(seen.fovy))
        first.near, first.far = max(1e-3, 4e-4 * camera.distance), 4.0 * far

    def track(self, body: int, place: Array) -> None:
        """Follow a body that is at a place; -1: stay where the camera is."""
        before = self._place() if self.body >= 0 else np.zeros(3)
        self.fixed, self.body = -1, body
        self._last = np.asarray(place, float)
        for client in self._pages():
            if body < 0:
                client.camera.position = client.camera.position + before
                client.camera.look_at = client.camera.look_at + before
            else:
                away = client.camera.position - client.camera.look_at
                client.camera.position = tuple(away)
                client.camera.look_at = (0.0, 0.0, 0.0)

    _last: Array = attrs.field(factory=lambda: np.zeros(3))

    def _place(self) -> Array:
        return self._last

    def look_through(self, camera: int) -> None:
        """See what a camera of the model sees; -1: orbit again."""
        self.body, self.fixed = -1, camera
        self._known.clear()

    def follow(self, watched: Watched, world: int, shift: Array) -> Array:
        """Bring the pages along; what is drawn at the origin now."""
        if self.body >= 0:
            place = np.asarray(watched.shown(world).xpos[self.body], float) + shift
            if np.isfinite(place).all():
                self._last = place
            return self._last
        if self.fixed >= 0:
            self._send(view(self.model, watched.shown(world), self.fixed), shift)
        return np.zeros(3)

    def _send(self, seen: View, shift: Array) -> None:
        position, wxyz, fov = page_camera(seen)
        told = np.concatenate([position + shift, wxyz, [fov]])
        if not np.isfinite(told).all():
            return
        for client in self._pages():
            if np.array_equal(self._known.get(client.client_id, np.zeros(0)), told):
                continue
            self._known[client.client_id] = told
            with client.atomic():
                client.camera.wxyz = tuple(wxyz)
                client.camera.position = tuple(position + shift)
                client.camera.fov = fov

    def _pages(self) -> list[Any]:
        return list(self.server.get_clients().values())


def page_camera(seen: View) -> tuple[Array, Array, float]:
    """Position, orientation (wxyz; x right, y down, z ahead) and vertical angle of view [rad] of a View."""
    mat = np.stack([seen.right, -seen.up, seen.forward], axis=1)
    return np.asarray(seen.pos, float), quaternions(mat[None])[0], float(np.radians(seen.fovy))
