"""A film of a simulation, from a script:

    with dovetail.Film("fall.mp4", model) as film:
        while sim.data.time < 2:
            sim.step()
            film.add(sim.data)

Pictures are taken when they are due in simulated time, however often `add` is called.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.arguments import instance, whole
from dovetail.bad_states import MAXVAL
from dovetail.contracts.types import Model
from dovetail.errors import ArgumentError, DovetailError, UnknownWorldError, shown
from dovetail.files import checked_path
from dovetail.films.clock import Clock, State
from dovetail.films.writers import Frames, Writer, averaged, even_size, grid_of, mosaic, writer_of
from dovetail.posed import Posed, state_of

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.rendering.renderer import Renderer

FPS = 30.0
WIDTH, HEIGHT = 640, 480
MOST_WORLDS = 16
"""Worlds of a batch that one picture shows."""
FASTEST = 1000.0
"""Pictures per second."""


class FilmWarning(UserWarning):
    """A state could not be filmed."""


class ClosedFilmError(DovetailError, RuntimeError):
    """A film was added to after it was closed."""


class Film:
    """Pictures of a model at even times, written as `.mp4`, `.mov`, `.mkv`, `.webm` (these need the extra `video`),
    `.gif` or `.webp`; with a path without an ending, or with `folder`, as a folder of PNG files.

    `fps` pictures a second of simulated time, divided by `speed`: 0.5 is slow motion. `camera` is one of the model
    by name or number, -1 the free one, or a camera of `dovetail.visual`. Of a batch, `world` is filmed, or a grid
    of the first 16 worlds. `smooth` takes so many rays along each side of a pixel: with 2 edges are smooth, and
    pictures take four times as long. Sizes are in pixels; H.264 and VP9 want even ones, and odd ones are made one
    larger.

    The file appears when the film is closed, complete. An error inside of `with` leaves none; Ctrl-C ends the film
    there and keeps it.
    """

    def __init__(
        self,
        path: str | Path,
        model: Model,
        *,
        fps: float = FPS,
        height: int = HEIGHT,
        width: int = WIDTH,
        camera: Any = -1,
        world: int | None = None,
        speed: float = 1.0,
        smooth: int = 1,
        scene_option: Any = None,
        backend: str = "auto",
        folder: bool = False,
    ) -> None:
        instance("model", model, Model, "a dovetail.Model")
        kind = Frames if folder else writer_of(path)
        self.model, self.camera = model, camera
        self.fps, self.speed = _positive("fps", fps, FASTEST), _positive("speed", speed, np.inf)
        wide, tall = whole("width", width, 1), whole("height", height, 1)
        self.width, self.height = even_size(wide, tall) if kind.even else (wide, tall)
        self._world = None if world is None else whole("world", world, 0)
        self._scene_option, self._backend = scene_option, backend
        self._smooth = whole("smooth", smooth, 1)
        self.note = ""
        """Why the film ends before the simulation, if it does."""
        self._clock = Clock(model, self.speed / self.fps)
        self._posed: Posed | None = None
        self._renderer: Renderer | None = None
        self._tiles = 0
        self._try_camera()
        self._writer: Writer | None = kind(checked_path(path), self.width, self.height, self.fps)
        self.path = self._writer.path
        self.frames = 0
        """Pictures that it has."""

    def _try_camera(self) -> None:
        """Say now that there is no such camera, not after the first picture."""
        from dovetail.visual import view

        view(self.model, Posed(self.model).put({}), self.camera)

    # ---- pictures

    def add(self, data: Any) -> int:
        """Show where a simulation is; the number of pictures that were due since the last time. A state that went bad
        is not filmed: the film ends with the last good one, with a warning."""
        self._open()
        states: list[State] = [state_of(world) for world in self._worlds(data)]
        bad = next((s for s in states if not _good(s)), None)
        if bad is not None:
            self._end_early(float(bad["time"]))
        if self.note:
            return 0
        before = self.frames
        for moment in self._clock.due(states):
            self.add_picture(self._picture(moment))
        return self.frames - before

    def add_picture(self, pixels: Array) -> None:
        """One more picture of one's own making: (height, width, 3) bytes."""
        writer = self._open()
        shape = (self.height, self.width, 3)
        if np.shape(pixels) != shape:
            raise ArgumentError(f"a picture of this film has shape {shape}, not {np.shape(pixels)}")
        writer.add(pixels)
        self.frames += 1

    def _worlds(self, data: Any) -> list[Any]:
        """The worlds of a Data that are filmed."""
        if not hasattr(data, "qpos"):
            raise ArgumentError(f"data = {shown(data)} should be a Data, as sim.data")
        count, places = getattr(data, "nworld", None), np.shape(data.qpos)[-1]
        if places != self.model.nq:
            raise ArgumentError(
                f"this Data has nq = {places}, and the model of the film {self.model.nq}: film its own"
            )
        if self._world is not None:
            if self._world >= (count or 1):
                raise UnknownWorldError(f"there is no world {self._world} to film: the Data has {count or 1}")
            return [data if count is None else data.world(self._world)]
        return [data] if count is None else [data.world(i) for i in range(min(count, MOST_WORLDS))]

    def _picture(self, states: list[State]) -> Array:
        if self._posed is None:
            self._posed = Posed(self.model)
        renderer = self._renderer_for(len(states))
        pictures = []
        for state in states:
            renderer.update_scene(self._posed.put(state), self.camera, self._scene_option)
            pictures.append(averaged(renderer.render(), self._smooth))
        return pictures[0] if len(pictures) == 1 else mosaic(pictures, self.width, self.height)

    def _renderer_for(self, tiles: int) -> Renderer:
        """The renderer for one of so many pictures in one."""
        from dovetail.rendering.renderer import Renderer

        if self._renderer is None or tiles != self._tiles:
            rows, columns = grid_of(tiles)
            tall, wide = max(1, self.height // rows), max(1, self.width // columns)
            self._renderer = Renderer(
                self.model, tall * self._smooth, wide * self._smooth, backend=self._backend
            )
            self._tiles = tiles
        return self._renderer

    def _end_early(self, time: float) -> None:
        if not self.note:
            self.note = f"the state went bad at {time:.6g} s: it ends with the last good one"
            warnings.warn(f"{self.path}: {self.note}", FilmWarning, stacklevel=3)

    # ---- the end

    def _open(self) -> Writer:
        if self._writer is None:
            raise ClosedFilmError(f"{self.path}: this film is closed; make a new one")
        return self._writer

    def close(self) -> None:
        """Write the file; once is enough."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            writer.finish()
        except BaseException:
            writer.discard()
            raise
        finally:
            self._let_go()

    def discard(self) -> None:
        """Leave no file."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()
        self._let_go()

    def _let_go(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
        self._renderer = self._posed = None

    def __enter__(self) -> Film:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None or (issubclass(kind, KeyboardInterrupt) and self.frames):
            self.close()
        else:
            self.discard()


def _positive(name: str, value: Any, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentError(f"{name} = {shown(value)} should be a number")
    if not 0 < value <= most or not np.isfinite(value):
        limit = f", at most {most:g}" if np.isfinite(most) else ""
        raise ArgumentError(f"{name} = {value:g} should be a positive number{limit}")
    return float(value)


def _good(state: State) -> bool:
    """Whether a state can be drawn."""
    return bool((np.abs(state["qpos"]) <= MAXVAL).all() and (np.abs(state["mocap_pos"]) <= MAXVAL).all())
