"""A scene: all that is seen of a Model and Data at one time, as plain arrays (mjvScene)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.fields import Array
from dovetail.visual.cameras import View, view
from dovetail.visual.deforming import SkinSurface, skin_surfaces
from dovetail.visual.elements import Drawing, Elements
from dovetail.visual.flexes import FlexSurface, flex_surfaces
from dovetail.visual.lights import Light, lights
from dovetail.visual.markers import ORDER
from dovetail.visual.options import Category, VisualOptions
from dovetail.visual.perturbation import Perturb
from dovetail.visual.worlds import needed, one_world


class Scene:
    """What is seen. `update` fills it; `geoms` grows as needed, nothing is left out (`maxgeom` is MuJoCo's argument,
    and says where `crowded` begins)."""

    geoms: Elements
    """Everything that is drawn, in MuJoCo's order."""
    lights: list[Light]
    view: View
    """The camera."""
    flexes: list[FlexSurface]
    skins: list[SkinSurface]

    def __init__(self, model: Any, maxgeom: int = 10000) -> None:
        self.model = model
        self.maxgeom = whole("maxgeom", maxgeom, 0)
        self.geoms, self.lights, self.flexes, self.skins = Elements(), [], [], []
        self.options = VisualOptions()

    @property
    def ngeom(self) -> int:
        """How many elements there are."""
        return len(self.geoms)

    @property
    def crowded(self) -> bool:
        """Whether there are more elements than `maxgeom`; they are all there."""
        return self.ngeom > self.maxgeom

    def update(
        self,
        data: Any,
        camera: Any = -1,
        options: Any = None,
        world: int | None = None,
        perturb: Any = None,
        categories: int = Category.ALL,
    ) -> Scene:
        """See a Data through a camera (see `cameras.view`). `world` says which one of a batch."""
        state = one_world(data, world)
        needed(state)
        self.options = VisualOptions.of(options)
        self.view = view(self.model, state, camera)
        drawing = Drawing(
            self.model,
            state,
            self.options,
            self.view,
            Perturb.of(perturb, self.model),
            int(categories),
        )
        for draw in ORDER:
            draw(drawing)
        self.geoms = drawing.elements()
        self.lights = lights(self.model, state, self.view)
        self.flexes = flex_surfaces(self.model, state, self.options)
        self.skins = skin_surfaces(self.model, state, self.options)
        return self

    def update_batch(self, data: Any, camera: Any = -1, options: Any = None) -> list[Scene]:
        """A scene for each world of a batch."""
        return [
            Scene(self.model, self.maxgeom).update(one, camera, options)
            for one in (data.worlds() if hasattr(data, "worlds") else [data])
        ]


def geom_poses(data: Any) -> tuple[Array, Array]:
    """Positions (nworld, ngeom, 3) and rotation matrices (nworld, ngeom, 3, 3) of all geoms in all worlds at once; of
    a Data of one world nworld is 1."""
    needed(data)
    pos, mat = np.asarray(data.geom_xpos), np.asarray(data.geom_xmat)
    count = pos.shape[-2]
    return pos.reshape(-1, count, 3), mat.reshape(-1, count, 3, 3)
