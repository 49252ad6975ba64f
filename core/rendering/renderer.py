"""The Renderer: pictures of a Model and Data without a browser, a window or a graphics card.

MuJoCo's habits: make one for a Model and a size, `update_scene(data, camera)`, `render()`. Of a batch it makes one
picture per world, in one array.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from dovetail.arguments import choice, whole
from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError, CapacityError, DovetailError, shown
from dovetail.rendering.batch import scenes_of
from dovetail.rendering.casters import BACKENDS
from dovetail.rendering.drawing import Drawing
from dovetail.rendering.gather import Gatherer

COLOUR, DEPTH, SEGMENTATION = "colour", "depth", "segmentation"

MOST_PIXELS = 1 << 26
"""In one picture."""


class ClosedRendererError(DovetailError, RuntimeError):
    """A Renderer was used after `close`."""


class Renderer:
    """Makes pictures of one Model: colours, depth or segmentation.

    `height` and `width` are in pixels; unlike MuJoCo's they may be larger than `vis.global_.offwidth`, which is the
    size of a buffer that is not needed here. `max_geom` is MuJoCo's argument; more elements are drawn all the same.
    `backend` is "native" (compiled for this processor), "numpy" (the reference, needs no compiler) or "auto":
    native where there is a C compiler. `threads` is how many the native one uses, all processors if None."""

    def __init__(
        self,
        model: Any,
        height: int = 240,
        width: int = 320,
        max_geom: int = 10000,
        *,
        backend: str = "auto",
        threads: int | None = None,
    ) -> None:
        self._mode = COLOUR
        self._drawing: Drawing | None = None
        self._batch = False
        self._closed = False
        if not hasattr(model, "ngeom") or not hasattr(model, "vis"):
            raise ArgumentError(f"model = {shown(model)} should be a Model, as dovetail.load gives")
        self._model = model
        self._height, self._width = whole("height", height, 1), whole("width", width, 1)
        if self._height * self._width > MOST_PIXELS:
            raise CapacityError(
                f"a picture of {height} × {width} is too large: {MOST_PIXELS} pixels are the most"
            )
        self._max_geom = whole("max_geom", max_geom, 0)
        self._threads = None if threads is None else whole("threads", threads, 1)
        self._caster = BACKENDS[choice("backend", backend, BACKENDS)](self._threads)
        self._gatherer = Gatherer(model)

    @property
    def model(self) -> Any:
        """The Model that pictures are made of."""
        return self._model

    @property
    def height(self) -> int:
        """Rows of a picture."""
        return self._height

    @property
    def width(self) -> int:
        """Columns of a picture."""
        return self._width

    @property
    def backend(self) -> str:
        """What casts the rays: "native" or "numpy"."""
        return self._caster.name

    # ---- what is made -------------------------------------------------------------------------------------

    def enable_depth_rendering(self) -> None:
        """Make `render` give distances along the line of sight [m]."""
        self._mode = DEPTH

    def disable_depth_rendering(self) -> None:
        """Make `render` give colours again."""
        self._mode = COLOUR if self._mode == DEPTH else self._mode

    def enable_segmentation_rendering(self) -> None:
        """Make `render` give the number and type (mjtObj) of the object at each pixel; -1, -1 where there is none."""
        self._mode = SEGMENTATION

    def disable_segmentation_rendering(self) -> None:
        """Make `render` give colours again."""
        self._mode = COLOUR if self._mode == SEGMENTATION else self._mode

    # ---- making it ----------------------------------------------------------------------------------------

    def update_scene(
        self, data: Any, camera: Any = -1, scene_option: Any = None, world: int | None = None
    ) -> None:
        """Look at a Data through a camera: one of the model by name or number, -1 for the free one that sees the
        whole model, or a camera object of `dovetail.visual`. Of a batch, `world` chooses one world; without it
        pictures of all worlds are made. `scene_option` says what is drawn (`dovetail.visual.VisualOptions`)."""
        self._check_open("update_scene")
        with np.errstate(over="ignore", invalid="ignore"):  # what has exploded is not drawn
            scenes = scenes_of(self._model, data, camera, scene_option, self._max_geom, world)
            self._drawing = self._gatherer.drawing(scenes, self._height, self._width)
        self._batch = getattr(data, "nworld", None) is not None and world is None

    def render(self, *, out: Array | None = None) -> Array:
        """The picture of what `update_scene` saw: (height, width, 3) bytes of red, green and blue; in depth mode
        (height, width) float32; in segmentation mode (height, width, 2) int32. Of a batch, with a first axis of
        worlds. `out` is filled, and cast to, if it is given."""
        self._check_open("render")
        if self._drawing is None:
            raise ArgumentError("render: there is no scene yet; call update_scene(data) first")
        picture = self._made(self._drawing)
        if not self._batch:
            picture = picture[0]
        if out is None:
            return picture
        if getattr(out, "shape", None) != picture.shape:
            raise ArgumentError(
                f"out has shape {getattr(out, 'shape', None)}; a {self._mode} picture of "
                f"{'this batch' if self._batch else 'one world'} has {picture.shape}"
            )
        out[...] = picture
        return out

    def _made(self, drawing: Drawing) -> Array:
        if self._mode == COLOUR:
            return self._caster.colours(drawing, self._height, self._width)
        depth, objects = self._caster.hits(drawing, self._height, self._width)
        return depth if self._mode == DEPTH else objects

    def reload(self) -> None:
        """Read meshes and textures of the Model anew; edits of everything else are seen by themselves."""
        self._check_open("reload")
        self._gatherer.forget()

    # ---- the end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of everything; the Renderer cannot be used any more."""
        self._closed = True
        self._drawing = None
        if hasattr(self, "_gatherer"):
            self._gatherer.forget()

    def _check_open(self, what: str) -> None:
        if self._closed:
            raise ClosedRendererError(
                f"{what}: this Renderer was closed; make a new one with Renderer(model, height, width)"
            )

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def render(
    model: Any,
    data: Any,
    height: int = 240,
    width: int = 320,
    *,
    camera: Any = -1,
    mode: str = COLOUR,
    scene_option: Any = None,
    world: int | None = None,
    backend: str = "auto",
) -> Array:
    """One picture, or one per world of a batch: "colour", "depth" or "segmentation". Who makes many keeps a
    `Renderer`, which remembers meshes and textures."""
    choice("mode", mode, (COLOUR, DEPTH, SEGMENTATION))
    with Renderer(model, height, width, backend=backend) as renderer:
        renderer._mode = mode
        renderer.update_scene(data, camera, scene_option, world)
        return renderer.render()
