"""Pictures of environments: the state of a world in a Data of its own, seen by dovetail's Renderer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail.arguments import choice, instance, whole
from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError, shown
from dovetail.simulation import Simulation

RENDER_MODES = ("rgb_array", "depth_array", "rgbd_tuple")
SIZE = 480
STATE = ("time", "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")


def checked_render_mode(mode: str | None) -> str | None:
    """The mode; windows are the viewer's business."""
    if mode is not None and mode not in RENDER_MODES:
        raise ArgumentError(
            f"render_mode = {shown(mode)} should be None or one of {', '.join(RENDER_MODES)}; "
            "to watch a model in a window: dovetail view"
        )
    return mode


def metadata_of(engine: Any) -> dict[str, Any]:
    """Gymnasium's facts about pictures of an environment."""
    period = float(engine.model.opt.timestep) * engine.task.frame_skip
    return {"render_modes": list(RENDER_MODES), "render_fps": int(np.round(1.0 / period))}


def checked_camera(model: Any, camera_id: object, camera_name: object) -> int | str | None:
    """The camera that one of two arguments names, or None."""
    if camera_id is not None and camera_name is not None:
        raise ArgumentError("camera_id and camera_name are both given; one of them names the camera")
    if camera_name is not None:
        name = instance("camera_name", camera_name, str, "text")
        return choice("camera_name", name, [model.camera(i).name for i in range(model.ncam)])
    if camera_id is None:
        return None
    number = whole("camera_id", camera_id, -1)
    if number >= model.ncam:
        raise ArgumentError(
            f"camera_id = {number}: the model has {model.ncam} cameras, from 0; -1 is the free one"
        )
    return number


def checked_options(options: object) -> Any:
    """What is drawn, by flags that are on or off; None for what is usual."""
    if options is None:
        return None
    from dovetail.visual import VisualOptions

    if not isinstance(options, Mapping):
        raise ArgumentError(
            f"visual_options = {shown(options)} should be a mapping from flags to truth values"
        )
    return VisualOptions(flags=options)


class Pictures:
    """Makes pictures of the worlds of an engine; what it needs is made with the first one."""

    def __init__(
        self,
        engine: Any,
        *,
        width: int = SIZE,
        height: int = SIZE,
        camera_id: int | None = None,
        camera_name: str | None = None,
        max_geom: int = 1000,
        visual_options: Mapping[int, bool] | None = None,
    ) -> None:
        self._size = whole("height", height, 1), whole("width", width, 1)
        self._engine, self._max_geom = engine, whole("max_geom", max_geom, 1)
        self._camera_asked = checked_camera(engine.model, camera_id, camera_name)
        self._options = checked_options(visual_options)
        self._sim: Simulation | None = None
        self._renderer: Any = None

    def take(self, world: int, mode: str) -> Any:
        """A picture of one world."""
        import dovetail

        engine = self._engine
        if self._sim is None or self._renderer is None:
            self._sim = Simulation(engine.model)
            self._renderer = dovetail.Renderer(engine.model, *self._size, self._max_geom)
        data = self._sim.data
        for name in STATE:
            if name in engine.sim.data and name in data:
                setattr(data, name, engine.sim.data.field(name)[world])
        self._sim.forward()
        self._renderer.update_scene(data, self._camera(), self._options)
        colour = self._renderer.render() if mode != "depth_array" else None
        depth = self._depth() if mode != "rgb_array" else None
        return (colour, depth) if mode == "rgbd_tuple" else depth if colour is None else colour

    def _depth(self) -> Array:
        self._renderer.enable_depth_rendering()
        try:
            return np.asarray(self._renderer.render())
        finally:
            self._renderer.disable_depth_rendering()

    def _camera(self) -> Any:
        """The camera that was asked for, the model's `track`, or a free one by the task's configuration."""
        model, config = self._engine.model, self._engine.task.default_camera_config
        if self._camera_asked is not None:
            return self._camera_asked
        if config is None or (model.ncam and "track" in [model.camera(i).name for i in range(model.ncam)]):
            return "track" if model.ncam and model.camera(0).name == "track" else -1
        return free_camera(model, config)

    def close(self) -> None:
        """Free the renderer; a second time changes nothing."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def free_camera(model: Any, config: Mapping[str, Any]) -> Any:
    """A free or tracking camera with what a configuration says."""
    from dovetail.visual import FreeCamera, TrackingCamera, default_free_camera

    free = default_free_camera(model)
    values = {name: config.get(name, getattr(free, name)) for name in ("distance", "azimuth", "elevation")}
    if config.get("trackbodyid", -1) >= 0:
        return TrackingCamera(int(config["trackbodyid"]), **values)
    return FreeCamera(config.get("lookat", free.lookat), **values)
