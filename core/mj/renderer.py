"""Pictures, with the interface of `mujoco.Renderer`, by dovetail's own Renderer: it needs no OpenGL context."""

from __future__ import annotations

from typing import Any

from dovetail.mj.errors import MissingError
from dovetail.mj.structs.data import MjData
from dovetail.mj.structs.model import MjModel
from dovetail.rendering.renderer import Renderer as _Renderer


class Renderer(_Renderer):
    """Makes pictures of an MjModel: `update_scene(data, camera)`, then `render()`."""

    def __init__(
        self,
        model: MjModel,
        height: int = 240,
        width: int = 320,
        max_geom: int = 10000,
        font_scale: Any = None,
        **more: Any,
    ) -> None:
        """`font_scale` is MuJoCo's argument; there are no texts in these pictures."""
        super().__init__(model._model, height, width, max_geom, **more)
        self._shown = model

    @property
    def model(self) -> MjModel:
        """The MjModel that pictures are made of."""
        return self._shown

    @property
    def scene(self) -> Any:
        """MuJoCo's Renderer lets shapes be added here; this one draws what the model has."""
        raise MissingError(
            "dovetail.mj's Renderer has no scene to add shapes to: add sites or geoms to the model, or fill an "
            "MjvScene with mjv_updateScene to look at what would be drawn"
        )

    def update_scene(
        self, data: MjData, camera: Any = -1, scene_option: Any = None, world: int | None = None
    ) -> None:
        """Look at an MjData through a camera: its name or number, -1 for the free one, or an MjvCamera."""
        super().update_scene(data.seen_by(self._shown), camera, scene_option, world)
